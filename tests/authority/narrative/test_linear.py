"""Long and hostile texts for the narrative scanner; ``benchmarks/linear.py`` measures them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from emitter.authority.narrative import find_leaks, scan_narrative, scrub_measurements
from tests.authority.narrative.labelled import NAMES, As
from tests.work import FULL

if TYPE_CHECKING:
    from collections.abc import Callable

SMALL, LARGE = 2_000, 8_000
LENGTH = 1_000_000 if FULL else 200_000
ORDINARY = (
    "According to the leaflet, the dose is 5 mg and the tablets are safe. Take two after a meal; do not chew them. "
    "Most people tolerate it well, and some may feel tired. "
)
HOSTILE = {
    "what sources say": "note in the report ",
    "frames": "the view of the doctor is per the way that ",
    "ordinary": ORDINARY,
    "number words": "one two three ",
    "numbers": "1 ",
    "numbers and letters": "1 1 1 a",
    "letters alone": "a b c d ",
    "digits and o": "5o",
    "shares": "in a one in a ",
    "halves": "half a ",
    "full stops": ". ",
    "stops and quotes": '."',
    "initials": "A. ",
    "titles": "Mr. ",
    "lines": "\n ",
    "items": "- x\n",
    "open quotes": "\u201c",
    "quotes": '"',
    "brackets": "(",
    "commas": "word,",
    "genitives": "'s ",
    "copulas": "is is ",
    "negations": "is not ",
    "the beginning of verdicts": "is the perfectly ",
    "verdicts asked about": "whether it is safe ",
    "tests asked about": "result is whether ",
    "modals": "you must should ",
    "sources": "says ",
    "sources one after another": "the leaflet says it and the doctor says it and ",
    "that": "that ",
    "hedges": "not always sometimes ",
    "links": "so then please ",
    "invisible": "\u200b",
    "accents": "e\u0301\u0301",
    "entities": "&amp;",
    "tags": "<b>",
    "hexadecimal": "0123456789abcdef",
    "addresses": "a@",
    "names half said": "openfd ",
    "one word": "a",
}


def _scanned(mode: str) -> Callable[[str], object]:
    return lambda text: scan_narrative(text, As(mode, ("miracle cure", "risk-free"), "general"))


READERS: dict[str, Callable[[str], object]] = {
    "attributive": _scanned("attributive"),
    "attributive with sources": lambda text: scan_narrative(text, As("attributive"), sources=("leaflet", *NAMES)),
    "educational": _scanned("educational"),
    "scrub": scrub_measurements,
    "leaks": lambda text: find_leaks(text, NAMES),
}


def many(piece: str, length: int) -> str:
    """Return so many characters of a piece."""
    return (piece * (length // len(piece) + 1))[:length]


@pytest.mark.parametrize("name", ["attributive", "leaks"])
def test_a_long_text_is_read_to_its_end(name: str) -> None:
    """What stands last is found, however much stands before it."""
    end = "\n\nThe oracle ate a cake."
    text = many(ORDINARY, LENGTH - len(end)) + end
    markers = find_leaks(text, NAMES) if name == "leaks" else scan_narrative(text, As("attributive"))
    assert markers[-1].start >= LENGTH - len(end)
