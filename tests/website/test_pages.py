"""The tests that pages show pass, as a reader runs them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.testing.plugged import run

pytest_plugins = ["pytester"]

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"tutorial/testing.md": 3, "guides/fastapi.md": 2}
"""How many tests each page shows."""


@pytest.mark.skipif(not DOCS.exists(), reason="docs/ is not here")
@pytest.mark.parametrize(("page", "tests"), PAGES.items(), ids=PAGES)
def test_the_tests_of_a_page_pass(page: str, tests: int, pytester: pytest.Pytester) -> None:
    """They are copied into one file, as the page says."""
    shown = re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(), re.DOTALL | re.MULTILINE)
    assert len(re.findall(r"^def test_", "\n".join(shown), re.MULTILINE)) == tests

    run(pytester, "\n".join(shown), passed=tests)
