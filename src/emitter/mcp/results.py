"""Tool results and output schemas of the MCP server: decisions, outcomes and errors."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, assert_never

from emitter.authority import ApprovalState
from emitter.decisions import Act, Hold, Incorporate, Reopen, Unresolved
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision, UnreadableAnswer
from emitter.decisions.resolution import RESOLUTION_SCHEMA, ResolutionOutcome, resolution_to_json
from emitter.errors import AuthorityError, EmissionError, EmitterError
from emitter.events import format_timestamp
from emitter.mcp import sdk
from emitter.mcp.schemas import make_schema_type
from emitter.render import text_formats

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emitter.client.result import Withheld
    from emitter.decisions import Continuation
    from emitter.decisions.ledger_details import DetailRequest
    from emitter.messages import Json

_TEXT_SCHEMA: Mapping[str, Json] = {"type": "string"}
_DETAIL_REQUESTS_SCHEMA: Mapping[str, Json] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"number": {"type": "integer"}, "topic": _TEXT_SCHEMA},
        "required": ["number"],
    },
    "description": "What the person wants to know more about before they decide: answer each with answer_detail.",
}
ERROR_STATUS: Final = "error"
"""The status of a failed call. It is in the output schemas, because some clients validate errors too."""


def _status_schema(*statuses: str, **members: Json) -> type[Any]:
    properties = {
        "status": {"type": "string", "enum": [*statuses, ERROR_STATUS]},
        **members,
        "code": {**_TEXT_SCHEMA, "description": "The stable code of an error."},
        "message": {**_TEXT_SCHEMA, "description": "The message of an error."},
    }
    return make_schema_type({"type": "object", "properties": properties, "required": ["status"]})


EMIT_OUTPUT = _status_schema(
    "bound",
    "withheld",
    decision_id={**_TEXT_SCHEMA, "description": "The id by which the decision is resolved."},
    digest={**_TEXT_SCHEMA, "description": "The envelope's digest, which a resolution names."},
    expires_at={**_TEXT_SCHEMA, "description": "Until when an answer is taken."},
    resembles={
        "type": "array",
        "items": _TEXT_SCHEMA,
        "description": "Decisions with a similar question that the person refused. Read their objections with "
        "resolve_binding_moment, and pass their ids in after when you ask again.",
    },
    detail_requests=_DETAIL_REQUESTS_SCHEMA,
    kind={**_TEXT_SCHEMA, "description": "Why there is no decision: the kind of envelope that was returned instead."},
)
"""The output schema of ``emit_binding_moment``, without the envelope."""
DETAIL_OUTPUT = _status_schema("answered", decision_id=_TEXT_SCHEMA, number={"type": "integer"})
"""The output schema of ``answer_detail``."""
RESOLVE_OUTPUT = _status_schema(
    "resolved",
    "unresolved",
    "pending",
    decision_id=_TEXT_SCHEMA,
    digest=_TEXT_SCHEMA,
    continuation={
        "type": "string",
        "enum": ["act", "incorporate", "reopen", "hold"],
        "description": "What to do next: act on the option, incorporate the answer, reopen the question, or hold.",
    },
    option={"type": "object", "description": "The one option to carry out."},
    answer={**_TEXT_SCHEMA, "description": "The person's own answer, to incorporate."},
    objection={
        **_TEXT_SCHEMA,
        "description": "The person's objection to the question, which must not be asked again. "
        "Missing if their words cannot be read: ask them.",
    },
    reason={**_TEXT_SCHEMA, "description": "Why nobody decided."},
    resolution=RESOLUTION_SCHEMA,
    channel={**_TEXT_SCHEMA, "description": "The channel of the answer."},
    expires_at={**_TEXT_SCHEMA, "description": "Until when an answer is taken."},
    detail_requests=_DETAIL_REQUESTS_SCHEMA,
    repeated={"type": "boolean", "description": "The decision was resolved before this call, in the same way."},
    state={
        "type": "string",
        "enum": [state.value for state in ApprovalState],
        "description": "What became of an approved call: it waits for you to repeat it, was done, lapsed, ...",
    },
)
"""The output schema of ``resolve_binding_moment``."""


def bound_members(pending: PendingDecision) -> dict[str, Json]:
    """Return the members next to an envelope."""
    members = {"status": "bound", "decision_id": pending.decision_id, "digest": pending.digest}
    return (
        members
        if pending.expires_at is None
        else {**members, "expires_at": format_timestamp(pending.expires_at, "seconds")}
    )


def withheld_result(decision: Withheld) -> sdk.Result:
    """Return the result of a withheld decision."""
    members = {"status": "withheld", "kind": decision.envelope.type, **decision.reason.model_dump(mode="json")}
    return json_result(members, text_formats.format_withheld(decision.reason).strip("\n"))


def pending_decision_result(
    pending: PendingDecision, *, on_own_page: bool, details: Iterable[DetailRequest] = ()
) -> sdk.Result:
    """Return the result of an open decision, with the open requests for detail."""
    texts = [_ASK_ELSEWHERE if on_own_page else _ASK_HERE]
    members: dict[str, Json] = {**bound_members(pending), "status": "pending", "continuation": "hold"}
    requests: list[Json] = [
        {"number": request.number, **({} if request.readable_topic is None else {"topic": request.readable_topic})}
        for request in details
    ]
    if requests:
        members["detail_requests"] = requests
        texts.append(_DETAIL_WANTED)
    return json_result(members, *texts)


def detail_answered_result(request: DetailRequest) -> sdk.Result:
    """Return the result of answering a request for detail."""
    return json_result(
        {"status": "answered", "decision_id": request.decision_id, "number": request.number}, _STILL_OPEN
    )


def describe(outcome: ResolvedDecision | Unresolved | PendingDecision) -> dict[str, Json]:
    """Describe the outcome of a decision, for the result of a tool of your own.

    Returns:
        ``continuation``, which is ``act``, ``incorporate``, ``reopen`` or ``hold``, with the matching ``option``,
        ``answer``, ``objection`` or ``reason``.
    """
    match outcome:
        case PendingDecision():
            return {"continuation": "hold"}
        case ResolvedDecision():
            return _continuation_members(outcome)
        case Unresolved(reason=reason):
            return {"continuation": "hold", "reason": reason.value}
        case _:
            assert_never(outcome)


_ASK_HERE = (
    "Nobody has decided yet, and this client cannot ask. Show the person the whole decision, and call again with their "
    "answer."
)
_ASK_ELSEWHERE = "Nobody has decided yet. The person answers on their own page: call again later, without a resolution."
_DETAIL_WANTED = (
    "The person wants to know more first: answer each of detail_requests with answer_detail. The decision stays open."
)
_STILL_OPEN = "The person can read the answer next to the decision, which is still open."


def outcome_result(
    outcome: ResolvedDecision | Unresolved, decision_id: str, state: ApprovalState | None = None
) -> sdk.Result:
    """Return the result of a decision that was answered or left unresolved. ``state`` is that of an approved call."""
    members = outcome_members(outcome, decision_id)
    return json_result(members if state is None else {**members, "state": state.value})


def outcome_members(outcome: ResolvedDecision | Unresolved, decision_id: str) -> dict[str, Json]:
    """Return the members of an outcome's result."""
    match outcome:
        case ResolvedDecision():
            members = {"status": "resolved", "decision_id": decision_id, "digest": outcome.pending.digest}
            return {**members, **_continuation_members(outcome), **_resolution_members(outcome)}
        case Unresolved(digest=digest):
            return {"status": "unresolved", "decision_id": decision_id, "digest": digest, **describe(outcome)}
        case _:
            assert_never(outcome)


