"""The state of the picker, without a terminal: the page, the window that scrolls over it, and the session.

Enter chooses only the highlighted option, only if the last drawing showed it highlighted, and only after every
row of the option, of the question and of what is above it has been on the screen: the findings of a guarded call are
the call.

Source: draft-morrison-binding-moment-envelope-00, sections 8.1 and 8.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

from emitter.decisions import select_option
from emitter.errors import ResolutionError
from emitter.render.layout import DETAIL_OFFER, HatchKind, build_layout
from emitter.render.replies import veto
from emitter.render.safe_text import to_single_line, wrap_text
from emitter.terminal.plain_mode import clean_input

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from emitter.decisions import Resolution
    from emitter.models import BindingMoment
    from emitter.render.layout import Hatch, Layout, OptionLayout

_ENTRY_HINTS = {HatchKind.FREE_TEXT: "PgUp/PgDn read", HatchKind.DIALOGUE: "it may be empty"}


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows and the highlight that a drawing showed."""

    top: int
    height: int
    highlighted: int | None


class Tone(str, Enum):
    """The emphasis of a row. The picker maps it to a style."""

    PLAIN = "plain"
    STRONG = "strong"
    HEADING = "heading"
    LABEL = "label"
    MARK = "mark"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class PageRow:
    """One row: a ``key`` in the margin, the text, and a trusted ``mark`` after it."""

    text: str = ""
    tone: Tone = Tone.PLAIN
    key: str = ""
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """The rows of a decision, and the positions of its parts.

    Each row belongs to one paragraph. The paragraphs are the same at every width.
    """

    rows: tuple[PageRow, ...]
    paragraphs: tuple[range, ...]
    stem: range
    choices: tuple[range, ...]


@dataclass(frozen=True, slots=True)
class View:
    """The window that scrolls over the page. ``seen_rows`` have been on the screen."""

    page: Page
    height: int
    top: int = 0
    highlighted: int | None = None
    seen_rows: frozenset[int] = frozenset()
    drawn_frame: Frame | None = None
    notice: str | None = None

    @property
    def frame(self) -> Frame:
        """The frame that a drawing would show now."""
        return Frame(self.top, self.height, self.highlighted)

    @property
    def last_top(self) -> int:
        """The largest ``top``."""
        return max(0, len(self.page.rows) - self.height)

    @property
    def has_more(self) -> bool:
        """True if there are rows below the window."""
        return self.top < self.last_top


@dataclass(frozen=True, slots=True)
class DetailAnswer:
    """A topic that the person asked about, and the agent's answer as safe lines."""

    topic: str
    text: str


