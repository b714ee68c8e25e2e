"""The rules of delegation: the state a workflow's chain adds up to, and the actions that state permits.

This module performs no I/O. An action may begin only under a live confirm that covers it and leaves enough of each
limit. Lines read from a store are checked against the same rules under which they were written.

Source: delegation-invariants, CONFIRM and STOP.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final, assert_never

from emitter.authority.chain import compute_genesis_hash
from emitter.authority.records import (
    BUDGET_PATTERN,
    LINE_VERSION,
    ActionRequest,
    Confirm,
    ConfirmRequest,
    Expire,
    Intent,
    Receipt,
    Resume,
    Revoke,
    Stop,
    StopScope,
    TakeoverMode,
    UnknownRecord,
    add_amounts,
    parse_timestamp,
)
from emitter.errors import (
    AlreadyUsed,
    AuthorityError,
    ConfirmExpired,
    ConfirmNotYetValid,
    ConfirmRevoked,
    InputError,
    LimitExceeded,
    LimitUnknown,
    LimitUnstated,
    NewerRecord,
    NotConsent,
    NotRevocable,
    OtherCall,
    OutOfScope,
    RiskExceeded,
    Tampered,
    Unfinished,
    UnknownConfirm,
    WorkflowStopped,
)
from emitter.render.safe_text import to_single_line

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from emitter.authority.records import Amount, ChainRecord, Line, Scope


class GrantEnd(str, Enum):
    """The reason a confirm no longer authorizes anything."""

    REVOKED = "revoked"
    EXPIRED = "expired"
    STOPPED = "stopped"


class SpentAmounts(dict[str, "Amount"]):
    """Amounts spent by limit, 0 by default."""

    def __missing__(self, name: str) -> int:
        return 0


@dataclass(slots=True)
class GrantState:
    """A confirm, the amounts spent under it, and why it ended, if it did."""

    confirm: Confirm
    spent: SpentAmounts = field(default_factory=SpentAmounts)
    uses: int = 0
    end: GrantEnd | None = None


@dataclass(slots=True)
class WorkflowState:
    """Everything known about a workflow up to its line ``last``."""

    workflow_id: str
    last: Line | None = None
    confirms: dict[str, GrantState] = field(default_factory=dict[str, GrantState])
    confirm_ids_by_decision: dict[str, str] = field(default_factory=dict[str, str])
    """Confirm ids by the decision that granted them."""
    expired_before_grant: set[str] = field(default_factory=set[str])
    """Ids of confirms that expired before they were granted and never can be."""
    intents: dict[str, Intent] = field(default_factory=dict[str, Intent])
    receipts: dict[str, Receipt] = field(default_factory=dict[str, Receipt])
    """Receipts by intent id."""
    receipt_line_numbers: dict[str, int] = field(default_factory=dict[str, int])
    """Line numbers by receipt id."""
    stops: dict[str, Stop] = field(default_factory=dict[str, Stop])
    active_stops: dict[str, Stop] = field(default_factory=dict[str, Stop])
    """Stops that were not lifted. Each applies independently."""
    newer_version: int = 0
    """The latest version of a line that a newer release wrote, or 0."""
    stopped_at: str | None = None
    """The time of the latest stop of the workflow. Approvals up to then are invalid."""

    @property
    def next_number(self) -> int:
        """The number of the next line."""
        return 0 if self.last is None else self.last.seq + 1

    @property
    def head(self) -> str:
        """The hash that the next line's ``prev`` must equal."""
        return compute_genesis_hash(self.workflow_id) if self.last is None else self.last.hash

    @property
    def unfinished_intents(self) -> Mapping[str, Intent]:
        """The intents without a receipt, in the order written."""
        return {name: intent for name, intent in self.intents.items() if name not in self.receipts}

    def find_stop(self, step_id: str | None, actor: str) -> Stop | None:
        """Return a stop that prevents the actor from beginning the step, or None.

        Of several, one that cannot be lifted is returned, because a resume of the others changes nothing.
        """
        holding = (
            stop
            for stop in self.active_stops.values()
            if (stop.step_id is None or stop.step_id == step_id)
            and not (stop.takeover_mode is TakeoverMode.DELEGATE and stop.delegate_to == actor)
        )
        return min(holding, key=lambda stop: stop.takeover_mode in RESUMABLE_MODES, default=None)

    def apply(self, line: Line) -> None:
        """Apply the next line."""
        record = line.record
        match record:
            case Confirm():
                self.confirms[record.confirm_id] = GrantState(record)
                self.confirm_ids_by_decision[record.granted_by.decision] = record.confirm_id
            case Revoke():
                self._end_grant(record.confirm_id, GrantEnd.REVOKED)
            case Expire():
                self._expire_grant(record.confirm_id)
            case Stop():
                self._apply_stop(record, line.at)
            case Resume():
                del self.active_stops[record.request_id]
            case Intent():
                self.intents[record.intent_id] = record
                self._apply_spending(record)
            case Receipt():
                self.receipts[record.intent_ref] = record
                self.receipt_line_numbers[record.receipt_id] = line.seq
            case _:
                assert_never(record)
        self.last = line

    def apply_newer(self, line: Line) -> None:
        """Apply what is known of a line that a newer release wrote, or that follows one.

        What such lines allow is not known here, so it is not checked.
        """
        self.newer_version = max(self.newer_version, line.version)
        if not isinstance(line.record, UnknownRecord):  # pyright: ignore[reportUnnecessaryIsInstance]
            with suppress(KeyError):  # it refers to a record that is not known
                self.apply(line)
        self.last = line

    def _apply_spending(self, intent: Intent) -> None:
        grant = self.confirms[intent.authorization_ref]
        for name, amount in intent.spends.items():
            grant.spent[name] = add_amounts(grant.spent[name], amount)
        grant.uses += 1

    def _end_grant(self, confirm_id: str, end: GrantEnd) -> None:
        grant = self.confirms[confirm_id]
        if grant.end is None or end is GrantEnd.REVOKED:
            grant.end = end

    def _expire_grant(self, confirm_id: str) -> None:
        if confirm_id in self.confirms:
            self._end_grant(confirm_id, GrantEnd.EXPIRED)
        else:
            self.expired_before_grant.add(confirm_id)

    def _apply_stop(self, stop: Stop, at: str) -> None:
        self.stops[stop.request_id] = stop
        self.active_stops[stop.request_id] = stop
        if stop.stop_scope is StopScope.CHAIN:
            self.stopped_at = at
            for confirm_id in self.confirms:
                self._end_grant(confirm_id, GrantEnd.STOPPED)


