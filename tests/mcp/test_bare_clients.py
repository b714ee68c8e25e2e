"""Clients without an SDK: one that keeps to no protocol, and one of an older revision."""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import IO, TYPE_CHECKING

from tests.mcp.asking import RESOLVE
from tests.mcp.playing import EMIT, SITUATION
from tests.mcp.serving import command

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.messages import Json

JUNK: Mapping[str, Json] = {
    "nothing": {},
    "another action": {"action": "approve", "content": {"choice": "option:0"}},
    "a list": {"action": "accept", "content": [["choice", "option:0"]]},
    "a text": {"action": "accept", "content": "option:0"},
    "an object for a text": {"action": "accept", "content": {"choice": {"value": "option:0"}}},
}


@dataclass
class Bare:
    """A client without an SDK that says it can ask its user, and sends ``answer`` whatever it is asked."""

    said: IO[str]
    heard: IO[str]
    answer: Json = None
    asked: list[dict[str, Json]] = field(default_factory=list)
    _ids: Iterator[int] = field(default_factory=count)

    def call(self, name: str, arguments: Mapping[str, Json]) -> dict[str, Json]:
        """Return the result of a tool."""
        return self.request("tools/call", {"name": name, "arguments": dict(arguments)})

    def request(self, method: str, params: dict[str, Json]) -> dict[str, Json]:
        """Return the result of a request."""
        asked = next(self._ids)
        self.say({"id": asked, "method": method, "params": params})
        while True:
            reported = json.loads(self.heard.readline())
            if reported.get("method") == "elicitation/create":
                self.asked.append(reported["params"])
                self.say({"id": reported["id"], "result": self.answer})
            elif reported.get("id") == asked:
                found: dict[str, Json] = reported["result"]
                return found

    def say(self, reported: dict[str, Json]) -> None:
        """Send a message."""
        self.said.write(f"{json.dumps({'jsonrpc': '2.0', **reported})}\n")
        self.said.flush()


@contextmanager
def bare(revision: str = "2025-11-25") -> Iterator[Bare]:
    """Start a server, and be its client until the block ends."""
    with subprocess.Popen(command("--demo"), stdin=-1, stdout=-1, stderr=-1, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        client = Bare(process.stdin, process.stdout)
        about = {"protocolVersion": revision, "clientInfo": {"name": "bare", "version": "1"}}
        client.request("initialize", {**about, "capabilities": {"elicitation": {}}})
        client.say({"method": "notifications/initialized"})
        try:
            yield client
        finally:
            process.kill()


def test_an_answer_in_no_form_of_the_protocol_is_refused() -> None:
    """It is the client's answer that is broken, and not the server; the decision stands, and takes another."""
    with bare() as client:
        emitted = client.call(EMIT, SITUATION)["structuredContent"]
        asked = {"decision_id": emitted["decision_id"]}
        for name, junk in JUNK.items():
            client.answer = junk
            found = client.call(RESOLVE, asked)
            assert (name, found["isError"], found["structuredContent"]["code"]) == (name, True, "bad_resolution")
        client.answer = {"action": "accept", "content": {"choice": "option:1"}}
        assert client.call(RESOLVE, asked)["structuredContent"]["option"]["index"] == 1


def test_a_client_of_the_first_revision_with_forms_is_asked_in_its_way() -> None:
    """2025-06-18 knows no titles beside the entries: without the names, nobody would find the vetoes."""
    with bare("2025-06-18") as client:
        emitted = client.call(EMIT, SITUATION)["structuredContent"]
        client.answer = {"action": "accept", "content": {"choice": "dialogue", "objection": "Why now?"}}
        found = client.call(RESOLVE, {"decision_id": emitted["decision_id"]})

    choice = client.asked[0]["requestedSchema"]["properties"]["choice"]
    assert choice["enum"][-2:] == ["free_text", "dialogue"]
    assert len(choice["enumNames"]) == len(choice["enum"])
    assert found["structuredContent"]["continuation"] == "reopen"
