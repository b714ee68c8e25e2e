"""A request that is answered from a script, in either world."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator

    from emitter.messages import CallResult, Usage
    from emitter.streaming import StreamEvent


class Scripted:
    """An exchange whose answer is made when it is asked for."""

    def __init__(
        self, make: Callable[[], CallResult], reported: tuple[StreamEvent, ...] = (), spent: Usage | None = None
    ) -> None:
        self.answer: CallResult
        self._make, self._reported, self._spent = make, reported, spent

    def __iter__(self) -> Iterator[StreamEvent]:
        yield from self._reported
        self.answer = self._make()

    async def __aiter__(self) -> AsyncGenerator[StreamEvent]:
        for each in self._reported:
            yield each
        self.answer = self._make()

    def so_far(self) -> Usage | None:
        """Return what was spent on an answer that was left unread."""
        return self._spent
