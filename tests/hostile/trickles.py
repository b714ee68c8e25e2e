"""A vendor that never says no and never ends: every part of a response in drops or without end, and a slow reader.

Each goes on for longer than a deadline allows. Nothing here is a length of time that a test waits for: a call must end
at its deadline, and the report measures that it does.
"""

from __future__ import annotations

import gzip
import time
from typing import TYPE_CHECKING, Any

from tests.hostile.shapes import Ask, Shape
from tests.hostile.vendor import Script, http, raw
from tests.hostile.wires import SSE_WIRES, event_frame, events, stream_kind, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

DEADLINE = 1.0
"""How many seconds a call may take."""
LATE = 1.0
"""How many seconds it may take longer."""
_LONGEST = 6 * DEADLINE
"""How many seconds a vendor goes on, so that a call without a deadline ends after all."""
_DROP = 0.2


def drops(pieces: Iterable[bytes]) -> Iterator[bytes | float]:
    """Yield pieces with a pause behind each."""
    for piece in pieces:
        yield piece
        yield _DROP


def endless(piece: bytes, pause: float = _DROP) -> Iterator[bytes | float]:
    """Yield a piece again and again, for longer than any call may wait."""
    until = time.monotonic() + _LONGEST
    while time.monotonic() < until:
        yield piece
        if pause:
            yield pause


def _bytes(data: bytes) -> Iterator[bytes]:
    return (data[at : at + 1] for at in range(len(data)))


def _slowly(before: bytes, part: bytes, more: bytes = b"") -> Iterator[bytes | float]:
    """Send one part in drops, and go on with a piece that has no end."""
    yield before
    yield from drops(_bytes(part))
    yield from endless(more or b" ")


_CHUNKED = "Transfer-Encoding: chunked"


def _head(ask: Ask, *headers: str, status: str = "200 OK") -> bytes:
    return raw(b"", *headers, kind=ask.kind, status=status)


def _big(ask: Ask) -> str:
    return f"Content-Length: {len(ask.good) + 100_000}"


