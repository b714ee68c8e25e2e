"""Servers with one tool, that may emit or may not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.mcp import sdk, tool
from emitter.testing.sample_moments import VALID_MOMENT
from tests.mcp.tools import Branch

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.models import BindingMoment

SPIKE = {"name": "spike"}
"""The arguments of every tool."""


def good(_payload: object) -> BindingMoment:
    """Decide, whatever the tool returned."""
    return VALID_MOMENT


def conventional(function: Callable[..., Any]) -> Any:
    """Return a server whose tool may not emit."""
    server = sdk.Server("branches", log_level="CRITICAL")
    server.tool()(function)
    return server


def emitting(function: Callable[..., Any], decide: Any = None, **settings: Any) -> Any:
    """Return a server whose tool may emit."""
    server = sdk.Server("branches", log_level="CRITICAL")
    tool(server, decide, **settings)(function)
    return server


def evaluated(function: Callable[..., Any], *known: type) -> Callable[..., Any]:
    """Return a local function with its annotations read, as those of a module's are."""
    names = {each.__name__: each for each in (*known, Branch, str)}
    function.__annotations__ = {name: names[each] for name, each in function.__annotations__.items()}
    return function
