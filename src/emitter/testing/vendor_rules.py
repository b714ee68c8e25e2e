"""The schema dialects of OpenAI, Azure OpenAI, Anthropic and Google.

They come from the vendors' documentation and from recorded rejections. They are independent of the schema compiler,
so that each can be tested against the other.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from emitter.messages import as_list
from emitter.testing import schema_rules
from emitter.testing.schema_rules import SchemaDialect, measure_nesting, order_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.testing.schema_rules import NodePath, NodeRule, SchemaNode, SchemaTree, SchemaViolation, TreeRule

# "definitions" is not listed; OpenAI's own helper for Node writes it.
OPENAI_STRUCTURE_KEYWORDS = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf"}
    | {"$ref", "$defs", "definitions", "$schema", "title", "description"}
)
_OPENAI_BOUND_KEYWORDS = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems"}
)
_OPENAI_KEYWORDS = OPENAI_STRUCTURE_KEYWORDS | _OPENAI_BOUND_KEYWORDS | {"pattern", "format", "default"}
_OPENAI_LOOKAROUND = re.compile(r"\(\?<?[=!]")
_OPENAI_TOP_LEVEL_REF = re.compile(r"#(/(\$defs|definitions)/[^/]+)?")
_OPENAI_LONG_ENUM = 250


def check_openai_root(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Require ``type: object`` at the root, and forbid ``anyOf`` there."""
    if not node.path and node.members.get("type") != "object":
        yield node.make_violation("root_must_be_an_object")
    if not node.path and "anyOf" in node.members:
        yield node.make_violation("root_must_not_be_a_union")


