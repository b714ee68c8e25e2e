"""What a hostile vendor answers, generated from tables: how HTTP, JSON and streams of events can go wrong.

Each shape says what may come of it. A shape of HTTP changes how something good is sent, so that it fits every step of
an exchange: an answer, a poll, an upload, a file of results. A shape of an answer changes what is said in it.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import httpx2

from tests.hostile import wires
from tests.hostile.vendor import Script, chunked, http, raw
from tests.hostile.wires import (
    DECOY_TEXT,
    SSE_WIRES,
    STOPS,
    TEXT,
    WIRES,
    changed,
    decoyed,
    events,
    stop_path,
    stream_kind,
    streamed,
    unary,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Expected = Literal["answer", "error", "either", "any"]
"""What may come: the right answer, a typed error, one of them, or these and any other value that is reported truly."""
BodyOf = Callable[[str], Any]
"""Returns what a wire's unary answer is."""


@dataclass(frozen=True)
class Ask:
    """What is asked for: the answer of a wire, whole or streamed, or the ``body`` of a step of an exchange.

    The addresses are those of the vendor, of a stranger, and of the vendor under the name of another origin. With
    ``decoy``, what is good holds wrong values, since none of it may be taken.
    """

    wire: str
    streams: bool
    here: str = ""
    elsewhere: str = ""
    alias: str = ""
    body: bytes | None = None
    decoy: bool = False
    tool: str = "answer"

    @property
    def kind(self) -> str:
        """The content type of a good answer."""
        return stream_kind(self.wire) if self.streams else "application/json"

    @property
    def good(self) -> bytes:
        """The body of a good answer."""
        if self.body is not None:
            return decoyed(self.body) if self.decoy else self.body
        text = DECOY_TEXT if self.decoy else TEXT
        if self.streams:
            return written(events(self.wire, text), self.wire)
        return json.dumps(unary(self.wire, text)).encode()


@dataclass(frozen=True)
class Shape:
    """One way to answer.

    Attributes:
        script: What is sent.
        expected: What may come of it.
        said: The vendor says what the call cost, so that the trace must say so, too.
        wires: The wires that it is for.
        steps: It changes how something is sent, and may so be any step of an exchange.
        body: The unary answer that it is, if it is one: it may also be a result of a batch.
        streams: It is a stream of events, and no answer to a call that is not streamed.
        size: The limit on sizes that it is meant to pass; none for the usual one.
        tool: It is for a model that is asked by a tool.
        upload: The request is so large that a slow reader takes long.
        begins: It begins as something good, of which a reader of lines may take those that are whole.
    """

    name: str
    script: Callable[[Ask], Script] = field(repr=False)
    expected: Expected = "error"
    said: bool = False
    wires: tuple[str, ...] = WIRES
    steps: bool = False
    body: BodyOf | None = field(default=None, repr=False)
    streams: bool = False
    size: int | None = None
    tool: bool = False
    upload: bool = False
    begins: bool = False


def sent(*parts: bytes, reset: bool = False) -> Script:
    """Return the script that sends these bytes."""
    return Script(parts, reset)


def framed(name: str, frame: Callable[[Ask], bytes], expected: Expected = "error", **more: Any) -> Shape:
    """Return a shape of HTTP, which fits every step."""
    return Shape(name, lambda ask: sent(frame(ask)), expected, steps=True, **more)


def answered(name: str, body: BodyOf, expected: Expected = "error", **more: Any) -> Shape:
    """Return a shape of an answer, which is streamed as the events that it would be where a stream is asked for."""
    return Shape(name, lambda ask: sent(whole(ask, body(ask.wire))), expected, body=body, **more)


def whole(ask: Ask, body: Any) -> bytes:
    """Return a body as a response: as the events that it would be, where it can still be written so."""
    if ask.streams:
        try:
            return http(written(streamed(ask.wire, body), ask.wire), kind=ask.kind)
        except (TypeError, AttributeError, KeyError, ValueError, IndexError):
            pass
    return http(json.dumps(body).encode(), kind="application/json")


# --- HTTP ---

with httpx2.Client() as _client:
    _CODINGS = _client.headers["accept-encoding"].split(", ")