SIDE_EFFECTS: Final = "max_side_effects"
"""The limit on the number of actions that change something."""


def is_enforceable_limit(name: str, custom_limits: Collection[str] = ()) -> bool:
    """Return True for ``max_side_effects``, ``budget_`` with an ISO 4217 code, or a name in ``custom_limits``."""
    return name == SIDE_EFFECTS or name in custom_limits or re.fullmatch(BUDGET_PATTERN, name) is not None


def check_enforceable_limits(limits: Mapping[str, Amount], custom_limits: Collection[str] = ()) -> None:
    """Raise ``LimitUnknown`` for a limit that cannot be enforced."""
    unknown = [name for name in limits if not is_enforceable_limit(name, custom_limits)]
    if unknown:
        raise LimitUnknown(
            f"The limit {unknown[0]} is unknown and cannot be enforced.",
            hint="Use max_side_effects, budget_usd (in dollars) or another currency, or name it in Authority(limits=).",
        )


def compute_spending(spends: Mapping[str, Amount], *, is_pure: bool) -> dict[str, Amount]:
    """Return what an action uses of each limit. An action that is not pure uses at least one side effect."""
    return dict(spends) if is_pure else {**spends, SIDE_EFFECTS: max(1, spends.get(SIDE_EFFECTS, 1))}


def check_remaining(limits: Mapping[str, Amount], spent: Mapping[str, Amount], spending: Mapping[str, Amount]) -> None:
    """Raise ``LimitUnstated`` or ``LimitExceeded`` if an action omits a limit's amount or uses more than is left."""
    unstated = [name for name in limits if name != SIDE_EFFECTS and name not in spending]
    if unstated:
        raise LimitUnstated(
            f"The action does not state how much of {unstated[0]} it uses.", hint="Add it to spends=; 0 is allowed."
        )
    beyond = [name for name, amount in spending.items() if amount and name not in limits and name != SIDE_EFFECTS]
    if beyond:
        raise LimitUnstated(f"The action uses {beyond[0]}, which was not granted.", hint="Request it as a limit.")
    for name, limit in limits.items():
        left = add_amounts(limit, -spent.get(name, 0))
        if spending.get(name, 0) > left:
            raise LimitExceeded(
                f"The action would use more {name} than the {left:,} left.", hint="Ask the principal for more."
            )


