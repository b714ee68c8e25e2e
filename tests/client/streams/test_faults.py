"""A stream that breaks off is a fault, whatever had been written: never an answer, never a raw exception."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from emitter import EmissionError, Policy, Refused, Unreachable
from emitter.attempts import Verdict
from emitter.errors import ClientFailed
from emitter.messages import FaultKind
from emitter.streaming import FieldComplete, Restart
from tests.adapters import bodies
from tests.adapters.streams import STREAMS
from tests.client.streams.vendor import WIRES, WORLDS, Answer, Told, ask, streamed, whole
from tests.scenarios.vendors import VENDORS
from tests.work import FULL, covering

every_wire = pytest.mark.parametrize("wire", WIRES)
every_world = pytest.mark.parametrize("world", WORLDS)

FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["a", "n"],
    "additionalProperties": False,
}
DOCUMENT = {"a": "é決🙂 " * 4, "n": 7}
TEXT = json.dumps(DOCUMENT, ensure_ascii=False)
ONCE = Policy(max_faults=0)


def good(wire: str, size: int = 4) -> Answer:
    """Return a good stream."""
    return streamed(wire, VENDORS[wire].whole(TEXT, 40).body, size)


def failed(found: Told, *kinds: FaultKind, error: type[EmissionError] = Unreachable) -> None:
    """Check that it ended in a fault of one of the kinds, and that what it cost is reported."""
    assert isinstance(found.result, error), found.result
    assert found.attempts[-1].fault is not None
    assert found.attempts[-1].fault.kind in kinds
    assert [each.verdict for each in found.attempts] == [Verdict.FAULTED]
    assert found.vendor.sent[0].closed


@every_world
@every_wire
def test_a_stream_without_its_end(wire: str, world: str) -> None:
    """Whatever number of events came, without the last there is no answer."""
    pieces = good(wire).pieces
    last = {"openai-responses": 1, "openai-chat": 3, "gemini-interactions": 1}.get(wire, 2)
    for kept in range(len(pieces) - last + 1):
        found = ask(wire, world, [Answer(pieces[:kept])], FORM, policy=ONCE)
        failed(found, FaultKind.PROTOCOL)
        assert found.trace.usage.input > 0
        assert found.trace.usage.estimated or not any(isinstance(each, FieldComplete) for each in found.reported)


CUTS: dict[str, tuple[Exception, FaultKind]] = {
    "read": (httpx2.ReadError("cut"), FaultKind.CONNECTION),
    "protocol": (httpx2.RemoteProtocolError("cut"), FaultKind.CONNECTION),
    "timeout": (httpx2.ReadTimeout("slow"), FaultKind.TIMEOUT),
}


@pytest.mark.parametrize(("wire", "name", "world"), covering(WIRES, CUTS, WORLDS))
def test_a_connection_that_is_cut_anywhere(wire: str, name: str, world: str) -> None:
    """At any event the cut is a fault, and what had been written counts."""
    error, kind = CUTS[name]
    pieces = good(wire, 9).pieces
    for kept in range(len(pieces) + 1):
        found = ask(wire, world, [Answer([*pieces[:kept], error])], FORM, policy=ONCE)
        failed(found, kind)


def _step(data: bytes) -> int:
    """Return a step that falls on every part of an event in the end, in some twenty places, or sixty."""
    return len(data) // (60 if FULL else 20) | 1


@every_wire
def test_a_connection_that_is_cut_at_any_byte(wire: str) -> None:
    """Even within a character or an event, and after the last event: a cut is never an answer."""
    data = b"".join(each for each in good(wire, 9).pieces if isinstance(each, bytes))
    for kept in range(0, len(data) + 1, _step(data)):
        found = ask(wire, "sync", [Answer([data[:kept], httpx2.ReadError("cut")])], FORM, policy=ONCE)
        failed(found, FaultKind.CONNECTION)


@every_wire
def test_bytes_that_end_anywhere(wire: str) -> None:
    """A body that ends early without a word is a fault until its last event is there, and then the answer."""
    data = b"".join(each for each in good(wire, 9).pieces if isinstance(each, bytes))
    verdicts = set[Verdict]()
    for kept in (*range(0, len(data), _step(data)), len(data)):
        found = ask(wire, "sync", [Answer([data[:kept]])], FORM, policy=ONCE)
        verdicts.add(found.attempts[0].verdict)
        assert isinstance(found.result, Unreachable) or found.result.value == DOCUMENT
        assert all(
            DOCUMENT[each.pointer[1:]] == each.value for each in found.reported if isinstance(each, FieldComplete)
        )
    assert verdicts == {Verdict.FAULTED, Verdict.COMPLETE}


ERRORS: dict[str, tuple[str, dict[str, Any], FaultKind]] = {
    "openai-responses": (
        "error",
        {"type": "error", "code": "server_error", "message": "The server had an error."},
        FaultKind.SERVER,
    ),
    "openai-chat": ("", {"error": {"type": "server_error", "message": "The server had an error."}}, FaultKind.SERVER),
    "anthropic": (
        "error",
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        FaultKind.OVERLOADED,
    ),
    "google": ("", {"error": {"code": 503, "status": "UNAVAILABLE", "message": "Overloaded"}}, FaultKind.OVERLOADED),
    "gemini-interactions": (
        "error",
        {"event_type": "error", "error": {"code": "internal", "message": "An internal error has occurred."}},
        FaultKind.SERVER,
    ),
    "bedrock-converse": (
        "error",
        {"error": {"type": "ServiceUnavailableException", "message": "Too many tokens."}},
        FaultKind.OVERLOADED,
    ),
}


@every_world
@every_wire
def test_an_error_event_at_any_position(wire: str, world: str) -> None:
    """An error under HTTP 200 is what it says, however much of an answer stands before or after it."""
    name, payload, kind = ERRORS[wire]
    event = (f"event: {name}\n" if name else "") + f"data: {json.dumps(payload)}\n\n"
    pieces = list(good(wire, 9).pieces)
    for place in range(len(pieces)):
        found = ask(wire, world, [Answer([*pieces[:place], event.encode(), *pieces[place:]])], FORM, policy=ONCE)
        failed(found, kind)


def as_document(wire: str) -> str:
    """Return the unary body of the good answer."""
    return json.dumps(VENDORS[wire].whole(TEXT, 40).body)


@every_world
@every_wire
@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream", "text/plain"])
def test_a_document_instead_of_a_stream(wire: str, world: str, content_type: str) -> None:
    """A server that does not stream is heard all the same, and what it said is reported at the end."""
    found = ask(wire, world, [whole(as_document(wire), headers={"content-type": content_type})], FORM)

    assert found.result.value == DOCUMENT
    assert [(each.pointer, each.value) for each in found.reported] == list(
        {f"/{name}": value for name, value in DOCUMENT.items()}.items()
    )


BODIES = {
    "html": "<!DOCTYPE html><html><body>502 Bad Gateway</body></html>",
    "empty": "",
    "blank": "\n\n \n",
    "half-json": '{"id": "x", ',
    "half-event": 'data: {"id": ',
    "no-json-event": "data: hello\n\n",
    "text": "upstream connect error",
    "null": "null",
    "only-done": "data: [DONE]\n\n",
    "comments": ": ping\n\n: ping\n\n",
    "empty-events": "data:\n\ndata:\n\n",
    "list": "data: []\n\n",
    "number": "data: 3\n\n",
}


@pytest.mark.parametrize(
    ("name", "wire", "content_type", "world"), covering(BODIES, WIRES, ("text/html", "text/event-stream"), WORLDS)
)
def test_what_is_no_stream(name: str, wire: str, content_type: str, world: str) -> None:
    """HTML, nothing, half of something: a fault of the protocol."""
    found = ask(wire, world, [whole(BODIES[name], headers={"content-type": content_type})], FORM, policy=ONCE)

    failed(found, FaultKind.PROTOCOL)


ENDS = {
    "openai-chat": b"data: [DONE]\n\n",
    "anthropic": b'event: message_stop\ndata: {"type": "message_stop"}\n\n',
}


@every_world
@pytest.mark.parametrize(("wire", "last"), ENDS.items(), ids=ENDS)
def test_the_last_event_may_be_missing_or_doubled(wire: str, last: bytes, world: str) -> None:
    """What ends the stream is its finish reason or its stop reason."""
    pieces = list(good(wire).pieces)
    assert pieces[-1] == last

    for end in ([], [last], [last, last]):
        assert ask(wire, world, [Answer([*pieces[:-1], *end])], FORM).result.value == DOCUMENT


@every_world
@every_wire
def test_characters_are_put_together_again(wire: str, world: str) -> None:
    """A stream that comes byte by byte, in raw UTF-8, is the same."""
    body = VENDORS[wire].whole(TEXT, 40).body
    made = STREAMS[bodies.WireFormat(wire)](body, lambda text: [text[:3], text[3:]])
    raw = "".join(f"data: {json.dumps(payload, ensure_ascii=False)}\n\n" for _, payload in made).encode()
    found = ask(wire, world, [Answer([raw[at : at + 1] for at in range(len(raw))])], FORM)

    assert found.result.value == DOCUMENT
    assert [each.value for each in found.reported] == list(DOCUMENT.values())


@every_world
@every_wire
def test_a_rate_limit_and_then_an_answer(wire: str, world: str) -> None:
    """The wait is what the vendor asks for, the restart is reported, and only the good call cost anything."""
    limited = whole('{"error": {"message": "Slow down.", "code": 429}}', 429, {"retry-after": "3"})
    found = ask(wire, world, [limited, good(wire)], FORM)

    assert found.result.value == DOCUMENT
    assert found.reported[0] == Restart(2, Verdict.FAULTED)
    assert [each.fault and each.fault.retry_after for each in found.attempts] == [3.0, None]


_WORDS = {"text": TEXT[:-5]}
REFUSED_MIDWAY = {
    "openai-responses": bodies.responses(
        bodies.said({"type": "output_text", **_WORDS}, {"type": "refusal", "refusal": "No."})
    ),
    "openai-chat": bodies.chat({"content": TEXT[:-5], "refusal": "No."}),
    "anthropic": bodies.anthropic({"type": "text", **_WORDS}, stop_reason="refusal"),
    "google": bodies.google(_WORDS, finishReason="SAFETY"),
    "gemini-interactions": bodies.interaction(
        {**bodies.output(TEXT[:-5]), "error": {"code": 3, "message": "Prohibited Use Policy"}}, status="failed"
    ),
    "bedrock-converse": bodies.bedrock(_WORDS, stopReason="guardrail_intervened"),
}


@every_world
@every_wire
def test_a_refusal_in_the_middle(wire: str, world: str) -> None:
    """What was reported before is void, and nothing is sent again."""
    found = ask(wire, world, [streamed(wire, REFUSED_MIDWAY[wire])], FORM)

    assert isinstance(found.result, Refused)
    assert [each.pointer for each in found.reported if isinstance(each, FieldComplete)] == ["/a"]
    assert len(found.vendor.seen) == 1


@every_world
@every_wire
def test_a_cut_answer_and_then_a_whole_one(wire: str, world: str) -> None:
    """What was reported the cut one is taken back by a restart, and the budget is doubled."""
    cut = streamed(wire, VENDORS[wire].cut(TEXT[:-5], 100).body)
    found = ask(wire, world, [cut, good(wire)], FORM, policy=Policy(output_tokens=100))

    assert [each.pointer if isinstance(each, FieldComplete) else each for each in found.reported] == [
        "/a",
        Restart(2, Verdict.TRUNCATED),
        "/a",
        "/n",
    ]
    assert [each.budget for each in found.attempts] == [100, 200]
    assert found.trace.usage.output == 140
    assert not found.trace.usage.estimated


@every_world
@every_wire
def test_a_cut_connection_and_then_an_answer(wire: str, world: str) -> None:
    """What broke off is counted on top of what the good call cost, and marked as an estimate."""
    pieces = good(wire).pieces
    cut = Answer([*pieces[: len(pieces) // 2], httpx2.ReadError("cut")])
    found = ask(wire, world, [cut, good(wire)], FORM)

    first, second = (each.usage for each in found.attempts)
    assert found.result.value == DOCUMENT
    assert (first.estimated, second.estimated) == (True, False)
    assert found.trace.usage == first + second
    assert found.trace.usage.output > 40


@every_world
@every_wire
def test_a_violation_and_then_a_good_answer(wire: str, world: str) -> None:
    """The member that broke the form was not reported, and the restart says why."""
    bad = streamed(wire, VENDORS[wire].whole(json.dumps({"a": 3, "n": 4}), 9).body)
    found = ask(wire, world, [bad, good(wire)], FORM)

    assert [(each.pointer, each.value) if isinstance(each, FieldComplete) else each for each in found.reported] == [
        ("/n", 4),
        Restart(2, Verdict.VIOLATED),
        ("/a", DOCUMENT["a"]),
        ("/n", 7),
    ]


@every_world
@every_wire
@pytest.mark.parametrize("error", [ZeroDivisionError, RecursionError, MemoryError])
def test_whatever_a_stream_raises_is_a_fault(wire: str, world: str, error: type[Exception]) -> None:
    """An exception that no table knows is that of the code that raised it, with what the answer has cost until then."""
    pieces = good(wire).pieces[:2]
    found = ask(wire, world, [Answer([*pieces, error("x")])], FORM, policy=Policy(max_faults=3))

    failed(found, FaultKind.CLIENT, error=ClientFailed)
    assert found.trace.usage.input > 0


@every_world
@every_wire
def test_a_stream_that_is_not_utf8_is_a_fault(wire: str, world: str) -> None:
    """No character is made up for bytes that are none; what the vendor says of the cost afterwards counts."""
    broken = [b": \xff\n\n", *good(wire).pieces]
    found = ask(wire, world, [Answer(broken)], FORM, policy=ONCE)

    failed(found, FaultKind.PROTOCOL)
    assert found.trace.usage == ask(wire, world, [good(wire)], FORM, policy=ONCE).trace.usage


BEFORE = ("\ufeff", ": comment\n\n", "\ufeff: comment\r\n\r\n", "retry: 3\nid: 7\n\n")


@pytest.mark.parametrize(("before", "wire", "world"), covering(BEFORE, WIRES, WORLDS))
def test_what_may_stand_before_the_first_event(before: str, wire: str, world: str) -> None:
    """A byte order mark, comments and fields that nobody needs are no part of the answer."""
    found = ask(wire, world, [Answer([before.encode(), *good(wire).pieces])], FORM)
    assert found.result.value == DOCUMENT


BESIDE = {
    "object": {"error": {"message": "broke", "code": 503}},
    "text": {"error": "broke"},
    "code-first": {"code": 503, "error": {"message": "broke"}},
    "no-code": {"error": {}, "errors": [{"message": "broke"}]},
    "odd-code": {"error": {"code": ["x"], "message": None}},
    "typed": {"type": "error", "message": "broke"},
}


@pytest.mark.parametrize(
    ("name", "wire", "place", "world"), covering(BESIDE, WIRES, ("before-the-end", "after-the-end"), WORLDS)
)
def test_an_error_beside_a_complete_answer(name: str, wire: str, place: str, world: str) -> None:
    """An error among the events is a fault, whatever else they say, with what the answer cost."""
    pieces = list(good(wire).pieces)
    at = len(pieces) if place == "after-the-end" else 2
    event = f"data: {json.dumps(BESIDE[name])}\n\n".encode()
    found = ask(wire, world, [Answer([*pieces[:at], event, *pieces[at:]])], FORM, policy=ONCE)

    assert isinstance(found.result, EmissionError)
    assert found.trace.usage.input > 0
