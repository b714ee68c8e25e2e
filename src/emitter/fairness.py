"""Let the other tasks of an event loop run while many operations begin or end at once.

An event loop runs all ready tasks before it looks at sockets and timers again. If hundreds of requests are sent in the
same moment, each takes half a millisecond to encode and send, and nothing else runs until the last one was sent. So
only a few operations may begin or continue in one iteration of the loop, in the order in which they asked.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future

MAX_PER_ITERATION: Final = 4
"""The operations that may begin or continue in one iteration of an event loop."""


class _Turns:
    """The turns of one event loop in its current iteration, and the operations that wait for the next one."""

    def __init__(self) -> None:
        self._taken = 0
        self._waiting: deque[Future[None]] = deque()

    async def take(self, loop: AbstractEventLoop) -> None:
        """Continue at once, or in a later iteration of the loop."""
        if self._taken == 0:
            loop.call_soon(self._renew, loop)
        if self._taken < MAX_PER_ITERATION:
            self._taken += 1
            return
        turn = loop.create_future()
        self._waiting.append(turn)
        await turn

    def _renew(self, loop: AbstractEventLoop) -> None:
        """Begin a new iteration: the first operations that wait may continue."""
        self._taken = 0
        while self._waiting and self._taken < MAX_PER_ITERATION:
            turn = self._waiting.popleft()
            if not turn.done():  # its task was not cancelled
                turn.set_result(None)
                self._taken += 1
        if self._taken:
            loop.call_soon(self._renew, loop)


_TURNS: WeakKeyDictionary[AbstractEventLoop, _Turns] = WeakKeyDictionary()


async def take_turn() -> None:
    """Wait until this task may continue: at once, unless many others begin or continue in the same moment."""
    import asyncio  # noqa: PLC0415  light commands load this module without it

    loop = asyncio.get_running_loop()
    turns = _TURNS.get(loop)
    if turns is None:
        turns = _TURNS[loop] = _Turns()
    await turns.take(loop)
