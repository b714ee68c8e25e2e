"""Grant, revoke, stop and resume authority.

A confirm grants what a principal chose, within limits and for a limited time. A stop prevents further actions of a
step or a workflow, in every process that shares the store.

Source: delegation-invariants, "CONFIRM (execution authority)" and "STOP / TAKEOVER (deterministic intervention)".
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from emitter.authority import configuration, rules
from emitter.authority.context import run_hooks_after, run_hooks_before
from emitter.authority.journal import NewRecord
from emitter.authority.records import (
    Confirm,
    ConfirmRequest,
    Expire,
    FirstApproval,
    Granted,
    Resume,
    Revoke,
    Stop,
    StopScope,
    TakeoverMode,
)
from emitter.authority.rules import GrantState, SpentAmounts, get_grant_state, has_expired
from emitter.decisions import Selected
from emitter.decisions.ledger_entries import ResolvedDecision
from emitter.decisions.resolution import check_two_keys, known_keys, verify_answer
from emitter.errors import AlreadyResolved, ConfirmExpired, InputError, NotConsent, UnknownConfirm, UnknownDecision
from emitter.events import format_timestamp
from emitter.interpreter import BlockingStep
from emitter.messages import as_mapping
from emitter.telemetry.sinks import generate_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.authority.context import AuthorityContext
    from emitter.authority.records import Intent, Receipt
    from emitter.authority.rules import WorkflowState
    from emitter.decisions.ledger_entries import Approval, PendingDecision
    from emitter.interpreter import Steps
    from emitter.messages import Json

_ASK_AGAIN_HINT: Final = "Make a new call to ask the principal again; ttl_seconds= sets how long an approval lasts."
_OPEN_DECISION_HINT: Final = "Open a decision with an option whose action is the request's digest, and resolve it."


def grant_confirm(
    context: AuthorityContext, decision: ResolvedDecision | str, request: ConfirmRequest
) -> Steps[Confirm]:
    """Grant what the principal chose; the same choice returns the same confirm."""
    request = configuration.validate_record(ConfirmRequest, request)
    rules.check_enforceable_limits(request.limits, context.limit_names)
    consent: ResolvedDecision = yield BlockingStep(partial(_find_consent, context, decision, request))
    return (yield from grant_consent(context, consent, request))


def grant_consent(context: AuthorityContext, consent: ResolvedDecision, request: ConfirmRequest) -> Steps[Confirm]:
    """Grant what a principal chose. ``consent`` must come from the ledger, and ``request`` be the library's own."""
    granted = _make_confirm(context, consent, request)  # checks the signature before any hook is called
    existing: Confirm | None = yield BlockingStep(partial(_find_granted_confirm, context, consent, request))
    if existing is not None:
        yield from _repeat_after_confirm(context, existing)
        return existing
    yield from run_hooks_before(context, "before_confirm", request, copied=True)
    yield BlockingStep(partial(_append_confirm, context, granted))
    yield from run_hooks_before(context, "after_confirm", granted)  # no action has begun, so raising still prevents it
    return granted


def _repeat_after_confirm(context: AuthorityContext, confirm: Confirm) -> Steps[None]:
    """Call ``after_confirm`` again for an unused confirm, so that a hook that raised still prevents the action."""
    grant: GrantState = yield BlockingStep(partial(read_grant_state, context, confirm.confirm_id))
    if not grant.uses:
        yield from run_hooks_before(context, "after_confirm", confirm)


def revoke_confirm(context: AuthorityContext, confirm_id: str, reason: str | None) -> Revoke:
    """Revoke a confirm, or raise ``UnknownConfirm``, ``NotRevocable`` or ``ConfirmRevoked``."""
    workflow_id = find_workflow_id(context, confirm_id)

    def make(state: WorkflowState, at: float) -> NewRecord[Revoke]:
        grant = get_grant_state(state, confirm_id)
        rules.check_revocable(grant)
        return NewRecord(_make_revoke(grant.confirm, at, reason))

    return context.journal.append(workflow_id, make)


