"""Our reading of the form beside EMILIA's, an independent one: where they differ, and that they do nowhere else."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import emilia_verify
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emitter.decisions.envelope_parsing import MalformedEnvelope, parse_moment
from tests.decisions.canonical_json.moments import Document, documents
from tests.decisions.canonical_json.vectors import Vector, cases, vectors
from tests.decisions.envelope_parsing.envelopes import ENVELOPE, at, changed
from tests.work import examples

if TYPE_CHECKING:
    from collections.abc import Iterator

RESOLUTION = "emilia_resolution.v1.json"

SLOTS = (
    *("synopsis", "findings", "recommendations", "offer", "question", "meta", "stem", "options", "recommended_idx"),
    *("hatches", "label", "reasoning", "free_text", "dialogue", "decision_class", "calibration_note", "extra", ""),
)
ODD = st.sampled_from([None, True, False, 0, 1, 3, 4, -1, 0.5, 1.0, 2**53, "", "x", "\ud800", [], {}, ["x"], [1], [[]]])
ANYTHING = ODD | st.lists(ODD, max_size=5) | st.dictionaries(st.sampled_from(SLOTS), ODD, max_size=4)


def takes(document: Any) -> bool:
    """Tell whether EMILIA takes an envelope: by its form, and as something that has a digest."""
    formed = emilia_verify._resolution_binding_moment_shape_valid(document)
    return formed and emilia_verify.compute_binding_moment_hash(document) is not None


def containers(value: Any) -> Iterator[Any]:
    """Yield every object and array of a value."""
    if isinstance(value, dict | list):
        yield value
        for inner in list(value.values()) if isinstance(value, dict) else value:
            yield from containers(inner)


def mutate(document: Document, data: st.DataObject) -> None:
    """Change one place: another value, a member or entry more, one less, or one twice."""
    place = data.draw(st.sampled_from(list(containers(document))))
    value = copy.deepcopy(data.draw(ANYTHING))
    steps = list(place) if isinstance(place, dict) else list(range(len(place)))
    change = data.draw(st.sampled_from(["set", "drop", "add", "twice"] if steps else ["add"]))
    step = data.draw(st.sampled_from(steps)) if steps else None
    match change, place:
        case "set", _:
            place[step] = value
        case "drop", _:
            del place[step]
        case _, dict():
            place[data.draw(st.sampled_from(SLOTS))] = value
        case "add", _:
            place.append(value)
        case _:
            place.append(copy.deepcopy(place[step]))


def index_is_a_decimal(document: Any) -> bool:
    """Tell whether the one known difference may apply: an index that Python holds as a float."""
    question = document.get("question")
    return isinstance(question, dict) and isinstance(question.get("recommended_idx"), float)


@settings(max_examples=examples(600))
@given(documents(), st.integers(0, 2), st.data())
def test_both_read_alike(document: Document, changes: int, data: st.DataObject) -> None:
    """After any changes, both call it well-formed or both malformed; the listed difference apart."""
    document = copy.deepcopy(document)
    for _ in range(changes):
        mutate(document, data)

    ours = not isinstance(parse_moment(document), MalformedEnvelope)
    if not index_is_a_decimal(document):
        assert ours == takes(document)
    else:
        assert ours or not takes(document)


@settings(max_examples=examples(100))
@given(ANYTHING)
@example(None)
@example([ENVELOPE])
def test_both_refuse_what_is_no_envelope(value: Any) -> None:
    """Neither reads anything into a value that has not the five slots."""
    assert isinstance(parse_moment(value), MalformedEnvelope)
    assert not takes(value)


DIFFERENCES: dict[str, tuple[str, Any, bool, bool]] = {
    # JSON has one kind of number, and EMILIA's own profile digests 1.0 as 1; its Python port asks for an int.
    "1.0 is an integer to us": ("/question/recommended_idx", 1.0, True, False),
    # Its form check lets it pass, and its digest fails on it; we refuse it as malformed at once.
    "half of a pair has a form to EMILIA": ("/offer", "\ud800", False, True),
}


@pytest.mark.parametrize(("pointer", "value", "ours", "theirs"), DIFFERENCES.values(), ids=DIFFERENCES.keys())
def test_the_listed_differences(pointer: str, value: Any, ours: bool, theirs: bool) -> None:
    """Each difference is there, and as it is listed."""
    document = changed(at(pointer), value)

    assert isinstance(parse_moment(document), MalformedEnvelope) is not ours
    assert emilia_verify._resolution_binding_moment_shape_valid(document) is theirs


NEITHER: dict[str, tuple[str, Any]] = {
    "an empty synopsis": ("/synopsis", ""),
    "a hedge": ("/synopsis", "We might ship, or perhaps not."),
    "a leading stem": ("/question/stem", "Surely you want to ship on Tuesday, as recommended?"),
    "no findings": ("/findings", []),
    "two options alike": ("/question/options/1", ENVELOPE["question"]["options"][0]),
}


@pytest.mark.parametrize(("pointer", "value"), NEITHER.values(), ids=NEITHER.keys())
def test_what_is_no_matter_of_form_to_either(pointer: str, value: Any) -> None:
    """The construction discipline of section 5 is checked elsewhere."""
    document = changed(at(pointer), value)

    assert takes(document)
    assert not isinstance(parse_moment(document), MalformedEnvelope)


@pytest.mark.parametrize("vector", cases(vectors(RESOLUTION), RESOLUTION))
def test_the_vectors_agree(vector: Vector) -> None:
    """Of the suite's envelopes those are malformed that it says are."""
    document = vector["binding_moment"]

    assert isinstance(parse_moment(document), MalformedEnvelope) == (vector["id"] in MALFORMED)
    assert takes(document) == (vector["id"] not in MALFORMED)


MALFORMED = {"reject_malformed_binding_moment", "reject_noncanonical_binding_moment"}
