"""What may follow on a refused question: what is certain is an error, and what is guessed is a finding."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.decisions import Reopen
from emitter.decisions.reopening import REPEATED, REWORDED, SIMILAR, WITHDRAWN, check_reopened
from emitter.findings import Severity
from tests.checks.handshake.pairs import FOLDER, Part, counts, moment, of
from tests.work import examples

REFUSED = moment("Should the March invoice be released to Acme?", ("Release it now", "Hold it until Monday"))
OTHER = moment("Who checks the amounts first?", ("Finance checks them", "The auditor checks them"))
_CLOSED = {"hatches": {"free_text": True, "dialogue": False}}
_WORDS = st.text(st.characters(categories=["Ll", "Lu", "Nd", "Zs", "Po"]), max_size=60)


def find(objection: str, following: Any, refused: Any = REFUSED) -> list[str]:
    """Return the rules that a following envelope breaks."""
    return [finding.rule for finding in check_reopened([Reopen(refused, objection)], following)]


AGAIN: dict[str, tuple[str, tuple[str, ...], str | None]] = {
    "the same": (
        "Should the March invoice be released to Acme?",
        ("Release it now", "Hold it until Monday"),
        "repeated",
    ),
    "its options the other way round": (
        "Should the March invoice be released to Acme?",
        ("Hold it until Monday", "Release it now"),
        "repeated",
    ),
    "another presentation": (
        "**SHOULD the  March invoice be released to “Acme”**",
        ("Release it now.", "Hold it until Mon\u200bday"),
        "repeated",
    ),
    "other function words": (
        "Shall we release to Acme the invoice of March?",
        ("Release it now", "Hold it until Monday"),
        "reworded",
    ),
    "one more option": (
        "Should the March invoice be released to Acme?",
        ("Release it now", "Hold it until Monday", "Pay half"),
        "reworded",
    ),
    "a word more": (
        "Should the whole March invoice be released to Acme?",
        ("Release it now", "Hold it until Monday"),
        "similar",
    ),
    "another number": ("Should 3 invoices be released to Acme?", ("Release them now", "Hold them until Monday"), None),
    "the contrary": (
        "Should the March invoice not be released to Acme?",
        ("Release it now", "Hold it until Monday"),
        None,
    ),
    "another question": ("Who checks the amounts first?", ("Finance checks them", "The auditor checks them"), None),
}


@pytest.mark.parametrize(("stem", "labels", "rule"), AGAIN.values(), ids=AGAIN)
def test_a_question_is_compared_with_the_refused_one(stem: str, labels: tuple[str, ...], rule: str | None) -> None:
    """Only the same wording is refused. The same words are sent back once, and similar ones are reported."""
    assert find("", moment(stem, labels)) == ([] if rule is None else [f"question-{rule}"])


def test_the_severities_follow_what_is_certain() -> None:
    """What can be decided is an error; a reworded question asks once, and the rest is reported."""
    severities = [each.severity for each in (REPEATED, WITHDRAWN, REWORDED, SIMILAR)]
    assert severities == [Severity.ERROR, Severity.ERROR, Severity.RETRY, Severity.WARNING]


def test_nothing_is_checked_without_a_refusal() -> None:
    """The same question may be asked twice, and a hatch be closed, if nothing was refused."""
    assert check_reopened([], moment("Should it?", ("Yes", "No"), question=_CLOSED)) == ()


def test_every_refusal_counts() -> None:
    """An agent may not come back to the first question after a second one was refused."""
    reopened = [Reopen(REFUSED, ""), Reopen(OTHER, "")]
    assert check_reopened(reopened, REFUSED) == check_reopened(reopened, OTHER) == (REPEATED,)


@pytest.mark.parametrize("objection", ["", "No.", "The bank details were never confirmed.", "OPS-412 is still open."])
def test_other_words_than_the_objections_are_no_finding(objection: str) -> None:
    """A good answer to an objection often has none of its words, so nothing is guessed from them."""
    assert find(objection, OTHER) == []


def test_the_veto_is_not_taken_away() -> None:
    """The dialogue hatch stays open after it was used; the other one is the envelope's own matter."""
    closed = {"hatches": {"free_text": False, "dialogue": True}}
    assert find("", moment("Who?", ("We", "They"), question=_CLOSED)) == ["veto-withdrawn"]
    assert find("", moment("Who?", ("We", "They"), question=closed)) == []


def test_a_finding_says_what_is_expected_in_words_of_its_own() -> None:
    """It is reported once, with its slot and the draft's section."""
    repeated = REFUSED.model_copy(update={"offer": "Ask."})
    found = check_reopened([Reopen(REFUSED, "Check the zebra crossing.")] * 2, repeated)
    assert found == (REPEATED,)
    assert all("(section 6.2)" in each.message and "zebra" not in each.message for each in found)


@settings(max_examples=examples(60))
@given(_WORDS, _WORDS, st.lists(_WORDS, min_size=2, max_size=4))
def test_the_same_envelope_again_is_always_a_repetition(objection: str, stem: str, options: list[str]) -> None:
    """Whatever was asked and objected."""
    asked = moment(stem, options)
    assert REPEATED in check_reopened([Reopen(asked, objection)], asked)


@settings(max_examples=examples(60))
@given(_WORDS, _WORDS, _WORDS)
def test_no_guess_is_an_error(objection: str, stem: str, label: str) -> None:
    """For any text, only the same wording and a closed hatch refuse an envelope."""
    found = check_reopened([Reopen(REFUSED, objection)], moment(stem, (label, "Hold it until Monday")))
    assert {each for each in found if each.severity is Severity.ERROR} <= {REPEATED}


FLOORS = {
    Part.TUNING: (0.85, 0.20, 0.65),
    Part.TEST: (0.85, 0.30, 0.80),
    Part.MORE: (0.99, 0.07, 0.80),
    Part.AFTERWARDS: (0.99, 0.15, 0.65),
    Part.REOPENED: (0.99, 0.55, 0.90),
}


@pytest.mark.parametrize("part", Part, ids=lambda part: part.value)
def test_precision_and_recall(part: Part) -> None:
    """They stay where they were measured; ``python -m tests.checks.handshake.report`` prints them."""
    asked, found = (counts(of(part), warnings=warnings) for warnings in (False, True))
    precision, recall, recall_with_warnings = FLOORS[part]
    assert asked.precision[0] >= precision
    assert asked.recall[0] >= recall
    assert found.recall[0] >= recall_with_warnings


def test_other_questions_after_an_objection_are_let_pass() -> None:
    """None of the fifteen written for this is an error, and none is sent back."""
    lines = [json.loads(line) for line in FOLDER.joinpath("reopened.jsonl").read_text("utf-8").splitlines()]
    for line in (line for line in lines if line["label"] == "other"):
        refused, following = (moment(line[name]["stem"], line[name]["options"]) for name in ("one", "other"))
        found = check_reopened([Reopen(refused, line["objection"])], following)
        assert {each.severity for each in found} <= {Severity.WARNING}
