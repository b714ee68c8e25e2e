"""Decisions for AG-UI front ends: a pending decision as an interrupt of a run, and a resume entry as its answer.

A front end shows the interrupt's message and offers what its ``response_schema`` allows. An answer names the digest of
its envelope, so it can approve nothing else. The server that receives it says which decisions its sender may answer.

Source: AG-UI 1.0 as in ag-ui-protocol 1.0.0 (2026-11-23).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.answers import AnswerRecorder
from emitter.authority.guard.call_ids import make_call_id
from emitter.decisions import Unresolved, UnresolvedReason
from emitter.decisions.resolution import RESOLUTION_SCHEMA, resolution_from_json
from emitter.errors import MissingExtra, UnknownDecision
from emitter.outside_values import date_from_timestamp
from emitter.render import text_formats

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from emitter.answers import Reply
    from emitter.authority.guard.call_ids import CallId
    from emitter.decisions import Resolution
    from emitter.decisions.ledger import Ledger
    from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision
    from emitter.decisions.principals import Principal

try:
    from ag_ui.core import Interrupt, ResumeEntry, RunFinishedEvent, RunFinishedInterruptOutcome
except ImportError as error:
    raise MissingExtra("Decisions for AG-UI need ag-ui-protocol.", extra="ag-ui") from error


def identify_call(thread_id: str, message_id: str, tool_call_id: str, *, position: int = 0) -> CallId:
    """Return the id under which to make a call of a guarded tool, for ``make_call`` and ``amake_call``.

    Args:
        thread_id: The thread.
        message_id: The assistant's message that makes the call, ``parent_message_id``. Ids that the model's server
            gives its calls may be the same in each message.
        tool_call_id: The tool call.
        position: The call's place in its message, if the server may repeat an id within one.

    Raises:
        InputError: An id is empty.
    """
    return make_call_id(("ag-ui", thread_id), message_id, tool_call_id, position=position, earlier=False)


def to_interrupt(pending: PendingDecision, *, tool_call_id: str | None = None) -> Interrupt:
    """Return a pending decision as an interrupt with the decision's id.

    The message is the whole envelope as text. ``metadata`` has the envelope itself, for front ends that draw it.

    Args:
        pending: The decision.
        tool_call_id: The tool call that waits for it.
    """
    expires_at = date_from_timestamp(pending.expires_at)
    return Interrupt(
        id=pending.decision_id,
        reason="tool_approval" if tool_call_id else "binding_moment",
        message=text_formats.format_moment(pending.moment),
        tool_call_id=tool_call_id,
        response_schema=RESOLUTION_SCHEMA,
        expires_at=None if expires_at is None else expires_at.isoformat(),
        metadata={"digest": pending.digest, "binding_moment": pending.moment.to_json()},
    )


def finish_interrupted(thread_id: str, run_id: str, interrupts: Sequence[Interrupt]) -> RunFinishedEvent:
    """Return the event with which a run ends that waits for decisions."""
    outcome = RunFinishedInterruptOutcome(interrupts=list(interrupts))
    return RunFinishedEvent(thread_id=thread_id, run_id=run_id, outcome=outcome)


def resolve_entries(
    ledger: Ledger,
    entries: Iterable[ResumeEntry] | None,
    *,
    decision_ids: Collection[str],
    channel: str = "ag-ui",
    principal: Principal | None = None,
) -> tuple[Reply, ...]:
    """Resolve decisions by the ``resume`` entries of a run's input, and return a reply to each entry, in their order.

    Each entry is processed on its own: one that is not accepted records nothing, and the others count. A cancelled
    entry, or an ``unresolved`` payload, answers nothing: its decision stays open. Show ``Reply.text`` to the person
    for each reply that does not count (``Reply.counts``). Call this for input whose sender you have authenticated.

    Args:
        ledger: Where the decisions are open.
        entries: ``RunAgentInput.resume``. None, its default, has no entries.
        decision_ids: The decisions that the sender may answer, such as the interrupts of this thread.
        channel: The channel to record.
        principal: Who sent the input, if you know. A decision that needs two approvals needs their names.
    """
    answers = AnswerRecorder(ledger, channel)
    return tuple(_resolve_entry(answers, entry, decision_ids, principal) for entry in entries or ())


def _resolve_entry(
    answers: AnswerRecorder, entry: ResumeEntry, decision_ids: Collection[str], principal: Principal | None
) -> Reply:
    def find() -> PendingDecision | ResolvedDecision:
        if entry.interrupt_id not in decision_ids:
            raise UnknownDecision("The sender may not answer a decision with this id, or there is none.")
        return answers.ledger.find(entry.interrupt_id)

    return answers.receive(find, principal, lambda: _read_answer(entry))


def _read_answer(entry: ResumeEntry) -> Resolution | Unresolved:
    if entry.status == "cancelled":
        return Unresolved("", UnresolvedReason.CANCELLED)
    return resolution_from_json(entry.payload)
