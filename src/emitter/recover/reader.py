"""Read one object or array of almost-JSON, from its opening bracket to its closing one.

One pass, an explicit stack, no second thoughts: what is repaired here is spelling (commas, quotes, comments,
Python's names for the three constants, escapes), and what would need a guess is left unread.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Final

from emitter.recover.bounds import MAX_DEPTH
from emitter.recover.lexis import AFTER_ELEMENT, AFTER_MEMBER, BLANK, CLOSING_QUOTES, MEMBER, NAME, QUOTED
from emitter.recover.scalars import scalar
from emitter.recover.strings import quoted
from emitter.recover.stuck import Flaw, StuckError

if TYPE_CHECKING:
    from emitter.wire import Json

CLOSERS: Final = {"{": "}", "[": "]"}

_SEAMS: Final = frozenset(':,"')


@dataclass(frozen=True, slots=True)
class Found:
    """An object or array that stands whole in the text.

    ``quoted`` tells whether it holds a quoted string, be it a key; ``doubled`` whether a key is there twice.
    ``remarks`` are its comments.
    """

    start: int
    end: int
    value: Json
    quoted: bool
    doubled: bool
    remarks: str = ""


@dataclass(frozen=True, slots=True)
class Unread:
    """A bracket behind which no document could be read up to ``at``; ``closers`` are still owed there."""

    start: int
    at: int
    flaw: Flaw
    quoted: bool
    closers: tuple[str, ...]


class _Kind(Enum):
    STRING = auto()
    SCALAR = auto()
    CONTAINER = auto()


@dataclass(slots=True)
class _Frame:
    """An open container; ``key`` is where an object puts its next value."""

    box: dict[str, Json] | list[Json]
    closer: str
    key: str = ""


def read_document(text: str, start: int) -> Found | Unread:
    """Read the object or array whose bracket is at ``start``."""
    reader = _Reader(text, start)
    try:
        value = reader.run()
    except StuckError as stuck:
        closers = tuple(frame.closer for frame in reader.frames)
        return Unread(start, max(stuck.at, start + 1), stuck.flaw, reader.quoted, closers)
    return Found(start, reader.at, value, reader.quoted, reader.doubled, "\n".join(reader.remarks))


class _Reader:
    """The place in the text and the containers that are open there."""

    __slots__ = ("at", "doubled", "frames", "last", "quoted", "remarks", "text")

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.at = start
        self.frames: list[_Frame] = []
        self.last = _Kind.CONTAINER
        self.quoted = False
        self.doubled = False
        self.remarks: list[str] = []

    def run(self) -> Json:
        """Return the value of the document."""
        root = self.open(self.text[self.at])
        while self.frames:
            if self.step() and self.frames:
                self.separate()
        return root

    def step(self) -> bool:
        """Read a value or a closing bracket; tell whether it ended there (an opening one does not)."""
        frame = self.frames[-1]
        char = self.peek()
        if char == frame.closer:
            self.at += 1
            self.frames.pop()
            self.last = _Kind.CONTAINER
            return True
        if isinstance(frame.box, dict):
            frame.key = self.key(char)
            char = self.peek()
        if char in CLOSERS:
            self.put(frame, self.open(char))
            return False
        self.put(frame, self.string(frame) if char in QUOTED else self.scalar())
        return True

    def open(self, char: str) -> Json:
        """Enter a container and return it, still empty."""
        if len(self.frames) == MAX_DEPTH:
            raise StuckError(Flaw.DEEP, self.at)
        self.at += 1
        frame = _Frame({} if char == "{" else [], CLOSERS[char])
        self.frames.append(frame)
        return frame.box

    def put(self, frame: _Frame, value: Json) -> None:
        """Place a value in its container."""
        if isinstance(frame.box, list):
            frame.box.append(value)
            return
        self.doubled = self.doubled or frame.key in frame.box
        frame.box[frame.key] = value

    def peek(self) -> str:
        """Go to the next thing that is neither space nor comment and return its first character."""
        blank = BLANK.match(self.text, self.at)
        if blank and blank.end() > self.at:
            if remark := blank[0].strip():
                self.remarks.append(remark)
            self.at = blank.end()
        if self.at == len(self.text) or self.text.startswith("/*", self.at):
            raise StuckError(Flaw.CUT, len(self.text))
        return self.text[self.at]

    def key(self, char: str) -> str:
        """Read a key and its colon."""
        if char in QUOTED:
            self.quoted = True
            start = self.at
            key, self.at = quoted(self.text, start)
            raw = self.text[start + 1 : self.at - 1]
            if "\n" in raw and not _SEAMS.isdisjoint(raw):
                raise StuckError(Flaw.BROKEN, self.at)  # two keys, with the quotes between them lost
            return self.colon(key)
        if name := NAME.match(self.text, self.at):
            self.at = name.end()
            return self.colon(name[0])
        raise StuckError(Flaw.BROKEN, self.at)

    def colon(self, key: str) -> str:
        """Go over the colon behind ``key``, or the space where a quoted one lacks it."""
        end = self.at
        if self.peek() == ":":
            self.at += 1
        elif end == self.at or self.text[end - 1] not in CLOSING_QUOTES:
            raise StuckError(Flaw.BROKEN, self.at)
        return key

    def string(self, frame: _Frame) -> str:
        """Read a quoted value."""
        self.quoted = True
        after = AFTER_MEMBER if isinstance(frame.box, dict) else AFTER_ELEMENT
        value, self.at = quoted(self.text, self.at, after)
        # Where a raw line break is, a quote may be missing: a comma that is missing too would be a guess.
        self.last = _Kind.SCALAR if "\n" in value else _Kind.STRING
        return value

    def scalar(self) -> Json:
        """Read a number or a constant."""
        self.last = _Kind.SCALAR
        try:
            token = scalar(self.text, self.at)
        except ValueError as error:
            raise StuckError(Flaw.DEEP, self.at) from error
        if token is None:
            raise StuckError(Flaw.BROKEN, self.at)
        value, self.at = token
        return value

    def separate(self) -> None:
        """Go over the comma behind a value, or find that there was one to be."""
        end = self.at
        char = self.peek()
        if char == ",":
            self.at += 1
        elif char not in "}]" and not self.implied(self.text[end : self.at], char):
            raise StuckError(Flaw.BROKEN, self.at)

    def implied(self, gap: str, char: str) -> bool:
        """Tell whether a comma is plainly missing in ``gap``, the space between a value and ``char``."""
        if isinstance(self.frames[-1].box, dict):
            close = self.last is not _Kind.SCALAR and char in QUOTED and self.text[self.at + 1 : self.at + 2].isalnum()
            return (gap != "" or close) and MEMBER.match(self.text, self.at) is not None
        if not gap:
            return self.last is _Kind.CONTAINER and char in CLOSERS
        # "1 234" may be one number, so two bare values need a line each.
        return "\n" in gap or self.last is not _Kind.SCALAR or char in QUOTED or char in CLOSERS
