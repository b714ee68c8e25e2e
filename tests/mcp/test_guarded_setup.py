"""How a guarded tool is registered: as it was, with one argument more; and what cannot be guarded."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority
from emitter.decisions.ledger import Ledger
from emitter.errors import ApprovalPending, InputError
from emitter.mcp import DecisionAsker, advertises, guarded_tool, sdk
from tests.mcp.emitting import SPIKE
from tests.mcp.mailing import APPROVE, CEO, SEND, Mailing, guarding
from tests.mcp.talking import ERAS, Person, called, listed
from tests.mcp.tools import free

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("era", ERAS)
def test_it_is_listed_as_it_was_with_two_arguments_more(era: str) -> None:
    """Its own parameters, and those that continue a call. Its ``_meta`` says that it emits and asks each time."""
    server = sdk.Server("mail", log_level="CRITICAL")
    guarded_tool(server, Authority(), description="Sends.", meta={"example.com/own": 1})(Mailing().send_email)
    server.tool(name="plain", description="Sends.")(Mailing().send_email)
    found, plain = (listed(server, era)[name] for name in (SEND, "plain"))
    added = found["inputSchema"]["properties"].pop("call_id")
    resumed = found["inputSchema"]["properties"].pop("resume_call")

    assert found["inputSchema"]["properties"] == plain["inputSchema"]["properties"]
    assert found["inputSchema"]["required"] == plain["inputSchema"]["required"]
    assert "continue a call that waited for approval" in added["description"]
    assert (resumed["type"], resumed["default"]) == ("boolean", False)
    assert found["description"] == "Sends."
    assert advertises(found)
    assert {"emits_binding_moment", "alt.emitter/emits_binding_moment", "example.com/own"} < found["_meta"].keys()
    assert found["_meta"]["aauth.dev/access-mode"] == "per-call"


@pytest.mark.parametrize("structured_output", [True, False])
def test_structure_is_the_sdks_own_setting(structured_output: bool) -> None:
    """As for any tool; what did not run has its structure either way."""
    server = guarding(free, structured_output=structured_output)
    done = called(server, "legacy", "free", SPIKE, Person("accept", **APPROVE))
    waits = called(server, "legacy", "free", SPIKE)

    assert ("outputSchema" in listed(server, "legacy")["free"]) is structured_output
    assert done.get("structuredContent") == ({"name": "spike", "owner": None} if structured_output else None)
    assert waits["structuredContent"]["code"] == "approval_pending"


def test_called_in_this_process_it_is_guarded_too() -> None:
    """What the decorator returns asks as well, and has its workflow to stop."""
    mailing, server = Mailing(), sdk.Server("guarding", log_level="CRITICAL")
    send = guarded_tool(server, mailing.authority, workflow_id="mail")(mailing.send_email)

    with pytest.raises(ApprovalPending):
        asyncio.run(send.call("c1", **CEO))
    assert send.workflow_id == "mail"
    assert mailing.sent == []


def plain(to: str) -> str:
    """Do nothing."""
    return to


def with_id(call_id: str) -> str:
    """Have a parameter of that name."""
    return call_id


def unread(to: Missing) -> str:  # type: ignore[name-defined]  # noqa: F821  that is the point
    """Name a type that there is not."""
    return str(to)


REFUSED: dict[str, tuple[Callable[..., Any], dict[str, Any], str]] = {
    "another ledger": (plain, {"asker": DecisionAsker(Ledger())}, "another ledger"),
    "ask": (plain, {"ask": print}, "takes no ask="),
    "channel": (plain, {"channel": "here"}, "takes no channel="),
    "call_id": (with_id, {}, "has a parameter call_id"),
    "no such parameter": (plain, {"exclude": ["body"]}, "exclude= names body, but plain has no such parameter"),
    "no such risk": (plain, {"risk_level": "some"}, "risk_level"),
    "no type": (unread, {}, "Missing"),
}


@pytest.mark.parametrize(("tool", "settings", "match"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_guarded_is_said_at_once(tool: Any, settings: dict[str, Any], match: str) -> None:
    """Before anything is served."""
    with pytest.raises(InputError, match=match):
        guarding(tool, **settings)
