"""JSON types, equality and pointers.

JSON equality differs from Python's: 1 equals 1.0, and 1 does not equal true.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, unquote

from emitter.messages import as_list, as_mapping
from emitter.outside_values import parse_int

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.messages import Json

NULL, BOOLEAN, INTEGER, NUMBER = "null", "boolean", "integer", "number"
STRING, ARRAY, OBJECT = "string", "array", "object"
ALL_TYPES = (STRING, NUMBER, BOOLEAN, NULL, ARRAY, OBJECT)


def type_of(value: Json) -> str:
    """Return the JSON type of ``value``. A number without a fraction is an integer."""
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


def is_type(value: Json, types: tuple[str, ...]) -> bool:
    """Return whether ``value`` has one of ``types``. Every integer is also a number."""
    kind = type_of(value)
    return kind in types or (kind == INTEGER and NUMBER in types)


def canonical_key(value: Json) -> str:
    """Return a text that is equal for equal JSON values."""
    return json.dumps(_normalize_numbers(value), sort_keys=True)


def _normalize_numbers(value: Any) -> Any:
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_normalize_numbers(each) for each in cast("list[Any]", value)]
        case dict():
            return {key: _normalize_numbers(each) for key, each in cast("dict[str, Any]", value).items()}
        case _:
            return value


def iter_objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every object in a JSON value, including the value itself. A shared object is yielded once."""
    pending, visited = [value], set[int]()
    while pending:
        node: Any = pending.pop()
        if id(node) in visited:
            continue
        visited.add(id(node))
        if isinstance(node, Mapping):
            yield cast("Mapping[str, Any]", node)
            pending.extend(cast("Mapping[str, Any]", node).values())
        elif isinstance(node, list):
            pending.extend(cast("list[Any]", node))


MAX_SHOWN_JSON = 200
"""The maximum length of a JSON value in a loss or a message."""


def truncate_json(value: Any) -> str:
    """Return a value as JSON text of limited length."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN_JSON else f"{text[:MAX_SHOWN_JSON]}…"


MAX_TOKEN_LENGTH = 1_000
"""Longer names are cut in pointers, because the validator keeps a pointer for each place of the schema."""
_ESCAPES = str.maketrans({"~": "~0", "/": "~1"})


def child_pointer(pointer: str, *steps: str | int) -> str:
    """Return the pointer to a value below ``pointer``. Very long names are cut."""
    for step in steps:
        name = str(step)
        if "/" in name or "~" in name or len(name) > MAX_TOKEN_LENGTH:
            name = name[:MAX_TOKEN_LENGTH].translate(_ESCAPES)
        pointer = f"{pointer}/{name}"
    return pointer


def escape_pointer_token(name: str) -> str:
    """Return a name as it is written in a JSON pointer."""
    return name.translate(_ESCAPES)


def parse_pointer(pointer: str) -> tuple[str, ...]:
    """Return the names in a JSON pointer."""
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:])


_NAME_SEPARATORS = re.compile(r"[^A-Za-z0-9_.-]+")


def definition_name(pointer: str) -> str:
    """Return a definition name for a pointer, in characters that every provider accepts."""
    last = pointer.rstrip("/#").rpartition("/")[2]
    return _NAME_SEPARATORS.sub("_", last)[:64].strip("_") or "root"


_ILLEGAL_IN_URI = re.compile(r"%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9._~!$&'()*+,;=:@/?%#-]")


def escape_reference(reference: str) -> str:
    """Return a reference with the characters that a URI may not have percent-encoded."""
    uri, hash_sign, fragment = reference.partition("#")
    fragment = fragment.replace("#", "%23")
    return "".join(_ILLEGAL_IN_URI.sub(lambda match: quote(match[0]), each) for each in (uri, hash_sign, fragment))


def reference_spellings(reference: str) -> tuple[str, ...]:
    """Return the ways to read a reference: as the standard says, and with each ``%`` as a character of a name.

    Generators write names such as ``Page<User>`` and ``100%20`` into references without encoding them.
    """
    return (reference, reference.replace("%", "%25")) if "%" in reference else (reference,)


def resolve_reference(schema: Json, reference: object) -> Json:
    """Return the target of a reference within the document, or None."""
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return None
    targets = (_follow_pointer(schema, unquote(spelling)) for spelling in reference_spellings(reference))
    return next((target for target in targets if target is not None), None)


def _follow_pointer(schema: Json, pointer: str) -> Json:
    target: Json = schema
    for name in parse_pointer(pointer):
        if isinstance(target, list):
            items = as_list(target)
            place = parse_int(name, maximum=len(items) - 1)
            target = None if place is None else items[place]
        else:
            target = as_mapping(target).get(name)
    return target
