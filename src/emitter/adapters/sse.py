"""Server-sent events, read leniently: the text of a stream into its JSON events.

Source: html.spec.whatwg.org, section 9.2.6. Some proxies and recordings drop the blank line between events, so
a block may hold several documents; they are read one after the other.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.wire import Json

_DONE = "[DONE]"
_DECODER = json.JSONDecoder()
_BEFORE = "\ufeff \t\n\r"
_NEXT = re.compile(r"[^ \t\n\r]")


def is_stream(text: str) -> bool:
    """Tell whether a body is a stream of events rather than a document."""
    return text.lstrip(_BEFORE).startswith(("data:", "event:", "id:", "retry:", ":"))


def events(text: str) -> list[Json]:
    """Return the JSON payloads of a stream; raises ``ValueError`` on one that is not JSON."""
    found: list[Json] = []
    for name, lines in _blocks(text):
        payloads = _documents("\n".join(line for line in lines if line.strip() != _DONE))
        found.extend(map(_as_error, payloads) if name == "error" else payloads)
    return found


def _blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each event's name and data lines; a second name begins a new event, blank line or not."""
    name, lines = "", list[str]()
    for line in [*text.lstrip(_BEFORE).replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""]:
        field, _, value = line.partition(":")
        if not line or (field == "event" and name):
            yield name, lines
            name, lines = "", []
        if field == "event":
            name = value.strip()
        elif field == "data":
            lines.append(value.removeprefix(" "))


def _documents(text: str) -> Iterator[Json]:
    begin = _NEXT.search(text)
    while begin:
        document, end = _DECODER.raw_decode(text, begin.start())
        yield document
        begin = _NEXT.search(text, end)


def _as_error(payload: Json) -> Json:
    """Return the payload of an event named ``error`` as one that says so itself."""
    return payload if mapping(payload).get("error") else {"type": "error", "error": payload}
