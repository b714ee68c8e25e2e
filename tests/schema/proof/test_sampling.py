"""What is drawn from a schema is of that schema, varied, and comes to an end."""

from __future__ import annotations

from random import Random
from typing import Any

import jsonschema_rs
import pytest

from emitter.testing.constrained_decoding import (
    HARD_LIMIT_BYTES,
    MAX_CHOICES,
    Sampler,
    find_compile_error,
    parse_document,
)
from tests.schema.compile.work import at_most
from tests.testing.schema_rules.shapes import TEXT, closed, nested

TREE = {"$ref": "#/$defs/n", "$defs": {"n": closed(v=TEXT, c={"type": "array", "items": {"$ref": "#/$defs/n"}})}}
SCHEMAS: dict[str, Any] = {
    "anything": True,
    "closed": closed(a=TEXT, b={"type": ["integer", "null"]}, c={"enum": [1, "x", None]}),
    "bounded": closed(a={"type": "array", "items": {"type": "number", "minimum": -3}, "minItems": 2, "maxItems": 3}),
    "union": closed(a={"anyOf": [closed(kind={"const": "x"}), closed(kind={"const": "y"}, z=TEXT)]}),
    "recursive": TREE,
    "deep": nested(20),
    "pattern": {"type": "string", "pattern": "^(ab)+[^c]{3,}$"},
    "format": {"type": "string", "format": "uri"},
}


def drawn(schema: Any, count: int = 100, texts: tuple[str, ...] = ()) -> list[bytes]:
    """Draw documents, each from a seed of its own."""
    sampler = Sampler(schema, texts)
    return [each for seed in range(count) if (each := sampler.draw(Random(seed))) is not None]  # noqa: S311  repeatable


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_what_is_drawn_is_of_the_schema(schema: Any) -> None:
    """Nearly every draw is a document, and every document holds."""
    validator = jsonschema_rs.validator_for(schema)
    documents = drawn(schema)

    assert len(documents) > 90
    assert len(set(documents)) > 10
    assert all(len(each) <= HARD_LIMIT_BYTES + 100 for each in documents)
    for each in documents:
        try:
            found = parse_document(each)
        except ValueError as error:
            assert "beyond every float" in str(error)  # noqa: PT017  numbers of any size are JSON
        else:
            assert validator.is_valid(found)


def test_draws_can_be_repeated() -> None:
    """The same seed draws the same document."""
    assert drawn(TREE) == drawn(TREE)


def test_texts_that_were_handed_over_are_written() -> None:
    """Names that could collide are among the strings, whole, as are JSON texts."""
    written = {parse_document(each)["a"] for each in drawn(closed(a=TEXT), 300, ('say "hi"', "größe"))}

    assert {'say "hi"', "größe", '{"a":1}', "{"} <= written


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        (False, "Unimplemented"),
        ({"not": {}}, "Unimplemented"),
        ({"oneOf": [TEXT, {"type": ["string", "null"]}]}, "oneOf"),
        ({"type": "string", "pattern": r"\ba"}, "lookarounds"),
        ({"type": "string", "format": "x"}, "Unknown format"),
        ({"$ref": "#/$defs/absent"}, "absent"),
    ],
)
def test_what_the_decoder_refuses_is_reported(schema: Any, word: str) -> None:
    """A schema that the decoder cannot read is refused in its words, and no document of it is drawn."""
    assert word in (find_compile_error(schema) or "")
    assert drawn(schema) == []


def test_a_value_without_end_is_given_up() -> None:
    """A schema that only infinite documents satisfy yields none."""
    again = {"$ref": "#/$defs/n"}
    assert drawn({**again, "$defs": {"n": closed(a=TEXT, again=again)}}, 3) == []


def test_a_pattern_that_finds_no_end_is_given_up_in_bounded_work() -> None:
    """However large the schema is beside it, and so however long a document of it may become."""
    names = {f"p{each}": {"enum": ["x" * 1_000 + str(each)]} for each in range(200)}
    sampler = Sampler(closed(a={"type": "string", "pattern": "^.*[.]module-that-nobody-writes$"}, **names))

    with at_most(20 * MAX_CHOICES):
        assert sampler.draw(Random(0)) is None  # noqa: S311  chance that can be repeated
