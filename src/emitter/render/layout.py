"""The one neutral layout that every surface draws: the eight slots in order, with the keys that answer them.

Source: draft-morrison-binding-moment-envelope-00, section 8. Texts stand here as the surface may show them: free of
control characters, on one line each; what a surface's own markup would take for its own is still the surface's to
escape.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from emitter.decide import digest
from emitter.decide.wellformed import wellformed
from emitter.render.alike import Label, warnings
from emitter.render.line import line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.kinds import BindingMoment, Hatches, Question

RECOMMENDED = "recommended"
"""The word that marks the recommended option on every surface; colour is never alone."""


class HatchKind(str, Enum):
    """The two vetoes of the principal."""

    FREE_TEXT = "free_text"
    DIALOGUE = "dialogue"


@dataclass(frozen=True, slots=True)
class Choice:
    """One option; ``key`` is what a person presses or types, ``warning`` what is shown with a label that deceives."""

    index: int
    key: str
    label: str
    reasoning: str
    recommended: bool
    warning: str | None = None

    @property
    def caution(self) -> str | None:
        """The sentence that is shown with a label that deceives."""
        return None if self.warning is None else f"Careful: this option {self.warning}."

    @property
    def mark(self) -> str | None:
        """The word that is shown with the recommended option, and with no other."""
        return RECOMMENDED if self.recommended else None


@dataclass(frozen=True, slots=True)
class Hatch:
    """One open veto: its name for a person, and what to ask when it is invoked."""

    kind: HatchKind
    key: str
    label: str
    asks: str


@dataclass(frozen=True, slots=True)
class Layout:
    """What is shown, in this order: note, briefing, stem, choices, hatches."""

    digest: str
    note: str | None
    synopsis: str
    findings: tuple[str, ...]
    recommendations: tuple[str, ...]
    offer: str
    stem: str
    choices: tuple[Choice, ...]
    hatches: tuple[Hatch, ...]
    decision_class: str | None = None

    @property
    def recommended(self) -> Choice:
        """The choice the agent recommends."""
        return next(each for each in self.choices if each.recommended)


HATCHES: Mapping[HatchKind, Hatch] = {
    HatchKind.FREE_TEXT: Hatch(HatchKind.FREE_TEXT, "a", "Answer in your own words", "Your answer"),
    HatchKind.DIALOGUE: Hatch(HatchKind.DIALOGUE, "d", "This is the wrong question: talk first", "Your objection"),
}
"""Both vetoes, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The way to take the envelope's offer up: it resolves nothing, and is offered where somebody can answer."""

    key: str
    label: str
    asks: str


OFFER = Offer("m", "Ask for detail first", "What do you want to know more about?")


def open_hatches(hatches: Hatches) -> tuple[Hatch, ...]:
    """Return the vetoes that are open, in order."""
    return tuple(each for kind, each in HATCHES.items() if getattr(hatches, kind.value))


def layout(moment: BindingMoment) -> Layout:
    """Return the layout of an envelope; raises ``InputError`` for what is malformed, which is no decision to draw."""
    moment = wellformed(moment)
    meta, question = moment.meta, moment.question
    return Layout(
        digest=digest(moment),
        note=None if meta is None else _given(meta.calibration_note),
        synopsis=line(moment.synopsis),
        findings=tuple(map(line, moment.findings)),
        recommendations=tuple(map(line, moment.recommendations)),
        offer=line(moment.offer),
        stem=line(question.stem),
        choices=_choices(question),
        hatches=open_hatches(question.hatches),
        decision_class=None if meta is None else _given(meta.decision_class),
    )


def _given(text: str | None) -> str | None:
    return None if text is None else line(text)


def _choices(question: Question) -> tuple[Choice, ...]:
    options = tuple(
        Label(str(index + 1), line(each.label), line(each.reasoning), index == question.recommended_idx)
        for index, each in enumerate(question.options)
    )
    told = warnings(options, ((each.key, each.label) for each in HATCHES.values()))
    return tuple(
        Choice(index, each.key, each.label, each.reasoning, each.recommended, warning)
        for index, (each, warning) in enumerate(zip(options, told, strict=True))
    )
