"""Draw the pictures of the README into docs/gallery: ``python -m examples.gallery``. Needs Chromium; one needs npm."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from examples.gallery import adaptive, inbox, slack, terminal
from examples.gallery.decision import MOMENT
from playwright.sync_api import sync_playwright

from emitter.render.html_page import Form, Html

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PLACE = Path(__file__).parents[2] / "docs" / "gallery"


def main() -> int:
    """Draw all of them, or those that are named."""
    parser = argparse.ArgumentParser(prog="python -m examples.gallery", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="the pictures to draw (default: all)")
    asked = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.stderr.write("Chromium is not installed (on Debian: apt-get install chromium).\n")
        return 1
    PLACE.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name, (make, look) in PICTURES.items():
            if not asked.names or name in asked.names:
                _draw(browser, PLACE / f"{name}.png", make(Path(folder)), look)
                sys.stdout.write(f"docs/gallery/{name}.png\n")
    return 0


def _draw(browser: Browser, file: Path, page: str, look: dict[str, object]) -> None:
    """Take a picture of the whole page."""
    context = browser.new_context(device_scale_factor=1.5, **look)
    try:
        opened = context.new_page()
        opened.set_content(page)
        opened.screenshot(path=file, full_page=True)
    finally:
        context.close()


def _page(_: Path) -> str:
    """Return the page that is served to be answered."""
    return Html(Form("/decide")).draw(MOMENT)


def _size(width: int) -> dict[str, object]:
    return {"viewport": {"width": width, "height": 200}}


PICTURES = {
    "terminal": (lambda _: terminal.page(), _size(930)),
    "page-light": (_page, {**_size(820), "color_scheme": "light"}),
    "page-dark": (_page, {**_size(820), "color_scheme": "dark"}),
    "page-narrow": (_page, {**_size(340), "color_scheme": "light"}),
    "inbox": (lambda _: inbox.list_of_decisions(), _size(820)),
    "inbox-record": (lambda _: inbox.record(), _size(820)),
    "slack": (lambda _: slack.page(), _size(650)),
    "adaptive-card": (adaptive.page, _size(670)),
}
"""Each picture: what makes its page, and how the browser looks at it."""

if __name__ == "__main__":
    sys.exit(main())
