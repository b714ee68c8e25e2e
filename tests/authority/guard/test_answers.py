"""Every outcome of ``ask=``: only the option that makes the call makes it, and nothing else is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter.decisions import Dialogue, FreeText, Selected, Unresolved, answer_in_words, open_dialogue, select_option
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision, UnreadableAnswer
from emitter.errors import BadResolution, EmitterError, HatchClosed, InputError, NoSuchOption, NotApproved
from emitter.models import BindingMoment, Hatches
from tests.authority.guard.parts import CEO, Office, approve, leave, moment, proven, resolved

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.authority import ApprovalRequest


OPTIONS = {"first": 0, "second": 1, "third": 2, "last": 3}


@pytest.mark.parametrize("chosen", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("place", OPTIONS.values(), ids=OPTIONS)
def test_only_the_option_that_makes_the_call_makes_it(place: int, chosen: int) -> None:
    """Wherever among the four it stands; once another was chosen, that stays chosen."""

    def brief(asked: ApprovalRequest) -> BindingMoment:
        made = moment(asked, "Leave it", "Ask my assistant", "Wait a day")
        options = list(made.question.options)
        options.insert(place, options.pop(0))
        return made.model_copy(update={"question": made.question.model_copy(update={"options": tuple(options)})})

    office = Office(brief=brief)
    office.person.says = lambda pending: select_option(pending.moment, chosen)

    if chosen == place:
        assert office.call() == office.call() == 1
        proven(office.authority)
    else:
        for _ in range(2):
            with pytest.raises(NotApproved) as refused:
                office.call()
            assert refused.value.decision_id == office.person.asked[0].decision_id
        assert office.post.sent == []
        assert office.authority.workflows() == ()
    assert len(office.person.asked) == 1


WORDS: dict[str, tuple[Callable[[PendingDecision], Any], type[Any]]] = {
    "a text": (lambda pending: answer_in_words(pending.moment, "Yes, run it."), FreeText),
    "the label as a text": (
        lambda pending: answer_in_words(pending.moment, pending.moment.question.options[0].label),
        FreeText,
    ),
    "an objection": (lambda pending: open_dialogue(pending.moment, "Why to her?"), Dialogue),
    "an objection without words": (lambda pending: open_dialogue(pending.moment), Dialogue),
}


@pytest.mark.parametrize(("says", "kind"), WORDS.values(), ids=WORDS)
def test_words_are_no_approval_whatever_they_say(says: Callable[[PendingDecision], Any], kind: type[Any]) -> None:
    """The decision is resolved by them, and tells them here; elsewhere that there were some."""
    office = Office()
    office.person.says = says

    for _ in range(2):
        with pytest.raises(NotApproved):
            office.call()

    assert len(office.person.asked) == 1
    assert isinstance(office.decision, ResolvedDecision)
    assert isinstance(office.decision.resolution, (kind, UnreadableAnswer))
    assert office.post.sent == []


def test_a_question_that_was_refused_is_not_put_again() -> None:
    """Nor under another id: it would be the very same envelope. Another question is another matter."""
    office = Office()
    office.person.says = dialogue_of
    for call_id in ("c1", "c2", "c3"):
        with pytest.raises(NotApproved):
            office.call(call_id)
    assert len(office.person.asked) == 1

    office.person.says = approve
    assert office.guard(CEO) == 1
    assert office.post.sent == [(CEO, "hi")]


def dialogue_of(pending: PendingDecision) -> Any:
    """Refuse the question."""
    return open_dialogue(pending.moment, "No.")


ADVICE: dict[str, tuple[Callable[[PendingDecision], Any], str]] = {
    "another option": (leave, "They chose another option: see .*option. Do not propose the call again unless"),
    "other words": (lambda pending: answer_in_words(pending.moment, "Call her."), "Do what they wrote instead"),
    "an objection": (dialogue_of, "has their objection. Change the arguments, or call again under a new id"),
}


@pytest.mark.parametrize(("says", "advice"), ADVICE.values(), ids=ADVICE)
def test_nobody_is_advised_to_ask_the_same_again(says: Callable[[PendingDecision], Any], advice: str) -> None:
    """The error says what the answer was, and what follows from it."""
    office = Office()
    office.person.says = says
    with pytest.raises(NotApproved, match=advice) as raised:
        office.call()
    assert "new call" not in str(raised.value)


def test_what_was_left_undone_may_be_asked_again_as_a_new_call() -> None:
    """To leave it is no veto on the question."""
    office = Office()
    office.person.says = leave
    with pytest.raises(NotApproved):
        office.call("c1")

    office.person.says = approve
    assert office.call("c2") == 1
    with pytest.raises(NotApproved):
        office.call("c1")
    assert len(office.post.sent) == 1


@pytest.mark.parametrize("first", [approve, leave], ids=["approved", "left"])
def test_who_is_faster_elsewhere_is_heard(first: Callable[[PendingDecision], Any]) -> None:
    """Whatever is answered here afterwards."""
    office = Office()

    def says(pending: PendingDecision) -> Any:
        resolved(office.authority, pending.decision_id, first)
        return leave(pending) if first is approve else approve(pending)

    office.person.says = says

    if first is approve:
        assert office.call() == 1
    else:
        with pytest.raises(NotApproved):
            office.call()
        assert office.post.sent == []


def test_who_asks_may_resolve_the_decision() -> None:
    """And returns what the ledger told them."""
    office = Office()
    office.person.says = lambda pending: resolved(office.authority, pending.decision_id)

    assert office.call() == 1


GARBAGE: dict[str, tuple[Callable[[PendingDecision], Any], type[EmitterError]]] = {
    "nothing": (lambda _: None, BadResolution),
    "true": (lambda _: True, BadResolution),
    "an index": (lambda _: 0, BadResolution),
    "yes": (lambda _: "yes", BadResolution),
    "the wire form": (lambda pending: {"outcome": "selected", "digest": pending.digest, "index": 0}, BadResolution),
    "the decision itself": (lambda pending: pending, BadResolution),
    "a class": (lambda _: Selected, BadResolution),
    "no such option": (lambda pending: Selected(pending.digest, 7), NoSuchOption),
    "an index below": (lambda pending: Selected(pending.digest, -1), NoSuchOption),
    "an index that is true": (lambda pending: Selected(pending.digest, False), NoSuchOption),
    "no words": (lambda pending: FreeText(pending.digest, " "), BadResolution),
    "a resolution made by hand": (
        lambda pending: ResolvedDecision(pending, select_option(pending.moment, 0), 0.0),
        InputError,
    ),
    "no reason": (lambda pending: Unresolved(pending.digest, "tired"), BadResolution),  # type: ignore[arg-type]
}


@pytest.mark.parametrize(("says", "error"), GARBAGE.values(), ids=GARBAGE)
def test_what_is_no_answer_is_none(says: Callable[[PendingDecision], Any], error: type[EmitterError]) -> None:
    """It is reported as what it is, nothing is done, and the decision can be answered still."""
    office = Office()
    office.person.says = says
    with pytest.raises(error):
        office.call()
    assert isinstance(office.decision, PendingDecision)
    assert office.post.sent == []

    office.person.says = approve
    assert office.call() == 1


def test_a_veto_that_the_envelope_does_not_take_is_no_answer() -> None:
    """Whoever asks offered what there was not."""

    def brief(asked: ApprovalRequest) -> BindingMoment:
        made = moment(asked)
        closed = made.question.model_copy(update={"hatches": Hatches(free_text=False, dialogue=False)})
        return made.model_copy(update={"question": closed})

    office = Office(brief=brief)
    for says in (lambda pending: Dialogue(pending.digest, ""), lambda pending: FreeText(pending.digest, "x")):
        office.person.says = says
        with pytest.raises(HatchClosed):
            office.call()
    assert office.post.sent == []
