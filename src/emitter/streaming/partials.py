"""Turn the text of a streamed answer into growing documents.

A document is parsed again only when the text has grown by a hundredth, so a stream takes linear time.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic_core import from_json

from emitter.messages import as_list, as_mapping
from emitter.recover.thinking_blocks import ThinkingFilter
from emitter.schema.codec.base import VALUE_MEMBER, VARIANT_MEMBER
from emitter.schema.codec.containers import KEY_MEMBER
from emitter.streaming import FieldComplete
from emitter.streaming.partial_schema import schemas_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from emitter.messages import Json
    from emitter.schema import Compiled
    from emitter.streaming import DocumentPath

_GROWTH = 100
_ROOT_START = re.compile(r"\s*+\"|[^{\[]*+[{\[]")
"""One JSON string, in which brackets open nothing, or all up to the first bracket."""
_NUMBER_CHARACTERS = "+-.0123456789eE"
_BEFORE_NUMBER = (":", ",", "[", " ", "\t", "\n", "\r")
ROOT_BRACKETS = {"array": "[", "object": "{"}


class PartialStream:
    """The streaming plan for partial documents; ``new_reader`` begins one answer.

    If ``trailing_strings`` is true, a plain string that is still being written is a part of the document, as far as it
    goes. A string with an enum, a constant, a format or a pattern has no meaning before it is complete.
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
        document = self._parse(self._pieces[0], "on")
        if self._stream.trailing_strings:
            grown = self._parse(self._pieces[0], "trailing-strings")
            if grown != document and _grows_in_plain_string(self._stream.compiled, document, grown):
                document = grown
        if not document or document == self._document:
            return ()
        self._document = document
        return (FieldComplete("", self._stream.compiled.decode(document)),)

    def _parse(self, text: str, mode: Literal["on", "trailing-strings"]) -> Json:
        start = _ROOT_START.match(text)
        if start is None or start[0][-1] not in self._roots:
            return None
        try:
            document = from_json(_drop_cut_number(text[start.end() - 1 :]), allow_inf_nan=False, allow_partial=mode)
        except ValueError:  # only the whole answer can be repaired
            return None
        _drop_cut_member(document)
        return document


_WHOLE_STRING_KEYWORDS = frozenset({"enum", "const", "format", "pattern"})


def _grows_in_plain_string(compiled: Compiled, document: Json, grown: Json) -> bool:
    """Return whether the member that only the second of two documents has is a string that may be shown in part."""
    before, after = compiled.decode(document), compiled.decode(grown)
    path: list[str | int] = []
    while isinstance(after, dict | list):
        known = dict(_members(before))
        changed = [(step, each) for step, each in _members(after) if step not in known or known[step] != each]
        if not changed:
            return False
        step, after = changed[-1]
        path, before = [*path, step], known.get(step)
    return _is_plain_string(compiled, tuple(path))


def _members(value: Json) -> Iterable[tuple[str | int, Json]]:
    return as_mapping(value).items() if isinstance(value, dict) else enumerate(as_list(value))


@lru_cache(maxsize=256)
def _is_plain_string(compiled: Compiled, path: DocumentPath) -> bool:
    schemas = schemas_at(compiled.original, path, unnamed=True)
    types = {kind for schema in schemas for kind in (as_list(schema.get("type")) or [schema.get("type")])}
    return (
        "string" in types
        and not types & {"number", "integer"}  # the string may be written in place of a number
        and not any(_WHOLE_STRING_KEYWORDS & schema.keys() for schema in schemas)
    )


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
