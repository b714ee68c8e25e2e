"""The events of an emission, in OpenWOP's standard vocabulary.

Each record is one payload of ``run-event-payloads.schema.json``; ``RunEvent`` is the document around it.
No event that this library tells on its own carries content, a secret or a word of the model's text, but for the
questions of a clarification, which are there to be read. Field names follow OpenWOP in snake case
and are projected to its camel case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, TypeAlias, cast

if TYPE_CHECKING:
    from emitter.kinds.envelope import Trust
    from emitter.wire import Json


class Reason(str, Enum):
    """Why an attempt did not do (OpenWOP RFC 0032, reason vocabulary)."""

    SCHEMA_VIOLATION = "schema-violation"
    TYPE_DRIFT = "type-drift"
    TYPE_MISMATCH = "type-mismatch"
    PARSE_ERROR = "parse-error"
    TRUNCATION = "truncation"
    REFUSAL = "refusal"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RetryAttempted:
    """A further call is about to be made; ``attempt`` is its number among answered calls, 2 to 16."""

    type: ClassVar[str] = "envelope.retry.attempted"
    attempt: int
    reason: Reason
    previous_error: str | None = None


@dataclass(frozen=True, slots=True)
class RetryExhausted:
    """No further call will be made; ``total_attempts`` counts the answered ones, the first included."""

    type: ClassVar[str] = "envelope.retry.exhausted"
    total_attempts: int
    final_reason: Reason
    final_error: str | None = None


@dataclass(frozen=True, slots=True)
class EnvelopeRefusal:
    """The vendor refused; its words are never told."""

    type: ClassVar[str] = "envelope.refusal"
    provider: str
    model: str
    safety_category: str | None = None


@dataclass(frozen=True, slots=True)
class EnvelopeTruncated:
    """The answer was cut; ``output_token_count`` is what the vendor billed, if it said."""

    type: ClassVar[str] = "envelope.truncated"
    provider: str
    model: str
    stop_reason: str
    partial_payload_available: bool
    output_token_count: int | None = None


@dataclass(frozen=True, slots=True)
class RecoveryApplied:
    """A clean answer was not plain JSON and was read all the same, without a further call."""

    type: ClassVar[str] = "envelope.recovery.applied"
    path: str
    byte_offset: int | None = None


@dataclass(frozen=True, slots=True)
class NlToFormatEngaged:
    """The form is sought in two steps: first in plain words, then from these. ``fallback_calls`` is how many calls."""

    type: ClassVar[str] = "envelope.nlToFormat.engaged"
    original_envelope_type: str
    fallback_calls: int


@dataclass(frozen=True, slots=True)
class CapBreached:
    """A limit was reached; ``observed`` is what the next step would have made it."""

    type: ClassVar[str] = "cap.breached"
    kind: str
    limit: float
    observed: float


@dataclass(frozen=True, slots=True)
class NodeCompleted:
    """The node is done; ``outputs`` refer to what it made, and hold none of it unless the host's handler says so."""

    type: ClassVar[str] = "node.completed"
    outputs: Mapping[str, Json] = field(default_factory=dict[str, "Json"])


@dataclass(frozen=True, slots=True)
class NodeFailed:
    """The node ended without an envelope; ``code`` is the terminal code, ``attempts`` counts its calls."""

    type: ClassVar[str] = "node.failed"
    code: str
    message: str
    attempts: int | None = None
    details: Mapping[str, Json] = field(default_factory=dict[str, "Json"])


@dataclass(frozen=True, slots=True)
class ClarificationRequested:
    """The model needs answers; each question is ``{id, question, schema?}``, as the envelope asked it."""

    type: ClassVar[str] = "clarification.requested"
    interrupt_id: str
    questions: tuple[Mapping[str, Json], ...]


@dataclass(frozen=True, slots=True)
class InterruptRequested:
    """The node waits for somebody; ``kind`` says for what, such as ``clarification``.

    ``key`` is the same whenever the same interrupt is asked for again.
    """

    type: ClassVar[str] = "interrupt.requested"
    interrupt_id: str
    kind: str
    key: str
    data: Mapping[str, Json] = field(default_factory=dict[str, "Json"])


