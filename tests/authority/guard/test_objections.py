"""Nobody is asked again about a call that its principal objected to, until a brief addresses the objection."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority, abrief_with_model, brief_with_model
from emitter.decisions import Reopen, open_dialogue
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision
from emitter.errors import BadResolution, InputError, Invalid, NotApproved
from emitter.models import BindingMoment, Option, Question
from emitter.testing import simulator, write_decision
from tests.authority.guard.parts import CEO, MOM, Office, Person, moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.authority import ApprovalRequest

MODEL = "openai/gpt-6-sol"


def veto(pending: Any) -> Any:
    """Refuse the question."""
    return open_dialogue(pending.moment, "Has the carrier confirmed the loss?")


def with_synopsis(request: ApprovalRequest, text: str) -> BindingMoment:
    """Return the same question after another synopsis."""
    return moment(request).model_copy(update={"synopsis": text})


def with_stem(request: ApprovalRequest, stem: str, reasoning: str = "It is number 1.") -> BindingMoment:
    """Return another question about the call."""
    written = moment(request)
    options = (written.question.options[0], Option(label="Leave it", reasoning=reasoning))
    return written.model_copy(update={"question": Question.ask(stem, options, 0)})


CHANGES: dict[str, Callable[[ApprovalRequest], BindingMoment]] = {
    "nothing": moment,
    "a word of the synopsis": lambda request: with_synopsis(request, "It is to be done now."),
    "the reasoning of an option": lambda request: with_stem(request, "Is it to be done?", "Nobody waits."),
    "the case of the stem": lambda request: with_stem(request, "IS it to be done"),
    "the whole question": lambda request: with_stem(request, "Does the report suffice to send it?"),
    "the other label": lambda request: moment(request, "Wait a week"),
}


@pytest.mark.parametrize("actor", ["agent", "another agent"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_call_that_was_objected_to_is_refused_whatever_the_brief_changes(name: str, actor: str) -> None:
    """Under any id, in any workflow, and whichever agent proposes it."""
    ledger, person, sent = Ledger(), Person(veto), list[str]()

    def send(to: str) -> None:
        sent.append(to)

    def guard(actor: str, brief: Any) -> Any:
        authority = Authority(ledger=ledger, actor=actor)
        return authority.guard(send, ask=person, brief=brief)

    with pytest.raises(NotApproved) as vetoed:
        guard("agent", moment).call("c1", MOM)
    with pytest.raises(NotApproved, match="objected to this call before") as raised:
        guard(actor, CHANGES[name]).call("c2", MOM)

    assert raised.value.decision_id == vetoed.value.decision_id
    assert (len(person.asked), sent) == (1, [])
    assert ledger.pending() == ()


def test_a_call_with_other_arguments_is_asked_about() -> None:
    """The objection was to the call as it was."""
    office = Office(brief=moment)
    office.person.says = veto
    with pytest.raises(NotApproved):
        office.call()
    with pytest.raises(NotApproved):
        office.guard(CEO)
    assert len(office.person.asked) == 2


def test_a_call_to_another_account_is_asked_about() -> None:
    """The account is part of the call."""
    authority, person = Authority(), Person(veto)

    def send(to: str) -> None: ...

    for account in ("a", "b"):
        with pytest.raises(NotApproved):
            authority.guard(send, ask=person, account=account, brief=moment)(MOM)
    assert len(person.asked) == 2


def test_a_brief_that_reads_the_objection_may_ask_another_question() -> None:
    """It receives what was objected, and the decision may be approved."""
    read = list[tuple[Reopen, ...]]()

    def brief(request: ApprovalRequest) -> BindingMoment:
        read.append(request.read_objections())
        return with_synopsis(request, f"This is attempt {len(read)}.")

    office = Office(brief=brief)
    approve, office.person.says = office.person.says, veto
    for call_id in ("c1", "c2"):
        with pytest.raises(NotApproved):
            office.call(call_id)
    office.person.says = approve

    assert office.call("c3") == 1
    assert [len(each) for each in read] == [0, 1, 2]
    assert [each.moment.synopsis for each in read[2]] == ["This is attempt 1.", "This is attempt 2."]
    assert {each.objection for each in read[2]} == {"Has the carrier confirmed the loss?"}


def unchanged(written: BindingMoment) -> BindingMoment:
    """Return the envelope that was refused."""
    return written


def without_veto(written: BindingMoment) -> BindingMoment:
    """Return another envelope whose question cannot be refused."""
    hatches = written.question.hatches.model_copy(update={"dialogue": False})
    question = written.question.model_copy(update={"hatches": hatches})
    return written.model_copy(update={"synopsis": "It is to be done now.", "question": question})


@pytest.mark.parametrize("change", [unchanged, without_veto])
def test_to_read_the_objection_is_not_enough(change: Callable[[BindingMoment], BindingMoment]) -> None:
    """The envelope must change, and its question must be open to a veto."""
    written = list[BindingMoment]()

    def brief(request: ApprovalRequest) -> BindingMoment:
        written.append(change(moment(request)) if request.read_objections() else moment(request))
        return written[-1]

    office = Office(brief=brief)
    office.person.says = veto
    for call_id in ("c1", "c2"):
        with pytest.raises(NotApproved):
            office.call(call_id)
    assert (len(written), len(office.person.asked)) == (2, 1)


def test_an_objection_whose_words_are_not_kept_cannot_be_addressed() -> None:
    """So no brief is asked for."""
    ledger, person, written = Ledger(words=None), Person(veto), list[Any]()

    def brief(request: ApprovalRequest) -> BindingMoment:
        written.append(request)
        request.read_objections()
        return with_synopsis(request, f"This is attempt {len(written)}.")

    def send(to: str) -> None: ...

    with pytest.raises(NotApproved):
        Authority(ledger=ledger).guard(send, ask=person, brief=brief)(MOM)
    other = Authority(ledger.store, words=None)
    with pytest.raises(NotApproved, match="cannot read the words"):
        other.guard(send, ask=person, brief=brief)(MOM)
    assert len(written) == 1


def test_a_ledger_of_the_callers_own_keeps_the_words_its_way() -> None:
    """The authority cannot say otherwise."""
    with pytest.raises(InputError, match="words= is for the default ledger"):
        Authority(ledger=Ledger(), words=None)


def test_an_objection_whose_words_were_deleted_leaves_two_ways() -> None:
    """The same call stays refused; with other arguments, or as another operation, it is asked about."""
    authority = Authority()

    def send(to: str) -> None: ...

    guard = authority.guard(send)
    decision_id = guard.propose("c1", MOM).decision_id
    authority.ledger.resolve(decision_id, veto(authority.ledger.find(decision_id)))  # type: ignore[arg-type]
    authority.ledger.delete_words(decision_id)
    for call_id in ("c1", "c2"):
        with pytest.raises(NotApproved, match="change its arguments, or guard it with another operation="):
            guard.call(call_id, MOM)
    decision = authority.ledger.find(decision_id)
    assert isinstance(decision, ResolvedDecision)
    with pytest.raises(BadResolution, match="change its arguments, or guard it with another operation="):
        _ = decision.continuation
    for asked in (guard.propose("c3", CEO), authority.guard(send, operation="send_reviewed").propose("c4", MOM)):
        assert isinstance(asked, PendingDecision)


@pytest.fixture
def vendor() -> Iterator[Any]:
    """Return a simulated vendor."""
    with simulator() as made:
        yield made


LABEL = Office().guard.label


def decision(stem: str, synopsis: str = "Refund the customer, since the parcel is lost.") -> BindingMoment:
    """Return what a model writes about the call."""
    return BindingMoment(
        synopsis=synopsis,
        findings=("The parcel is lost.", "The customer waited 12 days.", "The order cost 12.50 euros."),
        recommendations=("Refund the order.", "Write to the carrier."),
        offer="Ask for the tracking log.",
        question=Question.ask(
            stem,
            [
                Option(label=LABEL, reasoning="The parcel is lost for good."),
                Option(label="Wait a week", reasoning="The carrier may find it."),
            ],
            0,
        ),
    )


def test_a_model_reads_the_objection_and_asks_another_question(vendor: Any) -> None:
    """Without anything that the caller does; the same question is corrected."""
    first, second = decision("What should happen to the order?"), decision("Does the carrier's report suffice?")
    reworded = decision("WHAT should happen to the order", "Refund the customer now.")
    office = Office(brief=brief_with_model("A parcel is lost.", model=MODEL, client=vendor.client(MODEL)))
    approve, office.person.says = office.person.says, veto
    vendor.script(write_decision(first))
    with pytest.raises(NotApproved):
        office.call("c1")
    office.person.says = approve
    vendor.script(write_decision(reworded), write_decision(second))

    assert office.call("c2") == 1
    assert "Has the carrier confirmed the loss?" in str(vendor.calls[1].body)
    assert len(vendor.calls) == 3
    assert office.person.asked[1].moment.question.stem == second.question.stem


def test_a_model_that_repeats_the_question_asks_nobody(vendor: Any) -> None:
    """It is corrected, and then given up."""
    office = Office(brief=brief_with_model("A parcel is lost.", model=MODEL, client=vendor.client(MODEL)))
    office.person.says = veto
    vendor.script(write_decision(decision("What should happen to the order?")))
    with pytest.raises(NotApproved):
        office.call("c1")
    vendor.script(*[write_decision(decision("WHAT should happen to the order", "Refund the customer now."))] * 6)
    with pytest.raises(Invalid):
        office.call("c2")
    assert len(office.person.asked) == 1


def letter_of(request: ApprovalRequest) -> str:
    """Return what the model reads about a call."""
    return f"A letter of {request.proposal.parameters['to']}."


def test_the_situation_may_depend_on_the_call(vendor: Any) -> None:
    """A function of the request returns it."""
    office = Office(brief=brief_with_model(letter_of, model=MODEL, client=vendor.client(MODEL)))
    for number, to in enumerate((MOM, CEO), 1):
        vendor.script(write_decision(decision("Is it to be sent?")))
        assert office.guard(to) == number
        assert f"A letter of {to}." in str(vendor.calls[-1].body)


def test_the_situation_of_an_async_tool_may_depend_on_the_call(vendor: Any) -> None:
    """As of any other."""

    async def call() -> None:
        async with vendor.client(MODEL, asynchronous=True) as client:
            brief = abrief_with_model(letter_of, model=MODEL, client=client)

            async def send_email(to: str) -> str:
                return to

            assert await Authority().guard(send_email, ask=Person(), brief=brief)(MOM) == MOM

    vendor.script(write_decision(decision("Is it to be sent?")))
    asyncio.run(call())
    assert f"A letter of {MOM}." in str(vendor.calls[-1].body)
