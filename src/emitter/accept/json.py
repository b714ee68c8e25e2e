"""Whether a value is JSON at all, and every text that it holds: found in one walk, at any depth."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from emitter.wire import Json

MAX_DEPTH: Final = 64
"""Deeper than this no envelope is read: it is what the binding moment's digest allows, and no kind comes near it."""

_PLAIN = frozenset({bool, type(None), int})


def texts(value: Json) -> str | None:
    """Return every text in ``value``, names included, one after the other, apart by NUL.

    None where it is no JSON, or nested beyond ``MAX_DEPTH``. No JSON are numbers that are not finite, names that
    are no text, and half characters (lone surrogates).
    """
    found: list[str] = []
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        below: list[Any] = []
        for each in level:
            kind = each.__class__
            if kind is str:
                found.append(each)
            elif kind is dict:
                found.extend(each)
                below.extend(each.values())
            elif kind is list:
                below.extend(each)
            elif kind not in _PLAIN and not (kind is float and isfinite(each)):
                return None
        if not below:
            return _joined(found)
        level = below
    return None


def _joined(found: list[str]) -> str | None:
    try:
        joined = "\0".join(found)
        joined.encode()
    except (TypeError, UnicodeEncodeError):
        return None
    return joined
