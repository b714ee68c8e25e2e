"""The MCP SDK under one set of names, whichever of its two lines is installed: 2.x, or 1.30.

They differ in where things live (``MCPServer`` was ``FastMCP``), in how fields are spelled in Python
(``structured_content`` was ``structuredContent``), and in that 2.x speaks a second era of the protocol, 2026-07-28. On
the wire, what is used here is the same; so values are built and read by their wire names.

Source: mcp 2.3.0 and mcp 1.30.0 as installed; https://py.sdk.modelcontextprotocol.io/v2/migration/.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from emitter.errors import BadResolution, InputError, MissingExtra

try:
    import anyio.to_thread
    from mcp import types
    from mcp.server.transport_security import TransportSecuritySettings
    from mcp.shared.message import ServerMessageMetadata
except ImportError as error:
    raise MissingExtra("The Model Context Protocol needs mcp.", hint="Run: pip install 'emitter[mcp]'") from error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from emitter.wire import Json

MODERN = find_spec("mcp.server.mcpserver") is not None
"""Whether it is the 2.x line, which has extensions and the stateless era."""

_HOME = "mcp.server.mcpserver" if MODERN else "mcp.server.fastmcp"
_STRUCTURED = "structured_content" if MODERN else "structuredContent"
_IS_ERROR = "is_error" if MODERN else "isError"


def _found(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


Server: Any = _found(_HOME, "MCPServer" if MODERN else "FastMCP")
"""The SDK's server that tools are registered with."""

Context: Any = _found(_HOME, "Context")
"""What a tool is handed that asks for it by its type."""

ToolError: Any = _found(f"{_HOME}.exceptions", "ToolError")
"""A failure whose own words the caller may read."""

_ClientError: Any = _found("mcp.shared.exceptions", "MCPError" if MODERN else "McpError")

Result = types.CallToolResult


def text(said: str) -> types.TextContent:
    """Return a block of text."""
    return types.TextContent(type="text", text=said)


def result(content: Sequence[Any], structured: Json = None, *, is_error: bool = False) -> Result:
    """Return a tool's result."""
    given = {"content": list(content), "structuredContent": structured, "isError": is_error}
    return Result.model_validate(given)


def structured(of: Result) -> Json:
    """Return the structured content of a result, or None."""
    return getattr(of, _STRUCTURED)


def failed(of: Result) -> bool:
    """Tell whether a result is an error."""
    return bool(getattr(of, _IS_ERROR))


def with_more(of: Result, content: Sequence[Any], members: Json) -> Result:
    """Return a result with blocks after its own, and with ``members`` as its structured content."""
    return of.model_copy(update={"content": [*of.content, *content], _STRUCTURED: members})


@dataclass(frozen=True, slots=True)
class Conventional:
    """What the SDK itself makes of a tool: the ``schema`` it publishes, and the result of what the tool returns.

    ``convert`` passes on, as it is, what is no result but the protocol's own (``InputRequiredResult``).
    """

    schema: Mapping[str, Json] | None
    convert: Callable[[Any], Any]


def conventional(name: str, returned: object, structured_output: bool | None) -> Conventional:  # noqa: FBT001  the SDK's own setting
    """Return what the SDK makes of a tool of that name with that return annotation."""

    def stand_in() -> None: ...

    stand_in.__name__ = name
    signed = cast("Any", stand_in)
    signed.__signature__ = inspect.Signature(return_annotation=returned)
    metadata = _found(f"{_HOME}.utilities.func_metadata", "func_metadata")(
        stand_in, structured_output=structured_output
    )
    return Conventional(metadata.output_schema, lambda given: _whole(metadata.convert_result(given)))


def _whole(made: Any) -> Any:
    """Return the result: the 1.30 line hands over its parts."""
    if MODERN or isinstance(made, Result):
        return made
    content, members = cast("tuple[Any, Any]", made if isinstance(made, tuple) else (made, None))
    return result(content, members)


