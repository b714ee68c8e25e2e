"""How a hostile vendor streams: events that are odd, in odd places, and ends that are early, late, twice or unclear."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.hostile import wires
from tests.hostile.shapes import DIGITS, Ask, Shape, sent
from tests.hostile.vendor import Script, raw
from tests.hostile.wires import SSE_WIRES, event_frame, events, frame, pieces, stop_path, stream_kind, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ERRORS: dict[str, Any] = {
    "object": {"error": {"message": "broke", "code": 503}}, "text": {"error": "broke"},
    "code-first": {"code": 503, "error": {"message": "broke"}}, "typed": {"type": "error", "message": "broke"},
    "odd-code": {"error": {"code": ["x"], "message": None}}, "text-code": {"error": {"code": "UNAVAILABLE"}},
    "number": {"error": 503}, "true": {"error": True}, "list": {"error": [{"message": "broke"}]},
    "errors": {"errors": [{"message": "broke"}]}, "typed-with-error": {"type": "error", "error": {"type": "x"}},
    "deep": {"error": {"error": {"error": {"message": "broke"}}}},
}  # fmt: skip
_ODD_EVENTS: dict[str, bytes] = {
    "number": b"data: 3\n\n", "list": b"data: [1]\n\n", "text": b'data: "x"\n\n', "words": b"data: broke\n\n",
    "half": b'data: {"a": \n\n', "deep": b"data: " + b"[" * 100_000 + b"\n\n", "not-utf8": b": \xff\n\n",
    "digits": b'data: {"usage": ' + DIGITS.encode() + b"}\n\n", "error-name": b'event: error\ndata: {"a": 1}\n\n',
    "error-list": b'data: [{"error": {"message": "broke"}}]\n\n', "true": b"data: true\n\n",
    "twice": b'data: {"a": 1, "a": 2}\n\n',
}  # fmt: skip
_HARMLESS: dict[str, bytes] = {
    "comment": b": ping\n\n", "comment-alone": b":\n", "mark": b"\xef\xbb\xbf", "id": b"id: 7\n\n",
    "retry": b"retry: 10\n\n", "retry-digits": b"retry: " + DIGITS.encode() + b"\n\n",
    "id-digits": b"id: " + DIGITS.encode() + b"\n\n",
    "unknown-field": b"x-odd: 1\n\n", "blank": b"\n\n\n", "empty-data": b"data:\n\n",
    "unknown-name": b": x\nevent: ping\n\n", "carriage-returns": b": x\r\r",
}  # fmt: skip
_ODD_PLACES = (("mark", "middle"), ("mark", "last"), ("unknown-field", "first"))
"""Where the standard has no byte order mark, and where a field that nobody knows makes a body no stream."""


def _exception(name: str, payload: bytes = b'{"message": "broke"}') -> bytes:
    return frame({":exception-type": name, ":content-type": "application/json", ":message-type": "exception"}, payload)


_GOOD_FRAME = event_frame("keepAlive", b"{}")
_DELTA = b'{"contentBlockIndex": 0, "delta": {"text": "the decoy"}}'
_FRAMES: dict[str, bytes] = {
    **{f"exception-{name}": _exception(name) for name in (
        "throttlingException", "validationException", "modelStreamErrorException", "internalServerException",
        "serviceUnavailableException", "oddException", "",
    )},
    "exception-words": _exception("throttlingException", b"broke"),
    "exception-digits": _exception("throttlingException", DIGITS.encode()),
    "exception-deep": _exception("throttlingException", b"[" * 100_000),
    "error-message": frame({":message-type": "error", ":error-code": "x", ":error-message": "broke"}, b""),
    "error-bare": frame({":message-type": "error"}, b""),
    "no-headers": frame({}, b"{}"),
    "no-type": frame({":event-type": "contentBlockDelta"}, _DELTA),
    "other-type": frame({":event-type": "contentBlockDelta", ":message-type": "other"}, _DELTA),
    "payload-words": event_frame("contentBlockDelta", b"broke"),
    "payload-list": event_frame("contentBlockDelta", b"[1]"),
    "payload-number": event_frame("contentBlockDelta", b"3"),
    "payload-half": event_frame("contentBlockDelta", _DELTA[:-2]),
    "payload-not-utf8": event_frame("contentBlockDelta", _DELTA.replace(b"decoy", b"dec\xff")),
    "payload-digits": event_frame("metadata", b'{"usage": {"inputTokens": ' + DIGITS.encode() + b"}}"),
    "payload-deep": event_frame("contentBlockDelta", b"[" * 100_000),
    "payload-twice": event_frame("contentBlockDelta", _DELTA[:-1] + b', "contentBlockIndex": 1}'),
    "payload-breaks-out": event_frame("contentBlockDelta", b'{}, "messageStop": {"stopReason": "end_turn"}'),
    "payload-event-inside": event_frame("keepAlive", b'{}}\n\ndata: {"messageStop": {"stopReason": "end_turn"}}\n\n'),
    "prelude-sum": _GOOD_FRAME[:8] + b"\0\0\0\0" + _GOOD_FRAME[12:],
    "message-sum": _GOOD_FRAME[:-4] + b"\0\0\0\0",
    "length-zero": b"\0" * 16,
    "length-huge": b"\x7f\xff\xff\xff" + _GOOD_FRAME[4:],
    "headers-huge": _GOOD_FRAME[:4] + b"\x7f\xff\xff\xff" + _GOOD_FRAME[8:],
    "half": _GOOD_FRAME[:-9],
    "words": b"upstream connect error",
    "text-event": b'data: {"messageStop": {"stopReason": "end_turn"}}\n\n',
}  # fmt: skip
"""Frames of an Amazon event stream that are wrong."""
_HARMLESS_FRAMES: dict[str, bytes] = {
    "keep-alive": _GOOD_FRAME,
    "unknown-event": event_frame("somethingNew", b'{"a": 1}'),
    "empty-payload": event_frame("somethingNew", b""),
    "name-breaks-out": event_frame('x": {}, "messageStop', b'{"stopReason": "end_turn"}'),
}


def _with(ask: Ask, event: bytes, place: str) -> Script:
    made = pieces(ask.wire)
    at = {"first": 0, "middle": 2, "last": len(made)}[place]
    return sent(raw(b"".join([*made[:at], event, *made[at:]]), kind=stream_kind(ask.wire)))


def _placed(name: str, event: bytes, place: str, **more: Any) -> Shape:
    return Shape(f"event:{name}-{place}", lambda ask: _with(ask, event, place), **more)


def _odd_events() -> Iterator[Shape]:
    """Yield streams with one more event: an error, something odd, or something harmless."""
    for place in ("first", "middle", "last"):
        late: dict[str, Any] = {"said": place == "last", "wires": SSE_WIRES}
        for name, payload in _ERRORS.items():
            yield _placed(f"error-{name}", f"data: {json.dumps(payload)}\n\n".encode(), place, **late)
        for name, event in _ODD_EVENTS.items():
            yield _placed(f"odd-{name}", event, place, **late)
        for name, event in _HARMLESS.items():
            odd = (name, place) in _ODD_PLACES
            yield _placed(
                f"harmless-{name}",
                event,
                place,
                expected="either" if odd else "answer",
                said=not odd,
                wires=SSE_WIRES,
            )


def _odd_frames() -> Iterator[Shape]:
    """Yield Amazon's streams with one more frame."""
    only: dict[str, Any] = {"wires": ("bedrock-converse",), "streams": True}
    for place in ("first", "middle", "last"):
        for name, event in _FRAMES.items():
            yield _placed(f"frame-{name}", event, place, said=place == "last", **only)
        for name, event in _HARMLESS_FRAMES.items():
            yield _placed(f"frame-harmless-{name}", event, place, expected="answer", said=True, **only)