@dataclass(frozen=True, slots=True)
class ActorClock:
    """The actor and the time in seconds since 1970; ``skew`` is how many seconds clocks may differ."""

    actor: str
    at: float
    skew: float = 0.0


def has_expired(confirm: Confirm, clock: ActorClock) -> bool:
    """Return True if a confirm has expired on any clock within the skew."""
    return clock.at + clock.skew >= parse_timestamp(confirm.timestamp) + confirm.ttl_seconds


def get_grant_state(state: WorkflowState, confirm_id: str) -> GrantState:
    """Return a confirm of the workflow, or raise ``UnknownConfirm``."""
    grant = state.confirms.get(confirm_id)
    if grant is None:
        raise UnknownConfirm("This workflow has no confirm with this id.", hint="Call Authority.confirm() first.")
    return grant


_RESUMABLE_HINT: Final = (
    "Repeat the call once it is resumed. An approval from before the stop of the whole workflow no longer counts then: "
    "make a new call."
)
_FINAL_HINT: Final = "This cannot be lifted. Begin another workflow."


def check_not_stopped(state: WorkflowState, step_id: str | None, actor: str) -> None:
    """Raise ``WorkflowStopped`` if the actor may not begin the step."""
    stop = state.find_stop(step_id, actor)
    if stop is not None:
        is_resumable = stop.takeover_mode in RESUMABLE_MODES
        raise WorkflowStopped(
            "The workflow or this step was stopped.", hint=_RESUMABLE_HINT if is_resumable else _FINAL_HINT
        )


def check_all_known(state: WorkflowState) -> None:
    """Raise ``NewerRecord`` if a newer release wrote to the workflow: what its records forbid is not known here."""
    if state.newer_version:
        place = f"A record of the workflow {state.workflow_id}"
        raise NewerRecord(place, version=state.newer_version, known=LINE_VERSION)


def describe_stop(stop: Stop) -> str:
    """Say that a workflow or step is stopped, and what an approval is worth meanwhile."""
    step = "" if stop.step_id is None else f"the step {to_single_line(stop.step_id)} of "
    reason = "" if stop.reason is None else f" ({to_single_line(stop.reason)})"
    if stop.takeover_mode in RESUMABLE_MODES:
        effect = "An approval has an effect only once it is resumed, if it is still valid then."
    else:
        effect = "This cannot be lifted, so an approval has no effect."
    place = f"{step}the workflow {to_single_line(stop.workflow_id)}"
    return f"{place[0].upper()}{place[1:]} is stopped{reason}. {effect}"


def check_grant_live(grant: GrantState, clock: ActorClock) -> None:
    """Raise ``WorkflowStopped``, ``ConfirmRevoked`` or ``ConfirmExpired`` if a confirm has ended."""
    if grant.end is not None:
        kind, message = _END_ERRORS[grant.end]
        raise kind(message, hint=_ASK_AGAIN_HINT)
    if has_expired(grant.confirm, clock):
        raise ConfirmExpired("The confirm has expired.", hint=_ASK_AGAIN_HINT)


def check_grant_covers(confirm: Confirm, request: ActionRequest) -> None:
    """Raise ``OutOfScope``, ``RiskExceeded`` or ``OtherCall`` if a confirm does not cover an action."""
    _check_scope(confirm.scope, request)
    if not confirm.risk_level.covers(request.risk_level):
        raise RiskExceeded("The action's risk level is higher than the approved one.", hint=_ASK_AGAIN_HINT)
    if confirm.call != request.call:
        raise OtherCall("The confirm is for a different call.", hint=_ASK_AGAIN_HINT)


def check_may_begin(state: WorkflowState, confirm_id: str, request: ActionRequest, clock: ActorClock) -> None:
    """Raise the ``AuthorityError`` that prevents an action from beginning, if any."""
    check_not_stopped(state, request.step_id, clock.actor)
    grant = get_grant_state(state, confirm_id)
    check_grant_live(grant, clock)
    check_grant_covers(grant.confirm, request)
    if grant.confirm.call is not None and grant.uses:
        message = "The confirm was for one call, which was already made."
        raise AlreadyUsed(message, receipt_id=_receipt_id_of(state, confirm_id), hint=_ASK_AGAIN_HINT)
    spending = compute_spending(request.spends, is_pure=request.is_pure)
    check_remaining(grant.confirm.limits, grant.spent, spending)


