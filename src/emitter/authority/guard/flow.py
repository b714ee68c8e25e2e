"""The whole way of a guarded call: proposed, asked, confirmed, done once, receipted; each stage found again if it was.

A call has an id. What was proposed under it is what may be done under it, by whichever thread, process or attempt comes
to it: each stage is written before the next begins, and is looked up before it is done.

Source: AAuth R3, section 10.2 (the enforced retry); delegation-invariants.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from emitter.authority import acting, granting
from emitter.authority.acting import Work
from emitter.authority.guard.briefing import Asked, composed, tells
from emitter.authority.guard.proposing import Call, Proposed, check_same, proposed
from emitter.authority.parts import before
from emitter.authority.records import ActionRequest
from emitter.authority.rules.allow import check_running
from emitter.authority.steps import Ours, Theirs
from emitter.decide import Selected, Unresolved
from emitter.errors import (
    AlreadyResolved,
    ApprovalPending,
    DecisionExpired,
    InputError,
    NotApproved,
    Tampered,
    UnknownDecision,
    WrongDigest,
)
from emitter.ledger import Pending, Resolved, Unspoken

if TYPE_CHECKING:
    from emitter.authority.records import Confirm
    from emitter.authority.rules.state import State
    from emitter.authority.steps import Steps
    from emitter.kinds import BindingMoment

_INSTEAD: Final = "Ledger.find(decision_id).continuation says what they want instead; then make a new call."
_UNREADABLE: Final = (
    "They answered in words that this ledger cannot read: see Ledger(words=...), or ask them; then make a new call."
)
_LATER: Final = "Have it resolved, and make the same call again under the same call_id."


def guarded(call: Call) -> Steps[Any]:
    """Make a call once it is approved; made before under its id, return what was retained of it."""
    found: Proposed = yield Ours(partial(proposed, call))
    resolved = yield from _resolved(call, found)
    _check_told(call, found, resolved)
    _check_approved(found, resolved)
    confirm: Confirm = yield from granting.confirm(call.parts, resolved, found.request)
    yield Ours(partial(check_same, call, found.proposal))  # the principal may have taken a week
    work = Work(
        _action(call, found), partial(call.arguments.into, call.function.tool), call.how.describe, call.how.retain
    )
    return (yield from acting.execute(call.parts, confirm.confirm_id, work))


def _resolved(call: Call, proposed: Proposed) -> Steps[Resolved]:
    """Return how the decision was resolved; raises ``ApprovalPending`` where it was not."""
    standing: Pending | Resolved | None = yield Ours(partial(_standing, call, proposed))
    if not isinstance(standing, Resolved):
        yield Ours(partial(_check_running, call, proposed))
    if standing is None:
        standing = yield from _opened(call, proposed)
    _check_told(call, proposed, standing)
    if isinstance(standing, Resolved):
        return standing
    if standing.ended:
        raise _too_late(standing.decision_id)
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


def _check_told(call: Call, proposed: Proposed, standing: Pending | Resolved) -> None:
    """Raise ``Tampered`` where the decision under this call's id is not about this call."""
    pending = standing.pending if isinstance(standing, Resolved) else standing
    if not tells(_asked(call, proposed), pending.moment, pending.actions):
        raise Tampered(
            "The decision that stands under this call's id does not tell this call.",
            place=pending.decision_id,
            hint="Ask about a new call, and find out who wrote into the store.",
        )


def _asked(call: Call, proposed: Proposed) -> Asked:
    return Asked(call.how.name, proposed.proposal, proposed.request.model_copy(deep=True))


def _standing(call: Call, proposed: Proposed) -> Pending | Resolved | None:
    try:
        return call.parts.ledger.find(proposed.decision_id)
    except UnknownDecision:
        return None


def _opened(call: Call, proposed: Proposed) -> Steps[Pending | Resolved]:
    """Have the envelope written, and open the decision with it; where another process did meanwhile, take that.

    Whoever would not have it confirmed is heard first: nobody is asked for what would be refused.
    """
    yield from before(call.parts, "before_confirm", proposed.request.model_copy(deep=True))
    written: BindingMoment = yield Theirs(partial(call.how.brief, _asked(call, proposed)))
    moment, place = composed(_asked(call, proposed), written)
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
    except AlreadyResolved as refused:
        raise NotApproved(
            "The principal refused this very question before.",
            decision_id=refused.decision_id,
            hint="Take their objection up: change the arguments, or have brief= write another envelope.",
        ) from None
    return ledger.find(decision_id)


def _answered(call: Call, proposed: Proposed, answer: object) -> Resolved:
    """Record what the principal answered; raises ``ApprovalPending`` where they did not."""
    ledger, decision_id = call.parts.ledger, proposed.decision_id
    try:
        if isinstance(answer, Unresolved):
            ledger.unresolved(decision_id, answer.reason, channel=call.how.channel)
            raise _pending(call, proposed)
        if not isinstance(answer, Resolved):
            return ledger.resolve(decision_id, answer, channel=call.how.channel)  # type: ignore[arg-type]  # it is looked at there
    except AlreadyResolved:
        pass  # somebody was faster, on another surface: what counts is what stands
    except DecisionExpired:
        raise _too_late(decision_id) from None
    found = ledger.find(decision_id)
    if not isinstance(found, Resolved):
        raise InputError("ask= returned the resolution of another decision.", hint="Resolve the one it was given.")
    return found


def _check_approved(proposed: Proposed, resolved: Resolved) -> None:
    if not isinstance(resolved.resolution, Selected) or resolved.action != proposed.request.digest:
        raise NotApproved(
            "The principal did not choose that the call be made.",
            decision_id=proposed.decision_id,
            hint=_UNREADABLE if isinstance(resolved.resolution, Unspoken) else _INSTEAD,
        )


def _action(call: Call, proposed: Proposed) -> ActionRequest:
    how, request = call.how, proposed.request
    return ActionRequest.of(
        intent_id=call.call_id,
        workflow_id=request.scope.workflow_id,
        step_id=how.step_id,
        action=how.name,
        target=(request.scope.targets or (how.name,))[0],
        capability=how.capability or how.name,
        spends=dict(request.limits),
        risk_level=request.risk_level,
        call=request.call,
    )


def _pending(call: Call, proposed: Proposed) -> ApprovalPending:
    return ApprovalPending(
        f"The call waits for its approval, by the decision {proposed.decision_id}.",
        decision_id=proposed.decision_id,
        call_id=call.call_id,
        hint=_LATER,
    )


def _too_late(decision_id: str) -> NotApproved:
    return NotApproved("The time for an answer is over.", decision_id=decision_id, hint="Make a new call.")
