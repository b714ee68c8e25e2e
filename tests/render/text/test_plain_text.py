"""Plain text in rows, and the payload of a tool as text."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.render.delivery import PlainResult
from emitter.render.safe_text import cell_width, to_single_line
from emitter.render.text_formats import MIN_WIDTH, PlainText, format_moment, format_plain_result
from emitter.testing.sample_moments import HOSTILE_MOMENTS, VALID_MOMENT, fill_every_slot
from tests.work import examples

LAW = settings(max_examples=examples(100))
WRAPPED = """
Synopsis: the release is ready and
      should go out tonight.

What it rests on
  - Finding one: the check called
      one passed.
  - Finding two: the check called
      two passed.
  - Finding three: the check called
      three passed.

What to do
  - Move one: publish the packages.
  - Move two: watch the errors for
      an hour.

Offer: ask for the detail of any
      item.

Stem: what happens to the release?
  1. Alder the release
     Reasoning of alder, on one line.
  2. Birch the release (recommended)
     Reasoning of birch, on one line.
  3. Cedar the release
     Reasoning of cedar, on one line.
  a. Answer in your own words
  d. This is the wrong question:
      talk first

Type 1, 2 or 3 to choose, a and
      your answer, or d and your
      objection."""


def test_rows_of_a_width() -> None:
    """What goes on goes on further in than any option begins."""
    assert PlainText(40).draw(VALID_MOMENT) == WRAPPED


@pytest.mark.parametrize("width", [1, MIN_WIDTH, 40, 79])
@pytest.mark.parametrize("moment", HOSTILE_MOMENTS.values(), ids=HOSTILE_MOMENTS.keys())
def test_no_row_is_wider_or_begins_like_an_option(width: int, moment: Any) -> None:
    """Padding cannot push a false option to the margin."""
    rows = PlainText(width).draw(moment).split("\n")
    numbered = [found[1] for row in rows if (found := re.match(" {0,4}([0-9]+)[.] ", row))]

    assert max(map(cell_width, rows)) <= max(width, MIN_WIDTH)
    assert numbered == [str(index + 1) for index, _ in enumerate(moment.question.options)]


@LAW
@given(st.text(max_size=30))
def test_without_a_width_each_slot_is_a_line(text: str) -> None:
    """The first option stands where it stands with any text."""
    shown = format_moment(fill_every_slot(text)).split("\n")

    assert shown[16].startswith("  1. Alder")
    assert shown[18].startswith("  2. Birch")
    assert len(shown) == 22


PAYLOAD = {"a": ["x\u202e\x1b[3m\u2028y"], "b": {"c": None}, "d": "\x85e"}
SHOWN = """why

{
  "a": [
    "x\ufffd\\u001b[3m y"
  ],
  "b": {
    "c": null
  },
  "d": " e"
}"""


def test_a_payload_is_text_too() -> None:
    """JSON in its lines, after the diagnostic; no text of it begins a line or drives a terminal."""
    assert format_plain_result(PlainResult(PAYLOAD, "why")) == SHOWN
    assert format_plain_result(PlainResult(PAYLOAD)) == SHOWN.removeprefix("why\n\n")


DEEP: Any = 0
for _ in range(100_000):
    DEEP = [DEEP]
ROUND: Any = []
ROUND.append(ROUND)
STRANGE: dict[str, Any] = {"bottomless": DEEP, "round": ROUND, "unsorted keys": {(1,): 2}}


@pytest.mark.parametrize("payload", STRANGE.values(), ids=STRANGE.keys())
def test_a_payload_that_is_no_json_is_said_to_be_none(payload: Any) -> None:
    """The interaction does not fail for it."""
    assert format_plain_result(PlainResult(payload)) == "(The tool's result cannot be shown as JSON.)"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@LAW
@given(JSON)
def test_any_payload_is_shown_on_as_many_lines_as_its_json_has(payload: Any) -> None:
    """One line for each of the document's, each safe."""
    shown = format_plain_result(PlainResult(payload)).split("\n")

    assert len(shown) == json.dumps(payload, indent=2).count("\n") + 1
    assert all(to_single_line(each) == " ".join(each.split()) for each in shown)
