"""What the tests of guarded calls guard, and who is asked about them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority
from emitter.authority.chain import verify_chain
from emitter.decisions import select_option
from emitter.errors import ApprovalPending
from emitter.models import BindingMoment, Option, Question

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.authority import ApprovalRequest, GuardedTool
    from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision

MOM, CEO = "mom@x.org", "ceo@x.org"


@dataclass
class Post:
    """A tool that sends, and what it sent."""

    sent: list[Any] = field(default_factory=list[Any])

    def send_email(self, to: Any, body: Any = "hi", **more: Any) -> int:
        """Send an e-mail, and return how many were sent."""
        self.sent.append((to, body, more) if more else (to, body))
        return len(self.sent)


def approve(pending: PendingDecision) -> Any:
    """Choose that the call is made."""
    return select_option(pending.moment, 0)


def leave(pending: PendingDecision) -> Any:
    """Choose that it is not."""
    return select_option(pending.moment, 1)


@dataclass
class Person:
    """Who is asked: the answer is what ``says`` makes of the decision."""

    says: Callable[[PendingDecision], Any] = approve
    asked: list[PendingDecision] = field(default_factory=list["PendingDecision"])

    def __call__(self, pending: PendingDecision) -> Any:
        """Answer."""
        self.asked.append(pending)
        return self.says(pending)


def resolved(
    authority: Authority, decision_id: str, says: Callable[[PendingDecision], Any] = approve
) -> ResolvedDecision:
    """Resolve a decision that waits, as another surface would."""
    pending = authority.ledger.find(decision_id)
    return authority.ledger.resolve(decision_id, says(pending))  # type: ignore[arg-type]  # it is pending


def proven(authority: Authority) -> None:
    """See that every chain holds, and that no act is without its receipt."""
    for workflow_id in authority.workflows():
        assert list(verify_chain(authority.lines(workflow_id)))
    assert authority.unfinished_actions() == ()


def kept(authority: Authority, call_id: str) -> Mapping[str, Any]:
    """Return what stands under a call's id."""
    found = authority._context.journal.get_value(f"call:{call_id}")
    return {} if found is None else found


def moment(asked: ApprovalRequest, *others: str, label: str | None = None) -> BindingMoment:
    """Return an envelope that offers the call, by another label where one is given, and something else."""
    labels = [asked.label if label is None else label, *(others or ("Leave it",))]
    options = [Option(label=each, reasoning=f"It is number {number}.") for number, each in enumerate(labels)]
    return BindingMoment(
        synopsis="It is to be done.",
        findings=("A finding.",),
        recommendations=("Do it.", "Tell those concerned."),
        offer="Ask for detail on any item.",
        question=Question.ask("Is it to be done?", options, 0),
    )


class Office:
    """An authority, a guarded tool, and who is asked about it."""

    def __init__(self, **settings: Any) -> None:
        self.authority, self.post, self.person = Authority(), Post(), Person()
        self.guard = self.authority.guard(self.post.send_email, **{"ask": self.person, **settings})

    def call(self, call_id: str = "c1") -> Any:
        """Make the call."""
        return self.guard.call(call_id, MOM)

    @property
    def decision(self) -> PendingDecision | ResolvedDecision:
        """The decision that was put, as it stands."""
        return self.authority.ledger.find(self.person.asked[0].decision_id)


def waiting(guard: GuardedTool[..., Any], call_id: str = "c1", to: str = MOM) -> str:
    """Come to where a call waits; return its decision."""
    with pytest.raises(ApprovalPending) as raised:
        guard.call(call_id, to)
    assert raised.value.call_id == call_id
    return raised.value.decision_id


def guarded(value: Any, **settings: Any) -> tuple[Authority, Callable[[], Any]]:
    """Return an authority, and what makes the same call of a tool that returns a value."""
    authority, ran = Authority(), list[int]()

    def make() -> Any:
        ran.append(1)
        assert len(ran) == 1
        return value() if callable(value) else value

    guard = authority.guard(make, ask=approve, **settings)
    return authority, lambda: guard.call("c1")


async def aapprove(pending: PendingDecision) -> Any:
    """Choose it after a while."""
    await asyncio.sleep(0)
    return approve(pending)
