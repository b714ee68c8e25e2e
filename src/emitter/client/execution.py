"""Run a prepared emission to its end with a sync or an async SDK client.

``SyncDriver`` and ``AsyncDriver`` carry out the effects of ``emitter.core.emission``. If the consumer stops early or
the task is cancelled, the emission ends with a fault and its usage is kept.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing, asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, assert_never

from emitter.adapters.clients import check_client
from emitter.client.acceptance import make_recorder
from emitter.client.request import warn_unknown_model
from emitter.client.result import complete, emission_prices
from emitter.client.transport import Connection, UnaryCall
from emitter.clock import retry_delay
from emitter.core.effects import EffectGenerator, EmissionOutcome, EmitEvent, SendRequest, Sleep
from emitter.core.emission import run_emission
from emitter.messages import CallResult, Fault, FaultKind, Usage
from emitter.streaming import Restart, StreamEvent

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator

    from emitter.client.request import PreparedEmission
    from emitter.client.result import Emission
    from emitter.client.settings import Settings
    from emitter.clock import TimeLimits
    from emitter.events import Event, RunEvent
    from emitter.messages import ModelRequest
    from emitter.profiles import ProviderProfile
    from emitter.telemetry.sinks import EventRecorder


def execute(prepared: PreparedEmission, settings: Settings) -> Emission[Any]:
    """Run an emission and return its result; raise its ``EmissionError`` if it failed."""
    warn_unknown_model(prepared)
    record = emission_recorder(prepared, settings)
    with sdk_client(prepared, settings) as client:
        send = partial(UnaryCall, Connection.for_emission(prepared, settings, client))
        effects = run_emission(prepared.emission_request, settings.policy)
        outcome = run_driver(SyncDriver(effects, send, record, settings.time_limits()))
    return complete(outcome, tuple(record.events), emission_prices(prepared, settings))


async def aexecute(prepared: PreparedEmission, settings: Settings) -> Emission[Any]:
    """Async version of ``execute``."""
    warn_unknown_model(prepared)
    record = emission_recorder(prepared, settings)
    async with async_sdk_client(prepared, settings) as client:
        send = partial(UnaryCall, Connection.for_emission(prepared, settings, client))
        effects = run_emission(prepared.emission_request, settings.policy)
        outcome = await arun_driver(AsyncDriver(effects, send, record, settings.time_limits()))
    return complete(outcome, tuple(record.events), emission_prices(prepared, settings))


def emission_recorder(prepared: PreparedEmission, settings: Settings) -> EventRecorder:
    """Return the recorder of the emission's events."""
    return make_recorder(settings, prepared.context, prepared.correlation_id)


_CANCELLED_MESSAGE = "The caller stopped before the answer was complete."


class TransportCall(Protocol):
    """One request in progress. After iteration it has its ``answer``."""

    @property
    def answer(self) -> CallResult:
        """The complete answer."""
        ...

    def usage_so_far(self) -> Usage | None:
        """Return the usage of an answer that was not read to its end."""
        ...


class SyncTransportCall(TransportCall, Protocol):
    """One request in progress on a sync client."""

    def __iter__(self) -> Iterator[StreamEvent]: ...


class AsyncTransportCall(TransportCall, Protocol):
    """One request in progress on an async client."""

    def __aiter__(self) -> AsyncGenerator[StreamEvent]: ...


SyncTransport: TypeAlias = "Callable[[ModelRequest, float], SyncTransportCall]"
"""Sends a request with a timeout in seconds."""
AsyncTransport: TypeAlias = "Callable[[ModelRequest, float], AsyncTransportCall]"


class SyncDriver:
    """Runs an emission with a sync client."""

    def __init__(
        self,
        effects: EffectGenerator,
        send: SyncTransport,
        record: Callable[[Event | RunEvent], None],
        limits: TimeLimits,
    ) -> None:
        self.outcome: EmissionOutcome | None = None
        self._effects, self._send, self._record, self._limits = effects, send, record, limits
        self._current_call: SyncTransportCall | None = None

    def __iter__(self) -> Generator[StreamEvent]:
        """Carry out the effects, and yield progress events."""
        try:
            self.outcome = yield from self._run_effects()
        except (GeneratorExit, KeyboardInterrupt):
            self.outcome = self.outcome or _cancel(self._effects, self._current_call, self._record)
            raise

    def _run_effects(self) -> Generator[StreamEvent, None, EmissionOutcome]:
        deadline, answer = _Deadline(self._limits), None
        while True:
            try:
                effect = self._effects.send(answer)
            except StopIteration as end:
                outcome: EmissionOutcome = end.value
                return outcome
            answer = None
            match effect:
                case SendRequest():
                    yield from _restart_events(effect)
                    answer = deadline.fault_if_late() or (
                        yield from self._exchange_request(effect, deadline.call_timeout())
                    )
                case Sleep():
                    seconds = retry_delay(effect, self._limits.clock)
                    answer = deadline.fault_if_late(seconds)
                    if answer is None:
                        self._limits.clock.sleep(seconds)
                case EmitEvent(event):
                    self._record(event)
                case _:
                    assert_never(effect)

    def _exchange_request(self, effect: SendRequest, timeout: float) -> Generator[StreamEvent, None, CallResult]:
        self._current_call = call = self._send(effect.request, timeout)
        yield from call
        self._current_call = None
        return call.answer


