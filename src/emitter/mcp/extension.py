"""Add decisions to the results of existing tools, with an MCP server extension.

This needs mcp 2; with mcp 1.30, decorate the tools instead. Give the same object to the server as its
middleware, so that published schemas have room for the envelope:

    moments = BindingMoments({"delete_branch": decide})
    server = MCPServer("branches", extensions=[moments], middleware=[moments.listing])

Source: draft-morrison-binding-moment-envelope-00, sections 7.1 to 7.3; MCP extensions (SEP-2133) in mcp 2.3.0.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from emitter.decisions.envelope_parsing import DRAFT, MOMENT_FIELD
from emitter.errors import InputError, MissingExtra
from emitter.mcp import sdk
from emitter.mcp.schemas import widen_schema
from emitter.mcp.tools import (
    EMITS_KEY,
    EXTENSION_PREFIX,
    EnabledFlag,
    ToolDecision,
    add_advertisement,
    attach_failure_note,
    attach_moment,
    get_moment,
    is_enabled,
)
from emitter.messages import as_list, as_mapping

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.types import CallToolRequestParams

    from emitter.messages import Json

try:
    from mcp.server.extension import Extension
except ImportError as error:
    raise MissingExtra(
        "Extensions of an MCP server need mcp 2 or later.",
        hint="Run: pip install 'mcp>=2'. With mcp 1.30, decorate the tools with binding_moment.",
    ) from error
EXTENSION_ID = f"{EXTENSION_PREFIX}/binding-moment"
"""The extension's name in a server's capabilities."""
ResultDecider: TypeAlias = "Callable[[Mapping[str, Json]], ToolDecision | Awaitable[ToolDecision]]"
"""Returns the decision that goes with a tool's structured result."""
_MAX_PAGES = 100
"""Pages of ``tools/list`` that are read, in case a server repeats its cursor."""
_ToolLister: TypeAlias = "Callable[[str | None], Awaitable[HandlerResult]]"
_list_tools: ContextVar[_ToolLister | None] = ContextVar("list", default=None)
"""Lists the tools of the server that handles this call, one page at a time."""


class BindingMoments(Extension):
    """Adds decisions to the results of existing tools.

    The envelope is added to the structured content and to the text. It is added to the text only if the tool's
    published schema has no room for it, or if the server does not use ``listing`` as middleware. If a decider raises,
    the tool's result is kept with a note, and the exception is logged under ``emitter.mcp``.

    Args:
        decide: A decider for each tool's name. It is called with the tool's structured result, and may be async.
        enabled: The flag for staged adoption.
    """

    identifier = EXTENSION_ID

    def __init__(self, decide: Mapping[str, ResultDecider], *, enabled: EnabledFlag = True) -> None:
        self._decide = dict(decide)
        self._enabled = enabled

    def settings(self) -> dict[str, Any]:
        """Return the extension's entry in the server's capabilities."""
        return {"draft": DRAFT, "field": MOMENT_FIELD, "advert": EMITS_KEY}

    async def intercept_tool_call(
        self, params: CallToolRequestParams, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Add a decision to a tool's result. Errors, and results that have one, are unchanged."""
        result = await call_next(ctx)
        decide = self._decide.get(params.name)
        if decide is None or not _has_no_decision(result) or not is_enabled(self._enabled, ctx):
            return result
        try:
            moment = get_moment(await sdk.call_tool(decide, as_mapping(sdk.structured_content(result))))
            return attach_moment(result, moment, structured=await _is_widened(params.name))
        except Exception as error:  # noqa: BLE001  the tool ran, so its result is kept whatever its decider raises
            return attach_failure_note(result, params.name, error)

    async def listing(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Widen the published schemas of the tools and advertise that they may emit. Use it as middleware."""
        # An extension has no access to the server, so the call of a tool gets a function that lists its tools.
        if ctx.method == "tools/call":
            token = _list_tools.set(lambda cursor: call_next(_listing_context(ctx, cursor)))
            try:
                return await call_next(ctx)
            finally:
                _list_tools.reset(token)
        result = await call_next(ctx)
        if ctx.method != "tools/list" or self._enabled is False:
            return result
        listing = as_mapping(result)
        return {**listing, "tools": [self._widen_tool(as_mapping(tool)) for tool in as_list(listing.get("tools"))]}

    def _widen_tool(self, tool: Mapping[str, Json]) -> dict[str, Json]:
        if tool.get("name") not in self._decide:
            return dict(tool)
        widened = {**tool, "_meta": add_advertisement(as_mapping(tool.get("_meta")))}
        schema = tool.get("outputSchema")
        return widened if schema is None else {**widened, "outputSchema": _try_widen(schema) or schema}


def _has_no_decision(result: HandlerResult) -> TypeGuard[sdk.Result]:
    """Check that a result is a successful result of a tool that has attached no decision itself."""
    return (
        isinstance(result, sdk.Result)
        and not sdk.is_error(result)
        and MOMENT_FIELD not in as_mapping(sdk.structured_content(result))
    )


def _listing_context(ctx: ServerRequestContext[Any, Any], cursor: str | None) -> ServerRequestContext[Any, Any]:
    """Return the context of a call, changed into the context of a listing."""
    params = {name: value for name, value in (ctx.params or {}).items() if name == "_meta"}
    return replace(ctx, method="tools/list", params=params if cursor is None else {**params, "cursor": cursor})


def _try_widen(schema: Json) -> dict[str, Json] | None:
    """Return a widened schema, or None if it cannot be widened."""
    try:
        return widen_schema(as_mapping(schema))
    except InputError:
        return None


async def _is_widened(name: str) -> bool:
    """Check whether a tool's published schema has room for the member."""
    listing = _list_tools.get()
    if listing is not None:
        async for tool in _iter_tools(listing):
            if tool.get("name") == name:
                schema = tool.get("outputSchema")
                return schema is None or _try_widen(schema) is not None
    return False


async def _iter_tools(listing: _ToolLister) -> AsyncIterator[Mapping[str, Json]]:
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        page = as_mapping(await listing(cursor))
        for tool in as_list(page.get("tools")):
            yield as_mapping(tool)
        cursor = page.get("nextCursor")
        if cursor is None:
            return
