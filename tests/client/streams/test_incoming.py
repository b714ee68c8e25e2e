"""A stream that is read piece by piece gives the answer that its whole text gives."""

from __future__ import annotations

import copy
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter import EmissionError
from emitter.adapters import detect_wire
from emitter.messages import ExpectedAnswer, Fault, FaultKind, ModelResponse, StopReason
from emitter.profiles import WireFormat
from emitter.streaming import FieldComplete, Restart
from tests.adapters import bodies
from tests.adapters.bodies import accumulator, answer
from tests.adapters.streams import STREAMS, Frame
from tests.adapters.test_streams import ANSWERS, FRAMES, cuts
from tests.client.streams.vendor import WORLDS, Answer, ask, streamed
from tests.traffic.recorded import exchanges, needed
from tests.work import covering, examples

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.messages import CallResult
    from tests.adapters.streams import Cut

often = settings(max_examples=examples(40))


def fed(wire: WireFormat, pieces: Iterable[bytes], tool: str | None = None) -> tuple[CallResult, str]:
    """Return the answer to a request that offered ``tool``, and the text that the pieces came to."""
    incoming = accumulator(wire, ExpectedAnswer(tool))
    written = "".join(map(incoming.feed, pieces))
    assert written == "".join(incoming.text_pieces)
    found = incoming.finish({})
    return found, "".join(incoming.text_pieces)


def in_pieces(data: bytes, sizes: list[int]) -> list[bytes]:
    """Return the bytes in pieces of these sizes, again and again."""
    pieces, at = list[bytes](), 0
    while at < len(data):
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(data[at : at + size])
        at += size
    return pieces


def tool_of(name: str) -> str | None:
    """Return the tool that the request for one of ``ANSWERS`` offered."""
    return "f" if name.startswith("chat") and "call" in name else "decide" if name.endswith("-call") else None


@pytest.mark.parametrize("name", ANSWERS)
@given(cut=cuts(), frame=FRAMES, sizes=st.lists(st.integers(1, 30), min_size=1, max_size=4))
@often
def test_pieces_come_to_the_whole(name: str, cut: Cut, frame: Frame, sizes: list[int]) -> None:
    """However it is written down and cut, even within a character; what was written is what is answered."""
    wire, body = ANSWERS[name]
    text, tool = frame.write(list(STREAMS[wire](body, cut))), tool_of(name)

    found, written = fed(wire, in_pieces(text.encode(), sizes), tool)

    assert found == answer(wire, text, expected=ExpectedAnswer(tool))
    if isinstance(found, ModelResponse) and not tool:
        assert written == found.text
    elif isinstance(found, ModelResponse):
        assert found.arguments
        assert _loaded(written) == _loaded(found.document_text)


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("size", [1, 7, 9999])
@pytest.mark.parametrize("indent", [None, 1])
def test_a_body_that_is_no_stream(name: str, size: int, indent: int | None) -> None:
    """A document in pieces is a document."""
    wire, body = ANSWERS[name]
    text, tool = "\n" + json.dumps(body, indent=indent), tool_of(name)

    found, _ = fed(wire, in_pieces(text.encode(), [size]), tool)
    assert found == answer(wire, text, expected=ExpectedAnswer(tool))


@pytest.mark.parametrize("wire", WireFormat)
@given(
    data=st.binary(min_size=1, max_size=60) | st.text('data: []{}"\n\r:\ufeff0eventrror', max_size=60).map(str.encode)
)
@often
def test_any_bytes_are_an_answer(wire: WireFormat, data: bytes) -> None:
    """Nothing is raised, whatever comes, and any cut is the same."""
    assert fed(wire, [data]) == fed(wire, in_pieces(data, [1])) == fed(wire, in_pieces(data, [3, 5]))


@pytest.mark.parametrize(
    ("wire", "flood"),
    covering(WireFormat, [b"\n", b": ping\n\n", b"\xef\xbb\xbf", b"data:\n\n", b"\r", b"\x80"], strength=1),
)
def test_a_flood_of_nothing_is_a_fault(wire: WireFormat, flood: bytes) -> None:
    """Keep-alives without an answer are none."""
    assert isinstance(fed(wire, in_pieces(flood * 20_000, [1]))[0], Fault)


@st.composite
def disordered(draw: st.DrawFn, wire: WireFormat) -> list[dict[str, Any]]:
    """Draw the events of two answers: in a wrong order, left out, repeated, or all of them in place."""
    cut = draw(cuts())
    documents = ('{"vendor": "Acme"}', '{"vendor": "Evil Ltd"}')
    streams = [[payload for _, payload in STREAMS[wire](bodies.text(wire, words), cut)] for words in documents]
    events = [*streams[0]]
    for _ in range(draw(st.integers(0, 4))):
        at, source = draw(st.integers(0, len(events))), draw(st.sampled_from([*streams[0], *streams[1]]))
        match draw(st.sampled_from(["insert", "drop", "swap", "replace"])):
            case "insert":
                events.insert(at, source)
            case "drop":
                del events[at : at + 1]
            case "swap" if len(events) > at + 1:
                events[at], events[at + 1] = events[at + 1], events[at]
            case _:
                events[at : at + 1] = [source]
    return copy.deepcopy(events)


