"""The inbox: what it lists, for whom, what it records of an answer, and what it keeps of the decision afterwards."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from emitter.authority import ApprovalState, Authority, StopRequest
from emitter.authority.signing import make_signer, make_verifier, new_key, public_jwk
from emitter.decisions import Dialogue, Selected, digest, select_option
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision, decision_reference
from emitter.errors import InputError, NotApproved, WorkflowStopped
from emitter.stores import MemoryStore, SqliteStore
from emitter.testing.sample_moments import HOSTILE_MOMENTS, VALID_MOMENT
from emitter.web import Principal, inbox
from tests.authority.guard.approvals import STATES, Call
from tests.authority.guard.parts import MOM, Post, waiting
from tests.web.inboxes import PEOPLE, PREFIX, Inbox, authenticate, running, serving
from tests.web.running import request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.render.html.reading import Node


@pytest.fixture
def box() -> Iterator[Inbox]:
    """Run an inbox in memory."""
    with running() as found:
        yield found


def rows(box: Inbox, path: str = "", user: str = "alice") -> list[str]:
    """Return the agents of the rows of a list, in order."""
    shown = request(f"{box.url}{path}", x_user=user)
    assert shown.status == 200
    (listed,) = shown.root.all("ul", **{"class": "inbox"})
    return [words(each.all("p")[-1]).split(" · ")[0] for each in listed.all("li")]


def count(box: Inbox, path: str = "", user: str = "alice") -> str:
    """Return what the list says of its length."""
    return words(request(f"{box.url}{path}", x_user=user).root.named("count"))


def words(node: Node) -> str:
    """Return what can be read of an element, with single spaces."""
    return " ".join(node.text.split())


def test_the_most_urgent_come_first_then_the_newest(box: Inbox) -> None:
    """By deadline; those without one by when they were asked."""
    for agent, expires_in in (("old", None), ("later", 7200), ("new", None), ("soon", 3600)):
        box.asked(agent=agent, expires_in=expires_in)

    assert rows(box) == ["soon", "later", "new", "old"]


def test_a_list_is_filtered_by_agent_and_by_kind(box: Inbox) -> None:
    """An approval has an option that does something; a filter that is unknown filters nothing."""
    for agent in ("a", "b"):
        box.asked(agent=agent)
        box.ledger.open(HOSTILE_MOMENTS["HTML"], agent=agent)

    assert rows(box, "?agent=a") == ["a", "a"]
    assert rows(box, "?kind=approval") == ["b", "a"]
    assert rows(box, "?kind=question&agent=b") == ["b"]
    assert len(rows(box, "?kind=other&page=x&agent=")) == 4
    assert rows(box, "?agent=nobody") == []


def test_a_long_list_has_pages(box: Inbox) -> None:
    """Each decision is on one page, and a page that is not there is the last."""
    for number in range(120):
        box.asked(agent=f"n{number}")
    pages = [rows(box, f"?page={page}") for page in (1, 2, 3, 9)]

    assert [len(each) for each in pages] == [50, 50, 20, 20]
    assert {*pages[0], *pages[1], *pages[2]} == {f"n{number}" for number in range(120)}
    assert count(box, "?page=3") == "120 decisions wait for an answer. Numbers 101 to 120 are shown."
    links = {
        words(each): each.attributes["href"] for each in request(f"{box.url}?page=2", x_user="alice").root.all("a")
    }
    assert (links["Previous"], links["Next"]) == ("?page=1", "?page=3")


class Counting(MemoryStore):
    """A store that counts what is looked up."""

    __slots__ = ("found",)

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def find(self, run_id: str, correlation_id: str) -> Any:
        """Look something up."""
        self.found.append(correlation_id)
        return super().find(run_id, correlation_id)


def test_only_new_decisions_are_read_for_a_list() -> None:
    """However many there are, and whatever else happened since."""
    store = Counting()
    with running(Ledger(store)) as box:
        for number in range(60):
            box.asked(agent=f"n{number}")
        rows(box)
        store.found.clear()
        asked = box.asked(agent="new")
        opened = len(store.found)
        listed = rows(box)
        read = {each for each in store.found[opened:] if each.startswith("opened:")}

    assert listed[0] == "new"
    assert read == {f"opened:{asked.pending.reference}"}


def test_nobody_sees_what_they_may_not(box: Inbox) -> None:
    """Neither in a list, nor in a count, nor as an agent's name, nor by its address."""
    hidden, own = box.asked(agent="secret"), box.asked(agent="mallory's")
    shown = request(box.url, x_user="mallory")

    assert rows(box, user="mallory") == ["mallory's"]
    assert count(box, user="mallory").startswith("1 decision waits")
    assert "secret" not in shown.body
    assert (hidden.shown("mallory").status, own.shown("mallory").status) == (404, 200)
    box.ledger.withdraw(hidden.pending.decision_id)
    assert rows(box, "closed", user="mallory") == []
    assert hidden.shown("mallory").body == request(f"{box.url}decisions/{'0' * 64}", x_user="mallory").body


