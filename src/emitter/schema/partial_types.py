"""Read incomplete documents as values of a type whose missing parts are None.

The caller's validators do not run on them, because they are written for complete values.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, cast

from pydantic_core import SchemaValidator

from emitter.schema.core_schemas import DATA_KEYS, find_union_tags
from emitter.schema.python_types import build_adapter, find_aliases, to_json_text

if TYPE_CHECKING:
    from emitter.messages import Json


def make_partial_reader(schema_or_type: object) -> Callable[[Json], Any]:
    """Return the function that reads an incomplete document as a value of a type.

    It raises ``ValidationError`` if there is no such value yet. Documents of a JSON Schema are returned as they are.
    """
    if isinstance(schema_or_type, Mapping | bool):
        return lambda document: document
    if isinstance(schema_or_type, Hashable):
        return _reader_of_type(schema_or_type)
    return _reader_of_type.__wrapped__(schema_or_type)


@lru_cache(maxsize=256)
def _reader_of_type(kind: object) -> Callable[[Json], Any]:
    adapter, _ = build_adapter(kind)
    # The third argument keeps pydantic from using the validators of the models themselves.
    validator = SchemaValidator(_relax(adapter.core_schema, find_union_tags(adapter.core_schema)), None, False)
    return partial(_read, validator, by_name=find_aliases(adapter).has_nested)


def _read(validator: SchemaValidator, document: Json, *, by_name: bool) -> Any:
    return validator.validate_json(to_json_text(document), by_alias=True, by_name=by_name or None)


_CALLER_HOOKS = frozenset({"post_init", "custom_init"})
_FIELD_TYPES = frozenset({"model-field", "dataclass-field", "typed-dict-field"})
_COLLECTIONS = frozenset({"list", "set", "frozenset", "dict"})


def _relax(node: Any, tags: frozenset[int], *, in_union: bool = False) -> Any:
    """Return a core schema for incomplete documents: nothing is required, and what is not valid is left out.

    ``in_union`` is true for the members of a union. They still require their literals, and those in ``tags`` lose
    their defaults, because they tell the members apart.
    """
    if isinstance(node, list | tuple):
        return [_relax(each, tags, in_union=in_union) for each in cast("list[Any]", node)]
    if not isinstance(node, Mapping):
        return node
    table = cast("Mapping[str, Any]", node)
    kind = str(table.get("type"))
    if kind.startswith("function-") and not _is_of_pydantic(table["function"]["function"]):
        inner = _relax(table["schema"], tags, in_union=in_union) if "schema" in table else {"type": "none"}
        return {**inner, "ref": table["ref"]} if "ref" in table else inner
    within = kind == "union" or (in_union and kind not in _COLLECTIONS | _FIELD_TYPES)
    is_schema = isinstance(table.get("type"), str)  # else a mapping of fields or choices
    relaxed: dict[str, Any] = {
        key: value if is_schema and key in DATA_KEYS else _relax(value, tags, in_union=within)
        for key, value in table.items()
        if not (is_schema and key in _CALLER_HOOKS)
    }
    if kind in _FIELD_TYPES:
        is_required = in_union and _is_literal(relaxed["schema"])
        relaxed |= _relax_field(kind, relaxed["schema"], is_tag=id(table) in tags, is_required=is_required)
    elif kind == "arguments":  # of a named tuple
        relaxed["arguments_schema"] = [
            {**each, **_relax_field(kind, each["schema"])} for each in relaxed["arguments_schema"]
        ]
    elif kind in _COLLECTIONS:
        relaxed.pop("min_length", None)
        for items in relaxed.keys() & {"items_schema", "values_schema"}:
            relaxed[items] = _without_errors(relaxed[items])
    return relaxed


def _relax_field(
    kind: str, schema: dict[str, Any], *, is_tag: bool = False, is_required: bool = False
) -> dict[str, Any]:
    """Return the members of a field that is None, or missing in a TypedDict, while it is not complete and valid."""
    if is_tag:
        return {"required": True} if kind == "typed-dict-field" else {"schema": _without_default(schema)}
    if is_required:
        return {}
    if kind == "typed-dict-field":
        return {"required": False, "schema": _without_errors(schema)}
    return {"schema": {"type": "default", "schema": _without_default(schema), "default": None, "on_error": "default"}}


def _without_errors(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value that is left out if it is not valid."""
    return {"type": "default", "schema": schema, "on_error": "omit"}


def _is_literal(schema: dict[str, Any]) -> bool:
    return _without_default(schema)["type"] in {"literal", "enum"}


def _without_default(schema: dict[str, Any]) -> dict[str, Any]:
    inner: dict[str, Any] = schema["schema"] if schema["type"] == "default" else schema
    return inner


def _is_of_pydantic(function: Any) -> bool:
    module = getattr(getattr(function, "func", function), "__module__", None) or ""
    return module.partition(".")[0] in {"pydantic", "pydantic_core"}
