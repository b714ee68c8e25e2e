"""Run a prepared emission to its end with a sync or an async SDK client.

``EmissionRun`` performs the effects of the emission as an operation of steps, which ``emitter.interpreter`` executes in
a thread or in a task. If the consumer stops early or the task is cancelled, the emission ends with a fault, its
remaining events are recorded, and its usage is kept.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack, ExitStack, aclosing, asynccontextmanager, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from emitter.adapters.clients import check_client
from emitter.adapters.transport import async_half
from emitter.client.request import warn_unknown_models
from emitter.client.result import Trace, complete
from emitter.client.submission import ask_host
from emitter.client.transport import AsyncCallT, CallT, SyncCallT, UnaryCall, redact_answer
from emitter.clock import retry_delay
from emitter.core.effects import Recall, Reserve, Restart, Sleep, Submit
from emitter.core.emission import run_emission
from emitter.deadline import Deadline
from emitter.errors import EmitterError, describe_models
from emitter.interpreter import CallStep, Closed, ProgressStep, SleepStep, arun_steps, run_steps
from emitter.messages import JUDGE_ROUTE, Fault, FaultKind, ModelRequest, ModelResponse, Trust
from emitter.telemetry.sinks import call_sink, find_content_sink

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Iterator, Sequence
    from contextlib import AbstractAsyncContextManager, AbstractContextManager
    from typing import Self

    from emitter.attempts import Attempt
    from emitter.client.prepared import PreparedEmission
    from emitter.client.result import Emission
    from emitter.client.submission import HostConnection
    from emitter.client.transport import (
        AsyncTransport,
        AsyncTransportCall,
        CallFactory,
        SyncTransport,
        SyncTransportCall,
        TransportCall,
    )
    from emitter.clock import Clock
    from emitter.core.effects import Effect, EffectGenerator, EffectResult, EmissionOutcome
    from emitter.interpreter import Steps
    from emitter.messages import CallResult, Usage
    from emitter.policy import Policy
    from emitter.profiles import ProviderProfile
    from emitter.streaming import StreamEvent
    from emitter.telemetry.sinks import ContentSink, EventRecorder


def execute(prepared: PreparedEmission) -> Emission[Any]:
    """Run an emission and return its result. Raises its ``EmissionError`` if it failed."""
    warn_unknown_models(prepared)
    run = EmissionRun.start(prepared)
    with open_transport(prepared, _unary_call_factory(prepared)) as send:
        run_steps(run.perform(send))
    return complete(run.result(), tuple(run.recorder.events), prepared.price_table(), prepared.conversation)


async def aexecute(prepared: PreparedEmission) -> Emission[Any]:
    """Async version of ``execute``."""
    warn_unknown_models(prepared)
    run = EmissionRun.start(prepared)
    async with open_async_transport(prepared, _unary_call_factory(prepared)) as send:
        await arun_steps(run.perform(send))
    return complete(run.result(), tuple(run.recorder.events), prepared.price_table(), prepared.conversation)


def _unary_call_factory(prepared: PreparedEmission) -> CallFactory[UnaryCall]:
    """Return the factory of calls whose answers are not streamed."""
    background = prepared.settings.background
    if background is False or background is True:
        return UnaryCall
    from emitter.client.background import make_background_calls  # noqa: PLC0415  few emissions run in the background

    return make_background_calls(prepared, background)


_LOGGER = logging.getLogger("emitter")
_CANCELLED_MESSAGE = "The caller stopped before the answer was complete."


StackT = TypeVar("StackT", ExitStack, AsyncExitStack)


class EmissionRun:
    """One emission in progress. It records the events, has the deadline, and removes secrets from each answer.

    ``perform`` runs it to its end with an SDK client. A batch passes it the answers of its result file with
    ``advance``.
    """

    def __init__(
        self,
        effects: EffectGenerator,
        recorder: EventRecorder,
        policy: Policy,
        clock: Clock,
        models: tuple[PreparedEmission, ...] = (),
    ) -> None:
        self.recorder, self.clock = recorder, clock
        self.outcome: EmissionOutcome | None = None
        self.call: TransportCall | None = None
        """The request in progress."""
        on_event = models[0].settings.on_event if models else None
        self._on_content = None if on_event is None else find_content_sink(on_event)
        self._effect: Effect | None = None
        """The effect whose result the emission waits for."""
        self.ask_host: HostConnection = partial(ask_host, models)
        self._effects, self._models = effects, models
        self._started_at = clock.monotonic()
        self.deadline = Deadline(policy.deadline, clock.monotonic)

    @classmethod
    def start(cls, prepared: PreparedEmission) -> Self:
        """Return a run of a prepared emission, with its deadline started."""
        policy, clock = prepared.settings.policy, prepared.settings.clock
        effects = run_emission(prepared.emission, policy)
        return cls(effects, prepared.make_recorder(), policy, clock, prepared.models)

    def perform(self, send: SyncTransport | AsyncTransport) -> Steps[None]:
        """Run the emission to its end."""
        try:
            effect = yield from self.advance(None)
            while effect is not None:
                answer: CallResult | None = None
                if isinstance(effect, Restart):
                    yield ProgressStep(effect)
                elif isinstance(effect, ModelRequest):
                    answer = self.deadline.check()
                    if answer is None:
                        # _cancel() reads the usage of an unfinished call from here
                        self.call = call = send(effect, self.deadline)
                        yield CallStep(call)
                        self.call, answer = None, call.answer
                else:
                    seconds = retry_delay(effect, self.clock)
                    answer = self.deadline.check(seconds)
                    if answer is None:
                        yield SleepStep(self.clock, seconds)
                effect = yield from self.advance(answer)
        except (Closed, KeyboardInterrupt, asyncio.CancelledError):
            yield from self._cancel()
            raise

    def advance(self, answer: CallResult | None) -> Steps[ModelRequest | Sleep | Restart | None]:
        """Pass on the answer to the last effect, and return the next one that concerns the model or the consumer.

        The effects between them are performed: events are recorded, and the host is asked. None means that the
        emission has ended.
        """
        result: EffectResult = answer if answer is None else (yield from self._receive(answer))
        while True:
            try:
                self._effect = effect = self._effects.send(result)
            except StopIteration as end:
                self._end(end.value)
                return None
            if isinstance(effect, ModelRequest | Sleep | Restart):
                return effect
            result = None
            if isinstance(effect, Submit | Recall | Reserve):
                result = yield from self.ask_host(effect)
            else:
                yield from self.recorder.record(effect)

    def _receive(self, answer: CallResult) -> Steps[CallResult]:
        """Return an answer without secrets, and report its content."""
        for model in self._models:  # one vendor's error may contain the credentials of another, e.g. from a proxy
            answer = redact_answer(answer, model)
        if isinstance(answer, ModelResponse) and answer.is_grounded:
            self.recorder.trust = Trust.UNTRUSTED
        if self._on_content is not None and isinstance(self._effect, ModelRequest):
            yield from self._report_content(self._on_content, self._effect, answer)
        return answer

    def _end(self, outcome: EmissionOutcome) -> None:
        self.outcome = outcome
        if self._models and _LOGGER.isEnabledFor(logging.INFO):
            log_end(self._models, outcome, self.clock.monotonic() - self._started_at)

    def _report_content(self, on_content: ContentSink, request: ModelRequest, answer: CallResult) -> Steps[None]:
        from emitter.telemetry.content import CallContent, describe_call  # noqa: PLC0415  few programs export content

        recorder = self.recorder
        described = describe_call(request, answer, recorder.secrets)
        content = CallContent(recorder.run_id, recorder.node_id, recorder.correlation_id, described)
        return call_sink(on_content, content)

    def _cancel(self) -> Steps[None]:
        """End the emission because its consumer stopped. Nothing more is sent. The remaining events are recorded."""
        usage = self.call.usage_so_far() if self.call else None
        fault = Fault(FaultKind.CANCELLED, _CANCELLED_MESSAGE, usage=usage)
        effect, unfinished = self._effect, self.outcome is None
        while unfinished:
            effect = yield from self.advance(fault if isinstance(effect, ModelRequest | Sleep) else None)
            unfinished = effect is not None

    def result(self) -> EmissionOutcome:
        """Return the outcome of a finished emission."""
        if self.outcome is None:
            raise RuntimeError("The emission has not finished.")
        return self.outcome


def log_end(models: tuple[PreparedEmission, ...], outcome: EmissionOutcome, seconds: float) -> None:
    """Log one line at the end of an emission, without content."""
    attempts, failure, prepared = outcome.attempts, outcome.failure, models[0]
    usage, cost = outcome.usage, Trace(attempts, (), prepared.price_table()).cost
    _LOGGER.info(
        "%s: %s after %d %s, %d input and %d output tokens, %s, %.2f s",
        _describe_models(attempts) or f"{prepared.profile.name}/{prepared.target.model}",
        "complete" if failure is None else f"{failure.verdict.value} ({failure.code})",
        len(attempts),
        "attempt" if len(attempts) == 1 else "attempts",
        usage.input,
        usage.output,
        "cost unknown" if cost is None else f"${cost:.6f}",
        seconds,
    )


def _describe_models(attempts: Sequence[Attempt]) -> str:
    """Return the model, or all models with the failures of the earlier ones."""
    models = dict.fromkeys(attempt.model for attempt in attempts)
    return describe_models(attempts) if len(models) > 1 else "".join(models)


def sdk_client(prepared: PreparedEmission) -> AbstractContextManager[object]:
    """Return a context of the caller's client, or of a pooled one.

    Raises:
        InputError: The caller's client cannot send to the model.
    """
    settings, client = prepared.settings, prepared.settings.client
    if client is None:
        return settings.pool.borrow(prepared.target.profile, settings.base_url)
    require_usable_client(client, prepared.target.profile, prepared.target.model, asynchronous=False)
    return nullcontext(client)


def async_sdk_client(prepared: PreparedEmission) -> AbstractAsyncContextManager[object]:
    """Async version of ``sdk_client``."""
    settings, client = prepared.settings, prepared.settings.client
    if client is None:
        return settings.pool.aborrow(prepared.target.profile, settings.base_url)
    require_usable_client(client, prepared.target.profile, prepared.target.model, asynchronous=True)
    return nullcontext(async_half(client))


class _Transport(Generic[StackT, CallT]):
    """Sends each request to its model. The client of a fallback model is opened on its first request."""

    def __init__(
        self, prepared: PreparedEmission, client: object, make_call: CallFactory[CallT], stack: StackT
    ) -> None:
        self._models, self._make_call = prepared.models, make_call
        self._stack: StackT = stack
        self._clients = {0: client}

    def make_call(self, client: object, request: ModelRequest, deadline: Deadline) -> CallT | UnaryCall:
        """Return the call of a request. A judge's answer is not streamed."""
        make_call = UnaryCall if request.route == JUDGE_ROUTE else self._make_call
        return make_call(self._models[request.route], client, request, deadline)


