"""The first output budget: what the answer may need, what thinking takes besides, and what is allowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emitter.budget.answer import Span

# Of 429 recorded structured answers the longest has 400 tokens.
_SMALLEST_ANSWER = 512
# A binding moment takes about 700; an answer that the schema does not bound may be an essay.
_SMALLEST_UNBOUNDED = 2048
_HEADROOM = 2


@dataclass(frozen=True, slots=True)
class Allowed:
    """Between what a budget must lie: the vendor's minimum and the ceiling, which may not be below it."""

    minimum: int
    ceiling: int

    def clamped(self, tokens: int) -> int:
        """Return the nearest budget that may be sent."""
        return max(min(tokens, self.ceiling), self.minimum)


def first_budget(span: Span, thinking: int, allowed: Allowed, *, asked: int | None = None) -> int:
    """Return the first output budget in tokens; ``asked`` is the caller's own, which wins within what is allowed."""
    return allowed.clamped(needed(span) + thinking if asked is None else asked)


def needed(span: Span) -> int:
    """Return the tokens to set aside for an answer of this span."""
    if span.bounded:
        return max(_SMALLEST_ANSWER, span.known)
    return max(_SMALLEST_UNBOUNDED, _HEADROOM * span.typical, span.known)
