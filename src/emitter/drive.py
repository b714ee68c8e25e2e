"""The drivers: they do what an emission asks for. What time it is and how to wait, ``emitter.clock`` says.

``Drive`` and ``AsyncDrive`` are twins and the only ones; what they share stands below them. Each is iterated for
what is told on the way, and holds its ``outcome`` at the end. A consumer that leaves early, or a task that is
cancelled, ends the emission with a fault, so that what was paid for is in its outcome all the same.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Protocol, TypeAlias, assert_never

from emitter.clock import pause
from emitter.progress.told import Progress, Restart
from emitter.steps import Call, Outcome, Steps, Tell, Wait
from emitter.wire import Answer, Fault, FaultKind, Usage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator

    from emitter.clock import Limits
    from emitter.events import Event, RunEvent
    from emitter.wire import Request

_LEFT = "The caller left before the answer was whole."


class Exchange(Protocol):
    """One request on its way: iterated to the end, it has its ``answer``."""

    @property
    def answer(self) -> Answer:
        """The answer, once it is whole."""
        ...

    def so_far(self) -> Usage | None:
        """Return what an answer that was left unread has cost."""
        ...


class SyncExchange(Exchange, Protocol):
    """One request on its way, in the blocking world."""

    def __iter__(self) -> Iterator[Progress]: ...


class AsyncExchange(Exchange, Protocol):
    """One request on its way, in the async world."""

    def __aiter__(self) -> AsyncGenerator[Progress]: ...


Send: TypeAlias = "Callable[[Request, float], SyncExchange]"
"""Sends a request, which may take so many seconds."""
AsyncSend: TypeAlias = "Callable[[Request, float], AsyncExchange]"


class Drive:
    """An emission under way in the blocking world."""

    def __init__(self, steps: Steps, send: Send, tell: Callable[[Event | RunEvent], None], limits: Limits) -> None:
        self.outcome: Outcome | None = None
        self._steps, self._send, self._tell, self._limits = steps, send, tell, limits
        self._exchange: SyncExchange | None = None

    def __iter__(self) -> Generator[Progress]:
        """Do what the emission asks for, and yield what is told on the way."""
        try:
            self.outcome = yield from self._driven()
        except (GeneratorExit, KeyboardInterrupt):
            self.outcome = self.outcome or _left(self._steps, self._exchange, self._tell)
            raise

    def _driven(self) -> Generator[Progress, None, Outcome]:
        watch, answer = _Watch(self._limits), None
        while True:
            try:
                step = self._steps.send(answer)
            except StopIteration as end:
                outcome: Outcome = end.value
                return outcome
            answer = None
            match step:
                case Call():
                    yield from _restarted(step)
                    answer = watch.late() or (yield from self._exchanged(step, watch.timeout()))
                case Wait():
                    seconds = pause(step, self._limits.clock)
                    answer = watch.late(seconds)
                    if answer is None:
                        self._limits.clock.sleep(seconds)
                case Tell(event):
                    self._tell(event)
                case _:
                    assert_never(step)

    def _exchanged(self, step: Call, timeout: float) -> Generator[Progress, None, Answer]:
        self._exchange = exchange = self._send(step.request, timeout)
        yield from exchange
        self._exchange = None
        return exchange.answer


class AsyncDrive:
    """An emission under way in the async world."""

    def __init__(self, steps: Steps, send: AsyncSend, tell: Callable[[Event | RunEvent], None], limits: Limits) -> None:
        self.outcome: Outcome | None = None
        self._steps, self._send, self._tell, self._limits = steps, send, tell, limits
        self._exchange: AsyncExchange | None = None
        self._answer: Answer | None = None

    async def __aiter__(self) -> AsyncGenerator[Progress]:
        """Do what the emission asks for, and yield what is told on the way."""
        try:
            async with aclosing(self._driven()) as driven:
                async for each in driven:
                    yield each
        except (GeneratorExit, asyncio.CancelledError):
            self.outcome = self.outcome or _left(self._steps, self._exchange, self._tell)
            raise

    async def _driven(self) -> AsyncGenerator[Progress]:
        watch, answer = _Watch(self._limits), None
        while True:
            try:
                step = self._steps.send(answer)
            except StopIteration as end:
                self.outcome = end.value
                return
            answer = None
            match step:
                case Call():
                    async with aclosing(self._called(step, watch)) as calling:
                        async for each in calling:
                            yield each
                    answer = self._answer
                case Wait():
                    seconds = pause(step, self._limits.clock)
                    answer = watch.late(seconds)
                    if answer is None:
                        await self._limits.clock.asleep(seconds)
                case Tell(event):
                    self._tell(event)
                case _:
                    assert_never(step)

    async def _called(self, step: Call, watch: _Watch) -> AsyncGenerator[Progress]:
        for restart in _restarted(step):
            yield restart
        self._answer = watch.late()
        if self._answer is None:
            self._exchange = exchange = self._send(step.request, watch.timeout())
            async with aclosing(exchange.__aiter__()) as telling:
                async for each in telling:
                    yield each
            self._exchange, self._answer = None, exchange.answer


def run(drive: Drive) -> Outcome:
    """Drive an emission to its outcome."""
    for _ in drive:
        pass
    return ended(drive)


async def arun(drive: AsyncDrive) -> Outcome:
    """Drive an emission to its outcome, without blocking."""
    async for _ in drive:
        pass
    return ended(drive)


def ended(drive: Drive | AsyncDrive) -> Outcome:
    """Return the outcome of an emission that is over."""
    if drive.outcome is None:
        raise RuntimeError("The emission is not over.")
    return drive.outcome


def _restarted(step: Call) -> Iterable[Restart]:
    return () if step.after is None else (Restart(step.number, step.after),)


def _left(steps: Steps, exchange: Exchange | None, tell: Callable[[Event | RunEvent], None]) -> Outcome:
    """End an emission whose caller left: nothing is sent any more, and all is told."""
    fault = Fault(FaultKind.CANCELLED, _LEFT, usage=exchange.so_far() if exchange else None)
    answer: Answer | None = fault
    while True:
        try:
            step = steps.send(answer)
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome
        answer = None if isinstance(step, Tell) else fault
        if isinstance(step, Tell):
            tell(step.event)


class _Watch:
    """How much time is left."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._began = limits.clock.monotonic()

    def _left(self) -> float | None:
        deadline = self._limits.deadline
        return None if deadline is None else deadline - (self._limits.clock.monotonic() - self._began)

    def timeout(self) -> float:
        """Return the seconds that the next call may take."""
        left = self._left()
        return self._limits.timeout if left is None else min(self._limits.timeout, left)

    def late(self, ahead: float = 0.0) -> Answer | None:
        """Return the deadline's fault if it passes within ``ahead`` seconds."""
        left = self._left()
        if left is None or left > ahead:
            return None
        return Fault(FaultKind.DEADLINE, f"The deadline of {self._limits.deadline} seconds leaves no time to go on.")
