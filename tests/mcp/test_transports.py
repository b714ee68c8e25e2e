"""The SDK's own client and ``emitter mcp``, over standard input and output and over HTTP, in both eras."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters

from emitter.cli import main
from emitter.mcp import advertises
from tests.mcp.asking import RESOLVE
from tests.mcp.playing import DETAIL, EMIT, SITUATION
from tests.mcp.serving import command, serving
from tests.mcp.talking import ERAS, Person, called, talk, wire

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from emitter.messages import Json

PERSONS = {
    "elicitation": (lambda: Person("accept", choice="option:1"), "mcp-elicitation"),
    "no elicitation": (lambda: None, "mcp-tool"),
}


def stdio(*arguments: str) -> StdioServerParameters:
    """Return the server that a client starts."""
    first, *others = command("--demo", *arguments)
    return StdioServerParameters(command=first, args=others)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the store that the servers of this module share."""
    return tmp_path_factory.mktemp("mcp") / "store"


@pytest.fixture(scope="module")
def url(store: Path) -> Iterator[str]:
    """Serve the demonstration over HTTP."""
    with serving("--demo", "--store", str(store)) as address:
        yield address


async def _round(client: Client) -> dict[str, Json]:
    """Emit, resolve through the client or else by the next call, and resolve again."""
    tools = (await client.list_tools()).tools
    emitted = wire(await client.call_tool(EMIT, SITUATION))["structuredContent"]
    arguments: dict[str, Any] = {"decision_id": emitted["decision_id"]}
    resolved = wire(await client.call_tool(RESOLVE, arguments))["structuredContent"]
    if resolved["status"] == "pending":
        arguments["resolution"] = {"outcome": "selected", "digest": emitted["digest"], "index": 1}
        resolved = wire(await client.call_tool(RESOLVE, arguments))["structuredContent"]
    unknown = wire(await client.call_tool(RESOLVE, {"decision_id": "x"}))
    return {"tools": tools, "emitted": emitted, "resolved": resolved, "unknown": unknown}


def _check(found: dict[str, Any], channel: str) -> None:
    assert {each.name: advertises(each) for each in found["tools"]} == {EMIT: True, RESOLVE: False, DETAIL: False}
    assert found["emitted"]["status"] == "bound"
    assert found["emitted"]["binding_moment"]["question"]["hatches"] == {"free_text": True, "dialogue": True}
    assert (found["resolved"]["continuation"], found["resolved"]["channel"]) == ("act", channel)
    assert found["resolved"]["option"]["index"] == 1
    assert found["unknown"]["isError"]
    assert found["unknown"]["structuredContent"]["code"] == "unknown_decision"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("person", "channel"), PERSONS.values(), ids=PERSONS)
def test_the_round_trip_over_http(person: Any, channel: str, era: str, url: str) -> None:
    """Streamable HTTP, from a real server on loopback."""
    _check(talk(url, era, _round, person()), channel)


def test_an_envelope_goes_to_the_caller_alone(url: str) -> None:
    """Section 7.4: it is no broadcast; another client of the same server hears nothing, and finds nothing to read."""
    heard: list[object] = []

    async def hears(message: object) -> None:
        heard.append(message)

    async def script(client: Client) -> list[Any]:
        async with Client(url, mode="legacy", message_handler=hears) as other:
            await client.call_tool(EMIT, SITUATION)
            return [*(await other.list_resources()).resources, *(await other.list_prompts()).prompts]

    assert talk(url, "legacy", script) == []
    assert heard == []


@pytest.mark.parametrize(("era", "person"), list(zip(ERAS, PERSONS, strict=True)), ids=ERAS)
def test_the_round_trip_over_standard_input_and_output(era: str, person: str, url: str, store: Path) -> None:
    """A server that the client starts; it agrees with the one over HTTP, with which it shares a store."""
    make, channel = PERSONS[person]
    emitted = called(url, era, EMIT, SITUATION)["structuredContent"]
    given = {"decision_id": emitted["decision_id"]}
    answer = {"outcome": "selected", "digest": emitted["digest"], "index": 2}

    async def script(client: Client) -> list[Any]:
        taken = wire(await client.call_tool(RESOLVE, {**given, "resolution": answer}))["structuredContent"]
        return [await _round(client), taken]

    own, taken = talk(stdio("--store", str(store)), era, script, make())
    found = called(url, era, RESOLVE, given)["structuredContent"]

    _check(own, channel)
    assert (taken["option"]["index"], taken["repeated"]) == (2, False)
    assert (found["option"], found["repeated"]) == (taken["option"], True)


