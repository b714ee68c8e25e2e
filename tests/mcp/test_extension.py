"""The extension adds decisions to tools that know nothing of it (sections 7.1 to 7.3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from mcp.server import MCPServer
from pydantic import ConfigDict, RootModel

from emitter.errors import InputError
from emitter.mcp import advertises, tool
from emitter.mcp.extension import EXTENSION_ID, BindingMoments
from emitter.testing.sample_moments import VALID_MOMENT
from tests.mcp import tools
from tests.mcp.talking import ERAS, called, listed, talk
from tests.mcp.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.messages import Json
    from emitter.models import BindingMoment

SPIKE = {"name": "spike"}


def _good(_payload: Mapping[str, Json]) -> BindingMoment:
    return VALID_MOMENT


class Fixed(RootModel[dict[str, str]]):
    """An object that may not have the member."""

    model_config = ConfigDict(json_schema_extra={"not": {"required": ["binding_moment"]}})


def fixed(name: str) -> Fixed:
    """Return an object that may not have the member."""
    return Fixed({"name": name})


def _server(decide: Any = _good, *, listing: bool = True, **settings: Any) -> MCPServer:
    """Return a server with every tool, for each of which the extension decides but for ``plain``."""
    moments = BindingMoments(dict.fromkeys({*TOOLS} - {"plain"}, decide), **settings)
    server = MCPServer("branches", extensions=[moments], middleware=[moments.listing] if listing else [])
    for each in TOOLS.values():
        server.tool()(each)
    return server


def _plain() -> MCPServer:
    server = MCPServer("branches")
    for each in TOOLS.values():
        server.tool()(each)
    return server


PLAIN, EMITTING, UNLISTED = _plain(), _server(), _server(listing=False)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("name", [name for name in TOOLS if name != "plain"])
def test_a_decision_is_added_to_any_tool(name: str, era: str) -> None:
    """Beside its members and after its blocks, and the client takes it: closed schemas too."""
    before, after = called(PLAIN, era, name, SPIKE), called(EMITTING, era, name, SPIKE)
    members = dict(after["structuredContent"])

    assert members.pop("binding_moment") == VALID_MOMENT.to_json()
    assert json.dumps(members) == json.dumps(before.get("structuredContent", {}))
    assert after["content"][:-2] == before["content"]
    assert json.loads(after["content"][-1]["text"]) == {"binding_moment": VALID_MOMENT.to_json()}


@pytest.mark.parametrize("era", ERAS)
def test_tools_are_reported_with_room_and_advert(era: str) -> None:
    """And the one for which it does not decide stays as it was."""
    before, after = listed(PLAIN, era), listed(EMITTING, era)

    assert {name for name, each in after.items() if advertises(each)} == {*TOOLS} - {"plain"}
    assert after["plain"] == before["plain"]
    for name in {*TOOLS} - {"plain"}:
        assert {**after[name], "_meta": 0, "outputSchema": 0} == {**before[name], "_meta": 0, "outputSchema": 0}
        assert ("outputSchema" in after[name]) == ("outputSchema" in before[name])
    assert "binding_moment" in after["closed"]["outputSchema"]["properties"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("name", TOOLS)
def test_without_its_listing_the_text_alone_holds_the_envelope(name: str, era: str) -> None:
    """A client would hold the member against a schema that nobody widened."""
    before, after = called(PLAIN, era, name, SPIKE), called(UNLISTED, era, name, SPIKE)

    assert after.get("structuredContent") == before.get("structuredContent")
    if name != "plain":
        assert json.loads(after["content"][-1]["text"]) == {"binding_moment": VALID_MOMENT.to_json()}


@pytest.mark.parametrize("era", ERAS)
def test_a_schema_that_cannot_be_widened_stays_and_the_text_holds_the_envelope(era: str) -> None:
    """The tool goes on as it was."""
    moments = BindingMoments({"fixed": _good})
    server = MCPServer("branches", extensions=[moments], middleware=[moments.listing])
    server.tool()(fixed)
    found = called(server, era, "fixed", SPIKE)

    assert found["structuredContent"] == SPIKE
    assert json.loads(found["content"][-1]["text"]) == {"binding_moment": VALID_MOMENT.to_json()}
    assert listed(server, era)["fixed"]["outputSchema"]["not"] == {"required": ["binding_moment"]}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("enabled", [False, lambda: False, lambda _context: False], ids=["false", "off", "off here"])
def test_it_stands_behind_a_flag(enabled: Any, era: str) -> None:
    """Section 7.3: off, the results are the conventional ones."""
    server = _server(enabled=enabled)

    assert called(server, era, "closed", SPIKE) == called(PLAIN, era, "closed", SPIKE)
    if enabled is False:
        assert listed(server, era) == listed(PLAIN, era)


@pytest.mark.parametrize("era", ERAS)
def test_no_decision_leaves_the_result_as_it_was(era: str) -> None:
    """To the byte."""
    found = called(_server(lambda _payload: None), era, "model", SPIKE)

    assert json.dumps(found) == json.dumps(called(PLAIN, era, "model", SPIKE))


@pytest.mark.parametrize("era", ERAS)
def test_an_error_is_passed_on(era: str) -> None:
    """Nothing is decided about it."""
    server = EMITTING

    assert called(server, era, "model", {}) == called(PLAIN, era, "model", {})


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("error", "reported"),
    [
        (InputError("The ledger of this server is closed."), "The ledger of this server is closed."),
        (KeyError("sk-live-0123"), "It raised KeyError."),
    ],
    ids=["ours", "another"],
)
def test_a_decider_that_raises_loses_no_result(error: Exception, reported: str, era: str) -> None:
    """The tool ran: its result stands as it is, and a text beside it says that no decision goes with it."""

    def fails(_payload: object) -> BindingMoment:
        raise error

    plain, found = called(PLAIN, era, "model", SPIKE), called(_server(fails), era, "model", SPIKE)

    assert not found.get("isError")
    assert found["structuredContent"] == plain["structuredContent"]
    assert found["content"][:-1] == plain["content"]
    assert reported in found["content"][-1]["text"]
    assert "sk-live" not in str(found)


@pytest.mark.parametrize("era", ERAS)
def test_a_tool_that_emits_by_itself_is_not_asked_for_twice(era: str) -> None:
    """What it handed over stands, and nobody is asked two things at once."""
    moments = BindingMoments({"says": _good})
    server = MCPServer("branches", extensions=[moments], middleware=[moments.listing])
    tool(server)(tools.says)
    found = called(server, era, "says", SPIKE)

    assert found["structuredContent"]["binding_moment"] == VALID_MOMENT.to_json()
    assert len(found["content"]) == 3


def test_the_extension_is_advertised() -> None:
    """In the server's capabilities, with the draft that it speaks."""

    async def script(client: Any) -> Any:
        return client.server_capabilities.extensions

    reported = talk(EMITTING, "auto", script)

    assert reported == {
        EXTENSION_ID: {
            "draft": "draft-morrison-binding-moment-envelope-00",
            "field": "binding_moment",
            "advert": "emits_binding_moment",
        }
    }
