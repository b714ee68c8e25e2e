"""One interface to the MCP SDK, for its 2.x and 1.30 lines.

The two lines differ in module paths, in the Python names of fields, and in the protocol revisions that they support:
1.30 ends with 2025-11-25, and 2.x also has 2026-07-28. Values are built and read by their names on the wire, which are
the same in both.

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

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from emitter.messages import Json

try:
    import anyio.to_thread
    from mcp import types
    from mcp.server.transport_security import TransportSecuritySettings
    from mcp.shared.message import ServerMessageMetadata
except ImportError as error:
    raise MissingExtra("The Model Context Protocol needs mcp.", extra="mcp") from error
IS_V2 = find_spec("mcp.server.mcpserver") is not None
"""True for the 2.x line, which has extensions and the stateless protocol."""
_SERVER_MODULE = "mcp.server.mcpserver" if IS_V2 else "mcp.server.fastmcp"
_STRUCTURED_FIELD = "structured_content" if IS_V2 else "structuredContent"
_ERROR_FIELD = "is_error" if IS_V2 else "isError"


def _import_name(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


# ``Any``, because type checkers see one of the two lines only.
Server: Any = _import_name(_SERVER_MODULE, "MCPServer" if IS_V2 else "FastMCP")
"""The SDK's server class, with which tools are registered."""
Context: Any = _import_name(_SERVER_MODULE, "Context")
"""The type by which a tool asks for the context of its call."""
CONTEXT_PARAMETER = "emitter_context"
"""The name of the context parameter that wrappers add to a tool."""
ToolError: Any = _import_name(f"{_SERVER_MODULE}.exceptions", "ToolError")
"""An error whose message the SDK passes on to the client."""
_ClientError: Any = _import_name("mcp.shared.exceptions", "MCPError" if IS_V2 else "McpError")
Result = types.CallToolResult


def text_block(content: str) -> types.TextContent:
    """Return a block of text."""
    return types.TextContent(type="text", text=content)


def tool_result(content: Sequence[Any], structured: Json = None, *, is_error: bool = False) -> Result:
    """Return a tool's result."""
    return Result.model_validate({"content": list(content), "structuredContent": structured, "isError": is_error})


def structured_content(result: Result) -> Json:
    """Return the structured content of a result, or None."""
    return getattr(result, _STRUCTURED_FIELD)


def is_error(result: Result) -> bool:
    """Check whether a result is an error."""
    return bool(getattr(result, _ERROR_FIELD))


def extend_result(result: Result, content: Sequence[Any], members: Json) -> Result:
    """Return a result with more content blocks, and with ``members`` as its structured content."""
    return result.model_copy(update={"content": [*result.content, *content], _STRUCTURED_FIELD: members})


@dataclass(frozen=True, slots=True)
class DefaultOutput:
    """The SDK's own treatment of a tool: the published ``schema``, and the conversion of its return value.

    ``convert`` passes the protocol's other results, such as ``InputRequiredResult``, on unchanged.
    """

    schema: Mapping[str, Json] | None
    convert: Callable[[Any], Any]


def default_output(name: str, annotation: object, structured_output: bool | None) -> DefaultOutput:  # noqa: FBT001  the SDK's own parameter
    """Return the SDK's treatment of a tool with this name and return annotation."""

    # The SDK derives both from a function only. This one has no parameters, so its other annotations cannot fail.
    def stand_in() -> None: ...

    stand_in.__name__ = name
    cast("Any", stand_in).__signature__ = inspect.Signature(return_annotation=annotation)
    metadata = _import_name(f"{_SERVER_MODULE}.utilities.func_metadata", "func_metadata")(
        stand_in, structured_output=structured_output
    )
    return DefaultOutput(metadata.output_schema, lambda value: _to_result(metadata.convert_result(value)))


def _to_result(converted: Any) -> Any:
    """Return a conversion as a result. The 1.30 line returns content, or a pair of it and the structured content."""
    if IS_V2 or isinstance(converted, Result):
        return converted
    content, members = cast("tuple[Any, Any]", converted if isinstance(converted, tuple) else (converted, None))
    return tool_result(content, members)


async def call_tool(function: Callable[..., Any], *args: Any, **arguments: Any) -> Any:
    """Call a tool's function as the SDK does: 2.x runs a synchronous function in a thread, 1.30 in the event loop."""
    if IS_V2:
        return await call_in_thread(function, *args, **arguments)
    returned = function(*args, **arguments)
    return await returned if inspect.isawaitable(returned) else returned


async def call_in_thread(function: Callable[..., Any], *args: Any, **arguments: Any) -> Any:
    """Call an async function directly, and a synchronous one in a thread."""
    if _is_async(function):
        return await function(*args, **arguments)
    returned = await anyio.to_thread.run_sync(functools.partial(function, *args, **arguments))
    return await returned if inspect.isawaitable(returned) else returned


