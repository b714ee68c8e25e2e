"""What a decoder writes where it has a choice: short strings, small numbers, and texts that could do harm."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

END = 256
"""The token after the bytes: the document is over."""

_QUOTE, _BACKSLASH = ord('"'), ord("\\")
_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCXYZ _-")
_DIGITS = frozenset(b"0123456789")
_PRINTABLE = frozenset(range(0x20, 0x7F))
_STYLES = (_LETTERS, _DIGITS, _DIGITS | frozenset(b"{}[]:,.-+eE\\ntrufals"), _PRINTABLE, frozenset(range(END)))
_STYLE_WEIGHTS = (6, 2, 2, 2, 2)

_JSON_TEXTS = (
    *("null", "true", "0", "-1.5", "1e3", "7", '""', '"x"', "[]", "{}", '{"a":1}', '[1,"b",null]', '{"a":{"b":[]}}'),
    *("{", "[1,", "NaN", "1e999", '{"a":1,"a":2}', " 1 ", '"\\ud800"', "01", ""),
)
"""What a value carried as JSON text may be, and what it may be by mistake."""

_RARE = {ord("."): 0.15, ord("e"): 0.05, ord("E"): 0.05, ord("{"): 0.7, ord("["): 0.7, ord("-"): 0.4}
_OFTEN = {ord("}"): 1.5, ord("]"): 1.5, ord(","): 1.5, END: 3.0}
_WEIGHTS = tuple((_RARE | _OFTEN).get(each, 1.0) for each in range(END + 1))
_CHEAP = {
    END: 0,
    ord("}"): 1,
    ord("]"): 1,
    ord("n"): 2,
    ord("t"): 3,
    ord("f"): 3,
    ord("["): 5,
    ord("{"): 6,
    ord(","): 7,
}
_CLOSE = 0.15
"""How likely a string ends at each of its characters, where it may."""
_SEPARATORS = frozenset(b"@.:/-")
_SEPARATE = 0.1
"""How likely one comes where the string may not end yet: a format waits for it."""
_NO_TEXT = 0.4
"""How likely a string is none of the texts at hand."""
_GIVEN = 0.7
"""How likely that is one of those handed over, where there are any."""
_IN_STYLE = 0.95
"""How likely a character is of the string's own style."""


class Taste:
    """Follows what is written, and chooses what comes next."""

    def __init__(self, rng: Random, texts: Sequence[str]) -> None:
        self._rng = rng
        self._texts = texts
        self._inside = self._escaped = self._fresh = self._done = False
        self._style = _LETTERS

    def follow(self, written: bytes) -> None:
        """Note what was written: a string begins, goes on or ends."""
        for byte in written:
            self._fresh = byte == _QUOTE and not self._inside
            if self._fresh:
                self._inside, self._done = True, False
                self._style = self._rng.choices(_STYLES, _STYLE_WEIGHTS)[0]
            elif self._inside and not self._escaped and byte == _QUOTE:
                self._inside = False
            self._escaped = self._inside and not self._escaped and byte == _BACKSLASH

    def text(self) -> bytes:
        """Return a whole text to try at the beginning of a string, or nothing."""
        if not self._fresh or self._rng.random() < _NO_TEXT:
            return b""
        self._done = True
        known = self._texts if self._texts and self._rng.random() < _GIVEN else _JSON_TEXTS
        return json.dumps(self._rng.choice(known), ensure_ascii=False).encode(errors="replace")[1:-1]

    def choose(self, allowed: list[int]) -> int:
        """Choose one of the allowed bytes."""
        if not self._inside:
            return self._rng.choices(allowed, [_WEIGHTS[each] for each in allowed])[0]
        endable = _QUOTE in allowed
        if endable and (self._done or self._rng.random() < _CLOSE):
            return _QUOTE
        style = _SEPARATORS if not endable and self._rng.random() < _SEPARATE else self._style
        liked = [each for each in allowed if each in style]
        return self._rng.choice(liked if liked and self._rng.random() < _IN_STYLE else allowed)

    def hurry(self, allowed: list[int]) -> int:
        """Choose what leads to an end."""
        if self._inside:
            return _QUOTE if _QUOTE in allowed else self.choose(allowed)
        least = min(_CHEAP.get(each, 4) for each in allowed)
        return self._rng.choice([each for each in allowed if _CHEAP.get(each, 4) == least])
