"""Answers that are lost on their way: cut off, stalled, trickling; and what is billed for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2
import pytest

from emitter.adapters.failures import parse_exception
from emitter.messages import Fault, FaultKind
from emitter.profiles import load_profile
from emitter.profiles.model import WireFormat
from emitter.testing import Dropped, Stalled, Text, Trickled
from emitter.testing.plans import count_tokens
from emitter.testing.wires.bedrock_converse import KEEPALIVE
from tests.testing.asking import (
    DOCUMENT,
    PROFILES,
    TEXT,
    WIRES,
    Question,
    address,
    body,
    both_forms,
    every_wire,
    headers,
    post,
)

if TYPE_CHECKING:
    from emitter.testing import Simulator

WHOLE = Text(DOCUMENT)


def heard(vendor: Simulator, wire: WireFormat, *, streamed: bool, seconds: float = 10) -> tuple[Fault, int]:
    """Ask, and return the fault of the failed exchange and how many bytes of the body had come."""
    got = 0
    asked = Question()
    try:
        with (
            httpx2.Client(timeout=seconds, verify=False) as client,
            client.stream(
                "POST",
                address(vendor, wire, asked, streamed=streamed),
                json=body(wire, asked, streamed=streamed),
                headers=headers(wire, "a-key"),
            ) as response,
        ):
            for part in response.iter_raw():
                got += len(part)
    except httpx2.TransportError as error:
        fault = parse_exception(load_profile(PROFILES[wire]), wire, error)
        assert isinstance(fault, Fault)
        return fault, got
    raise AssertionError("the answer came to its end")


@both_forms
@every_wire
@pytest.mark.parametrize("after", [None, 0, 1, 200, 10**9])
def test_a_dropped_connection(vendor: Simulator, wire: WireFormat, after: int | None, *, streamed: bool) -> None:
    """The connection is cut after just so many bytes, and never after the whole answer."""
    vendor.script(WHOLE, Dropped(after, answer=WHOLE))
    length = len(post(vendor, wire, streamed=streamed).content)
    vendor.reset()
    vendor.script(Dropped(after, answer=WHOLE))

    fault, got = heard(vendor, wire, streamed=streamed)

    assert fault.kind is FaultKind.CONNECTION
    assert got == min(after or 0, length - 1) or (streamed and got < length)
    assert vendor.calls[0].status == (None if after is None else 200)


@pytest.mark.parametrize("wire", [WireFormat.OPENAI_CHAT, WireFormat.ANTHROPIC], ids=lambda wire: wire.value)
def test_a_dropped_stream_is_billed_as_far_as_it_was_sent(vendor: Simulator, wire: WireFormat) -> None:
    """The text of every event that arrived is billed, and no other."""
    whole = post(vendor, wire, streamed=True)
    vendor.reset()
    at = whole.text.index("the Old Mill")
    vendor.script(Dropped(at, answer=WHOLE))

    heard(vendor, wire, streamed=True)

    before = TEXT[: TEXT.index("the Old Mill") // 20 * 20]
    assert vendor.billed.output == count_tokens(before)
    assert vendor.billed.input > 0


@both_forms
@every_wire
@pytest.mark.parametrize("after", [None, 0, 30])
def test_a_stalled_answer(vendor: Simulator, wire: WireFormat, after: int | None, *, streamed: bool) -> None:
    """Nothing more comes, until the client has had enough."""
    vendor.script(Stalled(after, answer=WHOLE))

    fault, got = heard(vendor, wire, streamed=streamed, seconds=0.2)

    assert (fault.kind, got) == (FaultKind.TIMEOUT, after or 0)


FILLERS = {WireFormat.GOOGLE: b"\n\n", WireFormat.BEDROCK_CONVERSE: KEEPALIVE}


def _event_end(wire: WireFormat, stream: bytes, before: int) -> int:
    """Return where the last event ends that is whole before a place."""
    if wire is not WireFormat.BEDROCK_CONVERSE:
        return stream.rindex(b"\n\n", 0, before) + 2
    end = 0
    while end + (length := int.from_bytes(stream[end : end + 4])) <= before:
        end += length
    return end


@both_forms
@every_wire
def test_a_trickle_never_ends(vendor: Simulator, wire: WireFormat, *, streamed: bool) -> None:
    """Something always comes, so no read ever takes too long, and it is never an answer.

    What comes in a stream comes after the end of an event; on Google's it is what its SDK does not take for JSON.
    """
    whole = post(vendor, wire, streamed=streamed).content
    after = whole.index(b"Mill")
    reach = _event_end(wire, whole, after) if streamed else after
    vendor.script(Trickled(after, answer=WHOLE))
    got = b""

    with (
        httpx2.Client(timeout=5, verify=False) as client,
        client.stream(
            "POST",
            address(vendor, wire, Question(), streamed=streamed),
            json=body(wire, Question(), streamed=streamed),
        ) as response,
    ):
        for part in response.iter_raw():
            got += part
            if len(got) > reach + 6:
                break

    filler = FILLERS.get(wire, b":\n\n") if streamed else b" "
    assert len(got) > reach
    assert got[reach:].replace(filler, b"") == b""


def test_leaving_does_not_wait_for_clients(vendor: Simulator) -> None:
    """A table of stalls is over as soon as its clients are gone: nothing is left in the vendor's hands."""
    vendor.script(*[Stalled(answer=WHOLE)] * len(WIRES))

    for wire in WIRES:
        heard(vendor, wire, streamed=False, seconds=0.1)

    assert [call.usage.output for call in vendor.calls] == [0] * len(WIRES)
