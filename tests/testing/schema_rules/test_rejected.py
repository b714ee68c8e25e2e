"""Every recorded rejection of a schema is foreseen by the checker of its vendor."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.testing import vendor_rules
from tests.shared import Line, lines
from tests.testing.schema_rules.corpora import checker
from tests.testing.schema_rules.shapes import TEXT, chosen, closed, many, nested

FORESEEN = {
    # OpenAI
    "additionalProperties_false_required": "object_must_be_closed",
    "all_properties_required": "all_properties_required",
    "all_properties_required_in_items": "all_properties_required",
    "all_properties_required_root": "all_properties_required",
    "object_needs_properties": "object_needs_properties",
    "root_type_object": "root_must_be_an_object",
    "root_must_be_object_array": "root_must_be_an_object",
    "root_ref_is_type_none": "root_must_be_an_object",
    "root_anyof_no_type": "root_must_not_be_a_union",
    "array_needs_items": "array_needs_items",
    "array_needs_items_in_type_list": "array_needs_items",
    "format_uri_invalid": "format_not_supported",
    "allof_nested_not_permitted": "keyword_not_supported",
    "missing_type_const_only": "type_missing",
    "missing_type_any": "type_missing",
    "missing_type_anyof_branch": "type_missing",
    "propertyNames_not_permitted_rf": "keyword_not_supported",
    "ref_only_to_top_level_definitions": "ref_only_to_top_level_definitions",
    "not_keyword_unsupported": "keyword_not_supported",
    "contains_not_permitted": "keyword_not_supported",
    "enum_must_match_type_null": "enum_must_fit_type",
    "enum_must_match_type_int": "enum_must_fit_type",
    "enum_must_match_type_object": "enum_must_fit_type",
    # Anthropic
    "max_16_union_params": "max_unions",
    "max_24_optional_params": "max_optional_properties",
    "grammar_complexity": "max_optional_of_one_object",
    "tool_root_not_boolean": "schema_must_be_an_object",
    "boolean_subschema_unsupported": "schema_must_be_an_object",
    "tool_root_type_required": "tool_root_must_be_an_object",
    "tool_root_type_object": "tool_root_must_be_an_object",
    "no_recursion": "recursion",
    "discriminator_beside_anyOf": "keyword_beside_anyOf",
    "allOf_beside_object_structure": "keyword_beside_allOf",
    "type_beside_anyOf": "keyword_beside_anyOf",
    "not_unsupported": "keyword_not_supported",
    "empty_schema_unsupported": "empty_schema",
    "prefixItems_unsupported": "keyword_not_supported",
    "if_then_else_unsupported": "keyword_not_supported",
    "dependentRequired_unsupported": "keyword_not_supported",
    "numeric_bounds_pair_unsupported": "keyword_not_supported",
    "number_bounds_unsupported": "keyword_not_supported",
    "minItems_gt_1_unsupported": "min_items_above_1",
    "minItems_gt_1_unsupported_tool": "min_items_above_1",
    "string_format_unsupported": "format_not_supported",
    "propertyNames_unsupported": "keyword_not_supported",
    "additionalProperties_true_unsupported": "object_must_be_closed",
    "additionalProperties_schema_unsupported": "object_must_be_closed",
    "additionalProperties_missing": "object_must_be_closed",
    "schema_type_missing": "type_missing",
    "enum_type_mismatch": "enum_beside_list_of_types",
    "tool_top_level_combinators": "tool_root_must_not_be_a_union",
    "tool_property_key_pattern": "tool_property_key",
    "tool_draft_2020_12": "keyword_malformed",
    "external_ref_unsupported": "ref_external",
    # Google
    "undefined_ref": "ref_undefined",
    "unknown_additionalProperties": "keyword_not_supported",
    "unknown_$schema": "keyword_not_supported",
    "unknown_const": "keyword_not_supported",
    "unknown_exclusiveMinimum": "keyword_not_supported",
    "vertex_parameters_unknown_$defs": "keyword_not_supported",
    "vertex_parameters_unknown_definitions": "keyword_not_supported",
    "vertex_parameters_unknown_examples": "keyword_not_supported",
    "vertex_parameters_unknown_readOnly": "keyword_not_supported",
    "vertex_parameters_unknown_writeOnly": "keyword_not_supported",
    "vertex_parameters_unknown_uniqueItems": "keyword_not_supported",
    "vertex_parameters_unknown_x-anything": "keyword_not_supported",
    "type_array": "type_must_be_one_name",
    "object_needs_nonempty_properties": "properties_must_not_be_empty",
    "properties_only_for_object": "properties_only_for_object",
    "type_required": "type_missing",
    "vertex_type_required": "type_missing",
    "anyOf_must_be_alone": "union_must_be_alone",
    "required_not_defined": "required_names_no_property",
    "enum_empty_string": "enum_value_must_not_be_empty",
    "tool_enum_empty_string": "enum_value_must_not_be_empty",
    "enum_only_string": "enum_only_for_string",
    "format_string": "format_not_supported",
    "items_missing": "array_needs_items",
}
"""From the rule of a rejection to ours."""

NOT_OF_THE_SCHEMA = {
    "max_20_strict_tools": "counts the tools of a request",
    "duplicate_function_names": "about names",
    "schema_name_required": "about the name beside the schema",
    "schema_name_pattern": "about the name beside the schema",
    "schema_name_too_long": "about the name beside the schema",
    "output_format_schema_required": "there is no schema",
    "model_lacks_structured_outputs": "about the model",
    "no_json_mime_with_function_calling": "about two fields of a request",
    "responses_uses_text_format": "about a field of the request",
    "no_response_format_in_gemini": "about a field of the request",
    "json_object_needs_word_json": "about the prompt",
    "grammar_too_large": "no schema was recorded, and the limit is hidden",
    "too_much_branching": "no schema was recorded, and no limit is published",
    "maxItems_budget": "no schema was recorded, and no limit is published",
    "nesting_depth": "no schema was recorded, and no limit is published",
    "tool_object_needs_nonempty_properties": "the very schema was taken elsewhere, by gemini-2.0-flash to 3.5",
}
"""Rules that no checker of schemas can foresee, each with its reason."""


OR_NULL = {"anyOf": [TEXT, {"type": "null"}]}
OPEN = {"type": "object", "properties": {"a": TEXT}, "additionalProperties": False}
TREE = {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}

REBUILT: dict[str, tuple[Any, Any, str]] = {
    "max_nesting_10": (vendor_rules.OPENAI.find_violations, nested(14), "max_nesting"),
    "max_properties_5000": (vendor_rules.OPENAI.find_violations, many(6000, TEXT), "max_properties"),
    "max_enum_values_1000": (vendor_rules.OPENAI.find_violations, chosen(1208), "max_enum_values"),
    "max_enum_values_500_old": (vendor_rules.AZURE_OPENAI.find_violations, chosen(501), "max_enum_values"),
    "max_enum_chars_15000": (vendor_rules.OPENAI.find_violations, chosen(300, 52), "max_characters_of_one_enum"),
    "union_count_output_config": (vendor_rules.ANTHROPIC.find_violations, many(49, OR_NULL), "max_unions"),
    "optional_count_output_config": (vendor_rules.ANTHROPIC.find_violations, many(46, OPEN), "max_optional_properties"),
    "recursive_500": (vendor_rules.GOOGLE.find_violations, TREE, "recursion_in_required"),
    "unknown_keyword_additionalProperties": (
        vendor_rules.GOOGLE_OPENAPI.find_violations,
        closed(a=TEXT),
        "keyword_not_supported",
    ),
}
"""Rejections whose schema was not recorded, with one that the message describes."""


@pytest.fixture(scope="module")
def rejections() -> list[Line]:
    """Read the recorded rejections."""
    return lines("schema_rejections.jsonl")


def test_every_rejection_is_accounted_for(rejections: list[Line]) -> None:
    """Each rule of the corpus is foreseen, rebuilt, or none of the schema's; and no table holds another."""
    tables = (FORESEEN, REBUILT, NOT_OF_THE_SCHEMA)

    assert {each["rule"] for each in rejections} == set().union(*tables)
    assert sum(map(len, tables)) == len(set().union(*tables))


@pytest.mark.parametrize(("recorded", "rule"), FORESEEN.items(), ids=FORESEEN)
def test_a_rejected_schema_breaks_the_rule_that_it_was_rejected_for(
    rejections: list[Line], recorded: str, rule: str
) -> None:
    """The checker of the vendor and the surface tells a fitting rule."""
    for each in [each for each in rejections if each["rule"] == recorded]:
        assert rule in {found.rule for found in checker(each["vendor"], each["surface"])(each["schema"])}, each["id"]


@pytest.mark.parametrize(("broken", "schema", "rule"), REBUILT.values(), ids=REBUILT)
def test_a_schema_like_the_rejected_one_breaks_the_rule(broken: Any, schema: object, rule: str) -> None:
    """What a message describes is reported, and nothing else is wrong with it."""
    assert {each.rule for each in broken(schema)} == {rule}
