"""The extras that the first page lists are those that can be installed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_extra_is_on_the_first_page() -> None:
    """And no other."""
    table = (ROOT / "docs" / "index.md").read_text("utf-8").partition("| extra |")[2].partition("\n\n")[0]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

    assert sorted(re.findall(r"`([a-z-]+)`", table)) == sorted(project["optional-dependencies"])