"""The codings that httpx2 reads here: ``br`` and ``zstd`` need packages. What it does not read is no JSON."""


def _framings() -> Iterator[Shape]:
    """Yield good answers in odd frames."""
    frames: dict[str, Callable[[bytes, str], bytes]] = {
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
    }
    for coding, pack in {"br": stored_brotli, "zstd": stored_zstd}.items():
        frames[coding] = lambda body, kind, coding=coding, pack=pack: http(
            pack(body), kind=kind, headers=[f"Content-Encoding: {coding}"]
        )
    kinds = {
        "no-kind": "",
        "wrong-kind": "text/html",
        "odd-kind": "application/json; charset=utf-7",
        "no-such-charset": "text/plain; charset=nonsense",
    }
    for name, frame in frames.items():
        # boto3 asks for no coding, and does not read one; nor does it read an informational response but 100.
        known = SSE_WIRES if name.startswith(("gzip", "deflate", "informational", "br", "zstd")) else WIRES
        made = framed(
            f"frame:{name}", lambda ask, frame=frame: frame(ask.good, ask.kind), "answer", said=True, wires=known
        )
        if name in ("br", "zstd") and name not in _CODINGS:
            made = replace(made, expected="error", said=False)
        yield made
        if known is SSE_WIRES:
            yield replace(made, expected="either", said=False, wires=("bedrock-converse",))
    for name, kind in kinds.items():
        # The frames of Amazon's streams are read only under their own content type.
        yield framed(
            f"frame:{name}", lambda ask, kind=kind: http(ask.good, kind=kind), "answer", said=True, wires=SSE_WIRES
        )
    yield Shape(
        "frame:byte-by-byte",
        lambda ask: Script([bytes([each]) for each in http(ask.good, kind=ask.kind)]),
        "answer",
        said=True,
        steps=True,
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
        "chunk-data": lambda ask: in_chunks(ask)[:-50],
        "last-chunk": lambda ask: in_chunks(ask)[: -len(b"0\r\n\r\n")],
        "last-line": lambda ask: in_chunks(ask)[:-2],
        "gzip-half": lambda ask: zipped(ask)[:-30],
        "gzip-trailer": lambda ask: zipped(ask)[:-4],
    }
    for name, cut in places.items():
        for end in ("close", "reset"):
            yield Shape(
                f"cut:{name}-{end}",
                lambda ask, cut=cut, end=end: sent(cut(ask), reset=end == "reset"),
                steps=True,
                begins=True,
                wires=SSE_WIRES if (name, end) == ("last-line", "close") else WIRES,
            )
    yield framed(
        "cut:inner-gzip",
        lambda ask: http(gzip.compress(ask.good)[:-30], kind=ask.kind, headers=["Content-Encoding: gzip"]),
        begins=True,
    )
    for coding, pack in {"br": stored_brotli, "zstd": stored_zstd}.items():
        yield framed(
            f"cut:inner-{coding}",
            lambda ask, coding=coding, pack=pack: http(
                pack(ask.good)[: len(ask.good) // 2], kind=ask.kind, headers=[f"Content-Encoding: {coding}"]
            ),
            begins=True,
        )
    yield framed("cut:clean-half", lambda ask: http(ask.good[: len(ask.good) // 2], kind=ask.kind), begins=True)
    yield framed("cut:clean-start", lambda ask: http(ask.good[:30], kind=ask.kind), begins=True)


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
        "length-digits": lambda ask: raw(ask.good, f"Content-Length: {DIGITS}", kind=ask.kind),
        "chunk-not-hex": lambda ask: raw(b"zz\r\n" + ask.good, "Transfer-Encoding: chunked", kind=ask.kind),
        "chunk-negative": lambda ask: raw(b"-5\r\n" + ask.good, "Transfer-Encoding: chunked", kind=ask.kind),
        "chunk-huge": lambda ask: raw(b"f" * 40 + b"\r\n" + ask.good, "Transfer-Encoding: chunked", kind=ask.kind),
        "chunk-no-end": lambda ask: raw(b"5\r\n" + ask.good, "Transfer-Encoding: chunked", kind=ask.kind),
        "chunk-none": lambda ask: raw(ask.good, "Transfer-Encoding: chunked", kind=ask.kind),
        "chunk-and-length": lambda ask: raw(
            chunked(ask.good), "Transfer-Encoding: chunked", "Content-Length: 9", kind=ask.kind
        ),
        "chunk-extension-long": lambda ask: raw(
            b"%x;%s\r\n%s\r\n0\r\n\r\n" % (len(ask.good), b"x" * (1 << 20), ask.good),
            "Transfer-Encoding: chunked",
            kind=ask.kind,
        ),
        "chunk-extensions-long": lambda ask: raw(
            chunked(ask.good, 1).replace(b"1\r\n", b"1;" + b"x" * 4000 + b"\r\n"),
            "Transfer-Encoding: chunked",
            kind=ask.kind,
        ),
        "trailers-many": lambda ask: raw(
            chunked(ask.good, end=b"0\r\n" + b"X-Late: 1\r\n" * 50_000 + b"\r\n"),
            "Transfer-Encoding: chunked",
            kind=ask.kind,
        ),
        "trailer-long": lambda ask: raw(
            chunked(ask.good, end=b"0\r\nX-Late: " + b"x" * (1 << 20) + b"\r\n\r\n"),
            "Transfer-Encoding: chunked",
            kind=ask.kind,
        ),
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
        "gzip-behind": lambda ask: http(
            gzip.compress(ask.good) + b"rubbish", kind=ask.kind, headers=["Content-Encoding: gzip"]
        ),
        "codings-many": lambda ask: http(
            gzip.compress(ask.good), kind=ask.kind, headers=["Content-Encoding: " + "identity, " * 5000 + "gzip"]
        ),
        "no-http": lambda ask: ask.good,
        "smtp": lambda _: b"220 mail.invalid ESMTP\r\n",
        "tls": lambda _: b"\x15\x03\x01\x00\x02\x02\x50",
        "http-2": lambda _: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "version": lambda ask: http(ask.good, kind=ask.kind).replace(b"HTTP/1.1", b"HTTP/9.9"),
        "status-word": lambda ask: http(ask.good, kind=ask.kind, status="fine OK"),
        "status-short": lambda ask: http(ask.good, kind=ask.kind, status="20 OK"),
        "status-long": lambda ask: http(ask.good, kind=ask.kind, status="2000 OK"),
        "status-digits": lambda ask: http(ask.good, kind=ask.kind, status=f"{DIGITS} OK"),
        "header-no-colon": lambda ask: http(ask.good, kind=ask.kind, headers=["nothing"]),
        "header-nul": lambda ask: http(ask.good, kind=ask.kind, headers=["X-A: \0"]),
        "header-long": lambda ask: http(ask.good, kind=ask.kind, headers=["X-A: " + "a" * 300_000]),
        "header-name-long": lambda ask: http(ask.good, kind=ask.kind, headers=["X" * 300_000 + ": a"]),
        "header-folded": lambda ask: http(ask.good, kind=ask.kind, headers=["X-A: a", *[" b"] * 20_000]),
        "headers-many": lambda ask: http(ask.good, kind=ask.kind, headers=[f"X-{n}: 1" for n in range(20_000)]),
        "cookies-many": lambda ask: http(
            ask.good, kind=ask.kind, headers=[f"Set-Cookie: c{n}=1; Domain=localhost" for n in range(60)]
        ),
        "reason-long": lambda ask: http(ask.good, kind=ask.kind, status="200 " + "x" * 300_000),
        "retry-after-digits": lambda ask: http(
            ask.good, status="503 X", kind=ask.kind, headers=[f"Retry-After: {DIGITS}"]
        ),
        "retry-after-odd": lambda ask: http(
            ask.good, status="429 X", kind=ask.kind, headers=["Retry-After: Fri, 99 Foo 99999 99:99:99 GMT"]
        ),
        "limits-digits": lambda ask: http(ask.good, kind=ask.kind, headers=[f"{name}: {DIGITS}" for name in _LIMITS]),
        "limits-odd": lambda ask: http(ask.good, kind=ask.kind, headers=[f"{name}: -1e999s" for name in _LIMITS]),
        "switching": lambda _: b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nhello",
        "informational-only": lambda _: b"HTTP/1.1 100 Continue\r\n\r\n" * 9,
        "informational-many": lambda _: b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 50_000,
        "informational-headers": lambda ask: (
            b"HTTP/1.1 103 Early Hints\r\n" + b"X: y\r\n" * 20_000 + b"\r\n" + http(ask.good, kind=ask.kind)
        ),
        "blank-lines-before": lambda ask: b"\r\n" * 50_000 + http(ask.good, kind=ask.kind),
    }
    for name, frame in frames.items():
        made = framed(f"wrong:{name}", frame, "either" if name in _READABLE else "error", begins=name == "length-long")
        lax = name in _READABLE_BY_BOTO3
        yield replace(made, wires=SSE_WIRES) if lax else made
        if lax:
            yield replace(made, expected="either", wires=("bedrock-converse",))


DIGITS = "9" * 5000
_LIMITS = (
    "x-ratelimit-limit-requests",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-requests",
    "x-ratelimit-limit-tokens",
    "anthropic-ratelimit-requests-limit",
    "anthropic-ratelimit-tokens-remaining",
    "anthropic-ratelimit-tokens-reset",
    "x-request-id",
)
"""Headers of which a client reads numbers and times."""
_READABLE = (
    *("length-short", "gzip-sum", "version", "length-huge", "length-digits", "not-deflate", "gzip-behind"),
    *("codings-many", "chunk-and-length", "chunk-extension-long", "chunk-extensions-long", "trailers-many"),
    *("trailer-long", "header-no-colon", "header-long", "header-name-long", "header-folded", "headers-many"),
    *("cookies-many", "reason-long", "limits-digits", "limits-odd", "informational-headers", "blank-lines-before"),
)
"""Wrong frames whose content is whole, so that a client may take it. No other one may be taken."""
_READABLE_BY_BOTO3 = ("header-nul", "length-negative", "length-word", "coding-unknown", "not-gzip")
"""Further ones that urllib3 takes, which does not read what it has no use for."""
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
            # Steps of an exchange are tried with every status, but not with every body under it.
            yield replace(
                framed(
                    f"status:{status}-{name}",
                    lambda ask, status=status, body=body: http(body(ask), status=f"{status} X", kind=ask.kind),
                    expected,
                ),
                steps=name == "good",
            )


def _redirects() -> Iterator[Shape]:
    """Yield redirects: here, elsewhere, in a circle, nowhere; and headers that only name another address."""
    targets: dict[str, Callable[[Ask], str]] = {
        "here": lambda ask: f"{ask.here}/other",
        "here-relative": lambda _: "../other",
        "elsewhere": lambda ask: f"{ask.elsewhere}/v1",
        "alias": lambda ask: f"{ask.alias}/v1",
        "tls": lambda ask: ask.elsewhere.replace("http:", "https:"),
        "no-scheme": lambda ask: ask.elsewhere.removeprefix("http:") + "/x",
        "upper": lambda ask: ask.elsewhere.replace("http", "HTTP") + "/x",
        "backslash": lambda ask: f"{ask.here}\\@{ask.elsewhere.removeprefix('http://')}/",
        "at": lambda ask: f"{ask.here}@{ask.elsewhere.removeprefix('http://')}/",
        "circle": lambda _: "",
        "nonsense": lambda _: "http://[::1",
        "port-digits": lambda _: f"http://127.0.0.1:{DIGITS}/",
        "script": lambda _: "javascript:alert(1)",
        "file": lambda _: "file:///etc/passwd",
        "too-long": lambda _: "/" + "a" * 50_000,
        "credentials": lambda ask: ask.elsewhere.replace("://", "://user:pass@"),
    }
    for status in (300, 301, 302, 303, 305, 307, 308):
        for name, target in targets.items():
            yield framed(
                f"redirect:{status}-{name}",
                lambda ask, status=status, target=target: http(
                    ask.good, status=f"{status} X", kind=ask.kind, headers=[f"Location: {target(ask)}"]
                ),
            )
        yield framed(
            f"redirect:{status}-no-location",
            lambda ask, status=status: http(ask.good, status=f"{status} X", kind=ask.kind),
        )
        yield framed(
            f"redirect:{status}-twice",
            lambda ask, status=status: http(
                ask.good,
                status=f"{status} X",
                kind=ask.kind,
                headers=[f"Location: {ask.here}/other", f"Location: {ask.elsewhere}/v1"],
            ),
        )
    for status in (200, 201, 202, 401, 407, 500, 503):
        for header in ("Location", "Content-Location", "Refresh", "Link", "Alt-Svc", "X-Goog-Upload-Url"):
            yield framed(
                f"points:{status}-{header.lower()}",
                lambda ask, status=status, header=header: http(
                    ask.good, status=f"{status} X", kind=ask.kind, headers=[f"{header}: {_POINTERS[header](ask)}"]
                ),
                "either" if status < _FIRST_BAD else "error",
            )


_POINTERS: dict[str, Callable[[Ask], str]] = {
    "Location": lambda ask: f"{ask.elsewhere}/v1",
    "Content-Location": lambda ask: f"{ask.elsewhere}/v1",
    "Refresh": lambda ask: f"0; url={ask.elsewhere}/v1",
    "Link": lambda ask: f'<{ask.elsewhere}/v1>; rel="next preload"',
    "Alt-Svc": lambda ask: f'h2="{ask.elsewhere.removeprefix("http://")}"; ma=60',
    "X-Goog-Upload-Url": lambda ask: f"{ask.elsewhere}/upload",
}


# --- bodies ---

_ODD_BODIES: dict[str, bytes] = {
    **{f"json-{name}": text.encode() for name, text in {
        "one": "1", "minus": "-1", "infinite": "1e999", "digits": DIGITS, "text": '"text"', "true": "true",
        "null": "null", "list": "[]", "list-of-one": "[1]", "list-of-null": "[null]", "list-in-list": "[[]]",
        "object": "{}", "nan": "NaN", "deep-list": "[" * 100_000, "deep-object": '{"a":' * 100_000,
        "deep-closed": "[" * 900 + "]" * 900, "deeper-closed": "[" * 9000 + "]" * 9000, "two": "{}{}",
        "half": '{"id": "x", ', "comment": "/* x */ {}", "single-quotes": "{'a': 1}", "bare": "{a: 1}",
        "digits-inside": f'{{"usage": {DIGITS}}}', "error-deep": '{"error":' * 900 + "1" + "}" * 900,
        "error-text": '{"error": "broke"}', "error-number": '{"error": 503}', "error-list": '{"error": ["x"]}',
        "error-true": '{"error": true}', "message": '{"message": "broke"}', "detail": '{"detail": [{"msg": "x"}]}',
        "errors": '{"errors": [{"message": "x"}]}', "success-false": '{"success": false}',
        "error-odd-code": '{"error": {"code": {"a": 1}, "message": ["x"], "type": 7, "status": null}}',
        "error-digits": f'{{"error": {{"code": {DIGITS}}}}}', "surrogate": '{"error": "\\ud800"}',
        "error-code-digits": f'{{"error": {{"code": "{DIGITS}", "message": "broke"}}}}',
    }.items()},
    "empty": b"", "blank": b" \n\t ", "html": b"<html><body>hi</body></html>", "xml": b"<?xml version='1.0'?><a/>",
    "words": b"upstream connect error", "nul": b"\0" * 100, "bytes": bytes(range(256)), "not-utf8": b'{"a": "\xff"}',
    "utf-16": '{"a": 1}'.encode("utf-16"), "mark-only": b"\xef\xbb\xbf", "half-character": b'{"a": "\xc3',
    "event-of-words": b"data: hello\n\n", "event-half": b'data: {"id": ', "events-empty": b"data:\n\ndata:\n\n",
    "done-only": b"data: [DONE]\n\n", "comments-only": b": ping\n\n" * 9, "event-number": b"data: 3\n\n",
    "event-list": b"data: []\n\n", "event-error": b"event: error\ndata: broke\n\n", "fields": b"id: 1\nretry: 2\n\n",
    "event-deep": b"data: " + b"[" * 100_000 + b"\n\n", "event-digits": b"data: " + DIGITS.encode() + b"\n\n",
    "event-null": b"data: null\n\n", "event-surrogate": b'data: "\\ud800"\n\n',
}  # fmt: skip


def _with_byte(body: bytes, behind: bytes) -> bytes:
    """Return a body with a byte that is no UTF-8 behind some other ones, or behind the first quote."""
    at = body.find(behind if behind in body else b'"') + len(behind)
    return body[:at] + b"\xff" + body[at:]


def _bodies() -> Iterator[Shape]:
    for name, body in _ODD_BODIES.items():
        yield framed(f"body:{name}", lambda ask, body=body: http(body, kind=ask.kind))
    yield framed(
        "body:mark",
        lambda ask: http(b"\xef\xbb\xbf" + ask.good, kind=ask.kind),
        "answer",
        said=True,
        wires=SSE_WIRES,
    )
    yield framed(
        "body:blank-before",
        lambda ask: http(b"\n \n" + ask.good, kind=ask.kind),
        "answer",
        said=True,
        wires=SSE_WIRES,
    )
    for name, behind in {"inside": b'"', "text": b"value"}.items():
        yield framed(
            f"body:not-utf8-{name}",
            lambda ask, behind=behind: http(_with_byte(ask.good, behind), kind=ask.kind),
            begins=True,
        )
    yield framed("body:cut-character", lambda ask: http(ask.good + b"\xe2\x82", kind=ask.kind), begins=True)
    yield Shape("body:rubbish-behind", lambda ask: sent(http(ask.good + b"\n\ndata: x\n\n", kind=ask.kind)))
    yield Shape("body:twice", lambda ask: sent(http(ask.good + ask.good, kind=ask.kind)), "either")
    yield Shape(
        "body:the-other-form",
        lambda ask: sent(http(Ask(ask.wire, not ask.streams).good, kind=ask.kind)),
        "answer",
        said=True,
        wires=SSE_WIRES,
    )
    for number, other in enumerate(WIRES):
        yield Shape(
            f"body:of-another-wire-{number}",
            lambda ask, other=other: sent(http(Ask(other, ask.streams).good, kind=ask.kind)),
            "either",
        )


_ODD_VALUES: dict[str, Any] = {
    "null": None, "one": 1, "minus": -1, "huge": 1e308, "nan": float("nan"), "text": "odd", "empty": "",
    "true": True, "list": [], "object": {}, "list-in-list": [[]], "objects": [{"a": 1}], "long": "x" * 5000,
    "surrogate": "\ud800",
}  # fmt: skip
_MOST_PATHS = 24


def nth_path(body: Any, number: int) -> wires.Path:
    """Return the path of a member, whatever the number is."""
    found = list(wires.paths(body))
    return found[number % len(found)]


def _mutations() -> Iterator[Shape]:
    """Yield good answers of which one member is something odd: each member of each wire, in turn."""
    for number in range(_MOST_PATHS):
        for name, value in _ODD_VALUES.items():

            def mutated(wire: str, number: int = number, value: Any = value) -> Any:
                return changed(unary(wire), nth_path(unary(wire), number), value)

            yield answered(f"member:{number}-{name}", mutated, "either")
    for name, value in _ODD_VALUES.items():
        # 1 is Google's own number for STOP.
        yield answered(
            f"stop:{name}",
            lambda wire, value=value: changed(unary(wire), stop_path(wire), value),
            "either" if name == "one" else "error",
        )


def _doubles() -> Iterator[Shape]:
    """Yield answers in which one member stands twice, so that a careless reader takes one of its two values."""
    for number in range(0, 2 * _MOST_PATHS, 2):
        for first in (True, False):
            for name, value in (("null", None), ("list", []), ("decoy", wires.DECOY_TEXT), ("zero", 0)):
                yield Shape(
                    f"twice:{number}-{name}-{'before' if first else 'behind'}",
                    lambda ask, number=number, value=value, first=first: sent(_doubled(ask, number, value, first)),
                )
    for first in (True, False):
        yield Shape(
            f"twice:stop-{'before' if first else 'behind'}",
            lambda ask, first=first: sent(_stopped_twice(ask, first)),
        )


def _doubled(ask: Ask, number: int, value: Any, first: bool) -> bytes:
    if not ask.streams:
        return http(json.dumps(_doubled_in(unary(ask.wire), number, value, first)).encode())
    made = events(ask.wire)
    at = number % len(made)
    name, payload = made[at]
    made[at] = (name, _doubled_in(payload, 3 * number, value, first))
    return http(written(made, ask.wire), kind=ask.kind)


def _doubled_in(body: Any, number: int, value: Any, first: bool) -> Any:
    """Return a body with a member that stands twice. The members of lists have no names, and their list is taken."""
    path = nth_path(body, number)
    while isinstance(path[-1], int):
        path = path[:-1]
    # A member that stands twice with one value says one thing.
    other = value if value != wires.inside(body, path) else "another value"
    return wires.doubled(body, path, other, first=first)


_CUT_STOPS = {
    "openai-responses": "incomplete",
    "openai-chat": "length",
    "anthropic": "max_tokens",
    "google": "MAX_TOKENS",
    "gemini-interactions": "incomplete",
    "bedrock-converse": "max_tokens",
}


def _stopped_twice(ask: Ask, first: bool) -> bytes:
    """Return an answer that says twice how it ended, and once that it was cut."""
    good = events(ask.wire) if ask.streams else [("", unary(ask.wire))]
    at = wires.stop_place(good) if ask.streams else 0
    name, payload = good[at]
    path = next(
        each for each in wires.paths(payload) if each[-1] in STOPS and wires.inside(payload, each) in wires.CLEAN
    )
    good[at] = (name, wires.doubled(payload, path, _CUT_STOPS[ask.wire], first=first))
    if ask.streams:
        return http(written(good, ask.wire), kind=ask.kind)
    return http(json.dumps(good[0][1]).encode())


# --- sizes ---

_BLOCK = 1 << 16
SMALL = 1 << 18
"""How many bytes a response may have where it is the way of a large response that counts, and not how large it is."""


def _endless() -> Iterator[Shape]:
    """Yield bodies that are larger than a response may be, written in every way."""
    fillers: dict[str, tuple[bytes, bytes]] = {
        "blanks": (b"", b" " * _BLOCK),
        "one-text": (b'{"id": "', b"x" * _BLOCK),
        "lists": (b"[", b"[]," * (_BLOCK // 3)),
        "one-line": (b"data: ", b"x" * _BLOCK),
        "comments": (b"data: {}\n\n", b": ping\n\n" * (_BLOCK // 8)),
        "events": (b"data: {}\n\n", b'data: {"x": 1}\n\n' * (_BLOCK // 16)),
        "newlines": (b"data: {}\n\n", b"\n" * _BLOCK),
        "event-names": (b"event: ", b"x" * _BLOCK),
        "frames": (b"", wires.event_frame("keepAlive", b"{}") * (_BLOCK // 80)),
        "frame": (b"\x7f\xff\xff\xff\0\0\0\0", b"x" * _BLOCK),
    }
    for name, (begin, filler) in fillers.items():
        for status in ("200 OK", "503 X"):
            yield _large(f"{name}-{status[:3]}", begin, filler, status)
    yield Shape(
        "large:chunks",
        lambda ask: Script(
            [
                raw(b"", "Transfer-Encoding: chunked", kind=ask.kind),
                *[b"%x\r\n%s\r\n" % (_BLOCK, b" " * _BLOCK)] * (ask_blocks(SMALL)),
            ]
        ),
        steps=True,
        size=SMALL,
    )


def _large(name: str, begin: bytes, filler: bytes, status: str) -> Shape:
    return Shape(
        f"large:{name}",
        lambda ask: Script([raw(begin, kind=ask.kind, status=status), *[filler] * ask_blocks(SMALL)]),
        steps=True,
        size=SMALL,
    )


def ask_blocks(size: int) -> int:
    """Return how many blocks are more than a size."""
    return size // _BLOCK + 2


def _bombs(size: int) -> Iterator[Shape]:
    """Yield small bodies that are larger than ``size`` when they are decompressed, in every coding and nested."""
    for coding, bomb in _packed(size).items():
        for status in ("200 OK", "500 X", "307 X"):
            yield Shape(
                f"bomb:{coding.replace(', ', '+')}-{status[:3]}",
                lambda ask, coding=coding, bomb=bomb, status=status: sent(
                    http(
                        bomb,
                        status=status,
                        kind=ask.kind,
                        headers=[
                            f"Content-Encoding: {coding}",
                            *([f"Location: {ask.elsewhere}"] * status.startswith("3")),
                        ],
                    )
                ),
                steps=True,
                size=size,
            )
    for name, filler in {"blanks": b" ", "text": b"x"}.items():
        yield Shape(
            f"bomb:behind-{name}",
            lambda ask, filler=filler: sent(
                http(
                    gzip.compress(ask.good) + _zipped(size, 31, filler),
                    kind=ask.kind,
                    headers=["Content-Encoding: gzip"],
                )
            ),
            "either",
            steps=True,
            size=size,
        )


def _packed(size: int) -> dict[str, bytes]:
    """Return a bomb in every coding that a client may take here."""
    plain = _zipped(size, 31)
    made = {
        "gzip": plain,
        "deflate": _zipped(size, 15),
        "gzip, gzip": gzip.compress(_zipped(4 * size, 31)),
        "deflate, gzip": gzip.compress(_zipped(4 * size, 15)),
        "gzip, gzip, gzip": gzip.compress(gzip.compress(_zipped(4 * size, 31))),
    }
    for coding, pack in {"br": stored_brotli, "zstd": stored_zstd}.items():
        made |= {f"gzip, {coding}": pack(plain), f"{coding}, gzip": gzip.compress(pack(b" " * (4 * size)))}
    made["zstd"] = zstd_frame([b" "] * ask_blocks(4 * size))
    if importlib.util.find_spec("brotli"):
        made["br"] = importlib.import_module("brotli").compress(b" " * (4 * size))
    return made


_STORED, _REPEATED = 0, 1


def zstd_frame(blocks: Sequence[bytes]) -> bytes:
    """Return blocks in a frame of Zstandard (RFC 8878), without a compressor: one byte of a block is repeated."""
    head = b"\x28\xb5\x2f\xfd\x00\x58"  # no size of its content, no checksum, and a window of 2 MiB
    made = [head]
    for each in blocks:
        size, kind = (_BLOCK, _REPEATED) if len(each) == 1 else (len(each), _STORED)
        made.append((size << 3 | kind << 1).to_bytes(3, "little") + each)
    return b"".join([*made, b"\x01\0\0"])


def stored_zstd(data: bytes) -> bytes:
    """Return data in a frame of Zstandard."""
    return zstd_frame([data[at : at + _BLOCK] for at in range(0, len(data), _BLOCK)])


def stored_brotli(data: bytes) -> bytes:
    """Return data in meta-blocks of Brotli (RFC 7932, section 9.2) that are not compressed."""
    made: list[bytes] = []
    for at in range(0, len(data), _BLOCK):
        piece = data[at : at + _BLOCK]
        bits = (len(piece) - 1) << 3 | 1 << 19  # not the last one, four nibbles of length, not compressed
        made.append(((bits << 1) if at == 0 else bits).to_bytes(3, "little") + piece)  # a window of 64 KiB at first
    return b"".join([*made, b"\x03"])


def _zipped(size: int, bits: int, filler: bytes = b" ") -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, bits)
    return b"".join([*(packer.compress(filler * _BLOCK) for _ in range(size // _BLOCK + 2)), packer.flush()])


def shapes(size: int) -> list[Shape]:
    """Return the shapes of HTTP and of JSON; ``size`` is how many bytes a response may have."""
    tables = (_framings, _cuts, _wrong_frames, _statuses, _redirects, _bodies, _mutations, _doubles, _endless)
    return [*(each for table in tables for each in table()), *_bombs(size)]
