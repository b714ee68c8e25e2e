"""Well-formed or malformed: draft-morrison-binding-moment-envelope-00, section 4, and the form of 5.1 to 5.9."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ConfigDict, field_validator

from emitter.decisions.envelope_parsing import (
    DRAFT,
    MAX_REPORTED_REASONS,
    MOMENT_FIELD,
    REVISIONS,
    DraftRevision,
    MalformedEnvelope,
    parse_moment,
    parse_moment_text,
)
from emitter.errors import InputError
from emitter.models import BindingMoment
from tests.decisions.envelope_parsing.envelopes import ABSENT, ENVELOPE, OPTION, at, changed

SECRET = "hunter2"

REQUIRED = "this member is required"
UNKNOWN = "there is no such member"
OBJECT = "this must be an object"
ARRAY = "this must be an array"
STRING = "this must be a string"
INTEGER = "this must be an integer"
NUMBER = "a number must be an integer of at most 2^53 - 1"
BOOLEAN = "this must be true or false"
NULL = "an absent member must be left out, not null"
RANGE = "recommended_idx must be below the number of options"

GOOD: dict[str, tuple[str, Any]] = {
    "as it is": ("/synopsis", ENVELOPE["synopsis"]),
    "four options": ("/question/options", [OPTION] * 4),
    "the last option": ("/question/recommended_idx", 1),
    "index as a decimal": ("/question/recommended_idx", 1.0),
    "no findings": ("/findings", []),
    "one finding": ("/findings", ["x"]),
    "seven findings": ("/findings", ["x"] * 7),
    "no recommendations": ("/recommendations", []),
    "empty texts": ("/synopsis", ""),
    "no meta": ("/meta", ABSENT),
    "empty meta": ("/meta", {}),
    "class only": ("/meta/calibration_note", ABSENT),
    "note only": ("/meta/decision_class", ABSENT),
    "closed hatches": ("/question/hatches", {"free_text": False, "dialogue": False}),
}


@pytest.mark.parametrize(("pointer", "value"), GOOD.values(), ids=GOOD.keys())
def test_a_well_formed_envelope_is_read(pointer: str, value: Any) -> None:
    """Section 4: every REQUIRED member, ``meta`` or not; counts that are only RECOMMENDED are no matter of form."""
    document = changed(at(pointer), value)
    moment = parse_moment(document)

    assert isinstance(moment, BindingMoment)
    assert moment.to_json() == document
    assert parse_moment_text(json.dumps(document)) == moment
    assert parse_moment_text(json.dumps({MOMENT_FIELD: document, "price": 0.5}).encode()) == moment


@pytest.mark.parametrize("given", [None, 1, ENVELOPE, ["{}"]], ids=lambda each: type(each).__name__)
def test_what_is_no_text_is_not_read_as_one(given: Any) -> None:
    """A typed error, which says what reads a value."""
    with pytest.raises(InputError, match="it must be a str or bytes"):
        parse_moment_text(given)


BAD: dict[str, tuple[str, Any, str, str]] = {
    **{
        f"no {place}": (place, ABSENT, place, REQUIRED)
        for place in (
            "/synopsis",
            "/findings",
            "/recommendations",
            "/offer",
            "/question",
            "/question/stem",
            "/question/options",
            "/question/recommended_idx",
            "/question/hatches",
            "/question/hatches/free_text",
            "/question/hatches/dialogue",
            "/question/options/0/label",
            "/question/options/1/reasoning",
        )
    },
    **{
        f"unknown member of {place or 'the envelope'}": (f"{place}/{SECRET}", SECRET, f"{place}/*", UNKNOWN)
        for place in ("", "/question", "/question/hatches", "/question/options/1", "/meta")
    },
    "a hatch among the options": ("/question/options/1/free_text", True, "/question/options/1/*", UNKNOWN),
    "no options": ("/question/options", [], "/question/options", "there must be at least 2 entries"),
    "one option": ("/question/options", [OPTION], "/question/options", "there must be at least 2 entries"),
    "one option, and that no object": ("/question/options", [1], "/question/options/0", OBJECT),
    "five options": ("/question/options", [OPTION] * 5, "/question/options", "there must be at most 4 entries"),
    "index out of range": ("/question/recommended_idx", 2, "/question", RANGE),
    "index below zero": ("/question/recommended_idx", -1, "/question/recommended_idx", "this must not be negative"),
    "index as true": ("/question/recommended_idx", True, "/question/recommended_idx", INTEGER),
    "index as false": ("/question/recommended_idx", False, "/question/recommended_idx", INTEGER),
    "index as text": ("/question/recommended_idx", "0", "/question/recommended_idx", INTEGER),
    "index as fraction": ("/question/recommended_idx", 0.5, "/question/recommended_idx", NUMBER),
    "index too large": ("/question/recommended_idx", 2**53, "/question/recommended_idx", NUMBER),
    "index as null": ("/question/recommended_idx", None, "/question/recommended_idx", INTEGER),
    "two marked": ("/question/recommended_idx", [0, 1], "/question/recommended_idx", INTEGER),
    "hatch as text": ("/question/hatches/dialogue", "true", "/question/hatches/dialogue", BOOLEAN),
    "hatch as number": ("/question/hatches/free_text", 1, "/question/hatches/free_text", BOOLEAN),
    "hatches as null": ("/question/hatches", None, "/question/hatches", OBJECT),
    "meta as null": ("/meta", None, "/meta", NULL),
    "class as null": ("/meta/decision_class", None, "/meta/decision_class", NULL),
    "note as number": ("/meta/calibration_note", 1, "/meta/calibration_note", STRING),
    "synopsis as number": ("/synopsis", 1, "/synopsis", STRING),
    "offer as null": ("/offer", None, "/offer", STRING),
    "findings as text": ("/findings", SECRET, "/findings", ARRAY),
    "findings as object": ("/findings", {SECRET: SECRET}, "/findings", ARRAY),
    "finding as number": ("/findings/1", 1, "/findings/1", STRING),
    "recommendation as array": ("/recommendations/0", [SECRET], "/recommendations/0", STRING),
    "options as object": ("/question/options", {"0": OPTION, "1": OPTION}, "/question/options", ARRAY),
    "option as text": ("/question/options/0", SECRET, "/question/options/0", OBJECT),
    "question as text": ("/question", SECRET, "/question", OBJECT),
    "half of a pair": ("/offer", "\ud800", "/offer", "a string contains a lone surrogate"),
    "half of a pair in a name": ("/question/\ud800", 1, "/question", "a string contains a lone surrogate"),
}


@pytest.mark.parametrize(("pointer", "value", "place", "said"), BAD.values(), ids=BAD.keys())
def test_a_malformed_envelope_is_reported_by_place_and_reason(pointer: str, value: Any, place: str, said: str) -> None:
    """Section 4: closed at every level, every type exact, the index in range; no word of the envelope is reported."""
    document = changed(at(pointer), value)

    assert parse_moment(document) == MalformedEnvelope((f"{place}: {said}",))
    assert isinstance(parse_moment_text(json.dumps(document)), MalformedEnvelope)
    assert SECRET not in f"{parse_moment(document)} {parse_moment_text(json.dumps(document))}"


def test_every_place_is_reported() -> None:
    """A diagnostic names all that is wrong, in the order of the slots."""
    document = changed(at("/offer"), ABSENT, changed(at("/synopsis"), 1, changed(at("/x"), 1)))

    assert parse_moment(document) == MalformedEnvelope(
        (f"/synopsis: {STRING}", f"/offer: {REQUIRED}", f"/*: {UNKNOWN}")
    )
    assert str(parse_moment(document)) == (
        f"The envelope was discarded as malformed: /synopsis: {STRING}; /offer: {REQUIRED}; /*: {UNKNOWN}."
    )


def test_a_diagnostic_is_bounded() -> None:
    """However much is wrong, the first places are reported, and how many more there are."""
    found = parse_moment(changed(at("/findings"), [1] * 100_000))

    assert isinstance(found, MalformedEnvelope)
    assert found.reasons[:2] == (f"/findings/0: {STRING}", f"/findings/1: {STRING}")
    assert found.reasons[MAX_REPORTED_REASONS:] == (f"and {100_000 - MAX_REPORTED_REASONS} places more",)


TEXTS: dict[str, tuple[str, str]] = {
    "no JSON": (SECRET, "#: the text is not JSON at byte 0"),
    "two envelopes": ("{} {}", "#: there is text after the value, at byte 3"),
    "a slot twice": (
        json.dumps(ENVELOPE).replace('"offer"', '"synopsis"'),
        "#: this object has two members of the same name",
    ),
    "a slot twice in a result": (
        json.dumps({MOMENT_FIELD: ENVELOPE}).replace('"stem"', '"hatches"'),
        "/binding_moment/question: this object has two members of the same name",
    ),
    "a decimal in the envelope": (
        json.dumps({MOMENT_FIELD: changed(at("/question/recommended_idx"), 0.5)}),
        f"/question/recommended_idx: {NUMBER}",
    ),
    "a result whose field is null": ('{"binding_moment": null}', f"#: {OBJECT}"),
}


@pytest.mark.parametrize(("text", "reason"), TEXTS.values(), ids=TEXTS.keys())
def test_a_text_is_read_strictly(text: str, reason: str) -> None:
    """What two readers could understand differently is malformed before its form is looked at."""
    assert parse_moment_text(text) == MalformedEnvelope((reason,))


class Stricter(BindingMoment):
    """What a later revision might ask: a further member, and a rule of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    urgency: int | str

    @field_validator("offer")
    @classmethod
    def _some(cls, offer: str) -> str:
        if not offer:
            raise ValueError("the offer must not be empty")
        return offer


def test_a_later_revision_is_an_entry_more() -> None:
    """The table is keyed by the draft's name; another grammar brings its own members, rules and words."""
    later = DraftRevision(Stricter, REVISIONS[DRAFT].member_names | {"urgency"})
    good = {**ENVELOPE, "urgency": 1}

    assert list(REVISIONS) == ["draft-morrison-binding-moment-envelope-00"]
    assert isinstance(parse_moment(good, later), Stricter)
    assert parse_moment(good) == MalformedEnvelope((f"/*: {UNKNOWN}",))
    assert parse_moment(ENVELOPE, later) == MalformedEnvelope((f"/urgency: {REQUIRED}",))
    assert parse_moment({**good, "offer": ""}, later) == MalformedEnvelope(("/offer: the offer must not be empty",))
    assert parse_moment({**good, "urgency": 0.5}, later) == MalformedEnvelope((f"/urgency: {NUMBER}",))
    assert parse_moment_text(json.dumps({**good, "urgency": []}), later) == MalformedEnvelope(
        (f"/urgency/int: {INTEGER}", f"/urgency/str: {STRING}")
    )
