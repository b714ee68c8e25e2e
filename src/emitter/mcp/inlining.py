"""A JSON Schema in one piece, and a type that publishes it.

An SDK publishes the schema that pydantic makes of a tool's return annotation, and pydantic takes no ``$ref`` in a
schema that it did not make itself; so what the references name is written out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pydantic import ConfigDict, RootModel

from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

    from emitter.wire import Json

LOCAL: Final = "#/$defs/"


def inlined(schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return a schema with what its ``$ref``s name written out; where a type holds itself, anything is allowed."""
    definitions = mapping(schema.get("$defs"))
    return _table({key: each for key, each in schema.items() if key != "$defs"}, definitions, ())


def _written(node: Json, definitions: Mapping[str, Json], within: tuple[str, ...]) -> Json:
    if isinstance(node, list):
        return [_written(each, definitions, within) for each in sequence(node)]
    return _table(mapping(node), definitions, within) if isinstance(node, dict) else node


def _table(node: Mapping[str, Json], definitions: Mapping[str, Json], within: tuple[str, ...]) -> dict[str, Json]:
    name = node.get("$ref")
    if not isinstance(name, str):
        return {key: _written(each, definitions, within) for key, each in node.items()}
    beside = {key: _written(each, definitions, within) for key, each in node.items() if key != "$ref"}
    if name in within:
        return beside
    found = _written(definitions.get(name.removeprefix(LOCAL)), definitions, (*within, name))
    return {**mapping(found), **beside}


def published(schema: Mapping[str, Json]) -> type[BaseModel]:
    """Return a type whose schema is ``schema`` in one piece, and which takes every value.

    What a tool returns was held to the tool's own type before, and the envelope to its own.
    """
    whole = inlined(schema)

    class Published(RootModel[Any]):
        model_config = ConfigDict(title=whole.get("title"))

        @classmethod
        def __get_pydantic_json_schema__(cls, _core: Any, _handler: Any) -> dict[str, Json]:
            return whole

    return Published
