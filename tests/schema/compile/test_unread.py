"""JSON texts and entries are read as strictly as the document around them."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.attempts import Verdict
from emitter.core.verdicts import DocumentContract, classify
from emitter.messages import ModelResponse, StopReason
from emitter.schema import compile_schema
from tests.schema.compile.forms import WHOLE, closed
from tests.schema.compile.lens import OPENAI

ANYTHING = closed(a={})
MAP = closed(m={"type": "object", "additionalProperties": WHOLE})
LIST_OR_MAP = closed(m={"anyOf": [{"type": "object", "additionalProperties": WHOLE}, {"type": "array", "items": {}}]})
SILENT = {"type": "object", "properties": {"b": WHOLE, "c": WHOLE}}
NAMED_MAP = {"type": "object", "properties": {"b": WHOLE}, "additionalProperties": WHOLE}


def found(schema: Any, document: Any) -> list[tuple[str, str]]:
    """Return the violations of a document from the wire: where, and which rule."""
    compiled = compile_schema(schema, OPENAI)
    return [(each.pointer, each.rule) for each in compiled.validate(compiled.decode(document))]


def entries(*pairs: tuple[str, Any]) -> list[dict[str, Any]]:
    """Return a map as the wire has it."""
    return [{"key": key, "value": value} for key, value in pairs]


def test_a_key_with_two_values_is_a_violation() -> None:
    """Nobody can say which one is meant."""
    assert found(MAP, {"m": entries(("a", 1), ("b", 3), ("a", 2))}) == [("/m", "keys")]


def test_a_key_with_two_values_is_a_violation_where_a_list_may_stand() -> None:
    """The list of entries is not taken for a list of the caller's."""
    reported = found(LIST_OR_MAP, {"m": {"variant": "record", "value": entries(("a", 1), ("a", 2))}})

    assert reported == [("/m", "keys")]


def test_a_key_that_comes_twice_with_one_value_is_there_once() -> None:
    """It says nothing new."""
    compiled = compile_schema(MAP, OPENAI)

    assert compiled.decode({"m": entries(("a", 1), ("a", 1))}) == {"m": {"a": 1}}


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":2}',
        '[{"a":{"b":1,"b":true}}]',
        "1e-400",
        "-1e400",
        "[1e999]",
        "NaN",
        "-Infinity",
        "[NaN]",
        '{"z":1',
        "[1, 2",
        '"blue',
        ' {"z":',
        '\ufeff{"z":1}',
        '{"a":1}{"b":2}',
        "[] []",
        "1e",
        "-",
        "01",
        "9" * 5_000,
        "[" * 300 + "]" * 300,
    ],
)
def test_json_text_that_cannot_be_read_is_a_violation(text: str) -> None:
    """It is neither guessed at nor taken for a string."""
    assert found(ANYTHING, {"a": text}) == [("/a", "json")]
    assert compile_schema(ANYTHING, OPENAI).decode({"a": text}) == {"a": text}


@pytest.mark.parametrize("text", ["no", "", " ", "2024-10-18", "3 apples", "+49 30 1", "- milk", ".5", "nan of Ur"])
def test_text_that_is_no_json_stays_a_string(text: str) -> None:
    """Models forget the quotes."""
    compiled = compile_schema(ANYTHING, OPENAI)

    assert compiled.decode({"a": text}) == {"a": text}
    assert found(ANYTHING, {"a": text}) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1), ('"x"', "x"), (' {"a":1,"a":1}\n', {"a": 1}), ("5e-324", 5e-324), ("null", None), ("0e-400", 0.0)],
)
def test_json_text_that_can_be_read_is_the_value(text: str, value: Any) -> None:
    """As the document around it would be read."""
    compiled = compile_schema(ANYTHING, OPENAI)

    assert compiled.decode({"a": text}) == {"a": value}


@pytest.mark.parametrize(
    "said", ['{"z":1', "no", "{} {}", '{"z":1,"z":2}', '{"z":1e-400}', "[1]", "5", "null", [1], 6, False]
)
def test_what_is_no_object_is_no_further_property(said: Any) -> None:
    """The wire's own property never becomes one of the caller's value."""
    assert found(SILENT, {"b": 1, "c": None, "additional_properties": said}) == [("/additional_properties", "json")]


@pytest.mark.parametrize("said", ["no", 5, None, {"a": 1, "value": 2}, [1]])
def test_what_is_no_list_of_entries_is_no_further_property(said: Any) -> None:
    """The same for further properties that have a form."""
    wanted = [] if isinstance(said, dict) else [("/additional_properties", "json")]

    assert found(NAMED_MAP, {"b": 1, "additional_properties": said}) == wanted


@pytest.mark.parametrize(
    ("document", "wanted"),
    [
        ({"b": 1, "c": None, "additional_properties": '{"b":2}'}, [("/additional_properties", "keys")]),
        ({"b": 1, "c": None, "additional_properties": '{"c":2}'}, [("/additional_properties", "keys")]),
        ({"b": 1, "c": None, "z": 1, "additional_properties": '{"z":2}'}, [("/additional_properties", "keys")]),
        ({"b": 1, "c": None, "additional_properties": '{"b":1,"c":null}'}, []),
    ],
    ids=["named", "null", "beside", "equal"],
)
def test_a_property_with_a_namesake_in_the_text(document: Any, wanted: Any) -> None:
    """Two places with different values are as a name that comes twice."""
    assert found(SILENT, document) == wanted


def test_it_is_found_in_the_depth() -> None:
    """The pointer is that of the place in the caller's value; names that the schema does not know are not reported."""
    schema = closed(rows={"type": "array", "items": {"type": "object", "additionalProperties": {}}})
    document = {"rows": [entries(("x", "1")), entries(("y", "[1"), ("z", '"z'))]}

    assert found(schema, document) == [("/rows/1/*", "json")]


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (MAP, '{"m":[{"key":"a","value":1},{"key":"a","value":2}]}'),
        (ANYTHING, '{"a":"{\\"a\\":1,\\"a\\":2}"}'),
        (SILENT, '{"b":1,"c":null,"additional_properties":"{\\"z\\":1"}'),
    ],
    ids=["entries", "text", "further"],
)
def test_the_judge_asks_for_a_correction(schema: Any, text: str) -> None:
    """No such answer is taken, and the words of none are reported."""
    judgement = classify(
        ModelResponse(StopReason.COMPLETE, "stop", text), DocumentContract(compile_schema(schema, OPENAI))
    )

    assert judgement.verdict is Verdict.VIOLATED
    assert len(judgement.violations) == 1
