"""What must hold of everything that accepting returns and tells, whatever was handed in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from emitter.host import Accepted, Breached, Gated, InvalidEnvelope, OutcomeCode
from tests.models.openwop import FOLDER, errors

if TYPE_CHECKING:
    from emitter.host import Acceptance

MEMBERS = {
    "accepted": {"status", "envelopeId", "recordedEventIds"},
    "gated": {"status", "reason", "gate", "allowedKinds"},
    "invalid": {"status", "reason", "details"},
    "breached": {"status", "reason", "capKind", "limit", "observed"},
}
"""The members of each outcome on the wire: these, and no others."""

_HERE = FOLDER.is_dir()
_ELSEWHERE = frozenset({"interrupt.requested"})
"""Events whose schema refers to one that is not at hand."""


def as_json(value: Any) -> Any:
    """Return what a reader of the JSON has; it must be strict JSON that UTF-8 can carry."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=False)
    return json.loads(text.encode().decode())


def judge(found: Acceptance) -> None:
    """Hold an acceptance to what it must be."""
    reported = as_json(found.outcome.to_json())
    assert isinstance(found.outcome, (Accepted, Gated, InvalidEnvelope, Breached))
    assert reported["status"] == found.status == found.outcome.status
    assert set(reported) == MEMBERS[found.status]
    assert (found.envelope is not None) is (found.status == "accepted")
    if not isinstance(found.outcome, Accepted):
        assert isinstance(found.outcome.code, OutcomeCode)
        assert reported["reason"].startswith(found.outcome.code.value)
    elif not found.cached:
        assert reported["recordedEventIds"] == [each.event_id for each in found.events]
    if found.cached:
        assert found.events == ()
    for each in found.events:
        judge_event(each.to_json())
    if found.envelope is not None:
        judge_envelope(as_json(found.envelope.to_json()))


def judge_event(event: dict[str, Any]) -> None:
    """Hold an event to OpenWOP's schemas, where they are at hand."""
    document = as_json(event)
    if not _HERE:
        return
    head, *tail = document["type"].split(".")
    name = head + "".join(each[0].upper() + each[1:] for each in tail)
    assert errors(document, "run-event.schema.json") == []
    where = f"run-event-payloads.schema.json#/$defs/{name}"
    assert document["type"] in _ELSEWHERE or errors(document["payload"], where) == []


def judge_envelope(document: dict[str, Any]) -> None:
    """Hold an accepted envelope to OpenWOP's schema, where it is at hand; its trust must be stated."""
    assert document["meta"]["contentTrust"] in ("trusted", "untrusted")
    assert not _HERE or errors(document, "ai-envelope.schema.json") == []


def judge_log(log: Any) -> None:
    """Hold a run's log to its numbers: from 0 on, and none is left out."""
    assert [each["sequence"] for each in log] == list(range(len(log)))
