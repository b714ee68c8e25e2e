"""Whole decisions that were written before the rules: good ones are not refused, and bad ones are mostly found."""

from __future__ import annotations

import json
from typing import Any

import pytest

from emitter.checks import Severity
from tests.checks.content.fresh import FreshDecision, fresh_decisions
from tests.checks.content.labelled import ASKED, DATA, check, moment

GOOD = [each for each in fresh_decisions() if each.broken is None]
BAD = [each for each in fresh_decisions() if each.broken is not None]
DECIDABLE = {"sentence", "twin", "blank"}


@pytest.mark.parametrize("decision", GOOD, ids=lambda decision: decision.id)
def test_a_good_decision_is_not_refused(decision: FreshDecision) -> None:
    """None has an error, so none can end in ``Invalid``."""
    assert Severity.ERROR not in {finding.severity for finding in decision.findings}


def test_good_decisions_are_seldom_asked_again() -> None:
    """A false finding costs a call: at most one of the forty."""
    asked = [each.id for each in GOOD if {finding.severity for finding in each.findings} & set(ASKED)]
    assert len(asked) <= 1


@pytest.mark.parametrize(
    "decision", [each for each in BAD if each.broken in DECIDABLE], ids=lambda decision: decision.id
)
def test_what_can_be_decided_is_refused(decision: FreshDecision) -> None:
    """Two sentences, twins and blanks are errors."""
    assert Severity.ERROR in {finding.severity for finding in decision.findings}


def test_most_bad_decisions_are_found() -> None:
    """They stay as many as were measured."""
    asked = [each.id for each in BAD if {finding.severity for finding in each.findings} & set(ASKED)]
    assert len(asked) >= 32


THREE = [json.loads(line) for line in DATA.joinpath("three_languages.jsonl").read_text("utf-8").splitlines()]


def find_in(line: dict[str, Any]) -> tuple[list[str], set[Severity]]:
    """Return the rules that find something in a decision, and their severities."""
    found = check(
        moment(
            synopsis=line["synopsis"],
            recommendations=tuple(line["recommendations"]),
            stem=line["stem"],
            labels=tuple(line["options"]),
            recommended=line["recommended"],
        )
    )
    return [finding.rule for finding in found], {finding.severity for finding in found}


@pytest.mark.parametrize("line", THREE, ids=[line["id"] for line in THREE])
def test_a_language_that_no_rule_reads_is_told(line: dict[str, Any]) -> None:
    """Once in each decision in German or French, and in none in English."""
    rules, _ = find_in(line)
    assert rules.count("language-unchecked") == (line["lang"] != "en")


def test_good_decisions_in_three_languages_have_nothing_else() -> None:
    """None is refused, asked again or warned of; of the bad ones, those are found that were measured."""
    good, bad = ([find_in(line) for line in THREE if line["label"] == label] for label in ("good", "bad"))
    assert [rule for rules, _ in good for rule in rules if rule != "language-unchecked"] == []
    assert sum(not severities.isdisjoint(ASKED) for _, severities in bad) >= 7
    assert sum(set(rules) != set() for rules, _ in bad) >= 14
