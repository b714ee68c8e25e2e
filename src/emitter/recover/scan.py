"""Walk once through an answer and find the documents that stand in it.

Brackets of the prose are paired too: a document inside them, or beside one without a partner, may be a piece
of something larger, and a piece is not an answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from emitter.recover.lexis import DOCUMENT, MARK
from emitter.recover.reader import CLOSERS, Found, Unread, read_document
from emitter.recover.stuck import Flaw

# A bracket too many behind the document loses nothing, as long as nothing else is left there.
_SURPLUS = re.compile(r"[\s}\]),;.`]*+")
_NOTHING = re.compile(r"[\s,;)`]*+")


@dataclass(frozen=True, slots=True)
class Sighting:
    """A document and where it was seen: in a code fence, inside brackets of the prose."""

    found: Found
    fenced: bool
    inside: bool


@dataclass(frozen=True, slots=True)
class Scan:
    """All that was seen; ``flaw`` tells why the answer as a whole cannot be trusted, ``at`` where."""

    sightings: tuple[Sighting, ...]
    flaw: Flaw | None = None
    at: int = 0


def scan(text: str) -> Scan:
    """Find every object and array in ``text`` that is not part of another one."""
    walk = _Walk(text)
    while walk.flaw is None and (mark := MARK.search(text, walk.at)):
        walk.meet(mark[0], mark.start())
    if walk.flaw is None and walk.owed:
        walk.flaw = Flaw.CUT
    return Scan(tuple(walk.sightings), walk.flaw, walk.at)


class _Walk:
    """The place in the prose, the brackets open there and what was seen before it."""

    __slots__ = ("at", "fenced", "flaw", "owed", "sightings", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.owed: list[str] = []
        self.fenced = False
        self.sightings: list[Sighting] = []
        self.flaw: Flaw | None = None

    def meet(self, mark: str, start: int) -> None:
        """Deal with a fence or a bracket of the prose."""
        self.at = start + len(mark)
        if mark.startswith("`"):
            self.fenced = not self.fenced
        elif mark in CLOSERS:
            self.opened(mark, start)
        elif self.owed and self.owed[-1] == mark:
            self.owed.pop()
        elif self.surplus(start):
            self.at = len(self.text)
        else:
            self.flaw = Flaw.STRAY

    def opened(self, mark: str, start: int) -> None:
        """Read the document behind an opening bracket, if one begins there."""
        if not DOCUMENT.match(self.text, start):
            self.owed.append(CLOSERS[mark])
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
