"""A decision is answered on a page of the principal's own, and nowhere else (section 11.4)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, types

from emitter.decisions import select_option
from emitter.decisions.ledger import Ledger
from emitter.errors import InputError
from emitter.mcp import DecisionAsker, Surface
from emitter.testing.sample_moments import VALID_MOMENT
from tests.mcp.asking import RESOLVE, SELECTED, Releasing
from tests.mcp.talking import ERAS, Person, called, talk, wire

if TYPE_CHECKING:
    from emitter.decisions.ledger_entries import PendingDecision
    from emitter.messages import Json


class Page:
    """A page of the principal's own: who was sent there, and who was told of it."""

    def __init__(self, ledger: Ledger) -> None:
        self.reported: list[str] = []
        self.asking = DecisionAsker(ledger, surface=Surface.OWN, url_for=self.url_for, notify=self._tell)

    def url_for(self, pending: PendingDecision) -> str:
        """Return an address with a token."""
        return f"http://127.0.0.1:1/decide/token-of-{pending.decision_id}"

    def _tell(self, pending: PendingDecision) -> None:
        self.reported.append(self.url_for(pending))


@pytest.mark.parametrize("era", ERAS)
def test_the_principal_is_sent_to_a_page_of_their_own(era: str) -> None:
    """Section 11.4: that they agree to open it decides nothing; what they answer there is found later."""
    page, person = Page(Ledger()), Person("accept")
    pending = page.asking.ledger.open(VALID_MOMENT)
    server = Releasing(page.asking).server()
    agreed = called(server, era, RESOLVE, {"decision_id": pending.decision_id}, person)
    page.asking.ledger.resolve(pending.decision_id, select_option(VALID_MOMENT, 2), channel="web")
    found = called(server, era, RESOLVE, {"decision_id": pending.decision_id}, person)

    assert person.asked[0]["mode"] == "url"
    assert person.asked[0]["url"] == page.url_for(pending)
    assert VALID_MOMENT.synopsis not in person.asked[0]["message"]
    assert agreed["structuredContent"]["status"] == "pending"
    assert "call again later" in agreed["content"][-1]["text"]
    assert (found["structuredContent"]["continuation"], found["structuredContent"]["channel"]) == ("act", "web")


class AnsweredPage(Page):
    """A page on which the principal answers while the call asks."""

    def url_for(self, pending: PendingDecision) -> str:
        """Answer the decision, and return its address."""
        self.asking.ledger.resolve(pending.decision_id, select_option(VALID_MOMENT, 2), channel="web")
        return super().url_for(pending)


@pytest.mark.parametrize("era", ERAS)
def test_an_answer_that_comes_while_the_call_asks_is_not_repeated(era: str) -> None:
    """A later call with the same decision repeats it."""
    page = AnsweredPage(Ledger())
    pending, server = page.asking.ledger.open(VALID_MOMENT), Releasing(page.asking).server()
    first, later = (
        called(server, era, RESOLVE, {"decision_id": pending.decision_id}, Person("accept"))["structuredContent"]
        for _ in range(2)
    )

    assert [(each["channel"], each["repeated"]) for each in (first, later)] == [("web", False), ("web", True)]


def test_only_the_first_reply_of_the_call_that_asked_is_not_repeated() -> None:
    """A stateless client may call anew between the rounds, and send its reply again."""
    page = AnsweredPage(Ledger())
    pending = page.asking.ledger.open(VALID_MOMENT)

    async def script(client: Client) -> list[Json]:
        arguments = {"decision_id": pending.decision_id}
        asked = wire(await client.session.call_tool(RESOLVE, arguments, allow_input_required=True))
        replies: Any = {name: types.ElicitResult(action="accept") for name in asked["inputRequests"]}
        return [
            wire(await client.session.call_tool(RESOLVE, arguments, input_responses=each))
            for each in (None, replies, replies)
        ]

    found = talk(Releasing(page.asking).server(), "2026-07-28", script, Person("accept"))

    assert [each["structuredContent"]["repeated"] for each in found] == [True, False, True]


@pytest.mark.parametrize("era", ERAS)
def test_nobody_answers_for_a_principal_with_a_page(era: str) -> None:
    """Section 11.4: a session with their credential cannot, by the tool's argument; and the address is in no result."""
    page = Page(Ledger())
    pending = page.asking.ledger.open(VALID_MOMENT)
    server = Releasing(page.asking).server()
    forced = called(server, era, RESOLVE, {"decision_id": pending.decision_id, "resolution": SELECTED})
    waiting = called(server, era, RESOLVE, {"decision_id": pending.decision_id})

    assert forced["structuredContent"]["code"] == "bad_resolution"
    assert page.asking.ledger.find(pending.decision_id) == pending
    assert "token" not in json.dumps([forced, waiting])
    assert page.reported == [page.url_for(pending)]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("action", "reason"), [("decline", "declined"), ("cancel", "cancelled")])
def test_who_does_not_open_the_page_decides_nothing(action: str, reason: str, era: str) -> None:
    """It is unresolved, and the decision is open still."""
    page = Page(Ledger())
    pending = page.asking.ledger.open(VALID_MOMENT)
    found = called(Releasing(page.asking).server(), era, RESOLVE, {"decision_id": pending.decision_id}, Person(action))

    assert found["structuredContent"]["reason"] == reason
    assert page.asking.ledger.find(pending.decision_id) == pending


def test_a_page_of_their_own_needs_its_address() -> None:
    """It is said when it is set up, not when the first decision waits."""
    with pytest.raises(InputError, match="url_for and notify"):
        DecisionAsker(Ledger(), surface=Surface.OWN)


@pytest.mark.parametrize("era", ERAS)
def test_a_page_that_nobody_is_told_of_is_reported(era: str) -> None:
    """The agent learns that the principal may not know of the decision, and no word of the exception."""

    def fail(_: PendingDecision) -> str:
        raise RuntimeError("SECRET")

    ledger = Ledger()
    pending = ledger.open(VALID_MOMENT)
    for functions, person in (({"notify": fail}, None), ({"url_for": fail}, Person("accept"))):
        usual = {"url_for": lambda _: "http://127.0.0.1:1/", "notify": lambda _: None}
        asking = DecisionAsker(ledger, surface=Surface.OWN, **{**usual, **functions})
        more = () if person is None else (person,)
        found = called(Releasing(asking).server(), era, RESOLVE, {"decision_id": pending.decision_id}, *more)

        assert found["structuredContent"]["code"] == "callback_failed"
        assert "still open" in found["structuredContent"]["message"]
        assert "SECRET" not in str(found)
    assert ledger.find(pending.decision_id) == pending
