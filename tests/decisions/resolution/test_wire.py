"""A resolution on the wire: the three cases and the fourth that is none are told apart (section 6.3)."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emitter.decisions.canonical_json import MAX_INTEGER
from emitter.decisions.resolution import (
    MAX_ANSWER_LENGTH,
    RESOLUTION_SCHEMA,
    Dialogue,
    FreeText,
    Selected,
    Unresolved,
    UnresolvedReason,
    answer_in_words,
    continue_after,
    open_dialogue,
    resolution_from_json,
    resolution_to_json,
    select_option,
)
from emitter.errors import BadResolution, HatchClosed, NoSuchOption, WrongDigest
from emitter.visible_text import is_blank
from tests.decisions.resolution.moments import moment
from tests.work import examples

SECRET = "hunter2"
NAMED = "sha256:" + "0a" * 32
SCHEMA = jsonschema_rs.Draft202012Validator(RESOLUTION_SCHEMA)

FORMS: dict[str, tuple[Any, dict[str, Any]]] = {
    "an option": (Selected(NAMED, 0), {"outcome": "selected", "digest": NAMED, "index": 0}),
    "an answer": (FreeText(NAMED, "Half."), {"outcome": "free_text", "digest": NAMED, "answer": "Half."}),
    "a veto": (Dialogue(NAMED, "Whose?"), {"outcome": "dialogue", "digest": NAMED, "objection": "Whose?"}),
    "a bare veto": (Dialogue(NAMED, ""), {"outcome": "dialogue", "digest": NAMED, "objection": ""}),
    **{
        each.name: (Unresolved(NAMED, each), {"outcome": "unresolved", "digest": NAMED, "reason": each.value})
        for each in UnresolvedReason
    },
}


@pytest.mark.parametrize(("value", "wire"), FORMS.values(), ids=FORMS.keys())
def test_the_forms(value: Any, wire: dict[str, Any]) -> None:
    """Each outcome has its own form, read back as what it was, and its schema says the same."""
    assert resolution_to_json(value) == wire
    assert resolution_from_json(json.loads(json.dumps(wire))) == value
    assert SCHEMA.is_valid(wire)


def test_the_outcomes_are_four() -> None:
    """No two forms can be taken for one another."""
    assert {wire["outcome"] for _, wire in FORMS.values()} == {"selected", "free_text", "dialogue", "unresolved"}


INDEX = "counted from 0"
WORDS = "at most 10,000 characters"
FORM = "not the wire form of a resolution"
DIGEST = "64 lower-case hexadecimal digits"
REASON = "timeout, cancelled, declined, dropped"

BAD: dict[str, tuple[Any, str]] = {
    "null": (None, FORM),
    "text": (SECRET, FORM),
    "array": ([FORMS["an option"][1]], FORM),
    "empty": ({}, FORM),
    "no outcome": ({"digest": NAMED, "index": 0}, FORM),
    "unknown outcome": ({"outcome": SECRET, "digest": NAMED}, FORM),
    "outcome that is none": ({"outcome": ["selected"], "digest": NAMED, "index": 0}, FORM),
    "outcome in capitals": ({"outcome": "Selected", "digest": NAMED, "index": 0}, FORM),
    "approved is EP's word": ({"outcome": "approved", "digest": NAMED, "selected_option": 0}, FORM),
    "no digest": ({"outcome": "selected", "index": 0}, FORM),
    "no index": ({"outcome": "selected", "digest": NAMED}, FORM),
    "no answer": ({"outcome": "free_text", "digest": NAMED}, FORM),
    "no objection": ({"outcome": "dialogue", "digest": NAMED}, FORM),
    "no reason": ({"outcome": "unresolved", "digest": NAMED}, FORM),
    "a member more": ({"outcome": "selected", "digest": NAMED, "index": 0, SECRET: SECRET}, FORM),
    "two outcomes in one": ({"outcome": "selected", "digest": NAMED, "index": 0, "answer": SECRET}, FORM),
    "another outcome's member": ({"outcome": "selected", "digest": NAMED, "answer": SECRET}, FORM),
    "bare digest": ({"outcome": "selected", "digest": "0a" * 32, "index": 0}, DIGEST),
    "digest as null": ({"outcome": "dialogue", "digest": None, "objection": ""}, DIGEST),
    "digest in capitals": ({"outcome": "selected", "digest": NAMED.upper(), "index": 0}, DIGEST),
    "digest with a line more": ({"outcome": "selected", "digest": f"{NAMED}\n", "index": 0}, DIGEST),
    "index as text": ({"outcome": "selected", "digest": NAMED, "index": "0"}, INDEX),
    "index as true": ({"outcome": "selected", "digest": NAMED, "index": True}, INDEX),
    "index as false": ({"outcome": "selected", "digest": NAMED, "index": False}, INDEX),
    "index as null": ({"outcome": "selected", "digest": NAMED, "index": None}, INDEX),
    "index below zero": ({"outcome": "selected", "digest": NAMED, "index": -1}, INDEX),
    "index as fraction": ({"outcome": "selected", "digest": NAMED, "index": 0.5}, "plain JSON"),
    "index too large": ({"outcome": "selected", "digest": NAMED, "index": 2**53}, "plain JSON"),
    "two indices": ({"outcome": "selected", "digest": NAMED, "index": [0, 1]}, INDEX),
    "empty answer": ({"outcome": "free_text", "digest": NAMED, "answer": ""}, "no visible text"),
    "blank answer": ({"outcome": "free_text", "digest": NAMED, "answer": " \n"}, "no visible text"),
    "invisible answer": ({"outcome": "free_text", "digest": NAMED, "answer": "\u200b\u3164"}, "no visible text"),
    "answer as number": ({"outcome": "free_text", "digest": NAMED, "answer": 1}, WORDS),
    "huge answer": ({"outcome": "free_text", "digest": NAMED, "answer": SECRET * 10_000}, WORDS),
    "huge objection": ({"outcome": "dialogue", "digest": NAMED, "objection": "x" * 10_001}, WORDS),
    "objection as null": ({"outcome": "dialogue", "digest": NAMED, "objection": None}, WORDS),
    "half a character": ({"outcome": "free_text", "digest": NAMED, "answer": f"{SECRET}\ud800"}, "plain JSON"),
    "unknown reason": ({"outcome": "unresolved", "digest": NAMED, "reason": SECRET}, REASON),
    "reason as null": ({"outcome": "unresolved", "digest": NAMED, "reason": None}, REASON),
    "reason as array": ({"outcome": "unresolved", "digest": NAMED, "reason": []}, REASON),
    "no JSON": ({"outcome": "selected", "digest": NAMED, "index": {0}}, "plain JSON"),
    "an instance": (Selected(NAMED, 0), "plain JSON"),
}


@pytest.mark.parametrize(("value", "said"), BAD.values(), ids=BAD.keys())
def test_anything_else_is_a_typed_error(value: Any, said: str) -> None:
    """The message says what is expected, and nothing of what was there."""
    with pytest.raises(BadResolution, match=said) as caught:
        resolution_from_json(value)

    assert SECRET not in str(caught.value)


BEYOND_A_SCHEMA = {"blank answer", "invisible answer", "half a character", "index too large", "an instance", "no JSON"}
"""What only the reader refuses: the last two are values that no host could send."""


@pytest.mark.parametrize("name", [name for name in BAD if name not in BEYOND_A_SCHEMA])
def test_the_schema_refuses_it_too(name: str) -> None:
    """A host that checks the arguments of a tool finds nearly all of it beforehand."""
    assert not SCHEMA.is_valid(BAD[name][0])
    assert not jsonschema.Draft202012Validator(RESOLUTION_SCHEMA).is_valid(BAD[name][0])


def test_the_schema_is_one() -> None:
    """It holds to the meta-schema of 2020-12, and can stand inside another schema."""
    jsonschema.Draft202012Validator.check_schema(RESOLUTION_SCHEMA)
    tool = {"type": "object", "properties": {"resolution": RESOLUTION_SCHEMA}, "required": ["resolution"]}

    assert jsonschema.Draft202012Validator(tool).is_valid({"resolution": FORMS["an option"][1]})
    assert "$schema" not in RESOLUTION_SCHEMA
    assert json.loads(json.dumps(RESOLUTION_SCHEMA)) == RESOLUTION_SCHEMA


def test_the_schema_and_the_reader_have_the_same_bounds() -> None:
    """At the bound both take it, one character further neither does."""
    for size, taken in ((MAX_ANSWER_LENGTH, True), (MAX_ANSWER_LENGTH + 1, False)):
        wire = {"outcome": "free_text", "digest": NAMED, "answer": "\U0001f600" * size}
        assert SCHEMA.is_valid(wire) is taken
        assert reads(wire) is taken


def reads(value: Any) -> bool:
    """Tell whether ``of_json`` takes a value."""
    try:
        resolution_from_json(value)
    except BadResolution:
        return False
    return True


MEMBERS = st.sampled_from(["outcome", "digest", "index", "answer", "objection", "reason", "extra"])
VALUES = (
    st.sampled_from(
        ["selected", "free_text", "dialogue", "unresolved", "timeout", "dropped", NAMED, f"{NAMED}\n", None]
    )
    | st.sampled_from([True, 0, 1, 0.0, 1.5, -1, 3, 2**53, MAX_INTEGER, float("1e300"), [], {}])
    | st.text(max_size=3)
)
WIRES = st.sampled_from([wire for _, wire in FORMS.values()]).flatmap(
    lambda wire: st.dictionaries(MEMBERS, VALUES, max_size=2).flatmap(
        lambda change: st.sets(MEMBERS, max_size=1).map(
            lambda gone: {name: value for name, value in {**wire, **change}.items() if name not in gone}
        )
    )
)


@settings(max_examples=examples(500))
@given(WIRES)
@example({"outcome": "selected", "digest": NAMED, "index": 1.0})
@example({"outcome": "free_text", "digest": NAMED, "answer": "\ufeff"})
def test_the_schema_and_the_reader_agree(wire: dict[str, Any]) -> None:
    """They take the same, but for blank answers and for integers that no double tells apart."""
    blank = wire.get("outcome") == "free_text" and isinstance(wire["answer"], str) if "answer" in wire else False
    large = isinstance(wire.get("index"), int | float) and wire["index"] > MAX_INTEGER

    if reads(wire):
        assert SCHEMA.is_valid(wire)
        assert resolution_from_json(resolution_to_json(resolution_from_json(wire))) == resolution_from_json(wire)
    elif not large and not (blank and is_blank(wire["answer"])):
        assert not SCHEMA.is_valid(wire)


def _says(text: str) -> bool:
    return not is_blank(text)


@settings(max_examples=examples(200))
@given(
    st.one_of(
        st.integers(0, 1).map(lambda index: select_option(moment(), index)),
        st.text().filter(_says).map(lambda answer: answer_in_words(moment(), answer)),
        st.text().map(lambda objection: open_dialogue(moment(), objection)),
    )
)
def test_what_was_built_comes_back(resolution: Any) -> None:
    """A resolution survives the wire, and still answers its envelope."""
    again = resolution_from_json(json.loads(json.dumps(resolution_to_json(resolution))))

    assert again == resolution
    assert continue_after(again, moment()) == continue_after(resolution, moment())


def test_the_reader_leaves_the_envelope_to_the_next_step() -> None:
    """An option out of range, a closed hatch and another envelope's digest are found where the envelope is known."""
    named = select_option(moment(), 0).digest
    closed = moment(hatches=(False, False))

    with pytest.raises(NoSuchOption):
        continue_after(resolution_from_json({"outcome": "selected", "digest": named, "index": 2}), moment())
    with pytest.raises(HatchClosed):
        continue_after(
            resolution_from_json(
                {"outcome": "free_text", "digest": select_option(closed, 0).digest, "answer": "Half."}
            ),
            closed,
        )
    with pytest.raises(WrongDigest):
        continue_after(resolution_from_json({"outcome": "selected", "digest": NAMED, "index": 0}), moment())


@settings(max_examples=examples(200))
@given(st.recursive(VALUES | st.binary(), lambda inner: st.lists(inner) | st.dictionaries(MEMBERS, inner)))
def test_nothing_else_is_raised(value: Any) -> None:
    """Whatever came, it is a resolution, which has a wire form, or a ``BadResolution``."""
    if reads(value):
        unsaid = value["outcome"] == "dialogue" and is_blank(value["objection"])
        assert resolution_to_json(resolution_from_json(value)) == ({**value, "objection": ""} if unsaid else value)


@pytest.mark.parametrize(
    "given",
    ["x", None, FORMS["an option"][1], Unresolved(NAMED, "timeout")],  # type: ignore[arg-type]  an untyped caller's
    ids=["text", "none", "wire form", "no known reason"],
)
def test_what_is_no_resolution_has_no_wire_form(given: Any) -> None:
    """A typed error, as for what is read."""
    with pytest.raises(BadResolution, match="it must be Selected, FreeText, Dialogue, or Unresolved"):
        resolution_to_json(given)