def revoke_approval(context: AuthorityContext, decision: ResolvedDecision, request: ConfirmRequest) -> Revoke:
    """Revoke an approval under which no action has begun. If it has no CONFIRM yet, one is recorded first."""
    consent = _find_consent(context, decision, request)
    granted = _make_confirm(context, consent, request)
    rules.check_revocable(GrantState(granted))  # before anything is recorded

    if _find_granted_confirm(context, consent, request) is None:
        _append_confirm(context, granted)

    def make(state: WorkflowState, at: float) -> NewRecord[Revoke]:
        grant = get_grant_state(state, granted.confirm_id)
        rules.check_unused(state, grant)
        rules.check_revocable(grant)
        return NewRecord(_make_revoke(grant.confirm, at, None))

    return context.journal.append(request.scope.workflow_id, make)


def _make_revoke(confirm: Confirm, at: float, reason: str | None) -> Revoke:
    ids = {"confirm_id": confirm.confirm_id, "workflow_id": confirm.scope.workflow_id}
    try:
        return Revoke.from_members(**ids, revoke_id=generate_id(), timestamp=format_timestamp(at), reason=reason)
    except ValidationError as error:
        raise InputError(f"Invalid reason: {error.errors()[0]['msg']}.") from None


def find_workflow_id(context: AuthorityContext, confirm_id: str) -> str:
    """Return the workflow of a confirm, or raise ``UnknownConfirm``."""
    workflow_id = context.journal.get_value(_index_key(confirm_id))
    if workflow_id is None:
        raise UnknownConfirm(
            "No confirm has this id.",
            hint="Call Authority.confirm() first, with the same store. An approved guarded call has a confirm only "
            "once it runs: take it back with the guarded tool's revoke(call_id, ...).",
        )
    return str(workflow_id)


def read_grant_state(context: AuthorityContext, confirm_id: str) -> GrantState:
    """Return a copy of a confirm's state."""

    def read(state: WorkflowState) -> GrantState:
        grant = get_grant_state(state, confirm_id)
        return replace(grant, confirm=grant.confirm.model_copy(deep=True), spent=SpentAmounts(grant.spent))

    return context.journal.read(find_workflow_id(context, confirm_id), read)


def read_actions(context: AuthorityContext, decision: str) -> tuple[tuple[Intent, Receipt | None], ...]:
    """Return the actions under the confirm that a decision granted, each with its receipt."""
    confirm_id = confirm_id_of(decision)
    workflow_id = find_grant_workflow(context, decision)

    def read(state: WorkflowState) -> tuple[tuple[Intent, Receipt | None], ...]:
        intents = (intent for intent in state.intents.values() if intent.authorization_ref == confirm_id)
        return tuple((intent, state.receipts.get(intent.intent_id)) for intent in intents)

    return () if workflow_id is None else context.journal.read(workflow_id, read)


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """The record of a guarded call's request, made when its decision was opened.

    Attributes:
        workflow_id: The workflow of the call.
        step_id: Its step.
        terms: The requested authority as JSON. An earlier release recorded none.
    """

    workflow_id: str
    step_id: str | None
    terms: Mapping[str, Json]

    @property
    def ttl_seconds(self) -> int | None:
        """For how long an approval is valid."""
        seconds = self.terms.get("ttl_seconds")
        return seconds if isinstance(seconds, int) else None

    @property
    def call_id(self) -> str:
        """The id of the call, or an empty string."""
        return str(as_mapping(self.terms.get("call")).get("call_id", ""))


def record_request(context: AuthorityContext, decision: str, request: ConfirmRequest, step_id: str | None) -> None:
    """Store what a decision is about, so that surfaces can say that it is stopped or has lapsed."""
    terms = request.to_json()
    value: dict[str, Json] = {"workflow_id": request.scope.workflow_id, "step_id": step_id, "request": terms}
    context.journal.put_once(_decision_key(decision), value)


def read_recorded_request(context: AuthorityContext, decision: str) -> RecordedRequest | None:
    """Return what was recorded about a decision, or None if it is not about a guarded call."""
    place = as_mapping(context.journal.get_value(_decision_key(decision)))
    if not place:
        return None
    return RecordedRequest(str(place["workflow_id"]), place.get("step_id"), as_mapping(place.get("request")))


def withdraw_questions(context: AuthorityContext, call_id_prefix: str) -> tuple[str, ...]:
    """Withdraw the open questions about calls whose ids begin with a prefix, and return the ids of the decisions."""
    withdrawn = list[str]()
    for pending in context.ledger.pending():
        recorded = read_recorded_request(context, pending.reference) if pending.subject else None
        if recorded is not None and recorded.call_id.startswith(call_id_prefix):
            with suppress(AlreadyResolved):  # just now
                context.ledger.withdraw(pending.decision_id)
                withdrawn.append(pending.decision_id)
    return tuple(withdrawn)


