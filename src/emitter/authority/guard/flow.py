"""The whole way of a guarded call: proposed, asked, confirmed, done once, receipted; each stage found again if it was.

A call has an id. What was proposed under it is what may be done under it, by whichever thread, process or attempt comes
to it: each stage is written before the next begins, and is looked up before it is done.

Source: AAuth R3, section 10.2 (the enforced retry); delegation-invariants.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from emitter.authority import acting, granting
from emitter.authority.acting import Work
from emitter.authority.guard.briefing import Asked, composed
from emitter.authority.proposal import match, propose
from emitter.authority.records import ActionRequest, BoundCall
from emitter.authority.rules import limits
from emitter.authority.rules.allow import check_running
from emitter.authority.steps import Ours, Theirs
from emitter.decide import Selected, Unresolved
from emitter.errors import (
    AlreadyResolved,
    ApprovalPending,
    InputError,
    NotApproved,
    OtherCall,
    Tampered,
    UnknownDecision,
    WrongDigest,
)
from emitter.ledger import Pending, Resolved
from emitter.sinks import new_id
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.authority.guard.arguments import Arguments
    from emitter.authority.guard.how import How
    from emitter.authority.parts import Parts
    from emitter.authority.proposal import Proposal, Shelf
    from emitter.authority.records import Confirm, ConfirmRequest
    from emitter.authority.rules.state import State
    from emitter.authority.steps import Steps
    from emitter.kinds import BindingMoment
    from emitter.wire import Json

_LATER: Final = "Have it resolved, and make the same call again under the same call_id."


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a guarded tool: its id, what it is called with, how it is guarded, and what it is made of."""

    call_id: str
    arguments: Arguments
    tool: Callable[..., Any]
    how: How
    parts: Parts
    shelf: Shelf


@dataclass(frozen=True, slots=True)
class Proposed:
    """What was proposed under a call's id: by it the call can be found again, and no other can pass for it."""

    proposal: Proposal
    request: ConfirmRequest
    decision_id: str


def guarded(call: Call) -> Steps[Any]:
    """Make a call once it is approved; made before under its id, return what was retained of it."""
    proposed: Proposed = yield Ours(partial(_proposed, call))
    resolved = yield from _resolved(call, proposed)
    _check_approved(proposed, resolved)
    confirm: Confirm = yield from granting.confirm(call.parts, resolved, proposed.request)
    work = Work(_action(call, proposed), partial(call.arguments.into, call.tool), call.how.describe, call.how.retain)
    return (yield from acting.execute(call.parts, confirm.confirm_id, work))


def _proposed(call: Call) -> Proposed:
    """Return what stands proposed under the call's id: this very call, or ``OtherCall`` is raised."""
    how, given = call.how, call.arguments.parameters
    known = mapping(call.parts.journal.known(_named(call.call_id)))
    proposal = _found(call, known) if known else _written(call)
    workflow_id = known.get("workflow_id", how.workflow_id)
    bound = BoundCall(r3_s256=proposal.s256, call_id=call.call_id)
    request = how.request(bound, how.spent(given), workflow_id, target=how.aimed(given))
    limits.check_known(request.limits, call.parts.limits)
    mine = {
        "r3_s256": proposal.s256,
        "request": request.digest,
        "workflow_id": workflow_id,
        "decision_id": known.get("decision_id", new_id()),
    }
    kept = mapping(call.parts.journal.once(_named(call.call_id), mine))
    if {**kept, "decision_id": ""} != {**mine, "decision_id": ""}:
        raise _other("")
    return Proposed(proposal, request, str(kept["decision_id"]))


def _written(call: Call) -> Proposal:
    how, given = call.how, call.arguments.parameters
    display = None if how.display is None else how.display(given)
    made = propose(
        how.operation,
        given,
        vocabulary=how.vocabulary,
        account=how.account,
        display=display,
        digested=how.digested,
    )
    return call.shelf.put(made)


def _found(call: Call, known: Mapping[str, Json]) -> Proposal:
    """Return the proposal as it was put, once the call is seen to be the one that it tells."""
    proposal = call.shelf.get(known["r3_s256"])
    if proposal is None:
        raise Tampered("The proposal of this call is gone from the store.", place=call.call_id)
    found = match(proposal, call.how.operation, call.arguments.parameters, account=call.how.account)
    if found is not None:
        raise _other(found.pointer)
    return proposal


