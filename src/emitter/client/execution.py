"""Run a prepared emission to its end with a sync or an async SDK client.

``EmissionRun`` performs the effects of the emission as an operation of steps, which ``emitter.interpreter`` executes in
a thread or in a task. If the consumer stops early or the task is cancelled, the emission ends with a fault, its
remaining events are recorded, and its usage is kept.
"""

from __future__ import annotations

import logging
from contextlib import AsyncExitStack, ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, cast

from emitter.adapters.clients import check_client
from emitter.adapters.transport import async_half
from emitter.client.refusals import remember_answer, remember_ignored_schema
from emitter.client.request import warn_unknown_models
from emitter.client.result import Trace, complete
from emitter.client.submission import ask_host
from emitter.client.thinking import remember_thinking
from emitter.client.transport import (
    SEND_CALL,
    CallInterrupted,
    StreamedCall,
    VendorCall,
    redact_answer,
)
from emitter.clock import retry_delay, sleep_step
from emitter.core.effects import Recall, Reserve, Restart, SchemaIgnored, Sleep, Submit
from emitter.core.emission import run_emission
from emitter.deadline import Deadline
from emitter.errors import EmitterError, describe_models
from emitter.interpreter import CallStep, ProgressStep, arun_steps, is_dropped, run_steps
from emitter.messages import JUDGE_ROUTE, Fault, FaultKind, ModelRequest, ModelResponse, Trust
from emitter.telemetry.sinks import call_sink, find_content_sink

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from emitter.attempts import Attempt
    from emitter.client.prepared import PreparedEmission
    from emitter.client.result import Emission
    from emitter.client.submission import HostConnection
    from emitter.client.transport import (
        CallFactory,
        PassOn,
    )
    from emitter.clock import Clock
    from emitter.core.effects import Effect, EffectGenerator, EffectResult, EmissionOutcome
    from emitter.interpreter import Steps
    from emitter.messages import CallResult
    from emitter.policy import Policy
    from emitter.profiles import Profile
    from emitter.telemetry.sinks import ContentSink, EventRecorder


def execute(prepared: PreparedEmission) -> Emission[Any]:
    """Run an emission and return its result. Raises its ``EmissionError`` if it failed."""
    warn_unknown_models(prepared)
    run = EmissionRun.start(prepared)
    run_steps(run.perform(_unary_channel(prepared, asynchronous=False)))
    return complete(run.result(), tuple(run.recorder.events), prepared.price_table(), prepared.conversation)


async def aexecute(prepared: PreparedEmission) -> Emission[Any]:
    """Async version of ``execute``."""
    warn_unknown_models(prepared)
    run = EmissionRun.start(prepared)
    await arun_steps(run.perform(_unary_channel(prepared, asynchronous=True)))
    return complete(run.result(), tuple(run.recorder.events), prepared.price_table(), prepared.conversation)


def _unary_channel(prepared: PreparedEmission, *, asynchronous: bool) -> ModelChannel:
    """Return the channel of calls whose answers are not streamed."""
    background = prepared.settings.background
    make_call: CallFactory = VendorCall
    if background is not False and background is not True:
        from emitter.client.background import make_background_calls  # noqa: PLC0415  few emissions use the background

        make_call = make_background_calls(prepared, background)
    return ModelChannel(prepared, make_call, asynchronous=asynchronous)


