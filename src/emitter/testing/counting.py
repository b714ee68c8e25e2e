"""Tokens as the simulated vendors count them: all of them as OpenAI does."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from emitter.tokens import counter

if TYPE_CHECKING:
    from collections.abc import Callable

_REMEMBERED = 4_096


@cache
def _counter() -> Callable[[str], int]:
    return counter("o200k_base")


@lru_cache(maxsize=_REMEMBERED)
def tokens(text: str) -> int:
    """Return the tokens of a text; without the rank file an estimate that is never too low."""
    return _counter()(text)


def within(text: str, budget: int) -> str:
    """Return the longest beginning of ``text`` found that is no more than ``budget`` tokens.

    One character more would be over the budget.
    """
    if budget <= 0:
        return ""
    fits, over = 0, len(text) + 1
    count = _counter()
    while over - fits > 1:
        middle = (fits + over) // 2
        if count(text[:middle]) <= budget:
            fits = middle
        else:
            over = middle
    return text[:fits]
