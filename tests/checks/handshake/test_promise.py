"""What may follow on a veto of the question: no repetition, no deaf ear, and no veto taken away."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.decisions import Reopen
from emitter.decisions.reopening import ReopenRule, ReopenViolation, find_reopen_violations
from tests.checks.handshake.pairs import moment
from tests.work import examples

VETOED = moment("Should the March invoice be released to Acme?", ("Release it now", "Hold it until Monday"))
OTHER = moment("Who checks the amounts first?", ("Finance checks them", "The auditor checks them"))


def said_all_over(stem: str, text: str) -> Any:
    """Return an envelope in which one sentence stands wherever there is room for one."""
    return moment(stem, (text, stem), synopsis=text, findings=[text], recommendations=[text], offer=text)


IN = {
    "en": VETOED,
    "ja": moment("三月の請求書を支払いますか。", ("今支払う", "月曜日まで待つ")),
    "th": moment("จะจ่ายใบแจ้งหนี้เดือนมีนาคมหรือไม่", ("จ่าย", "รอ")),
    "ru": said_all_over("Оплатить счёт не позже марта?", "Счёт ещё не оплачен и не отменён."),
    "de": said_all_over("Soll die Rechnung freigegeben werden?", "Die Rechnung für März ist fällig und von Acme."),
}
_SHUT = {"hatches": {"free_text": True, "dialogue": False}}
_WORDS = st.text(st.characters(categories=["Ll", "Lu", "Nd", "Zs", "Po"]), max_size=60)


def rules(objection: str, *next_: Any, vetoed: Any = VETOED) -> list[str]:
    """Return the rules that an envelope breaks which follows on an objection."""
    (envelope,) = next_ or (OTHER,)
    return [each.rule.value for each in find_reopen_violations([Reopen(vetoed, objection)], envelope)]


def test_without_a_veto_nothing_is_asked_for() -> None:
    """The same question may be put twice, and a hatch be closed, for all that this handshake says."""
    assert find_reopen_violations([], moment("Should it?", ("Yes", "No"), question=_SHUT)) == ()


def test_the_same_question_is_not_put_again() -> None:
    """Neither as it was, nor reworded, nor with its options and its recommendation the other way round."""
    again = moment("Shall we release the March invoice to Acme?", ("Hold it until Monday", "Release it now"))
    assert rules("") == []
    assert rules("", VETOED) == rules("", again) == [ReopenRule.REPEATED.value]


def test_any_veto_that_stands_counts() -> None:
    """An agent may not come back to the first question after a second one was refused."""
    reopened = [Reopen(VETOED, ""), Reopen(OTHER, "")]
    assert [each.rule for each in find_reopen_violations(reopened, VETOED)] == [ReopenRule.REPEATED]
    assert [each.rule for each in find_reopen_violations(reopened, OTHER)] == [ReopenRule.REPEATED]


@pytest.mark.parametrize(
    ("objection", "taken_up", "language"),
    [
        pytest.param("The bank details were never confirmed.", "The bank details come first.", "en", id="a word"),
        pytest.param("The supplier changed banks!", "Changing bank is what matters.", "en", id="another form of it"),
        pytest.param("Why only 300?", "The 300 are one part of it.", "en", id="a number"),
        pytest.param("Ask Dana.", "Dana has seen it.", "en", id="a name"),
        pytest.param("What of OPS-412?", "OPS-412 is open.", "en", id="an identifier"),
        pytest.param("預金口座が確認されていない", "まず預金口座を確認する。", "ja", id="a script without spaces"),
        pytest.param("ยังไม่ได้ตรวจสอบบัญชี", "ตรวจสอบบัญชีก่อน", "th", id="Thai"),
        pytest.param("Банк не проверен", "Проверен ли банк?", "ru", id="Russian"),
        pytest.param("Die Prüfung der Bank fehlt.", "Die Prüfung kommt zuerst.", "de", id="German"),
    ],
)
def test_the_objection_is_taken_up(objection: str, taken_up: str, language: str) -> None:
    """Wherever the principal decides by, one of its words comes up that was not there before."""
    vetoed = IN[language]
    assert rules(objection, vetoed=vetoed) == [ReopenRule.IGNORED.value]
    others: dict[str, Any] = {"synopsis": taken_up, "findings": [taken_up], "recommendations": [taken_up]}
    taking = [moment("Who first?", ("We", "They"), **{slot: value}) for slot, value in others.items()]
    taking += [moment(taken_up, ("We", "They")), moment("Who first?", (taken_up, "They"))]
    assert [rules(objection, each, vetoed=vetoed) for each in taking] == [[]] * len(taking)
    for slot, value in {"offer": taken_up, "meta": {"decision_class": taken_up, "calibration_note": taken_up}}.items():
        beside: Any = moment("Who first?", ("We", "They"), **{slot: value})
        assert rules(objection, beside, vetoed=vetoed) == [ReopenRule.IGNORED.value]


@pytest.mark.parametrize(
    "objection",
    [
        *("Too early.", "This rests on a wrong premise.", "The premise is false", "premature", "Nonsense!", "Hmm."),
        *("Stop asking me this.", "Please deliberate more.", "I don't understand the question", "explain first"),
        *("I do not trust this.", "Not now, maybe tomorrow", "not my call", "wtf", "WTF", "I AM TOO BUSY TODAY!!!"),
        *("zebra", "ZEBRA?", "IS IT A ZEBRA?", "The zebra?", "Why now?"),
    ],
)
def test_an_objection_with_little_in_it_asks_for_nothing(objection: str) -> None:
    """Nothing of it can be taken up by name."""
    assert rules(objection) == []


@pytest.mark.parametrize(
    ("objection", "language"),
    [
        ("Das ist zu teuer und verfrüht.", "en"),
        ("Das ist in der Tat viel zu teuer und verfrüht.", "en"),
        ("Prüfung fehlt noch", "en"),
        ("C'est trop cher et prématuré pour nous.", "en"),
        ("なぜ今なのか", "en"),
        ("なぜ今なのか", "ja"),
        ("Счёт дорогой и не проверен", "en"),
        ("The bank details were never confirmed.", "de"),
        ("The bank details were never confirmed.", "ja"),
    ],
)
def test_an_objection_in_another_language_asks_for_nothing(objection: str, language: str) -> None:
    """An envelope in its own language could take it up in other words only."""
    assert rules(objection, vetoed=IN[language]) == []


@pytest.mark.parametrize(
    "objection",
    [
        pytest.param("", id="empty"),
        pytest.param("  \n ?!", id="no words"),
        pytest.param("This is the wrong question.", id="of the question as such"),
        pytest.param("No. Not that, and not now please: I don't think so.", id="little words"),
        pytest.param("Release the March invoice to Acme? Until Monday?", id="words of the vetoed envelope"),
        pytest.param("RELEASING invoices!", id="other forms of those"),
    ],
)
def test_an_objection_that_brings_nothing_up_asks_for_nothing(objection: str) -> None:
    """Then only the question itself may not come again."""
    assert rules(objection) == []
    assert rules(objection, VETOED) == [ReopenRule.REPEATED.value]


def test_each_objection_that_stands_is_looked_at() -> None:
    """One that was taken up does not speak for another."""
    reopened = [Reopen(VETOED, "Check the bank."), Reopen(VETOED, "Ask Dana.")]
    both = moment("Who asks Dana about the bank?", ("We", "They"))
    assert find_reopen_violations(reopened, both) == ()
    for one in ("Who goes to the bank?", "Who writes to Dana?"):
        assert [each.rule for each in find_reopen_violations(reopened, moment(one, ("We", "They")))] == [
            ReopenRule.IGNORED
        ]


def test_the_veto_is_not_taken_away() -> None:
    """Whoever used the question-space hatch finds it open again; the other one is the envelope's own matter."""
    assert rules("", moment("Who?", ("We", "They"), question=_SHUT)) == [ReopenRule.WITHDRAWN.value]
    answers = {"hatches": {"free_text": False, "dialogue": True}}
    assert rules("", moment("Who?", ("We", "They"), question=answers)) == []


