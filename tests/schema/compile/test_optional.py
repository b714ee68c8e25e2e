"""Properties that may be absent: null for some vendors, left out for others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.schema.compile.forms import ANY, ANYTHING, NULL, TEXT, WHOLE, array, closed, either, loose
from tests.schema.compile.lens import ANTHROPIC, AZURE, GOOGLE, OPENAI, holds_of_a_document, row, table

if TYPE_CHECKING:
    from tests.schema.compile.forms import Form
    from tests.schema.compile.lens import Lost


@table(
    row(
        "text",
        loose(a=TEXT),
        [{}, {"a": "x"}],
        ((OPENAI, AZURE), closed(a={"type": ["string", "null"]})),
        ((ANTHROPIC, GOOGLE), loose(a=TEXT)),
    ),
    row(
        "enum",
        loose(a={"enum": ["x", "y"]}),
        [{}, {"a": "x"}],
        ((OPENAI, AZURE), closed(a=either({"type": "string", "enum": ["x", "y"]}, NULL))),
        ((ANTHROPIC, GOOGLE), loose(a={"type": "string", "enum": ["x", "y"]})),
    ),
    row(
        "object",
        loose(a=closed(x=WHOLE)),
        [{}, {"a": {"x": 1}}],
        ((OPENAI, AZURE), closed(a=either(closed(x=WHOLE), NULL))),
        ((ANTHROPIC, GOOGLE), loose(a=closed(x=WHOLE))),
    ),
    row(
        "null-itself",
        loose(a={"type": ["string", "null"]}),
        [{"a": None}, {"a": "x"}],
        ((OPENAI, AZURE), closed(a={"type": ["string", "null"]})),
        ((ANTHROPIC, GOOGLE), loose(a={"type": ["string", "null"]})),
    ),
    row(
        "union-with-null",
        loose(a=either(WHOLE, NULL)),
        [{"a": None}, {"a": 1}],
        ((OPENAI, AZURE), closed(a=either(WHOLE, NULL))),
        ((ANTHROPIC, GOOGLE), loose(a=either(WHOLE, NULL))),
    ),
    row(
        "union",
        loose(a=either(WHOLE, TEXT, description="D.")),
        [{}, {"a": 1}],
        ((OPENAI, AZURE), closed(a=either(WHOLE, TEXT, NULL, description="D."))),
        ((ANTHROPIC, GOOGLE), loose(a=either(WHOLE, TEXT, description="D."))),
    ),
    row(
        "anything",
        loose(a=True),
        [{}, {"a": 1}, {"a": "x"}, {"a": "null"}],
        ((OPENAI, AZURE), closed(a={"type": ["string", "null"], "description": ANYTHING})),
        ((ANTHROPIC, GOOGLE), loose(a=ANY)),
    ),
    row(
        "array",
        loose(a=array(WHOLE)),
        [{}, {"a": []}],
        ((OPENAI, AZURE), closed(a=either(array(WHOLE), NULL))),
        ((ANTHROPIC, GOOGLE), loose(a=array(WHOLE))),
    ),
)
def test_a_property_that_may_be_absent(vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any]) -> None:
    """Absent comes back absent, and null comes back null where it is a value."""
    holds_of_a_document(vendor, schema, wire, losses, examples)
