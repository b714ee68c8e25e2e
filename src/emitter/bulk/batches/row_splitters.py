"""Split the results of a batch into rows while they arrive, so that only one row at a time is in memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol, TypeAlias

from emitter.adapters.response_decoding import make_protocol_fault
from emitter.adapters.sse import JSON_DECODER
from emitter.adapters.transport import ResponseRejected
from emitter.messages import Fault, FaultKind, as_mapping
from emitter.strict_json import MAX_JSON_DEPTH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.messages import Json

Row: TypeAlias = "bytes | None"
"""The bytes of one result, or None for a result that is too long."""


class RowSplitter(Protocol):
    """Splits the body of a response into rows."""

    def feed(self, piece: bytes) -> list[Row]:
        """Return the rows that a piece completes."""
        ...

    def end(self) -> list[Row]:
        """Return the rows that the end of the body completes; may raise ``ResponseRejected``."""
        ...


class _RowBuffer:
    """The beginning of the current row. A row longer than ``max_bytes`` is not kept."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._content = bytearray()
        self._length = 0

    def add(self, piece: bytes) -> None:
        """Add a piece."""
        self._length += len(piece)
        if self._length <= self._max_bytes:
            self._content += piece
        elif self._content:
            self._content = bytearray()

    def take(self) -> Row:
        """Return the row, and start the next one."""
        row = None if self._length > self._max_bytes else bytes(self._content)
        self._content.clear()
        self._length = 0
        return row


class LineSplitter:
    """Splits JSON Lines. Blank lines are left out."""

    def __init__(self, max_bytes: int) -> None:
        self._line = _RowBuffer(max_bytes)

    def feed(self, piece: bytes) -> list[Row]:
        """Return the lines that a piece completes."""
        lines: list[Row] = []
        *ends, rest = piece.split(b"\n")
        if ends:
            self._line.add(ends[0])
            lines += self.end()
        for line in filter(None, ends[1:]):
            self._line.add(line)
            lines += self.end()
        self._line.add(rest)
        return lines

    def end(self) -> list[Row]:
        """Return the last line, if it has no end."""
        line = self._line.take()
        return [line] if line is None or line.strip() else []


_STRING = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
"""The rest of a string, without its quotation mark."""
_TOKEN = re.compile(rb'["{}\[\],:]')
_MAX_NAME_LENGTH = 256


class ArraySplitter:
    """Splits a JSON document, in which an array contains the results, into its elements.

    Args:
        max_bytes: The largest element, and the largest document without the elements.
        array: The path of members to the array.
        copy: The path to a copy of the array, which is left out.
    """

    def __init__(self, max_bytes: int, array: tuple[str, ...], copy: tuple[str, ...]) -> None:
        self.document: Mapping[str, Json] = as_mapping(None)
        """The document without the elements. Empty before the end of the body."""
        self._max_bytes, self._array, self._copy = max_bytes, array, copy
        self._outside = bytearray()
        self._path: list[str | None] = []
        """The current member of each open container outside of the elements."""
        self._name = b""
        """The beginning of the last string outside of the elements."""
        self._in_string = self._is_escaped = self._is_copy = False
        self._depth = 0
        """The number of open containers from the array on; 0 outside of it."""
        self._row = _RowBuffer(max_bytes)
        self._rows: list[Row] = []
        self._count = 0

    def feed(self, piece: bytes) -> list[Row]:
        """Return the elements that a piece completes."""
        position = 0
        while position < len(piece):
            if self._in_string:
                position = self._read_string(piece, position)
            elif self._depth:
                position = self._read_inside(piece, position)
            else:
                position = self._read_outside(piece, position)
        rows, self._rows = self._rows, []
        return rows

    def _read_string(self, piece: bytes, start: int) -> int:
        """Read a string to its end or to that of the piece, and return the position behind it."""
        match = _STRING.match(piece, start + self._is_escaped)
        end = match.end() if match else start
        last = piece[end : end + 1]
        self._is_escaped, self._in_string = last == b"\\", last != b'"'
        end = min(end + 1, len(piece))
        if self._depth:
            self._row.add(piece[start:end])
        else:
            self._keep_outside(piece[start:end])
            self._name += piece[start : min(end, start + _MAX_NAME_LENGTH - len(self._name))]
        return end

    def _read_inside(self, piece: bytes, start: int) -> int:
        """Read elements to the next string or the end of the array or of the piece, and return the position behind."""
        for match in _TOKEN.finditer(piece, start):
            token = match[0]
            if token == b'"':
                self._in_string = True
                self._row.add(piece[start : match.end()])
                return match.end()
            if token in (b"[", b"{"):
                self._depth += 1
            elif token in (b"]", b"}"):
                self._depth -= 1
            if not self._depth:
                self._row.add(piece[start : match.start()])
                self._end_array(token)
                return match.end()
            if self._depth == 1 and token == b",":
                self._row.add(piece[start : match.start()])
                self._end_element(self._row.take())
                start = match.end()
        self._row.add(piece[start:])
        return len(piece)

    def _end_element(self, element: Row) -> None:
        self._count += 1
        if not self._is_copy:
            self._rows.append(element)

    def _end_array(self, token: bytes) -> None:
        element = self._row.take()
        if element is None or element.strip():
            self._end_element(element)
        self._path.pop()
        # Two arrays under the same name have to differ, so that the document is rejected.
        self._keep_outside(b"%d%b" % (self._count, token))

    def _read_outside(self, piece: bytes, start: int) -> int:
        """Read to the next bracket or mark, or to the end of the piece, and return the position behind it."""
        match = _TOKEN.search(piece, start)
        if match is None:
            self._keep_outside(piece[start:])
            return len(piece)
        self._keep_outside(piece[start : match.end()])
        match token := match[0]:
            case b'"':
                self._in_string, self._name = True, token
            case b":" if self._path:
                self._path[-1] = _decode_name(self._name)
            case b"[" | b"{":
                self._open_container(is_array=token == b"[")
            case b"]" | b"}":
                del self._path[-1:]
            case _:
                pass
        return match.end()

    def _open_container(self, *, is_array: bool) -> None:
        if len(self._path) >= MAX_JSON_DEPTH:
            raise _not_an_object()
        path = tuple(self._path)
        self._path.append(None)
        self._depth, self._is_copy = int(is_array and path in (self._array, self._copy)), path == self._copy

    def _keep_outside(self, piece: bytes) -> None:
        self._outside += piece
        if len(self._outside) > self._max_bytes:
            message = (
                f"The state of the batch is larger than Policy.max_response_bytes allows ({self._max_bytes} bytes)."
            )
            raise ResponseRejected(Fault(FaultKind.RESPONSE_TOO_LARGE, message))

    def end(self) -> list[Row]:
        """Read the document; may raise ``ResponseRejected``."""
        try:
            document = JSON_DECODER.decode(self._outside.decode().removeprefix("\ufeff"))
        except (ValueError, RecursionError):
            raise _not_an_object() from None
        if not isinstance(document, dict):
            raise _not_an_object()
        self.document = as_mapping(document)
        return []


def _not_an_object() -> ResponseRejected:
    return ResponseRejected(make_protocol_fault("the body is not a JSON object"))


def _decode_name(text: bytes) -> str | None:
    try:
        name = JSON_DECODER.decode(text.decode())
    except (ValueError, RecursionError):
        return None
    return name if isinstance(name, str) else None
