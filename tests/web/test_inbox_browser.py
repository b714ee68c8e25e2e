"""The inbox in a real browser: by keyboard alone, on a phone, in the dark, read by machine, and up to date."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emitter.decisions import Selected, select_option
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import ResolvedDecision
from emitter.models import OPEN_HATCHES
from emitter.stores import MemoryStore
from emitter.testing.sample_moments import HOSTILE_MOMENTS, fill_every_slot, make_moment
from tests.web.chromium import HOLES, NEEDS_CHROMIUM, Tab, chromium, expect, tab
from tests.web.inboxes import Inbox, running
from tests.web.test_looks import _reads_well

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

pytestmark = NEEDS_CHROMIUM
AXE = Path(__file__).parents[2] / ".venv" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
PENDING = 1000
ALICE, BOB = {"x-user": "alice"}, {"x-user": "bob"}
ASKED = make_moment(3, 1, OPEN_HATCHES)
LONG = fill_every_slot("\u05e9\u05dc\u05d5\u05dd wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww")


@pytest.fixture(scope="module")
def full() -> Iterator[Inbox]:
    """Run an inbox with a thousand open decisions, and some that are closed."""
    with running(Ledger(MemoryStore())) as box:
        for number in range(PENDING):
            box.asked(agent=f"agent {number % 50}", expires_in=3600 + number if number % 4 == 0 else None)
        for number in range(3):
            asked = box.asked(agent="w" * 100, decision_id=f"closed {number}")
            box.ledger.resolve(asked.pending.decision_id, select_option(asked.pending.moment, 1), principal="bob")
        yield box


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Run one browser for all tests of this module."""
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def alice(browser: Browser) -> Iterator[Tab]:
    """Open one window of one person for all tests of this module."""
    with tab(browser, extra_http_headers=ALICE) as shown:
        yield shown


def press(shown: Tab, *keys: str) -> None:
    """Press keys, one after the other."""
    for key in keys:
        shown.page.keyboard.press(key)


def test_a_decision_is_found_and_answered_by_keyboard_alone(full: Inbox, alice: Tab) -> None:
    """WCAG 2.1.1: from the list of a thousand by its filter to one decision, and back."""
    asked = full.asked(agent="needle")
    page = alice.page
    page.goto(full.url)
    press(alice, "Tab", "Tab", "Tab", *"needle", "Tab", "Tab", "Tab", "Enter")
    page.wait_for_url("**agent=needle**")
    press(alice, *["Tab"] * 7)
    assert page.evaluate("document.activeElement.id") == f"d-{asked.pending.reference}"
    press(alice, "Enter")
    page.get_by_role("heading", name="Synopsis").wait_for()
    press(alice, "Tab", "Tab", "Tab", "ArrowDown", "Tab", "Enter")
    page.get_by_role("heading", name="Recorded").wait_for()

    stands = asked.stands
    assert isinstance(stands, ResolvedDecision)
    assert (stands.principal, stands.resolution) == ("alice", Selected(asked.pending.digest, 1))
    assert (alice.reported, alice.violations) == ([], [])


def test_no_script_is_needed(full: Inbox, browser: Browser) -> None:
    """With scripts switched off, lists, filters, pages and answers are the same."""
    asked = full.asked(agent="scriptless")
    with tab(browser, java_script_enabled=False, extra_http_headers=ALICE) as shown:
        page = shown.page
        page.goto(full.url)
        page.get_by_role("link", name="Next").click()
        assert "Numbers 51 to 100" in page.locator("#count").inner_text()
        page.get_by_label("Agent").select_option("scriptless")
        page.get_by_role("button", name="Show").click()
        page.locator("ul.inbox a").click()
        page.get_by_text("Cedar the release").click()
        page.get_by_role("button", name="Send my choice").click()
        page.get_by_role("heading", name="Recorded").wait_for()

    assert asked.stands.principal == "alice"  # type: ignore[union-attr]


def test_two_people_who_race_see_who_was_first(full: Inbox, browser: Browser, alice: Tab) -> None:
    """The slower one's open page says so at once, keeps what they wrote, and takes no answer any more."""
    asked = full.asked()
    with tab(browser, extra_http_headers=BOB) as bob:
        for shown in (alice, bob):
            shown.page.goto(asked.url)
        bob.page.get_by_label("Your answer").fill("Wait for me.")
        alice.page.get_by_text("Alder the release").click()
        alice.page.get_by_role("button", name="Send my choice").click()
        expect(bob.page.get_by_role("status")).to_contain_text("This decision was answered by alice: option 1")
        written = bob.page.get_by_label("Your answer").input_value()
        controls = bob.page.locator("form :is(button, input, select)")
        expect(controls.first).to_be_disabled()
        enabled = sum(controls.nth(each).is_enabled() for each in range(controls.count()))
        bob.page.reload()
        expect(bob.page.locator("#answer + p")).to_have_text("alice answered:")

        assert (written, enabled) == ("Wait for me.", 0)
        assert (bob.reported, bob.violations) == ([], [])