_RESPONSES: dict[str, Callable[[Ask], Iterator[bytes | float]]] = {
    "nothing": lambda _: iter([_LONGEST]),
    "blank-lines": lambda _: endless(b"\r\n"),
    "status-line": lambda _: _slowly(b"", b"HTTP/1.1 200 ", b"x"),
    "header-names": lambda _: _slowly(b"HTTP/1.1 200 OK\r\n", b"X-A", b"b"),
    "header-values": lambda _: _slowly(b"HTTP/1.1 200 OK\r\nX-A: ", b"b", b"b"),
    "headers": lambda _: _slowly(b"HTTP/1.1 200 OK\r\n", b"", b"X-A: b\r\n"),
    "informational": lambda _: endless(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"),
    "continue": lambda _: endless(b"HTTP/1.1 100 Continue\r\n\r\n"),
    "informational-headers": lambda _: _slowly(b"HTTP/1.1 103 Early Hints\r\n", b"", b"X-A: b\r\n"),
    "body": lambda ask: _slowly(_head(ask, _big(ask)), b"", b" "),
    "body-of-text": lambda ask: _slowly(_head(ask, _big(ask)) + b'{"id": "', b"", b"x"),
    "body-to-the-close": lambda ask: _slowly(_head(ask), b"", b" "),
    "body-behind-all": lambda ask: _slowly(_head(ask, _big(ask)) + ask.good, b"", b" "),
    "chunks": lambda ask: _slowly(_head(ask, _CHUNKED), b"", b"1\r\n \r\n"),
    "chunk-size": lambda ask: _slowly(_head(ask, _CHUNKED), b"", b"0"),
    "chunk-data": lambda ask: _slowly(_head(ask, _CHUNKED) + b"fffff\r\n", b"", b" "),
    "chunk-extension": lambda ask: _slowly(_head(ask, _CHUNKED) + b"1;x=", b"", b"y"),
    "chunk-extensions": lambda ask: _slowly(_head(ask, _CHUNKED), b"", b"1;x=y\r\n \r\n"),
    "trailers": lambda ask: _slowly(
        _head(ask, _CHUNKED) + b"%x\r\n%s\r\n0\r\n" % (len(ask.good), ask.good), b"", b"X-A: b\r\n"
    ),
    "trailer": lambda ask: _slowly(
        _head(ask, _CHUNKED) + b"%x\r\n%s\r\n0\r\nX-A: " % (len(ask.good), ask.good), b"", b"b"
    ),
    "gzip": lambda ask: _slowly(_head(ask, "Content-Encoding: gzip") + gzip.compress(ask.good)[:-8], b"", b""),
    "gzip-head": lambda ask: _slowly(_head(ask, "Content-Encoding: gzip"), b"\x1f\x8b\x08\x08\0\0\0\0\0\x03", b"x"),
    **{
        f"error-{status}": lambda ask, status=status: _slowly(
            _head(ask, _big(ask), status=f"{status} X") + b'{"error": {"message": "', b"", b"x"
        )
        for status in (400, 401, 429, 500, 503, 529)
    },
    "error-chunks": lambda ask: _slowly(_head(ask, _CHUNKED, status="500 X"), b"", b"1\r\n \r\n"),
    "error-extension": lambda ask: _slowly(_head(ask, _CHUNKED, status="500 X") + b"1;x=", b"", b"y"),
    "error-trailers": lambda ask: _slowly(_head(ask, _CHUNKED, status="500 X") + b"1\r\n{\r\n0\r\n", b"", b"X: b\r\n"),
    "redirect": lambda ask: _slowly(_head(ask, _big(ask), f"Location: {ask.elsewhere}", status="307 X"), b"", b" "),
    "no-content": lambda ask: _slowly(_head(ask, _CHUNKED, status="204 X"), b"", b"1\r\n \r\n"),
}
"""Responses of which one part comes in drops."""
_FLOODS: dict[str, Callable[[Ask], Iterator[bytes | float]]] = {
    "informational": lambda _: endless(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 50, 0),
    "headers": lambda _: _flood(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n" * 100),
    "header": lambda _: _flood(b"HTTP/1.1 200 OK\r\nX-A: ", b"b" * 4096),
    "chunk-extension": lambda ask: _flood(_head(ask, _CHUNKED) + b"1;x=", b"y" * 4096),
    "chunk-extensions": lambda ask: _flood(_head(ask, _CHUNKED), b"1;x=%s\r\n \r\n" % (b"y" * 1000)),
    "chunks-of-nothing": lambda ask: _flood(_head(ask, _CHUNKED) + b"1\r\n \r\n", b"1;x=y\r\n \r\n" * 100),
    "trailers": lambda ask: _flood(_head(ask, _CHUNKED) + b"1\r\n \r\n0\r\n", b"X-A: b\r\n" * 100),
    "blank-lines": lambda _: endless(b"\r\n" * 2000, 0),
}
"""Responses of which one part has no end, as fast as it can be sent."""
_FLOODED = ("openai-responses", "google", "bedrock-converse")
"""A wire of each way to send: floods take the time of the whole machine, and say nothing of a wire."""


def _flood(before: bytes, part: bytes) -> Iterator[bytes | float]:
    yield before
    yield from endless(part, 0)


_STREAMED: dict[str, bytes] = {
    "comments": b": ping\n\n",
    "blank-lines": b"\n",
    "names": b"event: ping\n\n",
    "half-line": b"x",
    "fields": b"retry: 1\n",
}
"""What keeps a stream of events alive without saying anything."""


def _begun(ask: Ask) -> bytes:
    """Return the beginning of a good stream."""
    made = written(events(ask.wire)[:3], ask.wire).removesuffix(b"data: [DONE]\n\n")
    return raw(b"", kind=stream_kind(ask.wire)) + made


def _streams() -> Iterator[Shape]:
    for name, piece in _STREAMED.items():
        yield Shape(
            f"trickle:stream-{name}",
            lambda ask, piece=piece: Script(_slowly(_begun(ask), b"", piece)),
            wires=SSE_WIRES,
            streams=True,
        )
    only: dict[str, Any] = {"wires": ("bedrock-converse",), "streams": True}
    alive = event_frame("keepAlive", b"{}")
    yield Shape("trickle:stream-frames", lambda ask: Script(_slowly(_begun(ask), b"", alive)), **only)
    yield Shape("trickle:stream-half-frame", lambda ask: Script(_slowly(_begun(ask) + alive[:20], b"", b"x")), **only)
    yield Shape(
        "trickle:stream-behind-end",
        lambda ask: Script(_slowly(http(ask.good, kind=ask.kind).replace(b"Content-Length", b"X-Length"), b"", b" ")),
        "either",
        streams=True,
    )


def shapes() -> list[Shape]:
    """Return the shapes that do not end."""
    whole = ("body-behind-all", "trailers", "trailer", "gzip", "no-content")
    made = [
        Shape(
            f"trickle:{name}",
            lambda ask, pieces=pieces: Script(pieces(ask)),
            "either" if name in whole else "error",
            steps=True,
        )
        for name, pieces in _RESPONSES.items()
    ]
    made += [
        Shape(f"flood:{name}", lambda ask, pieces=pieces: Script(pieces(ask)), steps=True, wires=_FLOODED)
        for name, pieces in _FLOODS.items()
    ]
    reader = Shape(
        "trickle:slow-reader", lambda ask: Script([http(ask.good, kind=ask.kind)]), "error", steps=True, upload=True
    )
    return [*made, *_streams(), reader]
