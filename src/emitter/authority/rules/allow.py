"""Whether an act may begin: it may not, unless a live confirm covers it and leaves enough of each limit.

Source: delegation-invariants, CONFIRM and STOP.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.authority.records.form import moment
from emitter.authority.rules import limits
from emitter.authority.rules.state import End
from emitter.errors import (
    AlreadyUsed,
    ConfirmExpired,
    ConfirmRevoked,
    OtherCall,
    OutOfScope,
    RiskExceeded,
    UnknownConfirm,
    WorkflowStopped,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.authority.records import ActionRequest, Confirm, Scope
    from emitter.authority.rules.state import Held, State


@dataclass(frozen=True, slots=True)
class Now:
    """Who acts, and when, in seconds since 1970; ``skew`` is by how many seconds clocks may differ."""

    actor: str
    at: float
    skew: float = 0.0


def is_over(confirm: Confirm, now: Now) -> bool:
    """Tell whether a confirm's time is over, on any clock that may be right."""
    return now.at + now.skew >= moment(confirm.timestamp) + confirm.ttl_seconds


def held(state: State, confirm_id: str) -> Held:
    """Return a confirm of the workflow; raises ``UnknownConfirm``."""
    found = state.confirms.get(confirm_id)
    if found is None:
        raise UnknownConfirm("Nobody confirmed this, in this workflow.", hint="Confirm a resolution first.")
    return found


def check_running(state: State, step_id: str | None, actor: str) -> None:
    """Raise ``WorkflowStopped`` where nothing of this may begin."""
    if state.stop_for(step_id, actor) is not None:
        raise WorkflowStopped(
            "The workflow, or this step of it, was stopped: nothing of it begins.",
            hint="What was paused can be resumed, and then needs a new confirm; else begin another workflow.",
        )


def check_live(found: Held, now: Now) -> None:
    """Raise ``WorkflowStopped``, ``ConfirmRevoked`` or ``ConfirmExpired`` where a confirm authorizes nothing more."""
    if found.end is not None:
        kind, told = _ENDED[found.end]
        raise kind(told, hint=_AGAIN)
    if is_over(found.confirm, now):
        raise ConfirmExpired("The time of the authority is over.", hint=_AGAIN)


def check_covered(confirm: Confirm, request: ActionRequest) -> None:
    """Raise ``OutOfScope``, ``RiskExceeded`` or ``OtherCall`` where a confirm does not cover an act."""
    _check_scope(confirm.scope, request)
    if not confirm.risk_level.covers(request.risk_level):
        raise RiskExceeded("The act is riskier than what was approved.", hint=_AGAIN)
    if confirm.call != request.call:
        raise OtherCall("The authority is for one call, and this is another one.", hint=_AGAIN)


def check(state: State, confirm_id: str, request: ActionRequest, now: Now) -> None:
    """Raise what forbids that an act begins; where nothing does, it may."""
    check_running(state, request.step_id, now.actor)
    found = held(state, confirm_id)
    check_live(found, now)
    check_covered(found.confirm, request)
    if found.confirm.call is not None and found.uses:
        told = "The authority was for one call, which was made."
        raise AlreadyUsed(told, receipt_id=_receipt_of(state, confirm_id), hint=_AGAIN)
    takes = limits.taken(request.spends, is_pure=request.is_pure)
    limits.check_left(found.confirm.limits, found.spent, takes)


def _receipt_of(state: State, confirm_id: str) -> str:
    """Return the receipt of the one act that a confirm authorized; nothing where it has none."""
    found = (each.receipt_id for each in state.receipts.values() if each.authorization_ref == confirm_id)
    return next(found, "")


def _check_scope(scope: Scope, request: ActionRequest) -> None:
    is_covered = (
        scope.workflow_id == request.workflow_id
        and _names(scope.step_ids, request.step_id)
        and _names(scope.targets, request.target)
        and _names(scope.capabilities, request.capability or request.action)
    )
    if not is_covered:
        raise OutOfScope("The authority covers another workflow, step, target or capability.", hint=_AGAIN)


def _names(named: Sequence[str] | None, wanted: str | None) -> bool:
    return named is None or wanted in named


_AGAIN: Final = "Ask the principal, and confirm what they choose."
_ENDED: Final = {
    End.REVOKED: (ConfirmRevoked, "The authority was taken back."),
    End.EXPIRED: (ConfirmExpired, "The time of the authority is over."),
    End.STOPPED: (WorkflowStopped, "The workflow was stopped after this was confirmed."),
}
