"""Live updates: every reader gets every change, whichever process made it, and nothing else."""

from __future__ import annotations

import asyncio
import http.client
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from emitter.decisions import select_option
from emitter.decisions.ledger import Ledger
from emitter.errors import StoreFailed
from emitter.stores import SqliteStore
from emitter.testing.sample_moments import VALID_MOMENT
from emitter.web.inbox_application import Changes
from tests.web.inboxes import Inbox, running
from tests.web.running import request

if TYPE_CHECKING:
    from pathlib import Path

READERS = 200


class Reader(threading.Thread):
    """A browser's connection, which reads until it got the change with a number."""

    def __init__(self, box: Inbox, wanted: int, ready: threading.Barrier) -> None:
        super().__init__()
        self.box, self.wanted, self.ready = box, wanted, ready
        self.got: list[int] = []

    def run(self) -> None:
        """Read."""
        parts = urlsplit(f"{self.box.url}events")
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=120)
        connection.request("GET", f"{parts.path}?after={self.wanted - 1}", headers={"x-user": "alice"})
        response = connection.getresponse()
        assert response.getheader("content-type", "").startswith("text/event-stream")
        assert response.readline() == b": connected\n"
        self.ready.wait(120)
        while self.wanted not in self.got:
            line = response.readline()
            if not line:
                return
            if line.startswith(b"id: "):
                self.got.append(int(line[4:]))
        connection.close()


def test_two_hundred_readers_get_the_change(tmp_path: Path) -> None:
    """It was made by another process's connection to the store; each of them gets it."""
    with SqliteStore(tmp_path / "agent.db") as here, SqliteStore(tmp_path / "agent.db") as elsewhere:
        agent = Ledger(elsewhere)
        pending = agent.open(VALID_MOMENT)
        with running(Ledger(here)) as box:
            ready = threading.Barrier(READERS + 1)
            readers = [Reader(box, box.ledger.last_sequence() + 1, ready) for _ in range(READERS)]
            for reader in readers:
                reader.start()
            ready.wait(120)
            agent.resolve(pending.decision_id, select_option(VALID_MOMENT, 0))
            for reader in readers:
                reader.join(120)

    assert [reader.got[-1:] for reader in readers] == [[reader.wanted] for reader in readers]


def test_an_event_holds_a_number_and_nothing_else(tmp_path: Path) -> None:
    """Who may not see a decision learns nothing of it."""
    with SqliteStore(tmp_path / "agent.db") as store, running(Ledger(store)) as box:
        box.asked(agent="secret")
        parts = urlsplit(f"{box.url}events")
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=60)
        connection.request("GET", parts.path, headers={"x-user": "mallory"})
        response = connection.getresponse()
        lines = [response.readline().decode().strip() for _ in range(5)]
        connection.close()
        number = box.ledger.last_sequence()

    assert lines == [": connected", "", f"id: {number}", "event: changed", f"data: {number}"]
    assert response.getheader("cache-control") == "no-store"


def test_a_look_at_the_stream_ends() -> None:
    """A HEAD request gets the headers and holds nothing open."""
    with running() as box:
        shown = request(f"{box.url}events", "HEAD", x_user="alice")

    assert shown.status == 200
    assert shown.header("content-type").startswith("text/event-stream")


def test_a_browser_that_comes_back_goes_on_where_it_was() -> None:
    """By the id of the last event that it got, which counts before the page's own number."""
    with running() as box:
        box.asked()
        latest = box.ledger.last_sequence()
        parts = urlsplit(f"{box.url}events")
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=60)
        connection.request("GET", f"{parts.path}?after=-1", headers={"x-user": "alice", "last-event-id": str(latest)})
        response = connection.getresponse()
        first = [response.readline() for _ in range(2)]
        box.asked()
        then = response.readline()
        connection.close()

    assert first == [b": connected\n", b"\n"]
    assert then == f"id: {box.ledger.last_sequence()}\n".encode()


def test_nobody_polls_for_nobody() -> None:
    """The store is asked as long as somebody reads, by one task for all of them."""

    async def main() -> list[Any]:
        changes = Changes(Ledger(), 0)
        seen = []
        readers = [changes.follow(-2) for _ in range(3)]
        seen += [await anext(reader) for reader in readers]
        tasks = [each for each in asyncio.all_tasks() if each is not asyncio.current_task()]
        for reader in readers:
            await reader.aclose()
        await asyncio.gather(*tasks, return_exceptions=True)
        return [*seen, len(tasks), len(asyncio.all_tasks())]

    assert asyncio.run(main()) == [-1, -1, -1, 1, 1]


def test_a_store_that_fails_ends_no_stream() -> None:
    """What happened meanwhile is reported once it answers again."""

    class Failing(Ledger):
        answers = iter([StoreFailed("away"), StoreFailed("away")])

        def last_sequence(self) -> int:
            for error in self.answers:
                raise error
            return 7

    async def main() -> int | None:
        async for sequence in Changes(Failing(), 0).follow(3):
            return sequence
        return None

    assert asyncio.run(main()) == 7


@pytest.mark.parametrize("after", ["x", "", "-5", "9" * 30, "\u0661"], ids=ascii)
def test_a_number_that_is_none_is_the_first(after: str) -> None:
    """A stream is opened all the same; an absurd number waits for what does not come."""
    with running() as box:
        parts = urlsplit(box.url)
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=60)
        connection.putrequest("GET", f"{parts.path}events?after={'%D9%A1' if not after.isascii() else after}")
        connection.putheader("x-user", "alice")
        connection.endheaders()
        status = connection.getresponse().status
        connection.close()

        assert status == 200
        assert request(box.url, x_user="alice").status == 200