def test_all_that_is_broken_is_told_once() -> None:
    """Each with its place, the draft's section and what is expected, without a word of anybody's text."""
    broken = find_reopen_violations([Reopen(VETOED, "Check the zebra.")] * 2, VETOED.model_copy(update={}))
    shut = find_reopen_violations([Reopen(VETOED, "Check the zebra.")], moment("Who?", ("We", "They"), question=_SHUT))
    assert [(each.slot, each.rule.value, each.section) for each in (*broken, *shut)] == [
        ("/question", "question-repeated", "6.2"),
        ("", "objection-ignored", "6.2"),
        ("", "objection-ignored", "6.2"),
        ("/question/hatches/dialogue", "veto-withdrawn", "6.2"),
    ]
    assert all("zebra" not in each.expected and "Acme" not in each.expected for each in (*broken, *shut))


@settings(max_examples=examples(60))
@given(_WORDS, _WORDS)
def test_an_envelope_that_quotes_the_objection_has_taken_it_up(objection: str, stem: str) -> None:
    """Whatever it is made of, and whatever else it says."""
    quoting = moment(stem, ("One", "Other"), synopsis=objection)
    assert ReopenRule.IGNORED not in [
        each.rule for each in find_reopen_violations([Reopen(VETOED, objection)], quoting)
    ]


@settings(max_examples=examples(60))
@given(_WORDS, _WORDS, st.lists(_WORDS, min_size=2, max_size=4))
def test_the_same_envelope_again_is_always_a_repetition(objection: str, stem: str, options: list[str]) -> None:
    """Whatever was asked and objected; and the answer is the same each time."""
    asked = moment(stem, options)
    found = find_reopen_violations([Reopen(asked, objection)], asked)
    assert ReopenRule.REPEATED in [each.rule for each in found]
    assert found == find_reopen_violations([Reopen(asked, objection)], asked)
    assert all(isinstance(each, ReopenViolation) for each in found)


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "_",
        "1.",
        "1,",
        "a.",
        "or \t",
        "roll ",
        "re-",
        "~",
        "A ",
        "要",
        "\u0301",
        "1",
        "a, ",
        "a-",
        "a1-",
        "if a: ",
        "a should ",
        "a's ",
        "a\u0430",
        "from a to ",
        "; or ",
        "call the ",
        "with a ",
        "for a ",
        "as a ",
        "of the a ",
    ],
)
def test_the_time_grows_as_the_text_does(unit: str) -> None:
    """Of texts that are built to take long, eight times as much takes no more than some eight times as long."""
    times = [min(_spent(unit * (size // len(unit)) + "x") for _ in range(3)) for size in (1_000, 8_000)]
    assert times[1] < 40 * times[0] + 0.05


def _spent(text: str) -> float:
    """Return the seconds that a text takes; the least of several is what no collection of garbage fell into."""
    begin = process_time()
    find_reopen_violations([Reopen(moment(text, (text, "No")), text)], moment(text, ("Yes", text)))
    return process_time() - begin
