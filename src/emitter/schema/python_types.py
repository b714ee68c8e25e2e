"""Generate JSON Schemas from Python types and parse documents into their values.

Any type that pydantic's ``TypeAdapter`` accepts can be used. The generated schema adds the names of enum members and
the precise formats of dates and times. What a JSON Schema does not say, such as which field distinguishes the members
of a union, is read from pydantic's core schema of the type.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Generator, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from enum import Enum
from functools import lru_cache, partial
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticSerializationError, SchemaError, SchemaSerializer, to_json, to_jsonable_python

from emitter.errors import InputError, Uncompilable
from emitter.schema.results import ParseResult, violations_from_pydantic
from emitter.schema.validator import property_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic_core import core_schema

    from emitter.messages import Json
    from emitter.schema.message_redaction import SourceText

T = TypeVar("T")
DEFAULT_NAME = "document"
_MAX_NAME_LENGTH = 64
_CACHE_SIZE = 256
"""The number of types whose schemas are cached. Generating one takes at least half a millisecond."""
_LAZY_TYPES = (Iterable, Iterator, Generator)
_SCHEMA_EXPECTED = "a schema is a JSON Schema as a dict, or a type such as a pydantic model"


@dataclass(frozen=True, slots=True)
class SchemaSource(Generic[T]):
    """A schema with a name that every provider accepts, and functions to parse and dump values.

    ``parse`` converts a document that is valid for ``schema`` to a value, and ``dump`` converts it back. Unless
    ``is_python_type``, values are the documents themselves. Otherwise ``parse`` takes a ``ValidationContext``, too.
    """

    schema: Mapping[str, Json] | bool
    name: str
    parse: Callable[..., ParseResult[T]]
    dump: Callable[[T], Json]
    is_python_type: bool


@dataclass(frozen=True, slots=True)
class ValidationContext:
    """Pydantic's validation context, and its texts before the first call, which validators' messages may repeat."""

    value: object
    text: SourceText


def resolve_schema(schema_or_type: object) -> SchemaSource[Any]:
    """Return the schema of a Python type or JSON Schema. Raises ``Uncompilable`` for anything else."""
    if isinstance(schema_or_type, Mapping | bool):
        schema = cast("Mapping[str, Json] | bool", schema_or_type)
        title = None if isinstance(schema, bool) else schema.get("title")
        return SchemaSource(
            schema, _to_schema_name(title), ParseResult, lambda document: document, is_python_type=False
        )
    _reject_value(schema_or_type)
    return (
        _source_of_type(schema_or_type)
        if isinstance(schema_or_type, Hashable)
        else _source_of_type.__wrapped__(schema_or_type)
    )


def _reject_value(schema_or_type: object) -> None:
    """Raise ``Uncompilable`` for a value where a type belongs."""
    kind = type(schema_or_type)
    if isinstance(schema_or_type, BaseModel) or (is_dataclass(schema_or_type) and kind is not type):
        raise Uncompilable("", f"pass the class {kind.__name__}, not an instance of it")
    order = "; emit takes the form first, and then the prompt" if isinstance(schema_or_type, str | list) else ""
    if isinstance(schema_or_type, list | tuple | set | frozenset):
        raise Uncompilable("", f"{_SCHEMA_EXPECTED}, or list[...] of one; this is of type {kind.__name__}{order}")
    # pydantic reads a function as the type of its arguments, and would call it with the values of the answer.
    if schema_or_type is None or isinstance(schema_or_type, str | bytes | int | float | FunctionType | MethodType):
        raise Uncompilable("", f"{_SCHEMA_EXPECTED}; this is of type {kind.__name__}{order}")


@lru_cache(maxsize=_CACHE_SIZE)
def _source_of_type(kind: object) -> SchemaSource[Any]:
    adapter, schema = build_adapter(kind)
    names = property_names(schema)
    aliases = find_aliases(adapter)
    dump: Any = make_serializer(adapter).to_python if aliases.has_differing else adapter.dump_python
    return SchemaSource(
        schema=schema,
        name=_to_schema_name(schema.get("title") or (kind.__name__ if isinstance(kind, type) else None)),
        parse=partial(_parse_document, adapter, names, by_name=aliases.has_nested),
        # As in documents: without computed fields, and with embedded JSON as text.
        dump=partial(dump, mode="json", by_alias=True, round_trip=True, warnings="error"),
        is_python_type=True,
    )


def build_adapter(kind: object) -> tuple[TypeAdapter[Any], dict[str, Any]]:
    """Return pydantic's adapter of a type, and its JSON Schema; raise ``Uncompilable`` if there is none.

    An ``Iterable``, ``Iterator`` or ``Generator`` is a list. Inside a type it is an ``InputError``, because pydantic
    would validate its items only when they are read.
    """
    if (get_origin(kind) or kind) in _LAZY_TYPES:
        kind = cast("Any", list)[(*get_args(kind), Any)[0]]
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(cast("Any", kind))
        schema = generate_json_schema(adapter)
    except (PydanticUserError, PydanticUndefinedAnnotation, SchemaError, TypeError, RecursionError) as error:
        raise Uncompilable("", _describe_refusal(kind, error)) from error
    if place := find_generator(adapter.core_schema):
        raise InputError(f"{place} is an iterable that is read lazily, so it is not validated.", hint="Use list[...].")
    return adapter, schema


_UNREADABLE_TYPE = re.compile(
    r"Unable to generate pydantic-core schema for (?:<class '(?:[^']*\.)?(\w+)'>|(.+?))\. Set "
)


def _describe_refusal(kind: object, error: Exception) -> str:
    """Return why pydantic has no JSON Schema of a type, and what to use instead."""
    reason = str(error).strip().partition("\n")[0]
    unreadable = _UNREADABLE_TYPE.match(reason)
    if unreadable is None:
        name = getattr(kind, "__name__", None) or type(kind).__name__
        return f"pydantic can make no JSON Schema of {name}: {reason}; {_SCHEMA_EXPECTED}"
    # The settings that pydantic advises accept instances, which a model cannot write.
    name = unreadable[1] or unreadable[2]
    return (
        f"pydantic can make no JSON Schema of {name}: it reads the fields of dataclasses, TypedDicts, NamedTuples and "
        "pydantic models, and not those of other classes, such as attrs'; declare the same fields in one of these, for "
        "example with @dataclasses.dataclass in place of @attrs.define"
    )


def _parse_document(
    adapter: TypeAdapter[Any],
    names: frozenset[str],
    document: Json,
    *,
    by_name: bool,
    context: ValidationContext | None = None,
) -> ParseResult[Any]:
    """Parse as JSON, so that strict types accept JSON's representation of other types.

    ``by_name`` also reads a field by its own name, if its alias leads into another object.
    """

    def source_text() -> SourceText:
        text = _validator_source_text(adapter)
        return text if context is None else text + context.text

    given = None if context is None else context.value
    try:
        value = adapter.validate_json(to_json_text(document), by_alias=True, by_name=by_name or None, context=given)
    except ValidationError as error:
        return ParseResult(violations=violations_from_pydantic(error, document, names, source_text))
    return ParseResult(value)


def to_json_text(document: Json) -> bytes | str:
    """Return a document as JSON text."""
    try:
        return to_json(document)
    except PydanticSerializationError:  # too deep for this writer
        return json.dumps(document)


@lru_cache(maxsize=_CACHE_SIZE)
def _validator_source_text(adapter: TypeAdapter[Any]) -> SourceText:
    """Return the source text of a type's validators."""
    from emitter.schema.message_redaction import collect_source_text  # noqa: PLC0415  few documents reach pydantic invalid

    return collect_source_text(*_iter_validator_functions(adapter.core_schema))


