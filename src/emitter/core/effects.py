"""Values exchanged between an emission and its driver.

An emission yields effects: a ``ModelRequest`` to send, a ``Sleep``, a ``Restart`` to report, or an event to record. It
returns an ``EmissionOutcome``.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from emitter.attempts import total_usage
from emitter.events import Event, RunEvent
from emitter.messages import CallResult, ModelRequest, ModelResponse, Usage

if TYPE_CHECKING:
    from emitter.attempts import Attempt, Verdict
    from emitter.core.verdicts import DocumentContract, FallbackReason, RequestWriter
    from emitter.findings import Finding
    from emitter.messages import Json
    from emitter.models import AIEnvelope
    from emitter.policy import PriceTable
    from emitter.schema.results import ParseResult


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait before a retry after a fault, for at least ``min_seconds``.

    The driver chooses the time beyond that, since the core has no clock and no randomness. It sends back None, or a
    ``Fault`` if the deadline would pass.
    """

    retry_number: int
    min_seconds: float


@dataclass(frozen=True, slots=True)
class Restart:
    """The answer was rejected and is requested again. Everything streamed before is void.

    ``attempt`` is the number of the new call, ``reason`` the verdict on the previous one.
    """

    attempt: int
    reason: Verdict


Effect: TypeAlias = ModelRequest | Sleep | Restart | Event | RunEvent
"""A step of an emission: a request to send, a wait, or an event to report or record.

The driver sends back the answer to a request, a fault if the deadline leaves no time for a wait, and otherwise None. An
event that was recorded before keeps its ids and time.
"""


@dataclass(frozen=True, slots=True)
class EmissionFailure:
    """The failure of an emission. ``cause`` is the exception of a callback or of the SDK."""

    verdict: Verdict
    code: str
    message: str
    cause: Exception | None = None


@dataclass(frozen=True, slots=True)
class EmissionOutcome:
    """The end of an emission: a ``value`` with its ``document`` and ``envelope``, or a ``failure``.

    ``EmissionRequest.submit`` returns an outcome without ``attempts``, whose value and document contain no registered
    secrets.

    Attributes:
        findings: The findings of checks in an accepted answer.
        response: The model's own answer, if ``keep_response`` is true.
        events: Events of the host that must be recorded.
        was_discarded: The host lets the node continue without the answer, so the failure is not reported as the node's.
    """

    attempts: tuple[Attempt, ...] = ()
    value: Any = None
    document: Json = None
    failure: EmissionFailure | None = None
    envelope: AIEnvelope | None = None
    findings: tuple[Finding, ...] = ()
    response: ModelResponse | None = None
    events: tuple[RunEvent, ...] = ()
    was_discarded: bool = False

    @property
    def usage(self) -> Usage:
        """The token usage of all calls."""
        return total_usage(self.attempts)


class AnswerJudge(Protocol):
    """Judges the value of a valid answer."""

    def request(self, value: Any, /) -> EmissionRequest | None:
        """Return the request that asks about a value, or None if no model is asked."""
        ...

    def review(self, value: Any, document: Json, answer: Any, /) -> ParseResult[Any]:
        """Return the findings that follow from the judge's answer, or from the fallback if there is none."""
        ...

    @property
    def prices(self) -> PriceTable | None:
        """The prices of the judge's model."""
        ...

    def offline(self) -> AnswerJudge:
        """Return a judge that asks no model, for drivers that can call only the emission's own model."""
        ...


@dataclass(frozen=True, slots=True)
class EmissionRequest:
    """A request, the contract of its answer, and the writer of further requests.

    This class accepts every valid answer. The client's subclass submits it to an OpenWOP host.

    Attributes:
        max_budget: The largest output budget in tokens.
        min_output_tokens: The smallest output budget that is worth a call.
        initial_events: Reported before the first call to the model.
        judge: Asked about each valid answer.
        prices: The prices of the model.
        alternatives: The same emission for the models to ask if this one fails.
        asked_after: The failures after which this alternative may be asked.
        keep_response: Keep each answer in its attempt, and the accepted one in the outcome.
    """

    provider: str
    request: ModelRequest
    contract: DocumentContract
    writer: RequestWriter
    max_budget: int
    min_output_tokens: int = 1
    kind: str = ""
    initial_events: tuple[Event, ...] = ()
    judge: AnswerJudge | None = None
    prices: PriceTable | None = None
    alternatives: tuple[EmissionRequest, ...] = ()
    asked_after: frozenset[FallbackReason] = frozenset()
    keep_response: bool = False

    def find_accepted(self) -> EmissionOutcome | None:
        """Return the answer that an earlier run of this emission had accepted, if there is one."""
        return None

    def check_capacity(self) -> EmissionOutcome | None:
        """Return the host's refusal if it cannot accept another envelope."""
        return None

    def submit(self, value: Any, document: Json) -> EmissionOutcome:
        """Submit a valid answer to the host, and return the envelope or a failure."""
        return EmissionOutcome((), value, document)


EffectGenerator: TypeAlias = Generator[Effect, CallResult | None, EmissionOutcome]
"""An emission: a generator of effects that returns its outcome."""
