"""The state of a decision and of the act that it approved, computed from the store, for every surface.

A decision ends with its answer; an approval goes on from there until its call is made, or cannot be made any more.
"""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Final

from emitter.authority.grants import RecordedRequest, confirm_id_of, find_grant_workflow, read_recorded_request
from emitter.authority.records import Result, parse_timestamp
from emitter.authority.rules import GrantEnd
from emitter.decisions.ledger_entries import PendingDecision, UnreadableAnswer
from emitter.decisions.resolution import ResolutionOutcome
from emitter.events import format_timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.authority.context import AuthorityContext
    from emitter.authority.records import Intent
    from emitter.authority.rules import WorkflowState
    from emitter.decisions.ledger_entries import ResolvedDecision


class ApprovalState(str, Enum):
    """The state of a decision and of the act that it approved. ``OPEN``, ``WAITING`` and ``RUNNING`` can change."""

    OPEN = "open"
    """A person can answer."""
    EXPIRED = "expired"
    """Nobody answered in time."""
    WITHDRAWN = "withdrawn"
    """The agent withdrew the question, because an answer would have no effect."""
    CHOSEN = "chosen"
    """An option was chosen, of a question that approves nothing."""
    ANSWERED = "answered"
    """The person answered in their own words."""
    REFUSED = "refused"
    """The person chose an option that does not make the call."""
    OBJECTED = "objected"
    """The person refused the question."""
    WAITING = "waiting"
    """The call is approved, and waits for the agent to make it."""
    RUNNING = "running"
    """The call has begun, and its approval is still valid."""
    DONE = "done"
    PARTIAL = "partial"
    """The call failed after a part of its effect."""
    FAILED = "failed"
    UNFINISHED = "unfinished"
    """The call began, and has no receipt after the time of its approval: its outcome is unknown."""
    LAPSED = "lapsed"
    """The agent did not make the approved call in time."""
    REVOKED = "revoked"
    STOPPED = "stopped"
    """The approval is from before a stop of its workflow, or the workflow is stopped."""

    @property
    def label(self) -> str:
        """The state in a few words."""
        return _TEXTS[self][0]

    @property
    def deed(self) -> str:
        """The effect on the act, as a sentence."""
        return _TEXTS[self][1]


_NOTHING: Final = "Nothing. No act was approved."
_TEXTS: Final[Mapping[ApprovalState, tuple[str, str]]] = {
    ApprovalState.OPEN: ("open", "Nothing yet. Nobody has answered."),
    ApprovalState.EXPIRED: ("expired", _NOTHING),
    ApprovalState.WITHDRAWN: ("withdrawn", _NOTHING),
    ApprovalState.CHOSEN: ("answered", _NOTHING),
    ApprovalState.ANSWERED: ("answered in their own words", _NOTHING),
    ApprovalState.REFUSED: ("refused", _NOTHING),
    ApprovalState.OBJECTED: ("objected to", _NOTHING),
    ApprovalState.WAITING: (
        "approved, and waits for the agent",
        "Nothing yet. The call is approved, and waits for the agent to make it.",
    ),
    ApprovalState.RUNNING: ("approved, and running", "The call has begun, and has no receipt yet."),
    ApprovalState.DONE: ("approved, and done", "The approved call was made."),
    ApprovalState.PARTIAL: ("approved, and partly done", "The approved call failed after a part of its effect."),
    ApprovalState.FAILED: ("approved, and failed", "The approved call was made, and failed."),
    ApprovalState.UNFINISHED: (
        "approved, with an unknown outcome",
        "The call began and has no receipt, so its outcome is unknown. Find it out, and settle it.",
    ),
    ApprovalState.LAPSED: (
        "approved, and lapsed",
        "Nothing. The agent did not make the call while the approval was valid, and must ask again.",
    ),
    ApprovalState.REVOKED: ("approved, and revoked", "Nothing. The approval was revoked before the call began."),
    ApprovalState.STOPPED: ("approved, and stopped", "Nothing. The workflow of the call was stopped."),
}

