"""Text of others, fit to stand on a line of ours: it can neither drive a terminal nor start a line of its own."""

from __future__ import annotations

import unicodedata

_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Controls, invisible format characters (bidi overrides, zero-width), and what is no character."""
_LONGEST_WORD = 200


def line(text: str) -> str:
    """Return ``text`` on one line, each unsafe character shown as a replacement character."""
    return " ".join(piece for word in text.split() for piece in _pieces(word))


def _pieces(word: str) -> list[str]:
    shown = "".join("\ufffd" if unicodedata.category(each) in _UNSAFE else each for each in word)
    return [shown[start : start + _LONGEST_WORD] for start in range(0, len(shown), _LONGEST_WORD)]
