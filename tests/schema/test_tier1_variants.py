"""The linter of variants: no ``oneOf``, and branches that one field tells apart."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.schema import VariantEdition
from tests.schema.tier1 import NULL, ONE_OF, STRING, UNTAGGED, closed, nested, untagged


def tagged(**changes: Any) -> dict[str, Any]:
    """Return a branch with a discriminator, which ``changes`` may spoil."""
    return closed(kind={"type": "string", "enum": ["a"], **changes})


FIRST = [("#/anyOf/0", UNTAGGED)]
# name: (the first of two branches, the other one being discriminated; found by v1; found by v2)
BRANCHES = {
    "tagged": (tagged(), [], []),
    "tag in a type list": (tagged(type=["string"]), FIRST, FIRST),
    "tag of two values": (tagged(enum=["a", "b"]), FIRST, FIRST),
    "tag of no value": (tagged(enum=[]), FIRST, FIRST),
    "integer tag": (tagged(type="integer", enum=[1]), FIRST, FIRST),
    "const tag": (closed(kind={"type": "string", "const": "a"}), FIRST, FIRST),
    "tag not required": ({**tagged(), "required": []}, FIRST, FIRST),
    "tag beside an unknown name": ({**tagged(), "required": ["gone", "kind"]}, [], []),
    "nullable object": ({"type": ["object", "null"]}, FIRST, FIRST),
    "only properties": ({"properties": {}}, FIRST, FIRST),
    "only required": ({"required": ["a"]}, FIRST, FIRST),
    "reference": ({"$ref": "#/$defs/a"}, [], []),
    "reference with a type": ({"$ref": "#/$defs/a", "type": "string"}, [], []),
    "null": (NULL, FIRST, []),
    "scalar": (STRING, FIRST, []),
    "anything": ({}, FIRST, []),
    "not a schema object": (True, FIRST, []),
}


@pytest.mark.parametrize(("branch", "by_v1", "by_v2"), BRANCHES.values(), ids=BRANCHES.keys())
def test_which_branches_lack_a_discriminator(branch: Any, by_v1: list[Any], by_v2: list[Any]) -> None:
    """A required string with one allowed value; v2 asks it only of branches that can be confused."""
    schema = {"anyOf": [branch, tagged()]}

    assert untagged(schema, VariantEdition.V1) == by_v1
    assert untagged(schema, VariantEdition.V2) == by_v2


VARIANTS = {
    "one object beside null": ({"anyOf": [closed(), NULL]}, []),
    "two objects beside null": (
        {"anyOf": [closed(), NULL, closed()]},
        [("#/anyOf/0", UNTAGGED), ("#/anyOf/2", UNTAGGED)],
    ),
    "a union in a branch": (
        {"anyOf": [{"anyOf": [closed(), closed()]}]},
        [("#/anyOf/0/anyOf/0", UNTAGGED), ("#/anyOf/0/anyOf/1", UNTAGGED)],
    ),
    "oneOf at the root": ({"oneOf": []}, [("#", ONE_OF)]),
    "oneOf as a property's name": (closed(oneOf=STRING), [("#/properties", ONE_OF)]),
    "oneOf in an example": ({"examples": [{"a/b": {"oneOf": 1}}]}, [("#/examples/0/a~1b", ONE_OF)]),
    "oneOf deeper than the subset goes": (nested(9, {"oneOf": []}), [("#" + "/properties/n" * 9, ONE_OF)]),
    "a union that is no list": ({"anyOf": {"a": closed(), "b": closed()}}, []),
}


@pytest.mark.parametrize(("schema", "expected"), VARIANTS.values(), ids=VARIANTS.keys())
def test_variants_are_looked_for_at_every_json_position(schema: Any, expected: list[tuple[str, str]]) -> None:
    """Wherever they stand, also where no schema is meant: the suite does not tell these apart."""
    assert untagged(schema, VariantEdition.V2) == expected
