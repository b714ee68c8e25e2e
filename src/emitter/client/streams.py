"""Streamed emissions: iterate for progress, then call ``result()``."""

from __future__ import annotations

from contextlib import aclosing
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from emitter.client.execution import (
    AsyncDriver,
    SyncDriver,
    async_sdk_client,
    driver_outcome,
    emission_recorder,
    require_usable_client,
    sdk_client,
)
from emitter.client.request import warn_unknown_model
from emitter.client.result import Trace, complete, emission_prices
from emitter.client.transport import Connection, StreamCall, StreamRedactor
from emitter.core.emission import run_emission
from emitter.errors import InputError
from emitter.streaming.field_stream import FieldStream

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
    from types import TracebackType
    from typing import Self

    from emitter.client.request import PreparedEmission
    from emitter.client.result import Emission
    from emitter.client.settings import Settings
    from emitter.streaming import StreamEvent, StreamSelection

R = TypeVar("R")
_NO_RESULT = "The stream was closed before its end, so it has no result."


class _StreamRun(Generic[R]):
    """The run behind a stream, for both worlds.

    It holds no reference to the stream, so that a stream that is dropped ends at once.
    """

    def __init__(
        self,
        prepared: PreparedEmission,
        settings: Settings,
        selection: StreamSelection,
        finish: Callable[[Emission[Any]], R] | None = None,
    ) -> None:
        self._plan, self._settings, self._finish = prepared, settings, finish
        self._slots = FieldStream(prepared.emission_request.contract.compiled, selection)
        self._record = emission_recorder(prepared, settings)
        self._effects = run_emission(prepared.emission_request, settings.policy)
        self._redactor = StreamRedactor(settings.host.config.secrets)
        self._result: R | None = None
        self._driver: SyncDriver | AsyncDriver | None = None
        self._error: Exception | None = None

    @property
    def trace(self) -> Trace:
        """The calls and events so far."""
        outcome = self._driver.outcome if self._driver else None
        attempts = outcome.attempts if outcome else ()
        return Trace(attempts, tuple(self._record.events), emission_prices(self._plan, self._settings))

    def run(self) -> Generator[StreamEvent]:
        """Yield progress events, and store the result."""
        try:
            with sdk_client(self._plan, self._settings) as client:
                self._driver = driver = SyncDriver(
                    self._effects, self._transport(client), self._record, self._settings.time_limits()
                )
                for event in driver:
                    yield from self._redactor(event)
            self._set_result(driver)
        except Exception as error:
            self._error = error
            raise

    async def arun(self) -> AsyncGenerator[StreamEvent]:
        """Async version of ``run``."""
        try:
            async with async_sdk_client(self._plan, self._settings) as client:
                self._driver = driver = AsyncDriver(
                    self._effects, self._transport(client), self._record, self._settings.time_limits()
                )
                async with aclosing(driver.__aiter__()) as progress:
                    async for event in progress:
                        for redacted in self._redactor(event):
                            yield redacted
            self._set_result(driver)
        except Exception as error:
            self._error = error
            raise

    def result(self) -> R:
        """Return the result, or raise the error that the emission ended in."""
        if self._error is not None:
            raise self._error
        if self._result is None:
            raise InputError(_NO_RESULT, hint="Read it to its end, or call result() before it is closed.")
        return self._result

    def _transport(self, client: object) -> Any:
        return partial(StreamCall, Connection.for_emission(self._plan, self._settings, client, self._slots))

    def _set_result(self, driver: SyncDriver | AsyncDriver) -> None:
        emission: Any = complete(
            driver_outcome(driver), tuple(self._record.events), emission_prices(self._plan, self._settings)
        )
        self._result = self._finish(emission) if self._finish else emission


class _StreamBase(Generic[R]):
    _asynchronous: ClassVar[bool]

    def __init__(
        self,
        prepared: PreparedEmission,
        settings: Settings,
        selection: StreamSelection,
        finish: Callable[[Emission[Any]], R] | None = None,
    ) -> None:
        model = prepared.emission_request.request.model
        require_usable_client(settings.client, prepared.profile, model, asynchronous=self._asynchronous)
        warn_unknown_model(prepared)
        self._run = _StreamRun(prepared, settings, selection, finish)

    @property
    def trace(self) -> Trace:
        """The events so far, and the calls once the emission is over."""
        return self._run.trace


class Stream(_StreamBase[R]):
    """An emission in progress: iterate for ``FieldComplete``, ``TextDelta`` and ``Restart``, then call ``result()``.

    Iterating raises the ``EmissionError`` that the emission ends in. Leaving the ``with`` block, or calling
    ``close()``, ends the request. The usage until then is in ``trace``.
    """

    _asynchronous = False

    @cached_property
    def _progress(self) -> Generator[StreamEvent]:
        return self._run.run()

    def __iter__(self) -> Iterator[StreamEvent]:
        return self._progress

    def __next__(self) -> StreamEvent:
        return next(self._progress)

    def result(self) -> R:
        """Read the rest of the stream and return the result; raise its ``EmissionError`` if it failed."""
        for _ in self._progress:
            pass
        return self._run.result()

    def close(self) -> None:
        """End the request. Nothing more is sent."""
        self._progress.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class AsyncStream(_StreamBase[R]):
    """Async version of ``Stream``."""

    _asynchronous = True

    @cached_property
    def _progress(self) -> AsyncGenerator[StreamEvent]:
        return self._run.arun()

    def __aiter__(self) -> AsyncIterator[StreamEvent]:
        return self._progress

    async def __anext__(self) -> StreamEvent:
        return await anext(self._progress)

    async def result(self) -> R:
        """Read the rest of the stream and return the result; raise its ``EmissionError`` if it failed."""
        async for _ in self._progress:
            pass
        return self._run.result()

    async def aclose(self) -> None:
        """End the request. Nothing more is sent."""
        await self._progress.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()
