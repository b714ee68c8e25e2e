"""What is changed while a call waits changes nothing of it: the tool gets what was approved."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority, Effects, brief_from_template
from emitter.authority.proposals import Display
from tests.authority.guard.parts import CEO, MOM, Person, Post, approve, proven

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.authority import ApprovalRequest
    from emitter.decisions.ledger_entries import PendingDecision
    from emitter.models import BindingMoment


@dataclass
class Mail:
    """An argument that can be changed, at two depths."""

    to: list[str] = field(default_factory=lambda: [MOM])
    body: dict[str, Any] = field(default_factory=lambda: {"text": ["hi"]})

    def change(self) -> None:
        """Be another call's."""
        self.to[0] = CEO
        self.body["text"].append("you are fired")
        self.body["more"] = True


class Meddler:
    """Changes the arguments wherever somebody else's code is called."""

    def __init__(self, mail: Mail, at: str) -> None:
        self.mail, self.at = mail, at
        for name in ("before_confirm", "after_confirm", "before_execute"):
            setattr(self, name, self.called(name))

    def called(self, name: str, then: Callable[[Any], Any] = lambda _: None) -> Callable[[Any], Any]:
        """Return what changes them, if it is here, before it does what it is there for."""

        def call(about: Any) -> Any:
            if name == self.at:
                self.mail.change()
            return then(about)

        return call


PLACES = ("before_confirm", "after_confirm", "before_execute", "ask", "brief", "target", "spends", "display")


@pytest.mark.parametrize("at", PLACES)
def test_arguments_that_are_changed_on_the_way(at: str) -> None:
    """By any of the host's own code that is called between the call and the tool."""
    mail, post = Mail(), Post()
    meddler = Meddler(mail, at)
    authority = Authority(hooks=[meddler])
    guard = authority.guard(
        post.send_email,
        ask=meddler.called("ask", approve),
        brief=meddler.called("brief", brief_from_template),
        target=meddler.called("target", lambda _: "inbox"),
        spends=meddler.called("spends", lambda _: {}),
        display=meddler.called("display", lambda _: Display("Send an e-mail.")),
    )

    assert guard(mail.to, body=mail.body) == 1

    assert mail.to == [CEO]
    assert post.sent == [([MOM], {"text": ["hi"]})]


def test_arguments_that_another_thread_changes_while_the_approval_waits() -> None:
    """The envelope tells what they were when the call was made, and so does the tool get them."""
    mail, post = Mail(), Post()
    shown, changed = threading.Event(), threading.Event()

    def ask(pending: PendingDecision) -> Any:
        shown.set()
        assert changed.wait(20)
        return approve(pending)

    person = Person(ask)
    guard = Authority().guard(post.send_email, ask=person)
    with ThreadPoolExecutor(1) as pool:
        calling = pool.submit(guard, mail.to, body=mail.body)
        assert shown.wait(20)
        mail.change()
        changed.set()
        assert calling.result(20) == 1

    assert person.asked[0].moment.findings[0] == f'to: ["{MOM}"]'
    assert post.sent == [([MOM], {"text": ["hi"]})]


def test_a_default_that_can_be_changed_is_reported_and_given_as_it_is_now() -> None:
    """And the tool has one of its own, so that one call does not change the next."""
    person = Person()

    def note(text: str, to: list[str] = []) -> list[str]:  # noqa: B006  it is what is tested
        to.append(text)
        return to

    guard = Authority().guard(note, ask=person)

    assert [guard("a"), guard("b")] == [["a"], ["b"]]
    assert [each.moment.findings[1] for each in person.asked] == ["to: []", "to: []"]


ABUSES: dict[str, Callable[[Any], Any]] = {
    "target": lambda given: given.update(to=MOM) or "inbox",
    "spends": lambda given: given.clear() or {},
    "display": lambda given: Display(f"Write to {given.pop('to')}."),
}


@pytest.mark.parametrize("name", ABUSES)
def test_a_function_of_the_parameters_cannot_change_what_is_reported(name: str) -> None:
    """It is handed a copy: the envelope and the tool have what the call was made with, also when it is gone on with."""
    authority, post, person = Authority(), Post(), Person()
    settings: dict[str, Any] = {name: ABUSES[name]}
    guard = authority.guard(post.send_email, ask=person, **settings)

    assert guard.call("c1", CEO) == guard.call("c1", CEO) == 1

    assert person.asked[0].moment.findings[0] == f'to: "{CEO}"'
    assert post.sent == [(CEO, "hi")]


class Meddling:
    """A hook that writes into what it is shown."""

    def __init__(self, name: str, amount: int) -> None:
        self.amount = amount
        setattr(self, name, self.write)

    def write(self, about: Any) -> None:
        """Change the amounts."""
        amounts = about.limits if hasattr(about, "limits") else about.spends
        amounts["budget_usd"] = self.amount


@pytest.mark.parametrize("amount", [0, 1_000_000])
@pytest.mark.parametrize("name", ["before_confirm", "after_confirm", "before_execute"])
def test_a_hook_cannot_change_what_was_approved(name: str, amount: int) -> None:
    """Whatever it does to what it is shown: what stands in the chain is what the principal chose."""
    authority = Authority(hooks=[Meddling(name, amount)])  # type: ignore[list-item]  # it has one of the methods
    guard = authority.guard(Post().send_email, ask=approve, spends=lambda _: {"budget_usd": 5})

    guard(MOM)

    records: list[Any] = [each["record"] for each in authority.lines(guard.workflow_id)]  # type: ignore[index]
    amounts = [each[name]["budget_usd"] for each in records for name in ("limits", "spends") if name in each]
    assert amounts == [5, 5]
    proven(authority)


def test_a_brief_cannot_change_what_is_asked_for() -> None:
    """It is reported the authority that the call needs, and has no part in it."""
    person, post = Person(), Post()

    def brief(asked: ApprovalRequest) -> BindingMoment:
        asked.request.limits["budget_usd"] = 1_000_000
        return brief_from_template(asked)

    guard = Authority().guard(post.send_email, ask=person, brief=brief, spends=lambda _: {"budget_usd": 5})

    assert guard.call("c1", MOM) == guard.call("c1", MOM) == 1
    assert "uses at most 5 USD." in "\n".join(person.asked[0].moment.findings)


def test_what_the_tool_returned_is_retained_as_it_was() -> None:
    """Whoever changes it afterwards changes no answer to the same call."""
    authority = Authority()
    guard = authority.guard(lambda: {"ids": [1]}, name="make", ask=approve)
    first = guard.call("c1")
    first["ids"].append(2)

    again = guard.call("c1")
    again["ids"].append(3)

    assert guard.call("c1") == {"ids": [1]}
    proven(authority)


def test_what_describes_the_result_sees_it_before_it_is_retained() -> None:
    """The receipt stands for what the caller has in hand."""
    authority = Authority()

    def describe(value: dict[str, Any]) -> Effects:
        return Effects(side_effects={"sent": len(value["ids"])}, evidence_refs=("txn:1",))

    guard = authority.guard(lambda: {"ids": [1]}, name="make", ask=approve, describe=describe)

    assert guard.call("c1") == {"ids": [1]}
    (receipt,) = authority.receipts()
    assert (receipt.side_effects, receipt.evidence_refs) == ({"sent": 1}, ("txn:1",))
