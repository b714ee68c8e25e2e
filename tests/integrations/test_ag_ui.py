"""A decision reaches an AG-UI front end as an interrupt, and only a real answer of a sender who may give it counts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from emitter.answers import ReplyKind
from emitter.authority import Authority
from emitter.decisions import answer_in_words, select_option
from emitter.decisions.principals import Principal
from emitter.decisions.resolution import resolution_to_json
from emitter.integrations.approvals import Rejected, Returned, Waiting, make_call

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.decisions.ledger_entries import PendingDecision

core = pytest.importorskip("ag_ui.core")
encoder = pytest.importorskip("ag_ui.encoder")
ag_ui = pytest.importorskip("emitter.integrations.ag_ui")


class Office:
    """A guarded tool, and a front end that shows what waits and sends what a person answers."""

    def __init__(self, **guard: Any) -> None:
        self.now, self.sent = 1_000_000.0, list[str]()
        self.authority = Authority(clock=lambda: self.now)

        def send(to: str) -> str:
            """Send an e-mail."""
            self.sent.append(to)
            return f"sent to {to}"

        self.tool = self.authority.guard(send, **guard)

    def run(self, to: str) -> Any:
        """Make the call of a run, under an id of its own."""
        return make_call(self.tool, f"thread/{to}", {"to": to})

    def wait(self, to: str) -> PendingDecision:
        """Make a call that waits."""
        outcome = self.run(to)
        assert isinstance(outcome, Waiting)
        return outcome.pending

    def receive(self, *entries: dict[str, Any], may: tuple[str, ...]) -> Any:
        """Take the input of a run from the wire."""
        members = {"threadId": "t", "runId": "r2", "messages": [], "resume": list(entries)}
        resume = core.RunAgentInput.model_validate_json(json.dumps(members)).resume
        return ag_ui.resolve_entries(self.authority.ledger, resume, decision_ids=may)


def entry(pending: PendingDecision, payload: Any, status: str = "resolved") -> dict[str, Any]:
    """Return what a front end sends."""
    return {"interruptId": pending.decision_id, "status": status, "payload": payload}


def approval(pending: PendingDecision) -> Any:
    """Return the payload of an approval."""
    return resolution_to_json(select_option(pending.moment, 0))


def test_a_decision_goes_to_the_front_end_and_its_answer_comes_back() -> None:
    """As events on the wire; then the call is made, once."""
    office = Office(expires_in=60)
    pending = office.wait("ada")
    event = ag_ui.finish_interrupted("t", "r1", [ag_ui.to_interrupt(pending, tool_call_id="call_1")])
    sent = json.loads(encoder.EventEncoder().encode(event).removeprefix("data: "))
    (interrupt,) = sent["outcome"]["interrupts"]

    assert (sent["type"], interrupt["toolCallId"]) == ("RUN_FINISHED", "call_1")
    assert '"ada"' in interrupt["message"]
    assert interrupt["metadata"]["binding_moment"] == pending.moment.to_json()
    assert interrupt["expiresAt"].startswith("1970-01-12T13:47:40")
    jsonschema.validate(approval(pending), interrupt["responseSchema"])

    (reply,) = office.receive(entry(pending, approval(pending)), may=(interrupt["id"],))
    assert (reply.kind, reply.decision.channel) == (ReplyKind.RECORDED, "ag-ui")
    assert office.run("ada") == office.run("ada") == Returned("sent to ada")
    assert office.sent == ["ada"]


def test_words_reach_the_agent() -> None:
    """And nothing is done."""
    office = Office()
    pending = office.wait("ada")
    payload = resolution_to_json(answer_in_words(pending.moment, "Call her."))
    office.receive(entry(pending, payload), may=(pending.decision_id,))

    outcome = office.run("ada")
    assert isinstance(outcome, Rejected)
    assert "The person answered: Call her." in outcome.message


FORGED: dict[str, tuple[Callable[[PendingDecision, PendingDecision], Any], ReplyKind]] = {
    "a bare approval": (lambda one, _: entry(one, payload=True), ReplyKind.NOT_ACCEPTED),
    "an approval of another framework": (lambda one, _: entry(one, {"approved": True}), ReplyKind.NOT_ACCEPTED),
    "no payload": (lambda one, _: entry(one, None), ReplyKind.NOT_ACCEPTED),
    "another decision's answer": (lambda one, other: entry(one, approval(other)), ReplyKind.OTHER_DECISION),
    "a decision of somebody else": (lambda _, other: entry(other, approval(other)), ReplyKind.UNKNOWN),
    "an option beside the others": (lambda one, _: entry(one, {**approval(one), "index": -1}), ReplyKind.NOT_ACCEPTED),
}


@pytest.mark.parametrize("attack", FORGED)
def test_an_edited_client_approves_nothing(attack: str) -> None:
    """Whatever it sends, both decisions stay open, and nothing is done."""
    office = Office()
    one, other = office.wait("ada"), office.wait("bob")
    forge, kind = FORGED[attack]
    (reply,) = office.receive(forge(one, other), may=(one.decision_id,))

    assert (reply.kind, reply.counts) == (kind, False)
    assert "was not recorded" in reply.text
    assert set(office.authority.ledger.pending()) == {one, other}
    assert (office.wait("ada"), office.wait("bob"), office.sent) == (one, other, [])


@pytest.mark.parametrize("bad", FORGED)
def test_each_entry_counts_on_its_own(bad: str) -> None:
    """One that is not accepted, first or in between, takes no other answer along."""
    office = Office()
    forge, kind = FORGED[bad]
    one, two, three, other = (office.wait(to) for to in ("ada", "bob", "cleo", "dan"))
    entries = [forge(one, other), entry(two, approval(two)), forge(one, other), entry(three, approval(three))]
    may = (one.decision_id, two.decision_id, three.decision_id)
    replies = office.receive(*entries, may=may)

    assert [reply.kind for reply in replies] == [kind, ReplyKind.RECORDED, kind, ReplyKind.RECORDED]
    assert set(office.authority.ledger.pending()) == {one, other}


def test_a_first_run_has_no_answers() -> None:
    """``RunAgentInput.resume`` is None by default."""
    assert ag_ui.resolve_entries(Office().authority.ledger, None, decision_ids=()) == ()


def test_a_cancelled_interrupt_decides_nothing() -> None:
    """Its decision stays open for whoever answers."""
    office = Office()
    pending = office.wait("ada")
    (reply,) = office.receive(entry(pending, None, "cancelled"), may=(pending.decision_id,))

    assert (reply.kind, reply.counts) == (ReplyKind.UNRESOLVED, False)
    assert office.wait("ada") == pending


def test_a_late_or_second_answer_does_not_count() -> None:
    """After the time for it, or after another one. The same answer again changes nothing."""
    office = Office(expires_in=60)
    pending = office.wait("ada")
    may = (pending.decision_id,)
    other = {**approval(pending), "index": 1}
    replies = office.receive(*(entry(pending, each) for each in (approval(pending), other, approval(pending))), may=may)
    assert [reply.kind for reply in replies] == [ReplyKind.RECORDED, ReplyKind.ANSWERED, ReplyKind.REPEATED]

    late = office.wait("bob")
    office.now += 61
    (reply,) = office.receive(entry(late, approval(late)), may=(late.decision_id,))
    assert (reply.kind, "has expired" in reply.text) == (ReplyKind.CLOSED, True)
    assert isinstance(office.run("bob"), Rejected)
    assert office.sent == []


def test_two_people_approve_by_name() -> None:
    """The first approval decides nothing."""
    office = Office(four_eyes=True)
    pending = office.wait("ada")
    resume = [core.ResumeEntry(interrupt_id=pending.decision_id, status="resolved", payload=approval(pending))]
    ledger, kinds = office.authority.ledger, []
    for name in (None, "alice", "alice", "bob"):
        principal = None if name is None else Principal(name)
        (reply,) = ag_ui.resolve_entries(ledger, resume, decision_ids=[pending.decision_id], principal=principal)
        kinds.append(reply.kind.value)

    assert kinds == ["not_accepted", "first_approval", "already_approved", "recorded"]


def test_a_servers_id_is_another_call_in_another_message() -> None:
    """And in another thread, and twice in one message; and the same call if the run is repeated."""
    authority, sent = Authority(), list[str]()

    def remind(who: str) -> None:
        sent.append(who)

    tool = authority.guard(remind)
    calls = [
        ("t1", "m1", 0, "ada"),
        ("t1", "m2", 0, "bob"),
        ("t1", "m3", 0, "ada"),
        ("t2", "m1", 0, "ada"),
        ("t1", "m1", 1, "ada"),
    ]
    for thread, message, position, who in calls:
        call_id = ag_ui.identify_call(thread, message, "call_0", position=position)
        assert isinstance(make_call(tool, call_id, {"who": who}), Waiting)
        for pending in authority.ledger.pending():
            authority.ledger.resolve(pending.decision_id, select_option(pending.moment, 0))
        assert [make_call(tool, call_id, {"who": who}) for _ in range(2)] == [Returned(None)] * 2

    assert sent == [who for *_, who in calls]
