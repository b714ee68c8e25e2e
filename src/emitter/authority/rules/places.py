"""What may stand at a place of a chain: what a record says must have been allowed by all that stands before it.

A chain whose hashes hold may still have been written by somebody else, from its first line on: so each record is
checked again, by the rules by which it was added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, assert_never

from emitter.authority.records import (
    ActionRequest,
    Confirm,
    ConfirmRequest,
    Expire,
    Intent,
    Receipt,
    Resume,
    Revoke,
    Stop,
    TakeoverMode,
)
from emitter.authority.records.form import moment
from emitter.authority.rules import allow
from emitter.authority.rules.state import End
from emitter.errors import (
    AlreadyUsed,
    AuthorityError,
    ConfirmExpired,
    ConfirmRevoked,
    InputError,
    NotConsent,
    NotRevocable,
    OtherCall,
    Tampered,
    WorkflowStopped,
)

if TYPE_CHECKING:
    from emitter.authority.records import Chained, Line
    from emitter.authority.rules.allow import Now
    from emitter.authority.rules.state import Held, State

LIFTED: Final = frozenset({TakeoverMode.PAUSE, TakeoverMode.HUMAN})
"""What can be resumed: a stop without a mode is final, and what was delegated is another's."""

_TERMS: Final = tuple(ConfirmRequest.model_fields)
_ASKED: Final = tuple(each for each in ActionRequest.model_fields if each in Intent.model_fields)
_DEED: Final = ("workflow_id", "step_id", "action", "target", "actor", "authorization_ref")
"""What a receipt says as its intent does."""


def add(state: State, line: Line, skew: float = 0.0) -> None:
    """Add a line that was allowed where it stands; raises ``Tampered`` for another, which nobody wrote by the rules."""
    place = f"line {line.seq}"
    try:
        check(state, line, skew)
    except (AuthorityError, InputError) as error:
        told = f"{place}, {line.record.type}, was not allowed where it stands: {error.args[0]}"
        raise Tampered(told, place=place) from error
    state.add(line)


def check(state: State, line: Line, skew: float = 0.0) -> None:
    """Raise ``AuthorityError`` or ``InputError`` where nothing that stands before a line allows what it says.

    ``skew`` is by how many seconds clocks may have differed; where it is more than they could, less is found amiss.
    """
    record, at = line.record, moment(line.at)
    _check_time(record, at)
    match record:
        case Confirm():
            _check_confirm(state, record, allow.Now(_delegate(state), at, skew))
        case Revoke():
            check_revocable(allow.held(state, record.confirm_id))
        case Expire():
            _check_once(is_ended(state, record.confirm_id))
        case Stop():
            _check_once(record.request_id in state.stops)
        case Resume():
            check_resumable(state, record.request_id)
        case Intent():
            _check_intent(state, record, allow.Now(record.actor, at))
        case Receipt():
            _check_receipt(state, record)
        case _:
            assert_never(record)


def check_approved(state: State, confirm: Confirm, now: Now) -> None:
    """Raise ``WorkflowStopped``, or ``ConfirmExpired``, where an approval cannot be granted, or cannot yet."""
    allow.check_running(state, None, now.actor)
    approved = moment(confirm.timestamp)
    if state.stopped_at is not None and approved <= moment(state.stopped_at):
        raise WorkflowStopped("The workflow was stopped after this was approved.", hint="Ask the principal again.")
    if approved > now.at + now.skew:
        raise ConfirmExpired("The approval is of a time that has not come.", hint="Have the clocks agree: max_skew=.")


def is_ended(state: State, confirm_id: str) -> bool:
    """Tell whether a confirm authorizes nothing more, be it that its time was over before it was granted."""
    found = state.confirms.get(confirm_id)
    return confirm_id in state.expired if found is None else found.end is not None


def check_revocable(found: Held) -> None:
    """Raise ``NotRevocable``, or ``ConfirmRevoked`` where the confirm was taken back before."""
    if not found.confirm.revocable:
        raise NotRevocable("The authority was granted as one that is not revocable.", hint="Stop the workflow.")
    if found.end is End.REVOKED:
        raise ConfirmRevoked("The authority was taken back before.")


def check_resumable(state: State, request_id: str) -> None:
    """Raise ``InputError`` where no such stop holds, and ``WorkflowStopped`` for one that is final."""
    found = state.holding.get(request_id)
    if found is None:
        raise InputError("No stop of this workflow that holds has this id.", hint="Stop.request_id is its id.")
    if found.takeover_mode not in LIFTED:
        raise WorkflowStopped("The stop is final, or the control is another agent's.", hint="Begin another workflow.")


def _check_confirm(state: State, confirm: Confirm, now: Now) -> None:
    _check_once(confirm.confirm_id in state.confirms)
    if confirm.confirm_id in state.expired:
        raise ConfirmExpired("The approval was found to be too old before.")
    if confirm.granted_by.decision in state.granted:
        raise AlreadyUsed("The decision granted another authority before.")
    if ConfirmRequest.of(**{name: getattr(confirm, name) for name in _TERMS}).digest != confirm.granted_by.request:
        raise NotConsent("What is granted is not what the chosen option was of.")
    check_approved(state, confirm, now)
    if allow.is_over(confirm, allow.Now(now.actor, now.at)):
        raise ConfirmExpired("The approval was too old: its time was over.")


def _check_intent(state: State, intent: Intent, now: Now) -> None:
    _check_once(intent.intent_id in state.intents)
    asked = {name: getattr(intent, name) for name in _ASKED}
    request = ActionRequest.of(**asked, is_pure=True)  # what it takes as a side effect stands in its spends already
    allow.check(state, intent.authorization_ref, request, now)


def _check_receipt(state: State, receipt: Receipt) -> None:
    intent = state.intents.get(receipt.intent_ref)
    if intent is None:
        raise OtherCall("It is the receipt of an act that was never begun.")
    _check_once(receipt.intent_ref in state.receipts or receipt.receipt_id in state.places)
    if any(getattr(receipt, name) != getattr(intent, name) for name in _DEED):
        raise OtherCall("It is the receipt of another act than the one that was begun.")


def _check_time(record: Chained, at: float) -> None:
    """Raise where a record tells of another time than its place; a confirm's is that of the choice."""
    if record.type != "CONFIRM" and moment(record.timestamp) != at:
        raise OtherCall("It tells of another time than that at which it was written down.")


def _check_once(is_known: bool) -> None:  # noqa: FBT001
    if is_known:
        raise AlreadyUsed("It stands in the chain before.")


def _delegate(state: State) -> str:
    """Return who may be granted authority while the workflow is stopped, which a confirm does not tell."""
    stops = (each for each in state.holding.values() if each.step_id is None)
    return next((each.delegate_to for each in stops if each.delegate_to), "")
