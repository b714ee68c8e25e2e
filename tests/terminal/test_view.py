"""The rule of consent as a law: whatever the keys and the windows, ENTER takes only what the eye has reached."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from emitter.render.layout import build_layout
from emitter.terminal.picker_state import (
    View,
    build_page,
    clear_highlight,
    confirm_choice,
    fit_view,
    highlight,
    move_down,
    move_up,
    record_drawing,
    scroll,
)
from tests.terminal.moments import invoice
from tests.work import examples

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.terminal.picker_state import Page

Act: TypeAlias = tuple[str | tuple[int, int], bool]
WIDTHS = (12, 20, 40, 80)
PAGES = {width: build_page(build_layout(invoice(4)), width, get_cwidth) for width in WIDTHS}
MOVES: dict[str, Callable[[View], View]] = {
    "down": move_down,
    "up": move_up,
    "page down": lambda view: scroll(view, view.height - 1),
    "page up": lambda view: scroll(view, 1 - view.height),
    "home": lambda view: scroll(view, -view.top),
    "end": lambda view: scroll(view, view.last_top),
    "1": lambda view: highlight(view, 0),
    "4": lambda view: highlight(view, 3),
    "escape": clear_highlight,
    "draw": record_drawing,
}
SIZES = st.tuples(st.sampled_from(WIDTHS), st.integers(1, 50))
ACTS = st.tuples(st.sampled_from([*MOVES, "enter"]) | SIZES, st.booleans()).map(lambda act: [act])
TRIES = st.sampled_from(["1", "4"]).map(lambda key: [(key, True), ("enter", False)])
"""Acts, each with whether it was drawn; one who tries is likely to meet the rule."""


@dataclass
class Eye:
    """What somebody remembers who looks at every drawing: rows, by the width they had, and the last of them."""

    rows: dict[int, set[int]] = field(default_factory=lambda: {width: set() for width in WIDTHS})
    now: range = range(0)
    at: int | None = None

    def look(self, width: int, view: View) -> None:
        """Look at a drawing."""
        self.now, self.at = range(view.top, view.top + view.height), view.highlighted
        self.rows[width].update(self.now)

    def read(self, part: Callable[[Page], range]) -> bool:
        """Tell whether each paragraph of a part was wholly seen at some width."""
        places = [place for place, each in enumerate(PAGES[80].paragraphs) if _within(each, part(PAGES[80]))]
        return all(
            any(self.rows[width].issuperset(PAGES[width].paragraphs[place]) for width in WIDTHS) for place in places
        )


def _within(rows: range, part: range) -> bool:
    return part.start <= rows.start and rows.stop <= part.stop and bool(rows)


@settings(max_examples=examples(300))
@given(st.lists(ACTS | TRIES, max_size=40), SIZES)
def test_enter_takes_only_what_was_read(tried: list[list[Act]], size: tuple[int, int]) -> None:
    """It answers with the option that was highlighted on the last drawing, read to its end like the question."""
    width, height = size
    view, eye = View(PAGES[width], height), Eye()
    for act, seen in chain.from_iterable(tried):
        if isinstance(act, tuple):
            width, height = act
            view = fit_view(view, PAGES[width], height)
        elif act == "enter":
            found = confirm_choice(view)
            if not isinstance(found, View):
                assert eye.at == found
                assert set(eye.now) & set(view.page.choices[found])
                assert eye.read(lambda each: each.stem)
                assert eye.read(lambda each, found=found: each.choices[found])  # type: ignore[misc]
                return
            view = found
        else:
            view = MOVES[act](view)
        if seen or act == "draw":
            eye.look(width, view)
            view = record_drawing(view)
        assert 0 <= view.top <= view.last_top


@given(SIZES, st.integers(0, 3))
def test_going_down_always_comes_to_an_answer(size: tuple[int, int], wanted: int) -> None:
    """In every window, keys down and ENTER are enough to read and to choose any option."""
    width, height = size
    view = record_drawing(View(PAGES[width], height))
    for _ in range(2 * len(PAGES[width].rows)):
        found = confirm_choice(view)
        if not isinstance(found, View) and found == wanted:
            return
        view = record_drawing(move_down(view))
    raise AssertionError(f"option {wanted} cannot be chosen at {size}")


@given(SIZES, SIZES, st.integers(0, 3))
def test_a_highlighted_option_stays_in_the_window(before: tuple[int, int], after: tuple[int, int], index: int) -> None:
    """A window of another size shows where the highlighted option begins."""
    view = fit_view(highlight(record_drawing(View(PAGES[before[0]], before[1])), index), PAGES[after[0]], after[1])

    assert view.highlighted == index
    assert view.top <= view.page.choices[index].start < view.top + view.height
