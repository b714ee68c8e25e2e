"""``@binding_moment``: any tool's result may carry a decision (sections 7.1 and 7.2)."""

from __future__ import annotations

import asyncio
import functools
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest
from mcp import types

from emitter.decisions import parse_moment
from emitter.errors import InputError, Refused
from emitter.mcp import WithMoment, advertises, binding_moment
from emitter.testing.sample_moments import VALID_MOMENT
from tests.mcp import tools
from tests.mcp.emitting import SPIKE, conventional, emitting, evaluated, good
from tests.mcp.talking import DEADLINE, ERAS, called, listed, talk, wire
from tests.mcp.tools import TOOLS, Branch, payload

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.models import BindingMoment


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("function", TOOLS.values(), ids=TOOLS)
def test_any_tool_hands_over_a_decision(function: Callable[..., Any], era: str) -> None:
    """Its own blocks and members are what they were, and the envelope stands after them, in both places."""
    before = called(conventional(function), era, function.__name__, SPIKE)
    after = called(emitting(function, good), era, function.__name__, SPIKE)
    members = dict(after["structuredContent"])

    assert members.pop("binding_moment") == VALID_MOMENT.to_json()
    assert json.dumps(members) == json.dumps(payload(before, untyped=function.__name__ == "untyped"))
    assert after["content"][:-2] == before["content"]
    assert parse_moment(json.loads(after["content"][-1]["text"])["binding_moment"]) == VALID_MOMENT
    assert not after.get("isError")


@pytest.mark.parametrize("function", TOOLS.values(), ids=TOOLS)
def test_without_a_decision_the_result_is_the_conventional_one(function: Callable[..., Any]) -> None:
    """To the byte: there is no member, null or other."""
    before = called(conventional(function), "legacy", function.__name__, SPIKE)
    after = called(emitting(function, lambda _: None), "legacy", function.__name__, SPIKE)

    assert json.dumps(after) == json.dumps(before)


@pytest.mark.parametrize("function", TOOLS.values(), ids=TOOLS)
def test_the_tool_is_reported_as_it_was_but_for_the_member_and_the_advert(function: Callable[..., Any]) -> None:
    """Name, description, arguments: a host that knows nothing of envelopes sees the same tool."""
    before = listed(conventional(function), "legacy")[function.__name__]
    after = listed(emitting(function, good), "legacy")[function.__name__]

    assert advertises(after)
    assert not advertises(before)
    assert {**after, "_meta": 0, "outputSchema": 0} == {**before, "_meta": 0, "outputSchema": 0}
    assert ("outputSchema" in after) == ("outputSchema" in before)
    if "outputSchema" in before and function is not TOOLS["tree"]:
        assert set(after["outputSchema"]["properties"]) == {
            *before["outputSchema"].get("properties", {}),
            "binding_moment",
        }
        assert after["outputSchema"].get("required") == before["outputSchema"].get("required")


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("function", "emits"),
    [(tools.says, True), (tools.sometimes, True), (tools.nothing, False)],
    ids=["says", "sometimes", "nothing"],
)
def test_a_tool_may_say_itself_which_decision_goes_with_it(function: Callable[..., Any], era: str, emits: bool) -> None:
    """With ``WithMoment``, whose payload alone makes the output schema."""
    found = called(emitting(function), era, function.__name__, SPIKE)

    assert ("binding_moment" in found["structuredContent"]) is emits
    assert found["structuredContent"]["name"] == "spike"


def test_a_payload_without_a_schema_stands_beside_the_envelope_too() -> None:
    """As of a tool without an annotation: to the SDK its payload is text alone."""
    found = called(emitting(tools.bare), "legacy", "bare", SPIKE)

    assert {**SPIKE, "binding_moment": found["structuredContent"]["binding_moment"]} == found["structuredContent"]
    assert json.loads(found["content"][0]["text"]) == SPIKE


def test_a_tool_that_emits_sometimes_is_conformant() -> None:
    """Section 7.2: the next result is looked at for itself."""
    server = emitting(tools.sometimes)

    assert "binding_moment" in called(server, "legacy", "sometimes", SPIKE)["structuredContent"]
    assert "binding_moment" not in called(server, "legacy", "sometimes", {"name": "main"})["structuredContent"]


def test_decide_is_handed_what_the_tool_returned() -> None:
    """The typed payload, not its JSON; and it may be async."""
    seen: list[object] = []

    async def decide(payload: Branch) -> BindingMoment | None:
        seen.append(payload)
        return VALID_MOMENT if payload.name == "spike" else None

    assert "binding_moment" in called(emitting(tools.model, decide), "legacy", "model", SPIKE)["structuredContent"]
    assert seen == [Branch(name="spike")]


