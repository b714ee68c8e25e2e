"""What a hostile vendor answers, generated from tables: how HTTP, JSON and streams of events can go wrong."""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from emitter.profiles.model import WireFormat
from tests.adapters.streams import STREAMS, Frame
from tests.hostile.vendor import Script, chunked, http, raw
from tests.scenarios.vendors import VENDORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WIRES = ("openai-responses", "openai-chat", "anthropic", "google")
DOCUMENT = {"a": "the right value", "n": 7}
TEXT = json.dumps(DOCUMENT)
INPUT, OUTPUT = 1480, 40
"""What the vendors say of the cost."""

Expected = Literal["answer", "error", "either"]
Kind = Literal["application/json", "text/event-stream"]


@dataclass(frozen=True)
class Ask:
    """Which answer is wanted: of a wire, whole or streamed, and at which address the vendor and a stranger are."""

    wire: str
    streams: bool
    here: str = ""
    elsewhere: str = ""

    @property
    def kind(self) -> Kind:
        """The content type of a good answer."""
        return "text/event-stream" if self.streams else "application/json"

    @property
    def good(self) -> bytes:
        """The body of a good answer."""
        return stream(events(self.wire), self.wire) if self.streams else json.dumps(unary(self.wire)).encode()


@dataclass(frozen=True)
class Shape:
    """One way to answer.

    ``expected`` says what must come of it: the right answer, a typed error, or either, but never another answer.
    ``said`` tells that the vendor said what the call cost, so that the trace must say so, too.
    """

    name: str
    script: Callable[[Ask], Script]
    expected: Expected = "error"
    said: bool = False
    large: bool = False


@cache
def _unary(wire: str) -> str:
    return json.dumps(VENDORS[wire].whole(TEXT, OUTPUT).body)


def unary(wire: str) -> dict[str, Any]:
    """Return the body of a good unary answer."""
    body: dict[str, Any] = json.loads(_unary(wire))
    return body


@cache
def _events(wire: str) -> str:
    made = STREAMS[WireFormat(wire)](unary(wire), lambda text: [text[:9], text[9:]])
    return json.dumps(list(made))


def events(wire: str) -> list[tuple[str, Any]]:
    """Return the events of a good stream."""
    return [(name, payload) for name, payload in json.loads(_events(wire))]


def stream(made: list[tuple[str, Any]], wire: str, **frame: Any) -> bytes:
    """Return events as they are written down."""
    return Frame(done=wire == "openai-chat", **frame).write(made).encode()


def _sent(*pieces: bytes, reset: bool = False) -> Script:
    return Script(pieces, reset)


# --- HTTP ----------------------------------------------------------------------------------------------------------


def _framings() -> Iterator[Shape]:
    """Yield good answers in odd frames."""
    frames: dict[str, Callable[[bytes, Kind], bytes]] = {
        "length": lambda body, kind: http(body, kind=kind),
        "close": lambda body, kind: raw(body, kind=kind),
        "chunks": lambda body, kind: raw(chunked(body), "Transfer-Encoding: chunked", kind=kind),
        "chunks-of-one": lambda body, kind: raw(chunked(body, 1), "Transfer-Encoding: chunked", kind=kind),
        "chunk-extensions": lambda body, kind: raw(
            chunked(body).replace(b"40\r\n", b"40;x=y\r\n"), "Transfer-Encoding: chunked", kind=kind
        ),
        "trailers": lambda body, kind: raw(
            chunked(body, end=b"0\r\nX-Late: 1\r\n\r\n"), "Transfer-Encoding: chunked", kind=kind
        ),
        "gzip": lambda body, kind: http(gzip.compress(body), kind=kind, headers=["Content-Encoding: gzip"]),
        "deflate": lambda body, kind: http(zlib.compress(body), kind=kind, headers=["Content-Encoding: deflate"]),
        "gzip-twice": lambda body, kind: http(
            gzip.compress(gzip.compress(body)), kind=kind, headers=["Content-Encoding: gzip, gzip"]
        ),
        "gzip-chunks": lambda body, kind: raw(
            chunked(gzip.compress(body), 7), "Content-Encoding: gzip", "Transfer-Encoding: chunked", kind=kind
        ),
        "informational": lambda body, kind: b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + http(body, kind=kind),
        "continue": lambda body, kind: b"HTTP/1.1 100 Continue\r\n\r\n" + http(body, kind=kind),
        "no-reason": lambda body, kind: http(body, kind=kind, status="200 "),
        "no-kind": lambda body, _: http(body, kind=""),
        "wrong-kind": lambda body, _: http(body, kind="text/html"),
        "odd-kind": lambda body, _: http(body, kind="application/json; charset=utf-7"),
        "no-such-charset": lambda body, _: http(body, kind="text/plain; charset=nonsense"),
    }
    for name, frame in frames.items():
        yield Shape(f"frame:{name}", lambda ask, frame=frame: _sent(frame(ask.good, ask.kind)), "answer", said=True)
    yield Shape(
        "frame:byte-by-byte",
        lambda ask: Script([bytes([each]) for each in http(ask.good, kind=ask.kind)]),
        "answer",
        said=True,
    )


