"""Walk once through an answer and find the documents that stand in it.

Brackets of the prose are paired too: a document inside them, or beside one without a partner, may be a piece
of something larger, and a piece is not an answer. Thinking blocks are passed over.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.recover.lexis import DOCUMENT, MARK
from emitter.recover.reader import CLOSERS, Found, Unread, read_document
from emitter.recover.stuck import Flaw
from emitter.recover.thinking import TAG, Side, block_end, fence_end, is_fence, last_lone_end, mark

if TYPE_CHECKING:
    from re import Match

# A bracket too many behind the document loses nothing, as long as nothing else is left there.
_SURPLUS = re.compile(r"[\s}\]),;.`]*+")
_NOTHING = re.compile(r"[\s,;)`]*+")

_CLOSING = frozenset(CLOSERS.values())


@dataclass(frozen=True, slots=True)
class Sighting:
    """A document and where it was seen: in a code fence, inside brackets of the prose."""

    found: Found
    fenced: bool
    inside: bool


@dataclass(frozen=True, slots=True)
class Scan:
    """All that was seen; ``flaw`` tells why the answer as a whole cannot be trusted, ``at`` where.

    ``blocks`` are the places of the thinking blocks.
    """

    sightings: tuple[Sighting, ...]
    flaw: Flaw | None = None
    at: int = 0
    blocks: tuple[tuple[int, int], ...] = ()


def scan(text: str) -> Scan:
    """Find every object and array in ``text`` that is neither part of another one nor in a thinking block."""
    walk = _walked(text, 0)
    if walk.flaw not in (None, Flaw.THINKING):
        end = last_lone_end(text, walk.at)
        walk = walk if end is None else _walked(text, end)
    return Scan(tuple(walk.sightings), walk.flaw, walk.at, tuple(walk.blocks))


def _walked(text: str, start: int) -> _Walk:
    """Walk from ``start``; all before it is thinking."""
    walk = _Walk(text, start)
    while walk.flaw is None and (found := MARK.search(text, walk.at)):
        walk.meet(found[0], found.start())
    if walk.flaw is None and walk.owed:
        walk.flaw = Flaw.CUT
    return walk


class _Walk:
    """The place in the prose, the brackets open there and what was seen before it."""

    __slots__ = ("at", "blocks", "fenced", "flaw", "owed", "sightings", "text")

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.flaw: Flaw | None = None
        self.restart(start)

    def restart(self, at: int) -> None:
        """Begin at ``at``: all before it is thinking."""
        self.at = at
        self.owed: list[str] = []
        self.fenced = False
        self.sightings: list[Sighting] = []
        self.blocks: list[tuple[int, int]] = [(0, at)] if at else []

    def meet(self, sign: str, start: int) -> None:
        """Deal with a tag, a fence or a bracket of the prose."""
        if (tag := TAG.match(self.text, start)) and self.thought(tag):
            return
        self.at = start + len(sign)
        if sign.startswith("`"):
            if not self.fenced and is_fence(self.text, self.at):
                self.skip(start, fence_end(self.text, self.at))
                return
            self.fenced = not self.fenced
        elif sign in CLOSERS:
            self.opened(sign, start)
        elif sign not in _CLOSING:
            pass  # a tag of another name, or no tag at all
        elif self.owed and self.owed[-1] == sign:
            self.owed.pop()
        elif self.surplus(start):
            self.at = len(self.text)
        else:
            self.flaw = Flaw.STRAY

    def thought(self, tag: Match[str]) -> bool:
        """Pass over a thinking block that begins at ``tag``, or ends there; tell whether one does."""
        found = mark(tag)
        if found is None:
            return False
        if found.side is Side.BEGIN:
            self.skip(tag.start(), block_end(self.text, tag, found))
        elif found.lone:
            self.restart(tag.end())
        else:
            return False
        return True

    def skip(self, start: int, end: int | None) -> None:
        """Go on behind a thinking block; behind one that never ends there is no answer."""
        if end is None:
            self.flaw, self.at = Flaw.THINKING, start
        else:
            self.blocks.append((start, end))
            self.at = end

    def opened(self, sign: str, start: int) -> None:
        """Read the document behind an opening bracket, if one begins there."""
        if not DOCUMENT.match(self.text, start):
            self.owed.append(CLOSERS[sign])
            return
        match read_document(self.text, start):
            case Found() as found:
                self.sightings.append(Sighting(found, self.fenced, bool(self.owed)))
                self.at = found.end
            case Unread() as unread:
                self.unread(unread)

    def unread(self, unread: Unread) -> None:
        """Go on behind a bracket of the prose; stop at a broken document.

        The quoted string makes the difference: prose says ``{x: int}``, a document says ``"x"``.
        """
        if unread.flaw is Flaw.BROKEN and not unread.quoted:
            self.owed.extend(unread.closers)
            self.at = unread.at
            return
        self.flaw = Flaw.STRAY if unread.flaw is Flaw.BROKEN and self.owed else unread.flaw
        self.at = unread.start

    def surplus(self, start: int) -> bool:
        """Tell whether from the first document on there is nothing but brackets too many."""
        if self.owed or not self.sightings:
            return False
        end = self.sightings[0].found.end
        nothing = _NOTHING.match(self.text, end, start)
        rest = _SURPLUS.match(self.text, start)
        return bool(nothing and nothing.end() == start and rest and rest.end() == len(self.text))
