"""The tables of README.md and docs/benchmark.md equal the recorded numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from benchmarks import table
from benchmarks.results import FILE

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not FILE.exists(), reason="benchmarks/results.json is absent: make benchmark")


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a page of its own, with an outdated table between the marks."""
    path = tmp_path / "README.md"
    path.write_text(f"Before.\n\n{table.BEGIN}\nold\n{table.END}\n\nAfter.\n", "utf-8")
    monkeypatch.setattr(table, "PAGES", {path: table.summary})
    return path


def test_an_outdated_table_is_an_error(page: Path) -> None:
    """The check fails, and changes nothing."""
    before = page.read_text("utf-8")

    assert table.main(["--check"]) == 1
    assert page.read_text("utf-8") == before


def test_a_written_table_is_current(page: Path) -> None:
    """A written table passes the check, and the text around it is unchanged."""
    assert table.main(["--write"]) == 0
    assert table.main(["--check"]) == 0
    text = page.read_text("utf-8")
    assert (text.startswith("Before.\n\n"), text.endswith("\n\nAfter.\n")) == (True, True)


def test_a_page_without_marks_is_an_error(page: Path) -> None:
    """Nothing is written without marks."""
    page.write_text("No marks.\n", "utf-8")

    assert table.main(["--write"]) == 1
    assert page.read_text("utf-8") == "No marks.\n"


def test_the_pages_show_what_was_measured() -> None:
    """The committed tables are those of the recorded numbers."""
    assert table.main(["--check"]) == 0
