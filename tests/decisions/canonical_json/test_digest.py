"""The digest of an envelope: the same for every spelling of it, another for every other envelope."""

from __future__ import annotations

import copy
import json
import re
from typing import TYPE_CHECKING, Any

import emilia_verify
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from emitter.decisions.canonical_json import (
    DIGEST_LENGTH,
    DIGEST_PATTERN,
    CanonicalProfile,
    digest,
    digest_of,
    is_digest,
    parse_strict_json,
)
from emitter.decisions.envelope_parsing import MalformedEnvelope, parse_moment, parse_moment_text
from emitter.errors import InputError, NotCanonical
from emitter.models import BindingMoment
from tests.decisions.canonical_json.moments import TEXTS, Document, documents, respelled
from tests.work import examples

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

often = settings(max_examples=examples(200))


def texts(value: Any, way: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the way to every text in a value."""
    if isinstance(value, str):
        yield way
        return
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield from texts(inner, (*way, step))


@often
@given(documents(), st.randoms(use_true_random=True))
def test_the_spelling_does_not_matter(document: Document, dice: Random) -> None:
    """Order of members, blanks, escapes and the spelling of integers leave the digest as it is."""
    moment = parse_moment_text(respelled(document, dice))

    assert isinstance(moment, BindingMoment)
    assert digest(moment) == digest_of(document) == digest_of(parse_strict_json(respelled(document, dice).encode()))


@often
@given(documents(), st.data())
def test_every_text_matters(document: Document, data: st.DataObject) -> None:
    """Another text in any one place is another envelope."""
    *way, last = data.draw(st.sampled_from(list(texts(document))))
    other = copy.deepcopy(document)
    place: Any = other
    for step in way:
        place = place[step]
    place[last] = data.draw(TEXTS)
    assume(other != document)

    assert digest_of(other) != digest_of(document)


@often
@given(documents(), documents())
def test_only_the_same_envelope_has_the_same_digest(one: Document, other: Document) -> None:
    """The digests are equal exactly where the values are."""
    assert (digest_of(one) == digest_of(other)) == (one == other)


@often
@given(documents())
def test_a_round_trip_keeps_the_digest(document: Document) -> None:
    """An envelope that went through JSON is the same, to us and to EMILIA."""
    moment = parse_moment(document)
    assert isinstance(moment, BindingMoment)
    again = parse_moment_text(json.dumps(moment.to_json()))

    assert again == moment
    assert moment.to_json() == document
    assert digest(moment) == digest_of(document) == emilia_verify.compute_binding_moment_hash(document)


def test_absent_and_empty_are_two_envelopes() -> None:
    """A ``meta`` without members is not the same as none; hatches and the mark count as well."""
    document = {
        "synopsis": "Ship.",
        "findings": [],
        "recommendations": [],
        "offer": "Ask.",
        "question": {
            "stem": "When?",
            "options": [{"label": "A", "reasoning": "a"}, {"label": "B", "reasoning": "b"}],
            "recommended_idx": 0,
            "hatches": {"free_text": True, "dialogue": True},
        },
    }
    others = [
        document,
        {**document, "meta": {}},
        {**document, "meta": {"decision_class": ""}},
        {**document, "question": {**document["question"], "recommended_idx": 1}},
        {**document, "question": {**document["question"], "hatches": {"free_text": True, "dialogue": False}}},
        {**document, "findings": [""]},
    ]

    assert not any(isinstance(parse_moment(each), MalformedEnvelope) for each in others)
    assert len({digest_of(each) for each in others}) == len(others)


def test_half_of_a_pair_has_no_digest() -> None:
    """A text without UTF-8 is refused by a typed error, wherever the envelope came from."""
    with pytest.raises(NotCanonical, match="lone surrogate"):
        digest_of({"synopsis": "\ud800"})


def test_a_fraction_has_a_digest_on_the_wire_only() -> None:
    """The envelope's profile knows integers alone; other payloads may hold what a double holds."""
    assert is_digest(digest_of({"amount": 0.5}, CanonicalProfile.WIRE))
    assert digest_of({"amount": 2.0}, CanonicalProfile.WIRE) == digest_of({"amount": 2})
    with pytest.raises(NotCanonical, match="must be an integer"):
        digest_of({"amount": 0.5})


@pytest.mark.parametrize("given", [{}, None, "x", []], ids=repr)
def test_what_is_no_envelope_has_no_digest(given: Any) -> None:
    """A typed error; any JSON value has one by ``digest_of``."""
    with pytest.raises(InputError, match="it must be a BindingMoment"):
        digest(given)


NO_DIGESTS = {
    "none": None,
    "a number": 1,
    "empty": "",
    "bare": "0" * 64,
    "upper case": "sha256:" + "A" * 64,
    "another hash": "sha512:" + "a" * 64,
    "too short": "sha256:" + "a" * 63,
    "too long": "sha256:" + "a" * 65,
    "a line more": "sha256:" + "a" * 64 + "\n",
    "no hexadecimal digit": "sha256:" + "g" * 64,
}


@pytest.mark.parametrize("value", NO_DIGESTS.values(), ids=NO_DIGESTS.keys())
def test_what_is_no_digest(value: Any) -> None:
    """The form is exact: ``sha256:`` and 64 lower-case hexadecimal digits."""
    assert not is_digest(value)


@given(st.recursive(st.none() | st.booleans() | TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)))
def test_what_is_a_digest(value: Any) -> None:
    """Every digest has the form."""
    assert is_digest(digest_of(value))
    assert re.search(DIGEST_PATTERN, digest_of(value))
    assert len(digest_of(value)) == DIGEST_LENGTH
