"""Where the parts of a JSON document end, while it is being written: a push scanner in linear time.

It reads no values. It passes over the thinking blocks before the document, follows the document as far as the opened
containers go, and hands over the text of each of their members as soon as that is whole. What is no JSON ends the
scan; the judge has the last word anyway.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from emitter.recover.thinking import Outside

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

Path: TypeAlias = tuple[str | int, ...]
"""The way to a part, from the root."""

_BLANK = re.compile(r"[ \t\n\r]*")
_IN_STRING = re.compile(r'["\\]')
_ROOT = re.compile(r"[{\[]")
_IN_NEST = re.compile(r'["{}\[\]]')
_AFTER_SCALAR = re.compile(r"[ \t\n\r,\]}]")


@dataclass(frozen=True, slots=True)
class Whole:
    """A member that is whole: its way and its JSON text."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Written:
    """A further piece of a string member, as it stands between its quotes, escapes and all."""

    path: Path
    raw: str


@dataclass(slots=True)
class _Container:
    """A container that is open: its way, and the place of its next member."""

    path: Path
    is_object: bool
    place: str | int = 0


class Scanner:
    """Follows one document; ``opened`` are containers whose members are told, ``followed`` strings told in pieces.

    In both, ``-1`` stands for every place of an array. The root is opened in any case. ``feed`` is given the
    text as it comes.
    """

    def __init__(self, roots: str, opened: Collection[Path] = (), followed: Collection[Path] = ()) -> None:
        """Begin before a root that is an object (``{``), an array (``[``), or one of the two (``{[``)."""
        self._roots = roots
        self._opened = frozenset(opened)
        self._followed = frozenset(followed)
        self._stack: list[_Container] = []
        self._path: Path = ()
        self._raw: list[str] = []
        self._depth = 0
        self._quoted = self._escaped = self._follows = False
        self._begun: set[Path] = set()
        self._step: Callable[[str, int], int] | None = self._first
        self._found: list[Whole | Written] = []
        self._outside = Outside()

    def feed(self, piece: str) -> list[Whole | Written]:
        """Return what is whole, or further written, with this piece."""
        piece = self._outside.feed(piece)
        at = 0
        while at < len(piece) and self._step is not None:
            at = self._step(piece, at)
        found, self._found = self._found, []
        return found

    def end(self) -> None:
        """Follow the document no further."""
        self._step = None

    def _first(self, piece: str, at: int) -> int:
        at = _past_blank(piece, at)
        if at < len(piece):  # in a text, a bracket opens nothing
            self._step = None if piece[at] == '"' else self._before
        return at

    def _before(self, piece: str, at: int) -> int:
        mark = _ROOT.search(piece, at)
        if mark is None:
            return len(piece)
        if mark[0] in self._roots:
            self._open((), is_object=mark[0] == "{")
        else:
            self._step = None
        return mark.end()

    def _open(self, path: Path, *, is_object: bool) -> None:
        self._stack.append(_Container(path, is_object))
        self._step = self._key if is_object else self._value

    def _close(self) -> None:
        self._stack.pop()
        self._step = self._after if self._stack else None

    def _key(self, piece: str, at: int) -> int:
        at = _past_blank(piece, at)
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
        end, closed = self._through(piece, at)
        self._raw.append(piece[at:end])
        if closed:
            self._stack[-1].place = _text_of("".join(self._raw)[:-1])
            self._step = self._colon
        return end

    def _colon(self, piece: str, at: int) -> int:
        at = _past_blank(piece, at)
        if at < len(piece):
            self._step = self._value if piece[at] == ":" else None
        return at + 1

    def _value(self, piece: str, at: int) -> int:
        at = _past_blank(piece, at)
        if at == len(piece):
            return at
        here, first = self._stack[-1], piece[at]
        if first == "]" and not here.is_object:
            self._close()
            return at + 1
        self._path = (*here.path, here.place)
        if first in "{[" and self._is_new(self._opened):
            self._open(self._path, is_object=first == "{")
            return at + 1
        self._raw, self._depth = [], 0
        if first == '"':
            self._follows = self._is_new(self._followed)
            self._raw.append(first)
            self._step = self._in_string
            return at + 1
        self._step = self._in_nest if first in "{[" else self._in_scalar
        return at

    def _is_new(self, asked: frozenset[Path]) -> bool:
        """Tell whether a member is one of those asked for: of two with one name, the second comes whole."""
        if not asked or _general(self._path) not in asked:
            return False
        again = self._path in self._begun
        self._begun.add(self._path)
        return not again

    def _in_string(self, piece: str, at: int) -> int:
        end, closed = self._through(piece, at)
        self._raw.append(piece[at:end])
        written = piece[at : end - 1] if closed else piece[at:end]
        if written and self._follows:
            self._found.append(Written(self._path, written))
        if closed:
            self._whole()
        return end

    def _in_nest(self, piece: str, at: int) -> int:
        end = at
        while end < len(piece):
            if self._quoted:
                end, closed = self._through(piece, end)
                self._quoted = not closed
                continue
            mark = _IN_NEST.search(piece, end)
            if mark is None:
                end = len(piece)
                break
            end = mark.end()
            self._quoted = mark[0] == '"'
            self._depth += (mark[0] in "{[") - (mark[0] in "}]")
            if not self._depth:
                self._raw.append(piece[at:end])
                self._whole()
                return end
        self._raw.append(piece[at:end])
        return end

    def _in_scalar(self, piece: str, at: int) -> int:
        mark = _AFTER_SCALAR.search(piece, at)
        end = mark.start() if mark else len(piece)
        self._raw.append(piece[at:end])
        if mark:
            self._whole()
        return end

    def _whole(self) -> None:
        self._found.append(Whole(self._path, "".join(self._raw)))
        self._raw, self._step = [], self._after

    def _after(self, piece: str, at: int) -> int:
        at = _past_blank(piece, at)
        if at == len(piece):
            return at
        here = self._stack[-1]
        if piece[at] == ",":
            self._step = self._key if here.is_object else self._value
            here.place = here.place if isinstance(here.place, str) else here.place + 1
        elif piece[at] == ("}" if here.is_object else "]"):
            self._close()
        else:
            self._step = None
        return at + 1

    def _through(self, piece: str, at: int) -> tuple[int, bool]:
        """Return where a string goes on to in this piece, and whether it ends there."""
        if self._escaped:
            self._escaped = False
            at += 1
        mark = _IN_STRING.search(piece, at)
        while mark is not None and mark[0] == "\\":
            if mark.end() == len(piece):
                self._escaped = True
                return len(piece), False
            mark = _IN_STRING.search(piece, mark.end() + 1)
        return (len(piece), False) if mark is None else (mark.end(), True)


def _past_blank(piece: str, at: int) -> int:
    found = _BLANK.match(piece, at)
    return found.end() if found else at


def _general(path: Path) -> Path:
    return tuple(-1 if isinstance(each, int) else each for each in path)


def _text_of(raw: str) -> str:
    try:
        read: str = json.loads(f'"{raw}"', strict=False)
    except ValueError:
        return raw
    return read
