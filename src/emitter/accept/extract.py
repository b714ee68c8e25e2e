"""Find the envelopes in a model's text: one document, an array of them, or blocks fenced as JSON.

Source: ai-envelope.md, "Wire serialization". How a text is searched is a host's choice; the order is not (from top
to bottom, as the array has it), and what is found must hold as any envelope must, which the shape step sees to.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from emitter.accept.fences import blocks
from emitter.recover import Path, Recovered, read
from emitter.recover.lexis import DOCUMENT
from emitter.wire import sequence
from emitter.wire.strict import NotJsonError, loads

if TYPE_CHECKING:
    from emitter.accept.fences import Block
    from emitter.recover import Retracted, Several
    from emitter.wire import Json

    Outcome: TypeAlias = Recovered | Several | Retracted | None

MAX_DOCUMENTS: Final = 256
"""Documents that are taken out of one text: eight times what a turn may hold by default."""

MAX_REPAIRS: Final = 8
"""Broken blocks that are read: to repair one may take ten thousand times as long as to read a sound one."""

_LANGUAGES = frozenset({"json", "jsonc", "json5"})

_BEGIN = re.compile(r"[\s\ufeff]*+")
_ARRAY = re.compile(r"(?:\[\s*+)?+(?=\{)")
_ESCAPED = '{\\"'


@dataclass(frozen=True, slots=True)
class Extracted:
    """A document of the text, whatever JSON it is; an array counts as its elements.

    ``path`` tells how it was read, ``byte_offset`` where in the text's UTF-8 bytes it begins, or its array does.

    What claims to be JSON and could not be read has neither ``path`` nor ``value``: it is cut, broken beyond what
    is repaired without a guess, several documents that differ, or more than the bounds allow. None is no envelope,
    so what was lost is refused, and not overlooked.
    """

    value: Json
    path: Path | None
    byte_offset: int


def extract(text: str) -> tuple[Extracted, ...]:
    """Return the documents of ``text`` in the order they stand there; never raise.

    - A text that is JSON is one document, or an array of them.
    - Else its fenced blocks are: ``json``, ``jsonc`` and ``json5`` whatever they hold, those without a language
      where they are objects in strict JSON. A block whose fence is never closed is cut, and is not read.
    - A text without fences that begins as a document is read as leniently as an answer that should be one.
    - JSON amid the prose is prose. What stands there twice is found twice.

    At most ``MAX_DOCUMENTS`` are returned, and one more that stands for all the rest. ``text`` must be a whole
    answer: read the stop reason first.
    """
    reading = _Reading(text)
    plain = _strict(text, Path.DIRECT)
    if plain is not None:
        reading.take(read(text) if isinstance(plain.value, str) else plain, 0)
        return tuple(reading.found)
    for block in blocks(text, _LANGUAGES):
        reading.block(block)
        if reading.full:
            break
    if not reading.found and _claims(text):
        reading.take(read(text), 0)
    return tuple(reading.found)


@dataclass(slots=True)
class _Reading:
    """What was found until now; ``at`` and ``bytes`` are the same place, in characters and in bytes."""

    text: str
    found: list[Extracted] = field(default_factory=list[Extracted])
    repairs: int = MAX_REPAIRS
    at: int = 0
    bytes: int = 0

    @property
    def full(self) -> bool:
        """Whether nothing more is taken."""
        return len(self.found) > MAX_DOCUMENTS

    def block(self, block: Block) -> None:
        """Take what a fenced block holds, if it is JSON or claims to be."""
        if block.language in _LANGUAGES:
            if not block.closed or block.content.strip():
                self.take(self.read(block.content) if block.closed else None, block.start)
        elif not block.language and block.closed:
            plain = _strict(block.content, Path.MARKDOWN_FENCE)
            if plain is not None and _is_objects(plain.value):
                self.take(plain, block.start)

    def read(self, content: str) -> Outcome:
        """Read a block strictly if that goes, and else as an answer is read, as long as that costs little."""
        plain = _strict(content, Path.MARKDOWN_FENCE)
        if plain is not None or self.repairs == 0:
            return plain
        self.repairs -= 1
        return read(content)

    def take(self, outcome: Outcome, start: int) -> None:
        """Keep what was read of the content at the character ``start``, or that it could not be read."""
        begin = self.offset(start)
        if not isinstance(outcome, Recovered):
            self.put(Extracted(None, None, begin))
            return
        offset = begin + (outcome.byte_offset or 0)
        for value in _elements(outcome.value):
            if self.full:
                return
            self.put(Extracted(value, outcome.path, offset))

    def put(self, extracted: Extracted) -> None:
        """Keep a document; one beyond the bound stands for all the rest."""
        spare = len(self.found) < MAX_DOCUMENTS
        self.found.append(extracted if spare else Extracted(None, None, extracted.byte_offset))

    def offset(self, start: int) -> int:
        """Return how many bytes stand before a character that is not before the last one asked for."""
        self.bytes += _bytes(self.text[self.at : start])
        self.at = start
        return self.bytes


def _strict(content: str, path: Path) -> Recovered | None:
    """Read strict JSON."""
    try:
        value = loads(content)
    except NotJsonError:
        return None
    return Recovered(value, path, _bytes(content[: _begin(content)]))


def _claims(text: str) -> bool:
    """Tell whether a text begins as an object does, or an array of them: what it is then is not prose."""
    first = _ARRAY.match(text, _begin(text))
    return first is not None and bool(DOCUMENT.match(text, first.end()) or text.startswith(_ESCAPED, first.end()))


def _is_objects(value: Json) -> bool:
    """Tell whether a value could be an envelope, or an array of some."""
    elements = _elements(value)
    return bool(elements) and all(isinstance(each, dict) for each in elements)


def _elements(value: Json) -> list[Json]:
    return sequence(value) if isinstance(value, list) else [value]


def _begin(text: str) -> int:
    found = _BEGIN.match(text)
    return found.end() if found else 0


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