def test_who_may_only_read_gets_no_form(box: Inbox) -> None:
    """And cannot answer with somebody else's."""
    asked = box.asked()
    shown = asked.shown("carol")
    asked.forms = asked.opened("alice").forms
    asked.user = "carol"

    assert shown.root.all("form") == []
    assert "others answer it" in shown.body
    assert asked.choose(0).status == 403
    assert asked.stands == asked.pending


def test_a_right_that_was_taken_away_counts_at_once() -> None:
    """A form that somebody opened while they might is refused when they may no longer."""
    allowed = {"see", "answer"}
    with running(may=lambda _principal, _pending, action: action in allowed) as box:
        asked = box.asked().opened()
        allowed.discard("answer")
        refused = asked.choose(0).status
        allowed.clear()
        unseen = asked.choose(0).status

        assert (refused, unseen) == (403, 404)
        assert asked.stands == asked.pending


@pytest.mark.parametrize("path", ["", "closed", "events", "decisions/x", "nothing"])
@pytest.mark.parametrize("user", [None, "nobody"])
def test_nothing_is_shown_to_whom_nobody_knows(box: Inbox, path: str, user: str | None) -> None:
    """No page, no stream, and no word of what there is."""
    box.asked(agent="secret")
    shown = request(f"{box.url}{path}", x_user=user)

    assert shown.status == (404 if path == "nothing" else 403)
    assert "secret" not in shown.body
    assert "script-src" in shown.header("content-security-policy")


def test_an_answer_is_recorded_with_its_principal(box: Inbox) -> None:
    """The ledger has the name; the record shows it; the forms are gone."""
    asked = box.asked().opened()
    shown = asked.choose(1)
    record = asked.shown("bob")
    stands = asked.stands

    assert (shown.status, shown.root.one("h1").text.strip()) == (200, "Recorded")
    assert isinstance(stands, ResolvedDecision)
    assert (stands.principal, stands.channel, stands.resolution) == ("alice", "web", Selected(digest(VALID_MOMENT), 1))
    assert record.root.all("form") == []
    assert words(record.root.named("status")) == "This decision was answered by alice: option 2, Birch the release."
    assert "It is not signed." in record.body
    assert rows(box) == []
    assert rows(box, "closed") == ["agent"]


def test_words_reach_the_record(box: Inbox) -> None:
    """As they were written, and by whom."""
    asked = box.asked(HOSTILE_MOMENTS["HTML"]).opened("bob")
    asked.send({**asked.forms[2], "choice": "dialogue", "objection": "<b>Why?</b>"})
    record = asked.shown()

    assert asked.stands.resolution == Dialogue(asked.pending.digest, "<b>Why?</b>")  # type: ignore[union-attr]
    assert record.root.one("blockquote").text == "<b>Why?</b>"


def test_of_two_who_answer_one_counts(box: Inbox) -> None:
    """The other is reported, also if both chose the same."""
    for index in (0, 1):
        asked = box.asked()
        first, second = asked.opened("alice"), asked.opened("bob")
        first.choose(0)
        late = second.choose(index)

        assert (late.status, late.root.one("h1").text.strip()) == (409, "Already answered")
        assert asked.stands.principal == "alice"  # type: ignore[union-attr]


