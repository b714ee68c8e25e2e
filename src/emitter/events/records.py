"""The records of events: each is one payload of ``run-event-payloads.schema.json``."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    """A limit was reached.

    ``limit`` is the effective ceiling: for ``schema`` the retries that an emission may make, the lesser of the policy's
    and the host's; ``observed`` is what the next step would have made it.
    """

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

REMARK = "the content discipline has a remark"
"""The message of the line that tells of each; its fields are ``pointer``, ``rule`` and ``expected``."""

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