def _iter_validator_functions(core_schema: object) -> Iterator[object]:
    """Yield the functions that pydantic calls, including ``__post_init__`` and ``model_post_init``."""
    for node in iter_nodes(core_schema):
        if callable(node.get("function")):
            yield node["function"]
        if "cls" in node:
            yield from (getattr(node["cls"], hook, None) for hook in ("__post_init__", "model_post_init"))


def _to_schema_name(title: object) -> str:
    """Return a name that every provider accepts: letters, digits, ``_`` and ``-``, starting with a letter."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", title).strip("_") if isinstance(title, str) else ""
    if not plain:
        return DEFAULT_NAME
    return (plain if plain[0].isalpha() else f"{DEFAULT_NAME}_{plain}")[:_MAX_NAME_LENGTH]


ENUM_NAMES_KEYWORD = "x-enum-varnames"
"""The keyword for the names of enum members."""
_WORD_PATTERN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_DATETIME_FORMATS = {"aware": "date-time", "naive": "date-time-local"}
_BYTES_FORMATS = {"base64": "base64url", "hex": "hex"}
_FIELD_TYPES = frozenset({"model-field", "dataclass-field", "typed-dict-field"})


def is_name_informative(name: str, value: object) -> bool:
    """Return whether the name of a value contains words that the value does not."""
    return not _words(name) <= _words(value if isinstance(value, str) else json.dumps(value))


def _words(text: str) -> set[str]:
    return {each.casefold() for each in _WORD_PATTERN.findall(text)}


@dataclass
class FieldAliases:
    """Differences between the names of fields in documents and in pydantic."""

    has_nested: bool = False
    """A field is read only from inside another (``AliasPath``), so it is read by its name instead."""
    has_differing: bool = False
    """A field is read and written under different names."""


class JsonSchemaGenerator(GenerateJsonSchema):
    """Generates the JSON Schema. A default that is not JSON is omitted without a warning."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012  the shape is pydantic's

    _union_tags: frozenset[int] = frozenset()

    def generate(self, schema: Any, mode: Any = "validation") -> dict[str, Any]:
        """Find the fields that distinguish the members of unions first."""
        self._union_tags = find_union_tags(schema)
        return super().generate(schema, mode)

    def field_is_required(self, field: Any, total: bool) -> bool:  # noqa: FBT001  the signature is pydantic's
        """Require the fields that distinguish the members of a union, even if they have a default."""
        return id(field) in self._union_tags or super().field_is_required(field, total)

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  the signature is pydantic's
        """Omit titles that repeat the name of a field."""
        return False

    def enum_schema(self, schema: core_schema.EnumSchema) -> dict[str, Any]:
        """Add the names of the members."""
        members: Mapping[str, Enum] = schema["cls"].__members__
        return _with_member_names(super().enum_schema(schema), members.items())

    def literal_schema(self, schema: core_schema.LiteralSchema) -> dict[str, Any]:
        """Add the names of enum members among the literals."""
        members = (value for value in schema["expected"] if isinstance(value, Enum))
        return _with_member_names(super().literal_schema(schema), ((member.name, member) for member in members))

    def dict_schema(self, schema: core_schema.DictSchema) -> dict[str, Any]:
        """Write enum keys as the strings that they are in JSON."""
        generated = super().dict_schema(schema)
        property_names: Any = generated.get("propertyNames")
        key_schema = self.resolve_ref_schema(property_names) if property_names else {}
        values = cast("list[Any]", key_schema.get("enum", ()))
        if any(not isinstance(value, str) for value in values):
            texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
            names = {ENUM_NAMES_KEYWORD: key_schema[ENUM_NAMES_KEYWORD]} if ENUM_NAMES_KEYWORD in key_schema else {}
            generated["propertyNames"] = {"enum": texts, **names}
        return generated

    def named_tuple_schema(self, schema: Any) -> dict[str, Any]:
        """Add the field names as titles of the items."""
        generated = super().named_tuple_schema(schema)
        for field, item in zip(schema["fields"], generated.get("prefixItems", ()), strict=True):
            item.setdefault("title", field["name"])
        return generated

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> dict[str, Any]:
        """Add a format, because both a number and a string are accepted."""
        generated = super().decimal_schema(schema)
        for branch in (generated, *generated.get("anyOf", ())):
            if branch.get("type") == "string":
                branch["format"] = "decimal"
        return generated

    def time_schema(self, schema: core_schema.TimeSchema) -> dict[str, Any]:
        """Require no UTC offset, which pydantic does not need."""
        return {**super().time_schema(schema), "format": "iso-time"}

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> dict[str, Any]:
        """Require a UTC offset only if the type does."""
        constraint = schema.get("tz_constraint")
        name = "date-time" if isinstance(constraint, int) else _DATETIME_FORMATS.get(str(constraint), "iso-date-time")
        return {**super().datetime_schema(schema), "format": name}

    def bytes_schema(self, schema: core_schema.BytesSchema) -> dict[str, Any]:
        """Name the encoding for reading, not for writing."""
        return {
            **super().bytes_schema(schema),
            "format": _BYTES_FORMATS.get(str(self._config.val_json_bytes), "binary"),
        }