def _resolved(call: Call, proposed: Proposed) -> Steps[Resolved]:
    """Return how the decision was resolved; raises ``ApprovalPending`` where it was not."""
    standing: Pending | Resolved | None = yield Ours(partial(_standing, call, proposed))
    if standing is None:
        yield Ours(partial(_check_running, call, proposed))
        standing = yield from _opened(call, proposed)
    if isinstance(standing, Resolved):
        return standing
    yield Ours(partial(_check_running, call, proposed))
    if standing.is_over(call.parts.journal.now()):
        raise NotApproved("The time for an answer is over.", decision_id=standing.decision_id, hint="Make a new call.")
    if call.how.ask is None:
        raise _pending(call, proposed)
    answer = yield Theirs(partial(call.how.ask, standing))
    resolved: Resolved = yield Ours(partial(_answered, call, proposed, answer))
    return resolved


def _check_running(call: Call, proposed: Proposed) -> None:
    """Raise ``WorkflowStopped`` before anybody is asked for what could not begin."""

    def see(state: State) -> None:
        check_running(state, call.how.step_id, call.parts.actor)

    call.parts.journal.look(proposed.request.scope.workflow_id, see)


def _standing(call: Call, proposed: Proposed) -> Pending | Resolved | None:
    try:
        return call.parts.ledger.find(proposed.decision_id)
    except UnknownDecision:
        return None


def _opened(call: Call, proposed: Proposed) -> Steps[Pending | Resolved]:
    """Have the envelope written, and open the decision with it; where another process did meanwhile, take that."""
    asked = Asked(call.how.name, proposed.proposal, proposed.request)
    written: BindingMoment = yield Theirs(partial(call.how.brief, asked))
    moment, place = composed(asked, written)
    count = len(moment.question.options)
    actions = tuple(proposed.request.digest if index == place else None for index in range(count))
    opened: Pending | Resolved = yield Ours(partial(_open, call, proposed, moment, actions))
    return opened


def _open(call: Call, proposed: Proposed, moment: BindingMoment, actions: tuple[str | None, ...]) -> Pending | Resolved:
    ledger, decision_id = call.parts.ledger, proposed.decision_id
    try:
        ledger.open(
            moment,
            agent=call.parts.actor,
            decision_id=decision_id,
            expires_in=call.how.expires_in,
            actions=actions,
        )
    except WrongDigest:
        pass  # another process opened it, with an envelope of its own
    except AlreadyResolved:
        raise NotApproved("The principal refused this very question before.", hint="Ask another one.") from None
    return ledger.find(decision_id)


def _answered(call: Call, proposed: Proposed, answer: object) -> Resolved:
    """Record what the principal answered; raises ``ApprovalPending`` where they did not."""
    ledger, decision_id = call.parts.ledger, proposed.decision_id
    if isinstance(answer, Unresolved):
        ledger.unresolved(decision_id, answer.reason, channel=call.how.channel)
        raise _pending(call, proposed)
    if not isinstance(answer, Resolved):
        try:
            return ledger.resolve(decision_id, answer, channel=call.how.channel)  # type: ignore[arg-type]  # it is looked at there
        except AlreadyResolved:
            pass  # somebody was faster, on another surface: what counts is what stands
    found = ledger.find(decision_id)
    if not isinstance(found, Resolved):
        raise InputError("ask= returned the resolution of another decision.", hint="Resolve the one it was given.")
    return found


def _check_approved(proposed: Proposed, resolved: Resolved) -> None:
    if not isinstance(resolved.resolution, Selected) or resolved.action != proposed.request.digest:
        raise NotApproved(
            "The principal did not choose that the call be made.",
            decision_id=proposed.decision_id,
            hint="Go on with continue_after(resolution, moment), and make a new call.",
        )


def _action(call: Call, proposed: Proposed) -> ActionRequest:
    how, request = call.how, proposed.request
    return ActionRequest.of(
        intent_id=call.call_id,
        workflow_id=request.scope.workflow_id,
        step_id=how.step_id,
        action=how.name,
        target=how.aimed(call.arguments.parameters),
        capability=how.capability or how.name,
        spends=dict(request.limits),
        risk_level=request.risk_level,
        call=request.call,
    )


def _pending(call: Call, proposed: Proposed) -> ApprovalPending:
    return ApprovalPending(
        "The call waits for its approval.", decision_id=proposed.decision_id, call_id=call.call_id, hint=_LATER
    )


def _other(pointer: str) -> OtherCall:
    return OtherCall(
        "Another call was proposed under this id; what was approved is that one.",
        pointer=pointer,
        hint="Make the call as it was proposed, or a new one without a call_id.",
    )


def _named(call_id: str) -> str:
    return f"call:{call_id}"
