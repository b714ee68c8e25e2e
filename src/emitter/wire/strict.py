"""Strict JSON (RFC 8259), of which nothing is lost on the way to a value.

Not read are NaN, Infinity, numbers too large or too small to hold, bottomless nesting, and an object that names a
member twice with different values. Integers are kept exactly; other numbers become the nearest double.
"""

from __future__ import annotations

import json
import math
import re
import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NoReturn, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.wire import Json

MAX_DEPTH: Final = 200
"""Containers within containers. A deeper document is not read, by any step."""

_DIGIT = re.compile("[1-9]")
_LEAST, _GREATEST = 1e-300, 1e300
"""Between these nothing is lost."""


class NotJsonError(ValueError):
    """The text is not strict JSON, or is deeper than ``MAX_DEPTH``."""


class RepeatedError(NotJsonError):
    """An object names a member twice, with different values."""


def loads(text: str) -> Json:
    """Return the value of strict JSON.

    :raises NotJsonError: for anything else.
    """
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise NotJsonError from error
    if text.count("[") + text.count("{") > MAX_DEPTH and _too_deep(value):
        raise NotJsonError
    return value


def finite(digits: str) -> float:
    """Return the number, which ``float`` may neither round to infinity nor lose near zero.

    :raises NotJsonError: when it would.
    """
    number = float(digits)
    if _LEAST < number < _GREATEST or -_GREATEST < number < -_LEAST:
        return number
    if math.isinf(number) or (abs(number) < sys.float_info.min and not _is_exact(number, digits)):
        raise NotJsonError
    return number


def _is_exact(number: float, digits: str) -> bool:
    """Tell whether a number below the normal ones is what its digits say."""
    if number == 0:
        return not _DIGIT.search(digits.lower().partition("e")[0])
    return Decimal(repr(number)) == Decimal(digits)


def members(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Return the object of these members; one that is there twice with one value is there once.

    :raises RepeatedError: when the values differ.
    """
    found = dict(pairs)
    if len(found) == len(pairs) or all(found[name] is value or same(found[name], value) for name, value in pairs):
        return found
    raise RepeatedError


def same(one: Json, other: Json) -> bool:
    """Compare as JSON, where 1, 1.0 and true differ; end at the first difference."""
    todo = [(one, other)]
    while todo:
        left, right = todo.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            ours, theirs = cast("dict[str, Json]", left), cast("dict[str, Json]", right)
            if ours.keys() != theirs.keys():
                return False
            todo.extend((each, theirs[name]) for name, each in ours.items())
        elif isinstance(left, list) and isinstance(right, list):
            first, second = cast("Sequence[Json]", left), cast("Sequence[Json]", right)
            if len(first) != len(second):
                return False
            todo.extend(zip(first, second, strict=True))
        elif isinstance(left, dict | list) or isinstance(right, dict | list) or repr(left) != repr(right):
            return False
    return True


def _refuse(_: str) -> NoReturn:
    raise NotJsonError


def _too_deep(value: Json) -> bool:
    """Tell whether containers nest deeper than ``MAX_DEPTH``, level by level."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [child for parent in level for child in _children(parent)]
    return bool(level)


def _children(value: Json) -> list[Json]:
    if isinstance(value, dict):
        return list(cast("dict[str, Json]", value).values())
    return list(cast("Sequence[Json]", value)) if isinstance(value, list) else []


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=finite, object_pairs_hook=members)
