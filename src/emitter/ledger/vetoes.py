"""The questions that a principal refused, as a ledger remembers them when a decision is opened.

Source: draft-morrison-binding-moment-envelope-00, section 6.2: the agent "SHALL NOT respond by re-emitting the same
question". A question that is the same word for word is refused. Likeness is a guess about language: it is only told.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias

from emitter.decide.handshake import SAME, wording
from emitter.decide.handshake.question import asked, likeness

if TYPE_CHECKING:
    from emitter.decide.handshake.question import Asked
    from emitter.ledger.values import Pending

MOST_VETOES: Final = 256
"""How many vetoes of a ledger are remembered, the latest."""
MOST_COMPARED: Final = 64
"""How many of them are compared by likeness, which takes a quarter of a millisecond each."""
STANDS: Final = 30 * 24 * 60 * 60.0
"""For how many seconds a veto is remembered against other envelopes and other agents."""

Question: TypeAlias = tuple[str, tuple[tuple[str, str], ...]]
"""A question word for word: its stem, and its options in any order, each with the digest of what it does."""


@dataclass(frozen=True)
class Posed:
    """A decision, and what its question says."""

    pending: Pending

    @cached_property
    def question(self) -> Question:
        """The question word for word."""
        question, actions = self.pending.moment.question, self.pending.actions
        does = actions or (None,) * len(question.options)
        options = ((wording(each.label), action or "") for each, action in zip(question.options, does, strict=True))
        return wording(question.stem), tuple(sorted(options))

    @cached_property
    def asked(self) -> Asked:
        """The question, read for its likeness to others."""
        return asked(self.pending.moment)

    @property
    def acts(self) -> frozenset[str]:
        """The digests of what the options do."""
        return frozenset(filter(None, self.pending.actions))


@dataclass(frozen=True, slots=True)
class Veto:
    """A decision whose question was refused, at a time in seconds since 1970."""

    posed: Posed
    at: float

    @property
    def pending(self) -> Pending:
        """The decision."""
        return self.posed.pending

    def stands(self, now: float) -> bool:
        """Tell whether the veto is remembered at a time."""
        return now < self.at + STANDS

    def repeats(self, wanted: Posed) -> bool:
        """Tell whether a decision asks the refused question again, word for word and about the same actions."""
        return self.posed.question == wanted.question

    def resembles(self, wanted: Posed) -> bool:
        """Tell whether a decision reads like the refused question, about the same actions."""
        return self.posed.acts == wanted.acts and likeness(self.posed.asked, wanted.asked) >= SAME