def _with_member_names(schema: dict[str, Any], members: Iterable[tuple[str, Enum]]) -> dict[str, Any]:
    """Return the schema of an enum with the names of its members, if they are informative."""
    names_by_value: dict[str, list[str]] = {}
    for name, member in members:  # an alias has the value of another member
        names_by_value.setdefault(json.dumps(to_jsonable_python(member.value)), []).append(name)
    values = [schema["const"]] if "const" in schema else cast("list[Any]", schema.get("enum", []))
    names = [" or ".join(names_by_value.get(json.dumps(value), ())) for value in values]
    is_informative = any(name and is_name_informative(name, value) for name, value in zip(names, values, strict=True))
    return {**schema, ENUM_NAMES_KEYWORD: names} if is_informative else schema


def generate_json_schema(adapter: TypeAdapter[Any]) -> dict[str, Any]:
    """Return the JSON Schema for parsing documents."""
    return adapter.json_schema(mode="validation", by_alias=True, schema_generator=JsonSchemaGenerator)


def find_aliases(adapter: TypeAdapter[Any]) -> FieldAliases:
    """Return the aliases of a type's fields."""
    aliases = FieldAliases()
    _with_input_names(adapter.core_schema, aliases)
    return aliases


def make_serializer(adapter: TypeAdapter[Any]) -> SchemaSerializer:
    """Return a serializer that writes the names that are read."""
    schema = _with_input_names(adapter.core_schema, FieldAliases())
    return SchemaSerializer(schema, None, False)


