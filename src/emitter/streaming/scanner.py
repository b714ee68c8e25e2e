"""Scan a JSON document incrementally and report each member as soon as it is complete.

The scanner runs in linear time and does not parse values. It skips thinking blocks before the document and stops at
invalid JSON.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.recover.thinking_blocks import ThinkingFilter
from emitter.strict_json import unescape_string

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from emitter.streaming import DocumentPath

_BLANK = re.compile(r"[ \t\n\r]*")
_IN_STRING = re.compile(r'["\\]')
_ROOT_START = re.compile(r"[{\[]")
_IN_CONTAINER = re.compile(r'["{}\[\]]')
_AFTER_SCALAR = re.compile(r"[ \t\n\r,\]}]")


@dataclass(frozen=True, slots=True)
class CompletedMember:
    """A complete member: its path and its JSON text."""

    path: DocumentPath
    text: str


@dataclass(frozen=True, slots=True)
class StringPiece:
    """A further piece of a string member in its raw spelling, with escapes."""

    path: DocumentPath
    raw: str


@dataclass(slots=True)
class _ContainerState:
    """An open container: its path and the key of its next member."""

    path: DocumentPath
    is_object: bool
    next_key: str | int = 0


class JsonScanner:
    """An incremental scanner of one document.

    Members of ``containers`` are reported one by one and ``strings`` piece by piece; ``-1`` in their paths matches any
    index. Members of the root are always reported.
    """

    def __init__(
        self, roots: str, containers: Collection[DocumentPath] = (), strings: Collection[DocumentPath] = ()
    ) -> None:
        """Expect a root that is an object (``{``), an array (``[``) or either (``{[``)."""
        self._roots = roots
        self._containers = frozenset(containers)
        self._strings = frozenset(strings)
        self._stack: list[_ContainerState] = []
        self._path: DocumentPath = ()
        self._raw: list[str] = []
        self._depth = 0
        self._in_quotes = self._after_backslash = self._reports_pieces = False
        self._opened: set[DocumentPath] = set()
        self._step: Callable[[str, int], int] | None = self._at_start
        self._completed: list[CompletedMember | StringPiece] = []
        self._thinking_filter = ThinkingFilter()

    def feed(self, piece: str) -> list[CompletedMember | StringPiece]:
        """Return the members and pieces that this piece of text completes."""
        piece = self._thinking_filter.feed(piece)
        at = 0
        while at < len(piece) and self._step is not None:
            at = self._step(piece, at)
        completed, self._completed = self._completed, []
        return completed

    def end(self) -> None:
        """Ignore the rest of the document."""
        self._step = None

    def _at_start(self, piece: str, at: int) -> int:
        at = _skip_blank(piece, at)
        if at < len(piece):  # the brackets in an answer that is one JSON string do not count
            self._step = None if piece[at] == '"' else self._before_root
        return at

    def _before_root(self, piece: str, at: int) -> int:
        mark = _ROOT_START.search(piece, at)
        if mark is None:
            return len(piece)
        if mark[0] in self._roots:
            self._open((), is_object=mark[0] == "{")
        else:
            self._step = None
        return mark.end()

    def _open(self, path: DocumentPath, *, is_object: bool) -> None:
        self._stack.append(_ContainerState(path, is_object))
        self._step = self._before_key if is_object else self._before_value

    def _close(self) -> None:
        self._stack.pop()
        self._step = self._after_value if self._stack else None

    def _before_key(self, piece: str, at: int) -> int:
        at = _skip_blank(piece, at)
        match piece[at : at + 1]:
            case '"':
                self._raw, self._step = [], self._in_key
            case "}":
                self._close()
            case "":
                pass
            case _:
                self._step = None
        return at + 1

    def _in_key(self, piece: str, at: int) -> int:
        end, closed = self._find_string_end(piece, at)
        self._raw.append(piece[at:end])
        if closed:
            try:
                self._stack[-1].next_key = unescape_string("".join(self._raw)[:-1])
            except ValueError:  # recovery may repair the whole answer and read another name
                self._step = None
            else:
                self._step = self._before_colon
        return end

    def _before_colon(self, piece: str, at: int) -> int:
        at = _skip_blank(piece, at)
        if at < len(piece):
            self._step = self._before_value if piece[at] == ":" else None
        return at + 1

    def _before_value(self, piece: str, at: int) -> int:
        at = _skip_blank(piece, at)
        if at == len(piece):
            return at
        container, first = self._stack[-1], piece[at]
        if first == "]" and not container.is_object:
            self._close()
            return at + 1
        self._path = (*container.path, container.next_key)
        if first in "{[" and self._is_selected(self._containers):
            self._open(self._path, is_object=first == "{")
            return at + 1
        self._raw, self._depth = [], 0
        if first == '"':
            self._reports_pieces = self._is_selected(self._strings)
            self._raw.append(first)
            self._step = self._in_string
            return at + 1
        self._step = self._in_container if first in "{[" else self._in_scalar
        return at

    def _is_selected(self, selected: frozenset[DocumentPath]) -> bool:
        """Return whether the current member is selected. A repeated member is not, so that it is reported whole."""
        if not selected or tuple(-1 if isinstance(step, int) else step for step in self._path) not in selected:
            return False
        is_repeated = self._path in self._opened
        self._opened.add(self._path)
        return not is_repeated

    def _in_string(self, piece: str, at: int) -> int:
        end, closed = self._find_string_end(piece, at)
        self._raw.append(piece[at:end])
        raw = piece[at : end - 1] if closed else piece[at:end]
        if raw and self._reports_pieces:
            self._completed.append(StringPiece(self._path, raw))
        if closed:
            self._complete_member()
        return end

    def _in_container(self, piece: str, at: int) -> int:
        end = at
        while end < len(piece):
            if self._in_quotes:
                end, closed = self._find_string_end(piece, end)
                self._in_quotes = not closed
                continue
            mark = _IN_CONTAINER.search(piece, end)
            if mark is None:
                end = len(piece)
                break
            end = mark.end()
            self._in_quotes = mark[0] == '"'
            self._depth += (mark[0] in "{[") - (mark[0] in "}]")
            if not self._depth:
                self._raw.append(piece[at:end])
                self._complete_member()
                return end
        self._raw.append(piece[at:end])
        return end

    def _in_scalar(self, piece: str, at: int) -> int:
        mark = _AFTER_SCALAR.search(piece, at)
        end = mark.start() if mark else len(piece)
        self._raw.append(piece[at:end])
        if mark:
            self._complete_member()
        return end

    def _complete_member(self) -> None:
        self._completed.append(CompletedMember(self._path, "".join(self._raw)))
        self._raw, self._step = [], self._after_value

    def _after_value(self, piece: str, at: int) -> int:
        at = _skip_blank(piece, at)
        if at == len(piece):
            return at
        container = self._stack[-1]
        if piece[at] == ",":
            self._step = self._before_key if container.is_object else self._before_value
            container.next_key = container.next_key if isinstance(container.next_key, str) else container.next_key + 1
        elif piece[at] == ("}" if container.is_object else "]"):
            self._close()
        else:
            self._step = None
        return at + 1

    def _find_string_end(self, piece: str, at: int) -> tuple[int, bool]:
        """Return the end of the string in this piece, and whether the string ends there."""
        if self._after_backslash:
            self._after_backslash = False
            at += 1
        mark = _IN_STRING.search(piece, at)
        while mark is not None and mark[0] == "\\":
            if mark.end() == len(piece):
                self._after_backslash = True
                return len(piece), False
            mark = _IN_STRING.search(piece, mark.end() + 1)
        return (len(piece), False) if mark is None else (mark.end(), True)


def _skip_blank(piece: str, at: int) -> int:
    blank = _BLANK.match(piece, at)
    return blank.end() if blank else at


_COMPLETE_TEXT = re.compile(r'(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_PARTIAL_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")
"""An incomplete escape."""
_HIGH_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}")
_SURROGATE_ESCAPE_LENGTH = 6
"""The length of the escape of a surrogate."""
_SURROGATE = re.compile("[\ud800-\udfff]")


class StringUnescaper:
    """Decodes the raw pieces of one string and buffers incomplete escapes."""

    def __init__(self) -> None:
        self._pending: str = ""
        self._is_broken = False

    def feed(self, raw: str) -> str:
        """Return the text that this piece completes; nothing after invalid JSON or a lone surrogate."""
        if self._is_broken:
            return ""
        raw = self._pending + raw
        complete = _COMPLETE_TEXT.match(raw)
        end = complete.end() if complete else 0
        self._is_broken = end < len(raw) and not _PARTIAL_ESCAPE.fullmatch(raw, end)
        end = end if self._is_broken else _before_high_surrogate(raw, end)
        self._pending = raw[end:]
        text = unescape_string(raw[:end])
        surrogate = _SURROGATE.search(text)
        self._is_broken = self._is_broken or surrogate is not None
        return text[: surrogate.start()] if surrogate else text


def _before_high_surrogate(raw: str, end: int) -> int:
    """Return the start of a high surrogate's escape at the end of ``raw``, or ``end``."""
    start = end - _SURROGATE_ESCAPE_LENGTH
    if start < 0 or not _HIGH_SURROGATE_ESCAPE.fullmatch(raw, start, end):
        return end
    return end if _is_escaped(raw, start) else start


def _is_escaped(raw: str, at: int) -> bool:
    """Return whether the backslash at ``at`` is escaped itself."""
    backslashes = 0
    while backslashes < at and raw[at - backslashes - 1] == "\\":
        backslashes += 1
    return backslashes % 2 == 1
