"""One step of what a process has under way, and whether what came of it is what ought to."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from emitter.authority import current_action
from emitter.errors import AlreadyUsed, ConfirmExpired, Unfinished
from tests.authority.execution.driving import Died

if TYPE_CHECKING:
    from emitter.authority import ActionRequest
    from tests.authority.execution.reckoning import Why
    from tests.authority.execution.world import Doing, World


def take(world: World, doing: Doing) -> None:
    """Take a step, see what it added to the chains, and how it ended, if it did."""
    why = _why(world, doing)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "An action ended differently from its receipt")  # as it may
        doing.drive.take()
    added = [each["record"] for each in world.observe()]
    assert len(added) <= 1
    for record in added:
        _look(doing, record, why)
    if not doing.drive.is_over:
        return
    if doing.request is None:
        _confirmed(doing, why)
    else:
        _ended(world, doing, doing.request, why)


def tool(world: World, doing: Doing, ends: str) -> Any:
    """Be the tool: see that the act was begun by whoever calls it, and not ended; end as is wanted."""
    request = doing.request
    assert request is not None
    flow = world.book.flows[request.workflow_id]
    assert doing.began
    assert request.intent_id in flow.intents
    world.book.called[request.workflow_id, request.intent_id] += 1
    doing.called = True
    assert current_action().intent.intent_id == request.intent_id
    assert current_action().is_stopped == bool(_halted(world, doing))
    if ends == "raises":
        raise OSError
    if ends == "dies":
        raise Died
    return _result(request)


def _why(world: World, doing: Doing) -> Why:
    """Return why what is under way may not begin; begun, why it may not go on."""
    if doing.request is None:
        return world.book.no_confirm(doing.approval, doing.process.actor, doing.process.clock())
    if doing.began:
        return _halted(world, doing)
    return world.book.no_intent(doing.approval, doing.request, doing.process.actor, doing.process.clock())


def _halted(world: World, doing: Doing) -> Why:
    assert doing.request is not None
    return world.book.halted(doing.approval, doing.request, doing.process.actor, doing.process.clock())


def _look(doing: Doing, record: dict[str, Any], why: Why) -> None:
    """See that a record is of what is under way, and was allowed."""
    if record["type"] == "EXPIRE":
        assert ConfirmExpired in why
        assert doing.began or isinstance(doing.drive.error, ConfirmExpired)  # an act that runs looks for itself
        return
    if record["type"] == "RECEIPT":
        assert doing.began
        return
    assert why == set()
    assert record["type"] == ("CONFIRM" if doing.request is None else "INTENT")
    if doing.request is not None:
        shared = ("intent_id", "workflow_id", "step_id", "action", "target", "call")
        asked = doing.request.to_json()
        assert {name: record.get(name) for name in shared} == {name: asked.get(name) for name in shared}
        assert record["actor"] == doing.process.actor
        doing.began = True


def _confirmed(doing: Doing, why: Why) -> None:
    error = doing.drive.error
    if error is not None:
        assert type(error) in why
        return
    assert doing.drive.value.confirm_id == doing.approval.confirm_id
    assert doing.drive.value.limits == doing.approval.terms.limits


def _ended(world: World, doing: Doing, request: ActionRequest, why: Why) -> None:
    flow, error = world.book.flows[request.workflow_id], doing.drive.error
    receipt = flow.receipts.get(request.intent_id)
    if doing.called:
        ends = {type(None): "success", OSError: "failure", Died: None}[type(error)]
        assert error is not None or doing.drive.value == _result(request)
        assert ends is None or receipt is not None
    elif doing.began:
        assert type(error) in why
        assert receipt is not None
    elif isinstance(error, Unfinished):
        assert request.intent_id in flow.intents
        assert receipt is None
    elif receipt is not None:
        is_kept = receipt["result"] == "success" and "retained" in receipt
        assert (doing.drive.value, error) == (_result(request), None) if is_kept else isinstance(error, AlreadyUsed)
    else:
        assert type(error) in why


def _result(request: ActionRequest) -> dict[str, str]:
    return {"did": request.intent_id}
