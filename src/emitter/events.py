"""The events of an emission, in OpenWOP's standard vocabulary.

Each class is one payload of ``run-event-payloads.schema.json``, and ``RunEvent`` is the document around it. Field
names are OpenWOP's in snake case. Except for the questions of a clarification, the library's own events contain no
content, no secrets and none of the model's text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, TypeAlias, cast

if TYPE_CHECKING:
    from emitter.messages import Json, Trust


def format_timestamp(seconds: float, precision: str = "milliseconds") -> str:
    """Return seconds since 1970 as ISO 8601 in UTC, rounded down."""
    return f"{datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat(timespec=precision)}Z"


class Reason(str, Enum):
    """The reason why an attempt failed (OpenWOP RFC 0032, reason vocabulary)."""

    SCHEMA_VIOLATION = "schema-violation"
    TYPE_DRIFT = "type-drift"
    TYPE_MISMATCH = "type-mismatch"
    PARSE_ERROR = "parse-error"
    TRUNCATION = "truncation"
    REFUSAL = "refusal"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RetryAttempted:
    """A retry is about to be sent; ``attempt`` is its number among answered calls, 2 to 16."""

    type: ClassVar[str] = "envelope.retry.attempted"
    attempt: int
    reason: Reason
    previous_error: str | None = None


@dataclass(frozen=True, slots=True)
class RetryExhausted:
    """No attempts are left; ``total_attempts`` counts the answered calls, including the first."""

    type: ClassVar[str] = "envelope.retry.exhausted"
    total_attempts: int
    final_reason: Reason
    final_error: str | None = None


@dataclass(frozen=True, slots=True)
class EnvelopeRefusal:
    """The vendor refused. The event never contains the words of the refusal."""

    type: ClassVar[str] = "envelope.refusal"
    provider: str
    model: str
    safety_category: str | None = None


@dataclass(frozen=True, slots=True)
class EnvelopeTruncated:
    """The answer was cut off; ``output_token_count`` is the number of tokens billed, if the vendor reports it."""

    type: ClassVar[str] = "envelope.truncated"
    provider: str
    model: str
    stop_reason: str
    partial_payload_available: bool
    output_token_count: int | None = None


@dataclass(frozen=True, slots=True)
class RecoveryApplied:
    """A complete answer was not plain JSON, and was recovered without another call."""

    type: ClassVar[str] = "envelope.recovery.applied"
    path: str
    byte_offset: int | None = None


@dataclass(frozen=True, slots=True)
class NlToFormatEngaged:
    """The model answers in prose first, then in the schema; ``fallback_calls`` is the number of calls."""

    type: ClassVar[str] = "envelope.nlToFormat.engaged"
    original_envelope_type: str
    fallback_calls: int


@dataclass(frozen=True, slots=True)
class CapBreached:
    """A limit was reached.

    ``limit`` is the effective limit: for ``schema`` the number of retries, the lesser of the policy's and the
    host's. ``observed`` is the count that the next step would have reached.
    """

    type: ClassVar[str] = "cap.breached"
    kind: str
    limit: float
    observed: float


@dataclass(frozen=True, slots=True)
class NodeCompleted:
    """The node has finished. ``outputs`` refers to its result. Only the host's handler can add content to it."""

    type: ClassVar[str] = "node.completed"
    outputs: Mapping[str, Json] = field(default_factory=dict[str, "Json"])


@dataclass(frozen=True, slots=True)
class NodeFailed:
    """The node ended without an envelope; ``code`` is the terminal code, ``attempts`` the number of calls."""

    type: ClassVar[str] = "node.failed"
    code: str
    message: str
    attempts: int | None = None
    details: Mapping[str, Json] = field(default_factory=dict[str, "Json"])


@dataclass(frozen=True, slots=True)
class ClarificationRequested:
    """The model needs answers; each question is ``{id, question, schema?}``, as in the envelope."""

    type: ClassVar[str] = "clarification.requested"
    interrupt_id: str
    questions: tuple[Mapping[str, Json], ...]


@dataclass(frozen=True, slots=True)
class InterruptRequested:
    """The node waits for a person; ``kind`` is the reason, such as ``clarification``.

    Repeated requests for the same interrupt have the same ``key``.
    """

    type: ClassVar[str] = "interrupt.requested"
    interrupt_id: str
    kind: str
    key: str
    data: Mapping[str, Json] = field(default_factory=dict[str, "Json"])


