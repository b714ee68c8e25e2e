"""The flag of staged adoption: off, the results are the conventional ones (section 7.3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

from emitter.mcp import tool
from tests.mcp import tools
from tests.mcp.emitting import SPIKE, conventional, emitting, evaluated, good
from tests.mcp.talking import ERAS, called, listed
from tests.mcp.tools import Branch

if TYPE_CHECKING:
    from collections.abc import Callable


FLAGS: dict[str, tuple[Any, bool]] = {
    "true": (True, True),
    "false": (False, False),
    "on": (lambda: True, True),
    "off": (lambda: False, False),
    "on for this caller": (lambda context: context.request_context.method == "tools/call", True),
    "off for this caller": (lambda context: context.request_context.method != "tools/call", False),
}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("function", [tools.closed, tools.says], ids=["closed", "says"])
@pytest.mark.parametrize(("enabled", "emits"), FLAGS.values(), ids=FLAGS)
def test_it_stands_behind_a_flag(enabled: Any, emits: bool, function: Callable[..., Any], era: str) -> None:
    """Section 7.3: off, the result is the conventional one; on, the two stand side by side."""
    plain = {tools.says: tools.model}.get(function, function)
    before = called(conventional(plain), era, plain.__name__, SPIKE)
    after = called(emitting(function, good, enabled=enabled), era, function.__name__, SPIKE)

    assert ("binding_moment" in after["structuredContent"]) is emits
    if not emits:
        assert json.dumps(after) == json.dumps(before)


def test_a_tool_that_is_off_for_good_is_reported_as_it_was() -> None:
    """Section 7.3: no advert, and the schema that it had."""
    before = listed(conventional(tools.closed), "legacy")
    after = listed(emitting(tools.closed, good, enabled=False), "legacy")

    assert after == before


def test_a_flag_is_asked_at_each_call() -> None:
    """Section 7.3: adoption in stages, without a flag day."""
    flags = iter([True, False])
    server = emitting(tools.model, good, enabled=lambda: next(flags))

    assert "binding_moment" in called(server, "legacy", "model", SPIKE)["structuredContent"]
    assert "binding_moment" not in called(server, "legacy", "model", SPIKE)["structuredContent"]


def test_a_flag_sees_the_context_that_the_tool_sees() -> None:
    """One context, and no argument more in the tool's schema."""
    seen: list[object] = []

    def asks(name: str, context: Context) -> Branch:
        seen.append(context)
        return Branch(name=name)

    server = MCPServer("branches")
    tool(server, good, enabled=lambda context: bool(seen.append(context)) or True)(evaluated(asks, Context))

    assert "binding_moment" in called(server, "legacy", "asks", SPIKE)["structuredContent"]
    assert seen[0] is seen[1]
    assert list(listed(server, "legacy")["asks"]["inputSchema"]["properties"]) == ["name"]
