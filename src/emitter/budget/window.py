"""Whether prompt and answer fit the model's context window together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.budget.estimate import least, most

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# No character has more bytes, and no byte more than one token: a tokenizer that knows a byte, or falls back to one,
# never writes two for it.
_MOST_PER_CHARACTER = 4
# A vendor's own frame around turns and schema; it only matters to what is already tight.
_FRAME = 64


class NoRoomError(Exception):
    """The prompt leaves no room for an answer in the window; the message names both sizes."""


@dataclass(frozen=True, slots=True)
class Window:
    """A model's window in tokens, and the ``typical`` answer that must find room in it.

    ``exact`` returns the tokenizer of the model where one is at hand, else None. It is asked only when the
    answer could matter.
    """

    model: str
    context: int
    typical: int
    exact: Callable[[], Callable[[str], int] | None]


@dataclass(frozen=True, slots=True)
class Spending:
    """A first budget and the ceiling to which it may be raised; ``firm`` where the caller named the first."""

    budget: int
    ceiling: int
    firm: bool = False


def fitted(spending: Spending, texts: Sequence[str], window: Window) -> Spending:
    """Return what of ``spending`` fits beside a prompt of ``texts``.

    Raises ``NoRoomError`` where not even a typical answer can, by a count that is certain. By an estimate
    alone nothing is refused, and a budget that the caller named is not made smaller.
    """
    if sum(map(len, texts)) * _MOST_PER_CHARACTER + _FRAME + spending.ceiling <= window.context:
        return spending
    low, high = sum(map(least, texts)), sum(map(most, texts)) + _FRAME
    if high + spending.budget > window.context and (exact := window.exact()) is not None:
        low = high = sum(map(exact, texts))
    need = min(window.typical, spending.budget)
    if low + need > window.context:
        raise _no_room(low, need, window)
    room = max(window.context - (low if spending.firm else high), need)
    budget = min(spending.budget, room)
    return Spending(budget, max(budget, min(spending.ceiling, window.context - low)), spending.firm)


def _no_room(prompt: int, answer: int, window: Window) -> NoRoomError:
    return NoRoomError(
        f"The prompt has at least {prompt:,} tokens and its answer needs {answer:,}, "
        f"but the window of {window.model} holds {window.context:,}."
    )
