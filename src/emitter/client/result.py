"""The result of an emission, and the exception for a failed one."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeAlias, TypeVar

from emitter.attempts import total_usage
from emitter.core.verdicts import FAULTS, REMEDIES
from emitter.errors import (
    CostLimitReached,
    EmissionError,
    InputError,
    LimitReached,
    TokenLimitReached,
    Unreachable,
)
from emitter.messages import FaultKind, Trust
from emitter.models.standard_kinds import DOCUMENT
from emitter.outside_values import parse_date
from emitter.prices import CostSummary, ListedPrices, prices_of, sum_costs

if TYPE_CHECKING:
    from decimal import Decimal

    from emitter.attempts import Attempt
    from emitter.conversation import Conversation
    from emitter.core.effects import EmissionFailure, EmissionOutcome
    from emitter.events import RunEvent
    from emitter.findings import Finding
    from emitter.messages import ModelResponse, Usage
    from emitter.models import AIEnvelope, BindingMoment, ClarificationRequest, Deliberation, ErrorReport
    from emitter.policy import PriceTable

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Trace:
    """The calls and events of an emission, in order. ``cost`` is computed with ``prices``."""

    attempts: tuple[Attempt, ...]
    events: tuple[RunEvent, ...]
    prices: PriceTable | None = field(default=None, repr=False, compare=False)

    @property
    def usage(self) -> Usage:
        """The token usage of all calls."""
        return total_usage(self.attempts)

    @property
    def cost(self) -> Decimal | None:
        """The cost of all calls in US dollars, or None if the model has no price; see ``no_cost_reason``.

        It is an estimate where ``usage.estimated`` is true.
        """
        return self._cost_summary().cost

    @property
    def no_cost_reason(self) -> str | None:
        """The reason why ``cost`` is None, and what to pass."""
        return self._cost_summary().reason

    def _cost_summary(self) -> CostSummary:
        return sum_costs(
            (self._prices_then(attempt.route), attempt.usage, 1)
            for attempt in self.attempts
            if attempt.usage is not None
        )

    def _prices_then(self, route: int) -> PriceTable | None:
        """Return the prices of a model at the time of the calls, since listed prices change."""
        prices = prices_of(self.prices, route)
        if isinstance(prices, ListedPrices) and self.events:
            return replace(prices, at=parse_date(self.events[-1].timestamp))
        return prices


class HasTrace:
    """Shortcuts to the parts of ``trace``."""

    __slots__ = ()
    trace: Trace

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """The calls that were made, in order."""
        return self.trace.attempts

    @property
    def events(self) -> tuple[RunEvent, ...]:
        """The recorded events, in order."""
        return self.trace.events

    @property
    def usage(self) -> Usage:
        """The token usage of all calls."""
        return self.trace.usage

    @property
    def cost(self) -> Decimal | None:
        """The cost of all calls in US dollars, or None if the model has no price; see ``trace.no_cost_reason``."""
        return self.trace.cost


class HasAnswer(HasTrace):
    """A result with an answer and the conversation that led to it."""

    __slots__ = ()
    envelope: AIEnvelope
    conversation: Conversation | None

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation including the answer. Pass it as ``messages`` to continue, with any model.

        It has the messages and materials that you passed, and the answer as the assistant's turn. If any of them is
        untrusted, all are marked as untrusted.

        Raises:
            InputError: This is a result of ``emit_many``, which keeps no messages.
        """
        if self.conversation is None:
            raise InputError("A result of emit_many keeps no messages.", hint="Use the input of the result, and value.")
        payload = self.envelope.payload
        document = payload["document"] if self.envelope.type == DOCUMENT else payload
        answer = json.dumps(document, ensure_ascii=False)
        return self.conversation.with_answer(answer, self.envelope.meta.content_trust or Trust.TRUSTED)


