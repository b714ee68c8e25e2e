"""What a JSON value is: its type, and when two are the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from emitter.wire import Json

NULL, BOOLEAN, INTEGER, NUMBER, STRING, ARRAY, OBJECT = (
    "null",
    "boolean",
    "integer",
    "number",
    "string",
    "array",
    "object",
)
EVERY_TYPE = (STRING, NUMBER, BOOLEAN, NULL, ARRAY, OBJECT)


def type_of(value: Json) -> str:
    """Return the JSON type of ``value``; a number without fraction is an integer."""
    match value:
        case None:
            return NULL
        case bool():
            return BOOLEAN
        case int() | float():
            return INTEGER if isinstance(value, int) or value.is_integer() else NUMBER
        case str():
            return STRING
        case list():
            return ARRAY
        case _:
            return OBJECT


def is_of(value: Json, types: tuple[str, ...]) -> bool:
    """Tell whether ``value`` has one of ``types``, where every integer is a number."""
    kind = type_of(value)
    return kind in types or (kind == INTEGER and NUMBER in types)


def same(value: Json) -> str:
    """Return a text that is equal for values that are equal as JSON: 1 and 1.0 are, 1 and true are not."""
    return json.dumps(_even(value), sort_keys=True)


def _even(value: Any) -> Any:
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_even(each) for each in cast("list[Any]", value)]
        case dict():
            return {key: _even(each) for key, each in cast("dict[str, Any]", value).items()}
        case _:
            return value