@dataclass(slots=True)
class PickerSession:
    """The state of the picker. ``width`` is the window's, in cells."""

    moment: BindingMoment
    measure: Callable[[str], int]
    layout: Layout
    view: View
    width: int = 80
    hatch: Hatch | None = None
    entry_notice: str | None = None
    drawn_text: str | None = None
    drafts: dict[HatchKind, str] = field(default_factory=dict[HatchKind, str])
    pages: dict[int, Page] = field(default_factory=dict[int, "Page"])
    details: tuple[DetailAnswer, ...] | None = None

    @classmethod
    def create(
        cls,
        moment: BindingMoment,
        measure: Callable[[str], int],
        notice: str | None,
        details: tuple[DetailAnswer, ...] | None = None,
    ) -> PickerSession:
        """Return a new session. ``measure`` counts cells; ``details`` is None if detail cannot be requested."""
        layout = build_layout(moment)
        view = View(build_page(layout, 80, measure, details), 1, notice=notice)
        return cls(moment, measure, layout, view, details=details)

    def fit(self, width: int, height: int) -> View:
        """Resize the view to a window whose page has ``height`` rows."""
        self.width = width
        if width not in self.pages:
            self.pages = {width: build_page(self.layout, width, self.measure, self.details)}
        self.view = fit_view(self.view, self.pages[width], height)
        return self.view

    @property
    def notice(self) -> str | None:
        """The message about the last key, if there is one."""
        return self.view.notice if self.hatch is None else self.entry_notice

    def status(self) -> list[str]:
        """Return the last rows of the window: the notice, or the keys."""
        if self.notice is not None:
            return wrap_text(self.notice, self.width - 1, self.measure)[:MAX_STATUS_ROWS]
        forms = self._list_keys()
        if self.hatch is not None:
            forms = (["Enter send", "Esc back", _ENTRY_HINTS[self.hatch.kind]], ["Enter", "Esc back"])
        return [_first_fitting(forms, self.width - 1)]

    def _list_keys(self) -> tuple[list[str], ...]:
        """Return the keys for choosing an option, in forms that get shorter."""
        keys = f"1-{len(self.layout.choices)} pick"
        verbs = {hatch.key: _VETO_VERBS[hatch.kind] for hatch in self.layout.hatches}
        if self.details is not None:
            verbs[DETAIL_OFFER.key] = "more"
        long, short = [f"{key} {verb}" for key, verb in verbs.items()], list(verbs)
        below = "[more below]" if self.view.has_more else ""
        return (
            [below, f"Up/Down or {keys}", "Enter choose", *long, "q leave"],
            [keys, "Enter choose", *long, "q leave", below and "..."],
            [keys, "Enter", *short, "q leave", below and "..."],
            [keys[: -len(" pick")], "Enter", *short, "q", below and "..."],
        )

    def mark_drawn(self, text: str) -> None:
        """Record that the view and a veto's ``text`` are on the screen. Rows that are cut off do not count."""
        if self.width >= MIN_WINDOW_WIDTH:
            self.view = record_drawing(self.view)
        self.drawn_text = text

    def move(self, step: Callable[[View], View]) -> None:
        """Move the view."""
        self.view = step(self.view)

    def show_notice(self, notice: Notice) -> None:
        """Show why a key has no effect."""
        self.view = replace(self.view, notice=notice)

    def confirm(self) -> Resolution | None:
        """Return the choice that Enter makes, or None with a notice."""
        # A narrow window cuts rows off, so the person may not have read them.
        if self.width < MIN_WINDOW_WIDTH:
            self.show_notice(Notice.NARROW)
            return None
        choice = confirm_choice(self.view)
        if isinstance(choice, View):
            self.view = choice
            return None
        return select_option(self.moment, choice)

    def start_writing(self, hatch: Hatch) -> str:
        """Start to write a veto, and return its draft."""
        self.hatch, self.entry_notice, self.drawn_text = hatch, None, None
        return self.drafts.get(hatch.kind, "")

    def stop_writing(self, text: str) -> None:
        """Stop writing, and keep the text as a draft."""
        if self.hatch is not None:
            self.drafts[self.hatch.kind] = text
        self.hatch = None

    def send(self, text: str) -> Resolution | None:
        """Return the veto that Enter sends, or None with a notice."""
        if self.hatch is None:
            return None
        # Enter may come with a paste, before the text was on the screen.
        if text != self.drawn_text:
            self.entry_notice = Notice.SEND
            return None
        try:
            return veto(self.moment, self.hatch.kind, clean_input(text))
        except ResolutionError as error:
            self.entry_notice = str(error)
            return None


MAX_STATUS_ROWS = 3
_WIDE_GAP = "   "
_VETO_VERBS = {HatchKind.FREE_TEXT: "answer", HatchKind.DIALOGUE: "object"}


def _first_fitting(forms: Sequence[Sequence[str]], room: int) -> str:
    """Return the first form that fits, at its widest spacing, or the last one cut to fit."""
    lines = [gap.join(filter(None, form)) for form in forms for gap in (_WIDE_GAP, "  ", " ")]
    return next((line for line in lines if len(line) <= room), lines[-1][:room])


class Notice(str, Enum):
    """Messages for keys that have no effect, or not yet."""

    CHOOSE = "Choose with the arrows or a number first."
    AGAIN = "Press Enter again to choose this."
    QUESTION = "Read what is above the options first: PgUp."
    OPTION = "Read the option to its end first: go down."
    PASTED = "Pasted text chooses nothing here."
    NARROW = "Widen the window."
    NOTHING = "That key does nothing here, and nothing is highlighted."
    NO_ANSWER = "This decision takes no answer in your own words."
    NO_OBJECTION = "This decision takes no veto on its question."
    SEND = "Press Enter again to send this."


