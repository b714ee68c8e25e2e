"""A question that its principal refused is not put again (section 6.2 of the draft)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter.decisions import answer_in_words, digest, open_dialogue, select_option
from emitter.errors import AlreadyResolved, InputError, UnknownDecision
from emitter.events import Level
from emitter.models import BindingMoment
from tests.decisions.ledger.asking import Hand, Told, moment

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.decisions.ledger import Ledger

ASKED = moment(meta={"decision_class": "consent"})
NAMED = digest(ASKED)


def test_a_refused_question_is_not_opened_again(again: Callable[..., Ledger], reported: Told) -> None:
    """By any process, after a restart, under any id; each time that it is tried is reported, with what refused it."""
    first = again().open(ASKED, agent="ada", decision_id="1")
    again().resolve("1", open_dialogue(ASKED, "Wrong question."))
    for name in ("2", "3"):
        with pytest.raises(AlreadyResolved, match=r"refused this very question, in the decision '1'\. Read") as raised:
            again().open(ASKED, agent="ada", decision_id=name)
        assert raised.value.decision_id == "1"
    with pytest.raises(AlreadyResolved):
        again().open(ASKED, agent="ada")
    assert again().pending() == ()
    assert again().rates().opened == 1
    about = {"agent": "ada", "decisionClass": "consent", "digest": NAMED, "reference": first.reference}
    assert reported.lines("decision.reasked") == [about] * 3
    tries = [each for each in reported.events if each.event.message == "decision.reasked"]  # type: ignore[union-attr]
    assert {each.event.level for each in tries} == {Level.WARN}  # type: ignore[union-attr]
    assert len({each.causation_id for each in tries} - {first.reference}) == 3


def test_the_refused_decision_itself_is_found_again(again: Callable[..., Ledger], reported: Told) -> None:
    """A call that is repeated under its own id asks nothing anew."""
    first = again().open(ASKED, decision_id="1")
    again().resolve("1", open_dialogue(ASKED))
    assert again().open(ASKED, decision_id="1") == first
    assert reported.messages() == ["decision.opened", "decision.resolved"]


def test_a_question_that_differs_by_a_word_may_be_asked(ledger: Ledger) -> None:
    """It is another one, although it resembles the one that was refused."""
    ledger.open(ASKED, agent="ada", decision_id="1")
    ledger.resolve("1", open_dialogue(ASKED))
    ledger.open(moment("Should that be done?"), agent="ada")
    assert len(ledger.pending()) == 1


def posed(stem: str = "Should the backup be verified?", *labels: str, **changes: Any) -> BindingMoment:
    """Return an envelope with a question."""
    options = [{"label": each, "reasoning": "A reason."} for each in labels or ("Verify it", "Trust it")]
    asked = moment(stem, **changes).to_json()
    return BindingMoment.model_validate({**asked, "question": {**asked["question"], "options": options}})


AGAIN = {
    "the same": posed(),
    "another briefing": posed(synopsis="The backup is to be verified, since it is old."),
    "another reasoning": posed(findings=["One.", "Two.", "Three."]),
    "another order": posed("Should the backup be verified?", "Trust it", "Verify it"),
    "another class": posed(meta={"decision_class": "another"}),
    "case and space": posed("should  the BACKUP be verified?"),
    "punctuation": posed("Should the backup be verified", "Verify it.", "Trust it!"),
    "quotation marks": posed("Should the “backup” be 'verified'?"),
    "emphasis": posed("Should the **backup** be _verified_?"),
    "nothing that is seen": posed("Should the back\u200bup be verified?"),
    "letters that look alike": posed("Should the b\u0430ckup be verified?"),
    "full width": posed("\uff33hould the backup be verified?"),
}


@pytest.mark.parametrize("agent", ["ada", "bob"])
@pytest.mark.parametrize("name", AGAIN)
def test_the_same_question_word_for_word_is_not_opened_again(ledger: Ledger, name: str, agent: str) -> None:
    """Whichever agent asks, and whatever else of the envelope is new."""
    first = ledger.open(posed(), agent="ada")
    ledger.resolve(first.decision_id, open_dialogue(posed(), "Who made it?"))
    with pytest.raises(AlreadyResolved) as raised:
        ledger.open(AGAIN[name], agent=agent)
    assert raised.value.decision_id == first.decision_id
    assert ledger.pending() == ()


OTHERS = {
    "another word": posed("Should the backup be deleted?"),
    "another option": posed("Should the backup be verified?", "Verify it", "Delete it"),
    "one option more": posed("Should the backup be verified?", "Verify it", "Trust it", "Delete it"),
    "a file's dot": posed("Should the .backup be verified?"),
    "a wildcard": posed("Should the *backup be verified?"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_not_the_same_word_for_word_is_opened(ledger: Ledger, name: str) -> None:
    """Likeness is a guess, and refuses nothing."""
    ledger.resolve(ledger.open(posed()).decision_id, open_dialogue(posed(), "Who made it?"))
    assert ledger.open(OTHERS[name]) in ledger.pending()


def test_the_same_words_about_another_action_are_another_question(ledger: Ledger) -> None:
    """Which calls the options make is a part of what is asked, where it is known."""
    ledger.resolve(ledger.open(posed(), actions=["sha256:a", None]).decision_id, open_dialogue(posed()))
    with pytest.raises(AlreadyResolved):
        ledger.open(AGAIN["another briefing"], actions=["sha256:a", None])
    ledger.open(AGAIN["another briefing"], actions=["sha256:b", None])


CLOSED: dict[str, Any] = {"findings": ["One.", "Two.", "Three."], "dialogue": False}


def test_an_objection_that_is_taken_up_opens_the_way(ledger: Ledger) -> None:
    """The question may be asked again in an envelope that names the veto, has changed, and leaves the veto open."""
    ledger.resolve(ledger.open(posed(), decision_id="1").decision_id, open_dialogue(posed(), "Who made it?"))
    changed = posed(findings=["The night job made it.", "It is a day old.", "It is whole."])
    ledger.open(posed("Should it rain?"), decision_id="2")
    for refused, after in ((changed, []), (changed, ["2"]), (posed(), ["1"]), (posed(**CLOSED), ["1"])):
        with pytest.raises(AlreadyResolved):
            ledger.open(refused, agent="bob", after=after)
    opened = ledger.open(changed, agent="bob", after=["1"])
    ledger.resolve(opened.decision_id, open_dialogue(changed, "Still: who?"))
    with pytest.raises(AlreadyResolved) as raised:
        ledger.open(posed(findings=["Ada made it.", "It is a day old.", "It is whole."]), after=["1"])
    assert raised.value.decision_id == opened.decision_id


def test_after_names_decisions(ledger: Ledger) -> None:
    """One that nobody opened is unknown, and a single text is not a list."""
    with pytest.raises(UnknownDecision):
        ledger.open(ASKED, after=["nobody"])
    for given in ("1", [1], 1):
        with pytest.raises(InputError):
            ledger.open(ASKED, after=given)  # type: ignore[arg-type]


def test_a_veto_does_not_stand_for_ever(again: Callable[..., Ledger], clock: Hand) -> None:
    """After 30 days the question may be asked again; the very envelope of this agent may not."""
    again().resolve(again().open(posed(), agent="ada").decision_id, open_dialogue(posed()))
    clock.now += 30 * 86_400 - 1
    with pytest.raises(AlreadyResolved):
        again().open(AGAIN["punctuation"], agent="ada")
    clock.now += 1
    again().open(AGAIN["punctuation"], agent="ada")
    with pytest.raises(AlreadyResolved):
        again().open(posed(), agent="ada")


def test_a_veto_on_a_subject_stands(again: Callable[..., Ledger], clock: Hand) -> None:
    """Whatever the question, the actions, the agent and the time; until the latest objection is taken up."""
    first = again().open(posed(), agent="ada", subject="the call", actions=("a", None))
    again().resolve(first.decision_id, open_dialogue(posed(), "Who made it?"))
    clock.now += 300 * 86_400
    other = posed("Is it safe to go on?", "Go on", "Wait")
    with pytest.raises(AlreadyResolved) as raised:
        again().open(other, agent="bob", subject="the call", actions=("b", None))
    assert raised.value.decision_id == first.decision_id
    assert again().open(other, subject="another call").subject == "another call"

    second = again().open(other, agent="bob", subject="the call", after=[first.decision_id])
    again().resolve(second.decision_id, open_dialogue(other))
    third = posed("Shall it be done?", "Do it", "Leave it")
    with pytest.raises(AlreadyResolved) as raised:
        again().open(third, subject="the call", after=[first.decision_id])
    assert raised.value.decision_id == second.decision_id
    assert [each.decision_id for each in again().find_refusals("the call")] == [second.decision_id, first.decision_id]
    assert again().open(third, subject="the call", after=[second.decision_id])


def test_a_question_that_resembles_a_refused_one_is_a_warning(again: Callable[..., Ledger], reported: Told) -> None:
    """It is opened; the warning names the refused decision by its reference, and says no word of either."""
    first = again().open(posed(), decision_id="1")
    again().resolve("1", open_dialogue(posed(), "Who made it?"))
    like = again().open(posed("Should the backup then be verified?"), agent="bob")
    (line,) = reported.lines("decision.resembles_refused")
    assert line == {
        "agent": "bob",
        "decisionClass": "",
        "digest": like.digest,
        "reference": first.reference,
    }
    assert [each.pending for each in again().find_similar_refusals(like)] == [first]
    other = again().open(posed("Which port does the printer have?", "The first one", "The second one"))
    assert again().find_similar_refusals(other) == ()
    again().open(posed("Should the backup now be verified?"), after=["1"])
    assert len(reported.lines("decision.resembles_refused")) == 1


def test_the_latest_vetoes_are_looked_at(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as are remembered, so that no ledger looks through years of them."""
    monkeypatch.setattr("emitter.decisions.refused_questions.MAX_REMEMBERED_REFUSALS", 2)
    asked = [moment(f"Number {number}?") for number in range(3)]
    for each in asked:
        ledger.resolve(ledger.open(each).decision_id, open_dialogue(each))
    for each in asked[1:]:
        with pytest.raises(AlreadyResolved):
            ledger.open(each, agent="bob")
    ledger.open(asked[0], agent="bob")


@pytest.mark.parametrize("answer", [select_option(ASKED, 0), answer_in_words(ASKED, "Later.")], ids=repr)
def test_a_question_that_was_answered_may_be_put_again(ledger: Ledger, reported: Told, answer: object) -> None:
    """It was not refused."""
    ledger.open(ASKED, decision_id="1")
    ledger.resolve("1", answer)  # type: ignore[arg-type]
    ledger.open(ASKED, decision_id="2")
    assert ledger.refused_digests("agent") == frozenset()
    assert "decision.reasked" not in reported.messages()


def test_the_refused_are_known(again: Callable[..., Ledger]) -> None:
    """By agent, as their digests, in every process."""
    asked = [moment(f"Number {number}?") for number in range(3)]
    for agent, each in zip(("ada", "ada", "bob"), asked, strict=True):
        again().resolve(again().open(each, agent=agent).decision_id, open_dialogue(each))
    assert again().refused_digests("ada") == {digest(each) for each in asked[:2]}
    assert again().refused_digests("bob") == {digest(asked[2])}
    assert again().refused_digests("eve") == frozenset()
    assert isinstance(again().refused_digests("ada"), frozenset)
