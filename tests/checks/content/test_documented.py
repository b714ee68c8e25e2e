"""docs/checks.md lists every rule with its severity, and the figures that the report prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from emitter.cli.moments import default_severities
from tests.checks.content import report
from tests.checks.content.labelled import PARTS

PAGE = Path(__file__).parents[3].joinpath("docs", "checks.md").read_text("utf-8")


@pytest.mark.parametrize("rule", default_severities())
def test_every_rule_is_listed_with_its_severity(rule: str) -> None:
    """Each rule is in one row; a row may list two."""
    (row,) = [line for line in PAGE.splitlines() if line.startswith("| `") and f"`{rule}`" in line]

    assert default_severities()[rule].value in row.split("|")[2]


def test_the_figures_are_those_of_the_report(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise run `make discipline`, and copy what it prints."""
    monkeypatch.setattr("sys.argv", ["report", *PARTS])
    report.main()
    printed = capsys.readouterr().out
    rows = re.findall(r"^\| (?:tuning half|test half|written afterwards) \| (.*) \|$", PAGE, re.MULTILINE)

    assert len(rows) == 3
    assert all(cell in printed for row in rows for cell in row.split(" | "))
