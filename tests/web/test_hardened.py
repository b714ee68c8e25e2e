"""What a browser does for the page, and what it keeps others from: policies, frames, other sites, other names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from emitter.testing.sample_moments import HOSTILE_MOMENTS
from tests.web.chromium import HOLES, NEEDS_CHROMIUM, chromium, tab
from tests.web.running import Running, running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

pytestmark = NEEDS_CHROMIUM


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


def test_no_words_of_an_agent_are_run(site: Running, browser: Browser) -> None:
    """Section 11: whatever is in the envelope, the page runs nothing, asks nothing and breaks none of its policies."""
    with tab(browser) as shown:
        for name in ("HTML", "HTML that closes ours", "autolinks and mentions", "templates", "quotes and JSON"):
            shown.page.goto(site.asked(HOSTILE_MOMENTS[name]).url)
            assert shown.violations == []

        assert shown.reported == []


def test_the_policy_is_kept_by_the_browser(site: Running, browser: Browser) -> None:
    """Were there a hole, what came through it could neither run, nor load, nor send, nor restyle the page."""
    with tab(browser) as shown:
        shown.page.goto(site.asked().url)
        shown.page.evaluate(f"() => {{ {HOLES} }}")
        shown.page.wait_for_function("window.violations.length >= 7")

        assert {"script-src-elem", "img-src", "frame-src", "style-src-elem", "form-action", "connect-src"} <= set(
            shown.violations
        )
        assert shown.page.evaluate("window.ran") is None
        assert shown.page.locator("main").is_visible()


def test_the_page_is_in_nobody_s_frame(site: Running, browser: Browser) -> None:
    """No other page can lay itself over the buttons."""
    with tab(browser) as shown:
        shown.page.set_content(f'<iframe src="{site.asked().url}"></iframe>')
        frame = shown.page.frames[1]
        frame.wait_for_load_state()

        assert frame.get_by_role("button").count() == 0
        assert any("frame" in each for each in shown.reported)


ATTACK = """
<form id="f" method="post" action="{url}">
<input name="choice" value="option:0"><input name="digest" value="{digest}">
</form>
"""


def test_another_site_cannot_answer(site: Running, browser: Browser) -> None:
    """Were its link known, and its page open beside: the browser sends no cookie along, and says where it is from."""
    asked = site.asked()
    with tab(browser) as shown:
        shown.page.goto(asked.url)
        other = shown.page.context.new_page()
        other.set_content(ATTACK.format(url=asked.url, digest=asked.pending.digest))
        with other.expect_navigation() as sent:
            other.evaluate("document.getElementById('f').submit()")

        assert sent.value is not None
        assert sent.value.status == 403
        assert "cookie" not in sent.value.request.all_headers()
    assert asked.stands == asked.pending


def test_another_name_of_this_machine_is_not_served(site: Running, browser: Browser) -> None:
    """A name that is made to lead here, as a rebound one is, shows nothing."""
    asked = site.asked()
    with tab(browser) as shown:
        answer = shown.page.goto(asked.url.replace("127.0.0.1", "localhost"))

        assert answer is not None
        assert answer.status == 421
        assert "exactly as you received it" in shown.page.locator("main").inner_text()


def test_nothing_is_left_behind(site: Running, browser: Browser) -> None:
    """The link goes to no other site, and the page into no cache; the cookie is out of any script's reach."""
    asked = site.asked()
    with tab(browser) as shown:
        shown.page.goto(asked.url)
        (cookie,) = shown.page.context.cookies()
        visible = shown.page.evaluate("[document.cookie, document.referrer, localStorage.length]")

        assert (cookie.get("httpOnly"), cookie.get("sameSite"), cookie.get("expires")) == (True, "Strict", -1)
        assert visible == ["", "", 0]
