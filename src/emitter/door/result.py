"""What an emission returns, and all that was spent on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from emitter.errors import (
    CheckFailed,
    CostLimitReached,
    DeadlineReached,
    EmissionError,
    Invalid,
    LimitReached,
    Refused,
    TokenLimitReached,
    Truncated,
    Unreachable,
)
from emitter.judge import Verdict
from emitter.steps import total_usage

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


_ERRORS: dict[Verdict, type[EmissionError]] = {
    Verdict.REFUSED: Refused,
    Verdict.TRUNCATED: Truncated,
    Verdict.OVERFLOWED: Truncated,
    Verdict.FAULTED: Unreachable,
    Verdict.UNCHECKED: CheckFailed,
}


def done(outcome: Outcome, events: tuple[RunEvent, ...]) -> Done:
    """Return what the outcome amounts to, or raise the error that it is."""
    trace = Trace(outcome.attempts, events)
    if outcome.failure is not None:
        raise _error(outcome.failure, trace) from outcome.failure.cause
    if outcome.envelope is None:
        raise RuntimeError("The emission came to a value without an envelope.")
    return Done(outcome.value, outcome.envelope, trace)


_LIMITS: dict[str, type[EmissionError]] = {
    "token_limit_reached": TokenLimitReached,
    "cost_limit_reached": CostLimitReached,
    "deadline_exceeded": DeadlineReached,
    "cap_breached": LimitReached,
}


_LATER = "Try again later, or allow more faults, time or a longer wait in Policy; the error's trace has each fault."
_HINTS = {
    "rate_limited": _LATER,
    "provider_unavailable": _LATER,
    "cap_breached": "Raise the limit in the host's Limits, or emit from another turn, node or run.",
}
"""What to do where another key or address would not help."""


def _error(failure: Failure, trace: Trace) -> EmissionError:
    kind = _LIMITS.get(failure.code) or _ERRORS.get(failure.verdict, Invalid)
    return kind(failure.message, code=failure.code, trace=trace, hint=_HINTS.get(failure.code))
