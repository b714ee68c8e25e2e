"""A stream on its way in: piece by piece into events, and at its end into the answer that a unary call would be.

What comes in is bytes, from the SDKs that hand over the HTTP response, or chunks that an SDK has read already.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Any, cast

from emitter.adapters.adapter import ADAPTERS
from emitter.adapters.answer import Tables, protocol_fault, with_status, with_usage
from emitter.adapters.response import of_events, read
from emitter.adapters.sse import BLANK, Decoder, is_stream
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from emitter.profile.model import Profile, WireName
    from emitter.wire import Answer, Fault, Json, OutputMode, Usage

_GOOD = 200
_ENOUGH = 8
"""So many characters tell a stream of events from a document."""


class Incoming:
    """One stream so far. ``text`` is what it has written of the document that was asked for in ``mode``."""

    def __init__(self, profile: Profile, wire: WireName, mode: OutputMode) -> None:
        self._profile, self._wire, self._mode = profile, wire, mode
        self._adapter = ADAPTERS[wire]
        self._headers: Mapping[str, str] = {}
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._decoder = Decoder()
        self._head: list[str] = []
        self._streams: bool | None = None
        self._events: list[Json] = []
        self._memory: dict[str, Json] = {}
        self._broken: Fault | None = None
        self.text: list[str] = []

    def feed(self, piece: object) -> str:
        """Return what the piece adds to the text of the document."""
        if isinstance(piece, bytes):
            return self._characters(self._decode(piece))
        self._headers = self._headers or _headers_of(piece)
        return self._took([_event(piece)])

    def _characters(self, text: str) -> str:
        if self._streams is None:
            begun = "".join([*self._head, text]).lstrip(BLANK)
            if len(begun) < _ENOUGH:
                self._head = [begun]
                return ""
            self._streams, self._head, text = is_stream(begun), [], begun
        if not self._streams:
            self._head.append(text)
            return ""
        return self._took(self._decoded(text))

    def _decoded(self, text: str) -> list[Json]:
        if self._broken is not None:
            return []
        try:
            return self._decoder.feed(text)
        except (ValueError, RecursionError):
            self._broken = protocol_fault("an event of the stream is not JSON")
            return []

    def _took(self, events: list[Json]) -> str:
        self._events.extend(events)
        written = "".join(self._adapter.written(mapping(each), self._mode, self._memory) for each in events)
        if written:
            self.text.append(written)
        return written

    def answer(self, headers: Mapping[str, str] | None = None) -> Answer:
        """Return the answer, now that the stream is at its end; ``headers`` are those of its response."""
        told = self._headers if headers is None else headers
        if self._streams is not None or not self._events:
            self._characters(self._decode(b"", final=True))
            if not self._streams:
                return read(self._profile, self._wire, _GOOD, told, "".join(self._head))
            self._took(self._last())
        if self._broken is not None:
            return with_status(with_usage(self._broken, self.usage()), _GOOD, None, None)
        return of_events(self._profile, self._wire, told, self._events)

    def _last(self) -> list[Json]:
        try:
            return [] if self._broken else self._decoder.end()
        except (ValueError, RecursionError):
            self._broken = protocol_fault("the last event of the stream is not JSON")
            return []

    @property
    def begun(self) -> bool:
        """Whether a stream has begun: a document under a good status is none."""
        return bool(self._streams or self._events)

    def usage(self) -> Usage | None:
        """Return what the vendor has said so far of the cost; None where it has said nothing."""
        return self._said()[0]

    def bill(self) -> Usage | None:
        """Return what the vendor has said of the cost, where the answer had come to its end."""
        usage, ended = self._said()
        return usage if ended else None

    def _said(self) -> tuple[Usage | None, bool]:
        tables = Tables(self._profile.wires[self._wire].stops, self._profile.faults)
        assembled = self._adapter.assemble([each for each in self._events if not _is_error(mapping(each))])
        return self._adapter.decode(mapping(assembled.body), tables).usage, assembled.ended


def _is_error(event: Mapping[str, Any]) -> bool:
    """Tell an error event: it ends a stream, but not the answer in it."""
    return bool(event.get("error")) or event.get("type") == "error"


def pieces(opened: object) -> Iterator[object]:
    """Return the pieces of an opened stream: bytes of a response, or the SDK's own chunks."""
    raw = cast("Any", opened)
    return cast("Iterator[object]", raw.iter_bytes() if hasattr(raw, "iter_bytes") else iter(raw))


def apieces(opened: object) -> AsyncIterator[object]:
    """Do as ``pieces`` does, without blocking."""
    raw = cast("Any", opened)
    return cast("AsyncIterator[object]", raw.aiter_bytes() if hasattr(raw, "aiter_bytes") else aiter(raw))


def headers_of(opened: object) -> Mapping[str, str] | None:
    """Return the headers of an opened stream, where it is a response."""
    return cast("Any", opened).headers if hasattr(opened, "headers") else None


def _headers_of(chunk: object) -> Mapping[str, str]:
    carried = getattr(chunk, "sdk_http_response", None)
    return getattr(carried, "headers", None) or {}


def _event(chunk: object) -> Json:
    """Return a chunk of google's SDK as the JSON it was read from."""
    return cast("Any", chunk).model_dump(
        mode="json",
        by_alias=True,
        exclude_none=True,
        exclude={"sdk_http_response", "parsed", "automatic_function_calling_history"},
    )
