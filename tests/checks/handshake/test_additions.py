"""What is added to a question: terms make another one of it, reasons and turns of phrase do not."""

from __future__ import annotations

import pytest

from emitter.checks.similarity import SAME_QUESTION_THRESHOLD, compare_questions
from tests.checks.handshake.pairs import moment

STEM, OPTIONS = "Should the old piano be tuned?", ("Tune it", "Leave it")


def is_again(stem: str, other: str, *options: str) -> bool:
    """Tell whether a question that follows another, with the same options, is the same one again."""
    labels = options or OPTIONS
    return compare_questions(moment(stem, labels), moment(other, labels)) >= SAME_QUESTION_THRESHOLD


@pytest.mark.parametrize(
    "added",
    [
        pytest.param("Should the old piano be tuned on Sunday?", id="when"),
        pytest.param("Should the old piano be tuned in the hall?", id="where"),
        pytest.param("Should the old piano be tuned for the pupils?", id="for whom"),
        pytest.param("Should the old piano be tuned by ear?", id="how"),
        pytest.param("Should the old piano be tuned at the expense of the parish?", id="on what terms"),
        pytest.param("Should the old piano be tuned at 440 hertz?", id="a number"),
        pytest.param("Should the old piano be tuned to concert pitch?", id="to, and no article after the next word"),
    ],
)
def test_terms_that_are_added_make_another_question(added: str) -> None:
    """It is narrower; without them again it is wider, and the same question."""
    assert not is_again(STEM, added)
    assert is_again(added, STEM) is ("440" not in added)


def test_another_word_behind_a_preposition_is_no_addition() -> None:
    """It stands in the place of one that the refused question has, and in a long stem may mean the same."""
    stem = "Should the signed annual report on the flood in the northern valley be sent to the board by courier?"
    assert is_again(stem, stem.replace("courier", "messenger"), "Send it", "Keep it")
    assert not is_again(stem.replace(" by courier", ""), stem, "Send it", "Keep it")


def test_an_adverb_after_an_addition_is_no_addition() -> None:
    """All words behind the preposition must be new."""
    assert is_again("Should the piano move to the hall?", "Should the piano move to the hall promptly?")


@pytest.mark.parametrize(
    "part",
    [
        pytest.param("Should the pedals of the old piano be tuned?", id="a part of it"),
        pytest.param("Should the two lower strings of the very old piano be tuned?", id="past words between"),
        pytest.param("Should the old piano strings be tuned?", id="a compound"),
        pytest.param("Should the school's old piano be tuned?", id="an owner"),
    ],
)
def test_a_part_of_it_is_another_question(part: str) -> None:
    """Whichever of the two came first."""
    assert not is_again(STEM, part)
    assert not is_again(part, STEM)


@pytest.mark.parametrize(
    "dressed",
    [
        *("In my view, should the old piano be tuned?", "Should the old piano be tuned in your opinion?"),
        *(
            "Should the old piano be tuned to avoid a complaint?",
            "Should the old piano be tuned to calm the neighbours?",
        ),
        *(
            "Should the old piano be tuned for reasons of tact?",
            "Should the old piano be tuned as the organist advised?",
        ),
        *("Should the old piano be tuned with your consent?", "Should the old piano be tuned without further delay?"),
        *("Should the old piano be tuned from this point of view?", "Should the old piano be tuned as we discussed?"),
        *("Should the old piano be tuned with the choir in mind?", "Should the old piano nonetheless be tuned?"),
        *("Is it all right with you if the old piano is tuned?", "Would you mind if we tuned the old piano?"),
        *("Should the old piano be tuned for the good of the house?", "Should the old piano promptly be tuned?"),
        *("Are you in sympathy with tuning the old piano?", "Tune the old piano?"),
        *("Should the old piano finally be tuned?", "About the old piano: should it be tuned?"),
        *("Should the old piano be tuned because the fair is near?", "Is it time that the old piano is tuned?"),
    ],
)
def test_what_is_said_beside_a_question_changes_nothing_of_it(dressed: str) -> None:
    """Reasons, purposes, courtesies, and what speaks of the talk itself."""
    assert is_again(STEM, dressed)


def test_a_kind_of_it_is_another_question() -> None:
    """Where what is asked about has no article, and begins the question."""
    assert not is_again("Should pianos be tuned?", "Should grand pianos be tuned?")


def test_a_word_stands_for_what_another_clause_names() -> None:
    """It, this, they and the like; without one, a clause is taken by itself."""
    about = "The old piano came by cart in May with a stool, a lamp and four candles"
    assert is_again(STEM, f"{about}: should we tune it?", "Yes", "No")
    assert not is_again(STEM, f"{about}: should we tune?", "Yes", "No")


@pytest.mark.parametrize("cosmetic", ["Not sure", "Something else", "I need to think about it", "Wait"])
def test_an_option_that_answers_nothing_does_not_count(cosmetic: str) -> None:
    """Which is held against likeness where it says what to do."""
    stem, options = "Should the piano move?", ("Move it upstairs", "Move it to the barn")
    plain, more = moment(stem, options), moment(stem, (*options, cosmetic))
    assert compare_questions(plain, more) == compare_questions(more, plain) == 1
    assert compare_questions(plain, moment(stem, (*options, "Sell it"))) < 1
