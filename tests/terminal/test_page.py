"""The page: no row is wider than the window, no word is lost, and the margin is ours alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from emitter.render.layout import build_layout
from emitter.terminal.picker_state import MARGIN, MAX_WINDOW_WIDTH, MIN_WINDOW_WIDTH, Page, PageRow, Tone, build_page
from emitter.testing.sample_moments import fill_every_slot, make_labelled_moment
from tests.terminal.moments import INVOICE

WIDTHS = st.integers(MIN_WINDOW_WIDTH, 200)
TEXTS = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("\n\x1b\u202e\u65e5\U0001f600\u0301\u2630 "), max_size=40
)


def solid(drawn: Page) -> str:
    """Return the texts of a page without spaces."""
    return "".join("".join(each.text.split()) for each in drawn.rows)


@given(TEXTS, WIDTHS)
def test_every_row_fits_and_no_word_is_lost(text: str, width: int) -> None:
    """As the drawer counts cells, whatever is in the text: wide characters, marks, words without an end."""
    shown = build_layout(fill_every_slot(text))
    drawn = build_page(shown, width, get_cwidth)
    texts = [
        *(shown.synopsis, *shown.findings, *shown.recommendations, shown.offer, shown.stem),
        *(part for each in shown.choices for part in (each.label, each.reasoning)),
    ]

    widest = max(MARGIN + get_cwidth(each.text) + (2 + len(each.mark) if each.mark else 0) for each in drawn.rows)
    assert widest < width
    assert widest <= MAX_WINDOW_WIDTH
    assert [each for each in texts if "".join(each.split()) not in solid(drawn)] == []


@given(WIDTHS)
def test_paragraphs_are_the_same_at_every_width(width: int) -> None:
    """In number and order, and each row is of exactly one."""
    narrow, wide = (
        build_page(build_layout(INVOICE), width, get_cwidth),
        build_page(build_layout(INVOICE), 80, get_cwidth),
    )

    assert len(narrow.paragraphs) == len(wide.paragraphs)
    assert [row for each in narrow.paragraphs for row in each] == list(range(len(narrow.rows)))


@given(TEXTS, WIDTHS)
def test_only_our_keys_stand_in_the_margin(text: str, width: int) -> None:
    """No text can pass for an option: keys stand where no text comes."""
    drawn = build_page(build_layout(fill_every_slot(text)), width, get_cwidth)

    assert [each.key for each in drawn.rows if each.key] == ["1", "2", "a", "d"]
    assert [drawn.rows[each.start].key for each in drawn.choices] == ["1", "2"]


def test_a_label_that_deceives_has_its_warning_before_its_reasoning() -> None:
    """It stands with the option, and ENTER waits until it was on the screen."""
    drawn = build_page(build_layout(make_labelled_moment("Ship", "Delete (recommended)")), 80, get_cwidth)
    option = [drawn.rows[row] for row in drawn.choices[1]]

    assert [each.tone for each in option] == [Tone.LABEL, Tone.WARNING, Tone.PLAIN]
    assert option[1].text.startswith("Careful: this option ")


def test_the_mark_stands_below_a_label_that_leaves_no_room() -> None:
    """It is never cut, and always of the recommended option."""
    drawn = build_page(build_layout(INVOICE), 20, get_cwidth)
    option = [drawn.rows[row] for row in drawn.choices[1]]

    assert option[:3] == [
        PageRow("Hold it until", Tone.LABEL, "2"),
        PageRow("Monday", Tone.LABEL),
        PageRow("(recommended)", Tone.MARK),
    ]
