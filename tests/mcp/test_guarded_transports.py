"""Guarded tools by the SDK's own client and servers of their own, over standard input and output and over HTTP."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, StdioServerParameters

from emitter.authority import Authority
from emitter.stores import SqliteStore
from tests.mcp.asking import RESOLVE
from tests.mcp.guarding import MAIL, SENT
from tests.mcp.mailing import APPROVE, CEO, MOM, ROOT, SEND, Files, Mailing
from tests.mcp.talking import DEADLINE, ERAS, Person, called, talk, wire

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from emitter.messages import Json

PERSONS = {"elicitation": lambda: Person("accept", **APPROVE), "no elicitation": lambda: None}


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Return a store that nobody has written to."""
    return Files(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """Return the store of the server over HTTP."""
    return Files(tmp_path_factory.mktemp("guarded"))


@pytest.fixture(scope="module")
def url(shared: Files) -> Iterator[str]:
    """Serve over HTTP."""
    with shared.http() as address:
        yield address


def stdio(files: Files) -> StdioServerParameters:
    """Return a server that the client starts."""
    return StdioServerParameters(command=files.command[0], args=files.command[1:], cwd=ROOT)


async def approved(client: Client, arguments: dict[str, Json]) -> dict[str, Json]:
    """Return what comes of a call, its decision resolved by the next call of a tool where the client cannot ask."""
    found = wire(await client.call_tool(SEND, arguments))
    reported = found["structuredContent"]
    if reported.get("status") != "approval_pending":
        return found
    await resolve(client, reported)
    return wire(await client.call_tool(SEND, {**arguments, "call_id": reported["call_id"]}))


async def resolve(client: Client, reported: dict[str, Json]) -> None:
    """Pass the principal's approval on."""
    pending = wire(await client.call_tool(RESOLVE, {"decision_id": reported["decision_id"]}))["structuredContent"]
    answer = {"outcome": "selected", "digest": pending["digest"], "index": 0}
    await client.call_tool(RESOLVE, {"decision_id": reported["decision_id"], "resolution": answer})


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("person", PERSONS.values(), ids=PERSONS)
def test_over_http(person: Any, era: str, url: str, shared: Files) -> None:
    """What is approved is done once; the server is one of several clients."""
    before = shared.sent()
    found = talk(url, era, lambda client: approved(client, MOM), person())

    assert found["structuredContent"]["to"] == MAIL[0]
    assert shared.sent() == [*before, MAIL[0]]


@pytest.mark.parametrize("era", ERAS)
def test_a_refusal_over_http(era: str, url: str, shared: Files) -> None:
    """It is delivered as an error with its structure."""
    before = shared.sent()
    found = called(url, era, SEND, CEO, Person("accept", choice="option:1"))

    assert (found["isError"], found["structuredContent"]["code"]) == (True, "not_approved")
    assert shared.sent() == before


@pytest.mark.parametrize("era", ERAS)
def test_over_standard_input_and_output(era: str, files: Files) -> None:
    """The same, of a server that the client starts, and whose user it asks."""
    found = called(stdio(files), era, SEND, MOM, Person("accept", **APPROVE))

    assert found["structuredContent"] == SENT
    assert files.sent() == [MAIL[0]]


def test_a_restart_between_the_approval_and_the_call_changes_nothing(files: Files) -> None:
    """What was approved is what may be done, and once; the next server has the result still."""

    async def asks(client: Client) -> dict[str, Json]:
        reported = wire(await client.call_tool(SEND, MOM))["structuredContent"]
        await resolve(client, reported)
        return reported  # type: ignore[no-any-return]

    reported = talk(stdio(files), "legacy", asks)
    same = {"call_id": reported["call_id"]}

    async def goes_on(client: Client) -> list[dict[str, Json]]:
        return [wire(await client.call_tool(SEND, {**each, **same})) for each in (CEO, MOM)]

    swapped, done = talk(stdio(files), "2026-07-28", goes_on)
    repeated = called(Mailing(Authority(SqliteStore(files.store))).server(), "legacy", SEND, {**MOM, **same})

    assert swapped["structuredContent"]["code"] == "other_call"
    assert done["structuredContent"] == SENT
    assert (repeated["structuredContent"], repeated["content"]) == (SENT, done["content"])
    assert files.sent() == [MAIL[0]]


def test_two_servers_with_one_store_do_it_once(files: Files) -> None:
    """Each has a client that makes the approved call at the same time."""

    async def both() -> list[dict[str, Json]]:
        async with asyncio.timeout(DEADLINE), Client(stdio(files), mode="legacy") as one, Client(stdio(files)) as other:
            reported = wire(await one.call_tool(SEND, MOM))["structuredContent"]
            await resolve(other, reported)
            calls = [each.call_tool(SEND, {**MOM, "call_id": reported["call_id"]}) for each in (one, other, one, other)]
            return [wire(each) for each in await asyncio.gather(*calls)]

    found = [each["structuredContent"] for each in asyncio.run(both())]

    assert files.sent() == [MAIL[0]]
    assert SENT in found
    assert all(each == SENT or each["code"] == "unfinished" for each in found)
