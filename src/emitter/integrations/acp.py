"""Approvals for agents that speak the Agent Client Protocol (ACP), in the permission dialogs of editors.

An agent asks its client about a pending decision with ``session/request_permission``, and what the person chooses there
resolves the ledger. ``allow_always`` is never offered, and a cancelled dialog decides nothing. A permission has no
place for words: an answer in the person's own words is given on another surface, while the dialog is open or later.

Source: acp.interfaces and acp.schema as installed, agent-client-protocol 0.12.1 (2026-11-23).
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from emitter.answers import AnswerRecorder, ReplyKind
from emitter.authority.guard.call_ids import make_call_id
from emitter.decisions import Unresolved, UnresolvedReason
from emitter.decisions.ledger_entries import PendingDecision
from emitter.decisions.resolution import ResolutionOutcome
from emitter.errors import BadResolution, MissingExtra
from emitter.integrations.approvals import Waiting, amake_call
from emitter.render.layout import HatchKind, build_layout, option_title
from emitter.render.replies import CHOICE, encode_choice, parse_form_reply
from emitter.render.text_formats import format_markdown
from emitter.threads import run_blocking

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acp.interfaces import Client
    from acp.schema import AllowedOutcome, DeniedOutcome

    from emitter.authority import GuardedTool
    from emitter.decisions import Resolution
    from emitter.decisions.ledger import Ledger
    from emitter.decisions.ledger_entries import ResolvedDecision
    from emitter.decisions.principals import Principal
    from emitter.integrations.approvals import CallOutcome

try:
    from acp.helpers import text_block, tool_content, update_agent_message_text
    from acp.schema import PermissionOption, ToolCallUpdate
except ImportError as error:
    raise MissingExtra("Approvals in ACP need agent-client-protocol.", extra="acp") from error
_log = logging.getLogger("emitter.acp")


async def call_tool(  # noqa: PLR0913  the call and the client
    client: Client,
    session_id: str,
    tool: GuardedTool[..., Any],
    tool_call_id: str,
    arguments: Mapping[str, Any],
    *,
    message_id: str | None = None,
    principal: Principal | None = None,
) -> CallOutcome:
    """Make a call of a guarded tool, and ask the client about it if it waits.

    Args:
        client: The agent's connection to its client.
        session_id: The session. The call is recognised by it, ``message_id`` and ``tool_call_id``, and made once.
        tool: The result of ``Authority.guard``.
        tool_call_id: The id under which the agent reported the call to the client.
        arguments: The arguments of the call.
        message_id: What identifies the model's message that makes the call within the session, and is the same when
            the turn is repeated, such as its number. Without it, ``tool_call_id`` must be unique in the session, as ACP
            demands: the ids of many models' servers are not.
        principal: Who sits at the client, if you know.

    Returns:
        ``Returned`` with the tool's result, ``Rejected`` with the words for the model, or ``Waiting`` if the person
        closed the dialog: end the turn with ``cancelled``, and make the call again when it is continued.
    """
    call_id = make_call_id(("acp", session_id), "-" if message_id is None else message_id, tool_call_id)
    outcome = await amake_call(tool, call_id, arguments)
    if isinstance(outcome, Waiting):
        decision = await request_permission(
            client, session_id, tool.ledger, outcome.pending, tool_call_id=tool_call_id, principal=principal
        )
        if not isinstance(decision, PendingDecision) or decision.expiry_recorded:
            return await amake_call(tool, call_id, arguments)
    return outcome


async def request_permission(  # noqa: PLR0913  the decision and the client
    client: Client,
    session_id: str,
    ledger: Ledger,
    pending: PendingDecision,
    *,
    tool_call_id: str,
    principal: Principal | None = None,
) -> PendingDecision | ResolvedDecision:
    """Ask the client about a pending decision, record the person's choice, and return the decision in its new state.

    If the decision is resolved on another surface meanwhile, that answer counts. If the person's own answer is not
    recorded, a message in the session says why.

    Args:
        client: The agent's connection to its client.
        session_id: The session.
        ledger: Where the decision is open.
        pending: The decision.
        tool_call_id: The tool call that waits for it.
        principal: Who sits at the client, if you know. A decision that needs two approvals needs their names.

    Raises:
        BadResolution: The client chose an option that it was not offered, or the answer needs the person's name.
        StoreFailed: The store cannot be used.
    """
    response = await client.request_permission(
        session_id=session_id, tool_call=_draw(pending, tool_call_id), options=build_options(pending)
    )
    answers = AnswerRecorder(ledger, "acp")
    reply = await run_blocking(answers.record, pending, principal, lambda: read_outcome(pending, response.outcome))
    if reply.kind not in {ReplyKind.RECORDED, ReplyKind.UNRESOLVED}:
        await _notify(client, session_id, reply.text)
    if reply.error is not None and reply.kind in _RAISED:
        raise reply.error
    return await run_blocking(ledger.find, pending.decision_id)


_RAISED: Final = {ReplyKind.NOT_ACCEPTED, ReplyKind.OTHER_DECISION, ReplyKind.UNAVAILABLE, ReplyKind.FAILED}
"""Faults that the agent's own program must know, too: they do not show in the decision."""


async def _notify(client: Client, session_id: str, text: str) -> None:
    """Show the person in the session what became of their answer."""
    try:
        await client.session_update(session_id=session_id, update=update_agent_message_text(text))
    except Exception:  # noqa: BLE001  the decision stands whether the client shows the text or not
        _log.warning("A person could not be told over ACP what became of their answer.", exc_info=True)


def build_options(pending: PendingDecision) -> list[PermissionOption]:
    """Return a decision's options: those with an effect as ``allow_once``, the others as ``reject_once``.

    The options of a question without effects are all ``allow_once``. The veto on the question is ``reject_once``.
    """
    layout, has_effects = build_layout(pending.moment), any(pending.actions)
    options = [
        PermissionOption(
            option_id=encode_choice(ResolutionOutcome.SELECTED, choice.index),
            name=" ".join([option_title(choice), *choice.warnings]),
            kind="reject_once" if has_effects and pending.actions[choice.index] is None else "allow_once",
        )
        for choice in layout.choices
    ]
    vetoes = [hatch for hatch in layout.hatches if hatch.kind is HatchKind.DIALOGUE]
    return options + [
        PermissionOption(option_id=encode_choice(hatch.outcome), name=hatch.label, kind="reject_once")
        for hatch in vetoes
    ]


def read_outcome(pending: PendingDecision, outcome: AllowedOutcome | DeniedOutcome) -> Resolution | Unresolved:
    """Return the answer in the client's outcome, or raise ``BadResolution``. A cancelled outcome is no answer."""
    if outcome.outcome == "cancelled":
        return Unresolved(pending.digest, UnresolvedReason.CANCELLED)
    if outcome.option_id not in {option.option_id for option in build_options(pending)}:
        raise BadResolution("The client chose an option that it was not offered.")
    return parse_form_reply(pending.moment, {CHOICE: outcome.option_id})


def _draw(pending: PendingDecision, tool_call_id: str) -> ToolCallUpdate:
    """Return the tool call with the decision as its content. The vetoes are options, or on another surface."""
    layout = build_layout(pending.moment)
    text = tool_content(text_block(format_markdown(replace(layout, hatches=()))))
    return ToolCallUpdate(
        tool_call_id=tool_call_id,
        title=layout.stem,
        status="pending",
        content=[text],
        field_meta={"digest": pending.digest},
    )