def _receipt_id_of(state: WorkflowState, confirm_id: str) -> str:
    """Return the id of the receipt of a confirm's only action, or an empty string."""
    receipt_ids = (receipt.receipt_id for receipt in state.receipts.values() if receipt.authorization_ref == confirm_id)
    return next(receipt_ids, "")


def _check_scope(scope: Scope, request: ActionRequest) -> None:
    is_covered = (
        scope.workflow_id == request.workflow_id
        and _is_named(scope.step_ids, request.step_id)
        and _is_named(scope.targets, request.target)
        and _is_named(scope.capabilities, request.capability or request.action)
    )
    if not is_covered:
        raise OutOfScope("The confirm does not cover this workflow, step, target or capability.", hint=_ASK_AGAIN_HINT)


def _is_named(allowed: Sequence[str] | None, value: str | None) -> bool:
    return allowed is None or value in allowed


_ASK_AGAIN_HINT: Final = "Ask the principal again, and confirm their choice."
_END_ERRORS: Final = {
    GrantEnd.REVOKED: (ConfirmRevoked, "The confirm was revoked."),
    GrantEnd.EXPIRED: (ConfirmExpired, "The confirm has expired."),
    GrantEnd.STOPPED: (WorkflowStopped, "The workflow was stopped after this confirm."),
}
RESUMABLE_MODES: Final = frozenset({TakeoverMode.PAUSE, TakeoverMode.HUMAN})
"""Stops in these modes can be resumed."""
_GRANT_FIELDS: Final = tuple(ConfirmRequest.model_fields)
_REQUEST_FIELDS: Final = tuple(name for name in ActionRequest.model_fields if name in Intent.model_fields)
_ACTION_FIELDS: Final = ("workflow_id", "step_id", "action", "target", "actor", "authorization_ref")
"""Fields that a receipt shares with its intent."""


def apply_line(state: WorkflowState, line: Line, max_skew: float = 0.0) -> None:
    """Apply a line that is allowed at its position, or raise ``Tampered``.

    Lines of a newer release, and all that follow one, are applied as far as they are known.
    """
    if line.version > LINE_VERSION or state.newer_version:
        state.apply_newer(line)
        return
    place = f"line {line.seq}"
    try:
        check_line_allowed(state, line, max_skew)
    except (AuthorityError, InputError) as error:
        message = f"{place}, {line.record.type}, was not allowed at its position: {error.args[0]}"
        raise Tampered(message, place=place) from error
    state.apply(line)


def check_line_allowed(state: WorkflowState, line: Line, max_skew: float = 0.0) -> None:
    """Raise ``AuthorityError`` or ``InputError`` if the preceding lines do not allow a line.

    ``max_skew`` is how many seconds clocks may have differed. A larger value makes the check more lenient.
    """
    record, at = line.record, parse_timestamp(line.at)
    _check_timestamp(record, at)
    match record:
        case Confirm():
            _check_confirm(state, record, ActorClock(_find_delegate(state), at, max_skew))
        case Revoke():
            check_revocable(get_grant_state(state, record.confirm_id))
        case Expire():
            _reject_repetition(is_grant_ended(state, record.confirm_id))
        case Stop():
            _reject_repetition(record.request_id in state.stops)
        case Resume():
            check_resumable(state, record.request_id)
        case Intent():
            _check_intent(state, record, ActorClock(record.actor, at))
        case Receipt():
            _check_receipt(state, record)
        case _:
            assert_never(record)


def check_confirm_grantable(
    state: WorkflowState, confirm: Confirm, clock: ActorClock, *, stop_skew: float = 0.0
) -> None:
    """Raise ``WorkflowStopped`` or ``ConfirmNotYetValid`` if an approval cannot be granted now.

    An approval given less than ``stop_skew`` seconds after a stop counts as given before it.
    """
    check_not_stopped(state, None, clock.actor)
    approved = parse_timestamp(confirm.timestamp)
    if state.stopped_at is not None and approved <= parse_timestamp(state.stopped_at) + stop_skew:
        raise WorkflowStopped("The workflow was stopped after this approval.", hint="Ask the principal again.")
    if approved > clock.at + clock.skew:
        raise ConfirmNotYetValid(
            "The approval's time is in the future: the clock that recorded it is ahead of this one.",
            hint="Repeat the same call later. Synchronize the clocks, or pass the seconds by which they may differ as "
            "Authority(max_skew=...).",
        )


