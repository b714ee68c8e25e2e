"""Whether two envelopes ask the same question: a labelled table, and the laws of the measure."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.checks.similarity import SAME_QUESTION_THRESHOLD, compare_questions
from tests.checks.handshake import report
from tests.checks.handshake.pairs import HALVES, Part, counts, moment, of, pairs
from tests.work import examples

STEM, OPTIONS = "Should the March invoice be released to Acme?", ("Release it now", "Hold it until Monday", "Ask Acme")
_TEXTS = st.text(max_size=40) | st.sampled_from([each.one.question.stem for each in pairs()])
_MOMENTS = st.builds(moment, _TEXTS, st.lists(_TEXTS, min_size=2, max_size=4))
_quick = settings(max_examples=examples(60))


def test_the_table_is_large_and_has_both_labels_in_both_halves() -> None:
    """At least 60 pairs, and 20 of each label in each half and in what came later; no pair stands there twice."""
    assert len({(each.one, each.other) for each in pairs()}) == len({each.id for each in pairs()}) == len(pairs()) >= 60
    for part in Part:
        labels = [each.same for each in of(part)]
        assert min(labels.count(True), labels.count(False)) >= 20


@pytest.mark.parametrize(
    ("part", "precision", "recall"),
    [(Part.TUNING, 0.95, 0.8), (Part.TEST, 0.95, 0.85), (Part.MORE, 0.95, 0.85), (Part.AFTERWARDS, 0.9, 0.6)],
)
def test_precision_and_recall_do_not_fall(part: Part, precision: float, recall: float) -> None:
    """Hardly ever is another question taken for the same; what is said in other words altogether is missed."""
    found = counts(of(part))
    assert found.precision[0] >= precision
    assert found.recall[0] >= recall


@pytest.mark.parametrize("family", ["paraphrase"])
def test_wholly_other_words_are_missed(family: str) -> None:
    """Words are compared and not meanings, which is said; if this changes, the documentation is to change."""
    assert not any(each.found for each in of(*HALVES) if each.family == family)


@pytest.mark.parametrize(
    "family",
    [
        *("preamble", "condition", "generic-clause", "narrowed", "swapped", "turned", "inner-negation", "opposite"),
        *("all-options-new", "version-form", "spelling", "look-alike", "less-detail", "identifier"),
    ],
)
def test_what_has_a_rule_of_its_own_is_told_right(family: str) -> None:
    """One pair that goes wrong hardly moves the figures of a half, and is a rule that does not hold."""
    assert [each.id for each in of(*HALVES) if each.family == family and each.found is not each.same] == []
    assert any(each.family == family for each in of(*HALVES))


def test_the_report_tells_each_part_and_each_miss() -> None:
    """A line of figures a part under a heading, then a line a pair that was taken for what it is not."""
    wrong = [each.id for each in pairs() if each.found is not each.same]
    told = list(report.lines(misses=True))
    assert [line.split()[0] for line in told[1:5]] == ["tuning", "test", "more_tuning", "afterwards"]
    assert sorted(line.split()[1] for line in told[5:]) == sorted(wrong)
    assert list(report.lines(misses=False)) == told[:5]


@_quick
@given(_MOMENTS, _MOMENTS)
def test_it_is_a_likeness(one: Any, other: Any) -> None:
    """From 0 to 1, and 1 for a question and itself."""
    assert 0 <= compare_questions(one, other) <= 1
    assert compare_questions(one, one) == 1


@_quick
@given(_MOMENTS, st.randoms(use_true_random=False), st.data())
def test_what_does_not_count(asked: Any, chance: Any, data: st.DataObject) -> None:
    """The order of the options, the recommended one, the hatches, the reasonings, the briefing and ``meta``."""
    labels = [each.label for each in asked.question.options]
    chance.shuffle(labels)
    again = moment(
        asked.question.stem,
        labels,
        synopsis=data.draw(st.text(max_size=9)),
        findings=["Another finding."],
        offer="",
        meta={"decision_class": "x"},
        question={
            "options": [{"label": each, "reasoning": "Another reason."} for each in labels],
            "recommended_idx": data.draw(st.integers(0, len(labels) - 1)),
            "hatches": {"free_text": False, "dialogue": False},
        },
    )
    assert compare_questions(asked, again) == pytest.approx(1)


@pytest.mark.parametrize(
    "dressed",
    [
        pytest.param(STEM.upper(), id="capitals"),
        pytest.param(STEM.lower().replace("?", ""), id="no punctuation"),
        pytest.param(f"  “{STEM}”  ", id="quotes"),
        *(
            pytest.param(STEM.replace("e", f"e{each}").replace("o", f"o{each}"), id=f"nobody sees U+{ord(each):04X}")
            for each in "\u200b\u00ad\u034f\u17b4\u180b\u2063\ufe0f\ufff9\U000e0041\U000e0100\x08\x9b"
        ),
        *(
            pytest.param(STEM.replace("e", f"e{each}").replace("l", f"l{each * 9}"), id=f"a heap of U+{ord(each):04X}")
            for each in "\u0336\u0331\u0489\u20dd\u1dc4\ufe20"
        ),
        *(pytest.param(STEM.replace(" ", each), id=f"a blank, U+{ord(each):04X}") for each in "\u3164\uffa0\u2800"),
        pytest.param("Shòuld thé Mârch invöice bê relèased tõ Acmé?", id="accents"),
        pytest.param("Shоulԁ thе Маrсh іпvоісе ье rеӏеаѕеԁ tо Асmе, ѕау?", id="letters of other alphabets"),  # noqa: RUF001
        pytest.param("Should the Mᴀʀᴄʜ ɪɴᴠᴏɪᴄᴇ be ʀᴇʟᴇᴀꜱᴇᴅ to Acme?", id="small capitals"),  # noqa: RUF001
        pytest.param("Should the March 🅸🅽🆅🅾🅸🅲🅴 be 🇷elea🅢ed to Acme?", id="letters in squares"),
        pytest.param("Should the __March__ _invoice_ be **released** to `Acme`?", id="emphasis"),
        pytest.param("Should the ~March~ ~~invoice~~ be @released to ~Acme?", id="strikes and handles"),
        pytest.param("".join(chr(ord(c) + 0xFEE0) if c.isalpha() else c for c in STEM), id="full width"),
        pytest.param("Please, may the March invoice now just be released to Acme, then?", id="little words"),
        pytest.param("Are we releasing the March invoices to Acme?", id="other forms of its words"),
    ],
)
def test_a_question_in_another_dress_is_the_same(dressed: str) -> None:
    """What does not change the question does not hide it."""
    assert compare_questions(moment(STEM, OPTIONS), moment(dressed, OPTIONS)) >= SAME_QUESTION_THRESHOLD


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Pay 500 EUR?", "Pay 5000 EUR?"),
        ("Pay 500 EUR?", "Pay 500 USD?"),
        ("Pay 1.5 million?", "Pay 1.5 billion?"),
        ("Pay two instalments?", "Pay three instalments?"),
        ("Deploy 4.7.2?", "Deploy 4.7.12?"),
        ("Deploy v2 now?", "Deploy v3 now?"),
        ("Pay ٣٠٠ now?", "Pay 400 now?"),
        (
            "Should the invoice for the roof of the Bergen office be released to Acme this week?",
            "Should the invoice for the roof of the Bergen office be released to Norda this week?",
        ),
        (
            "Should the invoice of 500 EUR for the roof of the office be released this week?",
            "Should the invoice of 700 EUR for the roof of the office be released this week?",
        ),
        ("Is the flag to be enabled?", "Is the flag to be disabled?"),
        ("Should Ada get the key?", "Should Sam get the key?"),
        ("Tell Ada about it?", "Tell Sam about it?"),
        ("Ship the channel α?", "Ship the channel ω?"),  # noqa: RUF001
        ("Should the tests run with a proxy?", "Should the tests run without a proxy?"),
        ("Should those hear who have paid?", "Should those hear who have not paid?"),
    ],
)
def test_a_number_a_name_or_an_opposite_makes_another_question(one: str, other: str) -> None:
    """However few letters they are, and although all the rest is the same."""
    assert compare_questions(moment(one, OPTIONS), moment(other, OPTIONS)) < SAME_QUESTION_THRESHOLD


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Pay 5,000 EUR?", "Pay 5000.00 euros?"),
        ("Pay 5k?", "Pay 5 thousand?"),
        ("Pay 214,50 now?", "Pay 214.5 now?"),
        ("Pay ٣٠٠ now?", "Pay 300 now?"),
        ("Pay in twelve parts?", "Pay in 12 parts?"),
        ("Should we not keep it open?", "Shouldn't we keep it open?"),
        ("Should the key be kept?", "Should the key not be deleted?"),
        ("Shall we ship it or not?", "Shall we ship it?"),
        ("How should the key be handled tonight?", "What is the best way to deal with the key tonight?"),
        ("How should the key be handled tonight?", "Which way should it go?"),
    ],
)
def test_the_same_in_another_form_is_the_same(one: str, other: str) -> None:
    """A number in another notation, and the contrary of a contrary."""
    assert compare_questions(moment(one, OPTIONS), moment(other, OPTIONS)) >= SAME_QUESTION_THRESHOLD


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Should the tests run?", "Should the tests not run?"),
        ("Can the build be shipped?", "Can't the build be shipped?"),
        ("Sollen wir Anna schreiben?", "Sollen wir Anna nicht schreiben?"),
        ("要发布吗", "不要发布吗"),
        ("Approve the build?", "Reject the build?"),
    ],
)
def test_a_choice_asked_the_other_way_round_is_the_same(one: str, other: str) -> None:
    """Where the options are the same; with others, the contrary is another question."""
    assert compare_questions(moment(one, OPTIONS), moment(other, OPTIONS[::-1])) >= SAME_QUESTION_THRESHOLD
    assert compare_questions(moment(one, OPTIONS), moment(other, ("Begin", "Never"))) < SAME_QUESTION_THRESHOLD


def test_two_names_may_change_places() -> None:
    """Where the options offer both, the stem asks the same with either."""
    options = ("Give it to Ada", "Give it to Sam")
    assert (
        compare_questions(moment("Should Ada have it?", options), moment("Should Sam have it?", options))
        >= SAME_QUESTION_THRESHOLD
    )


@pytest.mark.parametrize("amount", ["500", "5000"])
def test_an_amount_that_stands_in_the_options_counts(amount: str) -> None:
    """The stem may leave the amount to them, or take it from them: the same one is the same question."""
    stem, options = "Transfer the deposit to the landlord of the Bergen office?", ("Transfer it", "Wait")
    priced, named = stem.replace("the deposit", "the deposit of 500 EUR"), (f"Transfer {amount} EUR", "Wait")
    for one, other in (
        (moment(stem, ("Transfer 500 EUR", "Wait")), moment(stem, named)),
        (moment(priced, options), moment(stem, named)),
        (moment(stem, named), moment(priced, options)),
    ):
        assert (compare_questions(one, other) >= SAME_QUESTION_THRESHOLD) is (amount == "500")
