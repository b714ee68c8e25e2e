"""Records that others wrote, in the form of the delegation invariants: read for an audit, and never authority here.

Source: delegation-invariants, the minimal required and the optional fields of CONFIRM, STOP and RECEIPT. A foreign
record has no choice that granted it, no intent and no place in a chain, so nothing is authorized by one.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from emitter.decide.canonical import Profile, conform
from emitter.decide.strict import parse
from emitter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.wire import Json


def _moment(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("this is not a time in ISO 8601") from None
    return text


def _exact(given: object) -> object:
    """Return a number that JSON has as a float as the decimal that was written."""
    return Decimal(repr(given)) if isinstance(given, float) else given


Time: TypeAlias = Annotated[str, AfterValidator(_moment)]
Names: TypeAlias = Annotated[tuple[str, ...], Field(strict=False)]


class Foreign(BaseModel):
    """A record of somebody else's: nobody here verified it. Members that are not named here are in ``model_extra``."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    verified: ClassVar[Literal[False]] = False


class ForeignScope(Foreign):
    """What is authorized, according to a foreign CONFIRM."""

    workflow_id: str
    step_ids: Names | None = None
    targets: Names | None = None
    capabilities: Names | None = None


class ForeignConfirm(Foreign):
    """A CONFIRM that somebody else wrote. ``limits`` are as they stand there; a fraction is a ``Decimal``."""

    type: Literal["CONFIRM"]
    confirm_id: str
    timestamp: Time
    scope: ForeignScope
    limits: dict[str, Annotated[Any, BeforeValidator(_exact)]]
    ttl_seconds: Annotated[int, Field(ge=0)]
    revocable: bool
    risk_level: str


class ForeignStop(Foreign):
    """A STOP that somebody else wrote."""

    type: Literal["STOP"]
    request_id: str
    timestamp: Time
    workflow_id: str
    stop_scope: Literal["step", "chain"]
    step_id: str | None = None
    takeover_mode: str | None = None
    reason: str | None = None


class ForeignReceipt(Foreign):
    """A RECEIPT that somebody else wrote."""

    type: Literal["RECEIPT"]
    receipt_id: str
    timestamp: Time
    actor: str
    workflow_id: str
    action: str
    target: str
    authorization_ref: str
    result: Literal["success", "failure", "partial"]
    step_id: str | None = None
    side_effects: Any = None
    evidence_refs: Names | None = None
    error: Any = None


ForeignRecord: TypeAlias = ForeignConfirm | ForeignStop | ForeignReceipt
_ADAPTER: TypeAdapter[ForeignRecord] = TypeAdapter(Annotated[ForeignRecord, Field(discriminator="type")])


def read_foreign(document: str | bytes | Mapping[str, Json]) -> ForeignRecord:
    """Return a CONFIRM, STOP or RECEIPT that somebody else wrote, for reading only.

    It is marked as not ``verified``, and authorizes nothing: a foreign CONFIRM cannot be executed by, and a foreign
    RECEIPT ends no act of yours. Ask the principal, and confirm what they choose.

    Args:
        document: The record, as JSON text or as a JSON object.

    Raises:
        InputError: It is not one of the three records, or a required field is missing or of another type.
        NotCanonical: It is not strict JSON.
    """
    given: Json = document
    value = parse(given, Profile.WIRE) if isinstance(given, str | bytes) else conform(given, Profile.WIRE)
    try:
        return _ADAPTER.validate_python(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[0]
        place = "/".join(str(each) for each in found["loc"][1:]) or "type"
        raise InputError(f"This is not a CONFIRM, STOP or RECEIPT, at {place}: {found['msg']}.") from None
