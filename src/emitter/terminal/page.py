"""The whole decision as rows of one width: what a window of any height shows a part of.

Source: draft-morrison-binding-moment-envelope-00, section 8.1: all of the briefing, the reasoning with each option, the
recommended option marked in words, every open hatch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from emitter.render.layout import OFFER
from emitter.render.line import line
from emitter.render.wrap import wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from emitter.render.layout import Choice, Layout

MARGIN = 5
"""Cells before every text: the marker of the highlighted option, and the key. No text of others ever stands there."""
NARROWEST = 10
"""Cells of a window; in a narrower one rows are cut off."""
WIDEST = 85
"""Longer rows than this are hard to read."""


class Tone(str, Enum):
    """How a row is to be read; how it looks is the drawer's."""

    PLAIN = "plain"
    STRONG = "strong"
    HEADING = "heading"
    LABEL = "label"
    MARK = "mark"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Row:
    """One row: the ``key`` in the margin, the text, and a ``mark`` of ours after it."""

    text: str = ""
    tone: Tone = Tone.PLAIN
    key: str = ""
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """The rows, and which of them are what.

    ``paragraphs`` are the same, in number and order, at every width; each row is of exactly one.
    """

    rows: tuple[Row, ...]
    paragraphs: tuple[range, ...]
    stem: range
    choices: tuple[range, ...]


@dataclass(frozen=True, slots=True)
class Elaborated:
    """What the person wanted to know more about, and what the agent told them, in lines that can be shown."""

    topic: str
    text: str


def page(
    layout: Layout, width: int, measure: Callable[[str], int], details: Sequence[Elaborated] | None = None
) -> Page:
    """Return the decision in a window of ``width`` cells, whose last column stays free.

    ``details`` are what was asked for so far; None where detail cannot be asked for.
    """
    draft = _Draft(max(1, min(width - 1, WIDEST) - MARGIN), measure)
    _brief(draft, layout)
    for each in details or ():
        draft.put(f"You asked about: {line(each.topic)}" if each.topic else "You asked for more", Tone.HEADING)
        for text in each.text.split("\n"):
            draft.put(text)
        draft.gap()
    stem = draft.put(layout.stem, Tone.STRONG)
    draft.gap()
    choices = tuple(_choose(draft, each) for each in layout.choices)
    for hatch in layout.hatches:
        draft.put(hatch.label, key=hatch.key)
    if details is not None:
        draft.put(OFFER.label, key=OFFER.key)
    return Page(tuple(draft.rows), tuple(draft.paragraphs), stem, choices)


@dataclass(slots=True)
class _Draft:
    """The rows so far, with texts of at most ``width`` cells."""

    width: int
    measure: Callable[[str], int]
    rows: list[Row] = field(default_factory=list[Row])
    paragraphs: list[range] = field(default_factory=list[range])

    def put(self, text: str, tone: Tone = Tone.PLAIN, *, key: str = "") -> range:
        """Add a paragraph, with a key before its first row, and return its rows."""
        first, *others = wrapped(text, self.width, self.measure) or [""]
        return self._close([Row(first, tone, key), *(Row(each, tone) for each in others)])

    def item(self, text: str) -> None:
        """Add a paragraph after a dash."""
        first, *others = wrapped(text, max(1, self.width - 2), self.measure) or [""]
        self._close([Row(f"- {first}"), *(Row(f"  {each}") for each in others)])

    def mark(self, word: str) -> None:
        """Add a word in brackets to the last row, or below it."""
        last = self.rows[-1]
        mark = f"({word})"
        if self.measure(last.text) + 2 + len(mark) <= self.width:
            self.rows[-1] = Row(last.text, last.tone, last.key, mark)
            self._close([])
        else:
            self._close([Row(each, Tone.MARK) for each in wrapped(mark, self.width, self.measure)])

    def gap(self) -> None:
        """Add an empty row."""
        self._close([Row()])

    def _close(self, rows: list[Row]) -> range:
        begin = len(self.rows)
        self.rows += rows
        self.paragraphs.append(range(begin, len(self.rows)))
        return self.paragraphs[-1]


def _brief(draft: _Draft, layout: Layout) -> None:
    if layout.note is not None:
        draft.put(f"(A note first: {layout.note})")
        draft.gap()
    draft.put(layout.synopsis, Tone.STRONG)
    for heading, items in (("What it rests on", layout.findings), ("What to do", layout.recommendations)):
        draft.gap()
        draft.put(heading, Tone.HEADING)
        for each in items:
            draft.item(each)
    draft.gap()
    draft.put(layout.offer)
    draft.gap()


def _choose(draft: _Draft, choice: Choice) -> range:
    """Add an option: its label, the mark, what a person is to be told about it, and its reasoning."""
    label = draft.put(choice.label, Tone.LABEL, key=choice.key)
    if choice.mark is not None:
        draft.mark(choice.mark)
    if choice.caution is not None:
        draft.put(choice.caution, Tone.WARNING)
    reasoning = draft.put(choice.reasoning)
    draft.gap()
    return range(label.start, reasoning.stop)