@dataclass(frozen=True)
class Emission(HasAnswer, Generic[T]):
    """A validated ``value``, the ``envelope`` that contains it, and the ``trace`` of its calls and events.

    ``findings`` are the warnings of checks. ``response`` is the model's own answer, if ``keep_response`` is true.
    ``actions`` holds the action digest of each option of a decision, in order, or None for an option without one.
    Pass it to ``Ledger.open`` unchanged. It is empty if no actions were passed.
    """

    value: T
    envelope: AIEnvelope
    trace: Trace
    actions: tuple[str | None, ...] = ()
    findings: tuple[Finding, ...] = ()
    response: ModelResponse | None = field(default=None, repr=False)
    conversation: Conversation | None = field(default=None, repr=False, compare=False)

    if not TYPE_CHECKING:  # a type checker that saw it would accept every misspelt name

        def __getattr__(self, name: str) -> NoReturn:
            # copy and pickle look up special methods on an object that has no value yet.
            is_of_value = not name.startswith("__") and hasattr(vars(self).get("value"), name)
            hint = f". Write emission.value.{name}" if is_of_value else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}", name=name, obj=self)


@dataclass(frozen=True)
class Withheld(HasAnswer):
    """The agent's veto: it chose not to bind. This is a success of the turn, not a failure.

    ``reason`` is a deliberation (the agent asks leave to go on), a clarification request or an error report.
    """

    reason: Deliberation | ClarificationRequest | ErrorReport
    envelope: AIEnvelope
    trace: Trace
    response: ModelResponse | None = field(default=None, repr=False)
    conversation: Conversation | None = field(default=None, repr=False, compare=False)

    @property
    def actions(self) -> tuple[str | None, ...]:
        """Always empty, because nothing is offered."""
        return ()


Decision: TypeAlias = "Emission[BindingMoment] | Withheld"
"""The result of ``emit_binding_moment``."""

_ERROR_BY_CODE: dict[str, type[EmissionError]] = {
    "token_limit_reached": TokenLimitReached,
    "cost_limit_reached": CostLimitReached,
    "cap_breached": LimitReached,
    **{failure.code: failure.error for failure in FAULTS.values()},
}
"""The error class for the code of a fault or a limit. Any other failure has the error class of its verdict."""


def complete(
    outcome: EmissionOutcome,
    events: tuple[RunEvent, ...],
    prices: PriceTable,
    conversation: Conversation | None = None,
) -> Emission[Any]:
    """Return the emission of a successful outcome, or raise the error of a failed one."""
    trace = Trace(outcome.attempts, events, prices)
    if outcome.failure is not None:
        raise _make_error(outcome.failure, trace) from outcome.failure.cause
    if outcome.envelope is None:
        raise RuntimeError("The emission has a value but no envelope.")
    return Emission(outcome.value, outcome.envelope, trace, (), outcome.findings, outcome.response, conversation)


_ERROR_HINTS = {
    FaultKind.CONNECTION: "Check the network and the base URL, or try again later.",
    "cap_breached": "Raise it with HostConfig(limits=HostLimits(...)), or emit from another turn, node or run.",
}
"""Hints for faults and codes that the error class alone does not cover."""


def _make_error(failure: EmissionFailure, trace: Trace) -> EmissionError:
    kind = failure.error or _ERROR_BY_CODE.get(failure.code) or REMEDIES[failure.verdict].failure.error
    last = trace.attempts[-1] if trace.attempts else None
    fault, report = (last.fault, last.report) if last else (None, None)
    return kind(
        failure.message,
        code=failure.code,
        trace=trace,
        hint=failure.hint or _ERROR_HINTS.get(fault.kind if fault and kind is Unreachable else failure.code),
        status_code=fault.status if fault else None,
        vendor_message=(report.message or None) if report else None,
        vendor_code=(report.code if report else None) or (fault.code if fault else None),
        param=report.param if report else None,
        request_id=last.request_id if last else None,
        retry_after=fault.retry_after if fault else None,
    )
