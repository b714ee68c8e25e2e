"""What the tools of the ready server answer: a decision, that there is none yet, what became of one, an error."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, assert_never

from emitter.decide import Act, Hold, Incorporate, Reopen, Unresolved
from emitter.decide.resolution import RESOLUTION_SCHEMA, to_json
from emitter.errors import AuthorityError, EmissionError, EmitterError
from emitter.ledger import Outcome, Pending, Resolved, Unkept, Unspoken
from emitter.mcp import sdk
from emitter.mcp.inlining import published
from emitter.render import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emitter.decide import Continuation
    from emitter.ledger import DetailRequest
    from emitter.moment import Withheld
    from emitter.wire import Json

_TEXT: Mapping[str, Json] = {"type": "string"}
_REQUESTS: Mapping[str, Json] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"number": {"type": "integer"}, "topic": _TEXT},
        "required": ["number"],
    },
    "description": "What the person wants to know more about before they decide: answer each with answer_detail.",
}


ERROR: Final = "error"
"""The status of a call that failed: clients hold an error's structured content to the output schema as well."""


def _object(*statuses: str, **members: Json) -> type[Any]:
    told = {
        "status": {"type": "string", "enum": [*statuses, ERROR]},
        **members,
        "code": {**_TEXT, "description": "Of an error: its reason, as a word that stays the same."},
        "message": {**_TEXT, "description": "Of an error: what went wrong, in a sentence."},
    }
    return published({"type": "object", "properties": told, "required": ["status"]})


EMITTED = _object(
    "bound",
    "withheld",
    decision_id={**_TEXT, "description": "By which the decision is resolved."},
    digest={**_TEXT, "description": "Of the envelope; a resolution names it."},
    expires_at={**_TEXT, "description": "Until when an answer is taken."},
    resembles={
        "type": "array",
        "items": _TEXT,
        "description": "Decisions whose question the person refused and that reads like this one: look at their "
        "objections with resolve_binding_moment, and name them in after when you ask again.",
    },
    detail_requests=_REQUESTS,
    kind={**_TEXT, "description": "Why there is no decision: the kind of what is said instead."},
)
"""The output schema of ``emit_binding_moment``, but for the envelope."""

DETAILED = _object("answered", decision_id=_TEXT, number={"type": "integer"})
"""The output schema of ``answer_detail``."""

RESOLVED = _object(
    "resolved",
    "unresolved",
    "pending",
    decision_id=_TEXT,
    digest=_TEXT,
    continuation={
        "type": "string",
        "enum": ["act", "incorporate", "reopen", "hold"],
        "description": "What to do next: carry out the option, take the answer up, deliberate again, or nothing.",
    },
    option={"type": "object", "description": "The option to carry out, and no other."},
    answer={**_TEXT, "description": "The principal's own answer, to be taken up."},
    objection={
        **_TEXT,
        "description": "What the principal has against the question, which may not be put again; "
        "left out where their words cannot be read: ask them.",
    },
    reason={**_TEXT, "description": "Why nobody decided."},
    resolution=RESOLUTION_SCHEMA,
    channel={**_TEXT, "description": "How the answer came."},
    expires_at={**_TEXT, "description": "Until when an answer is taken."},
    detail_requests=_REQUESTS,
    repeated={"type": "boolean", "description": "Whether it was resolved before this call, in the same way."},
)
"""The output schema of ``resolve_binding_moment``."""


def bound(pending: Pending) -> dict[str, Json]:
    """Return what goes beside an envelope."""
    told = {"status": "bound", "decision_id": pending.decision_id, "digest": pending.digest}
    return told if pending.expires_at is None else {**told, "expires_at": _time(pending.expires_at)}