def test_two_people_approve_what_needs_four_eyes(box: Inbox) -> None:
    """The first waits for the second, and is reported so if they send again."""
    asked = box.asked(four_eyes=True)
    first = asked.opened("alice")
    statuses = [first.choose(0).status]
    again = first.choose(0)
    waits = words(asked.shown("bob").root.named("status"))
    still = asked.stands
    last = asked.opened("bob").choose(0).status
    record = asked.shown()

    assert (statuses, again.status, last) == ([303], 422, 200)
    assert "You have already approved this option. Another person must approve it." in words(again.root.one("main"))
    assert "alice approved option 1." in waits
    assert isinstance(still, PendingDecision)
    assert "Approved first by alice" in words(record.root.one("main"))


def test_the_id_of_a_decision_leads_to_its_page(box: Inbox) -> None:
    """A service knows the id, and links by it."""
    asked = box.asked()
    by_id = f"{box.url}decisions/{asked.pending.decision_id}"
    found = request(by_id, x_user="alice")

    assert (found.status, found.header("location")) == (303, urlsplit(asked.url).path)
    assert request(by_id, x_user=None).status == 403
    assert request(by_id, x_user="mallory").status == 404
    assert request(f"{box.url}decisions/unknown", x_user="alice").status == 404


def test_one_refuses_what_needs_four_eyes(box: Inbox) -> None:
    """After the first approval, too."""
    asked = box.asked(four_eyes=True)
    asked.opened("alice").choose(0)
    asked.opened("bob").choose(1)

    assert asked.stands.action is None  # type: ignore[union-attr]
    assert asked.stands.principal == "bob"  # type: ignore[union-attr]


def test_a_decision_is_assigned_to_who_should_answer() -> None:
    """Lists are filtered by it, the policy reads it, and the record says who assigned it to whom."""

    def only_the_assignee(principal: Principal, pending: PendingDecision, action: str) -> bool:
        return action == "see" or pending.assignee in {"", principal.id}

    with running(may=only_the_assignee) as box:
        asked, other = box.asked(agent="payments").opened("alice"), box.asked(agent="mail")
        assigned = asked.send({**asked.forms[-1], "assignee": " bob "}, url=f"{asked.url}/assignee")
        late = asked.choose(0).status
        again = asked.send({**asked.forms[-1], "assignee": "alice"}, url=f"{asked.url}/assignee").status
        facts = words(asked.shown("alice").root.one("main"))
        lists = [rows(box, f"?assigned={who}", "bob") for who in ("me", "nobody", "x")]
        asked.opened("bob").choose(0)
        closed = asked.send({**asked.forms[-1], "assignee": ""}, url=f"{asked.url}/assignee", x_user="alice")
        record = words(asked.shown().root.one("main"))

    assert (assigned.status, assigned.header("location")) == (303, f"{PREFIX}/")
    assert (late, again, closed.status) == (403, 403, 403)
    assert "assigned to bob" in facts
    assert lists == [["payments"], ["mail"], ["mail", "payments"]]
    assert asked.stands.principal == "bob"  # type: ignore[union-attr]
    assert isinstance(other.stands, PendingDecision)
    assert "alice assigned it to bob" in record


ENDS: dict[str, str] = {"withdrawn": "The agent withdrew this decision", "expired": "This decision expired"}


@pytest.mark.parametrize(("how", "says"), ENDS.items())
def test_a_decision_that_ended_says_so(how: str, says: str) -> None:
    """In its record, in the list, and to whom sends a form late."""
    now = [1_800_000_000.0]
    with running(Ledger(MemoryStore(), clock=lambda: now[0])) as box:
        asked = box.asked(expires_in=60 if how == "expired" else None)
        late = asked.opened() if how == "withdrawn" else asked
        if how == "withdrawn":
            box.ledger.withdraw(asked.pending.decision_id)
        now[0] += 60
        record = asked.shown()
        answered = late.choose(0).status if how == "withdrawn" else 410

        assert says in words(record.root.named("status"))
        assert how in request(f"{box.url}closed", x_user="alice").body
        assert answered == 410


