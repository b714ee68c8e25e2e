"""The records of an authority chain: confirm, revoke, expire, stop, resume, intent and receipt.

Each record is a closed, frozen pydantic model. Absent members are left out of the JSON, never written as null.
Amounts of money are exact and in the currency's main unit.

Source: delegation-invariants (CONFIRM, STOP / TAKEOVER, RECEIPT). `REVOKE`, `EXPIRE`, `RESUME`, `INTENT`, `call`,
`granted_by`, `delegate_to`, `intent_ref` and `retained` are emitter's own.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from decimal import Context, Decimal
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    WithJsonSchema,
    model_validator,
)

from emitter.authority.proposals.document import S256_PATTERN
from emitter.decisions.canonical_json import (
    DIGEST_PATTERN,
    LONE_SURROGATE,
    MAX_INTEGER,
    CanonicalProfile,
    digest_of,
)
from emitter.decisions.resolution import signed_approval, signed_selection, signing_digest
from emitter.events import format_timestamp
from emitter.models.envelope import REJECT_NULL, ClosedModel
from emitter.outside_values import parse_date

if TYPE_CHECKING:
    from typing import Self

    from emitter.messages import Json

MAX_NAME_LENGTH: Final = 512
"""Maximum characters of an id, a target, an action or a capability."""
MAX_TTL_SECONDS: Final = 100 * 365 * 24 * 60 * 60
"""One hundred years in seconds, so that every end date can be displayed."""
_DATE_PATTERN: Final = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIMESTAMP_PATTERN: Final = rf"^{_DATE_PATTERN}T[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(\.[0-9]{{1,6}})?Z$"


class AuthorityRecord(ClosedModel):
    """A closed, frozen, strict model that leaves absent members out of its JSON."""

    @classmethod
    def from_members(cls, **members: object) -> Self:
        """Build the record from the members that are not None, or raise pydantic's ``ValidationError``."""
        return cls.model_validate({name: value for name, value in members.items() if value is not None})

    def to_json(self) -> dict[str, Json]:
        """Return the record as JSON, without absent members."""
        return self.model_dump(mode="json")

    # Not a model_serializer: pydantic would turn a KeyboardInterrupt raised inside one into its own error.
    def model_dump(self, **options: Any) -> dict[str, Any]:
        """Return the members, without absent ones, so that the result validates again."""
        dump_options: dict[str, Any] = {"exclude_none": True, **options}
        return super().model_dump(**dump_options)

    def model_dump_json(self, **options: Any) -> str:
        """Return the members as JSON text, without absent ones, so that the result validates again."""
        dump_options: dict[str, Any] = {"exclude_none": True, **options}
        return super().model_dump_json(**dump_options)


def _check_unicode(text: str) -> str:
    if LONE_SURROGATE.search(text):
        raise ValueError("the text contains a lone surrogate")
    return text


def _check_timestamp(text: str) -> str:
    if parse_date(text) is None:
        raise ValueError("not a valid time: write ISO 8601 in UTC, such as 2026-01-31T12:00:00.000Z")
    return text


RecordName: TypeAlias = Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH), AfterValidator(_check_unicode)]
RecordText: TypeAlias = Annotated[str, Field(max_length=10_000), AfterValidator(_check_unicode)]
RecordNames: TypeAlias = Annotated[tuple[RecordName, ...], Field(strict=False)]
Timestamp: TypeAlias = Annotated[str, Field(pattern=_TIMESTAMP_PATTERN), AfterValidator(_check_timestamp)]
Digest: TypeAlias = Annotated[str, Field(pattern=DIGEST_PATTERN)]
Amount: TypeAlias = int | Decimal
"""The currency's main unit for money (dollars, not cents), a count for any other limit."""
BUDGET_PATTERN: Final = r"budget_[a-z]{3}"
"""The name of a money limit: ``budget_`` and an ISO 4217 code."""
_LIMIT_PATTERN: Final = r"[a-z][a-z0-9_]{0,63}"
_FRACTION_PATTERN: Final = r"(0|[1-9][0-9]{0,14})\.[0-9]{0,5}[1-9]"
_MAX_DECIMAL_PLACES: Final = 6
_MAX_DIGITS: Final = 15
_COUNT_SCHEMA: Final[dict[str, Json]] = {"type": "integer", "minimum": 0, "maximum": MAX_INTEGER}
_AMOUNTS_SCHEMA: Final[dict[str, Json]] = {
    "type": "object",
    "patternProperties": {
        f"^{BUDGET_PATTERN}$": {"anyOf": [_COUNT_SCHEMA, {"type": "string", "pattern": f"^{_FRACTION_PATTERN}$"}]},
        f"^(?!{BUDGET_PATTERN}$){_LIMIT_PATTERN}$": _COUNT_SCHEMA,
    },
    "additionalProperties": False,
}


