"""The example server, run as its docstring says, by the SDK's own client."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, StdioServerParameters

from tests.mcp.asking import RESOLVE
from tests.mcp.talking import Person, talk, wire

if TYPE_CHECKING:
    from emitter.messages import Json

EXAMPLE = Path(__file__).parents[2] / "examples" / "mcp_server.py"
DELETE = "delete_branch"


def test_a_client_that_asks_its_user_is_answered_in_one_call() -> None:
    """Nothing is asked about a branch that is merged; one that is not goes where the person says so."""
    person = Person("accept", choice="option:0")

    async def script(client: Client) -> list[Json]:
        return [wire(await client.call_tool(DELETE, {"name": name})) for name in ("done", "spike", "spike")]

    found = talk(runpy.run_path(str(EXAMPLE))["server"], "2026-07-28", script, person)

    assert [each["structuredContent"]["status"] for each in found] == ["deleted", "deleted", "unknown"]
    assert len(person.asked) == 1


def test_any_other_client_brings_the_answer_and_calls_again() -> None:
    """Nothing is deleted before it is decided, nor by the decision about another branch."""

    async def script(client: Client) -> list[Json]:
        async def call(name: str, arguments: dict[str, Any]) -> Json:
            return wire(await client.call_tool(name, arguments))["structuredContent"]

        asked = await call(DELETE, {"name": "spike"})
        given = {"decision_id": asked["decision_id"]}
        early = await call(DELETE, {"name": "spike", **given})
        pending = await call(RESOLVE, given)
        answer = {"outcome": "selected", "digest": pending["digest"], "index": 0}
        resolved = await call(RESOLVE, {**given, "resolution": answer})
        return [asked, early, resolved, *[await call(DELETE, {"name": name, **given}) for name in ("draft", "spike")]]

    server = StdioServerParameters(command=sys.executable, args=[str(EXAMPLE)])
    asked, early, resolved, other, last = talk(server, "legacy", script)

    assert asked["binding_moment"]["question"]["options"][0]["label"] == "Delete spike"
    assert [each["status"] for each in (asked, early, other, last)] == ["undecided", "undecided", "kept", "deleted"]
    assert resolved["continuation"] == "act"


SAID: dict[str, tuple[Person, dict[str, Json]]] = {
    "another option": (
        Person("accept", choice="option:1"),
        {"status": "kept", "continuation": "act", "option": {"index": 1, "label": "Keep spike"}},
    ),
    "words": (
        Person("accept", choice="free_text", answer="Tag it first."),
        {"status": "kept", "continuation": "incorporate", "answer": "Tag it first."},
    ),
    "an objection": (
        Person("accept", choice="dialogue", objection="Who merged the rest?"),
        {"status": "kept", "continuation": "reopen", "objection": "Who merged the rest?"},
    ),
    "a refusal to answer": (Person("decline"), {"status": "undecided", "continuation": "hold", "reason": "declined"}),
}


@pytest.mark.parametrize("name", SAID)
def test_the_agent_reads_what_the_person_wants_instead(name: str) -> None:
    """Another option, an answer, an objection and no answer are told apart, and with the person's words."""
    person, reported = SAID[name]

    async def script(client: Client) -> Json:
        return wire(await client.call_tool(DELETE, {"name": "spike"}))["structuredContent"]

    found = talk(runpy.run_path(str(EXAMPLE))["server"], "2026-07-28", script, person)

    assert found == {"branch": "spike", **reported}


def test_a_question_that_was_refused_says_why() -> None:
    """The next call asks nobody, and brings the objection again."""
    person = Person("accept", choice="dialogue", objection="Who merged the rest?")

    async def script(client: Client) -> list[Json]:
        return [wire(await client.call_tool(DELETE, {"name": "spike"}))["structuredContent"] for _ in range(2)]

    _, again = talk(runpy.run_path(str(EXAMPLE))["server"], "2026-07-28", script, person)

    assert again == {
        "status": "refused",
        "branch": "spike",
        "continuation": "reopen",
        "objection": "Who merged the rest?",
    }
    assert len(person.asked) == 1
