"""The neutral layout of a decision, which every renderer draws.

A ``Layout`` holds the eight slots in order, as safe single-line text, with the keys that answer them. A
renderer only escapes what its own format would interpret.

Source: draft-morrison-binding-moment-envelope-00, section 8.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from emitter.decisions import digest
from emitter.decisions.envelope_parsing import require_wellformed
from emitter.decisions.resolution import ResolutionOutcome
from emitter.render.safe_text import OptionText, label_warnings, to_single_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.models import BindingMoment, Hatches, Question

RECOMMENDED = "recommended"
"""Marks the recommended option on every surface, so that no mark depends on colour alone."""


class HatchKind(str, Enum):
    """The two vetoes of the principal."""

    FREE_TEXT = "free_text"
    DIALOGUE = "dialogue"


ANSWER_FIELD = "answer"
OBJECTION_FIELD = "objection"
"""The form fields that hold the words of a veto."""


@dataclass(frozen=True, slots=True)
class OptionLayout:
    """One option. A person presses or types its ``key``; ``warning`` describes how its label could deceive them."""

    index: int
    key: str
    label: str
    reasoning: str
    recommended: bool
    warning: str | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warning as a sentence, or nothing."""
        return () if self.warning is None else (f"Careful: this option {self.warning}.",)

    @property
    def mark(self) -> str | None:
        """The word shown with the recommended option."""
        return RECOMMENDED if self.recommended else None


@dataclass(frozen=True, slots=True)
class Hatch:
    """An open veto, with its name and the prompt for its words."""

    kind: HatchKind
    key: str
    label: str
    prompt: str

    @property
    def outcome(self) -> ResolutionOutcome:
        """The outcome of a decision that is answered with this veto."""
        return ResolutionOutcome(self.kind.value)

    @property
    def field(self) -> str:
        """The form field that holds the veto's words."""
        return ANSWER_FIELD if self.kind is HatchKind.FREE_TEXT else OBJECTION_FIELD


@dataclass(frozen=True, slots=True)
class BriefingSection:
    """A headed list of the briefing."""

    name: str
    heading: str
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """The content of a decision, in the order in which it is shown."""

    digest: str
    note: str | None
    synopsis: str
    findings: tuple[str, ...]
    recommendations: tuple[str, ...]
    offer: str
    stem: str
    choices: tuple[OptionLayout, ...]
    hatches: tuple[Hatch, ...]
    decision_class: str | None = None

    @property
    def recommended(self) -> OptionLayout:
        """The option that the agent recommends."""
        return next(choice for choice in self.choices if choice.recommended)

    @property
    def sections(self) -> tuple[BriefingSection, ...]:
        """The headed lists between the synopsis and the offer."""
        return (
            BriefingSection("findings", "What it rests on", self.findings),
            BriefingSection("recommendations", "What to do", self.recommendations),
        )


HATCHES: Mapping[HatchKind, Hatch] = {
    HatchKind.FREE_TEXT: Hatch(HatchKind.FREE_TEXT, "a", "Answer in your own words", "Your answer"),
    HatchKind.DIALOGUE: Hatch(HatchKind.DIALOGUE, "d", "This is the wrong question: talk first", "Your objection"),
}
"""Both vetoes, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class DetailOffer:
    """The offer to ask the agent for detail, which resolves nothing."""

    key: str
    label: str
    prompt: str


DETAIL_OFFER = DetailOffer("m", "Ask for detail first", "What do you want to know more about?")
NOT_ANSWERED_YET = "The agent has not answered yet."


def open_hatches(hatches: Hatches) -> tuple[Hatch, ...]:
    """Return the open vetoes, in order."""
    return tuple(hatch for kind, hatch in HATCHES.items() if getattr(hatches, kind.value))


def build_layout(moment: BindingMoment) -> Layout:
    """Return the layout of an envelope.

    Raises:
        InputError: The envelope is malformed.
    """
    moment = require_wellformed(moment)
    meta, question = moment.meta, moment.question
    return Layout(
        digest=digest(moment),
        note=_optional_line(meta.calibration_note if meta else None),
        synopsis=to_single_line(moment.synopsis),
        findings=tuple(map(to_single_line, moment.findings)),
        recommendations=tuple(map(to_single_line, moment.recommendations)),
        offer=to_single_line(moment.offer),
        stem=to_single_line(question.stem),
        choices=_build_choices(question),
        hatches=open_hatches(question.hatches),
        decision_class=_optional_line(meta.decision_class if meta else None),
    )


def fold_findings(layout: Layout, room: int, elsewhere: str) -> Layout:
    """Leave out the middle of the longest findings, so that all together have at most about ``room`` characters.

    Each says how much it lacks, and so does the question, with ``elsewhere``, the sentence that says where to read it.
    """
    limit = _equal_limit([len(item) for item in layout.findings], max(room, 0))
    findings = tuple(item if len(item) <= limit else _leave_out(item, limit) for item in layout.findings)
    missing = sum(len(item) - limit for item in layout.findings if len(item) > limit)
    if not missing:
        return layout
    stem = f"{layout.stem} ({missing:,} characters that this rests on are not shown here. {elsewhere})"
    return replace(layout, findings=findings, stem=stem)


def _equal_limit(lengths: list[int], room: int) -> int:
    """Return the length to which the longest texts must be cut, so that the sum is at most ``room``."""
    for count, length in enumerate(sorted(lengths)):
        share = room // (len(lengths) - count)
        if length > share:
            return share
        room -= length
    return max(lengths, default=0)


def _leave_out(text: str, limit: int) -> str:
    """Return a text without its middle. The end stays, because it is where something is hidden most easily."""
    end = limit // 3
    return f"{text[: limit - end]} [{len(text) - limit:,} characters are not shown] {text[len(text) - end :]}"


def _optional_line(text: str | None) -> str | None:
    return None if text is None else to_single_line(text)


def _build_choices(question: Question) -> tuple[OptionLayout, ...]:
    options = tuple(
        OptionText(
            str(index + 1),
            to_single_line(option.label),
            to_single_line(option.reasoning),
            index == question.recommended_idx,
        )
        for index, option in enumerate(question.options)
    )
    warnings = label_warnings(options, ((hatch.key, hatch.label) for hatch in HATCHES.values()))
    return tuple(
        OptionLayout(index, option.key, option.label, option.reasoning, option.recommended, warning)
        for index, (option, warning) in enumerate(zip(options, warnings, strict=True))
    )


def option_heading(choice: OptionLayout) -> str:
    """Return the heading of an option."""
    return _with_mark(f"Option {choice.key}", choice)


def button_label(choice: OptionLayout) -> str:
    """Return the label of an option's button."""
    return _with_mark(f"Choose {choice.key}", choice)


def option_title(choice: OptionLayout) -> str:
    """Return an option as one entry of a list."""
    return f"{option_heading(choice)}: {choice.label}"


def _with_mark(text: str, choice: OptionLayout) -> str:
    return text if choice.mark is None else f"{text} ({choice.mark})"
