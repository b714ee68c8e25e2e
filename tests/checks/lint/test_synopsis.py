"""Which synopses defer, and which only waver."""

from __future__ import annotations

import pytest

from emitter.checks.synopsis import defers_decision, is_hedged

DEFERS = (
    "It depends.",
    "It's up to you.",
    "It is ultimately your call.",
    "Either could work.",
    "Either option is fine.",
    "It is unclear whether to release it.",
    "This needs more review before we decide.",
    "More information is needed.",
    "It might be best to hold.",
    "Holding could be the best option.",
    "You may want to hold.",
    "Should we hold?",
    "Release or hold?",
    "Release or hold.",
    "I think we should hold.",
    "I lean towards holding.",
    "I'm leaning towards holding.",
    "I cannot decide.",
    "I can't recommend one over the other.",
    "It remains to be seen.",
    "Both options have their merits.",
    "The two tie.",
    "They are tied on cost, so pick whichever you prefer.",
    "Let's discuss.",
    "Perhaps hold it.",
    "Consider holding it.",
    "If speed matters, ship, and if safety matters, wait.",
)
COMMITS = (
    "Release it; the vendor probably mis-keyed the date.",
    "Release it, although it is unclear whether the vendor mis-keyed the date.",
    "It depends on nothing we lack: ship.",
    "Decline: whether the vendor pays is unclear.",
    "The two tie, so hold, which costs least if it is wrong.",
    "They tie on cost; take Tuesday.",
    "Neither stands out, but choose Lyon for its refund.",
    "Consider it approved.",
    "Strike “it depends on the supplier” from clause 7.",
    "Answer 'could we get a refund?' with yes.",
    "Defer the launch to Monday.",
    "Let customers choose their own slot.",
    "Discuss clause 8 with Norda and sign on Friday.",
    "We could not verify the sender, so reject it.",
    "I cannot recommend the first tent; buy the second.",
    "Wait for the second reading.",
    "No.",
)


@pytest.mark.parametrize("synopsis", DEFERS)
def test_a_synopsis_that_defers(synopsis: str) -> None:
    """It leaves the decision open, or to the reader."""
    assert defers_decision(synopsis)


@pytest.mark.parametrize("synopsis", COMMITS)
def test_a_synopsis_that_commits(synopsis: str) -> None:
    """It states what to do, whatever else it says is open."""
    assert not defers_decision(synopsis)


@pytest.mark.parametrize("synopsis", [*DEFERS, *COMMITS])
def test_case_and_apostrophes_change_nothing(synopsis: str) -> None:
    """Capitals and a typographic apostrophe say the same."""
    assert (
        defers_decision(synopsis.upper())
        == defers_decision(synopsis)
        == defers_decision(synopsis.replace("n't", "n\u2019t"))
    )


@pytest.mark.parametrize(
    ("synopsis", "expected"),
    [
        ("We should probably hold.", True),
        ("Holding is likely right.", True),
        ("It seems right to hold.", True),
        ("It looks as though we should hold.", True),
        ("Given the rain, holding may be right.", True),
        ("We ought to hold, most likely.", True),
        ("Hold, as the number may be wrong.", False),
        ("Hold; the vendor probably mis-keyed it.", False),
        ("Delete the files, which might hold names.", False),
        ("Choose the plan that could be ended.", False),
        ("May is the month to plant.", False),
        ("Plant it in May.", False),
        ("We could not reach them.", False),
        ("Hold it.", False),
        ("", False),
    ],
)
def test_a_modal_governs_the_main_clause(synopsis: str, *, expected: bool) -> None:
    """Only there; in a clause that supports it, doubt is doubt about a fact."""
    assert is_hedged(synopsis) is expected
