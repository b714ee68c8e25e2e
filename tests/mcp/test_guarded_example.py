"""The example of a guarded tool, run as its docstring says, by the SDK's own client."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp import Client, StdioServerParameters

from tests.mcp.asking import RESOLVE
from tests.mcp.mailing import APPROVE, CEO, MOM, SEND
from tests.mcp.talking import Person, talk, wire

if TYPE_CHECKING:
    import pytest

    from emitter.messages import Json

EXAMPLE = Path(__file__).parents[2] / "examples" / "guarded_mcp_server.py"


def test_a_client_that_asks_its_user_is_answered_in_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the person approved is sent, and nothing else."""
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE)])
    made = runpy.run_path(str(EXAMPLE))
    person = Person("accept", **APPROVE)

    async def script(client: Client) -> Json:
        return wire(await client.call_tool(SEND, MOM))

    found = talk(made["server"], "2026-07-28", script, person)

    assert found["structuredContent"] == {"sent": 1, "to": "mom@example.org"}
    assert made["OUTBOX"] == [(MOM["to"], MOM["body"])]
    assert 'Target: "mom@example.org".' in str(person.asked)


def test_any_other_client_brings_the_answer_and_calls_again(tmp_path: Path) -> None:
    """Email mom does not become email the CEO, and is sent once."""

    async def script(client: Client) -> list[Json]:
        async def call(name: str, arguments: dict[str, Any]) -> Json:
            return wire(await client.call_tool(name, arguments))["structuredContent"]

        asked = await call(SEND, MOM)
        pending = await call(RESOLVE, {"decision_id": asked["decision_id"]})
        answer = {"outcome": "selected", "digest": pending["digest"], "index": 0}
        await call(RESOLVE, {"decision_id": asked["decision_id"], "resolution": answer})
        return [asked, *[await call(SEND, {**each, "call_id": asked["call_id"]}) for each in (CEO, MOM, MOM)]]

    server = StdioServerParameters(command=sys.executable, args=[str(EXAMPLE), str(tmp_path / "mail.db")])
    asked, swapped, sent, again = talk(server, "legacy", script)

    assert asked["binding_moment"]["findings"][0] == 'to: "mom@example.org"'
    assert (asked["status"], swapped["code"]) == ("approval_pending", "other_call")
    assert sent == again == {"sent": 1, "to": "mom@example.org"}
