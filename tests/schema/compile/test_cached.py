"""Compiling is done once for each schema, vendor and wish."""

from __future__ import annotations

from emitter.schema import compile_schema
from emitter.schema.compiler import UndeclaredProperties
from tests.schema.compile.forms import TEXT, WHOLE, closed


def test_equal_schemas_are_compiled_once() -> None:
    """Another object that says the same gives the very same result."""
    assert compile_schema(closed(cached=TEXT), "openai") is compile_schema(closed(cached=dict(TEXT)), "openai")


def test_what_differs_is_compiled_apart() -> None:
    """The vendor, the wishes and the order of properties are part of the question."""
    schema, turned = closed(a=TEXT, b=WHOLE), closed(b=WHOLE, a=TEXT)
    made = [
        compile_schema(schema, "openai"),
        compile_schema(schema, "azure-openai"),
        compile_schema(schema, "openai", degrade=False),
        compile_schema(schema, "openai", undeclared=UndeclaredProperties.CLOSE),
        compile_schema(turned, "openai"),
    ]

    assert len(set(map(id, made))) == len(made)
    assert list(made[-1].schema["properties"]) == ["b", "a"]


def test_true_and_one_are_not_confused() -> None:
    """Python takes them for equal, JSON does not."""
    one, true = ({"type": "object", "required": ["a"], "properties": {"a": {"const": each}}} for each in (1, True))

    assert compile_schema(one, "openai") is not compile_schema(true, "openai")


def test_what_the_caller_changes_later_changes_nothing() -> None:
    """The caller's own dict is copied."""
    schema = closed(a=dict(TEXT))
    compiled = compile_schema(schema, "openai")
    schema["properties"]["a"]["type"] = "integer"

    assert compiled.original == closed(a=TEXT)
    assert compiled.validate({"a": "x"}) == ()
