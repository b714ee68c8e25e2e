"""The laws of the compiler on schemas that nobody wrote, and its totality on values that are none."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter import profiles as profile
from emitter.errors import Uncompilable, Unencodable
from emitter.schema import compile_schema
from tests.schema.proof.laws import Subject, prove
from tests.schema.proof.strategies import NAMES, SCALARS, VALUES, cases
from tests.testing.schema_rules.test_total import HOSTILE
from tests.work import covering, examples

LAWS = ("accepted", "decodable", "sound", "faithful", "checked", "total")

BOUNDED = {name: schema for name, schema in HOSTILE.items() if name != "doubling"}
"""Without what only an object in memory can be: as JSON, the doubled schema would have 2^45 parts."""

often = settings(max_examples=examples(70))

KEYWORDS = (
    *("type", "enum", "const", "properties", "required", "additionalProperties", "patternProperties", "propertyNames"),
    *("minProperties", "dependentRequired", "dependentSchemas", "dependencies", "unevaluatedProperties", "items"),
    *("prefixItems", "additionalItems", "contains", "minContains", "minItems", "uniqueItems", "unevaluatedItems"),
    *("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref", "$dynamicRef", "$recursiveRef", "$defs"),
    *("definitions", "$id", "id", "$anchor", "$dynamicAnchor", "$schema", "$vocabulary", "pattern", "format"),
    *("minLength", "multipleOf", "minimum", "exclusiveMinimum", "default", "description", "title", "contentEncoding"),
)
WORDS = st.sampled_from(
    ("object", "array", "string", "integer", "#", "#/$defs/a", "#/properties/a", "#x", "http:", "[", "(?=a)", "uri")
)
NONSENSE: st.SearchStrategy[Any] = st.recursive(
    SCALARS | WORDS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4)
        | st.dictionaries(NAMES, inner, max_size=3)
    ),
    max_leaves=16,
)


@st.composite
def nearly(draw: Any) -> Any:
    """Draw a schema in which one keyword somewhere has nonsense for a value."""
    schema = deepcopy(draw(cases()).schema)  # strategies hand out the same objects again
    places = [schema]
    for each in places:
        inside = each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
        places.extend(inside)
    tables = [each for each in places if isinstance(each, dict)]
    if tables:
        table = draw(st.sampled_from(tables))
        table[draw(st.sampled_from((*table, *KEYWORDS)))] = draw(NONSENSE)
    return schema


def endure(schema: Any, name: str, values: list[Any]) -> None:
    """Compile, and hand every value to every function of what came out."""
    try:
        compiled = compile_schema(schema, name)
    except Uncompilable as error:
        assert error.reason  # noqa: PT017  no test expects one
        return
    for value in values:
        compiled.decode(value)
        compiled.validate(value)
        try:
            compiled.encode(value)
        except Unencodable as error:
            assert error.reason  # noqa: PT017  likewise


@pytest.mark.parametrize("law", LAWS)
@given(case=cases(), name=st.sampled_from(profile.profile_names()))
@often
def test_a_law_holds_for_any_schema(law: str, case: Any, name: str) -> None:
    """Whatever the keywords and their nesting, the law holds or the schema is refused with a place and a reason."""
    report = prove(Subject(case), name, samples=4)

    assert [each for each in report.failures if each.law == law] == []


@given(schema=NONSENSE | nearly(), name=st.sampled_from(profile.profile_names()), values=st.lists(VALUES, max_size=3))
@settings(often, max_examples=examples(400))
def test_any_value_is_compiled_or_refused(schema: Any, name: str, values: list[Any]) -> None:
    """Nothing but a refusal is raised for keywords with nonsense in them, and for what is no schema at all."""
    endure(schema, name, values)


@given(case=cases(), name=st.sampled_from(profile.profile_names()), values=st.lists(VALUES, max_size=4))
@often
def test_any_document_is_decoded(case: Any, name: str, values: list[Any]) -> None:
    """What a model writes without being held is decoded, checked and encoded without another error."""
    endure(case.schema, name, [*values, {"entries": values}, {"value": values}, [values]])


@pytest.mark.parametrize("value", [{"$ref": None}, {"$ref": "#/nowhere"}, {"minimum": 3}], ids=str)
def test_a_value_that_looks_like_a_schema_is_a_value(value: Any) -> None:
    """What an enum lists has no keywords, so none of them is lost, and no reference of it is followed."""
    tree: Any = {"type": "object", "properties": {"value": {"enum": [value]}}, "required": ["value"]}
    tree["properties"]["more"] = {"type": "array", "items": {"$ref": "#/$defs/tree"}}
    schema = {"$ref": "#/$defs/tree", "$defs": {"tree": tree}}

    endure(schema, "anthropic", [{"value": value}])
    losses = [(loss.pointer, loss.keyword) for loss in compile_schema(schema, "anthropic").losses]
    assert [each for each in losses if each[0].startswith("/$defs/tree/properties/value")] == [
        ("/$defs/tree/properties/value", "enum")
    ]


@pytest.mark.parametrize(("schema", "name"), covering(BOUNDED.values(), ("openai", "anthropic", "google"), strength=1))
def test_hostile_schemas_are_answered(schema: Any, name: str) -> None:
    """Depth, width and references are bounded."""
    endure(schema, name, [{}])


@given(case=cases(), name=st.sampled_from(profile.profile_names()))
@often
def test_compiling_again_says_the_same(case: Any, name: str) -> None:
    """The same schema yields the same wire schema and losses, and is not changed."""
    before = repr(case.schema)
    try:
        one, other = (compile_schema(each, name) for each in (case.schema, case.schema))
    except Uncompilable:
        return

    assert (one.schema, one.losses, one.enforced) == (other.schema, other.losses, other.enforced)
    assert repr(case.schema) == before
