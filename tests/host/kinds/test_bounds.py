"""Schema bombs are refused, at once (``artifact-schema-compile-bounded``)."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.errors import InputError, Uncompilable
from emitter.host.kinds import KindRegistry
from emitter.host.registry import (
    MAX_SCHEMA_BYTES,
    MAX_SCHEMA_DEPTH,
    MAX_SCHEMA_PATTERNS,
    MAX_SCHEMA_VALUES,
    register_kind,
)
from tests.work import count_lines

NAME = "vendor.acme.bomb"


def nested(levels: int) -> dict[str, Any]:
    """Return a schema of so many levels of objects; each property takes two."""
    schema: dict[str, Any] = {"type": "object"}
    for _ in range((levels - 1) // 2):
        schema = {"type": "object", "properties": {"x": schema}}
    return schema


def doubled(times: int) -> dict[str, Any]:
    """Return a schema that holds itself twice, so many times over, in few objects."""
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(times):
        schema = {"type": "object", "properties": {"a": schema, "b": schema}}
    return schema


def unfolding(levels: int) -> dict[str, Any]:
    """Return a small schema whose references unfold into 2 to the power of ``levels`` for any one value."""
    defs: dict[str, Any] = {f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(levels)}
    return {"type": "object", "$ref": "#/$defs/d0", "$defs": {**defs, f"d{levels}": {"type": "object"}}}


def endless() -> dict[str, Any]:
    """Return a schema that holds itself."""
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    schema["properties"]["x"] = schema
    return schema


def patterns(count: int) -> dict[str, Any]:
    """Return a schema with so many regular expressions, half of them for names."""
    return {
        "type": "object",
        "properties": {f"p{index}": {"pattern": f"^{index}"} for index in range(count // 2)},
        "patternProperties": {f"^q{index}": {} for index in range(count - count // 2)},
    }


def large(size: int) -> dict[str, Any]:
    """Return a schema of so many bytes as JSON."""
    return {"type": "object", "description": "x" * (size - len('{"type": "object", "description": ""}'))}


def wide(count: int) -> dict[str, Any]:
    """Return a schema of so many values."""
    return {"type": "object", "enum": [1] * (count - 3)}


BOMBS: dict[str, tuple[Any, str]] = {
    "large": (large(MAX_SCHEMA_BYTES + 1), f"more than {MAX_SCHEMA_BYTES} bytes"),
    "of many values": (wide(MAX_SCHEMA_VALUES + 1), f"more than {MAX_SCHEMA_VALUES} values"),
    "deep": (nested(MAX_SCHEMA_DEPTH + 1), f"more than {MAX_SCHEMA_DEPTH} levels"),
    "very deep": (nested(100_000), f"more than {MAX_SCHEMA_DEPTH} levels"),
    "doubled again and again": (doubled(40), "more than"),
    "holding itself": (endless(), f"more than {MAX_SCHEMA_DEPTH} levels"),
    "of many patterns": (patterns(MAX_SCHEMA_PATTERNS + 1), f"more than {MAX_SCHEMA_PATTERNS} regular expressions"),
    "unfolding": (unfolding(40), "the references expand to more than"),
    "a pattern that unfolds": (
        {"type": "object", "properties": {"x": {"pattern": "(a{1000}){1000}"}}},
        "regex|JSON Schema",
    ),
}
BENIGN: dict[str, Any] = {
    "as large as may be": large(MAX_SCHEMA_BYTES),
    "as many values as may be": wide(MAX_SCHEMA_VALUES),
    "as deep as may be": nested(MAX_SCHEMA_DEPTH),
    "as many patterns as may be": patterns(MAX_SCHEMA_PATTERNS),
    "references that unfold a little": unfolding(8),
}


@pytest.mark.parametrize(("schema", "reported"), BOMBS.values(), ids=BOMBS.keys())
def test_a_bomb_is_refused_at_once(schema: Any, reported: str) -> None:
    """Nothing is compiled, and nobody waits."""

    def register() -> None:
        with pytest.raises((InputError, Uncompilable), match=reported):
            register_kind(NAME, schema, registry=KindRegistry())

    count_lines(register, limit=5_000_000)


@pytest.mark.parametrize("schema", BENIGN.values(), ids=BENIGN.keys())
def test_what_is_within_the_bounds_is_taken(schema: Any) -> None:
    """The bounds themselves are allowed."""
    assert NAME in register_kind(NAME, schema, registry=KindRegistry())


def test_a_type_of_its_own_kind_is_not_followed_for_ever() -> None:
    """A schema may be recursive; its values are not."""
    tree = {"type": "object", "properties": {"inside": {"type": "array", "items": {"$ref": "#"}}}}
    kind = register_kind(NAME, tree, registry=KindRegistry())[NAME]

    assert kind.find_violations({"inside": [{"inside": []}]}) == ()
    assert kind.find_violations({"inside": [{"inside": 1}]})
