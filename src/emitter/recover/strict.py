"""Strict JSON (RFC 8259): no NaN, no Infinity, no number too large to hold, no bottomless nesting."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, NoReturn, cast

from emitter.recover.bounds import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.wire import Json


class NotJsonError(ValueError):
    """The text is not strict JSON, or is deeper than ``MAX_DEPTH``."""


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
    """Return the number, which ``float`` may not round to infinity.

    :raises NotJsonError: when it would.
    """
    number = float(digits)
    if math.isinf(number):
        raise NotJsonError
    return number


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


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=finite)
