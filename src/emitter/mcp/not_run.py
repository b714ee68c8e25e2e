"""What a guarded tool answers that did not run: an error result that says why, and how to go on.

It is an error, so that no model takes it for what the tool returned. Its structured content has a form of its own,
which the published output schema makes room for: the SDKs for Python, and that for TypeScript from 2.0 on, hold no
error to the schema, but the 1.x line of the latter does, and its hosts would be told of a malformed result instead.

Source: MCP, "Structured Content" (what is structured conforms to the schema) and "Error Handling"; issues 1943 and 2748
of modelcontextprotocol/typescript-sdk.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import jsonschema_rs

from emitter.decide.wellformed import FIELD
from emitter.errors import AuthorityError, NotApproved
from emitter.ledger import Outcome, Resolved, Unspoken
from emitter.mcp import answers, sdk
from emitter.mcp.attach import blocks
from emitter.mcp.inlining import inlined
from emitter.mcp.output_schema import ENVELOPE
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.decide import Unresolved
    from emitter.errors import EmitterError
    from emitter.kinds import BindingMoment
    from emitter.ledger import Pending
    from emitter.wire import Json

PENDING: Final = "approval_pending"
"""The code of a call that waits for its approval."""

_HERE: Final = (
    "The person has not approved this call yet, and nothing was done. Show them all of the decision, and pass their "
    "answer on by its decision_id (resolve_binding_moment); then make the very same call again, with this call_id."
)
_ELSEWHERE: Final = (
    "The person has not approved this call yet, and nothing was done. They answer on a page of their own: make the "
    "very same call again later, with this call_id."
)
_UNDECIDED: Final = (
    "The person was asked, and has not decided; nothing was done. The decision is open still: they are asked once more "
    "where the very same call is made again, with this call_id."
)

_TEXT: Final[Mapping[str, Json]] = {"type": "string"}
_SAYS: Final[Mapping[str, Json]] = {
    "type": "object",
    "title": "NotRun",
    "description": "The call was not made, or did not come to its end: what is told with an error.",
    "properties": {
        "status": {"type": "string", "enum": [PENDING, "undecided", "refused", "failed", "error"]},
        "code": {**_TEXT, "description": "The reason, as a word that stays the same."},
        "message": _TEXT,
        "call_id": {**_TEXT, "description": "Under which the very same call is gone on with."},
        "decision_id": {**_TEXT, "description": "By which the decision is resolved."},
        "digest": {**_TEXT, "description": "Of the envelope, as a resolution names it."},
        "reason": {**_TEXT, "description": "Why nobody decided."},
        "decision": {"type": "object", "description": "What the person decided instead."},
        FIELD: dict(ENVELOPE),
    },
    "required": ["status", "code", "message"],
}


def admitting(schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return a tool's output schema with room for what is said of a call that did not run; as it is where it has."""
    own = dict(schema)
    if all(jsonschema_rs.is_valid(own, each) for each in _SAMPLES):
        return own
    own = inlined(schema)
    named = {"title": own["title"]} if "title" in own else {}
    return {**named, "type": "object", "anyOf": [own, dict(_SAYS)]}


_LEAST: Final[Mapping[str, Json]] = {"status": "error", "code": "", "message": ""}
_IDS: Final[Mapping[str, Json]] = {"call_id": "", "decision_id": "", "digest": ""}
_MOST: Final[Mapping[str, Json]] = {**_IDS, "reason": "", "decision": {"index": 0}, FIELD: {"question": {}}}
_SAMPLES: Final = (_LEAST, {**_LEAST, **_MOST})


def pending(call_id: str, found: Pending, *, own: bool) -> sdk.Result:
    """Return that a call waits, with its decision; ``own``: it is answered on a page of the principal's own."""
    told = _told(PENDING, PENDING, _ELSEWHERE if own else _HERE, call_id)
    return _result({**told, "decision_id": found.decision_id, "digest": found.digest}, found.moment)


def undecided(call_id: str, decision_id: str, found: Unresolved) -> sdk.Result:
    """Return that the principal was asked, and did not decide."""
    told = _told("undecided", PENDING, _UNDECIDED, call_id)
    return _result({**told, "decision_id": decision_id, "reason": found.reason.value})


def refused(call_id: str, error: EmitterError, found: Pending | Resolved | None = None) -> sdk.Result:
    """Return why nothing was done; ``found`` is the decision by which the principal decided otherwise.

    ``call_id`` is empty where the caller gave one that is none: nobody's words are said back to them.
    """
    told = _told("refused" if isinstance(error, AuthorityError) else "error", *_of(error), call_id)
    if isinstance(error, NotApproved) and error.decision_id:
        told["decision_id"] = error.decision_id
    if isinstance(found, Resolved) and not _is_unreadable(found):
        told["decision"] = _members(answers.became(found, found.pending.decision_id))
    return _result(told)


def _is_unreadable(found: Resolved) -> bool:
    """Tell whether the principal answered in words that the ledger cannot read: there is nothing to take up."""
    return isinstance(found.resolution, Unspoken) and found.resolution.outcome is Outcome.FREE_TEXT


def failed(call_id: str, error: EmitterError) -> sdk.Result:
    """Return that the tool began, and that this is how far it came."""
    return _result(_told("failed", *_of(error), call_id))


def _of(error: EmitterError) -> tuple[str, str]:
    """Return an error's code and its sentence."""
    told = _members(answers.failure(error))
    return str(error.code if isinstance(error, AuthorityError) else told["code"]), str(told["message"])


def _told(status: str, code: str, message: str, call_id: str) -> dict[str, Json]:
    told: dict[str, Json] = {"status": status, "code": code, "message": message}
    return {**told, "call_id": call_id} if call_id else told


def _members(of: sdk.Result) -> Mapping[str, Json]:
    return mapping(sdk.structured(of))


def _result(told: Mapping[str, Json], moment: BindingMoment | None = None) -> sdk.Result:
    """Return an error with what is told, and an envelope with it, in the structure and whole in the text."""
    texts = [json.dumps(told, ensure_ascii=False, indent=2)]
    members: dict[str, Any] = dict(told)
    if moment is not None:
        texts += blocks(moment)
        members[FIELD] = moment.to_json()
    return sdk.result([sdk.text(each) for each in texts], members, is_error=True)
