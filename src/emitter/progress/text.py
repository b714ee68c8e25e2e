"""The text of a JSON string, while it is being written."""

from __future__ import annotations

import json
import re

_VALID = re.compile(r'(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_BEGUN = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")
"""An escape that is not whole yet."""
_HIGH = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}")
_PAIR_HALF = 6
"""So long is the first half of a pair: what follows says whether it means a character."""
_HALF = re.compile("[\ud800-\udfff]")


class Unescape:
    """Turns the raw pieces of one string into text; what is not whole yet is held back."""

    def __init__(self) -> None:
        self._held: str = ""
        self._broken = False

    def feed(self, raw: str) -> str:
        """Return the text that is certain with this piece; none any more after what is no JSON, or half a character."""
        if self._broken:
            return ""
        raw = self._held + raw
        found = _VALID.match(raw)
        end = found.end() if found else 0
        self._broken = end < len(raw) and not _BEGUN.fullmatch(raw, end)
        end = end if self._broken else _before_half(raw, end)
        self._held = raw[end:]
        text: str = json.loads(f'"{raw[:end]}"', strict=False)
        half = _HALF.search(text)
        self._broken = self._broken or half is not None
        return text[: half.start()] if half else text


def _before_half(raw: str, end: int) -> int:
    """Return where the first half of a pair begins that stands last, or the end."""
    begin = end - _PAIR_HALF
    if begin < 0 or not _HIGH.fullmatch(raw, begin, end):
        return end
    return end if _is_escaped(raw, begin) else begin


def _is_escaped(raw: str, at: int) -> bool:
    """Tell whether the backslash here is itself escaped."""
    before = 0
    while before < at and raw[at - before - 1] == "\\":
        before += 1
    return before % 2 == 1