def find_grant_workflow(context: AuthorityContext, decision: str) -> str | None:
    """Return the workflow of the confirm that a decision granted, or None if it granted none yet."""
    workflow_id = context.journal.get_value(_index_key(confirm_id_of(decision)))
    return None if workflow_id is None else str(workflow_id)


def find_stop(context: AuthorityContext, pending: PendingDecision) -> Stop | None:
    """Return the stop that holds the call that a decision is about, or None."""
    recorded = read_recorded_request(context, pending.reference)
    if recorded is None:
        return None
    return context.journal.read(recorded.workflow_id, lambda state: state.find_stop(recorded.step_id, pending.agent))


def _find_consent(
    context: AuthorityContext, decision: ResolvedDecision | str, request: ConfirmRequest
) -> ResolvedDecision:
    """Return the choice from the ledger, because the caller's copy proves nothing."""
    try:
        decision_id = decision.decision_id if isinstance(decision, ResolvedDecision) else decision
        decision_state = context.ledger.find(decision_id)
    except UnknownDecision:
        raise NotConsent("The ledger has no decision with this id.", hint=_OPEN_DECISION_HINT) from None
    if not isinstance(decision_state, ResolvedDecision):
        raise NotConsent("The decision is not resolved yet.", hint=_OPEN_DECISION_HINT)
    if not isinstance(decision_state.resolution, Selected) or decision_state.action is None:
        raise NotConsent("The principal chose no option with an action.", hint=_OPEN_DECISION_HINT)
    if decision_state.action != request.digest:
        raise NotConsent("The principal chose an option for a different request.", hint=_OPEN_DECISION_HINT)
    return decision_state


def _find_granted_confirm(
    context: AuthorityContext, consent: ResolvedDecision, request: ConfirmRequest
) -> Confirm | None:
    # A choice that was just made here has no confirm, and if it has one after all, its record is not written twice.
    def read(state: WorkflowState) -> Confirm | None:
        if confirm_id_of(consent.pending.reference) in state.expired_before_grant:
            raise _approval_expired()
        confirm_id = state.confirm_ids_by_decision.get(consent.pending.reference)
        return None if confirm_id is None else state.confirms[confirm_id].confirm.model_copy(deep=True)

    return context.journal.read(request.scope.workflow_id, read, refresh=consent.already_resolved)


def _append_confirm(context: AuthorityContext, granted: Confirm) -> None:
    workflow_id = granted.scope.workflow_id
    # The index is written first: a killed process may leave an index entry without a confirm, never the reverse.
    context.journal.put_once(_index_key(granted.confirm_id), workflow_id)

    def make(state: WorkflowState, at: float) -> NewRecord[Confirm | Expire] | None:
        if granted.confirm_id in state.confirms:
            return None  # another process confirmed the same choice first, with an identical record
        if granted.confirm_id in state.expired_before_grant:
            raise _approval_expired()
        clock = context.clock_at(at)
        rules.check_confirm_grantable(state, granted, clock, stop_skew=clock.skew)
        if has_expired(granted, clock):  # recorded, so that it holds even if a clock is set back
            return NewRecord(Expire.at(at, workflow_id, granted.confirm_id))
        return NewRecord(granted)

    if isinstance(context.journal.append(workflow_id, make), Expire):
        raise _approval_expired()


def _make_confirm(context: AuthorityContext, consent: ResolvedDecision, request: ConfirmRequest) -> Confirm:
    """Build the confirm that a choice grants, or raise ``UnsignedAnswer`` if signatures are checked."""
    resolution = consent.resolution
    if not isinstance(resolution, Selected) or consent.action != request.digest:  # a hook may have changed it
        raise NotConsent("The principal did not choose the option for this request.", hint=_OPEN_DECISION_HINT)
    granted = Granted.from_members(
        decision=consent.pending.reference,
        envelope=resolution.digest,
        option=resolution.index,
        request=request.digest,
        channel=consent.channel,
        signature=consent.signature,
        principal=consent.principal or None,
        first_approval=None if consent.first_approval is None else _make_first_approval(consent.first_approval),
    )
    terms = {name: getattr(request, name) for name in type(request).model_fields}
    ids = {"confirm_id": confirm_id_of(granted.decision), "timestamp": format_timestamp(consent.resolved_at)}
    confirm = Confirm.from_members(**ids, **terms, granted_by=granted)
    if context.check_answer is not None:
        verify_answer(context.check_answer, confirm.answer_statement, granted.signature)
        if granted.first_approval is not None and confirm.approval_statement is not None:
            verify_answer(context.check_answer, confirm.approval_statement, granted.first_approval.signature)
            check_two_keys(known_keys(context.check_answer), granted.first_approval.signature, granted.signature)
    return confirm


