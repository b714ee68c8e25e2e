"""The servers, as the official TypeScript SDK's clients see them: they hold every structured result to its schema."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.mcp.serving import command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
INSTALLED = ROOT / ".venv" / "typescript"
CLIENT = Path(__file__).parent / "typescript" / "client.mjs"
LINES = {"1": "the 1.x line", "2": "the 2.x line"}
GUARDED = [sys.executable, str(ROOT / "examples" / "guarded_mcp_server.py")]
UNKNOWN = "0" * 32

pytestmark = [
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed"),
    pytest.mark.skipif(
        not (INSTALLED / "node_modules").is_dir(),
        reason="the TypeScript clients are not installed: run make typescript",
    ),
]


@contextmanager
def client(line: str, *command: str) -> Iterator[Callable[..., Any]]:
    """Yield a function that calls a tool of a server, and returns its result."""
    with subprocess.Popen(
        ["node", str(CLIENT), str(INSTALLED), line, *command],  # noqa: S607  the machine's own
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        says, hears = process.stdin, process.stdout
        assert json.loads(hears.readline())["tools"]

        def call(name: str, **arguments: Any) -> Any:
            says.write(json.dumps({"name": name, "arguments": arguments}) + "\n")
            says.flush()
            answer = json.loads(hears.readline())
            assert "raised" not in answer, answer
            return answer["result"]

        yield call
        says.close()
        process.wait(timeout=600)


@pytest.mark.parametrize("line", LINES, ids=LINES.values())
def test_the_ready_server(line: str) -> None:
    """A decision, its answer, and every kind of error reach the client with their sentence and code."""
    with client(line, *command("--stdio", "--demo")) as call:
        emitted = call("emit_binding_moment", situation="Shall we publish?")["structuredContent"]
        unknown = call("resolve_binding_moment", decision_id="nobody's")
        other = call(
            "resolve_binding_moment",
            decision_id=emitted["decision_id"],
            resolution={"outcome": "selected", "digest": "sha256:" + UNKNOWN * 2, "index": 0},
        )
        unresolved = call("emit_binding_moment", situation="Again?", after=[emitted["decision_id"]])
        wrong = call(
            "resolve_binding_moment",
            decision_id=emitted["decision_id"],
            resolution={"outcome": "selected", "digest": emitted["digest"], "index": 99},
        )
        answer = {"outcome": "selected", "digest": emitted["digest"], "index": 0}
        resolved = call("resolve_binding_moment", decision_id=emitted["decision_id"], resolution=answer)

    assert (emitted["status"], resolved["structuredContent"]["continuation"]) == ("bound", "act")
    codes = {"unknown_decision": unknown, "wrong_digest": other, "no_such_option": wrong}
    for code, result in {**codes, None: unresolved}.items():
        reported = result["structuredContent"]
        assert result["isError"]
        assert reported["status"] == "error"
        assert code in (reported["code"], None)
        assert reported["message"] in result["content"][0]["text"]


@pytest.mark.parametrize("line", LINES, ids=LINES.values())
def test_a_guarded_server(line: str) -> None:
    """A call that waits, one that is refused, and one that was made."""
    mom = {"to": "mom@example.org", "subject": "Sunday", "body": "Dinner?"}
    with client(line, *GUARDED) as call:
        waits = call("send_email", **mom)
        reported = waits["structuredContent"]
        refused = call("send_email", **{**mom, "call_id": reported["call_id"], "to": "ceo@example.org"})
        odd = call("send_email", **mom, call_id="mine")
        answer = {"outcome": "selected", "digest": reported["digest"], "index": 0}
        call("resolve_binding_moment", decision_id=reported["decision_id"], resolution=answer)
        made = call("send_email", **mom, call_id=reported["call_id"])
        unresolved = call("resolve_binding_moment", decision_id=UNKNOWN)

    assert (waits["isError"], reported["status"]) == (True, "approval_pending")
    assert reported["binding_moment"]["question"]
    assert refused["structuredContent"]["code"] == "other_call"
    assert odd["structuredContent"]["status"] == "error"
    assert not made.get("isError")
    assert unresolved["structuredContent"]["code"] == "unknown_decision"