def _time(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def withheld(decision: Withheld) -> sdk.Result:
    """Return the agent's veto, without any envelope."""
    told = {"status": "withheld", "kind": decision.envelope.type, **decision.reason.model_dump(mode="json")}
    return answer(told, plain_text.withheld(decision.reason).strip("\n"))


def waiting(pending: Pending, *, own: bool, details: Iterable[DetailRequest] = ()) -> sdk.Result:
    """Return that a decision is open; ``own``: it is answered on a page of the principal's own.

    ``details`` are the requests for detail that nobody has answered yet.
    """
    how = [_ELSEWHERE if own else _HERE]
    told: dict[str, Json] = {**bound(pending), "status": "pending", "continuation": "hold"}
    requests = [_request(each) for each in details]
    if requests:
        told["detail_requests"] = requests
        how.append(_MORE)
    return answer(told, *how)


def _request(of: DetailRequest) -> Json:
    return {"number": of.number, "topic": of.topic} if not isinstance(of.topic, Unkept) else {"number": of.number}


def detailed(of: DetailRequest) -> sdk.Result:
    """Return that a request for detail was answered; the decision is as open as before."""
    return answer({"status": "answered", "decision_id": of.decision_id, "number": of.number}, _STILL)


def describe(of: Resolved | Unresolved | Pending) -> dict[str, Json]:
    """Return what became of a decision, for the result of a tool of your own.

    The members say which of the three the person chose and what the agent does next: ``continuation`` (``act``,
    ``incorporate``, ``reopen`` or ``hold``) with ``option``, ``answer``, ``objection`` or ``reason``.
    """
    match of:
        case Pending():
            return {"continuation": "hold"}
        case Resolved():
            return _follows(of)
        case Unresolved(reason=reason):
            return {"continuation": "hold", "reason": reason.value}
        case _:
            assert_never(of)


_HERE = (
    "Nobody has decided yet, and this client cannot ask. Show the person all of the decision, and call again with the "
    "answer that they give."
)
_ELSEWHERE = (
    "Nobody has decided yet. The person answers on a page of their own: call again later, without a resolution."
)
_MORE = (
    "The person wants to know more first: answer each of detail_requests with answer_detail. That decides nothing, and "
    "the decision stays open."
)
_STILL = "The person can read it beside the decision, which is still open."


def became(of: Resolved | Unresolved, decision_id: str) -> sdk.Result:
    """Return what became of a decision."""
    return answer(_became(of, decision_id))


def _became(of: Resolved | Unresolved, decision_id: str) -> dict[str, Json]:
    match of:
        case Resolved():
            told = {"status": "resolved", "decision_id": decision_id, "digest": of.pending.digest}
            return {**told, **_follows(of), **_way(of)}
        case Unresolved(digest=digest):
            return {"status": "unresolved", "decision_id": decision_id, "digest": digest, **describe(of)}
        case _:
            assert_never(of)


def _way(of: Resolved) -> dict[str, Json]:
    """Return how a decision was resolved; words that are not at hand any more are left out with their resolution."""
    way: dict[str, Json] = {"channel": of.channel, "repeated": of.repeated}
    return way if isinstance(of.resolution, Unspoken) else {**way, "resolution": to_json(of.resolution)}


def _follows(of: Resolved) -> dict[str, Json]:
    """Return what to do next; a refused question is reopened also where the words against it cannot be read."""
    match of.resolution:
        case Unspoken(outcome=Outcome.DIALOGUE):
            return {"continuation": "reopen"}
        case _:
            return _next(of.continuation)


def _next(continuation: Continuation) -> dict[str, Json]:
    match continuation:
        case Act(index=index, option=option):
            return {"continuation": "act", "option": {"index": index, "label": option.label}}
        case Incorporate(answer=words):
            return {"continuation": "incorporate", "answer": words}
        case Reopen(objection=words):
            return {"continuation": "reopen", "objection": words}
        case Hold(reason=reason):
            return {"continuation": "hold", "reason": reason.value}
        case _:
            assert_never(continuation)


def answer(told: Mapping[str, Json], *texts: str) -> sdk.Result:
    """Return a result, with its JSON as text too."""
    blocks = [json.dumps(told, ensure_ascii=False, indent=2), *texts]
    return sdk.result([sdk.text(each) for each in blocks], dict(told))


def failure(error: EmitterError) -> sdk.Result:
    """Return an error as a result: its sentence and a code that stays the same; hints are for who writes programs."""
    code = error.code if isinstance(error, EmissionError | AuthorityError) else _snake(type(error).__name__)
    return failed(Exception.__str__(error), code)


def failed(sentence: str, code: str) -> sdk.Result:
    """Return an error as a result."""
    told = {"status": ERROR, "code": code, "message": sentence}
    return sdk.result([sdk.text(f"{sentence} ({code})")], told, is_error=True)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
