"""Text of others, fit to stand on a line of ours: it can neither drive a terminal nor start a line of its own."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING

from emitter.render.safe import clusters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LONGEST_WORD = 200
"""In cells of a terminal; a longer word is parted."""


def line(text: str) -> str:
    """Return ``text`` whole, on one line: each unsafe character replaced, each run of white space one space."""
    return " ".join(piece for word in text.split() for piece in parted(word, LONGEST_WORD))


def lines(text: str) -> list[str]:
    """Return ``text`` line by line, each as ``line`` makes it but with its indent."""
    return [f"{' ' * min(len(each) - len(each.lstrip(' ')), 40)}{line(each)}" for each in text.splitlines()]


def quoted(text: str) -> str:
    """Return ``text`` in quotation marks, on one line: nobody takes it for words of ours."""
    return json.dumps(line(text), ensure_ascii=False)


def cells(text: str) -> int:
    """Return how many cells of a terminal ``text`` takes at most: two for a wide character, none for a mark."""
    return len(text) if text.isascii() else sum(map(_width, text))


def parted(word: str, most: int, measure: Callable[[str], int] = cells) -> Iterator[str]:
    """Yield ``word`` in pieces of at most ``most`` cells, each at least a character with what stands on it."""
    if measure is cells and word.isascii() and word.isprintable():
        yield from (word[start : start + most] for start in range(0, len(word), most))
        return
    piece, width = "", 0
    for each in clusters(word):
        more = measure(each)
        if piece and width + more > most:
            yield piece
            piece, width = "", 0
        piece, width = piece + each, width + more
    if piece:
        yield piece


_AS_EMOJI = "\ufe0f"
"""Has terminals of today draw the character before in two cells; those of yesterday leave it in one."""


def _width(character: str) -> int:
    if character == _AS_EMOJI:
        return 1
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
