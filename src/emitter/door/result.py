"""What an emission returns, and all that was spent on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from emitter.errors import (
    AuthenticationError,
    BadRequest,
    CheckFailed,
    CostLimitReached,
    DeadlineReached,
    EmissionError,
    Invalid,
    LimitReached,
    NotFound,
    PromptTooLong,
    QuotaExhausted,
    RateLimited,
    Refused,
    TokenLimitReached,
    Truncated,
    Unreachable,
)
from emitter.judge import Verdict
from emitter.remedy import FAULT_CODES
from emitter.steps import total_usage
from emitter.wire import FaultKind

if TYPE_CHECKING:
    from emitter.events import RunEvent
    from emitter.kinds import AIEnvelope
    from emitter.steps import Attempt, Failure, Outcome
    from emitter.wire import Usage

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Trace:
    """Every call that was made and every event that was told, in order."""

    attempts: tuple[Attempt, ...]
    events: tuple[RunEvent, ...]

    @property
    def usage(self) -> Usage:
        """The tokens of all calls together."""
        return total_usage(self.attempts)


class Traced:
    """The parts of the trace, at hand."""

    __slots__ = ()
    trace: Trace

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Every call that was made, in order."""
        return self.trace.attempts

    @property
    def events(self) -> tuple[RunEvent, ...]:
        """Every event that was told, in order."""
        return self.trace.events

    @property
    def usage(self) -> Usage:
        """The tokens of all calls together."""
        return self.trace.usage


@dataclass(frozen=True)
class Emission(Traced, Generic[T]):
    """What was asked for: its ``value``, the ``envelope`` around it, and the ``trace`` of how it came.

    ``actions`` are the digests of what the options of a decision would do, as ``Ledger.open`` takes them: one for each
    option in order, None for one that does nothing, such as the model's own. Empty where no actions were asked for.
    """

    value: T
    envelope: AIEnvelope
    trace: Trace
    actions: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """An emission that came to a ``value``, and the ``envelope`` that the host took."""

    value: Any
    envelope: AIEnvelope
    trace: Trace


_BY_VERDICT: dict[Verdict, type[EmissionError]] = {
    Verdict.REFUSED: Refused,
    Verdict.TRUNCATED: Truncated,
    Verdict.OVERFLOWED: PromptTooLong,
    Verdict.FAULTED: Unreachable,
    Verdict.UNCHECKED: CheckFailed,
}
_BY_CODE: dict[str, type[EmissionError]] = {
    "token_limit_reached": TokenLimitReached,
    "cost_limit_reached": CostLimitReached,
    "cap_breached": LimitReached,
    FAULT_CODES[FaultKind.RESPONSE_TOO_LARGE]: LimitReached,
    FAULT_CODES[FaultKind.DEADLINE]: DeadlineReached,
    FAULT_CODES[FaultKind.AUTHENTICATION]: AuthenticationError,
    FAULT_CODES[FaultKind.PERMISSION]: AuthenticationError,
    FAULT_CODES[FaultKind.BAD_REQUEST]: BadRequest,
    FAULT_CODES[FaultKind.SCHEMA_REJECTED]: BadRequest,
    FAULT_CODES[FaultKind.NOT_FOUND]: NotFound,
    FAULT_CODES[FaultKind.TOO_LARGE]: PromptTooLong,
    FAULT_CODES[FaultKind.RATE_LIMIT]: RateLimited,
    FAULT_CODES[FaultKind.QUOTA]: QuotaExhausted,
}
"""The class of a code that has one of its own; a fault with any other is ``Unreachable``."""


def done(outcome: Outcome, events: tuple[RunEvent, ...]) -> Done:
    """Return what the outcome amounts to, or raise the error that it is."""
    trace = Trace(outcome.attempts, events)
    if outcome.failure is not None:
        raise _error(outcome.failure, trace) from outcome.failure.cause
    if outcome.envelope is None:
        raise RuntimeError("The emission came to a value without an envelope.")
    return Done(outcome.value, outcome.envelope, trace)


_HINTS = {
    FaultKind.CONNECTION: "Check the network and the base URL, or try again later.",
    "cap_breached": "Raise the limit in the host's Limits, or emit from another turn, node or run.",
}
"""What to do for a fault or a code, where the class of the error does not know it."""


def _error(failure: Failure, trace: Trace) -> EmissionError:
    kind = _BY_CODE.get(failure.code) or _BY_VERDICT.get(failure.verdict, Invalid)
    last = trace.attempts[-1] if trace.attempts else None
    fault, report = (last.fault, last.report) if last else (None, None)
    return kind(
        failure.message,
        code=failure.code,
        trace=trace,
        hint=_HINTS.get(fault.kind if fault and kind is Unreachable else failure.code),
        status_code=fault.status if fault else None,
        vendor_message=(report.message or None) if report else None,
        vendor_code=(report.code if report else None) or (fault.code if fault else None),
        param=report.param if report else None,
        request_id=last.request_id if last else None,
        retry_after=fault.retry_after if fault else None,
    )
