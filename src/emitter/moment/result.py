"""What an emission returns: a decision, or an honest "not yet", and all that was spent on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from emitter.errors import EmissionError, Invalid, Refused, Truncated, Unreachable
from emitter.judge import Verdict
from emitter.kinds import AIEnvelope, BindingMoment, EnvelopeMeta, Source, turn
from emitter.sinks import new_id, now
from emitter.steps import total_usage

if TYPE_CHECKING:
    from emitter.events import RunEvent
    from emitter.kinds import ClarificationRequest, Deliberation, ErrorReport
    from emitter.moment.plan import Plan, Settings
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


class _Traced:
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
class Emission(_Traced, Generic[T]):
    """A decision: its ``value``, the ``envelope`` around it, and the ``trace`` of how it came."""

    value: T
    envelope: AIEnvelope
    trace: Trace


@dataclass(frozen=True)
class Withheld(_Traced):
    """The agent's veto: it did not bind. A success of the turn, not a failure.

    ``reason`` says why: deliberation (it asks leave to go on), a clarification request, or an error report.
    """

    reason: Deliberation | ClarificationRequest | ErrorReport
    envelope: AIEnvelope
    trace: Trace


def conclude(
    plan: Plan, settings: Settings, outcome: Outcome, events: tuple[RunEvent, ...]
) -> Emission[BindingMoment] | Withheld:
    """Return what the outcome amounts to, or raise the error that it is."""
    trace = Trace(outcome.attempts, events)
    if outcome.failure is not None:
        raise _error(outcome.failure, trace)
    chosen = turn.read(outcome.value, settings.hatches, settings.decision_class)
    envelope = AIEnvelope(
        type=turn.kind_of(chosen),
        envelope_id=new_id(),
        correlation_id=plan.correlation_id,
        node_id=settings.node_id,
        payload=turn.payload(chosen, outcome.value["reasoning"]),
        meta=EnvelopeMeta(source=Source.AI_GENERATION, ts=now(), content_trust=plan.trust),
    )
    if isinstance(chosen, BindingMoment):
        return Emission(chosen, envelope, trace)
    return Withheld(chosen, envelope, trace)


_ERRORS: dict[Verdict, type[EmissionError]] = {
    Verdict.REFUSED: Refused,
    Verdict.TRUNCATED: Truncated,
    Verdict.OVERFLOWED: Truncated,
    Verdict.FAULTED: Unreachable,
}


def _error(failure: Failure, trace: Trace) -> EmissionError:
    return _ERRORS.get(failure.verdict, Invalid)(failure.message, code=failure.code, trace=trace)