def is_grant_ended(state: WorkflowState, confirm_id: str) -> bool:
    """Return True if a confirm has ended, or expired before it was granted."""
    grant = state.confirms.get(confirm_id)
    return confirm_id in state.expired_before_grant if grant is None else grant.end is not None


def check_revocable(grant: GrantState) -> None:
    """Raise ``NotRevocable`` or ``ConfirmRevoked`` if a confirm cannot be revoked."""
    if not grant.confirm.revocable:
        raise NotRevocable("The confirm was granted as not revocable.", hint="Stop the workflow.")
    if grant.end is GrantEnd.REVOKED:
        raise ConfirmRevoked("The confirm was already revoked.")


def check_unused(state: WorkflowState, grant: GrantState) -> None:
    """Raise ``Unfinished`` or ``AlreadyUsed`` if an action has begun under a confirm."""
    confirm_id = grant.confirm.confirm_id
    for intent in state.unfinished_intents.values():
        if intent.authorization_ref == confirm_id:
            raise Unfinished(
                "The call has begun and has no receipt yet, so its approval cannot be taken back.",
                intent_id=intent.intent_id,
                hint="Stop its workflow: a tool that calls current_action().check() notices.",
            )
    if grant.uses:
        raise AlreadyUsed(
            "The call was made, so its approval cannot be taken back.", receipt_id=_receipt_id_of(state, confirm_id)
        )


def check_resumable(state: WorkflowState, request_id: str) -> None:
    """Raise ``InputError`` for an unknown stop, and ``WorkflowStopped`` for a final one."""
    stop = state.active_stops.get(request_id)
    if stop is None:
        raise InputError("This workflow has no active stop with this id.", hint="Pass Stop.request_id.")
    if stop.takeover_mode not in RESUMABLE_MODES:
        raise WorkflowStopped(
            "The stop is final, or control was delegated to another agent.", hint="Begin another workflow."
        )


def _check_confirm(state: WorkflowState, confirm: Confirm, clock: ActorClock) -> None:
    _reject_repetition(confirm.confirm_id in state.confirms)
    if confirm.confirm_id in state.expired_before_grant:
        raise ConfirmExpired("The approval was already recorded as expired.")
    if confirm.granted_by.decision in state.confirm_ids_by_decision:
        raise AlreadyUsed("The decision already granted another confirm.")
    if (
        ConfirmRequest.from_members(**{name: getattr(confirm, name) for name in _GRANT_FIELDS}).digest
        != confirm.granted_by.request
    ):
        raise NotConsent("The confirm does not match the chosen option.")
    check_confirm_grantable(state, confirm, clock)
    if has_expired(confirm, ActorClock(clock.actor, clock.at)):
        raise ConfirmExpired("The approval had expired.")


def _check_intent(state: WorkflowState, intent: Intent, clock: ActorClock) -> None:
    _reject_repetition(intent.intent_id in state.intents)
    members = {name: getattr(intent, name) for name in _REQUEST_FIELDS}
    request = ActionRequest.from_members(**members, is_pure=True)  # its spends already include the side effect
    check_may_begin(state, intent.authorization_ref, request, clock)


def _check_receipt(state: WorkflowState, receipt: Receipt) -> None:
    intent = state.intents.get(receipt.intent_ref)
    if intent is None:
        raise OtherCall("The receipt's action never began.")
    _reject_repetition(receipt.intent_ref in state.receipts or receipt.receipt_id in state.receipt_line_numbers)
    if any(getattr(receipt, name) != getattr(intent, name) for name in _ACTION_FIELDS):
        raise OtherCall("The receipt does not match the action's intent.")


def _check_timestamp(record: ChainRecord, at: float) -> None:
    """Raise if a record's timestamp is not its line's; a confirm keeps the time of the choice."""
    if record.type != "CONFIRM" and parse_timestamp(record.timestamp) != at:
        raise OtherCall("The record's timestamp differs from its line's.")


def _reject_repetition(is_repeated: bool) -> None:  # noqa: FBT001
    if is_repeated:
        raise AlreadyUsed("The record is already in the chain.")


def _find_delegate(state: WorkflowState) -> str:
    """Return the agent to which a stopped workflow was delegated, since a confirm does not name its actor."""
    stops = (stop for stop in state.active_stops.values() if stop.step_id is None)
    return next((stop.delegate_to for stop in stops if stop.delegate_to), "")
