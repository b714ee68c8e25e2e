"""Guarded tools on the 1.30 line of the SDK, in an environment of its own: prints what came of them as JSON.

Run as ``.venv/mcp1/bin/python -m tests.mcp.guarded_older_line FOLDER``.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from pydantic import BaseModel, model_validator

from emitter.mcp import advertises, sdk
from tests.mcp.asking import RESOLVE
from tests.mcp.emitting import SPIKE, conventional
from tests.mcp.mailing import APPROVE, CEO, MOM, ROOT, SEND, Files, Mailing, guarding
from tests.mcp.older_line import _connected, _http, called, wire
from tests.mcp.tools import TOOLS

if TYPE_CHECKING:
    from emitter.messages import Json

APPROVAL: Json = {"action": "accept", "content": APPROVE}
PERSONS: dict[str, Json] = {
    "approve": APPROVAL,
    "refuse": {"action": "accept", "content": {"choice": "option:1"}},
    "object": {"action": "accept", "content": {"choice": "dialogue", "objection": "Why?"}},
    "decline": {"action": "decline"},
    "cancel": {"action": "cancel"},
    "none of these": {"action": "accept", "content": {"choice": "option:9"}},
    "nobody": None,
}


def thread(name: str) -> str:
    """Say in which thread it ran."""
    return f"{name}: {threading.current_thread() is threading.main_thread()}"


class Picky(BaseModel):
    """An object that takes any member, and refuses all but some by a rule that no schema tells."""

    name: str | None = None

    @model_validator(mode="after")
    def _named(self) -> Picky:
        if not self.name:
            raise ValueError
        return self


def picky(name: str) -> Picky:
    """Return it."""
    return Picky(name=name)


async def schema(server: Any, name: str) -> Json:
    """Return a tool as it is listed."""
    async with _connected.create_connected_server_and_client_session(server._mcp_server) as client:
        found = {each.name: each for each in (await client.list_tools()).tools}
    return {**wire(found[name]), "advertises": advertises(found[name])}


async def tools() -> Json:
    """Return what each tool hands over, unguarded, approved, asked for again, and waiting."""
    found: dict[str, Json] = {}
    for name, function in TOOLS.items():
        server, given = guarding(function), {**SPIKE, "call_id": "0" * 32}
        found[name] = {
            "before": [await schema(conventional(function), name), await called(conventional(function), name, SPIKE)],
            "after": [await schema(server, name), await called(server, name, given, APPROVAL)],
            "again": await called(server, name, given),
            "waits": await called(server, name, SPIKE),
            "other": await called(server, name, {**given, "name": "spoke"}),
        }
    return found


async def asking() -> Json:
    """Return what came of asking, by each answer, and of the call made again with other arguments."""
    found: dict[str, Json] = {}
    for name, answer in PERSONS.items():
        mailing = Mailing()
        server = mailing.server()
        first = await called(server, SEND, MOM, answer)
        call_id = (first["result"].get("structuredContent") or {}).get("call_id", "0" * 32)
        swapped = await called(server, SEND, {**CEO, "call_id": call_id})
        found[name] = {"first": first, "swapped": swapped, "sent": mailing.sent}
    return found


async def _round(read: Any, write: Any) -> Json:
    async with ClientSession(read, write) as client:
        await client.initialize()
        await client.list_tools()
        reported = wire(await client.call_tool(SEND, MOM))["structuredContent"]
        given = {"decision_id": reported["decision_id"]}
        pending = wire(await client.call_tool(RESOLVE, given))["structuredContent"]
        answer = {"outcome": "selected", "digest": pending["digest"], "index": 0}
        await client.call_tool(RESOLVE, {**given, "resolution": answer})
        same = {"call_id": reported["call_id"]}
        return [reported, *[wire(await client.call_tool(SEND, {**each, **same})) for each in (CEO, MOM, MOM)]]


async def over_stdio(folder: Path) -> Json:
    """Return a round with a server that the client starts."""
    files = Files(folder)
    server = StdioServerParameters(command=files.command[0], args=files.command[1:], cwd=ROOT)
    async with stdio_client(server) as streams:
        return {"found": await _round(*streams), "sent": files.sent()}


async def over_http(folder: Path) -> Json:
    """Return a round with a server on loopback."""
    files = Files(folder)
    with files.http() as address:
        async with _http.streamablehttp_client(address) as (read, write, _session):
            return {"found": await _round(read, write), "sent": files.sent()}


async def main(folder: Path) -> Json:
    """Hold all conversations."""
    (folder / "http").mkdir()
    return {
        "modern": sdk.IS_V2,
        "tools": await tools(),
        "asking": await asking(),
        "picky": await called(guarding(picky), "picky", SPIKE),
        "thread": await called(guarding(thread), "thread", {"name": "main"}, APPROVAL),
        "over_stdio": await over_stdio(folder),
        "over_http": await over_http(folder / "http"),
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(Path(sys.argv[1])))))  # noqa: T201  what the parent reads
