"""The decision by which a call is approved: one option does it, and the envelope tells the call to the letter.

Whoever writes the briefing, a template or a model, the lines that tell the call are ours, and so is the label of the
option that makes it: a model can say why, and cannot say what.

Source: draft-morrison-binding-moment-envelope-00, section 5; DESIGN 7, options carry an action digest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from emitter.authority.proposal.detail import plain_summary
from emitter.decide.canonical import HALF_PAIR
from emitter.errors import InputError
from emitter.kinds import BindingMoment, Option, Question
from emitter.render.safe import clusters
from emitter.wire import mapping

if TYPE_CHECKING:
    from emitter.authority.proposal import Proposal
    from emitter.authority.records import ConfirmRequest
    from emitter.wire import Json

_S256: Final = "s256"
_LONGEST_TARGET: Final = 100
"""Characters of a target that the synopsis shows."""
_UNSEEN: Final = re.compile(r"(?<= ) |[^\S ]")
_WORD: Final = re.compile(r"[^ ]+")
_NONE: Final = "The call takes no arguments."


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be decided: the call's ``proposal``, the authority that is asked for it, and the tool's name."""

    tool: str
    proposal: Proposal
    request: ConfirmRequest

    @property
    def label(self) -> str:
        """The label of the option that makes the call; the envelope has it once, to the letter."""
        return f"Run {self.tool} with exactly these arguments"


Brief: TypeAlias = Callable[[Asked], BindingMoment | Awaitable[BindingMoment]]
"""Writes an envelope for a call: one of its options has the label ``Asked.label``."""


def template(asked: Asked) -> BindingMoment:
    """Return an envelope that says no more than what the call is; no model is asked."""
    seconds = asked.request.ttl_seconds
    targets = [each for each in asked.request.scope.targets or () if each != asked.tool]
    aimed = "".join(f" on {_text(_cut(each))}" for each in targets)
    return BindingMoment(
        synopsis=f"Run {asked.tool}{aimed} once, with exactly the arguments that are listed here.",
        findings=(),
        recommendations=(
            f"Run {asked.tool} within {seconds:,} seconds of the approval.",
            "Keep the receipt of what it did.",
        ),
        offer="Ask for anything that is told by its hash only.",
        question=Question.ask(
            f"What is to become of this call of {asked.tool}?",
            [
                Option(label=asked.label, reasoning="The call is what is wanted, to the letter."),
                Option(label="Leave it undone", reasoning="The call is not wanted, or not in this form."),
            ],
            recommended_idx=0,
        ),
    )


def _cut(target: str) -> str:
    """Return a target as a synopsis names it; the findings tell all of it."""
    return target if len(target) <= _LONGEST_TARGET else f"{target[:_LONGEST_TARGET]}\u2026"


def composed(asked: Asked, moment: BindingMoment) -> tuple[BindingMoment, int]:
    """Return the envelope with the call told in its findings, and the option that makes the call.

    Raises ``InputError`` where the envelope does not offer it exactly once.
    """
    if not isinstance(moment, BindingMoment):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError("brief= returns a BindingMoment.")
    places = _places(asked, moment)
    if len(places) != 1:
        raise InputError(
            "The envelope does not offer the call once, under its label.", hint="Give one option the label Asked.label."
        )
    return moment.model_copy(update={"findings": (*told(asked), *moment.findings)}), places[0]


def tells(asked: Asked, moment: BindingMoment, actions: tuple[str | None, ...]) -> bool:
    """Tell whether an envelope that stands is one of this call: it tells all of it, and one option makes it."""
    lines, places = told(asked), _places(asked, moment)
    count = len(moment.question.options)
    expected = tuple(asked.request.digest if index in places else None for index in range(count))
    return len(places) == 1 and moment.findings[: len(lines)] == lines and actions == expected


def _places(asked: Asked, moment: BindingMoment) -> list[int]:
    return [index for index, option in enumerate(moment.question.options) if option.label == asked.label]


def told(asked: Asked) -> tuple[str, ...]:
    """Return the lines that tell a call: each argument, what it may spend, how risky it is, and what it leads to."""
    lines = [_argument(name, value) for name, value in asked.proposal.parameters.items()]
    limits = ", ".join(f"{name} {amount:,}" for name, amount in asked.request.limits.items())
    targets = ", ".join(map(_text, asked.request.scope.targets or ()))
    account = [] if asked.proposal.account is None else [f"Account: {_text(asked.proposal.account)}"]
    bound = f"Target: {targets}. At most: {limits or 'nothing'}."
    call = "" if asked.request.call is None else f" of {_text(asked.request.call.function)}"
    risk = f"Risk: {asked.request.risk_level.value}. Call {asked.proposal.s256}{call}."
    return (*(lines or [_NONE]), *account, bound, risk, *_displayed(asked.proposal))


_DISPLAYED: Final = {
    "summary": "What it does",
    "implications": "What follows from it",
    "data_accessed": "What it reads or discloses",
    "irreversible": "Whether it can be undone",
}
"""The texts of a display that stand in the findings, so that every surface shows them above the options."""


def _displayed(proposal: Proposal) -> list[str]:
    """Return what the display says of the call, a line for each text; a summary made of its name alone says nothing."""
    display = proposal.display
    if display is None:
        return []
    said = {name: " ".join((getattr(display, name) or "").split()) for name in _DISPLAYED}
    if said["summary"] == plain_summary(proposal.operation, proposal.vocabulary):
        said["summary"] = ""
    return [f"{title}: {said[name]}" for name, title in _DISPLAYED.items() if said[name]]


def _argument(name: str, value: Json) -> str:
    if isinstance(value, Mapping) and _S256 in value:
        return f"{name}: {_digested(mapping(value))}"
    return f"{name}: {_text(value)}"


def _digested(digest: Mapping[str, Json]) -> str:
    excerpt = digest.get("excerpt")
    shown = "not shown" if excerpt is None else f"begins {_text(excerpt)}"
    return f"{shown} (SHA-256 {digest[_S256]})"


def _text(value: Json) -> str:
    """Return a value as JSON on one line; what a surface would show otherwise, or not at all, is spelled out."""
    text = HALF_PAIR.sub("\ufffd", json.dumps(value, ensure_ascii=False))
    spaced = _UNSEEN.sub(lambda found: _spelled(found[0]), text)
    return _WORD.sub(lambda found: _safe(found[0]), spaced)


def _safe(word: str) -> str:
    shown = "".join(clusters(word))
    return "".join(each if each == seen else _spelled(each) for each, seen in zip(word, shown, strict=True))


def _spelled(character: str) -> str:
    return json.dumps(character)[1:-1] if not character.isascii() else f"\\u{ord(character):04x}"