def _resolution_members(resolved: ResolvedDecision) -> dict[str, Json]:
    """Return the way a decision was resolved. A resolution whose words are lost is left out."""
    members: dict[str, Json] = {"channel": resolved.channel, "repeated": resolved.already_resolved}
    if not isinstance(resolved.resolution, UnreadableAnswer):
        members["resolution"] = resolution_to_json(resolved.resolution)
    return members


def _continuation_members(resolved: ResolvedDecision) -> dict[str, Json]:
    """Return the next step. A refused question is reopened even if the objection cannot be read."""
    match resolved.resolution:
        case UnreadableAnswer(outcome=ResolutionOutcome.DIALOGUE):
            return {"continuation": "reopen"}
        case _:
            return _continuation_json(resolved.continuation)


def _continuation_json(continuation: Continuation) -> dict[str, Json]:
    match continuation:
        case Act(index=index, option=option):
            return {"continuation": "act", "option": {"index": index, "label": option.label}}
        case Incorporate(answer=answer):
            return {"continuation": "incorporate", "answer": answer}
        case Reopen(objection=objection):
            return {"continuation": "reopen", "objection": objection}
        case Hold(reason=reason):
            return {"continuation": "hold", "reason": reason.value}
        case _:
            assert_never(continuation)


def json_result(members: Mapping[str, Json], *texts: str) -> sdk.Result:
    """Return a result with the members as structured content and as text, followed by more texts."""
    texts = (json.dumps(members, ensure_ascii=False, indent=2), *texts)
    return sdk.tool_result([sdk.text_block(text) for text in texts], dict(members))


def exception_result(error: EmitterError) -> sdk.Result:
    """Return an exception as a result with its message and its code. Hints are for programmers, and left out."""
    return error_result(Exception.__str__(error), error_code(error))


def error_code(error: EmitterError) -> str:
    """Return an error's stable code: its own, or its class name in snake case."""
    if isinstance(error, EmissionError | AuthorityError):
        return error.code
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__).lower()


def error_result(message: str, code: str) -> sdk.Result:
    """Return an error as a result."""
    members = {"status": ERROR_STATUS, "code": code, "message": message}
    return sdk.tool_result([sdk.text_block(f"{message} ({code})")], members, is_error=True)
