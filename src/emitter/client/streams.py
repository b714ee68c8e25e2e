"""Streamed emissions: iterate for progress, then call ``result()``."""

from __future__ import annotations

from contextlib import aclosing
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from emitter.client.execution import (
    EmissionRun,
    ModelChannel,
    require_usable_client,
    require_usable_clients,
)
from emitter.client.request import warn_unknown_models
from emitter.client.result import Trace, complete
from emitter.client.transport import StreamedCall, StreamRedactor
from emitter.errors import InputError
from emitter.interpreter import aiterate_steps, iterate_steps
from emitter.streaming import FieldComplete, Restart
from emitter.streaming.field_stream import FieldStream
from emitter.streaming.partials import PartialStream, make_partial_reader

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
    from types import TracebackType
    from typing import Self

    from emitter.client.prepared import PreparedEmission
    from emitter.client.result import Emission
    from emitter.deadline import Deadline
    from emitter.interpreter import Steps
    from emitter.messages import Json, ModelRequest
    from emitter.schema import Compiled
    from emitter.streaming import StreamEvent, StreamSelection

R = TypeVar("R")
T = TypeVar("T")
_NO_RESULT = "The stream was closed before its end, so it has no result."


class _StreamRun(Generic[R]):
    """The run behind a sync or async stream.

    It holds no reference to the stream, so that dropping the stream closes its generator at once.
    """

    def __init__(
        self,
        prepared: PreparedEmission,
        selection: StreamSelection,
        finish: Callable[[Emission[Any]], R] | None = None,
    ) -> None:
        self._prepared, self._finish = prepared, finish
        self._make_fields: Callable[[Compiled], FieldStream | PartialStream]
        self._make_fields = partial(FieldStream, selection=selection)
        self._fields: FieldStream | PartialStream
        self._fields = self._make_fields(prepared.contract.compiled)
        self._run = EmissionRun.start(prepared)
        self._redactor = StreamRedactor(prepared.settings.host.config.secrets)
        self._result: R | None = None
        self._error: Exception | None = None

    @property
    def trace(self) -> Trace:
        """The calls and events so far."""
        outcome = self._run.outcome
        attempts = outcome.attempts if outcome else ()
        return Trace(attempts, tuple(self._run.recorder.events), self._prepared.price_table())

    def run(self) -> Generator[StreamEvent]:
        """Yield progress events, and store the result."""
        try:
            for event in iterate_steps(self._steps(asynchronous=False)):
                yield from self._redactor(event)
            self._set_result()
        except Exception as error:
            self._error = error
            raise

    async def arun(self) -> AsyncGenerator[StreamEvent]:
        """Async version of ``run``."""
        try:
            async with aclosing(aiterate_steps(self._steps(asynchronous=True))) as progress:
                async for event in progress:
                    for redacted in self._redactor(event):
                        yield redacted
            self._set_result()
        except Exception as error:
            self._error = error
            raise

    def _steps(self, *, asynchronous: bool) -> Steps[None]:
        return self._run.perform(ModelChannel(self._prepared, self._start_call, asynchronous=asynchronous))

    def report_partials(self, *, trailing_strings: bool) -> None:
        """Report the document so far, as a ``FieldComplete`` of the root, instead of its fields.

        If there are secrets, only complete strings are reported, because a partial secret cannot be recognized.
        """
        has_secrets = bool(self._prepared.settings.host.config.secrets)
        self._make_fields = partial(PartialStream, trailing_strings=trailing_strings and not has_secrets)
        self._fields = self._make_fields(self._prepared.contract.compiled)

    def result(self) -> R:
        """Return the result, or raise the error of the emission."""
        if self._error is not None:
            raise self._error
        if self._result is None:
            raise InputError(_NO_RESULT, hint="Read it to its end, or call result() before it is closed.")
        return self._result

    def _start_call(
        self, prepared: PreparedEmission, client: object, request: ModelRequest, deadline: Deadline
    ) -> StreamedCall:
        fields = self._fields
        if prepared is not self._prepared:  # a fallback model of another vendor has another wire schema
            fields = self._make_fields(prepared.contract.compiled)
        return StreamedCall(prepared, client, request, deadline, fields)

    def _set_result(self) -> None:
        events, prices = tuple(self._run.recorder.events), self._prepared.price_table()
        emission: Any = complete(self._run.result(), events, prices, self._prepared.conversation)
        self._result = self._finish(emission) if self._finish else emission