@pytest.mark.parametrize("wire", WireFormat)
@given(data=st.data(), sizes=st.lists(st.integers(1, 60), min_size=1, max_size=3))
@settings(max_examples=examples(200))
def test_what_was_reported_is_the_beginning_of_the_answer(
    wire: WireFormat, data: st.DataObject, sizes: list[int]
) -> None:
    """In whatever order the events come, an answer that counts is the one that was reported."""
    events = data.draw(disordered(wire))
    incoming = accumulator(wire, ExpectedAnswer())
    pieces = in_pieces(Frame().write([("", payload) for payload in events]).encode(), sizes)
    reported = "".join(map(incoming.feed, pieces))
    found = incoming.finish({})
    if isinstance(found, ModelResponse) and found.stop is StopReason.COMPLETE:
        assert reported + incoming.unreported == found.text


@pytest.mark.parametrize("wire", WireFormat)
@given(data=st.data(), world=st.sampled_from(WORLDS))
@settings(max_examples=examples(60))
def test_a_field_that_was_reported_is_that_of_the_result(wire: WireFormat, data: st.DataObject, world: str) -> None:
    """Or it was taken back by a restart. A document that is repaired at the end may not be reported before."""
    events = data.draw(disordered(wire))
    broken = Answer([f"data: {json.dumps(payload)}\n\n".encode() for payload in events])
    good = streamed(wire.value, bodies.text(wire, '{"vendor": "Bolt"}'))
    found = ask(wire.value, world, [broken, *[good] * 5], VENDOR)
    reported: dict[str, Any] = {}
    for event in found.reported:
        if isinstance(event, Restart):
            reported = {}
        if isinstance(event, FieldComplete):
            reported[event.pointer] = event.value
    if not isinstance(found.result, EmissionError):
        assert reported in ({}, {"/vendor": found.result.value["vendor"]})


VENDOR: dict[str, Any] = {
    "type": "object",
    "properties": {"vendor": {"type": "string"}},
    "required": ["vendor"],
    "additionalProperties": False,
}


@needed
def test_recorded_streams_come_to_the_same() -> None:
    """Each recorded stream, cut by bytes in three ways, gives the answer of its whole text."""
    differing: list[Any] = []
    for name, wire, text in _streams():
        whole = answer(wire, text, expected=ExpectedAnswer())
        for sizes in ([13, 1, 29], [4096], [len(text) or 1]):
            found, _ = fed(wire, in_pieces(text.encode(), sizes))
            if found != whole and not _unreadable(found, whole):
                differing.append((name, sizes))
    assert len(_streams()) > 300
    assert differing == []


def _unreadable(*found: CallResult) -> bool:
    """Tell whether none can be read: a stream still knows what it cost, and where it broke."""
    return all(isinstance(each, Fault) and each.kind is FaultKind.PROTOCOL and each.status == 200 for each in found)


@needed
def test_recorded_streams_write_what_they_answer() -> None:
    """Whichever tool was asked for, or none: what is reported on the way is the document in the end."""
    differing: list[tuple[str, str | None]] = []
    for name, wire, text in _streams():
        for tool in (None, *sorted(set(_NAME.findall(text)))):
            incoming = accumulator(wire, ExpectedAnswer(tool))
            written = incoming.feed(text.encode())
            found = incoming.finish({})
            if isinstance(found, ModelResponse) and found.stop is StopReason.COMPLETE:
                written += incoming.unreported
                if written != found.document_text and _loaded(written) != _loaded(found.document_text):
                    differing.append((name, tool))
    assert differing == []


_NAME = re.compile(r'"name": ?"([^"]+)"')


def _loaded(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except ValueError:
        return None


def _streams() -> list[tuple[str, WireFormat, str]]:
    """Return every recorded stream: its file, its wire and its text."""
    found = ((name, _known(each), each["response"]["body"]) for name, each in exchanges().items())
    return [(name, wire, text) for name, wire, text in found if wire is not None and "data:" in text]


def _known(exchange: dict[str, Any]) -> WireFormat | None:
    if not isinstance(exchange["response"]["body"], str) or exchange["response"]["status"] != 200:
        return None
    return detect_wire(exchange["endpoint"], str((exchange.get("request") or {}).get("path") or ""))