def test_the_record_has_the_receipts() -> None:
    """What was done under the decision, from the authority's records; and that nothing was, before."""
    authority, post = Authority(MemoryStore()), Post()
    guard = authority.guard(post.send_email, workflow_id="w", four_eyes=True)
    with running(authority) as box:
        decision_id = waiting(guard)
        pending = box.ledger.find(decision_id)
        assert isinstance(pending, PendingDecision)
        url = f"{box.url}decisions/{pending.reference}"
        for user in ("alice", "bob"):
            box.ledger.approve(decision_id, select_option(pending.moment, 0), principal=user)
        before = words(request(url, x_user="alice").root.one("main"))
        guard.call("c1", MOM)
        after = words(request(url, x_user="alice").root.one("main"))
        (receipt,) = authority.receipts()

    assert "Nothing yet." in before
    assert "send_email (send_email) : success" in after
    assert receipt.receipt_id in after


@pytest.mark.parametrize("how", STATES)
def test_the_record_and_the_list_say_what_became_of_a_decision(how: str) -> None:
    """Also if the approval lapsed, was revoked or stopped, so that nobody waits for an act that never comes."""
    store, (state, make) = MemoryStore(), STATES[how]
    decision_id = make(Call(store))
    with running(Authority(store)) as box:
        is_open = state is ApprovalState.OPEN
        page = words(request(f"{box.url}decisions/{decision_reference(decision_id)}", x_user="alice").root.one("main"))
        listed = words(request(f"{box.url}{'' if is_open else 'closed'}", x_user="alice").root.one("main"))
    assert is_open or state.deed in page
    assert ("Nothing yet." in page) is (state is ApprovalState.WAITING)
    assert is_open or state.label in listed


STOPS = {
    "pause": "The workflow w is stopped (Let me look.). An approval has an effect only once it is resumed",
    None: "The workflow w is stopped (Let me look.). This cannot be lifted, so an approval has no effect.",
}


@pytest.mark.parametrize(("mode", "says"), STOPS.items())
def test_a_page_says_that_the_workflow_is_stopped(mode: str | None, says: str) -> None:
    """As long as it is; to those who answer and to those who only read."""
    authority = Authority(MemoryStore(), actor="a")
    guard = authority.guard(Post().send_email, workflow_id="w")
    with running(authority, may=lambda who, _, action: action == "see" or who.id == "alice") as box:
        pending = box.ledger.find(waiting(guard))
        assert isinstance(pending, PendingDecision)
        url = f"{box.url}decisions/{pending.reference}"
        assert "stopped" not in request(url, x_user="alice").body
        stop = authority.stop(StopRequest("w", takeover_mode=mode, reason="Let me look.")).stop
        for user in ("alice", "bob"):
            assert says in words(request(url, x_user=user).root.one("body"))
        if mode is not None:
            authority.resume("w", stop.request_id)
            assert "stopped" not in request(url, x_user="alice").body


def test_a_page_promises_no_resume_after_a_final_stop() -> None:
    """Although a pause came before it, which can be lifted."""
    authority = Authority(MemoryStore(), actor="a")
    guard = authority.guard(Post().send_email, workflow_id="w")
    with running(authority) as box:
        pending = box.ledger.find(waiting(guard))
        assert isinstance(pending, PendingDecision)
        authority.stop(StopRequest("w", takeover_mode="pause"))
        authority.stop(StopRequest("w"))
        page = words(request(f"{box.url}decisions/{pending.reference}", x_user="alice").root.one("body"))

    assert "This cannot be lifted" in page
    assert "once it is resumed" not in page
    with pytest.raises(WorkflowStopped, match="Begin another workflow"):
        guard.call("c2", MOM)


def test_calls_of_one_tool_are_told_apart_in_the_list() -> None:
    """By the beginning of their first argument."""
    authority = Authority(MemoryStore())
    guard = authority.guard(Post().send_email, workflow_id="w")
    with running(authority) as box:
        for call_id, to in (("c1", MOM), ("c2", "x" * 300)):
            waiting(guard, call_id, to)
        listed = words(request(box.url, x_user="alice").root.one("main"))

    assert f'to: "{MOM}"' in listed
    assert f'to: "{"x" * 114}\u2026' in listed
    assert "x" * 115 not in listed


