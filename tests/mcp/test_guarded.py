"""A guarded tool asks its principal, and runs once they approved: over both eras of the protocol."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, types

from emitter.authority import Authority
from emitter.decisions import answer_in_words, select_option
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_words import KeepWords
from emitter.stores import MemoryStore
from tests.mcp.asking import RESOLVE
from tests.mcp.guarding import MAIL, SENT, again, waiting
from tests.mcp.mailing import APPROVE, MOM, SEND, Mailing
from tests.mcp.talking import ERAS, Person, called, talk, wire

if TYPE_CHECKING:
    from emitter.messages import Json


NEW_ID = re.compile("[0-9a-f]{32}")

REFUSALS: dict[str, tuple[dict[str, str], dict[str, Json]]] = {
    "the other option": ({"choice": "option:1"}, {"continuation": "act"}),
    "words": ({"choice": "free_text", "answer": "Call her."}, {"continuation": "incorporate", "answer": "Call her."}),
    "objection": ({"choice": "dialogue", "objection": "Why?"}, {"continuation": "reopen", "objection": "Why?"}),
}


@pytest.mark.parametrize("era", ERAS)
def test_what_is_approved_is_done(era: str) -> None:
    """In one call, where the client asks its user: once, with a receipt, and the tool's own result."""
    mailing, person = Mailing(), Person("accept", **APPROVE)
    found = called(mailing.server(), era, SEND, MOM, person)

    assert (found["structuredContent"], found["isError"]) == (SENT, False)
    assert (mailing.sent, len(person.asked)) == ([MAIL], 1)
    assert [each.action for each in mailing.authority.receipts()] == [SEND]
    assert mailing.authority.unfinished_actions() == ()


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("answer", "instead"), REFUSALS.values(), ids=REFUSALS)
def test_what_is_not_approved_is_not_done(answer: dict[str, str], instead: dict[str, Json], era: str) -> None:
    """It is an error, with what the principal decided instead."""
    mailing = Mailing()
    found = called(mailing.server(), era, SEND, MOM, Person("accept", **answer))
    reported = found["structuredContent"]

    assert (found["isError"], reported["status"], reported["code"]) == (True, "refused", "not_approved")
    assert {name: reported["decision"][name] for name in instead} == instead
    assert "binding_moment" not in reported
    assert mailing.sent == []


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("action", "reason"), [("decline", "declined"), ("cancel", "cancelled")])
def test_who_does_not_decide_approves_nothing(action: str, reason: str, era: str) -> None:
    """The decision is open still: the same call, made again, asks again."""
    mailing = Mailing()
    found = called(mailing.server(), era, SEND, MOM, Person(action))
    reported = found["structuredContent"]
    done = called(mailing.server(), era, SEND, {**MOM, "call_id": reported["call_id"]}, Person("accept", **APPROVE))

    assert (found["isError"], reported["status"], reported["reason"]) == (True, "undecided", reason)
    assert reported["code"] == "approval_pending"
    assert "binding_moment" not in reported
    assert done["structuredContent"] == SENT
    assert mailing.sent == [MAIL]


@pytest.mark.parametrize("era", ERAS)
def test_an_answer_that_is_none_is_no_approval(era: str) -> None:
    """It is refused, and the decision stands."""
    mailing = Mailing()
    found = called(mailing.server(), era, SEND, MOM, Person("accept", choice="option:9"))

    assert (found["isError"], found["structuredContent"]["code"]) == (True, "no_such_option")
    assert mailing.sent == []
    assert len(mailing.authority.ledger.pending()) == 1


