"""JSON Schema drafts and the dialects next to them.

``SchemaDraft`` lists the keywords of a draft and the points where drafts differ. OpenAPI's ``nullable``, Google's
capitalized types and Python's regular expressions are rewritten as standard JSON Schema.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import jsonschema_rs

from emitter.messages import as_list, as_mapping
from emitter.schema.json_data import child_pointer
from emitter.schema.nodes import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.messages import Json

NAMED_SCHEMA_KEYWORDS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords whose value maps names to schemas."""
DATA_KEYWORDS = frozenset({"const", "enum", "default", "examples", "example"})
"""Keywords whose value is data and contains no schema."""
_DRAFT4 = frozenset(
    {"$ref", "type", "enum", "allOf", "anyOf", "oneOf", "not", "definitions", "format"}
    | {"properties", "required", "additionalProperties", "patternProperties", "dependencies"}
    | {"minProperties", "maxProperties", "items", "additionalItems", "minItems", "maxItems", "uniqueItems"}
    | {"minLength", "maxLength", "pattern"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
)
_DRAFT6 = _DRAFT4 | {"const", "contains", "propertyNames"}
_DRAFT7 = _DRAFT6 | {"if", "then", "else"}
_DRAFT2019 = (_DRAFT7 - {"dependencies"}) | {
    *("$defs", "$recursiveRef", "dependentRequired", "dependentSchemas", "minContains", "maxContains"),
    *("unevaluatedProperties", "unevaluatedItems"),
}
_DRAFT2020 = (_DRAFT2019 - {"additionalItems", "$recursiveRef"}) | {"prefixItems", "$dynamicRef"}


@dataclass(frozen=True)
class SchemaDraft:
    """One draft of JSON Schema. ``uri`` is the value of ``$schema``."""

    name: str
    uri: str
    validator: Any
    keywords: frozenset[str]
    ref_ignores_siblings: bool = False
    identifier: str = "$id"
    tuple_keyword: str = "items"
    rest_keyword: str = "additionalItems"


DRAFT4 = SchemaDraft(
    "draft4",
    "http://json-schema.org/draft-04/schema",
    jsonschema_rs.Draft4Validator,
    _DRAFT4,
    ref_ignores_siblings=True,
    identifier="id",
)
DRAFT6 = SchemaDraft(
    "draft6",
    "http://json-schema.org/draft-06/schema",
    jsonschema_rs.Draft6Validator,
    _DRAFT6,
    ref_ignores_siblings=True,
)
DRAFT7 = SchemaDraft(
    "draft7",
    "http://json-schema.org/draft-07/schema",
    jsonschema_rs.Draft7Validator,
    _DRAFT7,
    ref_ignores_siblings=True,
)
DRAFT201909 = SchemaDraft(
    "draft2019-09",
    "https://json-schema.org/draft/2019-09/schema",
    jsonschema_rs.Draft201909Validator,
    _DRAFT2019 | {"dependencies"},
)
DRAFT202012 = SchemaDraft(
    "draft2020-12",
    "https://json-schema.org/draft/2020-12/schema",
    jsonschema_rs.Draft202012Validator,
    _DRAFT2020 | {"dependencies"},
    tuple_keyword="prefixItems",
    rest_keyword="items",
)
_ALL_KEYWORDS = _DRAFT2020 | _DRAFT4 | {"title", "description", "$comment", "$schema", "$id", "id", "nullable"}
_BY_URI = {draft.uri: draft for draft in (DRAFT4, DRAFT6, DRAFT7, DRAFT201909, DRAFT202012)}


def has_keyword(schema: Mapping[str, Json]) -> bool:
    """Return whether a schema has a keyword of any draft. Without one, every document is valid."""
    return not _ALL_KEYWORDS.isdisjoint(schema) or not DATA_KEYWORDS.isdisjoint(schema)


def detect_draft(schema: Json) -> SchemaDraft:
    """Return the draft that ``$schema`` names, or 2020-12."""
    uri = str(as_mapping(schema).get("$schema"))
    return _BY_URI.get(uri.rstrip("#"), DRAFT202012)


_OPENAPI_PATTERN = re.compile(r'"nullable": true|"type": "(?:STRING|NUMBER|INTEGER|BOOLEAN|ARRAY|OBJECT|NULL)"')
_GOOGLE_TYPES = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})


def is_openapi(text: str) -> bool:
    """Return whether a schema, as JSON text, may use ``nullable`` or capitalized types."""
    return _OPENAPI_PATTERN.search(text) is not None


def convert_openapi(schema: Any) -> tuple[Any, list[Rule]]:
    """Return the schema as standard JSON Schema, and the types that were widened by null."""
    nullable_rules: list[Rule] = []

    def convert(node: dict[str, Any], pointer: str) -> dict[str, Any]:
        if isinstance(node.get("type"), str) and node["type"] in _GOOGLE_TYPES:
            node["type"] = node["type"].lower()
        if node.get("nullable") is True and isinstance(node.get("type"), str | list):
            types = as_list(node["type"]) or [node["type"]]
            nullable_rules.append(Rule(pointer, "type", node["type"]))
            node["type"] = types if "null" in types else [*types, "null"]
        return node

    return transform_schema(schema, convert), nullable_rules


