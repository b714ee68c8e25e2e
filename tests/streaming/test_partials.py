"""Partial documents: each is a beginning of the next, and nothing in them is cut unless it was asked for."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emitter.schema import Compiled
from emitter.streaming.partials import PartialStream
from tests.work import examples

ANY = {
    "type": ["string", "array", "object"],
    "items": {"$ref": "#"},
    "additionalProperties": {"$ref": "#"},
}
OPEN = Compiled(True, (), lambda value: value, lambda value: value, lambda _: (), ANY)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12
)
DOCUMENTS = st.lists(VALUES) | st.dictionaries(st.text(), VALUES)


def partials(text: str, size: int, *, trailing_strings: bool = False) -> list[Any]:
    """Return the documents that are reported for an answer in pieces of a size."""
    reader = PartialStream(OPEN, trailing_strings=trailing_strings).new_reader()
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return [event.value for piece in pieces for event in reader.feed(piece)]


def is_beginning(part: Any, whole: Any, *, of_strings: bool) -> bool:
    """Tell whether a document is a beginning of another one."""
    match part, whole:
        case dict(), dict():
            return list(part) == list(whole)[: len(part)] and all(
                is_beginning(part[key], whole[key], of_strings=of_strings) for key in part
            )
        case list(), list():
            pairs = zip(part, whole, strict=False)
            return len(part) <= len(whole) and all(is_beginning(*pair, of_strings=of_strings) for pair in pairs)
        case str(), str() if of_strings:
            return whole.startswith(part)
        case _:
            return type(part) is type(whole) and part == whole


@given(document=DOCUMENTS, size=st.integers(1, 5), trailing=st.booleans(), ascii_only=st.booleans())
@example(document={"n": 12.5e-3, "m": [120, "12", -7]}, size=1, trailing=False, ascii_only=True)
@example(document=["\N{GRINNING FACE}", "a\\\"'"], size=1, trailing=True, ascii_only=True)
@settings(max_examples=examples(500), deadline=None)
def test_each_document_is_a_beginning_of_the_next(
    document: Any, size: int, trailing: bool, ascii_only: bool
) -> None:  # fmt: skip
    """A document only grows, toward the whole one. No number, word or name is cut, and no string by default."""
    found = [*partials(json.dumps(document, ensure_ascii=ascii_only), size, trailing_strings=trailing), document]

    for part, following in pairwise(found):
        assert is_beginning(part, following, of_strings=trailing)


TEXTS = {
    "a fence": ('Here:\n```json\n{"a": 1, "b": 2}\n```', [{"a": 1}, {"a": 1, "b": 2}]),
    "a thinking block": ('<think>{"a": 0}</think>{"a": 1, "b": 2}', [{"a": 1}, {"a": 1, "b": 2}]),
    "one JSON string": ('"{\\"a\\": 1}"', []),
    "no document": ("I cannot.", []),
    "broken": ('{"a": 1, b: 2, "c": 3}', [{"a": 1}]),
    "an entry of a map": (
        '{"m": [{"key": "k", "value": 1}, {"key": "l',
        [{"m": []}, {"m": [{"key": "k", "value": 1}]}],
    ),
    "a tagged variant": ('{"m": {"variant": "a", "value": {"n": 1}}}', [{"m": {"variant": "a", "value": {"n": 1}}}]),
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.values(), ids=TEXTS.keys())
def test_a_document_is_found_in_an_answer(text: str, expected: list[Any]) -> None:
    """What surrounds the document is skipped, and half of an object of the vendor's form is not shown."""
    found = [each for each in partials(text, 1) if each]

    assert found[-len(expected) :] == expected if expected else not found


def test_a_long_answer_is_parsed_in_linear_time() -> None:
    """The text is parsed again only when it has grown by a hundredth."""
    text = json.dumps({"words": ["word"] * 20_000})

    assert len(partials(text, 1)) < 100 + math.log(len(text) / 100, 1.01) + 2


def test_a_string_grows_if_it_was_asked_for() -> None:
    """It is shown in each of its beginnings, however deep it is."""
    assert partials('{"a": [{"b": "wor', 1, trailing_strings=True)[-1] == {"a": [{"b": "wor"}]}
    assert partials('{"a": [{"b": "wor', 1)[-1] == {"a": []}
