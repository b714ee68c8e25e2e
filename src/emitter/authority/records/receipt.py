"""INTENT before an act, RECEIPT after it: linked by an id, and by the confirm that authorizes both.

Source: delegation-invariants, "RECEIPT (audit record before commit)". The seed wants the record before an irreversible
commit, and in it a result that is known only afterwards: so they are two records here, and the first is ours.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from emitter.authority.records.form import (
    ABSENT,
    Amount,
    Amounts,
    Digest,
    Name,
    Names,
    Record,
    Risk,
    RiskLevel,
    Text,
    Timestamp,
)
from emitter.authority.records.grant import BoundCall

if TYPE_CHECKING:
    from typing import Self


class Result(str, Enum):
    """How an act ended."""

    SUCCESS = "success"
    FAILURE = "failure"
    PARTIAL = "partial"


class _Deed(Record):
    """What is done, to what, in which workflow."""

    workflow_id: Name
    step_id: Annotated[Name | None, ABSENT] = None
    action: Name
    target: Name


class ActionRequest(_Deed):
    """An act that is about to begin.

    ``capability`` is the kind of tool or verb it needs (its ``action`` where absent). ``spends`` says how much it takes
    of each limit, money in the currency's main unit; that it is one side effect is counted by itself, unless
    ``is_pure``.
    ``intent_id`` is the act's own id: the same one again is the same act, and begins once.
    """

    intent_id: Name
    capability: Annotated[Name | None, ABSENT] = None
    spends: Amounts = Field(default_factory=dict[str, Amount])
    risk_level: Risk = RiskLevel.LOW
    is_pure: bool = False
    call: Annotated[BoundCall | None, ABSENT] = None


class Intent(_Deed):
    """The act is about to begin, and is authorized: what comes after this record may have happened.

    It has all that it was authorized by, so that a reader of the chain can check that anew.
    """

    type: Literal["INTENT"] = "INTENT"
    intent_id: Name
    timestamp: Timestamp
    actor: Name
    authorization_ref: Name
    capability: Annotated[Name | None, ABSENT] = None
    spends: Amounts
    risk_level: Risk
    call: Annotated[BoundCall | None, ABSENT] = None


class Receipt(_Deed):
    """How the act ended. ``intent_ref`` and ``retained``, the digest of the result that is kept, are ours."""

    type: Literal["RECEIPT"] = "RECEIPT"
    receipt_id: Name
    timestamp: Timestamp
    actor: Name
    authorization_ref: Name
    intent_ref: Name
    result: Annotated[Result, Field(strict=False)]
    side_effects: Annotated[dict[str, Any] | None, ABSENT] = None
    evidence_refs: Annotated[Names | None, ABSENT] = None
    error: Annotated[Text | None, ABSENT] = None
    retained: Annotated[Digest | None, ABSENT] = None

    @model_validator(mode="after")
    def _conditional(self) -> Self:
        if self.error is not None and self.result is Result.SUCCESS:
            raise ValueError("error goes with a failure, or with what was done in part")
        return self
