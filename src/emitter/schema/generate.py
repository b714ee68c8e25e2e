"""The JSON Schema of a Python type, with what pydantic's own leaves out and a model needs to know.

Added are the names of enum members, the names of a named tuple's items, and formats that say whether a time has an
offset from UTC. Titles that only repeat a field's name are left out.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, cast

from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import SchemaSerializer, to_jsonable_python

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pydantic import TypeAdapter
    from pydantic_core import core_schema

NAMES = "x-enum-varnames"
"""The keyword under which the names of an enum's members stand beside their values."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_OFFSETS = {"aware": "date-time", "naive": "date-time-local"}
_BYTES = {"base64": "base64url", "hex": "hex"}
_FIELDS = frozenset({"model-field", "dataclass-field", "typed-dict-field"})


def names_tell_more(name: str, value: object) -> bool:
    """Tell whether the name of a constant says more than its value."""
    return not _words(name) <= _words(value if isinstance(value, str) else json.dumps(value))


def _words(text: str) -> set[str]:
    return {each.casefold() for each in _WORD.findall(text)}


@dataclass
class Aliases:
    """Fields that a document names otherwise than pydantic reads or writes them."""

    nested: bool = False
    """A field is read only from inside another (``AliasPath``), so it is read by its name instead."""
    differing: bool = False
    """A field is written under another name than it is read by."""


class TypeSchema(GenerateJsonSchema):
    """Writes the JSON Schema; leaves out without a warning a default that is no JSON, for models are not told code."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012  the shape is pydantic's

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  the signature is pydantic's
        """Set no title that repeats the name of a field."""
        return False

    def enum_schema(self, schema: core_schema.EnumSchema) -> dict[str, Any]:
        """Add the names of the members."""
        named: Mapping[str, Enum] = schema["cls"].__members__
        return _named(super().enum_schema(schema), named.items())

    def literal_schema(self, schema: core_schema.LiteralSchema) -> dict[str, Any]:
        """Add the names of enum members among the literals."""
        members = (each for each in schema["expected"] if isinstance(each, Enum))
        return _named(super().literal_schema(schema), ((each.name, each) for each in members))

    def dict_schema(self, schema: core_schema.DictSchema) -> dict[str, Any]:
        """Write keys that are listed as the texts that they are in JSON."""
        found = super().dict_schema(schema)
        keys: Any = found.get("propertyNames")
        listed = self.resolve_ref_schema(keys) if keys else {}
        values = cast("list[Any]", listed.get("enum", ()))
        if any(not isinstance(each, str) for each in values):
            texts = [each if isinstance(each, str) else json.dumps(each) for each in values]
            names = {NAMES: listed[NAMES]} if NAMES in listed else {}
            found["propertyNames"] = {"enum": texts, **names}
        return found

    def named_tuple_schema(self, schema: Any) -> dict[str, Any]:
        """Give each item its field's name for a title."""
        found = super().named_tuple_schema(schema)
        for named, item in zip(schema["fields"], found.get("prefixItems", ()), strict=True):
            item.setdefault("title", named["name"])
        return found

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> dict[str, Any]:
        """Say which of number and text is wanted."""
        found = super().decimal_schema(schema)
        for each in (found, *found.get("anyOf", ())):
            if each.get("type") == "string":
                each["format"] = "decimal"
        return found

    def time_schema(self, schema: core_schema.TimeSchema) -> dict[str, Any]:
        """Ask for no offset: pydantic takes a time without one."""
        return {**super().time_schema(schema), "format": "iso-time"}

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> dict[str, Any]:
        """Ask for an offset only where the type demands one."""
        constraint = schema.get("tz_constraint")
        named = "date-time" if isinstance(constraint, int) else _OFFSETS.get(str(constraint), "iso-date-time")
        return {**super().datetime_schema(schema), "format": named}

    def bytes_schema(self, schema: core_schema.BytesSchema) -> dict[str, Any]:
        """Name the encoding in which bytes are read, not that in which they are written."""
        return {**super().bytes_schema(schema), "format": _BYTES.get(str(self._config.val_json_bytes), "binary")}


def _named(found: dict[str, Any], members: Iterable[tuple[str, Enum]]) -> dict[str, Any]:
    """Return a schema of listed values with the members' names beside them, if any says more than its value."""
    names: dict[str, list[str]] = {}
    for name, member in members:
        names.setdefault(json.dumps(to_jsonable_python(member.value)), []).append(name)
    values = [found["const"]] if "const" in found else cast("list[Any]", found.get("enum", []))
    listed = [" or ".join(names.get(json.dumps(each), ())) for each in values]
    more = any(name and names_tell_more(name, each) for name, each in zip(listed, values, strict=True))
    return {**found, NAMES: listed} if more else found


def schema_of_type(adapter: TypeAdapter[Any]) -> dict[str, Any]:
    """Return the JSON Schema of a type, as documents are read."""
    return adapter.json_schema(mode="validation", by_alias=True, schema_generator=TypeSchema)


def aliases_of(adapter: TypeAdapter[Any]) -> Aliases:
    """Return what is to be known of the names of a type's fields."""
    found = Aliases()
    _renamed(adapter.core_schema, found)
    return found


def writer_of(adapter: TypeAdapter[Any]) -> SchemaSerializer:
    """Return what writes values under the names by which they are read."""
    schema = _renamed(adapter.core_schema, Aliases())
    return SchemaSerializer(schema, None, False)


def _renamed(node: Any, found: Aliases) -> Any:
    """Return a core schema whose fields are written under the names that documents have, and note what differs."""
    if isinstance(node, list | tuple):
        inside = (_renamed(each, found) for each in cast("list[Any]", node))
        return list(inside) if isinstance(node, list) else tuple(inside)
    if not isinstance(node, dict):
        return node
    table = cast("dict[str, Any]", node)
    copy = {key: each if key == "metadata" else _renamed(each, found) for key, each in table.items()}
    fields: Any = copy.get("fields")
    if isinstance(fields, dict):
        copy["fields"] = {name: _field(name, each, found) for name, each in cast("dict[str, Any]", fields).items()}
    elif isinstance(fields, list):
        copy["fields"] = [_field(None, each, found) for each in cast("list[Any]", fields)]
    return copy


def _field(named: str | None, given: Any, found: Aliases) -> Any:
    table: dict[str, Any] = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    if table.get("type") not in _FIELDS:
        return cast("object", given)
    name: str = table["name"] if named is None else named
    alias: Any = table.get("validation_alias", name)
    plain = alias if isinstance(alias, str) else _first_member_name(cast("list[Any]", alias))
    read_as = name if plain is None else plain
    found.nested |= plain is None
    found.differing |= read_as != table.get("serialization_alias", name)
    return {**table, "serialization_alias": read_as}


def _first_member_name(paths: list[Any]) -> str | None:
    """Return the first alias that is the name of a member here; pydantic's JSON Schema has the same one."""
    listed = [cast("list[Any]", path) for path in paths if isinstance(path, list)]
    return next((path[0] for path in listed if len(path) == 1 and isinstance(path[0], str)), None)
