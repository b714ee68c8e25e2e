"""However a schema multiplies, the work stays bounded; work is counted in calls, not in seconds."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from typing import Any

import pytest

from emitter.errors import Uncompilable
from emitter.schema import compile_schema
from tests.schema.compile.forms import DRAFT7, TEXT, WHOLE, Form, array, closed, either, refer
from tests.schema.compile.lens import ALL, OPENAI, broken
from tests.schema.compile.work import at_most
from tests.work import FULL, covering

CALLS = 3_000_000
"""Half as much again as the hardest of these takes; most take a hundredth."""


def chained(levels: int, link: Any) -> Form:
    """Return definitions of which each is made of references to the next."""
    last = {f"d{levels}": closed(a=TEXT)}
    return {**refer("d0"), "$defs": {f"d{each}": link(refer(f"d{each + 1}")) for each in range(levels)} | last}


def deep(levels: int, around: Any) -> Any:
    """Return a schema nested so deep."""
    schema: Any = TEXT
    for _ in range(levels):
        schema = around(schema)
    return schema


def unions(count: int) -> list[Form]:
    """Return so many unions that hold together."""
    return [either({"properties": {f"a{each}": TEXT}}, {"properties": {f"b{each}": WHOLE}}) for each in range(count)]


BOMBS: dict[str, Any] = {
    "properties": chained(60, lambda each: closed(a=each, b=each)),
    "allOf": chained(60, lambda each: {"allOf": [each, each]}),
    "anyOf": chained(30, lambda each: either(each, each)),
    "oneOf": chained(12, lambda each: {"oneOf": [closed(a=each), closed(b=each), each]}),
    "items": chained(60, lambda each: {"type": "array", "prefixItems": [each, each]}),
    "not": chained(60, lambda each: {"allOf": [{"not": each}, {"not": each}]}),
    "if": chained(60, lambda each: {"if": each, "then": each, "else": each}),
    "unions-together": {"type": "object", "allOf": unions(30)},
    "unions-of-unions": deep(
        10 if FULL else 8, lambda each: {"type": "object", "anyOf": [each, {"properties": {"p": each}}]}
    ),
    "sets-of-definitions": {
        "$ref": "#/$defs/A",
        "$defs": {
            name: {
                "properties": {
                    side: {"allOf": [refer(each) for each in to]} for side, to in zip("ab", pair, strict=True)
                }
            }
            for name, pair in zip("ABCDEFG", ["BA", "CD", "DE", "AF", "GB", "CE", "FA"], strict=True)
        },
    },
    "many-branches": {"oneOf": [closed(k={"const": f"v{each}"}, x=WHOLE) for each in range(400)]},
    "million-letters-property": closed(**{"x" * 1_000_000: TEXT}),
    "million-letters-definition": {**closed(a=refer("x" * 1_000_000)), "$defs": {"x" * 1_000_000: closed(a=TEXT)}},
    "million-letters-value": closed(a={"const": "x" * 1_000_000}),
    "million-letters-description": {"description": "x" * 1_000_000, **closed(a=TEXT)},
    "catastrophic-names": {
        "type": "object",
        "properties": {"a" * 40 + "!": TEXT},
        "patternProperties": {"^(a+)+$": TEXT, "(x+x+)+y": TEXT, "^(?=(a+)+b)": TEXT, "^(a|a)*b": TEXT},
    },
    "catastrophic-pattern": closed(a={"type": "string", "pattern": "^(a+)+$", "enum": ["a" * 40 + "!", "a"]}),
    "pattern-of-braces": closed(a={"type": "string", "pattern": r"\{" + "1," * 20_000}),
}


@pytest.mark.parametrize(("name", "vendor"), covering(BOMBS, ALL, strength=1))
def test_a_schema_that_multiplies_is_compiled_in_bounded_work(name: str, vendor: str) -> None:
    """It has a form within the vendor's rules, stands in the prompt, or is refused."""
    compiled = None
    with at_most(CALLS), suppress(Uncompilable):
        compiled = compile_schema(BOMBS[name], vendor)

    assert compiled is None or not compiled.enforced or broken(compiled, vendor) == []


def catalogue(count: int) -> Form:
    """Return definitions that refer to each other, of a usual size, such as those of Kubernetes: 900 bytes each."""
    described = {**TEXT, "description": "A description of usual length, as generators write them for each property."}

    def definition(number: int) -> Form:
        targets = [{"$ref": f"#/definitions/T{(number * 7 + step * 13 + 1) % count}"} for step in range(4)]
        maps = {"type": "object", "additionalProperties": targets[2]}
        fields = {"a": targets[0], "b": array(targets[1]), "c": maps, "d": {**targets[3], "description": "Another."}}
        return {"type": "object", "properties": {**fields, **{f"p{each}": described for each in range(5)}}}

    definitions = {f"T{each}": definition(each) for each in range(count)}
    return {**DRAFT7, "oneOf": [{"$ref": f"#/definitions/T{each}"} for each in range(5)], "definitions": definitions}


@pytest.mark.parametrize("vendor", ALL)
def test_a_large_catalogue_of_definitions_is_compiled_in_work_that_grows_with_it(vendor: str) -> None:
    """A definition is walked once, however many pieces of the schema are quoted."""
    schema = catalogue(115)

    with at_most(1_500_000):
        compiled = compile_schema(schema, vendor)
    assert broken(compiled, vendor) == []


AROUND: dict[str, Any] = {
    "properties": lambda each: closed(a=each),
    "items": array,
    "anyOf": lambda each: either(each, WHOLE),
    "allOf": lambda each: {"allOf": [each]},
    "not": lambda each: {"not": each},
    "unknown": lambda each: {"x": each},
}
DEEP = {f"{name}-{levels}": (AROUND[name], levels) for name, levels in product(AROUND, (30, 100, 240, 900, 10_000))}


@pytest.mark.parametrize(("around", "levels"), DEEP.values(), ids=DEEP)
def test_a_schema_of_any_depth_comes_to_an_end(around: Any, levels: int) -> None:
    """Nothing but a refusal is ever raised."""
    schema, compiled = deep(levels, around), None
    with at_most(CALLS), suppress(Uncompilable):
        compiled = compile_schema(schema, OPENAI)

    assert compiled is None or not compiled.enforced or broken(compiled, OPENAI) == []


def test_a_catastrophic_pattern_is_checked_in_bounded_time() -> None:
    """The validator's engine goes back a bounded number of steps."""
    compiled = compile_schema(closed(a={"type": "string", "pattern": "^(a+)+$"}), OPENAI)

    assert compiled.validate({"a": "a" * 5_000 + "!"}) != ()
    assert compiled.validate({"a": "a" * 5_000}) == ()


def test_a_document_of_any_depth_is_decoded() -> None:
    """JSON that Python itself can read comes back from a recursive schema."""
    compiled = compile_schema({**refer("T"), "$defs": {"T": closed(n=array(refer("T")))}}, OPENAI)
    document: dict[str, Any] = {"n": []}
    for _ in range(200):
        document = {"n": [document]}

    assert compiled.decode(compiled.encode(document)) == document
