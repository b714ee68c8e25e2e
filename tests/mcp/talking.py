"""The SDK's own client, in one line: over both eras of the protocol, with a person or without."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import jsonschema_rs
from mcp import Client, types

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from emitter.messages import Json

ERAS = ("legacy", "2026-07-28")
"""How the client negotiates: the handshake of 2025-11-25, or the stateless era."""

DEADLINE = 600.0
"""Seconds that a conversation may take before a test gives it up."""


class Person:
    """The client's user, who gives the same answer to whatever they are asked; ``asked`` holds the requests."""

    def __init__(self, action: str, content: Json = None, **fields: str) -> None:
        self._answer = types.ElicitResult.model_validate({"action": action, "content": content or fields or None})
        self.asked: list[dict[str, Json]] = []

    async def __call__(self, _context: Any, params: Any) -> types.ElicitResult:
        """Answer."""
        self.asked.append(wire(params))
        return self._answer


def wire(model: Any) -> dict[str, Json]:
    """Return what travels of a model of the SDK."""
    reported: dict[str, Json] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return reported


def talk(
    server: Any, era: str, script: Callable[[Client], Awaitable[Any]], person: Callable[..., Any] | None = None
) -> Any:
    """Run a conversation, and return what it returned; the tools are listed first, so that results are held to them."""

    async def conversation() -> Any:
        async with asyncio.timeout(DEADLINE), Client(server, mode=era, elicitation_callback=person) as client:
            await client.list_tools()
            return await script(client)

    return asyncio.run(conversation())


def called(
    server: Any, era: str, name: str, arguments: Mapping[str, Json], person: Callable[..., Any] | None = None
) -> dict[str, Json]:
    """Return the result of one call, as it travelled.

    An error must be valid against the published schema too. The SDK's client does not check that; others do.
    """

    async def script(client: Client) -> dict[str, Json]:
        schemas = {each.name: wire(each).get("outputSchema") for each in (await client.list_tools()).tools}
        result = wire(await client.call_tool(name, dict(arguments)))
        if schemas.get(name) is not None and "structuredContent" in result:
            jsonschema_rs.validate(schemas[name], result["structuredContent"])
        return result

    found: dict[str, Json] = talk(server, era, script, person)
    return found


def listed(server: Any, era: str) -> dict[str, dict[str, Json]]:
    """Return the tools that a client is reported, by name."""

    async def script(client: Client) -> dict[str, dict[str, Json]]:
        return {each.name: wire(each) for each in (await client.list_tools()).tools}

    found: dict[str, dict[str, Json]] = talk(server, era, script)
    return found
