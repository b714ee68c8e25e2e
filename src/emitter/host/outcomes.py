"""The outcomes of an envelope: accepted, gated, invalid or breached, as objects and as JSON.

An outcome quotes nothing of the envelope except its kind. ``load_outcome`` and ``load_envelope`` read a store entry.

Source: ai-envelope.md, "AIEnvelope wire shape" (``EnvelopeOutcome``) and "Validation outcomes".
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, TypeAlias, TypeVar

from pydantic import ValidationError

from emitter.errors import StoreFailed
from emitter.messages import as_list, as_mapping
from emitter.models.envelope import AIEnvelope
from emitter.schema import Violation
from emitter.stores.protocol import require_known

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.messages import Json
    from emitter.redaction import Secrets
    from emitter.stores.protocol import Entry


class OutcomeCode(str, Enum):
    """The reason why an envelope was not accepted, by OpenWOP's codes."""

    SHAPE = "invalid_envelope_shape"
    KIND = "unknown_envelope_kind"
    PAYLOAD = "envelope_invalid"
    SCHEMA_VERSION = "unknown_schema_version"
    CONTRACT = "envelope_contract_violation"
    CAP = "cap_breached"
    CONFLICT = "envelope_correlation_conflict"
    APPROVAL = "untrusted_content_blocks_approval"
    CAPABILITY = "capability_required"
    NOT_APPLICABLE = "not-applicable"
    PARTIAL_TIMEOUT = "envelope_partial_timeout"
    """This library's own: OpenWOP does not define the outcome if the last chunk never arrives (its gap E1)."""


class CapKind(str, Enum):
    """The limits that an envelope can breach."""

    ENVELOPES = "envelopes"
    SCHEMA = "schema"
    CLARIFICATION = "clarification"


LIMIT_NAMES = {
    CapKind.ENVELOPES: "envelopesPerTurn",
    CapKind.SCHEMA: "schemaRounds",
    CapKind.CLARIFICATION: "clarificationRounds",
}
"""The name that a host advertises for each limit."""


class RefusalMode(str, Enum):
    """The effect of a kind outside a node's contract."""

    FAIL_NODE = "fail-node"
    DISCARD_AND_WARN = "discard-and-warn"


@dataclass(frozen=True, slots=True)
class Accepted:
    """The envelope was recorded, with the events ``recorded_event_ids``."""

    status: ClassVar[str] = "accepted"
    envelope_id: str
    recorded_event_ids: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the wire form."""
        event_ids = list(self.recorded_event_ids)
        return {"status": self.status, "envelopeId": self.envelope_id, "recordedEventIds": event_ids}


@dataclass(frozen=True, slots=True)
class Gated:
    """The host or the node does not accept this kind; ``allowed_kinds`` are the ones it accepts."""

    status: ClassVar[str] = "gated"
    code: OutcomeCode
    reason: str
    refused_type: str
    allowed_kinds: tuple[str, ...]
    refusal_mode: RefusalMode = RefusalMode.FAIL_NODE

    def to_json(self) -> dict[str, Json]:
        """Return the wire form. The allowed kinds have two names, because readers know one or the other."""
        allowed = list(self.allowed_kinds)
        gate = {"refusedType": self.refused_type, "acceptedTypes": allowed, "refusalMode": self.refusal_mode.value}
        return {"status": self.status, "reason": self.reason, "gate": gate, "allowedKinds": allowed}


@dataclass(frozen=True, slots=True)
class InvalidEnvelope:
    """The envelope is invalid; ``violations`` name the places and rules, without quoting it."""

    status: ClassVar[str] = "invalid"
    code: OutcomeCode
    reason: str
    violations: tuple[Violation, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the wire form."""
        details = [
            {"instancePath": violation.pointer, "keyword": violation.rule, "message": violation.expected}
            for violation in self.violations
        ]
        return {"status": self.status, "reason": self.reason, "details": details}


