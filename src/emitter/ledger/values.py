"""What the ledger knows of a decision: that it is open, or how it was resolved."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias, assert_never

from emitter.decide import Dialogue, FreeText, Resolution, Selected, continue_after
from emitter.errors import BadResolution
from emitter.ledger.words import Unkept

if TYPE_CHECKING:
    from emitter.decide import Continuation
    from emitter.kinds import BindingMoment


class Outcome(str, Enum):
    """Which of the three a resolution is."""

    SELECTED = "selected"
    FREE_TEXT = "free_text"
    DIALOGUE = "dialogue"

    @classmethod
    def of(cls, resolution: Resolution) -> Outcome:
        """Return which one it is."""
        match resolution:
            case Selected():
                return cls.SELECTED
            case FreeText():
                return cls.FREE_TEXT
            case Dialogue():
                return cls.DIALOGUE
            case _:
                assert_never(resolution)


@dataclass(frozen=True, slots=True)
class Unspoken:
    """A free text or an objection whose words this ledger cannot read.

    ``outcome`` says which of the two it was, and ``why`` why the words are not there: see ``KeepWords``.
    """

    digest: str
    outcome: Outcome
    why: Unkept = field(default=Unkept.NOT_KEPT, compare=False)


Known: TypeAlias = Resolution | Unspoken
"""What can be known of a resolution afterwards."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A decision that was opened: the envelope and its ``digest``, by ``decision_id``.

    ``opened_at`` and ``expires_at`` are seconds since 1970, the latter None where it stays open for ever.
    ``actions`` are the digests of what each option would do, one an option or none at all; they are no part of the
    envelope. ``ended`` says that its time stands recorded as over, whatever a clock says that was set back since.
    ``signed`` says that only a signed answer counts: whoever opened it checks signatures.
    """

    decision_id: str
    digest: str
    moment: BindingMoment
    agent: str
    opened_at: float
    expires_at: float | None = None
    actions: tuple[str | None, ...] = ()
    ended: bool = field(default=False, compare=False)
    signed: bool = field(default=False, compare=False)

    @property
    def reference(self) -> str:
        """What events call the decision: a hash of its id, and of nothing else.

        An id that can be guessed can be found by it; one that the ledger made up cannot.
        """
        return reference(self.decision_id)

    def is_over(self, at: float) -> bool:
        """Tell whether its time is over at a moment, in seconds since 1970."""
        return self.ended or (self.expires_at is not None and at >= self.expires_at)

    def left(self, at: float) -> float | None:
        """Return for how many seconds more it is open at a moment, in seconds since 1970; None is for ever."""
        return None if self.expires_at is None else max(0.0, self.expires_at - at)


@dataclass(frozen=True, slots=True)
class Resolved:
    """A decision that was resolved, at ``resolved_at`` in seconds since 1970, by way of ``channel``.

    ``repeated`` says that it stood so before this call: who acts on a decision acts where it is False. ``signature`` is
    that of whoever answered, None where the answer was not signed; a ledger that has no ``check=`` did not check it.
    """

    pending: Pending
    resolution: Known
    resolved_at: float
    channel: str = ""
    repeated: bool = False
    signature: str | None = None

    @property
    def continuation(self) -> Continuation:
        """What the agent may do now.

        Raises ``BadResolution`` for a free text or an objection whose words this ledger cannot read, since none would
        read as if the principal had given none. A refused question stays refused, and its options are nobody's
        choice: see ``resolution``.
        """
        match self.resolution:
            case Unspoken(outcome=outcome, why=why):
                reason, hint = _UNSPOKEN[why]
                raise BadResolution(f"{_SAID[outcome]} {reason}", hint=hint)
            case _:
                return continue_after(self.resolution, self.pending.moment)

    @property
    def action(self) -> str | None:
        """The digest of what the chosen option does: None where no option was chosen, or none was given for it."""
        actions = self.pending.actions
        return actions[self.resolution.index] if isinstance(self.resolution, Selected) and actions else None


_SAID: Final = {
    Outcome.SELECTED: "The principal chose an option.",
    Outcome.FREE_TEXT: "The principal answered in their own words.",
    Outcome.DIALOGUE: "The principal refused the question.",
}
_ASK: Final = (
    "Ask the principal for their words, or build Incorporate(moment, words) or Reopen(moment, words) yourself."
)
_UNSPOKEN: Final = {
    Unkept.NOT_KEPT: ("Their words were not kept: the ledger that took the answer has words=None.", _ASK),
    Unkept.DELETED: ("Their words were kept for a limited time, and are deleted.", _ASK),
    Unkept.ENCRYPTED: (
        "Their words are encrypted, and this ledger has no key that decrypts them.",
        "Open the ledger with words=KeepWords(key=...).",
    ),
}


def words_name(decision: str, number: int | None = None) -> str:
    """Return the name under which a store keeps the words of a resolution, or of a request for detail."""
    return f"words:{decision}" if number is None else f"words:{decision}:{number}"


def reference(decision_id: str) -> str:
    """Return what events call a decision."""
    return hashlib.sha256(b"emitter.decision:" + decision_id.encode("utf-8", "surrogatepass")).hexdigest()
