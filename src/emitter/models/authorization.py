"""The payload models of the authorization envelope (RFC-0010).

``AuthorizationEnvelope`` is a union of six kinds: measurement, classification, action, narrative, refusal and dispute
summary. ``WorkflowDeclaration`` says whether a workflow may emit authority, and ``NarrativePolicy`` restricts the
wording of text without authority.

Source: RFC-0010, "Authorization Envelope", "Supporting Types", "Client Requirement" and "Workflow-Level Authoritative
Intent". The members of ``OracleVerificationRecord`` are emitter's own, because the RFC does not list them.
"""

from __future__ import annotations

import json
import re
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, NoReturn, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    model_serializer,
    model_validator,
)

from emitter.models.binding_moment import Text
from emitter.models.envelope import REJECT_NULL, ClosedModel
from emitter.outside_values import parse_date

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from pydantic.config import JsonDict

    from emitter.messages import Json

_MAX_EXACT_INTEGER: Final = 2**53 - 1
"""The largest integer n such that a double represents n and n + 1 exactly."""
_RFC3339_PATTERN: Final = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)"
    r"(\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
)


def _check_exact_integer(value: Json) -> Json:
    """Reject an integer that other JSON readers would round."""
    if isinstance(value, int) and abs(value) > _MAX_EXACT_INTEGER:
        raise ValueError("an integer must be at most 2^53 - 1")
    return value


def _copy_json(value: Json) -> Json:
    """Return a copy, or raise ``ValueError`` if the value is not JSON."""
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode()
        copied: Json = json.loads(text, parse_int=lambda digits: _check_exact_integer(int(digits)))
    except (TypeError, ValueError, RecursionError):
        raise ValueError("this must be a JSON value, and an integer in it at most 2^53 - 1") from None
    if copied != value:  # a tuple, or a key that is not a string
        raise ValueError("this must be a JSON value")
    return copied


def _check_date(timestamp: str) -> str:
    if parse_date(re.sub(r":60$", ":59", timestamp[:19].upper())) is None:
        raise ValueError("not a valid time: write RFC 3339, such as 2026-01-31T12:00:00Z")
    return timestamp


NonEmptyText: TypeAlias = Annotated[Text, Field(min_length=1)]
Timestamp: TypeAlias = Annotated[str, Field(pattern=_RFC3339_PATTERN), AfterValidator(_check_date)]
Number: TypeAlias = Annotated[
    int | Annotated[float, Field(allow_inf_nan=False)],
    BeforeValidator(_check_exact_integer),
    WithJsonSchema({"type": "number"}),
]
JsonValue: TypeAlias = Annotated[Any, BeforeValidator(_copy_json)]
JsonObject: TypeAlias = Annotated[dict[str, Any], BeforeValidator(_copy_json)]