def _taken(name: str) -> dict[str, Any]:
    return {"name": name, "binding_moment": "mine"}


def _raises(_payload: object) -> BindingMoment:
    raise InputError("The ledger of this server is closed.")


def _refused(_payload: object) -> BindingMoment:
    raise Refused("The model refused.", code="envelope_refusal", trace=None)  # type: ignore[arg-type]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("function", "decide", "reported"),
    [
        (_taken, good, "already has a member binding_moment"),
        (tools.model, _raises, "The ledger of this server is closed."),
        (tools.model, _refused, "The model refused."),
        (tools.model, lambda _: "yes", "The decision is of type str."),
        (tools.model, lambda _: {}["sk-live"], "It raised KeyError."),
    ],
    ids=["taken", "input", "emission", "no decision", "another"],
)
def test_a_decider_that_fails_loses_no_result(
    function: Callable[..., Any], decide: Any, reported: str, era: str
) -> None:
    """The tool ran: its result stands as it is, and a text beside it says why no decision goes with it."""
    plain = called(conventional(function), era, function.__name__, SPIKE)
    found = called(emitting(function, decide), era, function.__name__, SPIKE)

    assert not found.get("isError")
    kept = {name: each for name, each in plain["structuredContent"].items() if name != "binding_moment"}
    assert found["structuredContent"] == kept
    assert found["content"][:-1] == plain["content"]
    assert reported in found["content"][-1]["text"]
    assert "Traceback" not in str(found)


def test_a_tool_whose_error_is_its_own_stays_as_it_was() -> None:
    """What the tool raises is the SDK's to tell."""

    def breaks(name: str) -> Branch:
        raise RuntimeError(name)

    function = evaluated(breaks, Branch)

    assert called(emitting(function, good), "legacy", "breaks", SPIKE) == called(
        conventional(function), "legacy", "breaks", SPIKE
    )


def test_types_that_cannot_be_read_are_said_to_be() -> None:
    """A type that is local to a function has no name to the SDK."""

    class Local:
        name: str

    def local(name: str) -> Local: ...

    with pytest.raises(InputError, match="Local"):
        binding_moment(good)(local)


def test_a_decorated_function_is_called_as_ever() -> None:
    """By a test of its author's, say: with its arguments in any order, and without a server."""
    emitting = binding_moment(good)(tools.model)

    assert asyncio.run(emitting("spike")) == asyncio.run(emitting(name="spike"))
    assert isinstance(asyncio.run(emitting("spike")), types.CallToolResult)


def test_a_function_without_a_name_is_named_when_it_is_registered() -> None:
    """As the SDK has it."""
    server = emitting(functools.partial(tools.model), good, name="part")

    assert "binding_moment" in called(server, "legacy", "part", SPIKE)["structuredContent"]


def test_tools_run_side_by_side() -> None:
    """Thirty calls at once, each with its own payload and its own decision."""

    async def decide(payload: Branch) -> BindingMoment:
        await asyncio.sleep(0)
        return VALID_MOMENT.model_copy(update={"offer": payload.name})

    server = emitting(tools.later, decide)

    async def script(client: Any) -> list[Any]:
        return await asyncio.gather(*(client.call_tool("later", {"name": str(each)}) for each in range(30)))

    found = [wire(each)["structuredContent"] for each in talk(server, "2026-07-28", script)]

    assert [each["binding_moment"]["offer"] for each in found] == [each["name"] for each in found]


def test_a_function_that_is_not_async_keeps_nobody_waiting() -> None:
    """It runs in a thread, as the SDK runs it: two calls meet there, and so do the two that decide."""
    met, decided = threading.Barrier(2, timeout=DEADLINE), threading.Barrier(2, timeout=DEADLINE)

    def meets(name: str) -> Branch:
        met.wait()
        return Branch(name=name)

    def decide(_payload: Branch) -> BindingMoment:
        decided.wait()
        return VALID_MOMENT

    async def script(client: Any) -> list[Any]:
        return await asyncio.gather(*(client.call_tool("meets", SPIKE) for _ in range(2)))

    found = talk(emitting(evaluated(meets), decide), "legacy", script)

    assert ["binding_moment" in wire(each)["structuredContent"] for each in found] == [True, True]


def test_the_type_of_a_payload_is_kept() -> None:
    """``WithMoment`` is of the payload's type, for whoever checks types."""
    made: WithMoment[Branch] = WithMoment(Branch(name="a"))

    assert made == WithMoment(Branch(name="a"), None)
