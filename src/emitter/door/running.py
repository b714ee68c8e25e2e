"""An emission that is told while it runs: iterate it for its progress, ask it for its result."""

from __future__ import annotations

from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from emitter.door.exchange import Line, Streamed
from emitter.door.hushed import Hushed
from emitter.door.perform import recorder
from emitter.door.result import Trace, done
from emitter.door.session import asession, fitting, session
from emitter.door.spending import warn_of_assumptions
from emitter.drive import AsyncDrive, Drive, ended
from emitter.emission import emission
from emitter.errors import InputError
from emitter.progress.slots import Slots

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
    from types import TracebackType
    from typing import Self

    from emitter.door.plan import Plan
    from emitter.door.result import Done
    from emitter.door.settings import Settings
    from emitter.profile import Profile
    from emitter.progress import Progress
    from emitter.progress.slots import Watch

R = TypeVar("R")

_OPEN = "The stream was left before its end, so it has no result."


class _Running(Generic[R]):
    """What both worlds share: what is asked, what is told of it, and what it comes to.

    It knows nothing of the stream that reads it, so that one that nobody keeps is ended at once.
    """

    def __init__(self, plan: Plan, settings: Settings, watch: Watch, finish: Callable[[Done], R]) -> None:
        self._plan, self._settings, self._finish = plan, settings, finish
        self._slots = Slots(plan.ask.contract.compiled, watch)
        self._tell = recorder(plan, settings)
        self._steps = emission(plan.ask, settings.policy)
        self._hushed = Hushed(settings.host.rules.secrets)
        self._result: R | None = None
        self._drive: Drive | AsyncDrive | None = None
        self._error: Exception | None = None

    @property
    def trace(self) -> Trace:
        """Every call and every event so far."""
        outcome = self._drive.outcome if self._drive else None
        return Trace(outcome.attempts if outcome else (), tuple(self._tell.told))

    def driven(self) -> Generator[Progress]:
        """Yield what is told, and keep what it comes to."""
        try:
            with session(
                self._plan.profile, self._settings.client, self._settings.base_url, self._plan.ask.request.model
            ) as client:
                self._drive = drive = Drive(self._steps, self._line(client), self._tell, self._settings.limits())
                for each in drive:
                    yield from self._hushed(each)
            self._finished(drive)
        except Exception as error:
            self._error = error
            raise

    async def adriven(self) -> AsyncGenerator[Progress]:
        """Do as ``driven`` does, without blocking."""
        try:
            async with asession(
                self._plan.profile, self._settings.client, self._settings.base_url, self._plan.ask.request.model
            ) as client:
                self._drive = drive = AsyncDrive(self._steps, self._line(client), self._tell, self._settings.limits())
                async with aclosing(drive.__aiter__()) as telling:
                    async for each in telling:
                        for told in self._hushed(each):
                            yield told
            self._finished(drive)
        except Exception as error:
            self._error = error
            raise

    def result(self) -> R:
        """Return what it came to, or raise what it ended in."""
        if self._error is not None:
            raise self._error
        if self._result is None:
            raise InputError(_OPEN, hint="Read it to its end, or call result() before it is closed.")
        return self._result

    def _reached(self) -> tuple[Profile, object, str | None, str]:
        plan, settings = self._plan, self._settings
        return plan.profile, settings.client, settings.base_url, plan.ask.request.model

    def _line(self, client: object) -> Any:
        most = self._settings.policy.max_response_bytes
        return partial(Streamed, Line(self._plan, client, self._settings.clock, self._slots, most))

    def _finished(self, drive: Drive | AsyncDrive) -> None:
        self._result = self._finish(done(ended(drive), tuple(self._tell.told)))


class _Traced(Generic[R]):
    """A stream's view of what is running."""

    def __init__(self, plan: Plan, settings: Settings, watch: Watch, finish: Callable[[Done], R]) -> None:
        self._under_way = _Running(plan, settings, watch, finish)

    @property
    def trace(self) -> Trace:
        """Every call that was made and every event that was told so far; the calls once the emission is over."""
        return self._under_way.trace


class Stream(_Traced[R]):
    """An emission under way: an iterator of ``Slot``, ``TextDelta`` and ``Restart``, and then a ``result``.

    Iterating raises the ``EmissionError`` that the emission ends in. Leaving the ``with`` block, or ``close``,
    ends the request; what it has cost until then is in ``trace``.
    """

    def __init__(self, plan: Plan, settings: Settings, watch: Watch, finish: Callable[[Done], R]) -> None:
        fitting(settings.client, plan.profile, plan.ask.request.model, asynchronous=False)
        warn_of_assumptions(plan)
        super().__init__(plan, settings, watch, finish)
        self._running = self._under_way.driven()

    def __iter__(self) -> Iterator[Progress]:
        return self._running

    def __next__(self) -> Progress:
        return next(self._running)

    def result(self) -> R:
        """Read what is left, and return what the emission came to; raises the ``EmissionError`` it ended in."""
        for _ in self._running:
            pass
        return self._under_way.result()

    def close(self) -> None:
        """Leave: the request is ended, and nothing is sent any more."""
        self._running.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class AsyncStream(_Traced[R]):
    """Does as ``Stream`` does, without blocking."""

    def __init__(self, plan: Plan, settings: Settings, watch: Watch, finish: Callable[[Done], R]) -> None:
        fitting(settings.client, plan.profile, plan.ask.request.model, asynchronous=True)
        warn_of_assumptions(plan)
        super().__init__(plan, settings, watch, finish)
        self._running = self._under_way.adriven()

    def __aiter__(self) -> AsyncIterator[Progress]:
        return self._running

    async def __anext__(self) -> Progress:
        return await anext(self._running)

    async def result(self) -> R:
        """Read what is left, and return what the emission came to; raises the ``EmissionError`` it ended in."""
        async for _ in self._running:
            pass
        return self._under_way.result()

    async def aclose(self) -> None:
        """Leave: the request is ended, and nothing is sent any more."""
        await self._running.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()
