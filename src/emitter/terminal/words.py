"""Words: a person's own, as they are handed on, and ours, as they are written."""

from __future__ import annotations

import unicodedata
from typing import TextIO


def handed_on(words: str) -> str:
    """Return the words without what no keyboard writes (controls, halves of characters) and with nothing around."""
    return "".join(each for each in words if each in "\n\t" or unicodedata.category(each) not in {"Cc", "Cs"}).strip()


def write(shown: TextIO, text: str) -> None:
    """Write ``text`` at once; what the stream's encoding does not know, by its number."""
    encoding = shown.encoding or "utf-8"
    shown.write(text.encode(encoding, "backslashreplace").decode(encoding))
    shown.flush()
