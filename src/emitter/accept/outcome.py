"""What becomes of an envelope: OpenWOP's four outcomes, and the one error document of HTTP.

Source: ai-envelope.md, "AIEnvelope wire shape" (``EnvelopeOutcome``) and "Validation outcomes". No outcome
quotes what the envelope holds, but for its kind.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.schema import Violation
    from emitter.wire import Json


class Code(str, Enum):
    """Why an envelope was not accepted, as OpenWOP names it."""

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
    """Ours: OpenWOP leaves open what becomes of chunks whose last never comes (its gap E1)."""


class CapKind(str, Enum):
    """The limits that an envelope can breach."""

    ENVELOPES = "envelopes"
    SCHEMA = "schema"
    CLARIFICATION = "clarification"


LIMITS = {
    CapKind.ENVELOPES: "envelopesPerTurn",
    CapKind.SCHEMA: "schemaRounds",
    CapKind.CLARIFICATION: "clarificationRounds",
}
"""What a host advertises each of them as."""


class RefusalMode(str, Enum):
    """What a kind outside a node's contract leads to."""

    FAIL_NODE = "fail-node"
    DISCARD_AND_WARN = "discard-and-warn"


@dataclass(frozen=True, slots=True)
class Accepted:
    """It was recorded: ``recorded_event_ids`` are the events that tell of it, ``envelope_id`` is the recorded one's."""

    status: ClassVar[str] = "accepted"
    envelope_id: str
    recorded_event_ids: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the wire form."""
        recorded = list(self.recorded_event_ids)
        return {"status": self.status, "envelopeId": self.envelope_id, "recordedEventIds": recorded}


@dataclass(frozen=True, slots=True)
class Gated:
    """It is of a kind that the host or the node does not take; ``allowed_kinds`` are those that it would have."""

    status: ClassVar[str] = "gated"
    code: Code
    reason: str
    refused_type: str
    allowed_kinds: tuple[str, ...]
    refusal_mode: RefusalMode = RefusalMode.FAIL_NODE

    def to_json(self) -> dict[str, Json]:
        """Return the wire form, with both names that readers know for what would have been taken."""
        allowed = list(self.allowed_kinds)
        gate = {"refusedType": self.refused_type, "acceptedTypes": allowed, "refusalMode": self.refusal_mode.value}
        return {"status": self.status, "reason": self.reason, "gate": gate, "allowedKinds": allowed}


@dataclass(frozen=True, slots=True)
class Invalid:
    """It does not hold; ``violations`` say where, without a word of it."""

    status: ClassVar[str] = "invalid"
    code: Code
    reason: str
    violations: tuple[Violation, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the wire form."""
        return {"status": self.status, "reason": self.reason, "details": [_detail(each) for each in self.violations]}


@dataclass(frozen=True, slots=True)
class Breached:
    """It is one too many: it would have been the ``observed``th where ``limit`` are allowed.

    ``told`` is what another host said of it, where one recorded it.
    """

    status: ClassVar[str] = "breached"
    code: ClassVar[Code] = Code.CAP
    cap_kind: CapKind
    limit: int
    observed: int
    told: str = ""

    @property
    def reason(self) -> str:
        """Which limit, and how far."""
        return (
            self.told or f"{self.code.value}: {LIMITS[self.cap_kind]}: {self.observed} where the limit is {self.limit}"
        )

    def to_json(self) -> dict[str, Json]:
        """Return the wire form."""
        where = {"capKind": self.cap_kind.value, "limit": self.limit, "observed": self.observed}
        return {"status": self.status, "reason": self.reason, **where}


Outcome: TypeAlias = Accepted | Gated | Invalid | Breached


@dataclass(frozen=True, slots=True)
class HttpError:
    """A host's error as an HTTP body (error-envelope.schema.json); never what the kind ``error`` is."""

    error: str
    message: str
    details: Mapping[str, Json] = field(default_factory=dict[str, "Json"])

    def to_json(self) -> dict[str, Json]:
        """Return the wire form."""
        body: dict[str, Json] = {"error": self.error, "message": self.message}
        return {**body, "details": dict(self.details)} if self.details else body


def _detail(violation: Violation) -> dict[str, Json]:
    return {"instancePath": violation.pointer, "keyword": violation.rule, "message": violation.expected}
