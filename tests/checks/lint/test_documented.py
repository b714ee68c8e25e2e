"""docs/decisions.md says which rules there are, how severe each is, and how well they judge: as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from emitter.checks import DEFAULT_LINT_CONFIG, LintRule
from tests.checks.lint import report

PAGE = Path(__file__).parents[3].joinpath("docs", "decisions.md").read_text("utf-8")


@pytest.mark.parametrize("rule", LintRule, ids=lambda rule: rule.value)
def test_every_rule_is_listed_with_its_severity(rule: LintRule) -> None:
    """One row each, some rows for two."""
    (row,) = [line for line in PAGE.splitlines() if line.startswith("| `") and f"`{rule.value}`" in line]

    assert DEFAULT_LINT_CONFIG.severity(rule).value in row.split("|")[2]


def test_the_figures_are_those_that_are_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else run `make discipline`, and write down what it prints."""
    monkeypatch.setattr("sys.argv", ["report"])
    report.main()
    printed = capsys.readouterr().out
    rows = re.findall(r"^\| (?:tuning half|test half|written afterwards) \| (.*) \|$", PAGE, re.MULTILINE)

    assert len(rows) == 3
    assert all(cell in printed for row in rows for cell in row.split(" | "))