async def call(function: Callable[..., Any], *given: Any, **arguments: Any) -> Any:
    """Call a tool's function as the SDK does: 2.x runs one that is not async in a thread."""
    if MODERN:
        return await threaded(function, *given, **arguments)
    returned = function(*given, **arguments)
    return await returned if inspect.isawaitable(returned) else returned


async def threaded(function: Callable[..., Any], *given: Any, **arguments: Any) -> Any:
    """Call a function here where it is async, and in a thread where it is not, so that nobody waits for it."""
    if _is_async(function):
        return await function(*given, **arguments)
    returned = await anyio.to_thread.run_sync(functools.partial(function, *given, **arguments))
    return await returned if inspect.isawaitable(returned) else returned


def signature(function: Callable[..., Any]) -> inspect.Signature:
    """Return a tool's signature with its annotations read; raises ``InputError`` where they cannot be."""
    try:
        return inspect.signature(function, eval_str=True)
    except NameError as error:
        raise InputError(
            f"The annotations of a tool cannot be read: they name {error.name}.",
            hint="Define the types of a tool at the top of its module, and import them there.",
        ) from error


def context_parameter(function: Callable[..., Any]) -> str | None:
    """Return the name of the parameter by which a tool asks for the call's context."""
    name: str | None = _found(f"{_HOME}.utilities.context_injection", "find_context_parameter")(function)
    return name


def _is_async(function: Callable[..., Any]) -> bool:
    while isinstance(function, functools.partial):
        function = cast("Callable[..., Any]", function.func)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def protocol_version(context: Any) -> str:
    """Return the revision of the protocol that a call speaks; the 1.30 line speaks none after 2025-11-25."""
    return str(getattr(context, "protocol_version", None) or "")


def revision(context: Any) -> str:
    """Return by which revision the client of a call is to be asked."""
    if MODERN:
        return protocol_version(context)
    parameters = context.session.client_params
    return types.LATEST_PROTOCOL_VERSION if parameters is None else str(parameters.protocolVersion)


def client_capabilities(context: Any) -> Any:
    """Return what the client of a call declared, or None."""
    if MODERN:
        return context.client_capabilities
    parameters = context.session.client_params
    return None if parameters is None else parameters.capabilities


def can_send(context: Any) -> bool:
    """Tell whether a request can reach the client while a call lasts, in the older era."""
    return bool(context.session.can_send_request) if MODERN else True


async def elicited(context: Any, params: Mapping[str, Json]) -> Any:
    """Ask the client's user while the tool waits; None where the client does not do it.

    Raises ``BadResolution`` for an answer in a form that the protocol does not have.
    """
    request: Any = types.ElicitRequest.model_validate({"method": "elicitation/create", "params": dict(params)})
    asked = request if MODERN else _found("mcp.types", "ServerRequest")(request)
    related = ServerMessageMetadata(related_request_id=context.request_id)
    try:
        return await context.session.send_request(asked, types.ElicitResult, metadata=related)
    except _ClientError:
        return None
    except ValidationError:
        raise BadResolution("The client's answer is in no form that the protocol has.") from None


def input_required(key: str, params: Mapping[str, Json], state: str | None) -> Any:
    """Return the result that asks the client for input, in the stateless era."""
    request = {"method": "elicitation/create", "params": dict(params)}
    told = {"resultType": "input_required", "inputRequests": {key: request}, "requestState": state}
    return types.InputRequiredResult.model_validate(told)


_HOSTS = ("127.0.0.1", "localhost", "[::1]")


def http_app(server: Any) -> Any:
    """Return a server's application for clients of this machine, which may leave port 80 out of their ``Host``."""
    security = TransportSecuritySettings(
        allowed_hosts=[*_HOSTS, *(f"{each}:*" for each in _HOSTS)],
        allowed_origins=[*(f"http://{each}" for each in _HOSTS), *(f"http://{each}:*" for each in _HOSTS)],
    )
    if MODERN:
        return server.streamable_http_app(transport_security=security)
    server.settings.transport_security = security
    return server.streamable_http_app()
