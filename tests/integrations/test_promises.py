"""What users of the frameworks miss, in each of them: a timeout is no consent, a replay no act, a claim no right.

Source: the issues claude-agent-sdk-python #304 and langgraph #7780, and pydantic-ai's guide to deferred tools.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import ApprovalState, Authority
from emitter.decisions import answer_in_words, open_dialogue, select_option
from emitter.decisions.ledger_entries import pending_of
from emitter.errors import DecisionExpired
from tests.integrations.agents import CLAUDE, PARALLEL, Agent, Call, Job, frameworks
from tests.work import covering

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.decisions import Resolution
    from emitter.decisions.ledger_entries import PendingDecision
    from emitter.models import BindingMoment

ADA, BOB = ({"to": to, "subject": "Minutes"} for to in ("ada", "bob"))
EVE = {"to": "eve", "subject": "Minutes"}
CALLS = [Call("call_1", "send_email", ADA), Call("call_2", "send_email", BOB)]


class Office:
    """An authority with one guarded tool, which notes what it was called with, and a clock to set."""

    def __init__(self, framework: type[Agent], *calls: Call, hook: object = None, **guard: Any) -> None:
        self.now, self.sent = 1_000_000.0, list[tuple[str, str]]()
        hooks: list[Any] = [] if hook is None else [hook]
        self.authority = Authority(clock=lambda: self.now, hooks=hooks)

        def send_email(to: str, subject: str) -> str:
            """Send an e-mail."""
            self.sent.append((to, subject))
            return f"sent to {to}"

        options = {"target": lambda call: str(call["to"]), **guard}
        script = lambda read: [call for call in (calls or CALLS) if call.id not in read]  # noqa: E731
        self.agent = framework(Job(self.authority, send_email, options, script))
        self.agent.start()

    def pending(self, to: str) -> PendingDecision:
        """Return the open decision about a mail."""
        found = [each for each in self.authority.ledger.pending() if f'"{to}"' in each.moment.findings[0]]
        assert len(found) == 1
        return found[0]

    def answer(self, to: str, how: Callable[[BindingMoment], Resolution]) -> None:
        """Resolve the decision about a mail, as any surface would."""
        pending = self.pending(to)
        self.authority.ledger.resolve(pending.decision_id, how(pending.moment))


def approve(moment: BindingMoment) -> Resolution:
    """Choose that the call is made."""
    return select_option(moment, 0)


def test_only_what_was_approved_is_done_as_soon_as_it_is(parallel_framework: type[Agent]) -> None:
    """One call, while the other waits on; then the other, and the first one not again."""
    office = Office(parallel_framework)
    assert (office.sent, office.agent.read) == ([], {})

    office.answer("ada", approve)
    office.agent.resume()
    assert office.sent == [("ada", "Minutes")]

    office.answer("bob", approve)
    office.agent.resume()
    assert office.sent == [("ada", "Minutes"), ("bob", "Minutes")]
    assert office.agent.read == {"call_1": "sent to ada", "call_2": "sent to bob"}
    assert len(office.authority.receipts()) == 2
    assert office.authority.unfinished_actions() == ()


WORDS: Mapping[str, tuple[Callable[[BindingMoment], Resolution], str]] = {
    "another option": (lambda moment: select_option(moment, 1), "The person chose: Leave it undone"),
    "words": (lambda moment: answer_in_words(moment, "Call her."), "The person answered: Call her."),
    "an objection": (lambda moment: open_dialogue(moment, "Ask legal."), "The person refused the question: Ask legal."),
}


@pytest.mark.parametrize(
    ("framework", "answer"),
    [*product(PARALLEL, WORDS), *covering(CLAUDE, WORDS, strength=1)],
    indirect=["framework"],
)
def test_the_agent_reads_the_persons_own_words(framework: type[Agent], answer: str) -> None:
    """In place of the result, and nothing is done."""
    office = Office(framework, CALLS[0])
    office.answer("ada", WORDS[answer][0])
    office.agent.resume()

    assert office.sent == []
    assert WORDS[answer][1] in office.agent.read["call_1"]
    assert "nothing was done" in office.agent.read["call_1"]


@frameworks(claude="claude_agent")
def test_nothing_runs_after_a_timeout(framework: type[Agent]) -> None:
    """However long it takes, whoever resumes, and whoever approves too late."""
    office = Office(framework, CALLS[0], expires_in=60)
    pending = office.pending("ada")
    office.now += 61
    with pytest.raises(DecisionExpired):
        office.authority.ledger.resolve(pending.decision_id, approve(pending.moment))

    office.agent.resume()
    assert office.sent == []
    assert "Nobody answered while the question was open." in office.agent.read["call_1"]


@frameworks(claude="claude_agent by name")
def test_an_approval_that_is_too_old_runs_nothing(framework: type[Agent]) -> None:
    """It was for a limited time, and the agent came back later."""
    office = Office(framework, CALLS[0], ttl_seconds=900)
    office.answer("ada", approve)
    office.now += 901
    office.agent.resume()

    assert office.sent == []
    assert "expired" in office.agent.read["call_1"]


class Between:
    """A hook that does something once, between the answer and the act."""

    def __init__(self) -> None:
        self.events: list[Callable[[Any], object]] = []

    def after_confirm(self, confirm: Any) -> None:
        """Do it."""
        while self.events:
            self.events.pop()(confirm)


def _revoke(office: Office, confirm: Any) -> None:
    if confirm is not None:
        office.authority.revoke(confirm.confirm_id)
    for pending in office.authority.ledger.pending():
        office.authority.ledger.withdraw(pending.decision_id)


def _expire(office: Office, _: Any) -> None:
    office.now += 901


EVENTS: Mapping[str, tuple[Callable[[Office, Any], object], Mapping[str, ApprovalState]]] = {
    "stopped": (
        lambda office, _: office.authority.stop("mail"),
        dict.fromkeys(("before", "after", "between"), ApprovalState.STOPPED),
    ),
    "revoked": (_revoke, {"before": ApprovalState.WITHDRAWN, "between": ApprovalState.REVOKED}),
    "expired": (
        _expire,
        {"before": ApprovalState.EXPIRED, "after": ApprovalState.LAPSED, "between": ApprovalState.LAPSED},
    ),
}
"""What calls a call off, and what its decision has then come to, by when it happens."""
CALLED_OFF = [f"{event}, {moment}" for event, (_, states) in EVENTS.items() for moment in states]


@pytest.mark.parametrize(
    ("framework", "case"),
    [*product(PARALLEL, CALLED_OFF), *covering(CLAUDE, CALLED_OFF, strength=1)],
    indirect=["framework"],
)
def test_a_call_that_is_called_off_is_not_made(framework: type[Agent], case: str) -> None:
    """Before the answer, after it, or right before the act; the agent reads so, and surfaces know why."""
    event, moment = case.split(", ")
    call_off, states = EVENTS[event]
    hook = Between()
    office = Office(framework, CALLS[0], hook=hook, workflow_id="mail", ttl_seconds=900, expires_in=900)
    decision_id = office.pending("ada").decision_id
    if moment == "between":
        hook.events.append(lambda confirm: call_off(office, confirm))
    if moment == "before":
        call_off(office, None)
    with suppress(DecisionExpired):
        ledger = office.authority.ledger
        ledger.resolve(decision_id, approve(pending_of(ledger.find(decision_id)).moment))
    if moment == "after":
        call_off(office, None)
    office.agent.resume()

    assert office.sent == []
    assert "sent to" not in office.agent.read["call_1"]
    assert office.authority.ledger.pending() == ()
    state = office.authority.find_state(decision_id)
    assert state is states[moment]
    assert state.deed.startswith("Nothing")


def test_waiting_is_no_answer(parallel_framework: type[Agent]) -> None:
    """A run that is resumed while nobody has answered waits on, with the same decision."""
    office = Office(parallel_framework)
    before = office.authority.ledger.pending()
    office.agent.resume()
    office.agent.resume()

    assert (office.sent, office.authority.ledger.pending()) == ([], before)


def test_a_replay_does_not_act_twice(parallel_framework: type[Agent]) -> None:
    """From the state before the acts, it returns what they returned, and asks nobody."""
    office = Office(parallel_framework)
    for to in ("ada", "bob"):
        office.answer(to, approve)
    office.agent.resume()
    done, read = list(office.sent), office.agent.read
    office.agent.replay()

    assert sorted(done) == sorted(office.sent) == [("ada", "Minutes"), ("bob", "Minutes")]
    assert office.agent.read == read
    assert office.authority.ledger.pending() == ()
    assert len(office.authority.receipts()) == 2


def test_a_client_that_claims_an_approval_runs_nothing(parallel_framework: type[Agent]) -> None:
    """Consent is in the ledger; the decision stays open for the person, who is asked as before."""
    office = Office(parallel_framework)
    office.agent.forge()
    assert office.sent == []

    for to in ("ada", "bob"):
        office.answer(to, approve)
        office.agent.resume()
    assert sorted(office.sent) == [("ada", "Minutes"), ("bob", "Minutes")]


@frameworks(claude="claude_agent")
def test_a_client_that_edits_an_approved_call_runs_nothing(framework: type[Agent]) -> None:
    """Under the id of a call that was approved, no other call runs, and the approved one still can."""
    office = Office(framework, CALLS[0])
    office.answer("ada", approve)
    office.agent.edit("call_1", EVE)
    office.agent.resume()

    assert office.sent == []
    assert (
        "A different call was proposed under this id. Its argument 'to' was another one." in office.agent.read["call_1"]
    )
