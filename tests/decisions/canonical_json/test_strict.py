"""The strict reader and the walk behind it: what is refused, where, and that no word of the text is reported."""

from __future__ import annotations

import json
import pickle
import sys
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emitter.decisions.canonical_json import (
    MAX_DEPTH,
    MAX_INTEGER,
    CanonicalProfile,
    MemberPairs,
    canonicalize,
    normalize_json,
    parse_strict_json,
)
from emitter.errors import InputError, NotCanonical
from tests.decisions.canonical_json.moments import respelled
from tests.work import examples

SECRET = "hunter2"
DEEP = f"Containers nest deeper than {MAX_DEPTH}."
TWICE = "This object has two members of the same name."
HALF = "A string contains a lone surrogate."
FINITE = "A number must be finite, and an integer at most 2^53 - 1."
INTEGER = "A number must be an integer of at most 2^53 - 1."


def no_json(byte: int) -> str:
    """Return the reason for a text that stops being JSON."""
    return f"The text is not JSON at byte {byte}."


REFUSED: dict[str, tuple[str | bytes, str, str]] = {
    "nothing": ("", "", no_json(0)),
    "blanks": (" \n", "", no_json(2)),
    "a word": (SECRET, "", no_json(0)),
    "cut": (f'{{"{SECRET}": ', "", no_json(12)),
    "single quotes": (f"{{'{SECRET}': 1}}", "", no_json(1)),
    "trailing comma": (f'["{SECRET}",]', "", no_json(10 if sys.version_info >= (3, 13) else 11)),
    "comment": (f"/* {SECRET} */ 1", "", no_json(0)),
    "leading zero": ("[01]", "", no_json(2)),
    "plus": ("+1", "", no_json(0)),
    "bare point": ("[.5]", "", no_json(1)),
    "control character": ('"a\n"', "", no_json(2)),
    "unknown escape": ('"\\x41"', "", no_json(1)),
    "short escape": ('"\\u12"', "", no_json(2)),
    "blank that is none": ("\u00a01", "", no_json(0)),
    "bytes are counted": ("[\u00e9]", "", no_json(1)),
    "bytes behind letters": ('["\u00e9\U0001f600" x]', "", no_json(10)),
    "text behind": (f'{{}} "{SECRET}"', "", "There is text after the value, at byte 3."),
    "a second value": ("1\n2", "", "There is text after the value, at byte 2."),
    "byte order mark": ("\ufeff1", "", "There is a byte order mark before the value."),
    "byte order mark in bytes": (b"\xef\xbb\xbf1", "", "There is a byte order mark before the value."),
    "no UTF-8": (b'{"a": "\xff"}', "", "The text is not UTF-8 at byte 7."),
    "UTF-16": ("1".encode("utf-16"), "", "The text is not UTF-8 at byte 0."),
    "overlong": (b'"\xc0\xaf"', "", "The text is not UTF-8 at byte 1."),
    "surrogate in bytes": (b'"\xed\xa0\x80"', "", "The text is not UTF-8 at byte 1."),
    "name twice": (f'{{"{SECRET}": 1, "{SECRET}": 1}}', "", TWICE),
    "name twice by escape": ('[{"a": 1, "\\u0061": 2}]', "/0", TWICE),
    "name twice deep inside": (f'{{"{SECRET}": [0, {{"offer": {{"b": 1, "b": 1}}}}]}}', "/*/1/offer", TWICE),
    "high half": ('["\\ud800"]', "/0", HALF),
    "low half": ('["\\udc00"]', "/0", HALF),
    "pair the wrong way": ('"\\udc00\\ud800"', "", HALF),
    "half in a name": ('[{"\\ud800": 1}]', "/0", HALF),
    "half in a text of Python's": ('"\ud800"', "", HALF),
    "pair from two sources": ('"\ud83d\\ude00"', "", HALF),
    "not a number": ("[NaN]", "/0", INTEGER),
    "infinity": ("-Infinity", "", INTEGER),
    "overflow": ("1e400", "", INTEGER),
    "fraction": ('{"recommended_idx": 0.5}', "/*", INTEGER),
    "too large": ("9007199254740992", "", INTEGER),
    "too small": ("-9007199254740992", "", INTEGER),
    "too large as decimal": ("9007199254740992.0", "", INTEGER),
    "twenty digits": ("9" * 20, "", INTEGER),
    "thousands of digits": ("-" + "9" * 5_000, "", INTEGER),
    "a container too many": ("[" * 65 + "]" * 65, "/0" * 64, DEEP),
    "an object too many": ('{"a":' * 65 + "1" + "}" * 65, "/*" * 64, DEEP),
    "bottomless": ("[" * 200_000, "", DEEP),
}