def _with_input_names(node: Any, aliases: FieldAliases) -> Any:
    """Return a core schema whose fields are written under their input names, and record differences."""
    if isinstance(node, list | tuple):
        items = (_with_input_names(item, aliases) for item in cast("list[Any]", node))
        return list(items) if isinstance(node, list) else tuple(items)
    if not isinstance(node, dict):
        return node
    table = cast("dict[str, Any]", node)
    copy = {key: value if key == "metadata" else _with_input_names(value, aliases) for key, value in table.items()}
    fields: Any = copy.get("fields")
    if isinstance(fields, dict):
        copy["fields"] = {
            name: _rename_field(name, field, aliases) for name, field in cast("dict[str, Any]", fields).items()
        }
    elif isinstance(fields, list):
        copy["fields"] = [_rename_field(None, field, aliases) for field in cast("list[Any]", fields)]
    return copy


def _rename_field(key: str | None, field: Any, aliases: FieldAliases) -> Any:
    table: dict[str, Any] = cast("dict[str, Any]", field) if isinstance(field, dict) else {}
    if table.get("type") not in _FIELD_TYPES:
        return cast("object", field)
    name: str = table["name"] if key is None else key
    alias = input_name(name, table)
    aliases.has_nested |= alias is None
    alias = name if alias is None else alias
    aliases.has_differing |= alias != table.get("serialization_alias", name)
    return {**table, "serialization_alias": alias}


DATA_KEYS = frozenset({"metadata", "serialization", "config", "default", "expected", "members"})
"""The members of a core schema that contain no schemas of documents."""
_UNION_TYPES = frozenset({"union", "tagged-union"})


def find_union_tags(core_schema: object) -> frozenset[int]:
    """Return the ``id`` of each field that has other values in another member of the same union.

    Such a field usually has its only value as its default. If it were optional, a document without it could be read
    as any member.
    """
    nodes = list(iter_nodes(core_schema))
    definitions = {node["ref"]: node for node in nodes if "ref" in node}
    return frozenset(tag for node in nodes if node["type"] in _UNION_TYPES for tag in _tags_of_union(node, definitions))


