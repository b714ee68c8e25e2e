"""Attributions without a verb of saying: each needs a source in its place, and sounds alike without one."""

from __future__ import annotations

import pytest

from emitter.authority.narrative import NarrativeRule, scan_narrative
from tests.authority.narrative.labelled import As

FRAMED = [
    "To quote the gardener, roses sulk.",
    "Per company policy, roses are cut.",
    "Judging by the ledger, roses sold well.",
    "If the minutes are to be believed, roses sulk.",
    "The way the foreman saw it, roses sulk.",
    "As far as the records go, roses sold well.",
    "On the word of the porter, roses sold well.",
    "The grower's position is that roses sulk.",
    "Roses sulk is the grower's own verdict, and the court's summary calls them shy.",
    "Opinion among growers is that roses sulk.",
    "There is a note in the ledger that roses sold well.",
    "A line of the treaty has it that roses are free.",
    "The mayor is adamant that roses sulk.",
    "The almanac speaks of roses that sulk.",
    "The recipe on the packet suggests that roses sulk.",
    "The fishermen suggest that roses sulk.",
    "The witnesses could tell, and the witnesses say that roses sulk.",
]
UNFRAMED = [
    "To quote is easy, and roses sulk.",
    "The fee is set by the council.",
    "The doctor's advice is free.",
    "The message from the shop that arrived was torn.",
    "Going from the office to the bank, the street is steep.",
    "As far as the school, the road is flat.",
    "In the eyes of many, roses sulk.",
    "If the tenants are ready, the work begins.",
    "Our view of the report is that roses sulk.",
    "Everything shows that roses sulk.",
    "The conclusion: roses sulk.",
    "Source of the river: roses sulk.",
    "Symptoms suggest that the lesion is benign.",
    "The absence of fever indicates that it is over.",
    "The colour implies that the water is old.",
    "The trend predicts a crash.",
    "My gut tells me that roses sulk.",
    "The dents say that the car is old.",
    "The stains state the obvious: roses sulk.",
    "Tradition demands that the door stays open.",
    "The wound confirms that the blade was long.",
]


@pytest.mark.parametrize("text", FRAMED)
def test_a_frame_with_a_source_names_it(text: str) -> None:
    """Whoever is quoted answers for the sentence."""
    assert NarrativeRule.UNATTRIBUTED not in {each.rule for each in scan_narrative(text, As("attributive"))}


@pytest.mark.parametrize("text", UNFRAMED)
def test_a_frame_without_a_source_names_none(text: str) -> None:
    """It is what it sounds like with another noun in it, or with the speaker for its owner."""
    assert NarrativeRule.UNATTRIBUTED in {each.rule for each in scan_narrative(text, As("attributive"))}