def test_a_list_is_up_to_date_and_leaves_the_focus(browser: Browser) -> None:
    """What comes and goes is shown without a reload, and the keyboard stays where it was."""
    with running() as box, tab(browser, extra_http_headers=ALICE) as shown:
        first = box.asked(agent="first")
        page = shown.page
        page.goto(box.url)
        link = page.locator(f"#d-{first.pending.reference}")
        link.focus()
        second = box.asked(agent="second")
        expect(page.locator("ul.inbox li")).to_have_count(2)
        expect(page.get_by_role("status")).to_contain_text("2 decisions wait")
        expect(link).to_be_focused()
        box.ledger.withdraw(second.pending.decision_id)
        expect(page.locator("ul.inbox li")).to_have_count(1)
        expect(link).to_be_focused()

        assert (shown.reported, shown.violations) == ([], [])


def pages(full: Inbox) -> dict[str, str]:
    """Return the pages by what they are."""
    open_, reading, four = full.asked(LONG), full.asked(HOSTILE_MOMENTS["HTML"]), full.asked(ASKED, four_eyes=True)
    full.ledger.approve(four.pending.decision_id, select_option(ASKED, 0), principal="w" * 128)
    closed = full.ledger.closed_references()[-1]
    return {
        "list": full.url,
        "closed": f"{full.url}closed",
        "decision": open_.url,
        "hostile": reading.url,
        "four eyes": four.url,
        "record": f"{full.url}decisions/{closed}",
        "nothing": f"{full.url}nothing",
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_reads_well_on_a_phone(full: Inbox, browser: Browser, scheme: str) -> None:
    """WCAG 1.4.3 and 1.4.10: 320 pixels wide nobody scrolls sideways, and every text has its contrast."""
    with tab(browser, 320, extra_http_headers=ALICE, color_scheme=scheme) as shown:
        for url in pages(full).values():
            shown.page.goto(url)
            _reads_well(shown)
            assert shown.violations == []


def test_forced_colours_keep_what_is_current(full: Inbox, browser: Browser) -> None:
    """The list that is open is marked without a colour of ours; rows and the status keep their borders."""
    with tab(browser, extra_http_headers=ALICE, forced_colors="active") as shown:
        shown.page.goto(full.url)
        current = shown.page.locator("nav a[aria-current=page]")
        border = shown.page.locator("ul.inbox > li").first.evaluate("e => getComputedStyle(e).borderTopStyle")

        assert current.inner_text() == "Open"
        assert current.evaluate("e => getComputedStyle(e).textDecorationLine") == "underline"
        assert border == "solid"


def test_what_is_pressed_is_large_enough(full: Inbox, alice: Tab) -> None:
    """WCAG 2.5.8: buttons, lists to choose from and links of the navigation."""
    alice.page.goto(full.url)
    boxes = [each.bounding_box() for each in alice.page.locator("button, select, nav a").all()]

    assert len(boxes) == 7
    assert all(box is not None and min(box["width"], box["height"]) >= 24 for box in boxes)


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed: make axe")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(full: Inbox, browser: Browser, scheme: str) -> None:
    """No violation on any page: names, roles, order of headings, contrast, landmarks."""
    script = AXE.read_text(encoding="utf-8")
    with tab(browser, extra_http_headers=ALICE, color_scheme=scheme, bypass_csp=True) as shown:
        found: dict[str, Any] = {}
        for name, url in pages(full).items():
            shown.page.goto(url)
            shown.page.evaluate(script)
            result = shown.page.evaluate("axe.run()")
            assert result["passes"]
            found[name] = [(each["id"], [node["html"] for node in each["nodes"]]) for each in result["violations"]]

    assert found == {name: [] for name in found}


OUTLINE = """\
- navigation "Inbox":
  - link "Open"
  - link "Closed"
  - text: Signed in as
  - strong: Alice
- heading "Open decisions" [level=1]
- text: Agent
- combobox "Agent"
- text: Kind
- combobox "Kind"
- button "Show"
- status: 1 decision waits for an answer. Numbers 1 to 1 are shown.
- list:
  - listitem:
    - paragraph:
      - 'link "Stem: what happens to the release?"'
"""


def test_the_list_is_read_by_machine(browser: Browser) -> None:
    """The names and roles that a screen reader has, in their order."""
    with running() as box, tab(browser, extra_http_headers=ALICE) as shown:
        box.asked()
        shown.page.goto(box.url)

        expect(shown.page.locator("main")).to_match_aria_snapshot(OUTLINE)


def test_the_policy_is_kept_by_the_browser(full: Inbox, browser: Browser) -> None:
    """Were there a hole, what came through it could neither run, nor load, nor send, nor restyle the page."""
    kinds = {"script-src-elem", "img-src", "frame-src", "style-src-elem", "form-action", "connect-src"}
    with tab(browser, extra_http_headers=ALICE) as shown:
        shown.page.goto(full.url)
        shown.page.evaluate(f"() => {{ {HOLES} }}")
        shown.page.locator("main").is_visible()
        while not kinds <= set(shown.violations):
            shown.page.wait_for_event("console")

        assert shown.page.evaluate("window.ran") is None
        assert shown.page.locator("main").is_visible()