def fit_view(view: View, page: Page, height: int) -> View:
    """Return the view in another window, with its position. Paragraphs that were fully seen stay seen."""
    if page is view.page and height == view.height:
        return view
    pairs = list(zip(view.page.paragraphs, page.paragraphs, strict=True))
    seen_rows = frozenset(row for old, new in pairs if view.seen_rows.issuperset(old) for row in new)
    top = next((new.start for old, new in pairs if view.top in old), 0)
    is_visible = view.highlighted is not None and _is_in_window(view, view.page.choices[view.highlighted].start)
    fitted = View(page, height, 0, view.highlighted, seen_rows, None, view.notice)
    fitted = replace(fitted, top=min(top if page is not view.page else view.top, fitted.last_top))
    return scroll_into_view(fitted) if is_visible else fitted


def record_drawing(view: View) -> View:
    """Return the view with the rows in the window marked as seen."""
    rows = range(view.top, min(view.top + view.height, len(view.page.rows)))
    return replace(view, seen_rows=view.seen_rows.union(rows), drawn_frame=view.frame)


def scroll(view: View, rows: int) -> View:
    """Return the view scrolled down by ``rows``, or up if negative."""
    return replace(view, top=min(max(0, view.top + rows), view.last_top), notice=None)


def highlight(view: View, index: int) -> View:
    """Return the view with an option highlighted and scrolled into the window."""
    return scroll_into_view(replace(view, highlighted=index, notice=None))


def move_down(view: View) -> View:
    """Return the view moved to the next option if it is fully visible, or else one row down."""
    current = -1 if view.highlighted is None else view.highlighted
    below = [index for index, rows in enumerate(view.page.choices) if index > current and rows.start >= view.top]
    if below and _is_fully_visible(view, below[0]):
        return replace(view, highlighted=below[0], notice=None)
    return scroll(view, 1)


def move_up(view: View) -> View:
    """Return the view moved to the previous option if it is fully visible, or else one row up."""
    if view.highlighted and _is_fully_visible(view, view.highlighted - 1):
        return replace(view, highlighted=view.highlighted - 1, notice=None)
    return scroll(view, -1)


def confirm_choice(view: View) -> int | View:
    """Return the option that Enter chooses, or the view with the reason why it chooses none."""
    if view.highlighted is None:
        return replace(view, notice=Notice.CHOOSE)
    option = view.page.choices[view.highlighted]
    if view.drawn_frame != view.frame or not any(_is_in_window(view, row) for row in option):
        return replace(scroll_into_view(view), notice=Notice.AGAIN)
    if not view.seen_rows.issuperset(range(view.page.stem.stop)):
        return replace(view, notice=Notice.QUESTION)
    if not view.seen_rows.issuperset(option):
        return replace(view, notice=Notice.OPTION)
    return view.highlighted


def clear_highlight(view: View, notice: Notice | None = None) -> View:
    """Return the view without a highlight, and with a notice."""
    return replace(view, highlighted=None, notice=notice)


def scroll_into_view(view: View) -> View:
    """Scroll as little as possible to show the highlighted option, with the question if both fit."""
    if view.highlighted is None:
        return view
    rows = view.page.choices[view.highlighted]
    if rows.stop - view.page.stem.start <= view.height:
        rows = range(view.page.stem.start, rows.stop)
    if len(rows) >= view.height or rows.start < view.top:
        return replace(view, top=min(rows.start, view.last_top))
    return replace(view, top=max(view.top, rows.stop - view.height))


def _is_fully_visible(view: View, index: int) -> bool:
    """Check whether an option is fully in the window, or fills it from the top."""
    rows = view.page.choices[index]
    fits = view.top <= rows.start and rows.stop <= view.top + view.height
    return fits or (len(rows) > view.height and rows.start == view.top)


def _is_in_window(view: View, row: int) -> bool:
    return view.top <= row < view.top + view.height