def normalize_amount(amount: Amount) -> Amount:
    """Return a whole amount as an int and any other as a Decimal without trailing zeros."""
    return int(amount) if amount == int(amount) else Decimal(amount).normalize(_DECIMAL_CONTEXT)


_DECIMAL_CONTEXT: Final = Context(prec=64)


def add_amounts(one: Amount, other: Amount) -> Amount:
    """Add two amounts exactly."""
    return normalize_amount(_DECIMAL_CONTEXT.add(Decimal(one), Decimal(other)))


def _parse_amount(value: object) -> object:
    match value:
        case float():
            raise ValueError("a float is not exact: use an integer or a Decimal")
        case Decimal():
            return _check_decimal(value)
        case str():
            if re.fullmatch(_FRACTION_PATTERN, value) is None:
                raise ValueError(
                    f"an amount must be an integer or, for money, a Decimal; as text it must be a fraction like '7.5', "
                    f"not {value!r}"
                )
            return Decimal(value)
        case _:
            return value


def _check_decimal(amount: Decimal) -> Amount:
    if not amount.is_finite() or amount.adjusted() >= _MAX_DIGITS:
        raise ValueError(f"an amount must be finite and have at most {_MAX_DIGITS} digits before the decimal point")
    if amount != amount.quantize(Decimal(1).scaleb(-_MAX_DECIMAL_PLACES), context=_DECIMAL_CONTEXT):
        raise ValueError(f"an amount has at most {_MAX_DECIMAL_PLACES} decimal places")
    return normalize_amount(amount)


def _check_counts(amounts: dict[str, Amount]) -> dict[str, Amount]:
    """Reject fractions of limits that are not money."""
    for name, amount in amounts.items():
        if isinstance(amount, Decimal) and re.fullmatch(BUDGET_PATTERN, name) is None:
            raise ValueError(f"{name} must be a whole number")
    return amounts


Amounts: TypeAlias = Annotated[
    dict[
        Annotated[str, Field(pattern=f"^{_LIMIT_PATTERN}$")],
        Annotated[
            Annotated[int, Field(ge=0, le=MAX_INTEGER)] | Annotated[Decimal, Field(ge=0)],
            BeforeValidator(_parse_amount),
        ],
    ],
    AfterValidator(_check_counts),
    WithJsonSchema(_AMOUNTS_SCHEMA),
]
"""An amount for each limit: an integer, or a ``Decimal`` of money, which is serialized as text such as ``"7.5"``."""


class RiskLevel(str, Enum):
    """The risk of an action, as shown to the principal."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    def covers(self, other: RiskLevel) -> bool:
        """Return True if an approval at this level covers an action at the other level."""
        return _RISK_ORDER.index(self) >= _RISK_ORDER.index(other)


_RISK_ORDER: Final = tuple(RiskLevel)
RiskLevelField: TypeAlias = Annotated[RiskLevel, Field(strict=False)]


def parse_timestamp(timestamp: str) -> float:
    """Return a valid timestamp as seconds since 1970."""
    return datetime.fromisoformat(timestamp).timestamp()


class Scope(AuthorityRecord):
    """The workflow that is authorized, optionally limited to some steps, targets and capabilities.

    An absent member imposes no limit. An empty one allows nothing.
    """

    workflow_id: RecordName
    step_ids: Annotated[RecordNames | None, REJECT_NULL] = None
    targets: Annotated[RecordNames | None, REJECT_NULL] = None
    capabilities: Annotated[RecordNames | None, REJECT_NULL] = None


class BoundCall(AuthorityRecord):
    """The single call that is authorized: its proposal's hash (``r3_s256``) and its call id (emitter's own).

    ``function`` is the module and qualified name of the called function; guarded calls always have it. ``classes`` is a
    digest of the argument classes that the proposal's JSON cannot express. Both are emitter's own.
    """

    r3_s256: Annotated[str, Field(pattern=S256_PATTERN)]
    call_id: RecordName
    function: Annotated[RecordName | None, REJECT_NULL] = None
    classes: Annotated[Digest | None, REJECT_NULL] = None


class _GrantTerms(AuthorityRecord):
    """The terms of a confirm. ``limits`` are amounts: ``budget_usd`` is in dollars, 800 or ``Decimal("7.50")``."""

    scope: Scope
    limits: Amounts
    ttl_seconds: Annotated[int, Field(ge=1, le=MAX_TTL_SECONDS)]
    revocable: bool
    risk_level: RiskLevelField
    call: Annotated[BoundCall | None, REJECT_NULL] = None


class ConfirmRequest(_GrantTerms):
    """The authority being requested. Only an option whose action is this request's ``digest`` grants it."""

    revocable: bool = True

    @property
    def digest(self) -> str:
        """``sha256:`` and 64 hexadecimal digits, computed over the RFC 8785 form of the terms."""
        return _digest_terms(self.model_dump_json())


