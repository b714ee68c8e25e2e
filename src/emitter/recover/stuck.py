"""Why reading a document stopped before its end."""

from __future__ import annotations

from enum import Enum


class Flaw(str, Enum):
    """What is wrong with the text."""

    CUT = "cut"
    """Something is still open at the end of the text."""
    DEEP = "deep"
    """Containers nest too deep, or a number is too large to hold."""
    BROKEN = "broken"
    """Something stands where no repair without a guess is known."""
    STRAY = "stray"
    """The document is a piece of something larger that is not whole."""
    THINKING = "thinking"
    """A thinking block never ends, so that nothing says where the answer begins."""


class StuckError(Exception):
    """Raised inside a reading, caught where the reading began: ``flaw`` was met at ``at``."""

    def __init__(self, flaw: Flaw, at: int) -> None:
        super().__init__(flaw, at)
        self.flaw = flaw
        self.at = at
