"""Whether a value is JSON at all, and every text that it holds: found in one walk, at any depth."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from emitter.wire import Json

MAX_DEPTH: Final = 64
"""Deeper than this no envelope is read: it is what the binding moment's digest allows, and no kind comes near it."""

MAX_VALUES: Final = 1_000_000
"""More values than this no envelope has; a list that holds itself twice would have more than can be counted."""

_PLAIN = frozenset({bool, type(None)})
_LONGEST_NUMBER = 14_000
"""Bits of a whole number: one that has more Python neither writes nor reads."""


def texts(value: Json) -> str | None:
    """Return every text in ``value``, names included, one after the other, apart by NUL.

    None where it is no JSON, or beyond the bounds. No JSON are numbers that are not finite or too long to
    be written, names that are no text, and half characters (lone surrogates).
    """
    found: list[str] = []
    level: list[Any] = [value]
    seen = 0
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
            elif kind not in _PLAIN and not _is_number(each):
                return None
        seen += len(below)
        if not below or seen > MAX_VALUES:
            return None if below else _joined(found)
        level = below
    return None


def _is_number(given: object) -> bool:
    if given.__class__ is int:
        return cast("int", given).bit_length() <= _LONGEST_NUMBER
    return given.__class__ is float and isfinite(cast("float", given))


def _joined(found: list[str]) -> str | None:
    try:
        joined = "\0".join(found)
        joined.encode()
    except (TypeError, UnicodeEncodeError):
        return None
    return joined
