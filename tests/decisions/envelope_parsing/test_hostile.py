"""Whatever arrives as an envelope is one or is malformed, and never an exception."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emitter.decisions.envelope_parsing import MOMENT_FIELD, MalformedEnvelope, parse_moment, parse_moment_text
from emitter.models import BindingMoment
from tests.decisions.envelope_parsing.envelopes import ENVELOPE, OPTION, at, changed
from tests.work import examples

SECRET = "hunter2"


def cyclic() -> dict[str, Any]:
    """Return an envelope that is its own question."""
    ring = dict(ENVELOPE)
    ring["question"] = ring
    return ring


def nested(levels: int) -> Any:
    """Return an envelope with so many containers in a member that it does not have."""
    deep: Any = SECRET
    for _ in range(levels):
        deep = {SECRET: deep}
    return {**ENVELOPE, SECRET: deep}


HOSTILE: dict[str, Any] = {
    "null": None,
    "true": True,
    "a number": 1,
    "a text": SECRET,
    "an array": [ENVELOPE],
    "an empty object": {},
    "wrapped": {MOMENT_FIELD: ENVELOPE},
    "wrapped twice": {MOMENT_FIELD: {MOMENT_FIELD: ENVELOPE}},
    "an instance": BindingMoment.model_validate(ENVELOPE),
    "a class": BindingMoment,
    "a tuple of options": changed(at("/question/options"), (OPTION, OPTION)),
    "a set of findings": changed(at("/findings"), {SECRET}),
    "an iterator of findings": changed(at("/offer"), iter([SECRET])),
    "bytes for a text": changed(at("/offer"), SECRET.encode()),
    "names that are numbers": {1: 2, **ENVELOPE},
    "names that are null": {None: None},
    "cyclic": cyclic(),
    "63 levels": nested(63),
    "64 levels": nested(64),
    "100,000 levels": nested(100_000),
    "a huge number": changed(at("/question/recommended_idx"), 10**5_000),
    "not a number": changed(at("/question/recommended_idx"), float("nan")),
    "100,000 members": {**ENVELOPE, **{str(index): SECRET for index in range(100_000)}},
    "a long text for an array": changed(at("/findings"), SECRET * 100_000),
}


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE.keys())
def test_anything_at_all_is_malformed_and_no_exception(value: Any) -> None:
    """What is no envelope is a value, and says nothing of what it was."""
    found = parse_moment(value)

    assert isinstance(found, MalformedEnvelope)
    assert SECRET not in str(found)
    assert len(str(found)) < 4_000


@settings(max_examples=examples(200))
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.binary(),
        lambda inner: (
            st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.sampled_from([*ENVELOPE]) | st.text(), inner)
        ),
        max_leaves=20,
    )
)
def test_no_value_raises(value: Any) -> None:
    """Reading never raises: what is not well-formed is malformed, with reasons."""
    found = parse_moment(value)

    assert isinstance(found, MalformedEnvelope)
    assert found.reasons


@settings(max_examples=examples(200))
@given(st.text() | st.binary())
@example('{"binding_moment": null}')
@example("[" * 100_000)
@example("9" * 10_000)
def test_no_text_raises(text: str | bytes) -> None:
    """A text that is no envelope is malformed, whatever else it is."""
    assert isinstance(parse_moment_text(text), MalformedEnvelope)