class _StreamBase(Generic[R]):
    _asynchronous: ClassVar[bool]

    def __init__(
        self,
        prepared: PreparedEmission,
        selection: StreamSelection,
        finish: Callable[[Emission[Any]], R] | None = None,
        *,
        form: object = None,
    ) -> None:
        model = prepared.request.model
        require_usable_client(prepared.settings.client, prepared.profile, model, asynchronous=self._asynchronous)
        require_usable_clients(prepared, asynchronous=self._asynchronous)
        if prepared.settings.background is not False:
            raise InputError("A stream does not support background=.", hint="Call emit() or emit_binding_moment().")
        warn_unknown_models(prepared)
        self._run = _StreamRun(prepared, selection, finish)
        self._form = form

    @property
    def trace(self) -> Trace:
        """The events so far, and the calls once the emission has ended."""
        return self._run.trace

    def _start_partials(self, *, trailing_strings: bool) -> Callable[[StreamEvent], list[Any]]:
        """Report partial values. Return the function that converts the stream's events to them."""
        if self._form is None:
            raise InputError("A decision has no partial values.", hint="Iterate the stream for its parts.")
        if "_progress" in vars(self):
            raise InputError("The stream is already being read.", hint="Call partials() before anything else.")
        read = make_partial_reader(self._form)
        self._run.report_partials(trailing_strings=trailing_strings)
        return partial(_read_partial, read)


def _read_partial(read: Callable[[Json], Any], event: StreamEvent) -> list[Any]:
    """Return the partial value of an event, or the restart. Empty if there is no valid value yet."""
    if not isinstance(event, FieldComplete):
        return [event] if isinstance(event, Restart) else []
    try:
        return [read(event.value)]
    except Exception:  # noqa: BLE001  a validator of the caller may raise anything; the complete value decides
        return []


class Stream(_StreamBase[R]):
    """An emission in progress: iterate for ``FieldComplete``, ``TextDelta`` and ``Restart``, then call ``result()``.

    ``partials()`` iterates over the growing value instead.

    Iterating raises the ``EmissionError`` of a failed emission. Leaving the ``with`` block, or calling
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

    def partials(self: Stream[Emission[T]], *, trailing_strings: bool = False) -> Iterator[T | Restart]:
        """Iterate over the growing value, as an instance of your type.

        In a partial value, each field of a model or dataclass that is not complete and valid yet is None, and each such
        member of a list or mapping is missing. Your validators run only on the complete value, which comes last. A
        ``Restart`` takes back what came before it.

        Args:
            trailing_strings: Include plain strings that are still being written, as far as they go. Nothing marks them.
                Dates, decimals, literals and the like stay whole. If the host has secrets, all strings do.

        Raises:
            InputError: The stream is already being read, or it is that of a decision.
        """
        return self._iterate_partials(self._start_partials(trailing_strings=trailing_strings))

    def _iterate_partials(self: Stream[Emission[T]], read: Callable[[StreamEvent], list[T | Restart]]) -> Iterator[Any]:
        for event in self._progress:
            yield from read(event)
        yield self._run.result().value

    def result(self) -> R:
        """Read the rest of the stream and return the result. Raises its ``EmissionError`` if it failed."""
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

    def partials(self: AsyncStream[Emission[T]], *, trailing_strings: bool = False) -> AsyncIterator[T | Restart]:
        """Async version of ``Stream.partials``."""
        return self._iterate_partials(self._start_partials(trailing_strings=trailing_strings))

    async def _iterate_partials(
        self: AsyncStream[Emission[T]], read: Callable[[StreamEvent], list[T | Restart]]
    ) -> AsyncIterator[Any]:
        async for event in self._progress:
            for value in read(event):
                yield value
        yield self._run.result().value

    async def result(self) -> R:
        """Read the rest of the stream and return the result. Raises its ``EmissionError`` if it failed."""
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
