"""The sentences of the three seeds that bind somebody, each known by a fingerprint: none of their text is kept here."""

from __future__ import annotations

import re
from typing import Final

from tests.draft.sentences import fingerprint
from tests.shared import SHARED

SEEDS: Final = tuple(
    SHARED / "seeds" / f"{name}.txt"
    for name in ("delegation-invariants", "rfc-0010-authorization-envelope", "aauth-r3-per-call-proposal")
)

_KEYWORD = re.compile(r"\b(MUST|SHOULD|MAY|must|[Rr]equired|enforces?d?|No \.toString)\b")
_END = re.compile(r"(?<=[.;])\s+(?=[A-Z\"(])|\n|\* ")


def binding() -> dict[str, str]:
    """Return the sentences with one of the keywords, by fingerprint."""
    found = [" ".join(each.split()) for seed in SEEDS for each in _END.split(seed.read_text("utf-8"))]
    return {fingerprint(each): each for each in found if _KEYWORD.search(each)}