_ENDS: Final = {
    GrantEnd.REVOKED: ApprovalState.REVOKED,
    GrantEnd.EXPIRED: ApprovalState.LAPSED,
    GrantEnd.STOPPED: ApprovalState.STOPPED,
}
_RESULTS: Final = {
    Result.SUCCESS: ApprovalState.DONE,
    Result.PARTIAL: ApprovalState.PARTIAL,
    Result.FAILURE: ApprovalState.FAILED,
}


def find_state(context: AuthorityContext, decision: PendingDecision | ResolvedDecision) -> ApprovalState:
    """Return the state of a decision and of the act that it approved."""
    if isinstance(decision, PendingDecision):
        if not decision.is_expired(context.journal.now()):
            return ApprovalState.OPEN
        return ApprovalState.WITHDRAWN if decision.withdrawn else ApprovalState.EXPIRED
    if decision.action is None:
        return _find_answer(decision)
    recorded = read_recorded_request(context, decision.pending.reference)
    workflow_id = find_grant_workflow(context, decision.pending.reference) if recorded is None else recorded.workflow_id
    if workflow_id is None:  # an approval that Authority.confirm has not used yet
        return ApprovalState.WAITING
    return context.journal.read(workflow_id, partial(_read_state, context, decision, recorded))


def _find_answer(decision: ResolvedDecision) -> ApprovalState:
    """Return the state of a decision whose answer approves nothing."""
    resolution = decision.resolution
    outcome = (
        resolution.outcome if isinstance(resolution, UnreadableAnswer) else ResolutionOutcome.of_resolution(resolution)
    )
    match outcome:
        case ResolutionOutcome.FREE_TEXT:
            return ApprovalState.ANSWERED
        case ResolutionOutcome.DIALOGUE:
            return ApprovalState.OBJECTED
        case _:
            return ApprovalState.REFUSED if any(decision.pending.actions) else ApprovalState.CHOSEN


def _read_state(
    context: AuthorityContext, decision: ResolvedDecision, recorded: RecordedRequest | None, state: WorkflowState
) -> ApprovalState:
    confirm_id = confirm_id_of(decision.pending.reference)
    intents = [intent for intent in state.intents.values() if intent.authorization_ref == confirm_id]
    if intents:
        return _find_action_state(context, intents, state)
    grant = state.confirms.get(confirm_id)
    if grant is not None and grant.end is not None:
        return _ENDS[grant.end]
    if confirm_id in state.expired_before_grant:
        return ApprovalState.LAPSED
    approved_at = parse_timestamp(format_timestamp(decision.resolved_at))  # as a CONFIRM has it
    if state.stopped_at is not None and approved_at <= parse_timestamp(state.stopped_at) + context.max_skew:
        return ApprovalState.STOPPED
    terms = recorded if grant is None else grant.confirm
    seconds = None if terms is None else terms.ttl_seconds
    if seconds is not None and context.journal.now() + context.max_skew >= approved_at + seconds:
        return ApprovalState.LAPSED
    step_id = None if recorded is None else recorded.step_id
    is_stopped = state.find_stop(step_id, decision.pending.agent) is not None
    return ApprovalState.STOPPED if is_stopped else ApprovalState.WAITING


def _find_action_state(context: AuthorityContext, intents: list[Intent], state: WorkflowState) -> ApprovalState:
    """Return the state of the actions under an approval: of the first that has no receipt, or of the last."""
    unfinished = next((intent for intent in intents if intent.intent_id not in state.receipts), None)
    if unfinished is None:
        return _RESULTS[state.receipts[intents[-1].intent_id].result]
    confirm = state.confirms[unfinished.authorization_ref].confirm
    is_valid = context.journal.now() < parse_timestamp(confirm.timestamp) + confirm.ttl_seconds
    is_running = is_valid or context.active_actions.is_running(unfinished)
    return ApprovalState.RUNNING if is_running else ApprovalState.UNFINISHED