@pytest.mark.parametrize("era", ERAS)
def test_any_other_client_is_handed_the_decision(era: str) -> None:
    """Whole in the structure and in the text; its answer comes by a tool, and the call is made again, and done once."""
    mailing = Mailing()

    async def script(client: Client) -> list[Json]:
        asked = wire(await client.call_tool(SEND, MOM))
        reported = asked["structuredContent"]
        same = {**MOM, "call_id": reported["call_id"]}
        early = wire(await client.call_tool(SEND, same))
        (open_one,) = mailing.authority.ledger.pending()
        answer = {"outcome": "selected", "digest": open_one.digest, "index": 0}
        await client.call_tool(RESOLVE, {"decision_id": reported["decision_id"], "resolution": answer})
        return [asked, early, *[wire(await client.call_tool(SEND, same)) for _ in range(2)]]

    asked, early, done, repeated = talk(mailing.server(), era, script)
    reported = asked["structuredContent"]

    assert (asked["isError"], reported["status"], reported["code"]) == (True, "approval_pending", "approval_pending")
    assert NEW_ID.fullmatch(reported["call_id"])
    assert NEW_ID.fullmatch(reported["decision_id"])
    assert reported["binding_moment"]["findings"][0] == 'to: "mom@example.org"'
    assert reported["call_id"] in asked["content"][0]["text"]
    assert "Run send_email with exactly these arguments" in asked["content"][1]["text"]
    assert types.CallToolResult.model_validate(asked).content[2].text.startswith('{"binding_moment"')  # type: ignore[union-attr]
    assert early["structuredContent"] == reported
    assert done["structuredContent"] == SENT
    assert (repeated["structuredContent"], repeated["content"]) == (done["structuredContent"], done["content"])
    assert mailing.sent == [MAIL]


def test_a_client_that_does_not_ask_as_it_said_is_handed_the_decision() -> None:
    """Nobody saw it yet."""

    async def refuses(_context: Any, _params: Any) -> types.ErrorData:
        return types.ErrorData(code=-32600, message="Not now.")

    mailing = Mailing()
    reported = called(mailing.server(), "legacy", SEND, MOM, refuses)["structuredContent"]

    assert reported["status"] == "approval_pending"
    assert reported["binding_moment"]["question"]["recommended_idx"] == 1
    assert mailing.sent == []


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("index", "sent"), [(0, [MAIL]), (1, [])], ids=["approved", "refused"])
def test_what_was_answered_elsewhere_meanwhile_counts(index: int, sent: list[Any], era: str) -> None:
    """The first answer stands, whatever the form says that was open at the time."""
    mailing = Mailing()

    async def slow(_context: Any, _params: Any) -> types.ElicitResult:
        (found,) = mailing.authority.ledger.pending()
        mailing.authority.ledger.resolve(found.decision_id, select_option(found.moment, index), channel="web")
        return types.ElicitResult(action="accept", content={"choice": f"option:{1 - index}"})

    found = called(mailing.server(), era, SEND, MOM, slow)

    assert mailing.sent == sent
    assert found["isError"] is (not sent)
    assert found["structuredContent"].get("code") == (None if sent else "not_approved")


@pytest.mark.parametrize("era", ERAS)
def test_an_answer_that_comes_too_late_approves_nothing(era: str) -> None:
    """The question stands open for a time."""
    store, now = MemoryStore(), [1_900_000_000.0]
    ledger = Ledger(store, clock=lambda: now[0])
    authority = Authority(store, ledger=ledger, clock=lambda: now[0])
    mailing = Mailing(authority, settings={"expires_in": 1e9})

    async def late(_context: Any, _params: Any) -> types.ElicitResult:
        now[0] += 1e9
        return types.ElicitResult(action="accept", content=dict(APPROVE))

    found = called(mailing.server(), era, SEND, MOM, late)

    assert found["structuredContent"]["code"] == "not_approved"
    assert "expired" in found["structuredContent"]["message"]
    assert mailing.sent == []


@pytest.mark.parametrize("keeps", [True, False], ids=["kept", "not kept"])
def test_the_agent_reads_why_a_call_is_not_approved(keeps: bool) -> None:
    """In the words of the person, also where another process took them; without words there is no decision to read."""
    store = MemoryStore()
    words = KeepWords() if keeps else None
    mailing = Mailing(Authority(store, ledger=Ledger(store, words=words)))
    reported = waiting(mailing)
    elsewhere = Ledger(store, words=words)
    (pending,) = elsewhere.pending()
    elsewhere.resolve(pending.decision_id, answer_in_words(pending.moment, "Call her instead."))
    found = again(mailing, reported)["structuredContent"]
    assert (found["status"], found["code"], mailing.sent) == ("refused", "not_approved", [])
    assert found.get("decision", {}).get("answer") == ("Call her instead." if keeps else None)