def test_answers_are_signed_with_the_principals_own_key() -> None:
    """A ledger that verifies signatures takes an answer from whoever has a key, and from nobody else."""
    key = new_key()
    people = {"alice": Principal("alice", sign=make_signer(key)), "bob": Principal("bob")}
    ledger = Ledger(MemoryStore(), check=make_verifier(public_jwk(key)).verify_answer)
    with running(ledger, authenticate=lambda each: people.get(each.headers.get("x-user", ""))) as box:
        asked = box.asked()
        unsigned = asked.opened("bob").choose(0)
        still = asked.stands
        signed = asked.opened("alice").choose(0)
        record = asked.shown()

    assert (unsigned.status, signed.status) == (409, 200)
    assert unsigned.root.one("h1").text.strip() == "Not signed"
    assert isinstance(still, PendingDecision)
    assert "It is signed." in record.body


def test_a_record_that_was_changed_is_not_shown_as_one(tmp_path: Path) -> None:
    """Neither by itself nor in the list, where a line stands for it."""
    key = new_key()
    with SqliteStore(tmp_path / "agent.db") as store:
        forger = Ledger(store)
        checked = Ledger(store, check=make_verifier(public_jwk(key)).verify_answer)
        with running(checked) as box:
            asked = box.asked()
            unchecked = forger.open(VALID_MOMENT, actions=("x", None, None), decision_id="other")
            forger.resolve("other", select_option(VALID_MOMENT, 0))
            shown = request(f"{box.url}decisions/{unchecked.reference}", x_user="alice")
            closed = request(f"{box.url}closed", x_user="alice")

            assert (shown.status, shown.root.one("h1").text.strip()) == (409, "Not signed")
            assert f"The record {unchecked.reference} cannot be read." in words(closed.root.one("main"))
            assert asked.shown().status == 200


def test_detail_is_asked_for_and_answered(box: Inbox) -> None:
    """It decides nothing, and stays on record."""
    asked = box.asked().opened()
    sent = asked.send({**asked.forms[3], "choice": "detail", "topic": "the tests"})
    box.ledger.answer_detail(asked.pending.decision_id, 1, "All passed.")
    shown = asked.shown("bob").body
    asked.choose(0)

    assert sent.status == 303
    assert "All passed." in shown
    assert "All passed." in asked.shown("bob").body


def test_closed_decisions_have_pages(box: Inbox) -> None:
    """Latest first; a page goes on where the one before ended."""
    for number in range(60):
        asked = box.asked(agent=f"n{number}")
        box.ledger.withdraw(asked.pending.decision_id)
    first = request(f"{box.url}closed", x_user="alice").root
    (earlier,) = (each.attributes["href"] for each in first.all("a") if words(each) == "Earlier")
    second = rows(box, f"closed{earlier}")

    assert rows(box, "closed")[0] == "n59"
    assert second == [f"n{number}" for number in reversed(range(10))]
    assert "Earlier" not in request(f"{box.url}closed{earlier}", x_user="alice").body


def test_it_runs_on_its_own_and_under_any_prefix() -> None:
    """Its links lead to where it is."""
    ledger = Ledger(MemoryStore())
    app = inbox(ledger, authenticate=authenticate)
    pending = ledger.open(VALID_MOMENT)
    for prefix in ("", "/a", "/a/b"):
        mounted = Starlette(routes=[Mount(prefix, app)]) if prefix else app
        with serving(mounted) as origin:
            listed = request(f"{origin}{prefix}/", x_user="alice")
            (path,) = (
                each.attributes["href"] for each in listed.root.all("a") if "/decisions/" in each.attributes["href"]
            )
            form = request(f"{origin}{path}", x_user="alice").root.all("form")[0]

        assert path == f"{prefix}/decisions/{pending.reference}"
        assert form.attributes["action"] == f"{path}#question"


def test_two_processes_share_their_forms(tmp_path: Path) -> None:
    """A form that one of them drew is taken by the other: nothing is kept but in the store."""
    file = tmp_path / "agent.db"
    with SqliteStore(file) as one, SqliteStore(file) as other:
        with running(Ledger(one)) as here, running(Ledger(other)) as there:
            asked = here.asked().opened()
            asked.inbox = there
            assert asked.choose(0).status == 200
        assert isinstance(asked.stands, ResolvedDecision)