@dataclass(frozen=True, slots=True)
class ModelCapabilitySubstituted:
    """Another model is used because one lacks a capability (RFC 0031), or has failed and nothing is missing."""

    type: ClassVar[str] = "model.capability.substituted"
    original_provider: str
    original_model: str
    fallback_provider: str
    fallback_model: str
    missing_capabilities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelCapabilityInsufficient:
    """No available model has the required capabilities, so no call was made (RFC 0031)."""

    type: ClassVar[str] = "model.capability.insufficient"
    provider: str
    model: str
    missing_capabilities: tuple[str, ...]
    fallback_attempted: bool = False


@dataclass(frozen=True, slots=True)
class ReplayDiverged:
    """A replay differs from the original run; ``divergence_point`` is the type of the event."""

    type: ClassVar[str] = "replay.diverged"
    source_run_id: str
    at_sequence: int
    divergence_kind: str
    divergence_point: str
    original_event_id: str | None = None


@dataclass(frozen=True, slots=True)
class ReplayDivergedAtRefusal:
    """Either the run or its replay was refused, but not both. The kinds are ``valid`` and ``refusal``."""

    type: ClassVar[str] = "replay.divergedAtRefusal"
    source_run_id: str
    at_sequence: int
    original_envelope_kind: str
    replay_envelope_kind: str
    original_event_id: str | None = None


@dataclass(frozen=True, slots=True)
class ProviderUsage:
    """The tokens that one call used."""

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
    """A log line, for anything that has no event of its own."""

    type: ClassVar[str] = "log.appended"
    level: Level
    message: str
    fields: Mapping[str, Json] = field(default_factory=dict[str, "Json"])


CALLING = "calling"
"""Message of the log line before each call; its fields are ``attempt`` and ``budget``."""
FALLBACK_NOTICE = "another model is asked"
"""Message of the log line after a model has failed; its field is ``reason``."""
MODE_REFUSED = "the server refuses an output mode, so another one is used"
"""Message of the log line about the output mode; its fields are ``refused`` and ``mode``."""
STREAM_REQUIRED = "the server answers only in a stream, so the answer is read as one"
"""Message of the log line about an answer that is streamed although nobody watches it."""
SCHEMA_IGNORED = "the server ignores the schema, so the prompt describes it"
"""Message of the log line about a server whose answers show that it does not use the schema."""
CHECK_FINDING = "a check found something in the accepted answer"
"""Message of the log line for a finding about the content; its fields are ``pointer``, ``rule`` and ``expected``."""
BUDGET_LOWERED = "the output budget was refused, so the one that the vendor names is used"
"""Message of the log line before a call with a smaller budget; its fields: ``refused``, ``budget`` and ``limits``."""
EFFORT_LOWERED = "the answer was cut at the largest output budget, so the model is asked to think less"
"""Message of the log line before a call with less effort; its fields are ``effort`` and ``budget``."""
JUDGE_FAILED = "the judge gave no usable answer, so its fallback decides"
"""Message of the log line for a judge that failed; its fields are ``model`` and ``code``."""
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
    """A recorded event: a RunEventDoc around a payload.

    Attributes:
        event: The payload.
        event_id: An opaque id.
        run_id: The run.
        node_id: The node.
        timestamp: ISO 8601 in UTC.
        sequence: A number from 0, within the emission, or within the run if a store keeps the run's log.
        causation_id: The envelope's correlation id.
        content_trust: The envelope's trust if the event reports an envelope, and ``untrusted`` throughout an
            emission over untrusted material.
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
            "payload": build_payload(self.event, self.node_id),
            "timestamp": self.timestamp,
            "sequence": self.sequence,
            "causationId": self.causation_id,
            **trust,
        }


def build_payload(event: Event, node_id: str) -> dict[str, Json]:
    """Return the payload of ``event`` in its wire form."""
    if isinstance(event, NodeFailed):
        return {"nodeId": node_id, **_build_failure(event, node_id)}
    # Envelopes are counted per turn, so this breach does not belong to a node.
    is_turn_limit = isinstance(event, CapBreached) and event.kind == "envelopes"
    payload: dict[str, Json] = {} if is_turn_limit else {"nodeId": node_id}
    for member in fields(event):
        value: Json = getattr(event, member.name)
        if value is not None:
            payload[_to_camel_case(member.name)] = _to_json(value)
    return payload


def _build_failure(event: NodeFailed, node_id: str) -> dict[str, Json]:
    error: dict[str, Json] = {"code": event.code, "message": event.message}
    if event.details:
        error["details"] = {"nodeId": node_id, **event.details}
    return {"error": error} if event.attempts is None else {"error": error, "attempts": event.attempts}


def _to_camel_case(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


def _to_json(value: Json) -> Json:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Json]", value))
    if isinstance(value, tuple):
        return [_to_json(item) for item in cast("tuple[Json, ...]", value)]
    return value.value if isinstance(value, Enum) else value