def find_generator(core_schema: object) -> str | None:
    """Return the place of an ``Iterable``, which pydantic would read lazily, such as ``Team.people``."""
    nodes = list(iter_nodes(core_schema))
    if not any(map(_is_generator, nodes)):
        return None
    places = [
        f"{node['cls'].__name__}.{name}"
        for node in nodes
        if "cls" in node
        for name, field in _iter_fields(node, {}, set())
        if any(map(_is_generator, iter_nodes(field)))
    ]
    return places[-1] if places else "A part of the type"


def _is_generator(node: Mapping[str, Any]) -> bool:
    return bool(node["type"] == "generator")


def iter_nodes(core_schema: object) -> Iterator[Mapping[str, Any]]:
    """Yield all schemas in a core schema."""
    match core_schema:
        case Mapping():  # not always a dict, for a model with ``defer_build``
            node = cast("Mapping[str, Any]", core_schema)
            if is_schema := isinstance(node.get("type"), str):  # else a mapping of fields or choices
                yield node
            for key, value in node.items():
                if not (is_schema and key in DATA_KEYS):
                    yield from iter_nodes(value)
        case list() | tuple():
            for each in cast("list[object]", core_schema):
                yield from iter_nodes(each)
        case _:
            return


def input_name(name: str, field: Mapping[str, Any]) -> str | None:
    """Return the name of a field in documents, or None if it is only read from inside another."""
    alias: Any = field.get("validation_alias", name)
    if isinstance(alias, str):
        return alias
    # pydantic's JSON Schema uses the first alias that is a name and not a path into another member, too.
    paths = [cast("list[Any]", path) for path in alias if isinstance(path, list)]
    return next((path[0] for path in paths if len(path) == 1 and isinstance(path[0], str)), None)


def _tags_of_union(union: Mapping[str, Any], definitions: dict[str, Mapping[str, Any]]) -> Iterator[int]:
    values_by_name: dict[str | None, dict[int, frozenset[str]]] = defaultdict(dict)
    for name, field in _iter_fields(union, definitions, set()):
        if values := _literal_values(field["schema"], definitions):
            values_by_name[input_name(name, field)][id(field)] = values
    for fields in values_by_name.values():
        yield from (key for key, values in fields.items() if any(map(values.isdisjoint, fields.values())))


def _iter_fields(
    node: Mapping[str, Any], definitions: dict[str, Mapping[str, Any]], visited: set[int]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the fields of all objects that a value of this schema may be, with their names."""
    if id(node) in visited:
        return
    visited.add(id(node))
    match node:
        case {"type": "model-fields" | "typed-dict", "fields": fields}:
            yield from fields.items()
        case {"type": "dataclass-args", "fields": fields}:
            yield from ((field["name"], field) for field in fields)
        case _:
            for each in _inner_schemas(node, definitions):
                yield from _iter_fields(each, definitions, visited)


def _inner_schemas(node: Mapping[str, Any], definitions: dict[str, Mapping[str, Any]]) -> list[Any]:
    """Return the schemas of the same value."""
    match node:
        case {"type": "tagged-union", "choices": choices}:
            return list(choices.values())
        case {"type": "union", "choices": choices}:
            return [choice[0] if isinstance(choice, tuple) else choice for choice in choices]
        case {"type": "definition-ref", "schema_ref": name} if name in definitions:
            return [definitions[name]]
        case {"schema": inner}:
            return [inner]
        case _:
            return []


def _literal_values(node: Mapping[str, Any], definitions: dict[str, Mapping[str, Any]]) -> frozenset[str]:
    """Return the values of a literal or enum as JSON, or nothing for another schema."""
    match node:
        case {"type": "literal", "expected": values} | {"type": "enum", "members": values}:
            return frozenset(json.dumps(to_jsonable_python(value)) for value in values)
        case {"type": "definition-ref", "schema_ref": name} if name in definitions:
            return _literal_values(definitions[name], definitions)
        case {"type": str(kind), "schema": inner} if kind != "nullable":
            return _literal_values(inner, definitions)
        case _:
            return frozenset()
