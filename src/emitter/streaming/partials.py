"""Turn the text of a streamed answer into growing documents.

A document is parsed again only when the text has grown by a hundredth, so a stream takes linear time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic_core import from_json

from emitter.messages import as_list, as_mapping
from emitter.recover.thinking_blocks import ThinkingFilter
from emitter.schema.codec.base import VALUE_MEMBER, VARIANT_MEMBER
from emitter.schema.codec.containers import KEY_MEMBER
from emitter.streaming import FieldComplete

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.messages import Json
    from emitter.schema import Compiled

_GROWTH = 100
_ROOT_START = re.compile(r"\s*+\"|[^{\[]*+[{\[]")
"""One JSON string, in which brackets open nothing, or all up to the first bracket."""
_NUMBER_CHARACTERS = "+-.0123456789eE"
_BEFORE_NUMBER = (":", ",", "[", " ", "\t", "\n", "\r")
ROOT_BRACKETS = {"array": "[", "object": "{"}


class PartialStream:
    """The streaming plan for partial documents; ``new_reader`` begins one answer.

    If ``trailing_strings`` is true, a string that is still being written is a part of the document, as far as it goes.
    """

    def __init__(self, compiled: Compiled, *, trailing_strings: bool) -> None:
        self.compiled, self.trailing_strings = compiled, trailing_strings

    def new_reader(self) -> PartialReader:
        """Return the reader of one answer."""
        return PartialReader(self)


class PartialReader:
    """The reader of one answer."""

    def __init__(self, stream: PartialStream) -> None:
        self._stream = stream
        self._roots = ROOT_BRACKETS.get(str(as_mapping(stream.compiled.schema).get("type")), "{[")
        self._thinking_filter = ThinkingFilter()
        self._pieces: list[str] = []
        self._length, self._next_length = 0, 1
        self._document: Json = None

    def feed(self, text: str) -> Sequence[FieldComplete]:
        """Return the document so far, if this piece of the answer changes it."""
        piece = self._thinking_filter.feed(text)
        self._pieces.append(piece)
        self._length += len(piece)
        if self._length < self._next_length:
            return ()
        self._next_length = self._length * (_GROWTH + 1) // _GROWTH + 1
        self._pieces = ["".join(self._pieces)]
        document = self._parse(self._pieces[0])
        if not document or document == self._document:
            return ()
        self._document = document
        return (FieldComplete("", self._stream.compiled.decode(document)),)

    def _parse(self, text: str) -> Json:
        start = _ROOT_START.match(text)
        if start is None or start[0][-1] not in self._roots:
            return None
        mode: Literal["trailing-strings", "on"] = "trailing-strings" if self._stream.trailing_strings else "on"
        try:
            document = from_json(_drop_cut_number(text[start.end() - 1 :]), allow_inf_nan=False, allow_partial=mode)
        except ValueError:  # only the whole answer can be repaired
            return None
        _drop_cut_member(document)
        return document


def _drop_cut_number(text: str) -> str:
    """Return the text without a number at its end, which may have further digits."""
    before = text.rstrip(_NUMBER_CHARACTERS)
    return before if before.endswith(_BEFORE_NUMBER) else text


_WIRE_OBJECTS = ({KEY_MEMBER, VALUE_MEMBER}, {VARIANT_MEMBER, VALUE_MEMBER})
"""The members of an entry of a map and of a tagged variant, which have a meaning only together."""


def _drop_cut_member(document: Json) -> None:
    """Remove the last object of a document if it is empty or may be half of one in the vendor's form."""
    parent: Any = document
    while parent:
        items = as_list(parent)
        last: Any = len(items) - 1 if items else next(reversed(parent))
        child: Any = parent[last]
        if not isinstance(child, dict | list):
            return
        if isinstance(child, dict) and any(members > set(as_mapping(child)) for members in _WIRE_OBJECTS):
            del parent[last]
            return
        parent = cast("Any", child)
