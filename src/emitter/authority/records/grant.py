"""CONFIRM, bounded and revocable authority; what is asked for before it; and what ends it.

Source: delegation-invariants, "CONFIRM (execution authority)". ``call``, ``granted_by``, ``REVOKE`` and ``EXPIRE`` are
ours: the seed has ``revocable`` and no record that revokes, and binds no confirm to what was approved.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from emitter.authority.proposal.document import S256_PATTERN
from emitter.authority.records.form import (
    ABSENT,
    LONGEST_TTL,
    Amounts,
    Digest,
    Name,
    Names,
    Record,
    Risk,
    Text,
    Timestamp,
)
from emitter.decide.canonical import Profile
from emitter.decide.digest import chosen, digest_of, statement


class Scope(Record):
    """What is authorized: a workflow, and of it only the steps, targets and capabilities that are named.

    A member that is absent bounds nothing; one that is empty allows nothing.
    """

    workflow_id: Name
    step_ids: Annotated[Names | None, ABSENT] = None
    targets: Annotated[Names | None, ABSENT] = None
    capabilities: Annotated[Names | None, ABSENT] = None


class BoundCall(Record):
    """The one call that is authorized: the hash of its proposal (``r3_s256``), and the id of the call (ours).

    ``function`` names the function that is called, by its module and qualified name, and ``classes`` is a digest of the
    classes of its arguments where the proposal's JSON does not tell them (ours). A guarded call always has the first.
    """

    r3_s256: Annotated[str, Field(pattern=S256_PATTERN)]
    call_id: Name
    function: Annotated[Name | None, ABSENT] = None
    classes: Annotated[Digest | None, ABSENT] = None


class _Terms(Record):
    """What a confirm grants. ``limits`` say how much: ``budget_usd`` is in dollars, 800 or ``Decimal("7.50")``."""

    scope: Scope
    limits: Amounts
    ttl_seconds: Annotated[int, Field(ge=1, le=LONGEST_TTL)]
    revocable: bool
    risk_level: Risk
    call: Annotated[BoundCall | None, ABSENT] = None


class ConfirmRequest(_Terms):
    """The authority that is asked for: an option whose action is its ``digest`` grants it, and grants nothing else."""

    revocable: bool = True

    @property
    def digest(self) -> str:
        """``sha256:`` and 64 hexadecimal digits, over RFC 8785 of these terms."""
        return digest_of({"type": "CONFIRM_REQUEST", **self.to_json()}, Profile.WIRE)


class Granted(Record):
    """By which choice a confirm was granted (ours): the decision, its envelope, and the option, counted from 0.

    ``decision`` is what events call it (``Pending.reference``), ``request`` the digest that the option carried.
    ``signature`` is the principal's: a JWS of ``Confirm.statement``, with its payload detached.
    """

    decision: Name
    envelope: Digest
    option: Annotated[int, Field(ge=0)]
    request: Digest
    channel: Annotated[str, Field(max_length=512)] = ""
    signature: Annotated[str | None, ABSENT] = None


class Confirm(_Terms):
    """Authority that a principal granted at ``timestamp``, for ``ttl_seconds`` from then on."""

    type: Literal["CONFIRM"] = "CONFIRM"
    confirm_id: Name
    timestamp: Timestamp
    granted_by: Granted

    @property
    def statement(self) -> str:
        """The digest of the answer by which it was granted, which the principal signs."""
        by = self.granted_by
        return statement(by.decision, by.envelope, chosen(by.option, by.request), self.timestamp, by.channel)


class Revoke(Record):
    """A confirm was taken back (ours): nothing that begins after this record is authorized by it."""

    type: Literal["REVOKE"] = "REVOKE"
    revoke_id: Name
    timestamp: Timestamp
    workflow_id: Name
    confirm_id: Name
    reason: Annotated[Text | None, ABSENT] = None


class Expire(Record):
    """An approval was found to be too old (ours): it stays so, even if a clock is set back.

    Where no CONFIRM stands before it, the approval was too old to be confirmed, and never is.
    """

    type: Literal["EXPIRE"] = "EXPIRE"
    timestamp: Timestamp
    workflow_id: Name
    confirm_id: Name
