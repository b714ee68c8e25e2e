"""The page in a real browser: answered by keyboard alone, read by machine, safe with whatever an agent wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter.decisions import Dialogue, FreeText, Selected, digest
from emitter.render.layout import build_layout
from emitter.testing.sample_moments import VALID_MOMENT, fill_every_slot
from tests.web.chromium import NEEDS_CHROMIUM, Tab, chromium, expect, tab
from tests.web.running import Running, running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from emitter.decisions import Resolution

pytestmark = NEEDS_CHROMIUM
RIGHT_TO_LEFT = fill_every_slot("\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd, 123 (abc)!")


@pytest.fixture(scope="module")
def site() -> Iterator[Running]:
    """Run one site for all tests of this module."""
    with running() as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Run one browser for all tests of this module."""
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def shown(browser: Browser) -> Iterator[Tab]:
    """Open one window for all tests of this module."""
    with tab(browser) as found:
        yield found


KEYS: dict[str, tuple[list[str], Resolution]] = {
    "the first option": (["Tab", "Space", "Tab", "Enter"], Selected(digest(VALID_MOMENT), 0)),
    "the last option": (["Tab", "Space", "ArrowUp", "Tab", "Enter"], Selected(digest(VALID_MOMENT), 2)),
    "own words": (["Tab", "Tab", "Tab", *"Wait.", "Tab", "Enter"], FreeText(digest(VALID_MOMENT), "Wait.")),
    "an objection": (["Tab"] * 5 + [*"Why?", "Tab", "Enter"], Dialogue(digest(VALID_MOMENT), "Why?")),
    "no objection": (["Tab"] * 6 + ["Space"], Dialogue(digest(VALID_MOMENT), "")),
}


@pytest.mark.parametrize(("keys", "resolution"), KEYS.values(), ids=KEYS.keys())
def test_the_keyboard_is_enough(site: Running, shown: Tab, keys: list[str], resolution: Resolution) -> None:
    """WCAG 2.1.1 and section 8.1: each of the three, in the order in which they are read."""
    asked = site.asked()
    shown.page.goto(asked.url)
    for key in keys:
        shown.page.keyboard.press(key)
    shown.page.get_by_role("heading", name="Recorded").wait_for()
    assert (shown.reported, shown.violations) == ([], [])

    assert asked.answer == resolution


def test_enter_does_not_approve_what_nobody_chose(site: Running, shown: Tab) -> None:
    """No option is chosen beforehand, nothing has the focus, and a form without a choice does not go out."""
    asked = site.asked()
    page = shown.page
    page.goto(asked.url)
    before = page.locator("input:checked").count(), shown.focused()
    for key in ("Enter", "Tab", "Enter", "Tab", "Enter", "Enter", "Tab", "Tab", "Enter"):
        page.keyboard.press(key)
    after = page.locator("input:checked").count(), page.url

    assert before == (0, "BODY")
    assert after == (0, asked.url)
    assert asked.stands == asked.pending


def test_a_reload_chooses_nothing(site: Running, shown: Tab) -> None:
    """What was touched before does not come back as chosen."""
    asked = site.asked()
    shown.page.goto(asked.url)
    shown.page.get_by_role("radio").first.check()
    shown.page.reload()

    assert shown.page.locator("input:checked").count() == 0


def test_a_form_that_is_sent_twice_counts_once(site: Running, shown: Tab) -> None:
    """An impatient double click is one answer, and the reader learns that it stands."""
    asked = site.asked()
    shown.page.goto(asked.url)
    shown.page.get_by_text("Cedar the release").click()
    shown.page.get_by_role("button", name="Send my choice").dblclick()
    shown.page.get_by_text("You chose:").wait_for()

    assert shown.page.locator("blockquote").inner_text() == "Cedar the release"
    assert asked.answer == Selected(digest(VALID_MOMENT), 2)


def test_no_script_is_needed(site: Running, browser: Browser) -> None:
    """With scripts switched off the page is the same."""
    asked = site.asked()
    with tab(browser, java_script_enabled=False) as shown:
        page = shown.page
        page.goto(asked.url)
        page.get_by_label("Your answer").fill("   ")
        page.get_by_role("button", name="Send my answer").click()
        expect(page.get_by_role("alert")).to_be_in_viewport()
        reported = page.get_by_role("alert").inner_text()
        page.get_by_label("Your answer").fill("Wait.")
        page.get_by_role("button", name="Send my answer").click()
        page.get_by_role("heading", name="Recorded").wait_for()

    assert "no visible text" in reported
    assert asked.answer == FreeText(digest(VALID_MOMENT), "Wait.")


OUTLINE = """\
- main:
  - paragraph: A decision for you
  - 'heading "Synopsis: the release is ready and should go out tonight." [level=1]'
  - region "What it rests on":
    - heading "What it rests on" [level=2]
    - list:
      - listitem: "Finding one: the check called one passed."
      - listitem: "Finding two: the check called two passed."
      - listitem: "Finding three: the check called three passed."
  - region "What to do":
    - heading "What to do" [level=2]
    - list:
      - listitem: "Move one: publish the packages."
      - listitem: "Move two: watch the errors for an hour."
  - paragraph: "Offer: ask for the detail of any item."
  - 'region "Stem: what happens to the release?"':
    - 'group "Stem: what happens to the release?"':
      - 'heading "Stem: what happens to the release?" [level=2]'
      - paragraph: Nothing is chosen for you, and nothing happens until you send one answer.
      - radio "Alder the release"
      - text: Alder the release Reasoning of alder, on one line.
      - radio "Birch the release recommended"
      - text: Birch the release
      - strong: recommended
      - text: Reasoning of birch, on one line.
      - radio "Cedar the release"
      - text: Cedar the release Reasoning of cedar, on one line.
      - button "Send my choice"
    - paragraph: "Or, instead of choosing:"
    - group "Answer in your own words":
      - heading "Answer in your own words" [level=3]
      - paragraph: Your answer
      - textbox "Your answer"
      - button "Send my answer"
    - 'group "This is the wrong question: talk first"':
      - 'heading "This is the wrong question: talk first" [level=3]'
      - paragraph: Your objection (may be left empty)
      - textbox "Your objection (may be left empty)"
      - button "Send it back"
"""


def test_a_screen_reader_hears_all_of_it(site: Running, shown: Tab) -> None:
    """Section 8.1 and WCAG 4.1.2: slots, mark and vetoes in the tree that assistive technology is given."""
    asked = site.asked()
    shown.page.goto(asked.url)
    outline = shown.page.locator("body").aria_snapshot()
    controls = _controls(shown.page)

    assert outline.startswith(OUTLINE)
    assert all(name for name, _ in controls)
    assert [about for _, about in controls if about] == [each.reasoning for each in build_layout(VALID_MOMENT).choices]


def _controls(page: Any) -> list[tuple[str, str]]:
    """Return name and description of each control, as the browser tells assistive technology."""
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")
    roles = {"radio", "textbox", "button"}
    return [
        (each["name"]["value"], each.get("description", {}).get("value", ""))
        for each in tree["nodes"]
        if each.get("role", {}).get("value") in roles
    ]
