"""First approvals of decisions that need four eyes, and the store entries that they are saved in.

An option that does something is resolved by the approval of a second principal. The first approval is an entry of its
own, one for each option, so that of two principals who approve at the same time one is the first and one the second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.decisions.canonical_json import signed_approval, signing_digest
from emitter.decisions.ledger_entries import has_member_types
from emitter.errors import StoreAltered
from emitter.events import format_timestamp
from emitter.stores import Entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.decisions.ledger_entries import PendingDecision

_APPROVED_TYPE: Final = "emitter.decision.approved"
_APPROVED_MEMBERS: Final[Mapping[str, tuple[type, ...]]] = {
    "digest": (str,),
    "index": (int,),
    "principal": (str,),
    "approvedAt": (int, float),
    "channel": (str,),
}


@dataclass(frozen=True, slots=True)
class Approval:
    """The first of two approvals of an option. It resolves nothing.

    Attributes:
        principal: Who approved.
        index: The option, counted from 0.
        approved_at: When it was approved, in seconds since 1970.
        channel: The channel that the approval came by.
        signature: The signature of the approval, or None.
    """

    principal: str
    index: int
    approved_at: float
    channel: str = ""
    signature: str | None = None

    def statement(self, pending: PendingDecision) -> str:
        """Return the digest that the signature covers. It differs from the digest of any answer."""
        action = pending.actions[self.index] if pending.actions else None
        return signing_digest(
            pending.reference,
            pending.digest,
            signed_approval(self.index, action, self.principal),
            format_timestamp(self.approved_at),
            self.channel,
        )


def approval_key(decision: str, index: int) -> str:
    """Return the store key of the first approval of an option."""
    return f"approved:{decision}:{index}"


def make_approval_entry(approval: Approval, pending: PendingDecision) -> Entry:
    """Return the entry of a first approval."""
    members = {
        "digest": pending.digest,
        "index": approval.index,
        "principal": approval.principal,
        "approvedAt": approval.approved_at,
        "channel": approval.channel,
    }
    signature = {} if approval.signature is None else {"signature": approval.signature}
    return Entry(_APPROVED_TYPE, {**members, **signature}, {})


def parse_approval(entry: Entry, pending: PendingDecision, index: int) -> Approval:
    """Return the first approval of an option. Raises ``StoreAltered`` if the entry is none."""
    members = entry.outcome
    is_approval = entry.type == _APPROVED_TYPE and has_member_types(members, _APPROVED_MEMBERS)
    if not is_approval or members["digest"] != pending.digest or members["index"] != index or not members["principal"]:
        raise StoreAltered("The stored approval of a decision is not what was written.")
    signature = members.get("signature")
    return Approval(
        members["principal"],
        index,
        members["approvedAt"],
        members["channel"],
        signature if isinstance(signature, str) else None,
    )
