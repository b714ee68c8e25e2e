"""Two words that JSON Schema does not know: OpenAPI 3.0's ``nullable``, and Google's types in capitals.

Both are read as the JSON Schema that is meant.
"""

from __future__ import annotations

import re
from typing import Any, cast

from emitter.schema.drafts import DATA
from emitter.schema.pointer import below
from emitter.schema.shape import Rule
from emitter.wire import sequence

_SPOKEN = re.compile(r'"nullable": true|"type": "(?:STRING|NUMBER|INTEGER|BOOLEAN|ARRAY|OBJECT|NULL)"')
_CAPITALS = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})
"""Keywords whose values are no schemas."""


def spoken_in(text: str) -> bool:
    """Tell whether a schema, as JSON text, may use either word."""
    return _SPOKEN.search(text) is not None


def as_json_schema(schema: Any) -> tuple[Any, list[Rule]]:
    """Return the JSON Schema that is meant, and the types that were widened to take null."""
    widened: list[Rule] = []
    return _meant(schema, "", widened), widened


def _meant(node: Any, where: str, widened: list[Rule]) -> Any:
    if isinstance(node, list):
        return [_meant(each, below(where, i), widened) for i, each in enumerate(cast("list[Any]", node))]
    if not isinstance(node, dict):
        return node
    table = cast("dict[str, Any]", node)
    found = {name: each if name in DATA else _meant(each, below(where, name), widened) for name, each in table.items()}
    if isinstance(found.get("type"), str) and found["type"] in _CAPITALS:
        found["type"] = found["type"].lower()
    if table.get("nullable") is True and isinstance(found.get("type"), str | list):
        named = sequence(found["type"]) or [found["type"]]
        widened.append(Rule(where, "type", found["type"]))
        found["type"] = named if "null" in named else [*named, "null"]
    return found