def tool_signature(function: Callable[..., Any]) -> inspect.Signature:
    """Return a tool's signature with its annotations evaluated; raise ``InputError`` if a name is not defined."""
    try:
        return inspect.signature(function, eval_str=True)
    except NameError as error:
        raise InputError(
            f"The annotations of {tool_name(function)} cannot be read: {error.name} is not defined.",
            hint="Define or import the types of a tool at the top level of its module.",
        ) from error


def tool_name(function: Callable[..., Any]) -> str:
    """Return a function's name. A partial or another callable object is named by its type."""
    return str(getattr(function, "__name__", type(function).__name__))


def set_signature(
    wrapper: Callable[..., Any], signature: inspect.Signature, added: Sequence[inspect.Parameter], returns: Any
) -> Callable[..., Any]:
    """Give a wrapper the signature of a tool, with more parameters and another return annotation."""
    # A signature requires its parameters in the order of their kinds. The SDK reads ``__annotations__`` as well.
    parameters = sorted([*signature.parameters.values(), *added], key=lambda parameter: parameter.kind)
    function = cast("Any", wrapper)
    function.__signature__ = signature.replace(parameters=parameters, return_annotation=returns)
    function.__annotations__ = {
        "return": returns,
        **{parameter.name: parameter.annotation for parameter in parameters},
    }
    return wrapper


def added_context_parameter() -> inspect.Parameter:
    """Return the parameter by which a wrapper asks for the call's context."""
    return inspect.Parameter(CONTEXT_PARAMETER, inspect.Parameter.KEYWORD_ONLY, annotation=Context)


def context_parameter(function: Callable[..., Any]) -> str | None:
    """Return the name of the parameter by which a tool asks for its call's context, or None."""
    name: str | None = _import_name(f"{_SERVER_MODULE}.utilities.context_injection", "find_context_parameter")(function)
    return name


def _is_async(function: Callable[..., Any]) -> bool:
    while isinstance(function, functools.partial):
        function = cast("Callable[..., Any]", function.func)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def protocol_version(context: Any) -> str:
    """Return the protocol revision of a call. The 1.30 line supports none after 2025-11-25."""
    return str(getattr(context, "protocol_version", None) or "")


def client_revision(context: Any) -> str:
    """Return the protocol revision for requests to the client."""
    if IS_V2:
        return protocol_version(context)
    parameters = context.session.client_params
    return types.LATEST_PROTOCOL_VERSION if parameters is None else str(parameters.protocolVersion)


def client_capabilities(context: Any) -> Any:
    """Return the capabilities that the client declared, or None."""
    if IS_V2:
        return context.client_capabilities
    parameters = context.session.client_params
    return None if parameters is None else parameters.capabilities


def can_send_requests(context: Any) -> bool:
    """Check whether a request can reach the client during a call, in stateful revisions."""
    return bool(context.session.can_send_request) if IS_V2 else True  # 1.30 always has a session


async def send_elicitation(context: Any, params: Mapping[str, Json]) -> Any:
    """Ask the client's user. Returns None if the client answers with an error.

    Raises:
        BadResolution: The answer is not an ``ElicitResult``.
    """
    request: Any = types.ElicitRequest.model_validate({"method": "elicitation/create", "params": dict(params)})
    message = request if IS_V2 else _import_name("mcp.types", "ServerRequest")(request)
    # Over HTTP, the related id puts the request into the stream of the call. Without it, only clients that keep another
    # stream open would receive it.
    metadata = ServerMessageMetadata(related_request_id=context.request_id)
    try:
        return await context.session.send_request(message, types.ElicitResult, metadata=metadata)
    except _ClientError:
        return None
    except ValidationError:
        raise BadResolution("The client's answer is not a valid ElicitResult.") from None


def input_required(key: str, params: Mapping[str, Json], state: str | None) -> Any:
    """Return the result that asks the client for input, in stateless revisions."""
    request = {"method": "elicitation/create", "params": dict(params)}
    return types.InputRequiredResult.model_validate(
        {"resultType": "input_required", "inputRequests": {key: request}, "requestState": state}
    )


_LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "[::1]")


def http_app(server: Any) -> Any:
    """Return the ASGI application of a server, for clients on this machine only."""
    # A page in a browser can send requests to this machine by DNS rebinding; its Host and Origin give it away.
    hosts = [*_LOOPBACK_HOSTS, *(f"{host}:*" for host in _LOOPBACK_HOSTS)]
    security = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts])
    if IS_V2:
        return server.streamable_http_app(transport_security=security)
    server.settings.transport_security = security
    return server.streamable_http_app()