@dataclass(frozen=True, slots=True)
class Breached:
    """The envelope exceeds a limit: it would have been number ``observed`` of ``limit``.

    ``recorded_reason`` is the reason that another host recorded.
    """

    status: ClassVar[str] = "breached"
    code: ClassVar[OutcomeCode] = OutcomeCode.CAP
    cap_kind: CapKind
    limit: int
    observed: int
    recorded_reason: str = ""

    @property
    def reason(self) -> str:
        """The limit and the count."""
        return (
            self.recorded_reason
            or f"{self.code.value}: {LIMIT_NAMES[self.cap_kind]}: {self.observed} where the limit is {self.limit}"
        )

    def to_json(self) -> dict[str, Json]:
        """Return the wire form."""
        breach = {"capKind": self.cap_kind.value, "limit": self.limit, "observed": self.observed}
        return {"status": self.status, "reason": self.reason, **breach}


EnvelopeOutcome: TypeAlias = Accepted | Gated | InvalidEnvelope | Breached
"""The outcome of an envelope."""


@dataclass(frozen=True, slots=True)
class HttpError:
    """An HTTP error body of a host (error-envelope.schema.json), unrelated to the kind ``error``."""

    error: str
    message: str
    details: Mapping[str, Json] = field(default_factory=dict[str, "Json"])

    def to_json(self) -> dict[str, Json]:
        """Return the wire form."""
        body: dict[str, Json] = {"error": self.error, "message": self.message}
        return {**body, "details": dict(self.details)} if self.details else body


E = TypeVar("E", bound=Enum)


def load_outcome(entry: Entry) -> EnvelopeOutcome:
    """Return the outcome of a store entry."""
    record = entry.outcome
    status, reason = record.get("status"), str(record.get("reason", ""))
    if status == Accepted.status:
        event_ids = tuple(map(str, as_list(record.get("recordedEventIds"))))
        return Accepted(str(record.get("envelopeId", "")), event_ids)
    if status == Gated.status:
        gate = as_mapping(record.get("gate"))
        allowed = tuple(map(str, as_list(record.get("allowedKinds"))))
        mode = _parse_member(RefusalMode, gate.get("refusalMode"), RefusalMode.FAIL_NODE)
        return Gated(_parse_code(reason, OutcomeCode.CONTRACT), reason, entry.type, allowed, mode)
    if status == Breached.status:
        kind = _parse_member(CapKind, record.get("capKind"), CapKind.ENVELOPES)
        return Breached(kind, record.get("limit", 0), record.get("observed", 0), reason)
    violations = tuple(map(_parse_violation, as_list(record.get("details"))))
    return InvalidEnvelope(_parse_code(reason, OutcomeCode.PAYLOAD), reason, violations)


def load_envelope(entry: Entry, secrets: Secrets) -> AIEnvelope | None:
    """Return the envelope of a store entry, redacted again, or raise ``StoreFailed``."""
    require_known(entry, "An accepted envelope")
    if not entry.envelope:
        return None
    try:
        return AIEnvelope.model_validate(secrets.redact_json(dict(entry.envelope)).value)
    except ValidationError:
        raise StoreFailed(
            "The store has an entry whose envelope is not valid.",
            hint="Another program or release may have written it; look at the run's log.",
        ) from None


def redact_outcome(outcome: EnvelopeOutcome, secrets: Secrets) -> EnvelopeOutcome:
    """Return an outcome without secrets."""
    if not secrets or isinstance(outcome, Accepted | Breached):
        return outcome
    clean = replace(outcome, reason=secrets.redact_text(outcome.reason).value)
    if isinstance(clean, Gated):
        return replace(clean, refused_type=secrets.redact_text(clean.refused_type).value)
    return clean


def _parse_code(reason: str, default: OutcomeCode) -> OutcomeCode:
    """Return the code at the start of a reason; another host may have recorded none."""
    return _parse_member(OutcomeCode, reason.partition(":")[0], default)


def _parse_member(choices: type[E], value: object, default: E) -> E:
    return next((choice for choice in choices if choice.value == value), default)


def _parse_violation(detail: Json) -> Violation:
    members: Mapping[str, Json] = as_mapping(detail)
    return Violation(*(str(members.get(name, "")) for name in ("instancePath", "keyword", "message")))