def transform_schema(node: Any, change: Callable[[dict[str, Any], str], dict[str, Any]], pointer: str = "") -> Any:
    """Return a copy of a schema with ``change`` applied to every schema object and its pointer, innermost first."""
    if isinstance(node, list):
        items = cast("list[Any]", node)
        return [transform_schema(item, change, child_pointer(pointer, index)) for index, item in enumerate(items)]
    if not isinstance(node, dict):
        return node
    copy: dict[str, Any] = {}
    for keyword, value in cast("dict[str, Any]", node).items():
        place = child_pointer(pointer, keyword)
        if keyword in NAMED_SCHEMA_KEYWORDS and isinstance(value, dict):
            schemas = cast("dict[str, Any]", value)
            copy[keyword] = {
                name: transform_schema(schema, change, child_pointer(place, name)) for name, schema in schemas.items()
            }
        else:
            copy[keyword] = value if keyword in DATA_KEYWORDS else transform_schema(value, change, place)
    return change(copy, pointer)


@lru_cache(maxsize=4096)
def _pattern_validator(pattern: str) -> Any:
    return jsonschema_rs.validator_for({"pattern": pattern})


def pattern_matches(pattern: str, name: str) -> bool:
    """Return whether ``pattern`` is found in ``name``, as the validator reads it, in bounded time."""
    return bool(_pattern_validator(pattern).is_valid(name))


class RewrittenSchema(NamedTuple):
    """A schema that the validator can read, and the patterns that were removed from it."""

    schema: Any
    removed_rules: list[Rule]


_PYTHON_ANCHORS = {"A": "^", "Z": "$"}
_UNNAMED_PROPERTY_KEYWORDS = ("additionalProperties", "unevaluatedProperties")


def rewrite_patterns(schema: Any, draft: SchemaDraft) -> RewrittenSchema:
    """Return a schema without the patterns that the validator cannot read.

    Python's spellings are rewritten. Any other unreadable pattern moves into the description, for the model.
    """
    removed: list[Rule] = []

    def rewrite(node: dict[str, Any], pointer: str) -> dict[str, Any]:
        rules = [*_rewrite_pattern(node, pointer, draft), *_rewrite_name_patterns(node, pointer, draft)]
        if rules:
            words = ", ".join(f"{rule.keyword} {json.dumps(rule.value, ensure_ascii=False)}" for rule in rules)
            node["description"] = " ".join(filter(None, [str(node.get("description", "")), f"Must hold: {words}."]))
            removed.extend(rules)
        return node

    return RewrittenSchema(transform_schema(schema, rewrite), removed)


def _rewrite_pattern(node: dict[str, Any], pointer: str, draft: SchemaDraft) -> list[Rule]:
    """Rewrite or remove the ``pattern`` of a schema."""
    pattern = node.get("pattern")
    readable = _to_validator_syntax(pattern, draft) if isinstance(pattern, str) else pattern
    if readable is not None:
        node["pattern"] = readable
    elif pattern is not None:
        return [Rule(pointer, "pattern", node.pop("pattern"))]
    return []


def _rewrite_name_patterns(node: dict[str, Any], pointer: str, draft: SchemaDraft) -> list[Rule]:
    """Rewrite or remove name patterns. If one is removed, so are the rules for the remaining names."""
    patterns: Any = node.get("patternProperties")
    if not isinstance(patterns, dict):
        return []
    readable = {name: _to_validator_syntax(name, draft) for name in cast("dict[str, Any]", patterns)}
    node["patternProperties"] = {new: patterns[name] for name, new in readable.items() if new is not None}
    removed: dict[str, Any] = {name: patterns[name] for name, new in readable.items() if new is None}
    if not removed:
        return []
    # Without the pattern, these keywords would apply to the names that it matches.
    rest = [Rule(pointer, key, node.pop(key)) for key in _UNNAMED_PROPERTY_KEYWORDS if key in node]
    return [Rule(pointer, "patternProperties", removed), *rest]


def _to_validator_syntax(pattern: str, draft: SchemaDraft) -> str | None:
    """Return the pattern in the validator's syntax, or None if it cannot be written there."""
    rewritten = re.sub(r"\\(.)", lambda escape: _PYTHON_ANCHORS.get(escape[1], escape[0]), pattern)
    rewritten = re.sub(r"\(\?P=(\w+)\)", r"\\k<\1>", rewritten.replace("(?P<", "(?<"))
    return next((candidate for candidate in (pattern, rewritten) if _pattern_compiles(candidate, draft)), None)


def _pattern_compiles(pattern: str, draft: SchemaDraft) -> bool:
    try:
        draft.validator({"pattern": pattern})
    except ValueError:
        return False
    return True
