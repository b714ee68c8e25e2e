"""Tools of every kind that the SDK takes can be guarded: what they return is reported as it always was."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from pydantic import BaseModel

from emitter.authority import Authority, current_action
from emitter.errors import InputError
from emitter.mcp import guarded_tool, sdk
from tests.mcp.emitting import SPIKE, conventional
from tests.mcp.guarding import approve
from tests.mcp.mailing import APPROVE, MOM, SEND, Mailing, guarding
from tests.mcp.talking import ERAS, Person, called, listed, talk, wire
from tests.mcp.tools import TOOLS, Where

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp import Client

    from emitter.messages import Json

OPEN = ("free", "untyped", "block", "result")
"""The tools whose published schema takes what is reported a call that did not run; or that publish none."""


def approving() -> Person:
    """Return a person who approves."""
    return Person("accept", **APPROVE)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("name", TOOLS)
def test_what_a_tool_returns_is_not_touched(name: str, era: str) -> None:
    """Neither when it ran nor when it is asked for again, and its result was retained."""
    before = called(conventional(TOOLS[name]), era, name, SPIKE)
    server = guarding(TOOLS[name])

    async def script(client: Client) -> list[dict[str, Json]]:
        given = {**SPIKE, "call_id": "0" * 32}
        return [wire(await client.call_tool(name, given)) for _ in range(2)]

    found = talk(server, era, script, approving())

    assert [(each["content"], each.get("structuredContent")) for each in found] == [
        (before["content"], before.get("structuredContent"))
    ] * 2
    assert not any(each["isError"] for each in found)


@pytest.mark.parametrize("name", TOOLS)
def test_what_did_not_run_is_no_malformed_result(name: str) -> None:
    """Some clients hold errors to the published schema: it has room for them, and for nothing else that is new."""
    server = guarding(TOOLS[name])
    before, after = (listed(each, "legacy")[name].get("outputSchema") for each in (conventional(TOOLS[name]), server))
    waits = called(server, "legacy", name, SPIKE)
    other = called(server, "legacy", name, {"name": "spoke", "call_id": waits["structuredContent"]["call_id"]})
    reported = [each["structuredContent"] for each in (waits, other)]

    assert [(each["status"], each["code"]) for each in reported] == [
        ("approval_pending", "approval_pending"),
        ("refused", "other_call"),
    ]
    if name in OPEN:
        assert after == before
    else:
        assert after["type"] == "object"
        own, not_run = after["anyOf"]
        assert (own.get("required"), own.get("title")) == (before.get("required"), before.get("title"))
        for each in reported:
            jsonschema.validate(each, after)
            jsonschema.validate(each, not_run)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"anything": "else"}, after)


class Loose(BaseModel):
    """An object that takes any other member, and refers to another type."""

    where: Where | None = None


def loosely(name: str) -> Loose:
    """Return a dictionary where a model is due."""
    return {} if name else None  # type: ignore[return-value]  the SDK takes it


def test_an_open_schema_stays_as_it_is() -> None:
    """To the letter, with the types that it refers to; and the text is that of what the tool returned."""
    before = called(conventional(loosely), "legacy", "loosely", SPIKE)
    server = guarding(loosely)
    found = called(server, "legacy", "loosely", SPIKE, approving())
    schemas = [listed(each, "legacy")["loosely"]["outputSchema"] for each in (conventional(loosely), server)]

    assert schemas[0] == schemas[1]
    assert "$defs" in schemas[0]
    assert (found["content"], found["structuredContent"]) == (before["content"], before["structuredContent"])


async def looking(to: str, context: sdk.Context) -> str:
    """Say who called, by which way."""
    assert context.session is not None
    return f"Looked for {to} as {current_action().intent.action}."


def sync(to: str) -> list[str]:
    """Say in which thread it ran."""
    return [to, threading.current_thread().name, current_action().intent.action]


@pytest.mark.parametrize("era", ERAS)
def test_a_context_is_no_content(era: str) -> None:
    """The tool has it; nobody is shown it, and it is no argument."""
    server, person = guarding(looking), approving()
    found = called(server, era, "looking", {"to": "mom"}, person)

    assert found["structuredContent"] == {"result": "Looked for mom as looking."}
    assert "context" not in str(person.asked)
    assert listed(server, era)["looking"]["inputSchema"]["properties"].keys() == {"to", "call_id", "resume_call"}


def test_a_function_that_is_not_async_runs_in_a_thread() -> None:
    """So that nobody else waits for it; it knows its own act there."""
    to, thread, action = called(guarding(sync), "legacy", "sync", {"to": "mom"}, approving())["structuredContent"][
        "result"
    ]

    assert (to, action) == ("mom", "sync")
    assert thread != threading.current_thread().name


def breaking(to: str) -> str:
    """Break."""
    raise KeyError(to)


async def saying(to: str) -> str:
    """Fail with an error of the library's."""
    raise InputError(f"Nobody is called {len(to)}.")


BROKEN: dict[str, tuple[Callable[..., Any], dict[str, Json] | None]] = {
    "of its own": (breaking, None),
    "of the library": (saying, {"status": "failed", "code": "input_error", "message": "Nobody is called 3."}),
}


@pytest.mark.parametrize(("tool", "reported"), BROKEN.values(), ids=BROKEN)
def test_a_tool_that_fails_has_its_receipt_and_is_not_repeated(tool: Any, reported: dict[str, Json] | None) -> None:
    """The failure is reported as any tool's; what was begun once is not begun again."""
    authority, server = Authority(), sdk.Server("guarding", log_level="CRITICAL")
    guarded_tool(server, authority)(tool)
    given = {"to": "mom", "call_id": "0" * 32}
    first, second = (called(server, "legacy", tool.__name__, given, approving()) for _ in range(2))

    assert first["isError"]
    assert first.get("structuredContent") == (reported and {**reported, "call_id": "0" * 32})
    assert [each.result.value for each in authority.receipts()] == ["failure"]
    assert second["structuredContent"]["code"] == "already_used"


def test_a_guarded_call_within_a_guarded_call_is_one_of_its_own() -> None:
    """What waits is reported the call that was begun; nobody is asked for the other as if it were this one."""
    mailing, server = Mailing(), sdk.Server("guarding", log_level="CRITICAL")
    within = guarded_tool(server, mailing.authority)(mailing.send_email)

    async def outer(to: str) -> str:
        await within(to, "Hi.")
        return to

    outer.__annotations__ = {"to": str, "return": str}
    guarded_tool(server, mailing.authority)(outer)
    person = approving()
    reported = called(server, "legacy", "outer", {"to": "mom"})["structuredContent"]
    approve(mailing, reported)
    found = called(server, "legacy", "outer", {"to": "mom", "call_id": reported["call_id"]}, person)[
        "structuredContent"
    ]

    assert (found["status"], found["code"], found["call_id"]) == ("failed", "approval_pending", reported["call_id"])
    assert (mailing.sent, person.asked) == ([], [])


def test_an_id_of_another_tools_call_is_another_calls() -> None:
    """Though the arguments are the same."""
    mailing, server = Mailing(), sdk.Server("guarding", log_level="CRITICAL")
    guarded_tool(server, mailing.authority)(mailing.send_email)
    guarded_tool(server, mailing.authority, name="other")(mailing.send_email)
    given = {**MOM, "call_id": "0" * 32}
    called(server, "legacy", SEND, given)

    assert called(server, "legacy", "other", given, approving())["structuredContent"]["code"] == "other_call"
