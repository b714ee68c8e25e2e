"""Schema bombs: what is refused before anything is made of a schema that a host registers.

Source: artifact-type-packs.md, "Bounded schema compilation", and the invariant ``artifact-schema-compile-bounded``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

from emitter.errors import InputError
from emitter.wire import sequence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.wire import Json

MAX_BYTES: Final = 256 * 1024
"""Bytes of the schema as JSON."""
MAX_VALUES: Final = 20_000
"""Values in it: objects, lists, texts, numbers; one that stands in two places counts twice."""
MAX_DEPTH: Final = 64
"""Levels of objects and lists."""
MAX_PATTERNS: Final = 200
"""Regular expressions, each of which is compiled."""


def bounded(kind_id: str, schema: Mapping[str, Json]) -> dict[str, Any]:
    """Return a copy of the schema, as plain JSON; raises ``InputError`` where it is no JSON, or beyond a bound."""
    _check_size(kind_id, schema)
    try:
        text = json.dumps(dict(schema), ensure_ascii=False, allow_nan=False)
        size = len(text.encode())
    except (TypeError, ValueError) as error:
        raise InputError(f"The schema of {kind_id} is no JSON.") from error
    _limit(kind_id, size, MAX_BYTES, "bytes")
    copied: dict[str, Any] = json.loads(text)
    return copied


def _check_size(kind_id: str, schema: Mapping[str, Json]) -> None:
    count, patterns, level, depth = 0, 0, list[Any]([dict(schema)]), 0
    while level:
        depth, count = depth + 1, count + len(level)
        _limit(kind_id, depth, MAX_DEPTH, "levels")
        _limit(kind_id, count, MAX_VALUES, "values")
        patterns += sum(_patterns(each) for each in level)
        _limit(kind_id, patterns, MAX_PATTERNS, "regular expressions")
        level = [inner for each in level for inner in _inside(each)]


def _inside(value: Any) -> list[Any]:
    return list(cast("dict[str, Any]", value).values()) if isinstance(value, dict) else sequence(value)


def _patterns(value: Any) -> int:
    node = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    by_name = node.get("patternProperties")
    return isinstance(node.get("pattern"), str) + (len(cast("Any", by_name)) if isinstance(by_name, dict) else 0)


def _limit(kind_id: str, count: int, most: int, what: str) -> None:
    if count > most:
        raise InputError(
            f"The schema of {kind_id} has more than {most} {what}.", hint="Split the kind, or say less in its schema."
        )
