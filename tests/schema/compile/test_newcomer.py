"""What someone new to the library stumbled over."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.errors import InputError, Uncompilable
from emitter.schema import LossReason, UndeclaredProperties, compile_schema
from tests.schema.compile.forms import TEXT, WHOLE, closed, loose
from tests.schema.compile.lens import ANTHROPIC, OPENAI, lens

SILENT = {"type": "object", "properties": {"b": WHOLE}}


@pytest.mark.parametrize("undeclared", ["close", UndeclaredProperties.CLOSE], ids=["word", "member"])
def test_undeclared_may_be_a_word(undeclared: Any) -> None:
    """The word means what the member means, whichever comes first to the cache."""
    compiled = compile_schema(SILENT, OPENAI, undeclared=undeclared)

    assert list(compiled.schema["properties"]) == ["b"]


def test_another_word_is_refused() -> None:
    """A misspelt choice is reported, with those there are."""
    with pytest.raises(InputError, match="'carry' or 'close'"):
        compile_schema(SILENT, OPENAI, undeclared="keep")


@pytest.mark.parametrize("said", ['{"z": 1', "none", "[1]"])
def test_text_that_is_no_object_is_not_dropped(said: str) -> None:
    """What cannot be read is handed on, not lost."""
    compiled = compile_schema(SILENT, OPENAI)

    assert said in compiled.decode({"b": 1, "additional_properties": said}).values()


def test_properties_that_were_spilled_do_not_vanish() -> None:
    """Text that says none of them is a violation, for the schema is closed."""
    compiled = lens(loose(**{f"p{each}": TEXT for each in range(60)}), ANTHROPIC)
    slot = list(compiled.schema["properties"])[-1]

    assert compiled.validate(compiled.decode({slot: '{"p50": "x"'})) != ()
    assert '"p50": ' in compiled.schema["properties"][slot]["description"]


def test_no_more_is_given_up_than_needed() -> None:
    """Of forty optional properties Anthropic keeps all but one or two: 23 left out, 16 null."""
    compiled = lens(loose(**{f"p{each}": TEXT for each in range(40)}), ANTHROPIC, {"p0": "x", "p39": "y"})

    assert len(compiled.schema["properties"]) >= 39


def test_an_enum_that_was_given_up_is_reported_whole() -> None:
    """The model cannot know what it is not reported."""
    codes = [f"code-{each}" for each in range(2_000)]
    compiled = lens(closed(a={"type": "string", "enum": codes}), OPENAI, {"a": "code-1999"})

    assert "#/properties/a/enum" in compiled.schema["properties"]["a"]["description"]
    assert compiled.appendix == {"#/properties/a/enum": codes}
    assert {each.why for each in compiled.losses} == {LossReason.DEGRADED}


def test_an_older_drafts_tuple_needs_no_schema_keyword() -> None:
    """A schema that names no draft may speak an older one's words."""
    pair = {"type": "array", "items": [TEXT, WHOLE], "additionalItems": False, "minItems": 2}
    compiled = lens(closed(a=pair), OPENAI, {"a": ["x", 1]})

    assert compiled.validate({"a": ["x", 1, 2]}) != ()


def test_what_no_draft_knows_is_reported_the_latest() -> None:
    """The place and the word are those of the schema."""
    with pytest.raises(Uncompilable, match="/type: is not valid JSON Schema"):
        compile_schema({"type": "strnig"}, OPENAI)


def test_the_bounds_of_an_integer_are_integers() -> None:
    """What lies between them is what the vendor is sent, and nothing between them is refused."""
    compiled = lens(closed(a={"type": "integer", "minimum": 0.5, "maximum": 2.5}), OPENAI, {"a": 1})

    assert compiled.schema["properties"]["a"] == {"type": "integer", "minimum": 1, "maximum": 2}
    with pytest.raises(Uncompilable, match="no document"):
        compile_schema(closed(a={"type": "integer", "minimum": 0.5, "maximum": 0.6}), OPENAI)


@pytest.mark.parametrize("entry", [{"value": 6}, {"key": None, "value": 6}, {"key": 7, "value": 6}, {"key": "a"}, 6])
def test_an_entry_without_a_key_or_a_value_does_not_vanish(entry: Any) -> None:
    """A map's entries are handed on as they are where one is none, and the schema refuses them."""
    compiled = compile_schema({"type": "object", "additionalProperties": WHOLE}, OPENAI)
    wire = {"value": [{"key": "b", "value": 1}, entry]}

    assert compiled.decode({"value": wire["value"][:1]}) == {"b": 1}
    assert compiled.validate(compiled.decode(wire)) != ()