def test_a_principal_answers_on_a_page_of_their_own() -> None:
    """Section 11.4: the client opens the page's address, which stands in no result; the answer there is found."""
    person = Person("accept")

    async def script(client: Client) -> list[Json]:
        emitted = wire(await client.call_tool(EMIT, SITUATION))["structuredContent"]
        given = {"decision_id": emitted["decision_id"]}
        answer = {"outcome": "selected", "digest": emitted["digest"], "index": 0}
        forced = wire(await client.call_tool(RESOLVE, {**given, "resolution": answer}))
        waiting = wire(await client.call_tool(RESOLVE, given))
        await _fill_in(str(person.asked[0]["url"]))
        return [forced, waiting, wire(await client.call_tool(RESOLVE, given))]

    forced, waiting, found = talk(stdio("--surface", "own"), "2026-07-28", script, person)

    assert forced["structuredContent"]["code"] == "bad_resolution"
    assert waiting["structuredContent"]["status"] == "pending"
    assert "127.0.0.1" not in json.dumps([forced, waiting, found])
    assert (found["structuredContent"]["objection"], found["structuredContent"]["channel"]) == ("Why now?", "web")


async def _fill_in(address: str) -> None:
    """Answer the page as a browser does."""
    async with httpx2.AsyncClient() as browser:
        page = await browser.get(address)
        carried = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]+)"', page.text))
        sent = {**carried, "choice": "dialogue", "objection": "Why now?"}
        origin = "/".join(address.split("/")[:3])
        done = await browser.post(address, data=sent, headers={"Origin": origin})
    assert done.status_code == 200, done.text


OPENING: list[Json] = [
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": EMIT, "arguments": SITUATION}},
]


def test_standard_output_carries_the_protocol_and_nothing_else() -> None:
    """Line by line, what is no message too; when the client closes, the server ends."""
    with (
        subprocess.Popen(command("--demo"), stdin=-1, stdout=-1, stderr=-1, text=True) as process,
        ExitStack() as ends,
    ):
        ends.callback(process.kill)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("this is no message\n" + "".join(f"{json.dumps(each)}\n" for each in OPENING))
        process.stdin.flush()
        lines = [json.loads(process.stdout.readline())]
        while lines[-1].get("id") != 2:
            lines.append(json.loads(process.stdout.readline()))
        rest, reported = process.communicate(timeout=600)

    assert {each["jsonrpc"] for each in lines} == {"2.0"}
    assert lines[-1]["result"]["structuredContent"]["status"] == "bound"
    assert (rest, process.returncode) == ("", 0)
    assert "Traceback" not in reported


def test_an_interrupt_ends_it_at_once() -> None:
    """Though the client says nothing more."""
    with (
        subprocess.Popen(command("--demo"), stdin=-1, stdout=-1, stderr=-1, text=True) as process,
        ExitStack() as ends,
    ):
        ends.callback(process.kill)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{json.dumps(OPENING[0])}\n")
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        status = process.wait(timeout=600)
        reported = process.stderr.read() if process.stderr is not None else ""

    assert (status, reported) == (-signal.SIGINT, "")


FOREIGN = {
    "a foreign host": {"Host": "decisions.example"},
    "a foreign origin": {"Origin": "https://decisions.example"},
}


@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN)
def test_another_name_for_this_machine_is_refused(headers: dict[str, str], url: str) -> None:
    """DNS rebinding: a page of the web cannot call the tools."""
    accepts = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    found = httpx2.post(url, json=OPENING[0], headers={**accepts, **headers})

    assert found.status_code in (403, 421)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_port_80_is_left_out_of_the_name(host: str, url: str) -> None:
    """As clients do, in ``Host`` and in ``Origin``."""
    accepts = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    found = httpx2.post(url, json=OPENING[0], headers={**accepts, "Host": host, "Origin": f"http://{host}"})

    assert found.status_code == 200


BAD_USAGE: dict[str, tuple[list[str], str]] = {
    "nothing to ask": ([], "one of the arguments --model --demo is required"),
    "a port without http": (["--demo", "--port", "1"], "--port needs --http"),
    "an odd port": (["--demo", "--http", "--port", "99999"], "port is 99999"),
    "no such scenario": (["--demo", "sulk"], "There is no scenario"),
    "no such wire": (["--demo", "--wire", "telex"], "There is no wire"),
    "no such vendor": (["--model", "nobody/nothing"], "nobody"),
    "no store": (["--demo", "--store", ""], "--store is empty"),
    "a store that is none": (["--demo", "--store", "/dev/null/store"], "store"),
    "no time": (["--demo", "--expires-in", "0"], "not a number of seconds above 0"),
    "two transports": (["--demo", "--http", "--stdio"], "not allowed with"),
    "no agent": (["--demo", "--agent", ""], "agent"),
    "an agent without end": (["--demo", "--agent", "x" * 5000], "agent"),
    "more time than there is": (["--demo", "--expires-in", "1e300"], "a hundred years"),
}


@pytest.mark.parametrize(("arguments", "reported"), BAD_USAGE.values(), ids=BAD_USAGE)
def test_bad_usage_is_reported(arguments: list[str], reported: str, capsys: pytest.CaptureFixture[str]) -> None:
    """In a sentence, before anything is served."""
    try:
        status: int | str | None = main(["mcp", *arguments])
    except SystemExit as left:
        status = left.code
    found = capsys.readouterr()

    assert status == 2
    assert reported in found.err
    assert found.out == ""
