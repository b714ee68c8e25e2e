"""Asking the host as the suite asks it: directly, or over HTTP; every event that it tells is held to its schema."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from tests.models.openwop import FOLDER, errors
from tests.openwop.host import SAMPLE, Host

if TYPE_CHECKING:
    from collections.abc import Callable

META = {"source": "ai-generation", "ts": "2026-05-18T10:00:00Z"}
UNIVERSAL: dict[str, Any] = {
    "clarification.request": {"questions": [{"id": "q1", "question": "Which region?"}]},
    "schema.request": {"envelopeType": "vendor.acme.plan"},
    "schema.response": {"envelopeType": "vendor.acme.plan", "ack": True},
    "error": {"code": "validation_failed", "message": "There is no such form."},
}
"""A payload that holds, for each universal kind."""

_numbers = count(1)
_ELSEWHERE = {"interrupt.requested"}
"""Payloads whose schema refers to one that is not at hand."""


@dataclass(frozen=True)
class Answer:
    """What a request was answered with."""

    status: int
    body: Any


@dataclass
class Seam:
    """A host, and the way to it."""

    send: Callable[[str, str, Any], Answer]
    host: Host

    def get(self, path: str, **query: str) -> Answer:
        """Ask with GET; a path without a leading slash is one of the sample host's test seams."""
        return self.send("GET", f"{_whole(path)}?{urlencode(query)}" if query else _whole(path), None)

    def post(self, path: str, body: Any) -> Answer:
        """Ask with POST."""
        return self.send("POST", _whole(path), body)

    def accept(self, envelope: Any, **options: Any) -> dict[str, Any]:
        """Return what becomes of an envelope."""
        answer = self.post(f"{SAMPLE}/envelope/accept", {"envelope": envelope, **options})
        assert answer.status == 200, answer
        return answer.body

    def events(self, run_id: str, **query: str) -> list[dict[str, Any]]:
        """Return what was reported a run; each is OpenWOP's document."""
        reported = self.get(f"runs/{run_id}/events", **query).body["events"]
        for each in reported:
            conforms(each)
        return reported

    def spans(self, run_id: str) -> list[dict[str, Any]]:
        """Return the spans of a run."""
        return self.get("otel/spans", runId=run_id).body["spans"]

    def bundle(self, run_id: str) -> dict[str, Any]:
        """Return the debug bundle of a run."""
        return self.post("debug-bundle/export", {"runId": run_id}).body["bundle"]


def direct(host: Host) -> Seam:
    """Ask without a wire."""

    def send(method: str, path: str, body: Any) -> Answer:
        place, _, query = path.partition("?")
        return Answer(*host.call(method, place, dict(parse_qsl(query)), {} if body is None else body))

    return Seam(send, host)


def over_http(url: str, host: Host, client: Any) -> Seam:
    """Ask over HTTP."""

    def send(method: str, path: str, body: Any) -> Answer:
        response = client.request(method, url + path, **({} if body is None else {"json": body}))
        return Answer(response.status_code, response.json())

    return Seam(send, host)


def _whole(path: str) -> str:
    return path if path.startswith("/") else f"{SAMPLE}/test/{path}"


def envelope(kind: str = "clarification.request", **change: Any) -> dict[str, Any]:
    """Return an envelope of a correlation id of its own."""
    number = next(_numbers)
    made: dict[str, Any] = {
        "type": kind,
        "schemaVersion": 1,
        "envelopeId": f"env-{number}",
        "correlationId": f"r:n:0:c{number}",
        "payload": UNIVERSAL.get(kind, {}),
        "meta": dict(META),
    }
    return {**made, **change}


def to_run(name: str) -> dict[str, Any]:
    """Return where events go: to a run and a node of their own."""
    return {"runId": f"{name}-{next(_numbers)}", "nodeId": "n"}


def conforms(event: dict[str, Any]) -> None:
    """Hold an event to its schemas, where they are at hand."""
    if not FOLDER.is_dir():
        return
    head, *tail = event["type"].split(".")
    name = f"run-event-payloads.schema.json#/$defs/{head}{''.join(each[0].upper() + each[1:] for each in tail)}"
    assert errors(event, "run-event.schema.json") == []
    assert event["type"] in _ELSEWHERE or errors(event["payload"], name) == []


def types(events: list[dict[str, Any]]) -> list[str]:
    """Return what was reported, by type."""
    return [each["type"] for each in events]
