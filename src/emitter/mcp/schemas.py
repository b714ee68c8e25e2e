"""Add an optional ``binding_moment`` to a tool's output schema, and publish schemas without references.

Clients validate structured content against the published schema, so a closed schema is widened before the
envelope may be sent. The SDK publishes only schemas without ``$ref``, so references are inlined.

Source: draft-morrison-binding-moment-envelope-00, section 7.1; MCP, "Output Schema".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from pydantic import ConfigDict, RootModel

from emitter.decisions.envelope_parsing import MOMENT_FIELD
from emitter.errors import InputError
from emitter.messages import as_list, as_mapping
from emitter.models import BindingMoment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import BaseModel

    from emitter.messages import Json

LOCAL_REFERENCE: Final = "#/$defs/"


def inline_references(schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return a schema with its local ``$ref``s inlined. A recursive reference, which cannot be, allows anything."""
    definitions = as_mapping(schema.get("$defs"))
    return _inline_object({key: value for key, value in schema.items() if key != "$defs"}, definitions, ())


def _inline_node(node: Json, definitions: Mapping[str, Json], visited: tuple[str, ...]) -> Json:
    if isinstance(node, list):
        return [_inline_node(item, definitions, visited) for item in as_list(node)]
    return _inline_object(as_mapping(node), definitions, visited) if isinstance(node, dict) else node


def _inline_object(
    node: Mapping[str, Json], definitions: Mapping[str, Json], visited: tuple[str, ...]
) -> dict[str, Json]:
    name = node.get("$ref")
    if not isinstance(name, str):
        return {key: _inline_node(value, definitions, visited) for key, value in node.items()}
    siblings = {key: _inline_node(value, definitions, visited) for key, value in node.items() if key != "$ref"}
    if name in visited:
        return siblings
    target = _inline_node(definitions.get(name.removeprefix(LOCAL_REFERENCE)), definitions, (*visited, name))
    return {**as_mapping(target), **siblings}


def make_schema_type(schema: Mapping[str, Json]) -> type[BaseModel]:
    """Return a type that publishes ``schema`` and accepts every value, since the values were validated before."""
    inlined = inline_references(schema)

    class Published(RootModel[Any]):
        model_config = ConfigDict(title=inlined.get("title"))

        @classmethod
        def __get_pydantic_json_schema__(cls, _core: Any, _handler: Any) -> dict[str, Json]:
            return inlined

    return Published


_BRANCH_KEYWORDS = ("allOf", "anyOf", "oneOf")
_OPEN_ENDED_KEYWORDS = ("additionalProperties", "unevaluatedProperties")
_OPEN_VALUES: tuple[Json, ...] = (True, {})
_WHOLE_OBJECT_KEYWORDS = ("not", "if", "const", "enum", "dependentSchemas", "$dynamicRef")
"""Keywords about the whole object, whose meaning would change if a member were added."""
_NULL_SCHEMA: Json = {"type": "null"}


def _without_null(node: Json) -> Json:
    """Remove the null that pydantic allows for optional members, which the envelope does not."""
    if isinstance(node, list):
        return [_without_null(item) for item in as_list(node)]
    if not isinstance(node, dict):
        return node
    table = as_mapping(node)
    branches = [branch for branch in as_list(table.get("anyOf")) if branch != _NULL_SCHEMA]
    if len(branches) == 1:
        return _without_null(branches[0])
    return {key: _without_null(value) for key, value in table.items()}


ENVELOPE_SCHEMA: Final[Mapping[str, Json]] = as_mapping(
    _without_null(inline_references(BindingMoment.model_json_schema()))
)
"""The JSON Schema of an envelope, without references, as published for ``binding_moment``."""


def is_closed(schema: Mapping[str, Json]) -> bool:
    """Check whether a schema forbids or restricts members that it does not name."""
    return any(
        "maxProperties" in part
        or any(part.get(keyword, True) not in _OPEN_VALUES for keyword in (*_OPEN_ENDED_KEYWORDS, "propertyNames"))
        for part in _subschemas(schema, as_mapping(schema.get("$defs")), ())
    )


def widen_schema(schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return an output schema with an optional ``binding_moment``; raise ``InputError`` if it cannot be widened."""
    definitions = as_mapping(schema.get("$defs"))
    if schema.get("type", "object") != "object":
        raise InputError(f"The tool's output schema is not of an object, so {MOMENT_FIELD} cannot be added to it.")
    if any(MOMENT_FIELD in as_mapping(part.get("properties")) for part in _subschemas(schema, definitions, ())):
        raise InputError(f"The tool's result already has a member {MOMENT_FIELD}.", hint="Rename that member.")
    widened = _widen(schema, definitions, ())
    return {
        **widened,
        "type": "object",
        "properties": {**as_mapping(widened.get("properties")), MOMENT_FIELD: dict(ENVELOPE_SCHEMA)},
    }


def _subschemas(
    node: Mapping[str, Json], definitions: Mapping[str, Json], visited: tuple[str, ...]
) -> Iterator[Mapping[str, Json]]:
    """Yield every schema that applies to the whole object: the schema itself, its target and its branches."""
    resolved, visited = _resolve_reference(node, definitions, visited)
    yield resolved
    for keyword in _BRANCH_KEYWORDS:
        for branch in as_list(resolved.get(keyword)):
            yield from _subschemas(as_mapping(branch), definitions, visited)


def _resolve_reference(
    node: Mapping[str, Json], definitions: Mapping[str, Json], visited: tuple[str, ...]
) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Return a schema with its target merged in, and the references followed so far."""
    resolved = dict(node)
    while "$ref" in resolved:
        name = resolved.pop("$ref")
        if (
            name in visited
            or not str(name).startswith(LOCAL_REFERENCE)
            or name.removeprefix(LOCAL_REFERENCE) not in definitions
        ):
            raise InputError("The tool's output schema cannot be widened: a $ref is recursive or not local.")
        visited = (*visited, name)
        resolved = {**as_mapping(definitions[name.removeprefix(LOCAL_REFERENCE)]), **resolved}
    return resolved, visited


def _widen(node: Mapping[str, Json], definitions: Mapping[str, Json], visited: tuple[str, ...]) -> dict[str, Json]:
    schema, visited = _resolve_reference(node, definitions, visited)
    _check_widenable(schema)
    if any(schema.get(keyword, True) not in _OPEN_VALUES for keyword in _OPEN_ENDED_KEYWORDS):
        schema["properties"] = {**as_mapping(schema.get("properties")), MOMENT_FIELD: True}
    if "propertyNames" in schema:
        schema["propertyNames"] = {"anyOf": [{"const": MOMENT_FIELD}, schema["propertyNames"]]}
    if "maxProperties" in schema:
        schema["maxProperties"] += 1
    for keyword in _BRANCH_KEYWORDS:
        if keyword in schema:
            schema[keyword] = [_widen(as_mapping(branch), definitions, visited) for branch in as_list(schema[keyword])]
    return schema


def _check_widenable(schema: Mapping[str, Json]) -> None:
    patterns = as_mapping(schema.get("patternProperties"))
    has_match = any(re.search(pattern, MOMENT_FIELD) for pattern in patterns)
    if has_match or any(keyword in schema for keyword in _WHOLE_OBJECT_KEYWORDS):
        raise InputError(
            f"The tool's output schema cannot be widened: its patternProperties match {MOMENT_FIELD}, "
            f"or it uses {', '.join(_WHOLE_OBJECT_KEYWORDS)}.",
            hint="Return an object with named properties from the tool.",
        )
