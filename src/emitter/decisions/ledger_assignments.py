"""Who should answer a decision, and the store entries that assignments are saved in.

An assignment is no permission: the policy of a surface decides who may answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.decisions.ledger_entries import has_member_types
from emitter.errors import StoreAltered
from emitter.stores import Entry

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_ASSIGNMENTS: Final = 100
"""How often one decision can be assigned."""
_ASSIGNED_TYPE: Final = "emitter.decision.assigned"
_ASSIGNED_MEMBERS: Final[Mapping[str, tuple[type, ...]]] = {
    "assignee": (str,),
    "principal": (str,),
    "assignedAt": (int, float),
    "channel": (str,),
}


@dataclass(frozen=True, slots=True)
class Assignment:
    """A principal assigned a decision to somebody.

    Attributes:
        assignee: Who should answer. Empty if anybody should.
        principal: Who assigned it.
        assigned_at: When, in seconds since 1970.
        channel: The channel that the assignment came by.
    """

    assignee: str
    principal: str
    assigned_at: float
    channel: str = ""


def assignment_key(decision: str, number: int) -> str:
    """Return the store key of an assignment. The first one has the number 1."""
    return f"assigned:{decision}:{number}"


def make_assignment_entry(assignment: Assignment) -> Entry:
    """Return the entry of an assignment."""
    members = (assignment.assignee, assignment.principal, assignment.assigned_at, assignment.channel)
    return Entry(_ASSIGNED_TYPE, dict(zip(_ASSIGNED_MEMBERS, members, strict=True)), {})


def parse_assignment(entry: Entry | None) -> Assignment:
    """Return an assignment. Raises ``StoreAltered`` if the entry is none."""
    if entry is None or entry.type != _ASSIGNED_TYPE or not has_member_types(entry.outcome, _ASSIGNED_MEMBERS):
        raise StoreAltered("The stored assignment of a decision is not what was written.")
    return Assignment(*(entry.outcome[name] for name in _ASSIGNED_MEMBERS))