def _make_first_approval(approval: Approval) -> FirstApproval:
    return FirstApproval.from_members(
        principal=approval.principal,
        timestamp=format_timestamp(approval.approved_at),
        channel=approval.channel,
        signature=approval.signature,
    )


def _approval_expired() -> ConfirmExpired:
    return ConfirmExpired("The approval is too old: it has expired.", hint=_ASK_AGAIN_HINT)


def confirm_id_of(decision: str) -> str:
    """Return the id of the confirm that a decision grants, derived from its reference."""
    return f"confirm_{hashlib.sha256(f'emitter.confirm:{decision}'.encode()).hexdigest()[:32]}"


def _decision_key(decision: str) -> str:
    return f"decision:{decision}"


def _index_key(confirm_id: str) -> str:
    return f"confirm:{confirm_id}"


@dataclass(frozen=True, slots=True)
class StopResult:
    """A recorded stop, and the actions that began before it and have no receipt yet."""

    stop: Stop
    unfinished_intents: tuple[Intent, ...] = ()


@dataclass(frozen=True, slots=True)
class StopRequest:
    """A request to stop a workflow or a step. Repeating a ``request_id`` refers to the same stop."""

    workflow_id: str
    step_id: str | None = None
    takeover_mode: TakeoverMode | str | None = None
    delegate_to: str | None = None
    reason: str | None = None
    request_id: str | None = None

    def to_record(self, at: str) -> Stop:
        """Return the record, or raise ``InputError``."""
        scope = StopScope.CHAIN if self.step_id is None else StopScope.STEP
        members = {name: getattr(self, name) for name in self.__slots__}
        try:
            return Stop.from_members(**members, timestamp=at, stop_scope=scope)
        except ValidationError as error:
            raise InputError(f"Invalid stop: {error.errors()[0]['msg']}.") from None


def stop_workflow(context: AuthorityContext, request: StopRequest) -> Steps[StopResult]:
    """Stop a step or a workflow in every process."""
    stopped: StopResult
    stopped, is_new = yield BlockingStep(partial(_record_stop, context, request))
    # Also if another process recorded the stop: that process notified only its own actions.
    context.active_actions.notify_stop(stopped.stop)
    if is_new:
        yield from run_hooks_after(context, "on_stop", stopped.stop)
        if stopped.stop.takeover_mode is not None:
            yield from run_hooks_after(context, "on_takeover", stopped.stop)
    return stopped


def resume_workflow(context: AuthorityContext, workflow_id: str, request_id: str) -> Resume:
    """Lift a pause or a human takeover; earlier confirms stay invalid."""

    def make(state: WorkflowState, at: float) -> NewRecord[Resume]:
        rules.check_resumable(state, request_id)
        ids = {"resume_id": generate_id(), "workflow_id": workflow_id, "request_id": request_id}
        return NewRecord(Resume.from_members(**ids, timestamp=format_timestamp(at)))

    return context.journal.append(workflow_id, make)


def _record_stop(context: AuthorityContext, request: StopRequest) -> tuple[StopResult, bool]:
    identified = request if request.request_id is not None else replace(request, request_id=generate_id())
    identified.to_record(format_timestamp(0))  # raises InputError before the journal is locked

    def make(state: WorkflowState, at: float) -> NewRecord[Stop] | None:
        existing = state.stops.get(str(identified.request_id))
        if existing is None:
            return NewRecord(identified.to_record(format_timestamp(at)))
        if existing != identified.to_record(existing.timestamp):
            raise InputError("Another stop has this request_id.", hint="Pass another request_id, or none.")
        return None

    is_new = context.journal.append(identified.workflow_id, make) is not None
    return context.journal.read(
        identified.workflow_id, partial(_read_stop_result, request_id=str(identified.request_id))
    ), is_new


def _read_stop_result(state: WorkflowState, request_id: str) -> StopResult:
    stop = state.stops[request_id]
    running = [intent for intent in state.unfinished_intents.values() if stop.step_id in (None, intent.step_id)]
    return StopResult(stop, tuple(running))
