"""The work grows as the text does, whatever stands in it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from emitter.authority.narrative import leaks, scan, scrub
from tests.authority.narrative.labelled import NAMES, As

if TYPE_CHECKING:
    from collections.abc import Callable

SMALL, LARGE = 2_000, 8_000
MEGABYTE = 1_000_000
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
    return lambda text: scan(text, As(mode, ("miracle cure", "risk-free"), "general"))


READERS: dict[str, Callable[[str], object]] = {
    "attributive": _scanned("attributive"),
    "educational": _scanned("educational"),
    "scrub": scrub,
    "leaks": lambda text: leaks(text, NAMES),
}


def _seconds(reader: Callable[[str], object], text: str, times: int = 2) -> float:
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        reader(text)
        best = min(best, time.process_time() - start)
    return best


def _many(piece: str, length: int) -> str:
    return (piece * (length // len(piece) + 1))[:length]


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("name", READERS)
def test_four_times_the_text_is_no_sixteen_times_the_work(name: str, piece: str) -> None:
    """Of processor time, the least of two readings; a square would take sixteen times as much, or more."""
    small = _seconds(READERS[name], _many(HOSTILE[piece], SMALL))
    large = _seconds(READERS[name], _many(HOSTILE[piece], LARGE))
    assert large < max(10 * small, 0.03)


@pytest.mark.parametrize("piece", ["verdicts asked about", "tests asked about"])
def test_a_sentence_without_an_end_is_no_more_work(piece: str) -> None:
    """What bears on a verdict is looked for near it, however long the sentence is."""
    small = _seconds(READERS["educational"], _many(HOSTILE[piece], 4 * SMALL))
    assert _seconds(READERS["educational"], _many(HOSTILE[piece], 40 * SMALL)) < 18 * small


@pytest.mark.parametrize("name", ["attributive", "leaks"])
def test_a_megabyte_is_read_to_its_end(name: str) -> None:
    """In no more than twenty times what a tenth of it takes, and what stands last is found."""
    end = "\n\nThe oracle ate a cake."
    text = _many(ORDINARY, MEGABYTE - len(end)) + end
    small = _seconds(READERS[name], text[-MEGABYTE // 10 :], 1)
    assert _seconds(READERS[name], text, 1) < 20 * small
    markers = leaks(text, NAMES) if name == "leaks" else scan(text, As("attributive"))
    assert markers[-1].start >= MEGABYTE - len(end)
