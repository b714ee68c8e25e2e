"""The kit lets a surface that keeps the contract pass, and names what each broken one breaks."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from emitter.testing.sample_moments import FEW_MOMENTS, HOSTILE_MOMENTS, MALFORMED_RESULTS, ORDINARY_MOMENTS
from emitter.testing.surfaces import ContractViolation, SurfaceContract, check_surface
from tests.testing.surfaces.broken import BROKEN
from tests.testing.surfaces.broken_replies import SaysLess
from tests.testing.surfaces.broken_sheets import CutsTheSynopsis, OmitsTheQuestionHatch
from tests.testing.surfaces.honest import Honest

TESTS = [each for each in vars(SurfaceContract) if each.startswith("test_")]


class TestHonest(SurfaceContract):
    """The class passes."""

    subject = Honest()


class TestSaysLess(SurfaceContract):
    """A surface may be unable to say what is refused, and may know that a person left."""

    subject = SaysLess()
    moments = FEW_MOMENTS


def test_the_function_passes_too() -> None:
    """``check_surface`` says nothing about a surface that keeps the contract."""
    check_surface(Honest())


@pytest.mark.parametrize(("subject", "test", "sentence"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_surface_fails_with_the_sentence_that_it_breaks(subject: Any, test: str, sentence: str) -> None:
    """The message names section, rule and case."""
    contract = type("Contract", (SurfaceContract,), {"subject": subject(), "moments": FEW_MOMENTS})()

    with pytest.raises(ContractViolation, match=r"^\u00a7") as caught:
        getattr(contract, test)()

    said, case = str(caught.value).split("\n", 1)
    assert sentence in said.replace("\n", " ")
    assert case.strip()


def test_every_test_of_the_contract_catches_somebody() -> None:
    """No invariant is there for show."""
    assert {test for _, test, _ in BROKEN.values()} == set(TESTS)


def test_all_that_is_broken_is_reported_at_once() -> None:
    """The function goes on after the first one."""

    class Both(CutsTheSynopsis, OmitsTheQuestionHatch):
        """Breaks two rules."""

    with pytest.raises(AssertionError) as caught:
        check_surface(Both(), moments=FEW_MOMENTS)

    assert "the four briefing slots" in str(caught.value)
    assert "exactly the open hatches can be used" in str(caught.value)
    assert "malformed" not in str(caught.value)


def test_a_surface_that_cannot_name_the_envelope_says_so() -> None:
    """``bound=False`` leaves out what such a surface cannot keep, and nothing else."""
    unnamed, _, _ = BROKEN["TakesUnnamedReplies"]

    check_surface(unnamed(), moments=FEW_MOMENTS, bound=False)
    with pytest.raises(ContractViolation, match="does not name its envelope is refused"):
        check_surface(unnamed(), moments=FEW_MOMENTS)


def test_the_moments_cover_what_the_draft_leaves_open() -> None:
    """Two to four options, each of them recommended, each setting of the hatches, with and without meta."""
    settings = {_setting(each) for each in ORDINARY_MOMENTS.values()}

    assert len(settings) == len(ORDINARY_MOMENTS) == (2 + 3 + 4) * 4 * 2


def test_the_few_cover_every_pair() -> None:
    """What a slow surface is held to has each pair of settings that there is."""
    pairs = {pair for each in ORDINARY_MOMENTS.values() for pair in combinations(enumerate(_setting(each)), 2)}

    assert {pair for each in FEW_MOMENTS.values() for pair in combinations(enumerate(_setting(each)), 2)} == pairs


def test_the_tables_are_as_large_as_they_say() -> None:
    """At least a dozen malformed results, and a hostile text of every sort."""
    assert len(MALFORMED_RESULTS) >= 12
    assert len(HOSTILE_MOMENTS) >= 30


def _setting(moment: Any) -> tuple[Any, ...]:
    question = moment.question
    size = (len(question.options), question.recommended_idx)
    return (size, question.hatches.free_text, question.hatches.dialogue, moment.meta is None)
