"""Values exchanged between an emission and its driver.

An emission yields effects: a ``ModelRequest`` to send, a ``Sleep``, a ``Restart`` to report, an event to record, and
``Recall``, ``Reserve`` and ``Submit`` towards an OpenWOP host. It is sent their results, and returns an
``EmissionOutcome``.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from emitter.attempts import total_usage
from emitter.events import Event, RunEvent
from emitter.messages import CallResult, ModelRequest, ModelResponse, Usage
from emitter.policy import CeilingOwner

if TYPE_CHECKING:
    from emitter.attempts import Attempt, Verdict
    from emitter.core.verdicts import DocumentContract, FallbackReason, RequestWriter
    from emitter.errors import EmissionError
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


@dataclass(frozen=True, slots=True)
class Recall:
    """Ask the host for the answer that an earlier run of this emission had accepted.

    The driver sends back an ``AcceptedAnswer``, or None if there is none.
    """


@dataclass(frozen=True, slots=True)
class Reserve:
    """Ask the host whether it can accept another envelope. The driver sends back a ``HostRefusal`` or None."""


@dataclass(frozen=True, slots=True)
class Submit:
    """Submit a valid answer to the host. The driver sends back an ``AcceptedAnswer`` or a ``HostRefusal``.

    ``route`` is that of the model that gave the answer. ``is_grounded`` is true if outside material fed it, so that the
    envelope is untrusted.
    """

    value: Any
    document: Json
    route: int
    is_grounded: bool = False


@dataclass(frozen=True, slots=True)
class SchemaIgnored:
    """Remember that the server of a route ignored the schema of a request. The driver sends back None."""

    route: int


@dataclass(frozen=True, slots=True)
class EmissionFailure:
    """The failure of an emission.

    Attributes:
        cause: The exception of a callback or of the SDK.
        error: The exception to raise, if the verdict and the code do not determine it.
        hint: What to do about it, if the exception's own hint does not say so.
    """

    verdict: Verdict
    code: str
    message: str
    cause: Exception | None = None
    error: type[EmissionError] | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class AcceptedAnswer:
    """An answer that the host accepted. Its value and document contain no registered secrets.

    ``events`` are the host's events about it, which must be recorded.
    """

    value: Any
    document: Json
    envelope: AIEnvelope | None = None
    events: tuple[RunEvent, ...] = ()


@dataclass(frozen=True, slots=True)
class HostRefusal:
    """The host's refusal of an answer, or of any further answer.

    Attributes:
        events: The host's events about it, which must be recorded.
        was_discarded: The host lets the node continue without the answer, so the failure is not reported as the node's.
    """

    failure: EmissionFailure
    events: tuple[RunEvent, ...] = ()
    was_discarded: bool = False


Effect: TypeAlias = ModelRequest | Sleep | Restart | Recall | Reserve | Submit | SchemaIgnored | Event | RunEvent
"""A step that an emission asks its driver to execute. An event that was recorded before keeps its ids and time."""
EffectResult: TypeAlias = CallResult | AcceptedAnswer | HostRefusal | None
"""The result of an effect: the answer to a request, a fault if the deadline leaves no time for a wait, the host's
answer, and otherwise None."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """The reason why no model can be asked, with the events that report it."""

    failure: EmissionFailure
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class EmissionOutcome:
    """The end of an emission: a ``value`` with its ``document`` and ``envelope``, or a ``failure``.

    Attributes:
        findings: The findings of checks in an accepted answer.
        response: The model's own answer, if ``keep_response`` is true.
    """

    attempts: tuple[Attempt, ...] = ()
    value: Any = None
    document: Json = None
    failure: EmissionFailure | None = None
    envelope: AIEnvelope | None = None
    findings: tuple[Finding, ...] = ()
    response: ModelResponse | None = None

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

    Attributes:
        max_budget: The largest output budget in tokens.
        ceiling: Whose limit ``max_budget`` is.
        stated_budget: The largest output budget under the limits that the vendor named in earlier emissions, if any.
            A budget exceeds it only after an answer was cut at it, because the limits may have changed.
        min_output_tokens: The smallest output budget that is worth a call.
        smallest_answer: The smallest output budget that a typical answer fits.
        initial_events: Reported before the first call to the model.
        judge: Asked about each valid answer.
        prices: The prices of the model.
        alternatives: The same emission for the models to ask if this one fails.
        asked_after: The failures after which this alternative may be asked.
        keep_response: Keep each answer in its attempt, and the accepted one in the outcome.
        has_host: A host may have accepted an answer before, and may have no room for another one.
        obstacle: The reason why no model can be asked, if there is one.
    """

    provider: str
    request: ModelRequest
    contract: DocumentContract
    writer: RequestWriter
    max_budget: int
    ceiling: CeilingOwner = CeilingOwner.MODEL
    stated_budget: int | None = None
    min_output_tokens: int = 1
    smallest_answer: int = 1
    kind: str = ""
    initial_events: tuple[Event, ...] = ()
    judge: AnswerJudge | None = None
    prices: PriceTable | None = None
    alternatives: tuple[EmissionRequest, ...] = ()
    asked_after: frozenset[FallbackReason] = frozenset()
    keep_response: bool = False
    has_host: bool = False
    obstacle: Obstacle | None = None

    def largest_budget(self, cut_at: int) -> int:
        """Return the largest output budget to ask for after an answer was cut."""
        stated = self.stated_budget
        return self.max_budget if stated is None or cut_at >= stated else min(stated, self.max_budget)


EffectGenerator: TypeAlias = Generator[Effect, EffectResult, EmissionOutcome]
"""An emission: a generator of effects that returns its outcome."""
