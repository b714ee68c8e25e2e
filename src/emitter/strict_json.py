"""Parse strict JSON (RFC 8259) without losing information.

``parse_json`` rejects NaN, Infinity, numbers that a float cannot hold, nesting deeper than ``MAX_JSON_DEPTH``, and an
object with a duplicate key whose values differ. Integers are exact.
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

    from emitter.messages import Json

MAX_JSON_DEPTH: Final = 200
"""The deepest nesting of containers that is parsed."""
_NONZERO_DIGIT = re.compile("[1-9]")
_SMALLEST_SAFE, _LARGEST_SAFE = 1e-300, 1e300


class NotJsonError(ValueError):
    """The text is not strict JSON, or nests deeper than ``MAX_JSON_DEPTH``."""


class DuplicateKeyError(NotJsonError):
    """An object has a member twice with different values."""


def parse_json(text: str) -> Json:
    """Return the value of strict JSON, or raise ``NotJsonError``."""
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise NotJsonError from error
    # The brackets are counted first, because nearly every answer has too few of them to nest too deeply.
    if text.count("[") + text.count("{") > MAX_JSON_DEPTH and _is_too_deep(value):
        raise NotJsonError
    return value


def unescape_string(raw: str) -> str:
    """Decode the inside of a JSON string, in which raw control characters are allowed; may raise ``ValueError``."""
    text: str = _LENIENT_DECODER.decode(f'"{raw}"')
    return text


def parse_finite_float(digits: str) -> float:
    """Return a number that ``float`` neither rounds to infinity nor loses near zero, or raise ``NotJsonError``."""
    number = float(digits)
    # Far from the limits of a double no digit can be lost to overflow or underflow.
    if _SMALLEST_SAFE < number < _LARGEST_SAFE or -_LARGEST_SAFE < number < -_SMALLEST_SAFE:
        return number
    if math.isinf(number) or (abs(number) < sys.float_info.min and not _is_exact(number, digits)):
        raise NotJsonError
    return number


def _is_exact(number: float, digits: str) -> bool:
    """Return whether a number below the normal range equals its digits."""
    if number == 0:
        return not _NONZERO_DIGIT.search(digits.lower().partition("e")[0])
    return Decimal(repr(number)) == Decimal(digits)


def build_object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Return the object of these members, or raise ``DuplicateKeyError`` if one is repeated with a different value."""
    members = dict(pairs)
    if len(members) == len(pairs) or all(
        members[name] is value or json_equal(members[name], value) for name, value in pairs
    ):
        return members
    raise DuplicateKeyError


def json_equal(one: Json, other: Json) -> bool:
    """Compare as JSON, where 1, 1.0 and true differ."""
    pairs = [(one, other)]
    while pairs:
        left, right = pairs.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            left_members, right_members = cast("dict[str, Json]", left), cast("dict[str, Json]", right)
            if left_members.keys() != right_members.keys():
                return False
            pairs.extend((value, right_members[name]) for name, value in left_members.items())
        elif isinstance(left, list) and isinstance(right, list):
            left_items, right_items = cast("Sequence[Json]", left), cast("Sequence[Json]", right)
            if len(left_items) != len(right_items):
                return False
            pairs.extend(zip(left_items, right_items, strict=True))
        elif isinstance(left, dict | list) or isinstance(right, dict | list) or repr(left) != repr(right):
            return False
    return True


def _reject_constant(_: str) -> NoReturn:
    raise NotJsonError


def _is_too_deep(value: Json) -> bool:
    """Return whether containers nest deeper than ``MAX_JSON_DEPTH``."""
    level = [value]
    for _ in range(MAX_JSON_DEPTH + 1):
        level = [child for parent in level for child in _children(parent)]
    return bool(level)


def _children(value: Json) -> list[Json]:
    if isinstance(value, dict):
        return list(cast("dict[str, Json]", value).values())
    return list(cast("Sequence[Json]", value)) if isinstance(value, list) else []


_LENIENT_DECODER = json.JSONDecoder(strict=False)
_DECODER = json.JSONDecoder(
    parse_constant=_reject_constant, parse_float=parse_finite_float, object_pairs_hook=build_object
)