def _cuts() -> Iterator[Shape]:
    """Yield answers that break off, at every layer, with a close and with a reset."""

    def zipped(ask: Ask) -> bytes:
        return http(gzip.compress(ask.good), kind=ask.kind, headers=["Content-Encoding: gzip"])

    def in_chunks(ask: Ask) -> bytes:
        return raw(chunked(ask.good), "Transfer-Encoding: chunked", kind=ask.kind)

    def sized(ask: Ask) -> bytes:
        return http(ask.good, kind=ask.kind)

    places: dict[str, Callable[[Ask], bytes]] = {
        "nothing": lambda _: b"",
        "status-line": lambda _: b"HTTP/1.1 20",
        "after-status": lambda _: b"HTTP/1.1 200 OK\r\n",
        "headers": lambda ask: sized(ask)[:40],
        "before-blank": lambda ask: sized(ask).partition(b"\r\n\r\n")[0] + b"\r\n",
        "before-body": lambda ask: sized(ask).partition(b"\r\n\r\n")[0] + b"\r\n\r\n",
        "body-first-byte": lambda ask: sized(ask)[: len(sized(ask)) - len(ask.good) + 1],
        "body-half": lambda ask: sized(ask)[: len(sized(ask)) - len(ask.good) // 2],
        "body-last-byte": lambda ask: sized(ask)[:-1],
        "chunk-size": lambda ask: in_chunks(ask).partition(b"\r\n\r\n")[0] + b"\r\n\r\n4",
        "chunk-data": lambda ask: in_chunks(ask)[:-90],
        "last-chunk": lambda ask: in_chunks(ask)[: -len(b"0\r\n\r\n")],
        "last-line": lambda ask: in_chunks(ask)[:-2],
        "gzip-half": lambda ask: zipped(ask)[:-60],
        "gzip-trailer": lambda ask: zipped(ask)[:-4],
    }
    for name, cut in places.items():
        for end in ("close", "reset"):
            yield Shape(f"cut:{name}-{end}", lambda ask, cut=cut, end=end: _sent(cut(ask), reset=end == "reset"))
    yield Shape(
        "cut:inner-gzip",
        lambda ask: _sent(http(gzip.compress(ask.good)[:-40], kind=ask.kind, headers=["Content-Encoding: gzip"])),
        "error",
    )
    yield Shape("cut:clean-half", lambda ask: _sent(http(ask.good[: len(ask.good) // 2], kind=ask.kind)), "error")
    yield Shape("cut:clean-start", lambda ask: _sent(http(ask.good[:30], kind=ask.kind)), "error")


def _wrong_frames() -> Iterator[Shape]:
    """Yield lengths, chunks, encodings and heads that are wrong."""
    frames: dict[str, Callable[[Ask], bytes]] = {
        "length-short": lambda ask: raw(ask.good, f"Content-Length: {len(ask.good) - 40}", kind=ask.kind),
        "length-zero": lambda ask: raw(ask.good, "Content-Length: 0", kind=ask.kind),
        "length-long": lambda ask: raw(ask.good, f"Content-Length: {len(ask.good) + 9}", kind=ask.kind),
        "length-negative": lambda ask: raw(ask.good, "Content-Length: -1", kind=ask.kind),
        "length-word": lambda ask: raw(ask.good, "Content-Length: many", kind=ask.kind),
        "length-two": lambda ask: raw(ask.good, "Content-Length: 5", "Content-Length: 6", kind=ask.kind),
        "length-huge": lambda ask: raw(ask.good, f"Content-Length: {10**30}", kind=ask.kind),
        "chunk-not-hex": lambda ask: raw(b"zz\r\n" + ask.good, "Transfer-Encoding: chunked", kind=ask.kind),
        "chunk-negative": lambda ask: raw(b"-5\r\n" + ask.good, "Transfer-Encoding: chunked", kind=ask.kind),
        "chunk-huge": lambda ask: raw(b"f" * 40 + b"\r\n" + ask.good, "Transfer-Encoding: chunked", kind=ask.kind),
        "chunk-no-end": lambda ask: raw(b"5\r\n" + ask.good, "Transfer-Encoding: chunked", kind=ask.kind),
        "chunk-none": lambda ask: raw(ask.good, "Transfer-Encoding: chunked", kind=ask.kind),
        "coding-unknown": lambda ask: raw(chunked(ask.good), "Transfer-Encoding: gzip, chunked", kind=ask.kind),
        "not-gzip": lambda ask: http(ask.good, kind=ask.kind, headers=["Content-Encoding: gzip"]),
        "not-deflate": lambda ask: http(ask.good, kind=ask.kind, headers=["Content-Encoding: deflate"]),
        "gzip-corrupt": lambda ask: http(
            gzip.compress(ask.good)[:30] + b"\xff" * 60, kind=ask.kind, headers=["Content-Encoding: gzip"]
        ),
        "gzip-sum": lambda ask: http(
            gzip.compress(ask.good)[:-8] + b"12345678", kind=ask.kind, headers=["Content-Encoding: gzip"]
        ),
        "gzip-six-times": lambda ask: http(ask.good, kind=ask.kind, headers=["Content-Encoding: " + "gzip, " * 6]),
        "no-http": lambda ask: ask.good,
        "smtp": lambda _: b"220 mail.invalid ESMTP\r\n",
        "tls": lambda _: b"\x15\x03\x01\x00\x02\x02\x50",
        "http-2": lambda _: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "version": lambda ask: http(ask.good, kind=ask.kind).replace(b"HTTP/1.1", b"HTTP/9.9"),
        "status-word": lambda ask: http(ask.good, kind=ask.kind, status="fine OK"),
        "status-short": lambda ask: http(ask.good, kind=ask.kind, status="20 OK"),
        "status-long": lambda ask: http(ask.good, kind=ask.kind, status="2000 OK"),
        "header-no-colon": lambda ask: http(ask.good, kind=ask.kind, headers=["nothing"]),
        "header-nul": lambda ask: http(ask.good, kind=ask.kind, headers=["X-A: \0"]),
        "header-long": lambda ask: http(ask.good, kind=ask.kind, headers=["X-A: " + "a" * 300_000]),
        "headers-many": lambda ask: http(ask.good, kind=ask.kind, headers=[f"X-{n}: 1" for n in range(20_000)]),
        "switching": lambda _: b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nhello",
        "informational-only": lambda _: b"HTTP/1.1 100 Continue\r\n\r\n" * 9,
    }
    either = ("length-short", "gzip-sum", "version", "length-huge", "header-long", "headers-many", "not-deflate")
    for name, frame in frames.items():
        yield Shape(
            f"wrong:{name}", lambda ask, frame=frame: _sent(frame(ask)), "either" if name in either else "error"
        )


_STATUSES = (
    *(201, 202, 203, 204, 205, 206, 207, 226, 299, 300, 304, 305, 306, 399, 400, 401, 402, 403, 404, 405, 406, 407),
    *(408, 409, 410, 413, 415, 418, 422, 424, 425, 429, 431, 451, 499, 500, 501, 502, 503, 504, 507, 511, 520, 529),
    *(599, 600, 999),
)
_FIRST_BAD = 300


def _statuses() -> Iterator[Shape]:
    """Yield odd statuses, with a good answer, an error, HTML and nothing."""
    bodies: dict[str, Callable[[Ask], bytes]] = {
        "good": lambda ask: ask.good,
        "error": lambda _: b'{"error": {"message": "broke", "code": "broke", "type": "broke"}}',
        "html": lambda _: b"<!DOCTYPE html><html><body>broke</body></html>",
        "deep": lambda _: b'{"error":' * 50_000,
    }
    for status in _STATUSES:
        for name, body in bodies.items():
            expected: Expected = "either" if status < _FIRST_BAD and name == "good" else "error"
            yield Shape(
                f"status:{status}-{name}",
                lambda ask, status=status, body=body: _sent(http(body(ask), status=f"{status} X", kind=ask.kind)),
                expected,
            )


def _redirects() -> Iterator[Shape]:
    """Yield redirects: here, elsewhere, in a circle, nowhere."""
    targets: dict[str, Callable[[Ask], str]] = {
        "here": lambda ask: f"{ask.here}/frame:length/{ask.wire}/",
        "elsewhere": lambda ask: f"{ask.elsewhere}/frame:length/{ask.wire}/",
        "no-scheme": lambda ask: ask.elsewhere.removeprefix("http:") + "/x",
        "circle": lambda _: "",
        "nonsense": lambda _: "http://[::1",
        "script": lambda _: "javascript:alert(1)",
        "file": lambda _: "file:///etc/passwd",
        "too-long": lambda _: "/" + "a" * 50_000,
        "credentials": lambda ask: ask.elsewhere.replace("://", "://user:pass@"),
    }
    for status in (301, 302, 303, 307, 308):
        for name, target in targets.items():
            yield Shape(
                f"redirect:{status}-{name}",
                lambda ask, status=status, target=target: _sent(
                    http(ask.good, status=f"{status} X", kind=ask.kind, headers=[f"Location: {target(ask)}"])
                ),
            )
        yield Shape(
            f"redirect:{status}-no-location",
            lambda ask, status=status: _sent(http(ask.good, status=f"{status} X", kind=ask.kind)),
        )


# --- bodies --------------------------------------------------------------------------------------------------------

_DIGITS = "9" * 5000
_ODD_BODIES: dict[str, bytes] = {
    **{f"json-{name}": text.encode() for name, text in {
        "one": "1", "minus": "-1", "infinite": "1e999", "digits": _DIGITS, "text": '"text"', "true": "true",
        "null": "null", "list": "[]", "list-of-one": "[1]", "list-of-null": "[null]", "list-in-list": "[[]]",
        "object": "{}", "nan": "NaN", "deep-list": "[" * 100_000, "deep-object": '{"a":' * 100_000,
        "deep-closed": "[" * 900 + "]" * 900, "deeper-closed": "[" * 9000 + "]" * 9000, "two": "{}{}",
        "half": '{"id": "x", ', "comment": "/* x */ {}", "single-quotes": "{'a': 1}", "bare": "{a: 1}",
        "digits-inside": f'{{"usage": {_DIGITS}}}', "error-deep": '{"error":' * 900 + "1" + "}" * 900,
        "error-text": '{"error": "broke"}', "error-number": '{"error": 503}', "error-list": '{"error": ["x"]}',
        "error-true": '{"error": true}', "message": '{"message": "broke"}', "detail": '{"detail": [{"msg": "x"}]}',
        "errors": '{"errors": [{"message": "x"}]}', "success-false": '{"success": false}',
        "error-odd-code": '{"error": {"code": {"a": 1}, "message": ["x"], "type": 7, "status": null}}',
        "error-digits": f'{{"error": {{"code": {_DIGITS}}}}}', "surrogate": '{"error": "\\ud800"}',
    }.items()},
    "empty": b"", "blank": b" \n\t ", "html": b"<html><body>hi</body></html>", "xml": b"<?xml version='1.0'?><a/>",
    "words": b"upstream connect error", "nul": b"\0" * 100, "bytes": bytes(range(256)), "not-utf8": b'{"a": "\xff"}',
    "utf-16": '{"a": 1}'.encode("utf-16"), "mark-only": b"\xef\xbb\xbf", "half-character": b'{"a": "\xc3',
    "event-of-words": b"data: hello\n\n", "event-half": b'data: {"id": ', "events-empty": b"data:\n\ndata:\n\n",
    "done-only": b"data: [DONE]\n\n", "comments-only": b": ping\n\n" * 9, "event-number": b"data: 3\n\n",
    "event-list": b"data: []\n\n", "event-error": b"event: error\ndata: broke\n\n", "fields": b"id: 1\nretry: 2\n\n",
    "event-deep": b"data: " + b"[" * 100_000 + b"\n\n", "event-digits": b"data: " + _DIGITS.encode() + b"\n\n",
    "event-null": b"data: null\n\n", "event-surrogate": b'data: "\\ud800"\n\n',
}  # fmt: skip


def _bodies() -> Iterator[Shape]:
    for name, body in _ODD_BODIES.items():
        yield Shape(f"body:{name}", lambda ask, body=body: _sent(http(body, kind=ask.kind)))
    yield Shape("body:mark", lambda ask: _sent(http(b"\xef\xbb\xbf" + ask.good, kind=ask.kind)), "answer", said=True)
    yield Shape("body:blank-before", lambda ask: _sent(http(b"\n \n" + ask.good, kind=ask.kind)), "answer", said=True)
    yield Shape("body:rubbish-behind", lambda ask: _sent(http(ask.good + b"\n\ndata: x\n\n", kind=ask.kind)))
    yield Shape("body:twice", lambda ask: _sent(http(ask.good + ask.good, kind=ask.kind)), "either")
    yield Shape(
        "body:the-other-form",
        lambda ask: _sent(http(Ask(ask.wire, not ask.streams).good, kind=ask.kind)),
        "answer",
        said=True,
    )
    for number, other in enumerate(WIRES):
        yield Shape(
            f"body:of-another-wire-{number}",
            lambda ask, other=other: _sent(http(Ask(other, ask.streams).good, kind=ask.kind)),
            "either",
        )
    yield Shape("body:not-utf8-inside", lambda ask: _sent(http(ask.good.replace(b"value", b"val\xfce"), kind=ask.kind)))
    yield Shape("body:cut-character", lambda ask: _sent(http(ask.good + b"\xe2\x82", kind=ask.kind)))


_ODD_VALUES: dict[str, Any] = {
    "null": None, "one": 1, "minus": -1, "huge": 1e308, "nan": float("nan"), "text": "odd", "empty": "",
    "true": True, "list": [], "object": {}, "list-in-list": [[]], "objects": [{"a": 1}], "long": "x" * 5000,
    "surrogate": "\ud800",
}  # fmt: skip


def _paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every member."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*at, key)
        yield from _paths(inner, (*at, key))


def _changed(body: Any, path: tuple[Any, ...], value: Any) -> Any:
    copied = json.loads(json.dumps(body))
    inner = copied
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return copied


def _nth(found: list[Any], number: int) -> Any:
    return found[number % len(found)]


_MOST_PATHS = 24
_STOPS = ("finish_reason", "finishReason", "stop_reason", "status")


def _stop_path(wire: str) -> tuple[Any, ...]:
    return next(path for path in _paths(unary(wire)) if path[-1] in _STOPS)


def _mutations() -> Iterator[Shape]:
    """Yield good answers of which one member is something odd: each member of each wire, in turn."""
    for number in range(_MOST_PATHS):
        for name, value in _ODD_VALUES.items():

            def changed(ask: Ask, number: int = number, value: Any = value) -> Script:
                path = _nth(list(_paths(unary(ask.wire))), number)
                return _sent(_written(ask, _changed(unary(ask.wire), path, value)))

            yield Shape(f"member:{number}-{name}", changed, "either")
    for name, value in _ODD_VALUES.items():

        def stopped(ask: Ask, value: Any = value) -> Script:
            return _sent(_written(ask, _changed(unary(ask.wire), _stop_path(ask.wire), value)))

        # 1 is Google's own number for STOP.
        yield Shape(f"stop:{name}", stopped, "either" if name == "one" else "error")


def _written(ask: Ask, body: Any) -> bytes:
    """Return a body as a response: as the events that it would be, where it can still be written so."""
    if ask.streams:
        try:
            made = list(STREAMS[WireFormat(ask.wire)](body, lambda text: [text]))
            return http(stream(made, ask.wire), kind=ask.kind)
        except (TypeError, AttributeError, KeyError, ValueError):
            pass
    return http(json.dumps(body).encode(), kind="application/json")


# --- streams -------------------------------------------------------------------------------------------------------

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
    "digits": b'data: {"usage": ' + _DIGITS.encode() + b"}\n\n", "error-name": b'event: error\ndata: {"a": 1}\n\n',
    "error-list": b'data: [{"error": {"message": "broke"}}]\n\n', "true": b"data: true\n\n",
}  # fmt: skip
_HARMLESS: dict[str, bytes] = {
    "comment": b": ping\n\n", "comment-alone": b":\n", "mark": b"\xef\xbb\xbf", "id": b"id: 7\n\n",
    "retry": b"retry: 10\n\n", "unknown-field": b"x-odd: 1\n\n", "blank": b"\n\n\n", "empty-data": b"data:\n\n",
    "unknown-name": b": x\nevent: ping\n\n", "carriage-returns": b": x\r\r",
}  # fmt: skip


_ODD_PLACES = (("mark", "middle"), ("mark", "last"), ("unknown-field", "first"))
"""Where the standard has no byte order mark, and where a field that nobody knows makes a body no stream."""


def _pieces(wire: str) -> list[bytes]:
    return [each + b"\n\n" for each in stream(events(wire), wire).split(b"\n\n") if each.strip()]


def _with(ask: Ask, event: bytes, place: str) -> Script:
    pieces = _pieces(ask.wire)
    at = {"first": 0, "middle": 2, "last": len(pieces)}[place]
    return _sent(raw(b"".join([*pieces[:at], event, *pieces[at:]]), kind="text/event-stream"))


def _stops(wire: str, value: Any) -> list[tuple[str, Any]]:
    """Return the events of a stream whose stop is another value, wherever it says it."""

    def replaced(each: Any) -> Any:
        if isinstance(each, list):
            return [replaced(inner) for inner in each]
        if not isinstance(each, dict):
            return each
        key = _stop_path(wire)[-1]
        return {k: value if k == key and v in _CLEAN else replaced(v) for k, v in each.items()}

    return [(name, replaced(payload)) for name, payload in events(wire)]


_CLEAN = ("completed", "stop", "end_turn", "STOP")
_ODD_STOPS: dict[str, Any] = {
    "null": None, "unknown": "odd", "colon": "stop:length", "number": 2, "three": 3, "seventeen": 17, "zero": 0,
    "minus": -1, "huge": 10**40, "fraction": 1.5, "true": True, "list": ["stop"], "object": {"stop": 1}, "empty": "",
    "blank": " ", "long": "x" * 5000, "surrogate": "\ud800", "upper": "END_TURN STOP",
}  # fmt: skip


def _odd_events() -> Iterator[Shape]:
    """Yield streams with one more event: an error, something odd, or something harmless."""
    for place in ("first", "middle", "last"):
        for name, payload in _ERRORS.items():
            event = f"data: {json.dumps(payload)}\n\n".encode()
            yield Shape(
                f"event:error-{name}-{place}",
                lambda ask, event=event, place=place: _with(ask, event, place),
                "error",
                said=place == "last",
            )
        for name, event in _ODD_EVENTS.items():
            yield Shape(
                f"event:odd-{name}-{place}",
                lambda ask, event=event, place=place: _with(ask, event, place),
                "error",
                said=place == "last",
            )
        for name, event in _HARMLESS.items():
            yield Shape(
                f"event:harmless-{name}-{place}",
                lambda ask, event=event, place=place: _with(ask, event, place),
                "either" if (name, place) in _ODD_PLACES else "answer",
                said=(name, place) not in _ODD_PLACES,
            )


def _odd_ends() -> Iterator[Shape]:
    """Yield streams that stop for odd reasons, are written down in odd ways, or end early, late or twice."""
    for name, value in _ODD_STOPS.items():
        yield Shape(
            f"finish:{name}",
            lambda ask, value=value: _sent(raw(stream(_stops(ask.wire, value), ask.wire), kind="text/event-stream")),
            # A Responses stream says in the type of its last event, too, how the answer ended.
            "either" if not value else "error",
        )
    for end in ("\r\n", "\r"):
        yield Shape(
            f"lines:{end!r}",
            lambda ask, end=end: _sent(raw(stream(events(ask.wire), ask.wire, eol=end), kind="text/event-stream")),
            "answer",
            said=True,
        )
    for number in range(8):
        yield Shape(
            f"end:without-{number}",
            lambda ask, number=number: _sent(
                raw(b"".join(_pieces(ask.wire)[: max(1, len(_pieces(ask.wire)) - number)]), kind="text/event-stream")
            ),
            "either",
        )
        yield Shape(
            f"end:twice-{number}",
            lambda ask, number=number: _sent(
                raw(b"".join([*_pieces(ask.wire), *_pieces(ask.wire)[-1 - number :]]), kind="text/event-stream")
            ),
            "either",
        )
    for number in range(12):
        yield Shape(
            f"end:at-{number}",
            lambda ask, number=number: _sent(
                raw(b"".join(_pieces(ask.wire))[: -7 * number - 3], kind="text/event-stream")
            ),
            "either",
        )
    yield Shape("end:event-in-stop", _in_stop)


def _in_stop(ask: Ask) -> Script:
    """Return a stream whose stop event holds an error, too."""
    made = [
        (
            name,
            {**payload, "error": {"message": "broke"}}
            if any(each in json.dumps(payload) for each in _SAYS)
            else payload,
        )
        for name, payload in events(ask.wire)
    ]
    return _sent(raw(stream(made, ask.wire), kind="text/event-stream"))


_SAYS = ('"status": "completed", "output"', '"finish_reason": "stop"', '"stop_reason": "end_turn"', '"STOP"')


# --- sizes ---------------------------------------------------------------------------------------------------------


def _sizes(size: int) -> Iterator[Shape]:
    """Yield bodies that are larger than ``size`` allows."""
    block = 1 << 16
    many = size // block + 2

    def head(kind: str, *headers: str) -> bytes:
        return raw(b"", *headers, kind=kind)

    fillers: dict[str, tuple[bytes, bytes]] = {
        "blanks": (b"", b" " * block),
        "one-text": (b'{"id": "', b"x" * block),
        "lists": (b"[", b"[]," * (block // 3)),
        "one-line": (b"data: ", b"x" * block),
        "comments": (b"data: {}\n\n", b": ping\n\n" * (block // 8)),
        "events": (b"data: {}\n\n", b'data: {"x": 1}\n\n' * (block // 16)),
        "newlines": (b"data: {}\n\n", b"\n" * block),
        "event-names": (b"event: ", b"x" * block),
    }
    for name, (begin, filler) in fillers.items():
        yield Shape(
            f"large:{name}",
            lambda ask, begin=begin, filler=filler: Script([head(ask.kind) + begin, *[filler] * many]),
            "error",
            large=True,
        )
        yield Shape(
            f"large:error-{name}",
            lambda ask, begin=begin, filler=filler: Script(
                [head(ask.kind).replace(b"200 OK", b"503 X") + begin, *[filler] * many]
            ),
            "error",
            large=True,
        )
    yield Shape(
        "large:chunks",
        lambda ask: Script(
            [head(ask.kind, "Transfer-Encoding: chunked"), *[b"%x\r\n%s\r\n" % (block, b" " * block)] * many]
        ),
        "error",
        large=True,
    )
    bombs = {
        "gzip": _zipped(size, 31),
        "deflate": _zipped(size, 15),
        "gzip, gzip": gzip.compress(_zipped(8 * size, 31)),
    }
    for coding, bomb in bombs.items():
        for status in ("200 OK", "500 X"):
            yield Shape(
                f"large:bomb-{coding}-{status[:3]}",
                lambda ask, coding=coding, bomb=bomb, status=status: _sent(
                    http(bomb, status=status, kind=ask.kind, headers=[f"Content-Encoding: {coding}"])
                ),
                "error",
                large=True,
            )


def _zipped(size: int, bits: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, bits)
    return b"".join([*(packer.compress(b" " * (1 << 16)) for _ in range(size // (1 << 16) + 2)), packer.flush()])


def shapes(size: int) -> list[Shape]:
    """Return every shape; ``size`` is how many bytes a response may have."""
    tables = (_framings, _cuts, _wrong_frames, _statuses, _redirects, _bodies, _mutations, _odd_events, _odd_ends)
    made = [*(each for table in tables for each in table()), *_sizes(size)]
    assert len({each.name for each in made}) == len(made)
    return made
