"""A stream on its way in: bytes into events, and at its end into the answer that a unary call would be."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, Any

from emitter.adapters.adapter import ADAPTERS
from emitter.adapters.answer import Tables, protocol_fault, with_status, with_usage
from emitter.adapters.response import NOT_JSON, of_events, read
from emitter.adapters.sse import BLANK, Decoder, is_stream
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.profile.model import Profile, WireName
    from emitter.wire import Answer, Json, OutputMode, Usage

_GOOD = 200
_SURROGATE = re.compile("[\udc80-\udcff]")


class Incoming:
    """One stream so far. ``text`` is what it has written of the document that was asked for in ``mode``."""

    def __init__(self, profile: Profile, wire: WireName, mode: OutputMode) -> None:
        self._profile, self._wire, self._mode = profile, wire, mode
        self._adapter = ADAPTERS[wire]
        # Bytes that are not UTF-8 become lone surrogates, which no UTF-8 has: reading goes on, for the usage is later.
        self._utf8 = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._is_utf8 = True
        self._decoder = Decoder()
        self._head: list[str] = []
        self._streams: bool | None = None
        self._events: list[Json] = []
        self._memory: dict[str, Json] = {}
        self.text: list[str] = []

    def feed(self, piece: bytes) -> str:
        """Return what the piece adds to the text of the document."""
        return self._characters(self._decode(piece))

    def _decode(self, piece: bytes, *, final: bool = False) -> str:
        """Return the characters that are whole with this piece, and note where bytes are not UTF-8."""
        text = self._utf8.decode(piece, final)
        self._is_utf8 = self._is_utf8 and (text.isascii() or not _SURROGATE.search(text))
        return text

    def _characters(self, text: str) -> str:
        if self._streams is None:
            begun = "".join([*self._head, text]).lstrip(BLANK)
            self._streams, self._head, text = is_stream(begun), [], begun
        if not self._streams:
            self._head.append(text)
            return ""
        return self._took(self._decoder.feed(text))

    def _took(self, events: list[Json]) -> str:
        self._events.extend(events)
        written = "".join(self._adapter.written(mapping(each), self._mode, self._memory) for each in events)
        if not self._is_utf8:
            return ""
        if written:
            self.text.append(written)
        return written

    def answer(self, headers: Mapping[str, str]) -> Answer:
        """Return the answer, now that the stream is at its end; ``headers`` are those of its response."""
        self._characters(self._decode(b"", final=True))
        if self._streams:
            self._took(self._decoder.end())
        if self._decoder.broken or not self._is_utf8:
            broken = protocol_fault(NOT_JSON if self._is_utf8 else "the body is not UTF-8")
            return with_status(with_usage(broken, self.usage()), _GOOD, None, None)
        if not self._streams:
            return read(self._profile, self._wire, _GOOD, headers, "".join(self._head))
        return of_events(self._profile, self._wire, headers, self._events)

    @property
    def begun(self) -> bool:
        """Whether a stream has begun: a document under a good status is none."""
        return bool(self._streams)

    def usage(self) -> Usage | None:
        """Return what the vendor has said so far of the cost; None where it has said nothing."""
        return self.said()[0]

    def said(self) -> tuple[Usage | None, bool]:
        """Return what the vendor has said so far of the cost, and whether the answer had come to its end."""
        tables = Tables(self._profile.wires[self._wire].stops, self._profile.faults)
        try:
            assembled = self._adapter.assemble([each for each in self._events if not _is_error(mapping(each))])
            return self._adapter.decode(mapping(assembled.body), tables).usage, assembled.ended
        except Exception:  # noqa: BLE001  what broke the reading of the answer may break this, too
            return None, False


def _is_error(event: Mapping[str, Any]) -> bool:
    """Tell an error event: it ends a stream, but not the answer in it."""
    return bool(event.get("error")) or event.get("type") == "error"
