"""``BindingMoments``: an extension of an MCP server that adds decisions to the results of its tools.

The tools need to know nothing of it. Needs mcp 2: the 1.30 line has no extensions; decorate the tools there. The
envelope reaches the structured content only of tools whose published schema has room for it; that room is made by the
same object, given as the server's middleware:

    moments = BindingMoments({"delete_branch": decide})
    server = MCPServer("branches", extensions=[moments], middleware=[moments.listing])

Source: draft-morrison-binding-moment-envelope-00, sections 7.1 to 7.3; MCP extensions (SEP-2133) in mcp 2.3.0.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from emitter.decide.wellformed import DRAFT, FIELD
from emitter.errors import InputError, MissingExtra
from emitter.mcp import sdk
from emitter.mcp.advert import EMITS, PREFIX, advert
from emitter.mcp.attach import Decided, attached, moment_of, undecided
from emitter.mcp.flag import Enabled, is_on
from emitter.mcp.output_schema import widened
from emitter.wire import mapping, sequence

try:
    from mcp.server.extension import Extension
except ImportError as error:
    raise MissingExtra(
        "Extensions of an MCP server need mcp 2.",
        hint="Run: pip install 'mcp>=2', or decorate the tools with binding_moment.",
    ) from error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.types import CallToolRequestParams

    from emitter.wire import Json

IDENTIFIER = f"{PREFIX}/binding-moment"
"""What the extension is called in a server's capabilities."""

Decide: TypeAlias = "Callable[[Mapping[str, Json]], Decided | Awaitable[Decided]]"
"""Says, of a tool's structured result, which decision goes with it."""

_MOST_PAGES = 100

_Listing: TypeAlias = "Callable[[str | None], Awaitable[HandlerResult]]"

_list_tools: ContextVar[_Listing | None] = ContextVar("list", default=None)
"""Lists the tools of the server that is handling this call, a page at a time."""


class BindingMoments(Extension):
    """Adds decisions to the results of the tools that ``decide`` names, each with the function that decides.

    A function is called with the tool's structured result, and returns an envelope or none. ``enabled`` is the flag
    of staged adoption. Where a function raises, the tool's result stands, with a text that says so, and the exception
    is logged under ``emitter.mcp``. The envelope goes into the structured content and the text; into the text alone
    where the tool's published schema has no room for it, or the server was not given ``listing``.
    """

    identifier = IDENTIFIER

    def __init__(self, decide: Mapping[str, Decide], *, enabled: Enabled = True) -> None:
        self._decide = dict(decide)
        self._enabled = enabled

    def settings(self) -> dict[str, Any]:
        """Return what is told of the extension in the server's capabilities."""
        return {"draft": DRAFT, "field": FIELD, "advert": EMITS}

    async def intercept_tool_call(
        self, params: CallToolRequestParams, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Add the decision to the result of a tool; an error, and a result that has one already, are passed on."""
        result = await call_next(ctx)
        decide = self._decide.get(params.name)
        if decide is None or not _is_plain(result) or not is_on(self._enabled, ctx):
            return result
        try:
            moment = moment_of(await sdk.call(decide, mapping(sdk.structured(result))))
            return attached(result, moment, structured=await _has_room(params.name))
        except Exception as error:  # noqa: BLE001  the tool ran: whatever its decider raises, its result stands
            return undecided(result, params.name, error)

    async def listing(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Widen the published schemas of the tools that may emit, and advertise it: the server's middleware."""
        if ctx.method == "tools/call":
            token = _list_tools.set(lambda cursor: call_next(_page(ctx, cursor)))
            try:
                return await call_next(ctx)
            finally:
                _list_tools.reset(token)
        result = await call_next(ctx)
        if ctx.method != "tools/list" or self._enabled is False:
            return result
        told = mapping(result)
        return {**told, "tools": [self._listed(mapping(each)) for each in sequence(told.get("tools"))]}

    def _listed(self, tool: Mapping[str, Json]) -> dict[str, Json]:
        if tool.get("name") not in self._decide:
            return dict(tool)
        told = {**tool, "_meta": advert(mapping(tool.get("_meta")))}
        schema = tool.get("outputSchema")
        return told if schema is None else {**told, "outputSchema": _roomy(schema) or schema}


def _is_plain(result: HandlerResult) -> TypeGuard[sdk.Result]:
    """Tell whether it is a tool's result, and one that carries no decision of the tool's own."""
    return isinstance(result, sdk.Result) and not sdk.failed(result) and FIELD not in mapping(sdk.structured(result))


def _page(ctx: ServerRequestContext[Any, Any], cursor: str | None) -> ServerRequestContext[Any, Any]:
    """Return a call's context as one that lists the tools."""
    kept = {name: each for name, each in (ctx.params or {}).items() if name == "_meta"}
    return replace(ctx, method="tools/list", params=kept if cursor is None else {**kept, "cursor": cursor})


def _roomy(schema: Json) -> dict[str, Json] | None:
    """Return a published schema with room for the member, where that can be said."""
    try:
        return widened(mapping(schema))
    except InputError:
        return None


async def _has_room(name: str) -> bool:
    """Tell whether a tool's schema was, or will be, published with room for the member."""
    listing = _list_tools.get()
    if listing is not None:
        async for tool in _tools(listing):
            if tool.get("name") == name:
                schema = tool.get("outputSchema")
                return schema is None or _roomy(schema) is not None
    return False


async def _tools(listing: _Listing) -> AsyncIterator[Mapping[str, Json]]:
    """Yield the tools, page by page."""
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = mapping(await listing(cursor))
        for each in sequence(page.get("tools")):
            yield mapping(each)
        cursor = page.get("nextCursor")
        if cursor is None:
            return