@pytest.mark.parametrize(("text", "pointer", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(text: str | bytes, pointer: str, reason: str) -> None:
    """The error says where and why, is one of bad input, and holds nothing of the text."""
    with pytest.raises(NotCanonical) as caught:
        parse_strict_json(text, disclosed_names=frozenset({"offer"}))

    error = caught.value
    assert (error.pointer, error.reason) == (pointer, reason)
    assert str(error) == (f"{pointer}: {reason}" if pointer else reason)
    assert isinstance(error, InputError)
    assert error.__cause__ is None
    assert error.__context__ is None
    assert SECRET not in repr(vars(error))
    assert pickle.loads(pickle.dumps(error)) == error


TAKEN: dict[str, tuple[str | bytes, Any]] = {
    "null": ("null", None),
    "blanks around": ("\r\n\t [ ] \n", []),
    "bytes": (b'"\xc3\xa9"', "\u00e9"),
    "integer as decimal": ("[1.0, -0, -0.0, 1e2, 100E-2, 9007199254740991]", [1, 0, 0, 100, 1, MAX_INTEGER]),
    "what a double cannot hold": ("0.99999999999999999999", 1),
    "escaped pair": ('"\\ud83d\\ude00"', "\U0001f600"),
    "noncharacters": ('"\\uffff\\u0000"', "\uffff\0"),
    "64 containers": ("[" * 64 + "]" * 64, None),
    "brackets in a text": (json.dumps("[" * 100), "[" * 100),
}


@pytest.mark.parametrize(("text", "value"), TAKEN.values(), ids=TAKEN.keys())
def test_taken(text: str | bytes, value: Any) -> None:
    """What can be understood in one way only is read; equal numbers are one number, an integer."""
    found = parse_strict_json(text)

    assert found == json.loads(text) if value is None else found == value
    assert not any(isinstance(each, float) for each in (found if isinstance(found, list) else [found]))


WIRE: dict[str, tuple[str, Any]] = {
    "fraction": ("0.1", 0.1),
    "large": ("1e21", 1e21),
    "tiny": ("5e-324", 5e-324),
    "integer as decimal": ("1.0", 1),
}


@pytest.mark.parametrize(("text", "value"), WIRE.values(), ids=WIRE.keys())
def test_the_wire_takes_decimals(text: str, value: Any) -> None:
    """The wider profile takes whatever a double holds."""
    found = parse_strict_json(text, CanonicalProfile.WIRE)

    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("text", ["9007199254740992", "-9007199254740992", "NaN", "1e400", "9" * 5_000])
def test_the_wire_refuses_what_no_double_holds(text: str) -> None:
    """An integer that a double would round, and what is not finite."""
    with pytest.raises(NotCanonical) as caught:
        parse_strict_json(text, CanonicalProfile.WIRE)

    assert caught.value.reason == FINITE


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_INTEGER, MAX_INTEGER) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=examples(200))
@given(VALUES, st.randoms(use_true_random=True))
def test_every_spelling_is_read(value: Any, dice: Any) -> None:
    """A JSON value comes back from each of its texts, and its canonical form is a text of it."""
    assert parse_strict_json(respelled(value, dice)) == value
    assert parse_strict_json(canonicalize(value)) == value
    assert canonicalize(parse_strict_json(canonicalize(value))) == canonicalize(value)


@settings(max_examples=examples(400))
@given(st.text(st.sampled_from('{}[]",:\\u0d8e-+. tn\n\ufeff\ud800é')) | st.text() | st.binary())
@example('{"\\u0000": NaN}')
def test_any_text_is_read_or_refused(text: str | bytes) -> None:
    """Nothing but ``NotCanonical`` is ever raised, and what is read has a canonical form."""
    try:
        value = parse_strict_json(text)
    except NotCanonical as error:
        assert error.__context__ is None  # noqa: PT017
    else:
        assert parse_strict_json(canonicalize(value)) == value == json.loads(text)


def cyclic() -> list[Any]:
    """Return a list that holds itself, twice."""
    ring: list[Any] = []
    ring += [ring, ring]
    return ring


NO_JSON: dict[str, tuple[Any, str]] = {
    "tuple": (("a", 1), "This is not a JSON value."),
    "set": ({1}, "This is not a JSON value."),
    "bytes": (b"x", "This is not a JSON value."),
    "object": (object(), "This is not a JSON value."),
    "name that is no text": ({1: 2}, "A member's name must be a string."),
    "cyclic": (cyclic(), DEEP),
    "huge": (10**400, INTEGER),
    "infinite": (float("inf"), INTEGER),
}


@pytest.mark.parametrize(("value", "reason"), NO_JSON.values(), ids=NO_JSON.keys())
def test_a_value_that_is_no_json(value: Any, reason: str) -> None:
    """What no text would have given is refused, at any place."""
    for profile in (CanonicalProfile.ENVELOPE, CanonicalProfile.WIRE):
        with pytest.raises(NotCanonical) as caught:
            canonicalize([value], profile)
        assert caught.value.reason in (reason, FINITE)
        assert caught.value.pointer.startswith("/0")


def test_the_copy_is_plain() -> None:
    """What is handed out shares no container with what was handed in."""
    given_value = {"a": [1.0, {"b": True}]}
    found = normalize_json(given_value)

    assert found == {"a": [1, {"b": True}]}
    assert type(found["a"][0]) is int
    assert found["a"][1]["b"] is True
    assert found["a"] is not given_value["a"]
    assert type(normalize_json(MemberPairs((("a", 1),)))) is dict


def test_a_deep_stack_is_no_other_document() -> None:
    """A caller who is far down reads the same documents: the reader itself goes at most 64 levels deeper."""

    def down(levels: int) -> Any:
        return down(levels - 1) if levels else parse_strict_json("[" * 64 + "]" * 64)

    assert down(sys.getrecursionlimit() // 2) == json.loads("[" * 64 + "]" * 64)