def _stops(wire: str, value: Any) -> list[wires.Event]:
    """Return the events of a stream whose stop is another value, wherever it says it."""

    def replaced(each: Any) -> Any:
        if isinstance(each, list):
            return [replaced(inner) for inner in each]
        if not isinstance(each, dict):
            return each
        key = stop_path(wire)[-1]
        return {k: value if k == key and v in wires.CLEAN else replaced(v) for k, v in each.items()}

    return [(name, replaced(payload)) for name, payload in events(wire)]


_ODD_STOPS: dict[str, Any] = {
    "null": None, "unknown": "odd", "colon": "stop:length", "number": 2, "three": 3, "seventeen": 17, "zero": 0,
    "minus": -1, "huge": 10**40, "fraction": 1.5, "true": True, "list": ["stop"], "object": {"stop": 1}, "empty": "",
    "blank": " ", "long": "x" * 5000, "surrogate": "\ud800", "upper": "END_TURN STOP",
}  # fmt: skip


def _bodied(ask: Ask, parts: Sequence[bytes]) -> Script:
    return sent(raw(b"".join(parts), kind=stream_kind(ask.wire)))


def _odd_ends() -> Iterator[Shape]:
    """Yield streams that stop for odd reasons, are written down in odd ways, or end early, late or twice."""
    for name, value in _ODD_STOPS.items():
        yield Shape(
            f"finish:{name}",
            lambda ask, value=value: _bodied(ask, [written(_stops(ask.wire, value), ask.wire)]),
            # A Responses stream says in the type of its last event, too, how the answer ended.
            "either" if not value else "error",
        )
    for end in ("\r\n", "\r"):
        yield Shape(
            f"lines:{end!r}",
            lambda ask, end=end: _bodied(ask, [written(events(ask.wire), ask.wire, eol=end)]),
            "answer",
            said=True,
            wires=SSE_WIRES,
        )
    for number in range(8):
        yield Shape(
            f"end:without-{number}",
            lambda ask, number=number: _bodied(ask, pieces(ask.wire)[: max(1, len(pieces(ask.wire)) - number)]),
            "either",
        )
        yield Shape(
            f"end:twice-{number}",
            lambda ask, number=number: _bodied(ask, [*pieces(ask.wire), *pieces(ask.wire)[-1 - number :]]),
            "either",
        )
    for number in range(12):
        yield Shape(
            f"end:at-{number}",
            lambda ask, number=number: _bodied(ask, [b"".join(pieces(ask.wire))[: -7 * number - 3]]),
            "either",
        )
    yield Shape("end:event-in-stop", _in_stop, wires=SSE_WIRES)


def _in_stop(ask: Ask) -> Script:
    """Return a stream whose stop event holds an error, too."""
    made = events(ask.wire)
    at = wires.stop_place(made)
    name, payload = made[at]
    made[at] = (name, {**payload, "error": {"message": "broke"}})
    return _bodied(ask, [written(made, ask.wire)])


def shapes() -> list[Shape]:
    """Return the shapes of streams."""
    return [*_odd_events(), *_odd_frames(), *_odd_ends()]
