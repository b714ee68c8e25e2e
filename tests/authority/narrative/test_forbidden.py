"""The markers that a policy forbids are found however they are spelt."""

from __future__ import annotations

import pytest

from emitter.authority.narrative import NarrativeRule, scan_narrative
from tests.authority.narrative.labelled import As


@pytest.mark.parametrize(
    ("marker", "text"),
    [
        ("risk-free", "It is risk free."),
        ("risk free", "It is R\u0456sk\u2011Fr\u0435e."),
        ("miracle", "It is a m i r a c l e."),
        ("miracle", "It is a m.i.r.a.c.l.e."),
        ("miracle", "It is a M1RACL3."),
        ("miracle", "It is a mir\u200dacle."),
        ("na\u00efve", "It is naive."),
        ("\u5b89\u5168", "\u8fd9\u662f\u5b89\u5168\u7684"),
        ("\u043e\u0434\u043e\u0431\u0440\u0435\u043d\u043e", "\u041e\u0434\u043e\u0431\u0440\u0435\u043d\u043e."),
        ("\u2714", "It has a \u2714 on it."),
        ("100%", "It is 1OO % pure."),
    ],
    ids=ascii,
)
def test_a_marker_of_the_callers_is_found_however_it_is_spelt(marker: str, text: str) -> None:
    """In any case, with something in between, with look-alikes; in any script."""
    assert NarrativeRule.FORBIDDEN in {each.rule for each in scan_narrative(text, As(forbidden_markers=(marker,)))}


@pytest.mark.parametrize(
    ("marker", "text"),
    [("cure", "The lock is secure."), ("rate", "Doctors operate."), ("no risk", "No two risks."), ("art", "Start.")],
)
def test_a_marker_of_the_callers_is_a_whole_word(marker: str, text: str) -> None:
    """A part of another word is none."""
    assert NarrativeRule.FORBIDDEN not in {each.rule for each in scan_narrative(text, As(forbidden_markers=(marker,)))}