@lru_cache(maxsize=256)
def _digest_terms(document: str) -> str:
    """Return the digest of a request. Its JSON is written in C, so that equal terms are canonicalized once."""
    return digest_of({"type": "CONFIRM_REQUEST", **json.loads(document)}, CanonicalProfile.WIRE)


class FirstApproval(AuthorityRecord):
    """The first of two approvals of a choice (emitter's own). ``signature`` is over ``Confirm.approval_statement``."""

    principal: RecordName
    timestamp: Timestamp
    channel: Annotated[str, Field(max_length=512)] = ""
    signature: Annotated[str | None, REJECT_NULL] = None


class Granted(AuthorityRecord):
    """The choice that granted a confirm (emitter's own): the decision, its envelope, and the index of the option.

    ``decision`` is the reference used in events (``PendingDecision.reference``), and ``request`` the digest the option
    carried. ``signature`` is the principal's detached JWS over ``Confirm.answer_statement``, which includes the
    ``principal`` and the ``first_approval`` if there are any.
    """

    decision: RecordName
    envelope: Digest
    option: Annotated[int, Field(ge=0)]
    request: Digest
    channel: Annotated[str, Field(max_length=512)] = ""
    signature: Annotated[str | None, REJECT_NULL] = None
    principal: Annotated[RecordName | None, REJECT_NULL] = None
    first_approval: Annotated[FirstApproval | None, REJECT_NULL] = None


class Confirm(_GrantTerms):
    """Authority granted by a principal at ``timestamp`` for ``ttl_seconds``."""

    type: Literal["CONFIRM"] = "CONFIRM"
    confirm_id: RecordName
    timestamp: Timestamp
    granted_by: Granted

    @property
    def answer_statement(self) -> str:
        """The digest of the answer that granted this confirm. The principal signs it."""
        by = self.granted_by
        answer = signed_selection(by.option, by.request, by.principal or "", self.approval_statement)
        return signing_digest(by.decision, by.envelope, answer, self.timestamp, by.channel)

    @property
    def approval_statement(self) -> str | None:
        """The digest of the first of two approvals, which its principal signs, or None."""
        by, first = self.granted_by, self.granted_by.first_approval
        if first is None:
            return None
        approval = signed_approval(by.option, by.request, first.principal)
        return signing_digest(by.decision, by.envelope, approval, first.timestamp, first.channel)


class Revoke(AuthorityRecord):
    """The withdrawal of a confirm (emitter's own). It authorizes nothing that begins after this record."""

    type: Literal["REVOKE"] = "REVOKE"
    revoke_id: RecordName
    timestamp: Timestamp
    workflow_id: RecordName
    confirm_id: RecordName
    reason: Annotated[RecordText | None, REJECT_NULL] = None


class Expire(AuthorityRecord):
    """The discovery that an approval is too old (emitter's own). It stays expired even if a clock is set back.

    Without a preceding CONFIRM, the approval expired before it could be confirmed and never can be.
    """

    type: Literal["EXPIRE"] = "EXPIRE"
    timestamp: Timestamp
    workflow_id: RecordName
    confirm_id: RecordName

    @classmethod
    def at(cls, seconds: float, workflow_id: str, confirm_id: str) -> Expire:
        """Return the record of an expiry that was found at a time in seconds since 1970."""
        return cls(timestamp=format_timestamp(seconds), workflow_id=workflow_id, confirm_id=confirm_id)


class StopScope(str, Enum):
    """The extent of a stop."""

    STEP = "step"
    CHAIN = "chain"


class TakeoverMode(str, Enum):
    """The side that has control after a stop. Without a mode the stop is final.

    A pause and a human takeover can be resumed. After a delegation only the other agent may act.
    """

    HUMAN = "human"
    PAUSE = "pause"
    DELEGATE = "delegate_to_other_agent"


class Stop(AuthorityRecord):
    """Prevents anything in the workflow, or in the step, from starting after this record."""

    type: Literal["STOP"] = "STOP"
    request_id: RecordName
    timestamp: Timestamp
    workflow_id: RecordName
    stop_scope: Annotated[StopScope, Field(strict=False)]
    step_id: Annotated[RecordName | None, REJECT_NULL] = None
    takeover_mode: Annotated[TakeoverMode | None, Field(strict=False), REJECT_NULL] = None
    delegate_to: Annotated[RecordName | None, REJECT_NULL] = None
    reason: Annotated[RecordText | None, REJECT_NULL] = None

    @model_validator(mode="after")
    def _check_scope(self) -> Self:
        if (self.step_id is not None) != (self.stop_scope is StopScope.STEP):
            raise ValueError("step_id is required with stop_scope step, and not allowed otherwise")
        if (self.delegate_to is not None) != (self.takeover_mode is TakeoverMode.DELEGATE):
            raise ValueError(
                "delegate_to is required with takeover_mode delegate_to_other_agent and not allowed otherwise"
            )
        return self


