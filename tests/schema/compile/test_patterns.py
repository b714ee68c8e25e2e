"""Patterns that the validator cannot read: rewritten where they can be, otherwise reported and not checked."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.schema import Uncompilable, compile_schema
from tests.schema.compile.forms import DRAFT7, TEXT, WHOLE, closed
from tests.schema.compile.lens import ALL, OPENAI, UNSUPPORTED, broken, lost

BAD = "["


@pytest.mark.parametrize("vendor", ALL)
def test_one_bad_pattern_does_not_refuse_the_schema(vendor: str) -> None:
    """It is told where it stands, named as a loss, and the rest is enforced and checked."""
    schema = closed(a={"type": "string", "pattern": BAD, "description": "D."}, b=WHOLE)
    compiled = compile_schema(schema, vendor)
    form: Any = compiled.schema
    assert broken(compiled, vendor) == []
    assert form["properties"]["a"]["description"] == 'D. Must hold: pattern "[".'
    assert form["properties"]["b"] == WHOLE
    assert lost(compiled) == {("/properties/a", "pattern", UNSUPPORTED)}
    assert compiled.original == schema
    assert compiled.validate({"a": "x", "b": 1}) == ()
    assert compiled.validate({"a": "x", "b": "1"}) != ()


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        pytest.param(r"\A[0-9]+\Z", "12", "12x", id="ends"),
        pytest.param(r"^(?P<n>[a-z])\Z", "a", "ab", id="named-group"),
        pytest.param(r"^\\Z$", "\\Z", "Z", id="backslash"),
    ],
)
def test_what_python_writes_otherwise_is_checked(pattern: str, good: str, bad: str) -> None:
    """Its meaning has a spelling that the validator reads."""
    compiled = compile_schema(closed(a={"type": "string", "pattern": pattern}), OPENAI)
    assert compiled.losses == ()
    assert compiled.validate({"a": good}) == ()
    assert compiled.validate({"a": bad}) != ()


def test_a_bad_pattern_for_names() -> None:
    """What is said of all other names cannot be held either, since nobody knows which they are."""
    schema = {"type": "object", "patternProperties": {BAD: WHOLE, "^x": TEXT}, "additionalProperties": False}
    compiled = compile_schema(schema, OPENAI)
    assert {("", "patternProperties", UNSUPPORTED), ("", "additionalProperties", UNSUPPORTED)} <= lost(compiled)
    assert compiled.validate({"y": 1, "x": "a"}) == ()
    assert compiled.validate({"x": 1}) != ()


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param(closed(pattern=TEXT, a={"type": "string", "pattern": BAD}), id="a-property-of-this-name"),
        pytest.param(closed(a={"enum": [{"pattern": BAD}]}, b={"pattern": BAD}), id="a-value"),
        pytest.param({**DRAFT7, **closed(a={"pattern": BAD})}, id="an-older-draft"),
        pytest.param({"$ref": "#/$defs/t", "$defs": {"t": closed(a={"pattern": BAD})}}, id="a-definition"),
        pytest.param(closed(a={"anyOf": [{"pattern": BAD}, WHOLE]}), id="a-branch"),
    ],
)
def test_wherever_it_stands(schema: Any) -> None:
    """Only patterns are taken for patterns."""
    compiled = compile_schema(schema, OPENAI)
    assert [each.keyword for each in compiled.losses if each.keyword == "pattern"] == ["pattern"]


def test_what_is_wrong_besides_is_refused() -> None:
    """A bad pattern hides no other mistake."""
    with pytest.raises(Uncompilable, match="/properties/b/type"):
        compile_schema(closed(a={"pattern": BAD}, b={"type": "nothing"}), OPENAI)
