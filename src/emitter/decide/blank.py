"""What nobody can see: a text of nothing else says nothing, however long it is.

Source: the general categories of Unicode, and the letters, marks and symbol that draw nothing all the same.
"""

from __future__ import annotations

import unicodedata
from typing import Final

BLANKS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters, marks and a symbol that draw nothing."""

_SEEN: Final = frozenset("LNPS")
"""The classes of characters that can be seen by themselves: a mark needs one to stand on."""


def is_blank(text: str) -> bool:
    """Tell whether nothing of a text can be seen: it has no letter, number, sign or symbol that draws something."""
    return not any(unicodedata.category(each)[0] in _SEEN and each not in BLANKS for each in text)
