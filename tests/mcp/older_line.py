"""The 1.30 line of the SDK, in an environment of its own: holds conversations, and prints what came of them as JSON.

Run as ``.venv/mcp1/bin/python -m tests.mcp.older_line``.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import subprocess
from typing import TYPE_CHECKING, Any

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client

from emitter.decisions.envelope_parsing import MOMENT_FIELD
from emitter.decisions.ledger import Ledger
from emitter.errors import MissingExtra
from emitter.mcp import DecisionAsker, Surface, advertises, sdk
from emitter.render.delivery import DeliveredDecision, read_tool_result
from emitter.testing.sample_moments import VALID_MOMENT
from tests.mcp.asking import ANSWERS, ASK, RESOLVE, Releasing
from tests.mcp.emitting import SPIKE, conventional, emitting, good
from tests.mcp.serving import command, serving
from tests.mcp.tools import TOOLS, closed, says

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from emitter.messages import Json

_connected: Any = importlib.import_module("mcp.shared.memory")
_http: Any = importlib.import_module("mcp.client.streamable_http")
DEMO = importlib.util.find_spec("openai") is not None
"""Whether the demonstration can be played: it needs a vendor's SDK."""
PERSONS = {
    **{name: answer for name, (answer, _, _) in ANSWERS.items()},
    "none of these": {"action": "accept", "content": {"choice": "option:9"}},
}


def wire(model_: Any) -> Json:
    """Return what travels of a model."""
    return model_.model_dump(mode="json", by_alias=True, exclude_none=True)


async def called(server: Any, name: str, arguments: Json, answer: Json = None) -> Json:
    """Return the result of one call, of a client whose user gives an answer, or that has none."""

    async def person(_context: Any, params: Any) -> Any:
        asked.append(wire(params))
        return types.ElicitResult.model_validate(answer)

    asked: list[Json] = []
    connect = _connected.create_connected_server_and_client_session
    async with connect(server._mcp_server, elicitation_callback=person if answer else None) as client:
        tools = (await client.list_tools()).tools
        found = wire(await client.call_tool(name, arguments))
    return {"result": found, "asked": asked, "emits": {each.name: advertises(each) for each in tools}}


async def tools() -> Json:
    """Return what each tool hands over, with a decision and without."""
    return {
        name: {
            "emitting": await called(emitting(each, good), name, SPIKE),
            "conventional": await called(conventional(each), name, SPIKE),
        }
        for name, each in TOOLS.items()
    }


async def literal() -> Json:
    """Return what a client reads of an envelope that is a member of the result itself, as section 7.1 has it."""
    server = sdk.Server("literal")

    @server.tool()
    def decide() -> sdk.Result:
        members = {**wire(sdk.tool_result([sdk.text_block("Conventional.")])), MOMENT_FIELD: VALID_MOMENT.to_json()}
        return sdk.Result.model_validate(members)

    async with _connected.create_connected_server_and_client_session(server._mcp_server) as client:
        found = read_tool_result(await client.call_tool("decide", {}))
    return (
        {"moment": found.moment.to_json(), "payload": found.payload} if isinstance(found, DeliveredDecision) else None
    )


async def flags() -> Json:
    """Return the results of a tool whose flag is off, in each form."""
    off: dict[str, Any] = {"false": False, "off": lambda: False, "off here": lambda context: context.session is None}
    return {name: await called(emitting(closed, good, enabled=each), "closed", SPIKE) for name, each in off.items()}


async def asking() -> Json:
    """Return what came of asking, by each answer, and without elicitation."""
    found: Json = {}
    for name, answer in {**PERSONS, "nobody": None}.items():
        releasing = Releasing(DecisionAsker(Ledger()))
        found[name] = {
            **await called(releasing.server(), ASK, {}, answer),
            "done": releasing.done,
            "made": releasing.made,
        }
    return found


async def page() -> Json:
    """Return what came of sending the principal to their own page."""
    reported: list[str] = []
    there = DecisionAsker(
        Ledger(),
        surface=Surface.OWN,
        url_for=lambda _: "http://127.0.0.1:1/decide/token",
        notify=lambda _: reported.append("reported"),
    )
    pending = there.ledger.open(VALID_MOMENT)
    server = Releasing(there).server()
    return {
        "accept": await called(server, RESOLVE, {"decision_id": pending.decision_id}, {"action": "accept"}),
        "nobody": await called(server, RESOLVE, {"decision_id": pending.decision_id}),
        "reported": reported,
    }


async def _round(read: Any, write: Any) -> Json:
    async with ClientSession(read, write) as client:
        await client.initialize()
        emitted = wire(await client.call_tool("emit_binding_moment", {"situation": "Shall we go on?"}))
        reported = emitted["structuredContent"]
        answer = {"outcome": "selected", "digest": reported["digest"], "index": 1}
        given = {"decision_id": reported["decision_id"], "resolution": answer}
        return {"emitted": emitted, "resolved": wire(await client.call_tool(RESOLVE, given))}


async def over_stdio() -> Json:
    """Return a round trip with a server that the client starts; None where the demonstration's SDK is missing."""
    if not DEMO:
        return None
    first, *others = command("--demo")
    async with stdio_client(StdioServerParameters(command=first, args=others)) as streams:
        return await _round(*streams)


async def over_http() -> Json:
    """Return a round trip with a server on loopback; None where the demonstration's SDK is missing."""
    if not DEMO:
        return None
    with serving("--demo") as address:
        async with _http.streamablehttp_client(address) as (read, write, _session):
            return await _round(read, write)


async def ending() -> Json:
    """Return how a server ends whose client says nothing at all."""
    silent = command("--model", "openai/gpt-6-sol")
    ran = subprocess.run(silent, input="", capture_output=True, text=True, timeout=600, check=False)  # noqa: ASYNC221
    return {"status": ran.returncode, "out": ran.stdout, "err": ran.stderr}


async def extension() -> Json:
    """Return what is said where there are no extensions."""
    try:
        importlib.import_module("emitter.mcp.extension")
    except MissingExtra as error:
        return str(error)
    return None


async def main() -> Json:
    """Hold all conversations."""
    held: tuple[Callable[[], Awaitable[Json]], ...] = (
        tools,
        literal,
        flags,
        asking,
        page,
        over_stdio,
        over_http,
        ending,
        extension,
    )
    found: dict[str, Json] = {each.__name__: await each() for each in held}
    return {**found, "says": await called(emitting(says), "says", SPIKE), "modern": sdk.IS_V2}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main())))  # noqa: T201  what the parent reads
