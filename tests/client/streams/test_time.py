"""A stream ends in time: what counts is the waiting for the vendor, and not what the consumer takes."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from emitter import Policy, Unreachable
from emitter.adapters.http_response import StreamAccumulator
from emitter.attempts import Verdict
from emitter.errors import DeadlineReached
from emitter.messages import FaultKind
from emitter.streaming import FieldComplete, Restart
from tests.client.streams.vendor import WIRES, WORLDS, Vendor, Waits, ask, opened, streamed
from tests.scenarios.vendors import VENDORS

every_wire = pytest.mark.parametrize("wire", WIRES)
every_world = pytest.mark.parametrize("world", WORLDS)

FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["a", "n"],
    "additionalProperties": False,
}
DOCUMENT = {"a": "some words " * 9, "n": 7}


def trickling(wire: str, time: Waits, seconds: float, times: int = 1) -> Vendor:
    """Return a vendor each of whose pieces takes so long."""
    answer = streamed(wire, VENDORS[wire].whole(json.dumps(DOCUMENT), 40).body, 2)

    def pass_the_time() -> None:
        time.now += seconds

    return Vendor([answer] * times, before=pass_the_time)


@every_world
@every_wire
def test_a_trickle_ends_in_time(wire: str, world: str) -> None:
    """The timeout bounds the whole call, not each piece."""
    time = Waits()
    server = trickling(wire, time, 1.0)
    found = ask(wire, world, server, FORM, clock=time.clock(), policy=Policy(timeout=10, max_faults=0))

    assert isinstance(found.result, Unreachable)
    assert found.attempts[0].fault.kind is FaultKind.TIMEOUT
    assert 9 <= server.sent[0].given <= 12
    assert server.sent[0].closed
    assert found.trace.usage.estimated


@every_world
@every_wire
def test_a_trickle_is_sent_again(wire: str, world: str) -> None:
    """A timeout passes like any other fault, and is reported as a restart."""
    time = Waits()
    server = trickling(wire, time, 1.0, times=2)
    found = ask(wire, world, server, FORM, clock=time.clock(), policy=Policy(timeout=10, max_faults=1))

    assert [each.fault.kind for each in found.attempts] == [FaultKind.TIMEOUT] * 2
    assert Restart(2, Verdict.FAULTED) in found.reported


@every_world
@every_wire
def test_a_trickle_ends_with_the_deadline(wire: str, world: str) -> None:
    """What is left of the deadline bounds the call, and nothing is sent after it."""
    time = Waits()
    server = trickling(wire, time, 1.0, times=2)
    found = ask(wire, world, server, FORM, clock=time.clock(), policy=Policy(timeout=60, deadline=10))

    assert isinstance(found.result, DeadlineReached | Unreachable)
    assert found.result.code == "deadline_exceeded"
    assert len(server.seen) == 1
    assert server.sent[0].given <= 12


@every_world
@every_wire
def test_reading_the_pieces_takes_time(wire: str, world: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A vendor that floods a stream with tiny pieces does not extend its call by the work that they make."""
    time, feed = Waits(), StreamAccumulator.feed

    def feed_slowly(self: StreamAccumulator, piece: bytes) -> str:
        time.now += 1.0
        return feed(self, piece)

    monkeypatch.setattr(StreamAccumulator, "feed", feed_slowly)
    server = trickling(wire, time, 0.0)
    found = ask(wire, world, server, FORM, clock=time.clock(), policy=Policy(timeout=10, max_faults=0))

    assert isinstance(found.result, Unreachable)
    assert found.attempts[0].fault.kind is FaultKind.TIMEOUT
    assert server.sent[0].closed
    assert 9 <= time.now <= 12


@every_world
@every_wire
def test_a_slow_consumer_has_all_the_time(wire: str, world: str) -> None:
    """What the consumer does between two slots counts for nothing in the timeout of a call."""
    time = Waits()
    server = trickling(wire, time, 0.0)
    running = opened(wire, world, server, FORM, clock=time.clock(), policy=Policy(timeout=10))
    reported: list[Any] = []

    async def read() -> Any:
        async for each in running:
            reported.append(each)
            time.now += 1000
        return await running.result()

    if world == "async":
        result = asyncio.run(read())
    else:
        for each in running:
            reported.append(each)
            time.now += 1000
        result = running.result()
    assert result.value == DOCUMENT
    assert [each.pointer for each in reported if isinstance(each, FieldComplete)] == ["/a", "/n"]