class _SyncTransport(_Transport[ExitStack, SyncCallT]):
    def __call__(self, request: ModelRequest, deadline: Deadline) -> SyncTransportCall:
        if request.route not in self._clients:
            try:
                client = self._stack.enter_context(sdk_client(self._models[request.route]))
            except EmitterError as error:
                return _UnsentCall(error)
            self._clients[request.route] = client
        return self.make_call(self._clients[request.route], request, deadline)


class _UnsentCall:
    """A request to a fallback model without a usable client. Its answer is a fault, so that the emission continues."""

    def __init__(self, error: EmitterError) -> None:
        self.answer = Fault(FaultKind.AUTHENTICATION, str(error))

    def __iter__(self) -> Iterator[StreamEvent]:
        return iter(())

    def usage_so_far(self) -> Usage | None:
        """Return None: nothing was sent."""
        return None


class _AsyncTransport(_Transport[AsyncExitStack, AsyncCallT]):
    def __call__(self, request: ModelRequest, deadline: Deadline) -> AsyncTransportCall:
        if request.route in self._clients:
            return self.make_call(self._clients[request.route], request, deadline)
        return _OpeningCall(self, request, deadline)

    async def open_client(self, route: int) -> object:
        """Open the client of a fallback model."""
        client = await self._stack.enter_async_context(async_sdk_client(self._models[route]))
        self._clients[route] = client
        return client


