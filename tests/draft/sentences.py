"""The sentences of the draft that bind somebody, each known by a fingerprint: none of the draft's text is kept here."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from tests.shared import SHARED

SEED: Final = SHARED / "seeds" / "binding-moment-envelope.txt"

_KEYWORD = re.compile(r"\b(SHALL|SHOULD|MUST|MAY|REQUIRED|RECOMMENDED|OPTIONAL)\b")
_END = re.compile(r"(?<=[.:;])\s+(?=[A-Z(\"])|¶")
_TERMS = "BCP 14"
"""The sentence that says what the keywords mean binds nobody."""


def binding() -> dict[str, str]:
    """Return the sentences with one of the keywords, by fingerprint."""
    text = re.sub(r"\s+", " ", SEED.read_text("utf-8"))
    found = [each.strip() for each in _END.split(text)]
    return {fingerprint(each): each for each in found if _KEYWORD.search(each) and _TERMS not in each}


def fingerprint(sentence: str) -> str:
    """Return eight hexadecimal digits."""
    return hashlib.sha256(sentence.encode()).hexdigest()[:8]
