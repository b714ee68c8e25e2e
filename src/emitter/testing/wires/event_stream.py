"""Write and read Amazon's binary event stream, which botocore only reads.

Source: smithy.io/2.0/aws/amazon-eventstream.html; botocore 1.44.5, eventstream.py.
"""

from __future__ import annotations

import json
from struct import pack
from typing import TYPE_CHECKING
from zlib import crc32

from emitter.adapters.sse import SseDecoder
from emitter.messages import as_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.messages import Json

_STRING = 7
"""The type of a header whose value is a string."""
_FRAME_BYTES = 16
"""The bytes of a frame without headers and payload: two lengths and two checksums."""


def encode_frame(headers: Mapping[str, str], payload: bytes) -> bytes:
    """Return one frame of an event stream."""
    block = b"".join(map(_encode_header, headers, headers.values()))
    prelude = pack("!II", _FRAME_BYTES + len(block) + len(payload), len(block))
    frame = prelude + pack("!I", crc32(prelude)) + block + payload
    return frame + pack("!I", crc32(frame))


def _encode_header(name: str, value: str) -> bytes:
    key, text = name.encode(), value.encode()
    return pack("!B", len(key)) + key + pack("!BH", _STRING, len(text)) + text


def encode_event_stream(text: str) -> bytes:
    """Return the event stream of server-sent events whose data is ``{"<event>": {…}}`` or ``{"error": {…}}``."""
    decoder = SseDecoder()
    return b"".join(map(_encode_data, [*decoder.feed(text), *decoder.end()]))


def _encode_data(data: Json) -> bytes:
    [(name, payload)] = as_mapping(data).items()
    body = json.dumps(payload, ensure_ascii=False).encode()
    return encode_exception(str(payload["type"]), body) if name == "error" else encode_event(name, body)


def encode_event(name: str, payload: bytes) -> bytes:
    """Return the frame of an event."""
    return encode_frame({":event-type": name, ":content-type": "application/json", ":message-type": "event"}, payload)


def encode_exception(name: str, payload: bytes) -> bytes:
    """Return the frame of an exception, which ends a stream."""
    headers = {":exception-type": name, ":content-type": "application/json", ":message-type": "exception"}
    return encode_frame(headers, payload)