_LOGGER = logging.getLogger("emitter")
_CANCELLED_MESSAGE = "The caller stopped before the answer was complete."


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

    def perform(self, channel: Channel) -> Steps[None]:
        """Run the emission to its end."""
        if channel.must_open:
            yield CallStep(channel.open, channel.aopen)
        try:
            effect = yield from self.advance(None)
            while effect is not None:
                answer: CallResult | None = None
                if isinstance(effect, Restart):
                    yield ProgressStep(effect)
                elif isinstance(effect, ModelRequest):
                    answer = self.deadline.check() or (yield from channel.send(effect, self.deadline))
                else:
                    answer = yield from self._sleep(effect)
                effect = yield from self.advance(answer)
        except BaseException as error:  # noqa: BLE001  it is raised again
            yield from self._cancel(error)
        finally:
            if channel.must_close and not is_dropped():
                yield CallStep(channel.close, channel.aclose)

    def _sleep(self, effect: Sleep) -> Steps[Fault | None]:
        """Wait before a retry, or return a fault if the deadline passes before."""
        seconds, clock = retry_delay(effect, self.clock), self.clock
        fault = self.deadline.check(seconds)
        if fault is None:
            yield sleep_step(clock, seconds)
        return fault

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
                self.outcome = end.value
                if end.value is not None and self._models and _LOGGER.isEnabledFor(logging.INFO):
                    log_end(self._models, end.value, self.clock.monotonic() - self._started_at)
                return None
            if isinstance(effect, ModelRequest | Sleep | Restart):
                return effect
            result = None
            if isinstance(effect, Submit | Recall | Reserve):
                result = yield from self.ask_host(effect)
            elif isinstance(effect, SchemaIgnored):
                if self._models:
                    model = self._models[effect.route]
                    remember_ignored_schema(model.settings, model.target)
            else:
                yield from self.recorder.record(effect)

    def _receive(self, answer: CallResult) -> Steps[CallResult]:
        """Return an answer without secrets, and report its content."""
        for model in self._models:  # one vendor's error may contain the credentials of another, e.g. from a proxy
            answer = redact_answer(answer, model)
        if isinstance(answer, ModelResponse) and answer.is_grounded:
            self.recorder.trust = Trust.UNTRUSTED
        if self._models and isinstance(self._effect, ModelRequest):
            model = self._models[self._effect.route]
            remember_answer(model.settings, model.target, self._effect, answer)
            if isinstance(answer, ModelResponse):
                remember_thinking(model.settings, model.target, self._effect, answer)
        if self._on_content is not None and isinstance(self._effect, ModelRequest):
            yield from self._report_content(self._on_content, self._effect, answer)
        return answer

    def _report_content(self, on_content: ContentSink, request: ModelRequest, answer: CallResult) -> Steps[None]:
        from emitter.telemetry.content import CallContent, describe_call  # noqa: PLC0415  few programs export content

        recorder = self.recorder
        described = describe_call(request, answer, recorder.secrets)
        content = CallContent(recorder.run_id, recorder.node_id, recorder.correlation_id, described)
        return call_sink(on_content, content)

    def _cancel(self, error: BaseException) -> Steps[NoReturn]:
        """End the emission if its consumer or a signal stopped it, and raise the exception.

        Nothing more is sent. The remaining events are recorded, unless no further step can be executed.
        """
        if isinstance(error, Exception | GeneratorExit):
            raise error
        usage = error.usage if isinstance(error, CallInterrupted) else None
        fault = Fault(FaultKind.CANCELLED, _CANCELLED_MESSAGE, usage=usage)
        effect, unfinished = self._effect, self.outcome is None
        while unfinished:
            effect = yield from self.advance(fault if isinstance(effect, ModelRequest | Sleep) else None)
            unfinished = effect is not None
        if isinstance(error, CallInterrupted):
            raise cast("BaseException", error.__cause__) from None
        raise error

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


class Channel(Protocol):
    """Sends the requests of an emission."""

    must_open: bool
    must_close: bool

    def open(self) -> None:
        """Open what the first request needs."""
        ...

    async def aopen(self) -> None:
        """Async version of ``open``."""
        ...

    def send(self, request: ModelRequest, deadline: Deadline) -> Steps[CallResult]:
        """Send a request and return the answer."""
        ...

    def close(self) -> None:
        """Close what was opened."""
        ...

    async def aclose(self) -> None:
        """Async version of ``close``."""
        ...


