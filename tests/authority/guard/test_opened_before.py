"""Who gets to the ledger first cannot have a call approved by a decision that does not tell it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority, brief_from_template
from emitter.decisions import answer_in_words, open_dialogue, select_option
from emitter.errors import EmitterError, NotApproved, Tampered, WrongDigest
from emitter.stores import MemoryStore
from tests.authority.guard.parts import CEO, MOM, Person, Post, approve, kept, leave, moment, proven, resolved

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.authority import ApprovalRequest
    from emitter.decisions.ledger_entries import PendingDecision
    from emitter.models import BindingMoment


class _Later(Exception):
    """Raised by whoever should have written the envelope."""


class Office:
    """An authority and a call to the CEO that was proposed, and whose decision nobody has opened yet."""

    def __init__(self) -> None:
        self.authority, self.post, self.person = Authority(), Post(), Person()
        self.written: list[ApprovalRequest] = []
        late = self.authority.guard(self.post.send_email, brief=self._note, workflow_id="w")
        with pytest.raises(_Later):
            late.call("c1", CEO)
        self.guard = self.authority.guard(self.post.send_email, ask=self.person, workflow_id="w")

    def _note(self, asked: ApprovalRequest) -> BindingMoment:
        self.written.append(asked)
        raise _Later

    def opened(self, envelope: BindingMoment, *actions: str | None) -> PendingDecision:
        """Open a decision under the id that is the call's."""
        decision_id = kept(self.authority, "c1")["decision_id"]
        return self.authority.ledger.open(envelope, decision_id=decision_id, actions=actions)


def _findings(envelope: BindingMoment, asked: ApprovalRequest) -> BindingMoment:
    reported = template_told(asked)
    return envelope.model_copy(update={"findings": reported})


def template_told(asked: ApprovalRequest) -> tuple[str, ...]:
    """Return the lines that a guard tells of a call."""
    from emitter.authority.guard.briefing import describe_call  # noqa: PLC0415  beside the public names

    return describe_call(asked)


def _of_mom(asked: ApprovalRequest) -> BindingMoment:
    reported = tuple(each.replace(CEO, MOM) for each in template_told(asked))
    return brief_from_template(asked).model_copy(update={"findings": reported})


OPENED: dict[str, Callable[[ApprovalRequest], tuple[BindingMoment, tuple[str | None, ...]]]] = {
    "about something else": lambda asked: (moment(asked, label="Have a tea"), (asked.request.digest, None)),
    "with the label alone": lambda asked: (moment(asked), (asked.request.digest, None)),
    "about another call": lambda asked: (_of_mom(asked), (asked.request.digest, None)),
    "with the other option": lambda asked: (_findings(brief_from_template(asked), asked), (None, asked.request.digest)),
    "with both options": lambda asked: (_findings(brief_from_template(asked), asked), (asked.request.digest,) * 2),
    "with something else beside": lambda asked: (
        _findings(brief_from_template(asked), asked),
        (asked.request.digest, "sha256:0"),
    ),
    "with the label twice": lambda asked: (
        _findings(moment(asked, asked.label), asked),
        (asked.request.digest, None),
    ),
    "without an action": lambda asked: (_findings(brief_from_template(asked), asked), ()),
}


@pytest.mark.parametrize("says", [None, approve, leave], ids=["waiting", "first option", "second option"])
@pytest.mark.parametrize("opened", OPENED.values(), ids=OPENED)
def test_a_decision_that_does_not_tell_the_call_is_not_its_own(
    opened: Callable[[ApprovalRequest], Any], says: Any
) -> None:
    """Nobody is asked by it, and no answer to it is an approval."""
    office = Office()
    envelope, actions = opened(office.written[0])
    pending = office.opened(envelope, *actions)
    if says is not None:
        resolved(office.authority, pending.decision_id, says)

    with pytest.raises(Tampered):
        office.guard.call("c1", CEO)

    assert (office.person.asked, office.post.sent) == ([], [])


def test_a_decision_that_tells_the_call_is_its_own_whoever_opened_it() -> None:
    """As where a process of ours was killed right after it."""
    office = Office()
    (asked,) = office.written
    office.opened(_findings(brief_from_template(asked), asked), asked.request.digest, None)

    assert office.guard.call("c1", CEO) == 1
    assert len(office.person.asked) == 1
    proven(office.authority)


def test_a_decision_that_is_edited_while_somebody_is_asked_is_not_its_own() -> None:
    """They leave it undone, and the option that they leave it by has been made the one that makes the call.

    What counts is what they were asked; whoever reads the store afterwards finds that it was edited.
    """
    store, post = MemoryStore(), Post()

    def says(pending: PendingDecision) -> Any:
        place = ("emitter.ledger", f"opened:{pending.reference}")
        entry = json.loads(store._entries[place])
        entry["outcome"]["actions"].reverse()
        store._entries[place] = json.dumps(entry)
        return leave(pending)

    guard = Authority(store).guard(post.send_email, ask=says)
    for error in (NotApproved, Tampered):
        with pytest.raises(error):
            guard.call("c1", CEO)
    assert post.sent == []


def moment_of() -> BindingMoment:
    """Return an envelope that has nothing to do with any call."""
    from tests.decisions.ledger.asking import moment as asking  # noqa: PLC0415  its name is another's here

    return asking()


ELSEWHERE: dict[str, Callable[[PendingDecision], Any]] = {
    "a choice": lambda other: select_option(other.moment, 0),
    "a text": lambda other: answer_in_words(other.moment, "Yes."),
    "an objection": lambda other: open_dialogue(other.moment),
}


@pytest.mark.parametrize("answer", ELSEWHERE.values(), ids=ELSEWHERE)
def test_the_answer_to_another_envelope_is_no_answer(answer: Callable[[PendingDecision], Any]) -> None:
    """The decision stays open, and can be answered."""
    authority, post = Authority(), Post()
    other = authority.ledger.open(moment_of())
    person = Person(lambda _: answer(other))
    guard = authority.guard(post.send_email, ask=person)
    with pytest.raises(WrongDigest):
        guard.call("c1", MOM)
    assert post.sent == []

    person.says = approve
    assert guard.call("c1", MOM) == 1


def test_the_resolution_of_another_decision_is_no_resolution() -> None:
    """Be it of another call, which was approved, or of the same call under another id."""
    authority, post = Authority(), Post()
    person = Person()
    guard = authority.guard(post.send_email, ask=person)
    guard.call("c1", MOM)
    first = authority.ledger.find(person.asked[0].decision_id)
    person.says = lambda _: first

    for to in (MOM, CEO):
        with pytest.raises(EmitterError, match="another decision"):
            guard.call(f"to {to}", to)

    assert len(post.sent) == 1


def test_two_calls_with_the_same_arguments_are_asked_about_twice() -> None:
    """An approval is of one call: the next one waits for its own, and can be left undone."""
    authority, post = Authority(), Post()
    person = Person()
    guard = authority.guard(post.send_email, ask=person)

    assert guard(MOM) == 1
    person.says = leave
    with pytest.raises(NotApproved):
        guard(MOM)
    assert len(post.sent) == 1