@dataclass(frozen=True, slots=True)
class ModelCapabilitySubstituted:
    """Another model is asked than the node named, since that one lacks what the node needs (RFC 0031)."""

    type: ClassVar[str] = "model.capability.substituted"
    original_provider: str
    original_model: str
    fallback_provider: str
    fallback_model: str
    missing_capabilities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelCapabilityInsufficient:
    """No model at hand has what the node needs; nothing was asked (RFC 0031)."""

    type: ClassVar[str] = "model.capability.insufficient"
    provider: str
    model: str
    missing_capabilities: tuple[str, ...]
    fallback_attempted: bool = False


@dataclass(frozen=True, slots=True)
class ReplayDiverged:
    """A replay told another thing than the run it replays; ``divergence_point`` is the type of the event."""

    type: ClassVar[str] = "replay.diverged"
    source_run_id: str
    at_sequence: int
    divergence_kind: str
    divergence_point: str
    original_event_id: str | None = None


@dataclass(frozen=True, slots=True)
class ReplayDivergedAtRefusal:
    """A replay was refused where the run was not, or the other way round; the kinds are ``valid`` and ``refusal``."""

    type: ClassVar[str] = "replay.divergedAtRefusal"
    source_run_id: str
    at_sequence: int
    original_envelope_kind: str
    replay_envelope_kind: str
    original_event_id: str | None = None


@dataclass(frozen=True, slots=True)
class ProviderUsage:
    """What one call cost, in tokens."""

    type: ClassVar[str] = "provider.usage"
    provider: str
    model: str
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


class Level(str, Enum):
    """The level of a log line."""

    DEBUG = "debug"
    INFO = "info"
    WARN = "warn"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class LogAppended:
    """A line worth telling that has no event of its own."""

    type: ClassVar[str] = "log.appended"
    level: Level
    message: str
    fields: Mapping[str, Json] = field(default_factory=dict[str, "Json"])


CALLING = "calling"
"""The message of the line that tells of each call; its fields are ``attempt`` and ``budget``."""

Event: TypeAlias = (
    RetryAttempted
    | RetryExhausted
    | EnvelopeRefusal
    | EnvelopeTruncated
    | RecoveryApplied
    | NlToFormatEngaged
    | CapBreached
    | NodeCompleted
    | NodeFailed
    | ClarificationRequested
    | InterruptRequested
    | ModelCapabilitySubstituted
    | ModelCapabilityInsufficient
    | ReplayDiverged
    | ReplayDivergedAtRefusal
    | ProviderUsage
    | LogAppended
)


@dataclass(frozen=True, slots=True)
class RunEvent:
    """One event as it was told: a RunEventDoc around a payload.

    ``timestamp`` is ISO 8601 in UTC, ``sequence`` counts from 0 within the emission, or within the run where a
    store keeps the run's log. ``causation_id`` is the envelope's correlation id. ``content_trust`` is the
    envelope's, where an envelope is what the event tells of.
    """

    event: Event
    event_id: str
    run_id: str
    node_id: str
    timestamp: str
    sequence: int
    causation_id: str
    content_trust: Trust | None = None

    @property
    def type(self) -> str:
        """The OpenWOP event type."""
        return self.event.type

    def to_json(self) -> dict[str, Json]:
        """Return the RunEventDoc."""
        trust: dict[str, Json] = {} if self.content_trust is None else {"contentTrust": self.content_trust.value}
        return {
            "eventId": self.event_id,
            "runId": self.run_id,
            "nodeId": self.node_id,
            "type": self.type,
            "payload": payload(self.event, self.node_id),
            "timestamp": self.timestamp,
            "sequence": self.sequence,
            "causationId": self.causation_id,
            **trust,
        }


def payload(event: Event, node_id: str) -> dict[str, Json]:
    """Return the event's payload as its schema wants it."""
    if isinstance(event, NodeFailed):
        return {"nodeId": node_id, **_failed(event, node_id)}
    told = {each.name: getattr(event, each.name) for each in fields(event)}
    return {"nodeId": node_id, **{_camel(name): _plain(value) for name, value in told.items() if value is not None}}


def _failed(event: NodeFailed, node_id: str) -> dict[str, Json]:
    error: dict[str, Json] = {"code": event.code, "message": event.message}
    if event.details:
        error["details"] = {"nodeId": node_id, **event.details}
    return {"error": error} if event.attempts is None else {"error": error, "attempts": event.attempts}


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


def _plain(value: Json) -> Json:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Json]", value))
    if isinstance(value, tuple):
        return [_plain(each) for each in cast("tuple[Json, ...]", value)]
    return value.value if isinstance(value, Enum) else value
