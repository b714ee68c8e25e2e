"""No slot of a stream comes from a thinking block, however the text is cut into pieces."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.recover.thinking_blocks import ThinkingFilter
from tests.recover.test_thinking import BLOCKS, UNTAGGED
from tests.streaming.reading import reader, reported, slots
from tests.work import examples

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"total": {"type": "integer"}, "note": {"type": "string"}},
    "required": ["total", "note"],
    "additionalProperties": False,
}
DRAFT = '{"total": 5, "note": "draft"}'
ANSWER = '{"total": 6, "note": "<think>{}</think>"}'
BEGUN = {name: block for name, block in BLOCKS.items() if not name.startswith("never begun")}
"""A block whose beginning was never written is known for one only at its end."""


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("name", BEGUN)
def test_only_the_document_outside_is_reported(name: str, size: int) -> None:
    """Whichever way the block is written, and wherever its tags are cut."""
    text = f"Let me see.\n{BEGUN[name].replace('%s', DRAFT)}\nHere: {ANSWER}"
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    expected = [("/total", 6), ("/note", "<think>{}</think>")]
    assert slots(reported(reader(SCHEMA, "plain"), pieces)) == expected


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("block", UNTAGGED.values(), ids=UNTAGGED)
def test_thinking_without_tags_is_not_reported(block: str, size: int) -> None:
    """The words that begin it and end it may be cut anywhere, too."""
    text = f"{block.replace('%s', DRAFT)}{ANSWER}"
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert slots(reported(reader(SCHEMA, "plain"), pieces)) == [("/total", 6), ("/note", "<think>{}</think>")]


@pytest.mark.parametrize(
    "text",
    [
        *("<think>%s", "[THINK]a[/THINK]<think>%s", "```thinking\n%s\n", "<think><think>a</think>%s"),
        *("<unused94>thought\n%s", "<|think|>%s", "analysisWe need %s", "Here is my thought process: %s"),
    ],
)
def test_a_block_that_never_ends_tells_nothing(text: str) -> None:
    """What may still be thinking is not reported."""
    assert reported(reader(SCHEMA, "plain"), text.replace("%s", DRAFT)) == []


@given(st.text('<>/[]{}think`"\n a', max_size=60), st.integers(1, 9))
@settings(max_examples=examples(200))
def test_pieces_make_no_difference(text: str, size: int) -> None:
    """What is let through of a text is what is let through of its pieces, but for an end that is held back."""
    whole, cut = ThinkingFilter(), ThinkingFilter()
    at_once = whole.feed(text)
    bit_by_bit = "".join(cut.feed(text[at : at + size]) for at in range(0, len(text), size))
    assert at_once == bit_by_bit


def test_a_long_block_costs_no_more_than_its_length() -> None:
    """What is held back between two pieces stays short."""
    outside = ThinkingFilter()
    for piece in ("<think>", *(["a < b "] * 2_000), *(["x"] * 2_000)):
        assert outside.feed(piece) == ""
        assert len(outside._pending) < 1_000
