"""Parting a line into rows of a width: none is wider, and nothing is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.render.line import cells, parted

if TYPE_CHECKING:
    from collections.abc import Callable


def wrapped(text: str, width: int, measure: Callable[[str], int] = cells) -> list[str]:
    """Return a line in rows of at most ``width`` cells, parted at spaces, and within a word that is wider.

    A character that alone is wider has a row to itself. No row for no text.
    """
    rows: list[str] = []
    room = 0
    for word in text.split():
        for piece in parted(word, width, measure):
            taken = measure(piece)
            if rows and taken < room:
                rows[-1] += f" {piece}"
                room -= taken + 1
            else:
                rows.append(piece)
                room = width - taken
    return rows