@pytest.mark.parametrize("kind", ["async", "sync that returns an awaitable"])
def test_authentication_may_be_async(kind: str) -> None:
    """Both ways to write it."""

    async def find(each: Any) -> Principal | None:
        return authenticate(each)

    with running(authenticate=find if kind == "async" else partial(find)) as box:
        assert request(box.url, x_user="alice").status == 200
        assert request(box.url, x_user="nobody").status == 403


BROKEN: dict[str, dict[str, Any]] = {
    "authentication that raises": {"authenticate": lambda _: 1 / 0},
    "authentication that returns a name": {"authenticate": lambda _: "alice"},
    "authentication that says yes": {"authenticate": lambda _: True},
    "a policy that raises": {"may": lambda *_: 1 / 0},
}


@pytest.mark.parametrize("settings", BROKEN.values(), ids=BROKEN.keys())
def test_what_is_broken_shows_nothing(settings: dict[str, Any]) -> None:
    """A mistake in the caller's functions opens nothing."""
    with running(**settings) as box:
        asked = box.asked(agent="secret")
        shown = [request(box.url, x_user="alice"), asked.shown()]

    assert [each.status for each in shown] == [500, 500]
    assert not any("secret" in each.body or "Alder" in each.body for each in shown)


class Truthy:
    """True in a condition, and no True."""


@pytest.mark.parametrize("answer", [Truthy(), 1, "no", None, 0], ids=["truthy", "one", "no", "None", "zero"])
def test_only_true_is_a_yes(answer: Any) -> None:
    """A policy that returns a coroutine, a text or a row allows nothing."""
    with running(may=lambda *_: answer) as box:
        asked = box.asked()

        assert rows(box) == []
        assert asked.shown().status == 404


MISUSED: dict[str, dict[str, Any]] = {
    "no authentication": {"authenticate": None},
    "a policy that is none": {"may": "yes"},
    "an origin with a path": {"origin": "https://x.example/inbox"},
    "an origin without a scheme": {"origin": "x.example"},
    "another scheme": {"origin": "ftp://x.example"},
}


@pytest.mark.parametrize("settings", MISUSED.values(), ids=MISUSED.keys())
def test_misuse_is_said(settings: dict[str, Any]) -> None:
    """Before anything is served."""
    with pytest.raises(InputError):
        inbox(MemoryStore(), **{"authenticate": authenticate, **settings})


def test_an_async_policy_is_refused() -> None:
    """It would be a coroutine, which is never True."""

    async def allow(*_: Any) -> bool:
        return True

    with pytest.raises(InputError, match="not be async"):
        inbox(MemoryStore(), authenticate=authenticate, may=allow)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", "x" * 129, "a\nb", 1], ids=["empty", "long", "two lines", "a number"])
def test_a_principal_has_a_name(name: Any) -> None:
    """It is recorded, so it must be one line of text."""
    with pytest.raises(InputError):
        Principal(name)


def test_hostile_names_are_text(box: Inbox) -> None:
    """Of agents, in lists, filters and records."""
    asked = box.asked(HOSTILE_MOMENTS["HTML"], agent='"><script>alert(1)</script>')
    for url in (box.url, asked.url, f"{box.url}?agent=%22%3E%3Cscript%3E"):
        shown = request(url, x_user="alice")

        assert len(re.findall("<script", shown.body)) == 1
        assert shown.status == 200


def test_a_refused_call_is_not_approved() -> None:
    """An answer in the inbox reaches the agent that waits: the call runs, or does not."""
    authority, post = Authority(MemoryStore()), Post()
    guard = authority.guard(post.send_email, workflow_id="w")
    with running(authority) as box:
        decision_id = waiting(guard)
        pending = box.ledger.find(decision_id)
        assert isinstance(pending, PendingDecision)
        box.ledger.resolve(decision_id, Selected(pending.digest, pending.actions.index(None)), principal="alice")
        with pytest.raises(NotApproved):
            guard.call("c1", MOM)
        assert "Nothing. No act was approved." in request(f"{box.url}decisions/{pending.reference}", x_user="bob").body

    assert post.sent == []
    assert set(PEOPLE) == {"alice", "bob", "carol", "mallory"}
    assert PREFIX == "/team/inbox"