class _OpeningCall:
    """The first request to a fallback model, which opens its client."""

    def __init__(self, transport: _AsyncTransport[Any], request: ModelRequest, deadline: Deadline) -> None:
        self._transport, self._request, self._deadline = transport, request, deadline
        self._call: TransportCall | None = None

    @property
    def answer(self) -> CallResult:
        """The complete answer."""
        if self._call is None:
            raise RuntimeError("The request was not sent.")
        return self._call.answer

    async def __aiter__(self) -> AsyncGenerator[StreamEvent]:
        """Send the request and yield progress events."""
        try:
            client = await self._transport.open_client(self._request.route)
        except EmitterError as error:
            self._call = _UnsentCall(error)
            return
        self._call = call = self._transport.make_call(client, self._request, self._deadline)
        async with aclosing(call.__aiter__()) as progress:
            async for event in progress:
                yield event

    def usage_so_far(self) -> Usage | None:
        """Return the usage of an answer that was not read to its end."""
        return self._call.usage_so_far() if self._call else None


def _limit_calls(make_call: CallFactory[CallT]) -> CallFactory[CallT]:
    from emitter.client.rate_limits import limit_calls  # noqa: PLC0415  most emissions have no limit

    return limit_calls(make_call)


def _refuse_to_send(_: ModelRequest, __: Deadline) -> NoReturn:
    """Stand for the transport of an emission that has an obstacle, which needs no client and no key."""
    raise RuntimeError("An emission with an obstacle sends nothing.")


