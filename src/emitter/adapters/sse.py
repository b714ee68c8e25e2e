"""Server-sent events, read leniently: the text of a stream into its JSON events.

Source: html.spec.whatwg.org, section 9.2.6. Some proxies and recordings drop the blank line between events, so
a block may hold several documents; they are read one after the other.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING

from emitter.wire import mapping
from emitter.wire.strict import NotJsonError, finite, members

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.wire import Json

_DONE = "[DONE]"
BLANK = "\ufeff \t\n\r"
"""What may stand before a body."""
_UNDECIDED = re.compile(r"[a-z]{0,5}")
_FIELD = re.compile(r"(data|event|id|retry)?:")
_NEXT = re.compile(r"[^ \t\n\r]")


def _number(digits: str) -> float:
    """Return a number, or NaN where no double holds it: most stand where nobody looks, and no answer may hold NaN."""
    try:
        return finite(digits)
    except NotJsonError:
        return math.nan


DECODER = json.JSONDecoder(object_pairs_hook=members, parse_float=_number)
"""Reads what a vendor sent. A member that is named twice with different values, a stop reason say, is an error."""


def is_stream(text: str) -> bool | None:
    """Tell whether a body is a stream of events, which begins with a field; None: its beginning does not say yet."""
    begun = text.lstrip(BLANK)
    return None if _UNDECIDED.fullmatch(begun) else bool(_FIELD.match(begun))


class Decoder:
    """Reads a stream as it comes, in pieces of any size; a second name begins a new event, blank line or not.

    The first event that is not JSON makes it ``broken``: what comes after that event is not read.
    """

    def __init__(self) -> None:
        self.broken = False
        self._name = ""
        self._lines: list[str] = []
        self._pending: list[str] = []
        self._begun = False

    def feed(self, text: str) -> list[Json]:
        """Return the payloads that are whole with this piece."""
        if not self._begun:
            text = text.lstrip(BLANK)
            self._begun = bool(text)
        halved = bool(self._pending) and self._pending[-1].endswith("\r")
        self._pending.append(text)
        if not halved and "\n" not in text and "\r" not in text:
            return []
        whole = "".join(self._pending)
        # A carriage return at the very end may be half of a line's end.
        held = "\r" if whole.endswith("\r") else ""
        *lines, rest = whole.removesuffix(held).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._pending = [rest + held]
        return self._read(lines)

    def end(self) -> list[Json]:
        """Return the payload that the end of the stream makes whole, if there is one."""
        last, self._pending = "".join(self._pending), []
        return self._read([last.removesuffix("\r"), ""])

    def _read(self, lines: list[str]) -> list[Json]:
        found: list[Json] = []
        try:
            for line in [] if self.broken else lines:
                found += self._line(line)
        except (ValueError, RecursionError):
            self.broken = True
        return found

    def _line(self, line: str) -> list[Json]:
        field, _, value = line.partition(":")
        found = self._dispatch() if not line or (field == "event" and self._name) else []
        if field == "event":
            self._name = value.strip()
        elif field == "data":
            self._lines.append(value.removeprefix(" "))
        return found

    def _dispatch(self) -> list[Json]:
        name, lines = self._name, self._lines
        self._name, self._lines = "", []
        payloads = list(_documents("\n".join(line for line in lines if line.strip() != _DONE))) if lines else []
        return [_as_error(each) for each in payloads] if name == "error" else payloads


def _documents(text: str) -> Iterator[Json]:
    begin = _NEXT.search(text)
    while begin:
        document, end = DECODER.raw_decode(text, begin.start())
        yield document
        begin = _NEXT.search(text, end)


def _as_error(payload: Json) -> Json:
    """Return the payload of an event named ``error`` as one that says so itself."""
    return payload if mapping(payload).get("error") else {"type": "error", "error": payload}
