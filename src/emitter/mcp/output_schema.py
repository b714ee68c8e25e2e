"""Making room for ``binding_moment`` in a tool's output schema, and nothing else.

Source: draft-morrison-binding-moment-envelope-00, section 7.1 (the member is additive); MCP, "Output Schema": a client
holds the structured result to what ``tools/list`` published, so that a closed schema has to be widened before the
member may travel.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from emitter.decide.wellformed import FIELD
from emitter.errors import InputError
from emitter.kinds import BindingMoment
from emitter.mcp.inlining import LOCAL, inlined
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.wire import Json

_BRANCHES = ("allOf", "anyOf", "oneOf")
_REST = ("additionalProperties", "unevaluatedProperties")
_OPEN: tuple[Json, ...] = (True, {})
_FIXED = ("not", "if", "const", "enum", "dependentSchemas", "$dynamicRef")
"""Keywords about the whole object, which a member more would change in ways that cannot be taken back."""
_NULL: Json = {"type": "null"}


def _without_null(node: Json) -> Json:
    """Return pydantic's schema of optional members without the null that they refuse."""
    if isinstance(node, list):
        return [_without_null(each) for each in sequence(node)]
    if not isinstance(node, dict):
        return node
    table = mapping(node)
    kept = [each for each in sequence(table.get("anyOf")) if each != _NULL]
    return _without_null(kept[0]) if len(kept) == 1 else {key: _without_null(each) for key, each in table.items()}


ENVELOPE: Final[Mapping[str, Json]] = mapping(_without_null(inlined(BindingMoment.model_json_schema())))
"""The JSON Schema of an envelope, in one piece: what the published ``binding_moment`` property holds."""


def closed(schema: Mapping[str, Json]) -> bool:
    """Tell whether a schema refuses a member that it does not name, or holds it to something."""
    return any(
        "maxProperties" in part or any(part.get(each, True) not in _OPEN for each in (*_REST, "propertyNames"))
        for part in _parts(schema, mapping(schema.get("$defs")), ())
    )


def widened(schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return a tool's output schema with room for an optional ``binding_moment``; raises ``InputError``.

    All else is as it was. What refuses a member more is opened for this one; a schema in which that cannot be said,
    one that is of no object, and one that has a member of that name, are refused.
    """
    definitions = mapping(schema.get("$defs"))
    if schema.get("type", "object") != "object":
        raise InputError(f"The tool's result is no object, so {FIELD} cannot be a member of it.")
    if any(FIELD in mapping(part.get("properties")) for part in _parts(schema, definitions, ())):
        raise InputError(f"The tool's result has a member {FIELD} of its own.", hint="Give it another name.")
    opened = _opened(schema, definitions, ())
    return {**opened, "type": "object", "properties": {**mapping(opened.get("properties")), FIELD: dict(ENVELOPE)}}


def _parts(
    node: Mapping[str, Json], definitions: Mapping[str, Json], within: tuple[str, ...]
) -> Iterator[Mapping[str, Json]]:
    """Yield all that is said of the whole object: the schema, what it refers to, and its branches."""
    whole, seen = _whole(node, definitions, within)
    yield whole
    for name in _BRANCHES:
        for each in sequence(whole.get(name)):
            yield from _parts(mapping(each), definitions, seen)


def _whole(
    node: Mapping[str, Json], definitions: Mapping[str, Json], within: tuple[str, ...]
) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Return a schema with what it refers to written out, and the names that were followed."""
    found = dict(node)
    while "$ref" in found:
        name = found.pop("$ref")
        if name in within or not str(name).startswith(LOCAL) or name.removeprefix(LOCAL) not in definitions:
            raise InputError("The tool's output schema cannot be widened: it refers to itself, or outside of itself.")
        within = (*within, name)
        found = {**mapping(definitions[name.removeprefix(LOCAL)]), **found}
    return found, within


def _opened(node: Mapping[str, Json], definitions: Mapping[str, Json], within: tuple[str, ...]) -> dict[str, Json]:
    found, seen = _whole(node, definitions, within)
    _check(found)
    if any(found.get(each, True) not in _OPEN for each in _REST):
        found["properties"] = {**mapping(found.get("properties")), FIELD: True}
    if "propertyNames" in found:
        found["propertyNames"] = {"anyOf": [{"const": FIELD}, found["propertyNames"]]}
    if "maxProperties" in found:
        found["maxProperties"] += 1
    for name in _BRANCHES:
        if name in found:
            found[name] = [_opened(mapping(each), definitions, seen) for each in sequence(found[name])]
    return found


def _check(schema: Mapping[str, Json]) -> None:
    patterns = [each for each in mapping(schema.get("patternProperties")) if re.search(each, FIELD)]
    if patterns or any(each in schema for each in _FIXED):
        raise InputError(
            f"The tool's output schema cannot be widened: it holds every member to patternProperties, "
            f"or the whole object to {', '.join(_FIXED)}.",
            hint="Let the tool's result be an object that names its members.",
        )