@contextmanager
def open_transport(prepared: PreparedEmission, make_call: CallFactory[SyncCallT]) -> Generator[SyncTransport]:
    """Yield the transport of an emission. Raises ``InputError`` if a client cannot send to its model."""
    models = prepared.models
    if prepared.emission.obstacle is not None:
        yield _refuse_to_send
        return
    if len(models) > 1 or prepared.settings.rate_limit is not None:
        require_usable_clients(prepared, asynchronous=False)
        make_call = _limit_calls(make_call)
    with sdk_client(prepared) as client:
        if len(models) == 1:
            yield partial(make_call, prepared, client)
            return
        with ExitStack() as stack:
            yield _SyncTransport(prepared, client, make_call, stack)


@asynccontextmanager
async def open_async_transport(
    prepared: PreparedEmission, make_call: CallFactory[AsyncCallT], client: object = None, *, limited: bool = False
) -> AsyncGenerator[AsyncTransport]:
    """Async version of ``open_transport``.

    Args:
        prepared: The emission.
        make_call: Creates each call.
        client: The client of the first model, if it is open already.
        limited: The calls of ``make_call`` wait for the rate limits themselves.
    """
    models = prepared.models
    if prepared.emission.obstacle is not None:
        yield _refuse_to_send
        return
    if len(models) > 1 or prepared.settings.rate_limit is not None:
        require_usable_clients(prepared, asynchronous=True)
        make_call = make_call if limited else _limit_calls(make_call)
    async with AsyncExitStack() as stack:
        if client is None:
            client = await stack.enter_async_context(async_sdk_client(prepared))
        if len(models) > 1:
            yield _AsyncTransport(prepared, client, make_call, stack)
        else:
            yield partial(make_call, prepared, client)


def require_usable_clients(prepared: PreparedEmission, *, asynchronous: bool) -> None:
    """Raise ``InputError`` if one of the caller's clients for a fallback model cannot send to it."""
    for each in prepared.models[1:]:
        require_usable_client(each.settings.client, each.profile, each.target.model, asynchronous=asynchronous)


def require_usable_client(client: object, profile: ProviderProfile, model: str, *, asynchronous: bool) -> None:
    """Raise ``InputError`` if the caller's client cannot send to ``model``."""
    if client is not None:
        sdk = getattr(client, "aio", client) if asynchronous else client
        check_client(sdk, profile, model, asynchronous=asynchronous)
