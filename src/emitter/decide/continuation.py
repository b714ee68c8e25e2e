"""What the agent does after a resolution: act, incorporate, reopen, or hold still.

Source: draft-morrison-binding-moment-envelope-00, sections 6.2 and 6.3: "the agent's correct continuation differs in
each case".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, assert_never

from emitter.decide.digest import digest
from emitter.decide.resolution import Dialogue, FreeText, Selected, Unresolved, checked
from emitter.decide.resolution import dialogue as _dialogue
from emitter.decide.resolution import free_text as _free_text
from emitter.decide.resolution import selected as _selected
from emitter.errors import WrongDigest

if TYPE_CHECKING:
    from emitter.decide.resolution import Resolution, Unanswered
    from emitter.kinds import BindingMoment, Option


@dataclass(frozen=True, slots=True)
class Act:
    """Do what ``option`` of ``moment`` says, and nothing else: the principal voted for it."""

    moment: BindingMoment
    index: int

    @property
    def option(self) -> Option:
        """The option that was chosen."""
        return self.moment.question.options[self.index]


@dataclass(frozen=True, slots=True)
class Incorporate:
    """Take the principal's own ``answer`` up and go on: the question of ``moment`` stands, its options do not."""

    moment: BindingMoment
    answer: str


@dataclass(frozen=True, slots=True)
class Reopen:
    """Deliberate again: the question of ``moment`` was refused, may not be put again, and ``objection`` says why.

    The objection may be empty. What comes next is held to ``emitter.decide.handshake``.
    """

    moment: BindingMoment
    objection: str


@dataclass(frozen=True, slots=True)
class Hold:
    """Do nothing about ``moment``: nobody decided, for this ``reason``, and that is no consent."""

    moment: BindingMoment
    reason: Unanswered


Continuation: TypeAlias = Act | Incorporate | Reopen | Hold


def continue_after(resolution: Resolution | Unresolved, moment: BindingMoment) -> Continuation:
    """Return what the agent may do now; ``moment`` is the envelope that was asked.

    Raises ``BadResolution`` for what is no resolution, ``InputError`` for what is no envelope, ``WrongDigest`` for a
    resolution of another envelope, and what ``selected``, ``free_text`` and ``dialogue`` raise for one that the
    envelope does not take.
    """
    answered = checked(resolution)
    if answered.digest != digest(moment):
        raise WrongDigest("The resolution answers another envelope.")
    match answered:
        case Selected(index=index):
            return Act(moment, _selected(moment, index).index)
        case FreeText(answer=answer):
            return Incorporate(moment, _free_text(moment, answer).answer)
        case Dialogue(objection=objection):
            return Reopen(moment, _dialogue(moment, objection).objection)
        case Unresolved(reason=reason):
            return Hold(moment, reason)
        case _:
            assert_never(answered)