MARGIN = 5
"""Cells before every text, for the highlight marker and the key. Untrusted text never starts there."""
MIN_WINDOW_WIDTH = 10
"""Cells. Rows are cut off in a narrower window."""
MAX_WINDOW_WIDTH = 85
"""Cells. Longer rows are hard to read."""


def build_page(
    layout: Layout, width: int, measure: Callable[[str], int], details: Sequence[DetailAnswer] | None = None
) -> Page:
    """Return a decision's page of ``width`` cells, the last one free. ``details`` is None if there can be none."""
    builder = _PageBuilder(max(1, min(width - 1, MAX_WINDOW_WIDTH) - MARGIN), measure)
    _add_briefing(builder, layout)
    for answer in details or ():
        heading = f"You asked about: {to_single_line(answer.topic)}" if answer.topic else "You asked for more"
        builder.add_paragraph(heading, Tone.HEADING)
        for text in answer.text.split("\n"):
            builder.add_paragraph(text)
        builder.add_gap()
    stem = builder.add_paragraph(layout.stem, Tone.STRONG)
    builder.add_gap()
    choices = tuple(_add_choice(builder, choice) for choice in layout.choices)
    for hatch in layout.hatches:
        builder.add_paragraph(hatch.label, key=hatch.key)
    if details is not None:
        builder.add_paragraph(DETAIL_OFFER.label, key=DETAIL_OFFER.key)
    return Page(tuple(builder.rows), tuple(builder.paragraphs), stem, choices)


@dataclass(slots=True)
class _PageBuilder:
    """Collects rows with texts of at most ``width`` cells."""

    width: int
    measure: Callable[[str], int]
    rows: list[PageRow] = field(default_factory=list[PageRow])
    paragraphs: list[range] = field(default_factory=list[range])

    def add_paragraph(self, text: str, tone: Tone = Tone.PLAIN, *, key: str = "") -> range:
        """Add a paragraph, with a key before its first row, and return its rows."""
        first, *others = wrap_text(text, self.width, self.measure) or [""]
        return self._append_rows([PageRow(first, tone, key), *(PageRow(row, tone) for row in others)])

    def add_item(self, text: str) -> None:
        """Add a list item."""
        first, *others = wrap_text(text, max(1, self.width - 2), self.measure) or [""]
        self._append_rows([PageRow(f"- {first}"), *(PageRow(f"  {row}") for row in others)])

    def add_mark(self, word: str) -> None:
        """Add a word in parentheses after the last row, or below it if there is no room."""
        last = self.rows[-1]
        mark = f"({word})"
        if self.measure(last.text) + 2 + len(mark) <= self.width:
            self.rows[-1] = PageRow(last.text, last.tone, last.key, mark)
            self._append_rows([])
        else:
            self._append_rows([PageRow(row, Tone.MARK) for row in wrap_text(mark, self.width, self.measure)])

    def add_gap(self) -> None:
        """Add an empty row."""
        self._append_rows([PageRow()])

    def _append_rows(self, rows: list[PageRow]) -> range:
        start = len(self.rows)
        self.rows += rows
        self.paragraphs.append(range(start, len(self.rows)))
        return self.paragraphs[-1]


def _add_briefing(builder: _PageBuilder, layout: Layout) -> None:
    if layout.note is not None:
        builder.add_paragraph(f"(A note first: {layout.note})")
        builder.add_gap()
    builder.add_paragraph(layout.synopsis, Tone.STRONG)
    for section in layout.sections:
        builder.add_gap()
        builder.add_paragraph(section.heading, Tone.HEADING)
        for item in section.items:
            builder.add_item(item)
    builder.add_gap()
    builder.add_paragraph(layout.offer)
    builder.add_gap()


def _add_choice(builder: _PageBuilder, choice: OptionLayout) -> range:
    """Add an option with its mark, warnings and reasoning, and return its rows."""
    label = builder.add_paragraph(choice.label, Tone.LABEL, key=choice.key)
    if choice.mark is not None:
        builder.add_mark(choice.mark)
    for warning in choice.warnings:
        builder.add_paragraph(warning, Tone.WARNING)
    reasoning = builder.add_paragraph(choice.reasoning)
    builder.add_gap()
    return range(label.start, reasoning.stop)
