"""How the page looks to whoever reads it: bright or dark, narrow or wide, in forced colours, without a style."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from emitter.render.html_page import RENDERER, Form, Html
from emitter.render.layout import build_layout
from emitter.testing.sample_moments import HOSTILE_MOMENTS, HUGE_MOMENTS, VALID_MOMENT, fill_every_slot
from tests.render.html.contrast import contrast
from tests.web.chromium import NEEDS_CHROMIUM, Tab, chromium, tab
from tests.web.running import running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from emitter.models import BindingMoment

pytestmark = NEEDS_CHROMIUM
NARROW = 320
FORM = Html(Form("/answer"))
RIGHT_TO_LEFT = fill_every_slot("\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd, 123 (abc)!")
MOMENTS = {"plain": VALID_MOMENT, "right to left": RIGHT_TO_LEFT, **HOSTILE_MOMENTS}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Run one browser for all tests of this module."""
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def narrow(browser: Browser) -> Iterator[Tab]:
    """Open one window as narrow as a small phone, or as a page that is enlarged four times."""
    with tab(browser, NARROW) as shown:
        yield shown


@pytest.mark.parametrize("moment", MOMENTS.values(), ids=MOMENTS.keys())
def test_nobody_scrolls_sideways(narrow: Tab, moment: BindingMoment) -> None:
    """WCAG 1.4.10 and section 11: whatever is written, it is wrapped within 320 pixels, and none of it is a script."""
    narrow.page.set_content(FORM.draw(moment))

    assert not narrow.overflows
    assert narrow.page.evaluate("document.querySelectorAll('script, img, iframe, svg, body a, b, i').length") == 0
    assert narrow.page.evaluate("document.querySelector('h1').textContent") == build_layout(moment).synopsis
    assert narrow.reported == []


def test_a_huge_decision_is_still_a_page(narrow: Tab) -> None:
    """Section 8.1: length is no reason to drop anything."""
    for moment in (*HUGE_MOMENTS.values(), RIGHT_TO_LEFT):
        narrow.page.set_content(RENDERER.draw(moment))

        assert not narrow.overflows


_COLOURS = """
() => {
  const found = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    if (!texts.currentNode.data.trim()) continue;
    const own = texts.currentNode.parentElement;
    let ground = own;
    while (getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)") ground = ground.parentElement;
    found.add(getComputedStyle(own).color + " on " + getComputedStyle(ground).backgroundColor);
  }
  return [...found];
}
"""


def _hex(colour: str) -> str:
    return "#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", colour)[:3])


PROBLEM = Form("/answer", problem="No.", field_values={"answer": "Mine."})
DRAWN = {
    "to read": RENDERER.draw(HOSTILE_MOMENTS["a veto's name"]),
    "to answer": FORM.draw(HOSTILE_MOMENTS["a veto's name"]),
    "not taken": Html(PROBLEM).draw(VALID_MOMENT),
}


@pytest.mark.parametrize("drawn", DRAWN.values(), ids=DRAWN.keys())
@pytest.mark.parametrize(("scheme", "bright"), [("light", True), ("dark", False)])
def test_every_text_can_be_read(narrow: Tab, scheme: str, bright: bool, drawn: str) -> None:
    """WCAG 1.4.3, level AA, on the page as it is drawn: bright or dark as its reader has asked for."""
    with narrow.media(color_scheme=scheme):
        narrow.page.set_content(drawn)
        if narrow.page.get_by_role("radio").count():
            narrow.page.get_by_role("radio").first.check()
        ground = _hex(narrow.page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))

        _reads_well(narrow)
    assert (contrast(ground, "#000000") > contrast(ground, "#ffffff")) == bright


def test_forced_colours_keep_mark_and_choice(narrow: Tab) -> None:
    """Section 8.1 without a colour of ours: the mark is a word, and what is chosen and focused has an outline."""
    page = narrow.page
    with narrow.media(forced_colors="active"):
        page.set_content(FORM.draw(VALID_MOMENT))
        page.get_by_role("radio").first.check()
        style = "e => [getComputedStyle(e).outlineStyle, getComputedStyle(e).borderTopStyle]"
        chosen, other = (page.locator("label.choice").nth(index).evaluate(style) for index in (0, 2))

        assert page.get_by_text("recommended", exact=True).is_visible()
        assert (chosen, other) == (["solid", "solid"], ["none", "solid"])


def test_who_wants_nothing_to_move_sees_nothing_move(narrow: Tab) -> None:
    """WCAG 2.3.3."""
    moving = "e => getComputedStyle(e).transitionProperty"
    narrow.page.set_content(FORM.draw(VALID_MOMENT))
    usual = narrow.page.locator("label.choice").first.evaluate(moving)
    with narrow.media(reduced_motion="reduce"):
        still = narrow.page.locator("label.choice").first.evaluate(moving)

    assert (usual, still) == ("border-color", "none")


def test_it_is_read_without_its_style_too(narrow: Tab) -> None:
    """A browser for text shows each slot on a line of its own, and the mark as a word."""
    bare = re.sub("<style>.*?</style>", "", FORM.draw(HOSTILE_MOMENTS["a veto's name"]), flags=re.DOTALL)
    narrow.page.set_content(bare)
    rows = [row.strip() for row in narrow.page.locator("main").inner_text().splitlines() if row.strip()]
    start = rows.index("Ship recommended")

    assert rows[start : start + 5] == [
        "Ship recommended",
        "Cause 0.",
        "d. This is the wrong question: talk first",
        "Careful: this option begins with a key that is not its own; looks like a veto; it is an option.",
        "Cause 1.",
    ]


def test_what_is_pressed_is_large_enough(narrow: Tab) -> None:
    """WCAG 2.5.5: 44 pixels for whoever has a thumb, and the whole card is the option."""
    narrow.page.set_content(FORM.draw(VALID_MOMENT))
    boxes = [each.bounding_box() for each in narrow.page.locator("button, label.choice, textarea").all()]

    assert len(boxes) == 8
    assert all(box is not None and min(box["width"], box["height"]) >= 44 for box in boxes)


def test_the_focus_is_seen(narrow: Tab) -> None:
    """WCAG 2.4.7: each stop of the keyboard has a solid outline of its own, or its card has."""
    narrow.page.set_content(FORM.draw(VALID_MOMENT))
    seen: list[str] = []
    for _ in range(6):
        narrow.page.keyboard.press("Tab")
        seen.append(
            narrow.page.evaluate(
                "(e => getComputedStyle(e.closest('label.choice') || e).outlineStyle)(document.activeElement)"
            )
        )

    assert seen == ["solid"] * 6


def test_other_pages_of_ours_are_read_in_both_schemes(narrow: Tab) -> None:
    """What was recorded, and what was not: the same hand, and as much contrast."""
    page = narrow.page
    with running() as site:
        for scheme in ("light", "dark"):
            page.goto(site.asked(RIGHT_TO_LEFT).url)
            page.get_by_label("Your answer").fill("w" * 300)
            page.get_by_role("button", name="Send my answer").click()
            page.get_by_role("heading", name="Recorded").wait_for()
            with narrow.media(color_scheme=scheme):
                _reads_well(narrow)
                page.goto(site.site.url("/nothing"))
                _reads_well(narrow)


def _reads_well(shown: Tab) -> None:
    found = [pair.split(" on ") for pair in shown.page.evaluate(_COLOURS)]

    assert min(contrast(_hex(text), _hex(behind)) for text, behind in found) >= 4.5
    assert not shown.overflows
