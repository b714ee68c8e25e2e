"""Which synopses leave the decision open without saying so, by their form or by weaker signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from emitter.checks.english import has_gerund_form, has_participle_form, split_clauses, split_words
from emitter.checks.synopsis import (
    defers_decision,
    is_comparison,
    is_mere_possibility,
    is_option_list,
    is_parallel,
    is_topic_question,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.checks.english import TextClause

OPEN = (
    "The rest of the decision sits with the board.",
    "The dose is for the ward sister to settle.",
    "I would welcome your view on the lease.",
    "Whichever lens you prefer will do.",
    "We would be happy with either of the two.",
    "Any of the glues should do.",
    "Both quotes would be workable.",
    "The bids are interchangeable.",
    "Selling has merit, but so does holding.",
    "Roses would be lovely, as would tulips.",
    "The case for a recall raises several questions.",
    "The question of the lease remains open.",
    "I have yet to form a view on the lease.",
    "I leave the question of the lease open.",
    "The locks may need changing.",
    "It would be wise to think about the lease.",
    "The lease deserves a longer discussion.",
    "The test might be skipped.",
    "Please advise.",
    "A bit of both.",
    "Until I know more, I lack the facts to say.",
    "Selling looks like it could be a good idea, but check with your bank.",
)
SIDE_BY_SIDE = (
    "Renting costs less and buying lasts longer.",
    "The train is cheaper, the car is faster.",
    "Oak is warm, pine is plain.",
    "Some would sell, others would hold.",
    "Whether to sell is for another day.",
    "Whether the lease ends remains unsaid.",
    "What to charge is a puzzle.",
    "Rent or buy: each has its fans.",
    "Sundays off: yes, no, or in part.",
    "Sundays off: yes or no.",
    "The contract: renew or drop it.",
)
POSITIONS = (
    "The deposit stays with the bank.",
    "Both quotes will be paid by June.",
    "The bids are interchangeable; take the cheaper one.",
    "The question of the lease is settled: we leave in May.",
    "The decision would be premature, so withdraw the motion.",
    "The locks may need changing, and the locksmith is booked.",
    "The pipe might burst, so shut the water off.",
    "The claim has merit and is paid in full.",
    "Selling has merit, but so does holding, and I picked the second.",
    "You know the area best, so you drive.",
    "Renting costs less and buying lasts longer, so rent.",
    "Selling is better than waiting, though waiting would be safer.",
    "The train is cheaper and quicker than the car.",
    "Training starts on Monday and hiring stops today.",
    "Parking is forbidden and loading is allowed.",
    "Whether the buyer pays late is irrelevant: ship.",
    "What to do is clear: close the valve.",
    "How to pay is fixed by the contract.",
    "Rent or buy: rent.",
    "Sundays off: yes.",
    "Check with your bank and pay the fee.",
    "The old lens is sold and the new one is leased.",
    "Nothing could be saved, so restore the backup.",
    "I lean clearly towards the fund and would buy it on Monday.",
    "Option B it is, or so the board says: sign.",
)


@pytest.mark.parametrize("synopsis", [*OPEN, *SIDE_BY_SIDE])
def test_a_synopsis_that_leaves_it_open(synopsis: str) -> None:
    """Nobody can tell from it what would be done."""
    assert defers_decision(synopsis)


@pytest.mark.parametrize("synopsis", POSITIONS)
def test_a_position_beside_it_decides(synopsis: str) -> None:
    """The same words defer nothing where the sentence says what is done, in whatever form."""
    assert not defers_decision(synopsis)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (is_comparison, "The train is cheaper, the car is faster."),
        (is_parallel, "Oak is warm, pine is plain."),
        (is_topic_question, "Whether to sell is for another day."),
        (is_option_list, "The contract: renew or drop it."),
    ],
)
def test_the_forms(form: Callable[[list[TextClause]], bool], text: str) -> None:
    """Each has a form of its own, which a plain order and an empty text lack."""
    assert form(split_clauses(text))
    assert not form(split_clauses("Sell the house on Monday."))
    assert not form([])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the test might be skipped", True),
        ("we could also sell", True),
        ("the board might reconsider", True),
        ("the test might be long", False),
        ("nothing could be saved", False),
        ("the test is skipped", False),
        ("it could", False),
    ],
)
def test_what_is_only_possible(text: str, *, expected: bool) -> None:
    """A deed that could be done, not a fact that could be so."""
    assert is_mere_possibility(split_words(text)) is expected


@pytest.mark.parametrize(
    ("word", "is_participle", "is_gerund"),
    [
        ("signed", True, False),
        ("released", True, False),
        ("dropped", True, False),
        ("denied", True, False),
        ("sold", True, False),
        ("selling", False, True),
        ("releasing", False, True),
        ("dropping", False, True),
        ("thinking", False, False),
        ("thing", False, False),
        ("red", False, False),
        ("ed", False, False),
        ("sign", False, False),
    ],
)
def test_the_forms_of_a_verb(word: str, *, is_participle: bool, is_gerund: bool) -> None:
    """With an "e" put back, a doubled letter made one, and "y" for "i"; verbs of thinking are none."""
    assert has_participle_form(word) is is_participle
    assert has_gerund_form(word) is is_gerund
