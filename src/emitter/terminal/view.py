"""What a person sees of the page, what was highlighted, and what the eye has reached: pure, without a terminal.

The rule of consent: ENTER chooses only the highlighted option (none is at the start), only if the screen as it was last
drawn shows it highlighted, and only once every row of the option and every row of the question has been on the screen.

Source: draft-morrison-binding-moment-envelope-00, section 8.1 (what a renderer preserves), 8.2 (the arrow-key picker).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emitter.terminal.page import Page


class Says(str, Enum):
    """What the picker says when a key does nothing, or not yet what it would."""

    CHOOSE = "Choose with the arrows or a number first."
    AGAIN = "Press Enter again to choose this."
    QUESTION = "Read the question first: it stands above."
    OPTION = "Read the option to its end first: go down."
    PASTED = "Pasted text chooses nothing here."
    NARROW = "Widen the window."
    NOTHING = "That key does nothing here, and nothing is highlighted."
    NO_ANSWER = "This decision takes no answer in your own words."
    NO_OBJECTION = "This decision takes no veto on its question."
    SEND = "Press Enter again to send this."


@dataclass(frozen=True, slots=True)
class Frame:
    """What a drawing showed: from which row on, how many, and which option highlighted."""

    top: int
    height: int
    at: int | None


@dataclass(frozen=True, slots=True)
class View:
    """The window on the page; ``seen`` are the rows that have been on the screen."""

    page: Page
    height: int
    top: int = 0
    at: int | None = None
    seen: frozenset[int] = frozenset()
    drawn: Frame | None = None
    says: str | None = None

    @property
    def frame(self) -> Frame:
        """What a drawing shows now."""
        return Frame(self.top, self.height, self.at)

    @property
    def last_top(self) -> int:
        """How far the window can be moved down."""
        return max(0, len(self.page.rows) - self.height)

    @property
    def more(self) -> bool:
        """Whether something stands below the window."""
        return self.top < self.last_top


def fitted(view: View, page: Page, height: int) -> View:
    """Return the view on the same decision in another window: what was wholly seen stays so, and the place is kept."""
    if page is view.page and height == view.height:
        return view
    pairs = list(zip(view.page.paragraphs, page.paragraphs, strict=True))
    seen = frozenset(row for old, new in pairs if view.seen.issuperset(old) for row in new)
    top = next((new.start for old, new in pairs if view.top in old), 0)
    shown = view.at is not None and _in_window(view, view.page.choices[view.at].start)
    moved = View(page, height, 0, view.at, seen, None, view.says)
    moved = replace(moved, top=min(top if page is not view.page else view.top, moved.last_top))
    return into_view(moved) if shown else moved


def shown(view: View) -> View:
    """Return the view after it was drawn: what stands in the window has been seen."""
    rows = range(view.top, min(view.top + view.height, len(view.page.rows)))
    return replace(view, seen=view.seen.union(rows), drawn=view.frame)


def scrolled(view: View, rows: int) -> View:
    """Return the view moved down by ``rows``, or up, as far as there is something."""
    return replace(view, top=min(max(0, view.top + rows), view.last_top), says=None)


def highlighted(view: View, index: int) -> View:
    """Return the view with an option highlighted, and in the window: with the question, where both fit."""
    return into_view(replace(view, at=index, says=None))


def down(view: View) -> View:
    """Return the view one further down: the next option once it stands in the window, else a row."""
    begin = -1 if view.at is None else view.at
    below = [at for at, span in enumerate(view.page.choices) if at > begin and span.start >= view.top]
    if below and _stands(view, below[0]):
        return replace(view, at=below[0], says=None)
    return scrolled(view, 1)


def up(view: View) -> View:
    """Return the view one further up: the option before once it stands in the window, else a row."""
    if view.at and _stands(view, view.at - 1):
        return replace(view, at=view.at - 1, says=None)
    return scrolled(view, -1)


def confirmed(view: View) -> int | View:
    """Return the option that ENTER chooses, or the view that says why it chooses none."""
    if view.at is None:
        return replace(view, says=Says.CHOOSE)
    option = view.page.choices[view.at]
    if view.drawn != view.frame or not any(_in_window(view, row) for row in option):
        return replace(into_view(view), says=Says.AGAIN)
    if not view.seen.issuperset(view.page.stem):
        return replace(view, says=Says.QUESTION)
    if not view.seen.issuperset(option):
        return replace(view, says=Says.OPTION)
    return view.at


def released(view: View, says: Says | None = None) -> View:
    """Return the view with no option highlighted, and why."""
    return replace(view, at=None, says=says)


def into_view(view: View) -> View:
    """Return the view moved as little as shows the highlighted option, and the question where both fit."""
    if view.at is None:
        return view
    wanted = view.page.choices[view.at]
    if wanted.stop - view.page.stem.start <= view.height:
        wanted = range(view.page.stem.start, wanted.stop)
    if len(wanted) >= view.height or wanted.start < view.top:
        return replace(view, top=min(wanted.start, view.last_top))
    return replace(view, top=max(view.top, wanted.stop - view.height))


def _stands(view: View, index: int) -> bool:
    """Tell whether an option stands wholly in the window, or, where it is higher, fills it from the top."""
    span = view.page.choices[index]
    whole = view.top <= span.start and span.stop <= view.top + view.height
    return whole or (len(span) > view.height and span.start == view.top)


def _in_window(view: View, row: int) -> bool:
    return view.top <= row < view.top + view.height
