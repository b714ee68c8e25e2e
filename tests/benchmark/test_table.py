"""The README's tables are compared with the numbers, and replaced between their marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from benchmarks import table
from benchmarks.results import FILE

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not FILE.exists(), reason="benchmarks/results.json is absent: make benchmark")


@pytest.fixture
def readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a README of its own, with the marks and an old table between them."""
    path = tmp_path / "README.md"
    path.write_text(f"Before.\n\n{table.BEGIN}\nold\n{table.END}\n\nAfter.\n", "utf-8")
    monkeypatch.setattr(table, "README", path)
    return path


def test_an_old_table_is_told(readme: Path) -> None:
    """A README that says something else is an error, and stays as it is."""
    before = readme.read_text("utf-8")

    assert table.main(["--check"]) == 1
    assert readme.read_text("utf-8") == before


def test_a_written_table_is_current(readme: Path) -> None:
    """What was written passes the check, and nothing around it was touched."""
    assert table.main(["--write"]) == 0
    assert table.main(["--check"]) == 0
    text = readme.read_text("utf-8")
    assert (text.startswith("Before.\n\n"), text.endswith("\n\nAfter.\n")) == (True, True)


def test_a_readme_without_marks_is_told(readme: Path) -> None:
    """Nothing is written where nobody said where."""
    readme.write_text("No marks.\n", "utf-8")

    assert table.main(["--write"]) == 1
    assert readme.read_text("utf-8") == "No marks.\n"


def test_the_readme_says_what_was_measured() -> None:
    """The README's own tables are those of the kept numbers."""
    if table.BEGIN not in table.README.read_text("utf-8"):
        pytest.skip("the README has no benchmark tables yet")

    assert table.main(["--check"]) == 0