class Resume(AuthorityRecord):
    """Lifts a stop (emitter's own). New confirms can be granted; earlier ones remain invalid."""

    type: Literal["RESUME"] = "RESUME"
    resume_id: RecordName
    timestamp: Timestamp
    workflow_id: RecordName
    request_id: RecordName
    """The id of the lifted stop."""


class Result(str, Enum):
    """The outcome of an action."""

    SUCCESS = "success"
    FAILURE = "failure"
    PARTIAL = "partial"


class _ActionFields(AuthorityRecord):
    """The fields shared by requests, intents and receipts."""

    workflow_id: RecordName
    step_id: Annotated[RecordName | None, REJECT_NULL] = None
    action: RecordName
    target: RecordName


class ActionRequest(_ActionFields):
    """An action that is about to begin.

    ``capability`` is the kind of tool or verb; it defaults to ``action``. ``spends`` is the amount used of each limit,
    with money in the currency's main unit. One side effect is counted automatically unless ``is_pure``. ``intent_id``
    identifies the action: repeating it refers to the same action, which begins only once.
    """

    intent_id: RecordName
    capability: Annotated[RecordName | None, REJECT_NULL] = None
    spends: Amounts = Field(default_factory=dict[str, Amount])
    risk_level: RiskLevelField = RiskLevel.LOW
    is_pure: bool = False
    call: Annotated[BoundCall | None, REJECT_NULL] = None


class Intent(_ActionFields):
    """An authorized action that is about to begin. It may have happened if no receipt follows.

    It contains everything its authorization depended on, so that readers of the chain can check it again.
    """

    type: Literal["INTENT"] = "INTENT"
    intent_id: RecordName
    timestamp: Timestamp
    actor: RecordName
    authorization_ref: RecordName
    capability: Annotated[RecordName | None, REJECT_NULL] = None
    spends: Amounts
    risk_level: RiskLevelField
    call: Annotated[BoundCall | None, REJECT_NULL] = None


class Receipt(_ActionFields):
    """The outcome of an action.

    ``intent_ref`` and ``retained``, the digest of the stored result, are emitter's own.
    """

    type: Literal["RECEIPT"] = "RECEIPT"
    receipt_id: RecordName
    timestamp: Timestamp
    actor: RecordName
    authorization_ref: RecordName
    intent_ref: RecordName
    result: Annotated[Result, Field(strict=False)]
    side_effects: Annotated[dict[str, Any] | None, REJECT_NULL] = None
    evidence_refs: Annotated[RecordNames | None, REJECT_NULL] = None
    error: Annotated[RecordText | None, REJECT_NULL] = None
    retained: Annotated[Digest | None, REJECT_NULL] = None

    @model_validator(mode="after")
    def _check_error(self) -> Self:
        if self.error is not None and self.result is Result.SUCCESS:
            raise ValueError("error is only allowed with the results failure and partial")
        return self


ChainRecord: TypeAlias = Annotated[
    Confirm | Revoke | Expire | Stop | Resume | Intent | Receipt, Field(discriminator="type")
]
"""Any record of a chain."""
RECORD_ADAPTER: Final[TypeAdapter[ChainRecord]] = TypeAdapter(ChainRecord, config=ConfigDict(defer_build=True))


class Line(AuthorityRecord):
    """One record at its position in a chain.

    ``version`` is that of the line's form. Lines of the time before versions have the first one, and no such member.
    ``seq`` counts from 0 within a workflow, ``at`` never decreases, and ``hash`` covers every member except itself and
    ``signature``. ``prev`` is the previous line's hash; on the first line it is derived from the workflow id.
    ``signature`` is a detached JWS over ``hash``.
    """

    version: Annotated[int, Field(ge=1)] = 1
    seq: Annotated[int, Field(ge=0)]
    at: Timestamp
    prev: Digest
    record: ChainRecord
    hash: Digest
    signature: Annotated[str | None, REJECT_NULL] = None


LINE_VERSION: Final = 1
"""The version of the lines that this release writes, and the latest one that it knows."""


@dataclass(frozen=True, slots=True)
class UnknownRecord:
    """A record of a newer release, of which this one only knows that it has its place in a chain.

    ``workflow_id`` is None if the record does not name it where records of this release do.
    """

    type: str
    workflow_id: str | None