class AsyncDriver:
    """Runs an emission with an async client."""

    def __init__(
        self,
        effects: EffectGenerator,
        send: AsyncTransport,
        record: Callable[[Event | RunEvent], None],
        limits: TimeLimits,
    ) -> None:
        self.outcome: EmissionOutcome | None = None
        self._effects, self._send, self._record, self._limits = effects, send, record, limits
        self._current_call: AsyncTransportCall | None = None
        self._answer: CallResult | None = None

    async def __aiter__(self) -> AsyncGenerator[StreamEvent]:
        """Carry out the effects, and yield progress events."""
        try:
            async with aclosing(self._run_effects()) as progress:
                async for event in progress:
                    yield event
        except (GeneratorExit, asyncio.CancelledError):
            self.outcome = self.outcome or _cancel(self._effects, self._current_call, self._record)
            raise

    async def _run_effects(self) -> AsyncGenerator[StreamEvent]:
        deadline, answer = _Deadline(self._limits), None
        while True:
            try:
                effect = self._effects.send(answer)
            except StopIteration as end:
                self.outcome = end.value
                return
            answer = None
            match effect:
                case SendRequest():
                    async with aclosing(self._exchange_request(effect, deadline)) as progress:
                        async for progress_event in progress:
                            yield progress_event
                    answer = self._answer
                case Sleep():
                    seconds = retry_delay(effect, self._limits.clock)
                    answer = deadline.fault_if_late(seconds)
                    if answer is None:
                        await self._limits.clock.async_sleep(seconds)
                case EmitEvent(event):
                    self._record(event)
                case _:
                    assert_never(effect)

    async def _exchange_request(self, effect: SendRequest, deadline: _Deadline) -> AsyncGenerator[StreamEvent]:
        for restart in _restart_events(effect):
            yield restart
        self._answer = deadline.fault_if_late()
        if self._answer is None:
            self._current_call = call = self._send(effect.request, deadline.call_timeout())
            async with aclosing(call.__aiter__()) as progress:
                async for event in progress:
                    yield event
            self._current_call, self._answer = None, call.answer


def run_driver(driver: SyncDriver) -> EmissionOutcome:
    """Run an emission to its outcome."""
    for _ in driver:
        pass
    return driver_outcome(driver)


async def arun_driver(driver: AsyncDriver) -> EmissionOutcome:
    """Async version of ``run_driver``."""
    async for _ in driver:
        pass
    return driver_outcome(driver)


def driver_outcome(driver: SyncDriver | AsyncDriver) -> EmissionOutcome:
    """Return the outcome of a finished emission."""
    if driver.outcome is None:
        raise RuntimeError("The emission has not finished.")
    return driver.outcome


def _restart_events(effect: SendRequest) -> Iterable[Restart]:
    return () if effect.previous_verdict is None else (Restart(effect.number, effect.previous_verdict),)


def _cancel(
    effects: EffectGenerator, current_call: TransportCall | None, record: Callable[[Event | RunEvent], None]
) -> EmissionOutcome:
    """End an emission whose consumer stopped. Nothing more is sent; the remaining events are recorded."""
    fault = Fault(FaultKind.CANCELLED, _CANCELLED_MESSAGE, usage=current_call.usage_so_far() if current_call else None)
    answer: CallResult | None = fault
    while True:
        try:
            effect = effects.send(answer)
        except StopIteration as end:
            outcome: EmissionOutcome = end.value
            return outcome
        answer = None if isinstance(effect, EmitEvent) else fault
        if isinstance(effect, EmitEvent):
            record(effect.event)


class _Deadline:
    """The time that is left."""

    def __init__(self, limits: TimeLimits) -> None:
        self._limits = limits
        self._started_at = limits.clock.monotonic()

    def _remaining(self) -> float | None:
        deadline = self._limits.deadline
        return None if deadline is None else deadline - (self._limits.clock.monotonic() - self._started_at)

    def call_timeout(self) -> float:
        """Return the timeout of the next call in seconds."""
        remaining = self._remaining()
        return self._limits.timeout if remaining is None else min(self._limits.timeout, remaining)

    def fault_if_late(self, within_seconds: float = 0.0) -> CallResult | None:
        """Return a fault if the deadline passes within ``within_seconds``."""
        remaining = self._remaining()
        if remaining is None or remaining > within_seconds:
            return None
        return Fault(
            FaultKind.DEADLINE, f"The deadline of {self._limits.deadline} seconds leaves no time for another call."
        )


@contextmanager
def sdk_client(prepared: PreparedEmission, settings: Settings) -> Generator[object]:
    """Yield the caller's client, or a pooled one; raise ``InputError`` if it cannot send to the model."""
    if settings.client is None:
        with settings.pool.borrow(prepared.profile, settings.base_url) as pooled:
            yield pooled
    else:
        require_usable_client(settings.client, prepared.profile, prepared.model, asynchronous=False)
        yield settings.client


@asynccontextmanager
async def async_sdk_client(prepared: PreparedEmission, settings: Settings) -> AsyncGenerator[object]:
    """Async version of ``sdk_client``."""
    if settings.client is None:
        async with settings.pool.aborrow(prepared.profile, settings.base_url) as pooled:
            yield pooled
    else:
        require_usable_client(settings.client, prepared.profile, prepared.model, asynchronous=True)
        yield getattr(settings.client, "aio", settings.client)


def require_usable_client(client: object, profile: ProviderProfile, model: str, *, asynchronous: bool) -> None:
    """Raise ``InputError`` if the caller's client cannot send to ``model``."""
    if client is not None:
        sdk = getattr(client, "aio", client) if asynchronous else client
        check_client(sdk, profile, model, asynchronous=asynchronous)
