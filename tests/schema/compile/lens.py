"""What holds of every compiled schema: it passes its vendor's rules, and examples come back as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter.profiles import load_profile
from emitter.schema import LossReason, compile_schema
from emitter.testing import vendor_rules
from tests.schema.compile.forms import Form, closed
from tests.schema.proof.sizes import excess

if TYPE_CHECKING:
    from emitter.schema import Compiled

OPENAI, ANTHROPIC, GOOGLE, AZURE = ALL = ("openai", "anthropic", "google", "azure-openai")
UNSUPPORTED, INSIDE, OPEN, CLOSED, DEGRADED, CONTRADICTORY = (
    LossReason.UNSUPPORTED,
    LossReason.INSIDE,
    LossReason.OPEN,
    LossReason.CLOSED,
    LossReason.DEGRADED,
    LossReason.CONTRADICTORY,
)

RULES: dict[str, tuple[Any, ...]] = {
    OPENAI: (vendor_rules.OPENAI.find_violations,),
    AZURE: (vendor_rules.AZURE_OPENAI.find_violations,),
    ANTHROPIC: (vendor_rules.ANTHROPIC.find_violations, vendor_rules.ANTHROPIC_TOOL.find_violations),
    GOOGLE: (vendor_rules.GOOGLE.find_violations, vendor_rules.GOOGLE_IGNORED.find_violations),
}

Lost = set[tuple[str, str, LossReason]]


def broken(compiled: Compiled, vendor: str) -> list[Any]:
    """Return the rules of the vendor that the wire schema breaks."""
    limits = excess(compiled.schema, load_profile(vendor).subset.limits)
    return [*limits, *(found for rules in RULES[vendor] for found in rules(compiled.schema))]


def lens(schema: Any, vendor: str, *examples: Any, **options: Any) -> Compiled:
    """Compile, and hold the result to the vendor's rules and to the examples, each valid and sayable."""
    compiled = compile_schema(schema, vendor, **options)
    assert compiled.enforced
    assert broken(compiled, vendor) == []
    for each in examples:
        assert compiled.validate(each) == ()
        assert same(compiled.decode(compiled.encode(each)), each)
    return compiled


def same(one: Any, other: Any) -> bool:
    """Tell whether two values are the same JSON, 1 and true being different."""
    match one, other:
        case dict(), dict():
            return one.keys() == other.keys() and all(same(each, other[name]) for name, each in one.items())
        case list(), list():
            return len(one) == len(other) and all(map(same, one, other))
        case _:
            return one == other and isinstance(one, bool) == isinstance(other, bool)


def lost(compiled: Compiled) -> Lost:
    """Return the losses as a set, for their order says nothing; no place is reported twice."""
    found = {(each.pointer, each.keyword, each.why) for each in compiled.losses}
    assert len(found) == len(compiled.losses)
    return found


def unordered(wire: Any) -> Any:
    """Return a wire schema without Google's order of properties, which must be the order they stand in."""
    if isinstance(wire, list):
        return [unordered(each) for each in wire]
    if not isinstance(wire, dict):
        return wire
    assert wire.get("propertyOrdering", list(wire.get("properties", ()))) == list(wire.get("properties", ()))
    return {name: unordered(each) for name, each in wire.items() if name != "propertyOrdering"}


def row(name: str, schema: Any, examples: list[Any], *forms: tuple[Any, ...]) -> list[Any]:
    """Return the tests of one schema: each of ``forms`` is the vendors, their wire schema, and what is lost there."""
    return [
        pytest.param(vendor, schema, wire, losses[0] if losses else set(), examples, id=f"{name}-{vendor}")
        for vendors, wire, *losses in forms
        for vendor in ((vendors,) if isinstance(vendors, str) else vendors)
    ]


def table(*rows: list[Any]) -> Any:
    """Return the decorator that runs a test on all rows."""
    return pytest.mark.parametrize(
        ("vendor", "schema", "wire", "losses", "examples"), [each for some in rows for each in some]
    )


def holds_of_a_property(
    vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any], **options: Any
) -> None:
    """Hold the form, losses and examples of a schema that stands as the property ``a``; pointers begin there."""
    compiled = lens(closed(a=schema), vendor, *({"a": each} for each in examples), **options)
    assert unordered(compiled.schema) == closed(a=wire)
    assert lost(compiled) == {(f"/properties/a{pointer}", keyword, why) for pointer, keyword, why in losses}


def holds_of_a_document(
    vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any], **options: Any
) -> None:
    """Hold the form, losses and examples of a whole schema."""
    compiled = lens(schema, vendor, *examples, **options)
    assert unordered(compiled.schema) == wire
    assert lost(compiled) == losses