class AuthorizationModel(ClosedModel):
    """A closed, frozen object that serializes without absent members, never as null."""

    @model_serializer(mode="wrap")
    def _serialize_present(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = type(self).model_fields
        values: dict[str, Any] = serialize(self)
        return {name: value for name, value in values.items() if value is not None or fields[name].is_required()}


class Tier(str, Enum):
    """The trustworthiness of an oracle."""

    PRIMARY = "primary"
    SECONDARY = "secondary"
    CROSS_DOMAIN = "cross_domain"
    UNVERIFIED = "unverified"


class GrammarMode(str, Enum):
    """The wording of a narrative: attributed to a source, hedged, or educational."""

    ATTRIBUTIVE = "attributive"
    HEDGED = "hedged"
    EDUCATIONAL = "educational"


class Specificity(str, Enum):
    """The permitted precision of a narrative."""

    GENERAL = "general"
    CONTEXTUALIZED = "contextualized"


class RefusalCode(str, Enum):
    """The reason for a refusal, as far as a client may know it."""

    BLOCKED = "BLOCKED"
    UNRESOLVABLE = "UNRESOLVABLE"
    POLICY_VIOLATION = "POLICY_VIOLATION"
    EMERGENCY_ESCALATION = "EMERGENCY_ESCALATION"


_TierField: TypeAlias = Annotated[Tier, Field(strict=False)]


class OracleVerificationRecord(AuthorizationModel):
    """The record of a question to an oracle (emitter's own; ``OracleConflict`` has the first three members).

    ``value_hash`` is the digest of the oracle's value (``emitter.decisions.digest_of``), ``method`` the way in which it
    was asked, and ``source_version`` the edition that answered.
    """

    oracle_id: NonEmptyText
    tier: _TierField
    verified_at: Timestamp
    value_hash: Annotated[NonEmptyText | None, REJECT_NULL] = None
    method: Annotated[NonEmptyText | None, REJECT_NULL] = None
    source_version: Annotated[NonEmptyText | None, REJECT_NULL] = None


class Provenance(AuthorizationModel):
    """The basis of a claim: at least one oracle, the envelopes it derives from, its time and its id."""

    grants_authority: ClassVar[bool] = True
    """A type for whose values no model may be asked."""
    oracle_records: Annotated[tuple[OracleVerificationRecord, ...], Field(strict=False, min_length=1)]
    derived_from: Annotated[tuple[NonEmptyText, ...] | None, Field(strict=False), REJECT_NULL] = None
    generated_at: Timestamp
    envelope_id: NonEmptyText


class NarrativePolicy(AuthorizationModel):
    """The permitted wording of a narrative; ``scrub_measurements`` removes numbers with units."""

    grammar_mode: Annotated[GrammarMode, Field(strict=False)]
    forbidden_markers: Annotated[tuple[NonEmptyText, ...], Field(strict=False)]
    max_specificity: Annotated[Specificity, Field(strict=False)]
    scrub_measurements: bool


class RefusalReason(AuthorizationModel):
    """The reason for a refusal: a message that may be shown, and an id to look up the details."""

    code: Annotated[RefusalCode, Field(strict=False)]
    user_message: NonEmptyText
    recovery_hint: Annotated[NonEmptyText | None, REJECT_NULL] = None
    audit_id: NonEmptyText


class OracleValue(AuthorizationModel):
    """One oracle's value, which may be any JSON."""

    oracle_id: NonEmptyText
    tier: _TierField
    value: JsonValue
    verified_at: Timestamp


class OracleConflict(AuthorizationModel):
    """Oracles that disagree on one axis."""

    axis: NonEmptyText
    oracles: Annotated[tuple[OracleValue, ...], Field(strict=False, min_length=2)]
    resolution_attempted: bool
    escalation_required: bool


class AuthoritativeIntent(str, Enum):
    """The permission of a workflow to emit authority."""

    AUTHORITATIVE = "authoritative"
    NON_AUTHORITATIVE = "non_authoritative"


class EnforcementMode(str, Enum):
    """The time of asking oracles: before an envelope is returned, afterwards, or never (nothing has authority)."""

    INLINE = "INLINE"
    ASYNC = "ASYNC"
    NON_AUTHORITATIVE_ONLY = "NON_AUTHORITATIVE_ONLY"


_CONTRADICTORY_MODES: Final[JsonDict] = {
    "properties": {
        "authoritative_intent": {"const": AuthoritativeIntent.AUTHORITATIVE.value},
        "enforcement_mode": {"const": EnforcementMode.NON_AUTHORITATIVE_ONLY.value},
    }
}


class WorkflowDeclaration(AuthorizationModel):
    """The permission of a workflow to emit authority, and its enforcement. Other workflow configuration is ignored."""

    model_config = ConfigDict(extra="ignore", json_schema_extra={"not": _CONTRADICTORY_MODES})

    workflow_id: NonEmptyText
    authoritative_intent: Annotated[AuthoritativeIntent, Field(strict=False)]
    enforcement_mode: Annotated[EnforcementMode, Field(strict=False)]

    @model_validator(mode="after")
    def _reject_contradiction(self) -> Self:
        is_never_authoritative = self.enforcement_mode is EnforcementMode.NON_AUTHORITATIVE_ONLY
        if is_never_authoritative and self.authoritative_intent is AuthoritativeIntent.AUTHORITATIVE:
            raise ValueError("a workflow that is NON_AUTHORITATIVE_ONLY cannot be authoritative")
        return self

    @property
    def authoritative(self) -> bool:
        """True if the workflow may emit measurements, classifications and actions."""
        return self.authoritative_intent is AuthoritativeIntent.AUTHORITATIVE


_NO_TEXT_MESSAGE: Final = "An authorization envelope has no text form. Handle each kind with handle_envelope(...)."


class _EnvelopeVariant(AuthorizationModel):
    """One kind of envelope. ``str``, f-strings and ``%s`` raise, so that a client cannot show it as text by accident.

    Its ``repr`` shows the kind and ids only.
    """

    grants_authority: ClassVar[bool] = True

    def __str__(self) -> NoReturn:
        raise TypeError(_NO_TEXT_MESSAGE)

    def __format__(self, spec: str) -> NoReturn:
        raise TypeError(_NO_TEXT_MESSAGE)

    def __iter__(self) -> NoReturn:
        raise TypeError(_NO_TEXT_MESSAGE)

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        """Yield the members that ``repr`` and pretty printers show."""
        members = vars(self)
        yield "kind", members.get("kind")
        if isinstance(provenance := members.get("provenance"), Provenance):
            yield "envelope_id", provenance.envelope_id
        if isinstance(reason := members.get("reason"), RefusalReason):
            yield "audit_id", reason.audit_id


class Measurement(_EnvelopeVariant):
    """A finite number that oracles support; an integer of at most 2^53 - 1."""

    kind: Literal["measurement"] = "measurement"
    value: Number
    provenance: Provenance


class Classification(_EnvelopeVariant):
    """A label that oracles support."""

    kind: Literal["classification"] = "classification"
    label: NonEmptyText
    provenance: Provenance


class Action(_EnvelopeVariant):
    """An action that oracles support. ``params`` come from the model and are not verified."""

    kind: Literal["action"] = "action"
    action: NonEmptyText
    params: Annotated[JsonObject | None, REJECT_NULL] = None
    provenance: Provenance


class Narrative(_EnvelopeVariant):
    """Text without authority, with the policy it satisfies."""

    kind: Literal["narrative"] = "narrative"
    text: NonEmptyText
    policy: NarrativePolicy


class Refusal(_EnvelopeVariant):
    """A refusal, with its reason."""

    kind: Literal["refusal"] = "refusal"
    reason: RefusalReason


class DisputeSummary(_EnvelopeVariant):
    """A disagreement between oracles, without a judgement on who is right."""

    kind: Literal["dispute_summary"] = "dispute_summary"
    sources: Annotated[tuple[OracleConflict, ...], Field(strict=False, min_length=1)]


AuthorizationEnvelope: TypeAlias = Measurement | Classification | Action | Narrative | Refusal | DisputeSummary
"""Any kind of envelope. A client must handle each."""
