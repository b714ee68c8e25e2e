"""What is proposed under a call's id: the call itself, on the terms of its guard; found again, it is the same or none.

Source: AAuth R3, section 10.2 (the enforced retry).
"""

from __future__ import annotations

import inspect
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from emitter.authority.proposal import Display, mismatch, propose
from emitter.authority.records import BoundCall
from emitter.authority.rules import limits
from emitter.decide.blank import is_blank
from emitter.errors import InputError, OtherCall, Tampered
from emitter.sinks import new_id
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.authority.guard.arguments import Arguments
    from emitter.authority.guard.how import How
    from emitter.authority.guard.tools import Function
    from emitter.authority.parts import Parts
    from emitter.authority.proposal import Proposal, Shelf
    from emitter.authority.records import ConfirmRequest
    from emitter.wire import Json

_KEPT: Final = ("r3_s256", "request", "action", "workflow_id", "decision_id")


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a guarded tool: its id, what it is called with, how it is guarded, and what it is made of."""

    call_id: str
    arguments: Arguments
    function: Function
    how: How
    parts: Parts
    shelf: Shelf

    @property
    def parameters(self) -> dict[str, Json]:
        """The parameters for whoever wants to see them: a copy, since the host's own code may change what it gets."""
        return deepcopy(self.arguments.parameters)


@dataclass(frozen=True, slots=True)
class Proposed:
    """What was proposed under a call's id: by it the call can be found again, and no other can pass for it."""

    proposal: Proposal
    request: ConfirmRequest
    decision_id: str


def proposed(call: Call) -> Proposed:
    """Return what stands proposed under the call's id: this very call, or ``OtherCall`` is raised."""
    journal, name = call.parts.journal, _named(call.call_id)
    known = mapping(journal.known(name)) or mapping(journal.once(name, _first(call)))
    if not all(isinstance(known.get(each), str) for each in _KEPT):
        raise Tampered("What stands under the call's id is not what was written there.", place=call.call_id)
    if call.how.workflow_named and call.how.workflow_id != known["workflow_id"]:
        raise _other("/workflow_id")
    proposal = _found(call, known)
    request = _request(call, proposal, known["workflow_id"])
    if (request.digest, call.how.name) != (known["request"], known["action"]) or not _is_first(call):
        raise _other("")
    return Proposed(proposal, request, known["decision_id"])


def _first(call: Call) -> dict[str, Json]:
    """Return what is kept under the id of a call that is new; of many at once, that of the first is."""
    proposal, workflow_id = _written(call), call.how.workflow_id
    request = _request(call, proposal, workflow_id)
    limits.check_known(request.limits, call.parts.limits)
    return {
        "r3_s256": proposal.s256,
        "request": request.digest,
        "action": call.how.name,
        "workflow_id": workflow_id,
        "decision_id": new_id(),
    }


def _is_first(call: Call) -> bool:
    """Tell whether no other tool that is still in use here made a call under this id, in the same name.

    Tools may have one name and hold other objects, as two methods do whose objects nobody named.
    """
    first = call.parts.running.first(call.call_id, call.function)
    return first.is_same(call.function, owned=call.how.account is not None)


def _request(call: Call, proposal: Proposal, workflow_id: str) -> ConfirmRequest:
    how, arguments = call.how, call.arguments
    bound = BoundCall.of(
        r3_s256=proposal.s256, call_id=call.call_id, function=call.function.name, classes=arguments.classes
    )
    return how.request(bound, how.spent(call.parameters), workflow_id, target=how.aimed(call.parameters))


def _written(call: Call) -> Proposal:
    how, given = call.how, call.arguments.parameters
    display: object = _described(call.function.tool) if how.display is None else how.display(call.parameters)
    if not isinstance(display, Display | None):  # pyright: ignore[reportUnnecessaryIsInstance]  it is the host's code
        raise InputError("display= returned no Display.")
    made = propose(
        how.operation,
        given,
        vocabulary=how.vocabulary,
        account=how.account,
        display=display,
        digested=how.digested,
        longest=how.longest,
    )
    return call.shelf.put(made)


def _described(tool: Callable[..., Any]) -> Display | None:
    """Return the first line of the tool's docstring as its display, which says what the tool does."""
    function: Any = tool
    while isinstance(function, partial):
        function = function.func
    if not inspect.isroutine(function):
        function = type(function).__call__
    said = (inspect.getdoc(function) or "").strip().partition("\n")[0]
    return Display(said) if not is_blank(said) else None


def check_same(call: Call, proposal: Proposal) -> None:
    """Raise ``OtherCall`` where what the tool would be called with now is not what was proposed."""
    parameters, classes = call.arguments.again()
    found = mismatch(proposal, call.how.operation, parameters, account=call.how.account)
    if found is not None:
        raise _other(found.pointer)
    if classes != call.arguments.classes:
        raise _other("/parameters")


def _found(call: Call, known: Mapping[str, Json]) -> Proposal:
    """Return the proposal as it was put, once the call is seen to be the one that it tells."""
    proposal = call.shelf.get(known["r3_s256"])
    if proposal is None:
        raise Tampered("The proposal of this call is gone from the store.", place=call.call_id)
    if proposal.vocabulary != call.how.vocabulary:
        raise _other("/vocabulary")
    check_same(call, proposal)
    return proposal


def _other(pointer: str) -> OtherCall:
    return OtherCall(
        "Another call was proposed under this id; what was approved is that one.",
        pointer=pointer,
        hint="Make the call as it was proposed, or a new one without a call_id.",
    )


def _named(call_id: str) -> str:
    return f"call:{call_id}"