def check_openai_object_properties(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Require ``properties`` for objects, even if there are none."""
    if "object" in node.types and "properties" not in node.members:
        yield node.make_violation("object_needs_properties")


def check_openai_all_required(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Require every property; an optional one is a union with null."""
    for name in node.properties:
        if name not in node.required:
            yield node.make_violation("all_properties_required", name)


def check_openai_refs(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Allow references to the root and to its definitions only."""
    reference = node.members.get("$ref", "#")
    if isinstance(reference, str) and not _OPENAI_TOP_LEVEL_REF.fullmatch(reference):
        yield node.make_violation("ref_only_to_top_level_definitions", reference)


def limit_openai_enum_characters(limit: int) -> NodeRule:
    """Limit the characters of all strings in an enum of more than 250 values."""

    def rule(node: SchemaNode) -> Iterator[SchemaViolation]:
        values = as_list(node.members.get("enum"))
        if len(values) > _OPENAI_LONG_ENUM and sum(len(value) for value in values if isinstance(value, str)) > limit:
            yield node.make_violation("max_characters_of_one_enum", f"at most {limit}")

    return rule


def limit_openai_totals(
    *, nesting: int, properties: int, enum_values: int, characters: int
) -> tuple[TreeRule, TreeRule, TreeRule, TreeRule]:
    """Limit the measures of the whole schema."""
    return (
        schema_rules.limit_total(nesting, "max_nesting", measure_nesting),
        schema_rules.limit_total(properties, "max_properties", schema_rules.count_properties),
        schema_rules.limit_total(enum_values, "max_enum_values", schema_rules.count_enum_values),
        schema_rules.limit_total(characters, "max_characters", schema_rules.count_characters),
    )


OPENAI_NODE_RULES = (
    check_openai_root,
    schema_rules.check_schema_is_object,
    schema_rules.check_keyword_values(_OPENAI_KEYWORDS),
    schema_rules.check_known_types,
    schema_rules.require_type_unless("anyOf", "$ref"),
    schema_rules.check_object_closed,
    check_openai_object_properties,
    check_openai_all_required,
    schema_rules.check_required_names,
    schema_rules.check_array_items,
    schema_rules.check_enum_types,
    schema_rules.allow_ref_siblings(frozenset()),
    check_openai_refs,
)
"""The rules of every model that accepts strict schemas."""
OPENAI = SchemaDialect(
    keywords=_OPENAI_KEYWORDS,
    node_rules=(
        *OPENAI_NODE_RULES,
        schema_rules.allow_keywords(_OPENAI_KEYWORDS),
        schema_rules.allow_formats(schema_rules.STRING_FORMATS),
        schema_rules.forbid_in_pattern(_OPENAI_LOOKAROUND),
        limit_openai_enum_characters(15_000),
    ),
    tree_rules=(
        schema_rules.check_refs_resolve,
        *limit_openai_totals(nesting=10, properties=5_000, enum_values=1_000, characters=120_000),
    ),
)
AZURE_OPENAI = SchemaDialect(
    keywords=OPENAI_STRUCTURE_KEYWORDS,
    node_rules=(
        *OPENAI_NODE_RULES,
        schema_rules.allow_keywords(OPENAI_STRUCTURE_KEYWORDS),
        limit_openai_enum_characters(7_500),
    ),
    tree_rules=(
        schema_rules.check_refs_resolve,
        *limit_openai_totals(nesting=5, properties=100, enum_values=500, characters=15_000),
    ),
)
_ANTHROPIC_ANNOTATIONS = frozenset({"title", "description", "default", "$defs"})
_ANTHROPIC_KEYWORD_TYPES = {
    **dict.fromkeys(("properties", "required", "additionalProperties"), "object"),
    **dict.fromkeys(("items", "minItems"), "array"),
    **dict.fromkeys(("pattern", "format"), "string"),
}
_ANTHROPIC_COMBINATORS = ("anyOf", "allOf", "$ref")
_ANTHROPIC_KEYWORDS = _ANTHROPIC_ANNOTATIONS | frozenset(
    {"type", "enum", "const", *_ANTHROPIC_KEYWORD_TYPES, *_ANTHROPIC_COMBINATORS}
)
# Lookaround, back references by number and by name, word boundaries, and counts above 99: the documentation only
# forbids "big" counts, without a number.
_ANTHROPIC_REFUSED_PATTERNS = re.compile(r"\(\?<?[=!]|\\[1-9]|\\k|\(\?P=|\\[bB]|\{\d{3,}|,\d{3,}\}")
_ANTHROPIC_PROPERTY_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_ANTHROPIC_MAX_OBJECT_OPTIONALS = 23
"""Recorded: 24 in one object are too complex, although 24 in several tools are accepted."""


def check_anthropic_not_empty(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Forbid ``{}``."""
    if node.schema == {}:
        yield node.make_violation("empty_schema")


def check_anthropic_combinators(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Allow annotations only next to ``anyOf``, ``allOf`` and ``$ref``."""
    for combinator in _ANTHROPIC_COMBINATORS:
        if combinator in node.members:
            siblings = [
                keyword for keyword in node.members if keyword not in _ANTHROPIC_ANNOTATIONS and keyword != combinator
            ]
            yield from (
                node.make_violation(f"keyword_beside_{combinator.removeprefix('$')}", keyword) for keyword in siblings
            )


def check_anthropic_keyword_types(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Forbid keywords that belong to another type."""
    for keyword in node.members:
        if node.types and keyword in _ANTHROPIC_KEYWORD_TYPES and _ANTHROPIC_KEYWORD_TYPES[keyword] not in node.types:
            yield node.make_violation("keyword_of_another_type", keyword)


def check_anthropic_min_items(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Forbid ``minItems`` above 1."""
    if node.members.get("minItems", 0) not in (0, 1):
        yield node.make_violation("min_items_above_1")


def check_anthropic_primitive_constants(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Forbid objects and arrays in ``enum`` and ``const``."""
    if any(isinstance(value, dict | list) for value in schema_rules.get_constants(node)):
        yield node.make_violation("enum_of_primitives_only")


def check_anthropic_enum_type(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Forbid ``enum`` and ``const`` next to a list of types, even if the values match (recorded)."""
    if isinstance(node.members.get("type"), list) and schema_rules.get_constants(node):
        yield node.make_violation("enum_beside_list_of_types")


def check_anthropic_object_optionals(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Limit the optional properties of one object."""
    if len(node.properties.keys() - node.required) > _ANTHROPIC_MAX_OBJECT_OPTIONALS:
        yield node.make_violation("max_optional_of_one_object", f"at most {_ANTHROPIC_MAX_OBJECT_OPTIONALS}")


def check_anthropic_no_ref_in_all_of(tree: SchemaTree) -> Iterator[SchemaViolation]:
    """Forbid references as branches of ``allOf``."""
    for path, node in tree.nodes.items():
        if len(path) > 1 and path[-2] == "allOf" and path[:-2] in tree.nodes and "$ref" in node.members:
            yield node.make_violation("ref_in_all_of")


def count_anthropic_optionals(tree: SchemaTree) -> int:
    """Count the optional properties of all objects."""
    return sum(len(node.properties.keys() - node.required) for node in tree.nodes.values())


def count_anthropic_unions(tree: SchemaTree) -> int:
    """Count the nodes with a list of types or ``anyOf``."""
    return sum(isinstance(node.members.get("type"), list) or "anyOf" in node.members for node in tree.nodes.values())


def check_anthropic_tool_root(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Require ``type: object`` and valid property names at the root of a tool input, and forbid unions there."""
    if node.path:
        return
    if node.members.get("type") != "object":
        yield node.make_violation("tool_root_must_be_an_object")
    for combinator in ("anyOf", "allOf", "oneOf"):
        if combinator in node.members:
            yield node.make_violation("tool_root_must_not_be_a_union", combinator)
    for name in node.properties:
        if not _ANTHROPIC_PROPERTY_KEY.fullmatch(name):
            yield node.make_violation("tool_property_key", name)


ANTHROPIC = SchemaDialect(
    keywords=_ANTHROPIC_KEYWORDS,
    node_rules=(
        schema_rules.check_schema_is_object,
        check_anthropic_not_empty,
        schema_rules.check_keyword_values(_ANTHROPIC_KEYWORDS),
        schema_rules.check_known_types,
        schema_rules.require_type_unless("enum", "const", *_ANTHROPIC_COMBINATORS),
        schema_rules.allow_keywords(_ANTHROPIC_KEYWORDS),
        check_anthropic_combinators,
        check_anthropic_keyword_types,
        schema_rules.check_object_closed,
        schema_rules.allow_formats(schema_rules.STRING_FORMATS | {"uri"}),
        schema_rules.forbid_in_pattern(_ANTHROPIC_REFUSED_PATTERNS),
        check_anthropic_min_items,
        check_anthropic_primitive_constants,
        schema_rules.check_enum_types,
        check_anthropic_enum_type,
        check_anthropic_object_optionals,
    ),
    tree_rules=(
        schema_rules.check_refs_resolve,
        schema_rules.check_no_recursion,
        check_anthropic_no_ref_in_all_of,
        schema_rules.limit_total(24, "max_optional_properties", count_anthropic_optionals),
        schema_rules.limit_total(16, "max_unions", count_anthropic_unions),
    ),
)
ANTHROPIC_TOOL = replace(ANTHROPIC, node_rules=(check_anthropic_tool_root, *ANTHROPIC.node_rules))
_GOOGLE_KEYWORDS = frozenset(
    {"$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum"}
    | {"items", "prefixItems", "minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf"}
    | {"properties", "additionalProperties", "required", "propertyOrdering"}
)
_GOOGLE_FORMATS = frozenset({"date-time", "date", "time"})
# Documented: only keywords that start with $. Recorded: a title next to the reference of the root is accepted, too.
_GOOGLE_REF_SIBLINGS = frozenset({"$id", "$defs", "$anchor", "$schema", "title"})


def check_google_enum_values(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Allow only strings and numbers in ``enum``."""
    values = node.members.get("enum")
    if not all(schema_rules.get_json_types(value) & {"string", "number"} for value in as_list(values)):
        yield node.make_violation("enum_of_strings_and_numbers_only")


def check_google_recursion(tree: SchemaTree) -> Iterator[SchemaViolation]:
    """Forbid cycles in which every property is required. A nullable property does not break the cycle."""

    def is_required(node: SchemaNode, child: NodePath) -> bool:
        return child[len(node.path)] != "properties" or child[-1] in node.required

    cyclic = order_nodes(tree.make_edges(follow=is_required))[1]
    yield from (tree.nodes[path].make_violation("recursion_in_required") for path in cyclic)


def find_google_ignored_keywords(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Report keywords that have no effect."""
    yield from (
        node.make_violation("keyword_ignored", keyword) for keyword in node.members if keyword not in _GOOGLE_KEYWORDS
    )


GOOGLE = SchemaDialect(
    keywords=_GOOGLE_KEYWORDS,
    node_rules=(
        schema_rules.check_schema_is_object,
        schema_rules.check_keyword_values(_GOOGLE_KEYWORDS),
        schema_rules.check_known_types,
        check_google_enum_values,
        schema_rules.allow_ref_siblings(_GOOGLE_REF_SIBLINGS),
    ),
    tree_rules=(schema_rules.check_refs_resolve, check_google_recursion),
)
GOOGLE_IGNORED = SchemaDialect(
    keywords=_GOOGLE_KEYWORDS,
    node_rules=(find_google_ignored_keywords, schema_rules.allow_formats(_GOOGLE_FORMATS, "format_ignored")),
)
_GOOGLE_OPENAPI_UNIONS = ("anyOf", "any_of")
_GOOGLE_OPENAPI_KEYWORDS = frozenset(
    {"type", "format", "title", "description", "nullable", "default", "example", "enum", "pattern"}
    | {"items", "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength"}
    | {
        "properties",
        "required",
        "minProperties",
        "maxProperties",
        "propertyOrdering",
        "property_ordering",
        *_GOOGLE_OPENAPI_UNIONS,
    }
)


def check_google_openapi_type(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Require one type name, in upper or lower case."""
    type_value = node.members.get("type", "null")
    if not isinstance(type_value, str) or type_value.lower() not in schema_rules.JSON_TYPES:
        yield node.make_violation("type_must_be_one_name")


def check_google_openapi_union(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Forbid keywords next to a union."""
    if set(_GOOGLE_OPENAPI_UNIONS) & set(node.members) and len(node.members) > 1:
        yield node.make_violation("union_must_be_alone")


def check_google_openapi_properties(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Allow ``properties`` for objects only, and forbid empty ones below the root (recorded: accepted at the root)."""
    if "properties" in node.members and "object" not in node.types:
        yield node.make_violation("properties_only_for_object")
    if node.path and node.members.get("properties") == {}:
        yield node.make_violation("properties_must_not_be_empty")


def check_google_openapi_enum(node: SchemaNode) -> Iterator[SchemaViolation]:
    """Allow ``enum`` for strings only, and forbid empty values."""
    if "enum" in node.members and "string" not in node.types:
        yield node.make_violation("enum_only_for_string")
    if "" in schema_rules.get_constants(node):
        yield node.make_violation("enum_value_must_not_be_empty")


GOOGLE_OPENAPI = SchemaDialect(
    keywords=_GOOGLE_OPENAPI_KEYWORDS,
    node_rules=(
        schema_rules.check_schema_is_object,
        schema_rules.check_keyword_values(_GOOGLE_OPENAPI_KEYWORDS),
        check_google_openapi_type,
        schema_rules.require_type_unless(*_GOOGLE_OPENAPI_UNIONS),
        schema_rules.allow_keywords(_GOOGLE_OPENAPI_KEYWORDS),
        check_google_openapi_union,
        check_google_openapi_properties,
        schema_rules.check_required_names,
        schema_rules.check_array_items,
        check_google_openapi_enum,
        schema_rules.allow_formats(frozenset({"enum", "date-time"})),
    ),
)
