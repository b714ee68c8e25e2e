"""Decode server-sent events into JSON values.

Some proxies and recordings omit the blank line between events, so a block may hold several documents.

Source: html.spec.whatwg.org, section 9.2.6.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING

from emitter.messages import as_mapping
from emitter.strict_json import NotJsonError, build_object, parse_finite_float

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.messages import Json

_DONE = "[DONE]"
LEADING_BLANK = "\ufeff \t\n\r"
"""Characters that may precede a body."""
_FIELD_PREFIX = re.compile(r"[a-z]{0,5}")
_FIELD = re.compile(r"(data|event|id|retry)?:")
_DOCUMENT_START = re.compile(r"[^ \t\n\r]")


def _parse_number(digits: str) -> float:
    """Return a number, or NaN if no double can represent it.

    Most numbers of a response are never used, so that a bad one must not make the response unreadable. The model's
    answer is parsed separately, without NaN.
    """
    try:
        return parse_finite_float(digits)
    except NotJsonError:
        return math.nan


JSON_DECODER = json.JSONDecoder(object_pairs_hook=build_object, parse_float=_parse_number)
"""Decodes JSON from providers. A member that is repeated with different values, such as a stop reason, is an error."""


def is_event_stream(text: str) -> bool | None:
    """Return whether a body is an event stream, which begins with a field; None if the text is too short to know."""
    beginning = text.lstrip(LEADING_BLANK)
    return None if _FIELD_PREFIX.fullmatch(beginning) else bool(_FIELD.match(beginning))


class SseDecoder:
    """An incremental decoder of server-sent events.

    A second event name begins a new event even without a blank line. The first event that is not JSON sets
    ``is_broken``, and the rest of the stream is ignored.
    """

    def __init__(self) -> None:
        self.is_broken = False
        self._name = ""
        self._lines: list[str] = []
        self._pending: list[str] = []
        self._has_begun = False

    def feed(self, text: str) -> list[Json]:
        """Return the payloads that this piece completes."""
        if not self._has_begun:
            text = text.lstrip(LEADING_BLANK)
            self._has_begun = bool(text)
        has_split_line_end = bool(self._pending) and self._pending[-1].endswith("\r")
        self._pending.append(text)
        if not has_split_line_end and "\n" not in text and "\r" not in text:
            return []
        buffered = "".join(self._pending)
        # A carriage return at the end may be the first half of "\r\n".
        trailing = "\r" if buffered.endswith("\r") else ""
        *lines, rest = buffered.removesuffix(trailing).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._pending = [rest + trailing]
        return self._parse_lines(lines)

    def end(self) -> list[Json]:
        """Return the payloads that the end of the stream completes."""
        last, self._pending = "".join(self._pending), []
        return self._parse_lines([last.removesuffix("\r"), ""])

    def _parse_lines(self, lines: list[str]) -> list[Json]:
        payloads: list[Json] = []
        try:
            for line in [] if self.is_broken else lines:
                payloads += self._parse_line(line)
        except (ValueError, RecursionError):
            self.is_broken = True
        return payloads

    def _parse_line(self, line: str) -> list[Json]:
        field, _, value = line.partition(":")
        # Some proxies leave out the blank line between events, so a second name also ends the event before it.
        payloads = self._dispatch() if not line or (field == "event" and self._name) else []
        if field == "event":
            self._name = value.strip()
        elif field == "data":
            self._lines.append(value.removeprefix(" "))
        return payloads

    def _dispatch(self) -> list[Json]:
        """Return the payloads of the buffered event and begin the next one."""
        name, lines = self._name, self._lines
        self._name, self._lines = "", []
        payloads = list(_iter_documents("\n".join(line for line in lines if line.strip() != _DONE))) if lines else []
        return [_as_error(payload) for payload in payloads] if name == "error" else payloads


def _iter_documents(text: str) -> Iterator[Json]:
    start = _DOCUMENT_START.search(text)
    while start:
        document, end = JSON_DECODER.raw_decode(text, start.start())
        yield document
        start = _DOCUMENT_START.search(text, end)


def _as_error(payload: Json) -> Json:
    """Return the payload of an event named ``error`` as an error object."""
    return payload if as_mapping(payload).get("error") else {"type": "error", "error": payload}