class ModelChannel:
    """Sends each request to its model. Clients of a pool are borrowed, those of fallback models on their first request.

    Args:
        prepared: The emission.
        make_call: Makes each call. A judge's answer is streamed only if its server requires it.
        pass_on: Sends each call. By default, a call waits for the rate limit of its model, if it has one.
        client: The client of the first model, if it is open already.
        asynchronous: The clients are async.

    Raises:
        InputError: A client of the caller's cannot send to its model.
    """

    def __init__(
        self,
        prepared: PreparedEmission,
        make_call: CallFactory = VendorCall,
        pass_on: PassOn | None = None,
        client: object = None,
        *,
        asynchronous: bool,
    ) -> None:
        self._models, self._make_call, self._asynchronous = prepared.models, make_call, asynchronous
        is_limited = prepared.settings.rate_limit is not None or len(self._models) > 1
        self._pass_on = pass_on or (_limit_calls() if is_limited else SEND_CALL)
        self._clients: dict[int, object] = {}
        self._borrowed: Any = None
        """The stack of the clients that are borrowed from a pool."""
        self.must_close = False
        needs_client = prepared.emission.obstacle is None
        if client is None and needs_client:
            client = self._own_client(0)
            if len(self._models) > 1:
                require_usable_clients(prepared, asynchronous=asynchronous)
        if client is not None:
            self._clients[0] = client
        self.must_open = client is None and needs_client

    def _own_client(self, route: int) -> object:
        """Return the caller's client of a model, if there is one."""
        model = self._models[route]
        client = model.settings.client
        if client is None:
            return None
        require_usable_client(client, model.target.profile, model.target.model, asynchronous=self._asynchronous)
        return async_half(client) if self._asynchronous else client

    def open(self, route: int = 0) -> None:
        """Borrow the client of a model."""
        model, self.must_close = self._models[route], True
        self._borrowed = self._borrowed or ExitStack()
        borrowing = model.settings.pool.borrow(model.profile, model.settings.base_url)
        self._clients[route] = self._borrowed.enter_context(borrowing)

    async def aopen(self, route: int = 0) -> None:
        """Async version of ``open``."""
        model, self.must_close = self._models[route], True
        self._borrowed = self._borrowed or AsyncExitStack()
        borrowing = model.settings.pool.aborrow(model.profile, model.settings.base_url)
        self._clients[route] = await self._borrowed.enter_async_context(borrowing)

    def send(self, request: ModelRequest, deadline: Deadline) -> Steps[CallResult]:
        """Send a request to its model and return the answer."""
        route = request.route
        client = self._clients.get(route)
        if client is None:
            return self._open_and_send(request, deadline)
        make_call = VendorCall if route == JUDGE_ROUTE else self._make_call
        if request.is_streamed and make_call is VendorCall:
            make_call = StreamedCall
        return self._pass_on(make_call(self._models[route], client, request, deadline))

    def _open_and_send(self, request: ModelRequest, deadline: Deadline) -> Steps[CallResult]:
        route = request.route
        try:
            client = self._own_client(route)
            if client is None:
                yield CallStep(partial(self.open, route), partial(self.aopen, route))
            else:
                self._clients[route] = client
        except EmitterError as error:  # there is no usable client, and the emission continues with another model
            return Fault(FaultKind.AUTHENTICATION, str(error))
        return (yield from self.send(request, deadline))

    def close(self) -> None:
        """Give the borrowed clients back."""
        self._borrowed.close()

    async def aclose(self) -> None:
        """Async version of ``close``."""
        await self._borrowed.aclose()


def _limit_calls() -> PassOn:
    from emitter.client.rate_limits import limit_calls  # noqa: PLC0415  most emissions have no limit

    return limit_calls(SEND_CALL)


def require_usable_clients(prepared: PreparedEmission, *, asynchronous: bool) -> None:
    """Raise ``InputError`` if one of the caller's clients for a fallback model cannot send to it."""
    for each in prepared.models[1:]:
        require_usable_client(each.settings.client, each.profile, each.target.model, asynchronous=asynchronous)


def require_usable_client(client: object, profile: Profile, model: str, *, asynchronous: bool) -> None:
    """Raise ``InputError`` if the caller's client cannot send to ``model``."""
    if client is not None:
        sdk = getattr(client, "aio", client) if asynchronous else client
        check_client(sdk, profile, model, asynchronous=asynchronous)
