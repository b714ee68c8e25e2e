"""Whole decisions that were written before the rules: good ones are not refused, and bad ones are mostly found."""

from __future__ import annotations

import pytest

from emitter.checks import Severity
from tests.checks.content.fresh import FreshDecision, fresh_decisions
from tests.checks.content.labelled import ASKED

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
