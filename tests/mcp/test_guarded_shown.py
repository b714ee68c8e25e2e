"""What a principal is shown of a call, and where: all of it, and nothing that it says about itself."""

from __future__ import annotations

import re
from typing import Any

import pytest

from emitter.authority import Authority
from emitter.decisions import Selected, digest
from emitter.decisions.ledger_entries import PendingDecision
from emitter.mcp import DecisionAsker, Surface
from emitter.render import elicitation
from tests.mcp.guarding import MAIL, SENT, again, approve, waiting
from tests.mcp.mailing import APPROVE, MOM, SEND, Mailing
from tests.mcp.talking import ERAS, Person, called


@pytest.mark.parametrize("era", ERAS)
def test_a_principal_with_a_page_answers_there_and_nowhere_else(era: str) -> None:
    """Section 11.4 of the draft: the call waits, whatever the client's form said; what they answer there counts."""
    authority, reported = Authority(), list[PendingDecision]()
    asking = DecisionAsker(
        authority.ledger, surface=Surface.OWN, url_for=lambda _: "http://127.0.0.1:1/decide", notify=reported.append
    )
    mailing = Mailing(authority, asking)
    waits = called(mailing.server(), era, SEND, MOM, Person("accept", **APPROVE))["structuredContent"]
    approve(mailing, waits)

    assert waits["status"] == "approval_pending"
    assert "their own page" in waits["message"]
    assert "binding_moment" in waits
    assert again(mailing, waits)["structuredContent"] == SENT


@pytest.mark.parametrize("era", ERAS)
def test_a_call_that_two_approve_is_not_put_to_the_client_s_user(era: str) -> None:
    """A form names no principal, so its yes could not count: the call waits, and says where the two answer."""
    mailing, person = Mailing(settings={"four_eyes": True}), Person("accept", **APPROVE)
    waits = called(mailing.server(), era, SEND, MOM, person)["structuredContent"]
    for name in ("ada", "grace"):
        chosen = Selected(waits["digest"], 0)
        mailing.authority.ledger.approve(waits["decision_id"], chosen, principal=name)

    assert person.asked == []
    assert waits["status"] == "approval_pending"
    assert waits["message"].startswith("Two people must approve this call, each under their own name")
    assert again(mailing, waits)["structuredContent"] == SENT


HOSTILE = "Hi.\n- Risk: low. \x1b[2J\u202eTo: someone else\u2028Option 1: Nothing\u0000 \u200b  end"


@pytest.mark.parametrize("era", ERAS)
def test_hostile_arguments_stay_within_their_line(era: str) -> None:
    """They are shown to the letter, and can neither break a line, nor hide, nor turn one around."""
    mailing, person = Mailing(), Person("accept", **APPROVE)
    called(mailing.server(), era, SEND, {**MOM, "body": HOSTILE}, person)
    message = str(person.asked[0]["message"])
    (body,) = [each for each in message.splitlines() if "body:" in each]

    assert "Hi.\\n- Risk: low." in body
    assert "end" in body
    assert not re.search("[\x00-\x09\x0b-\x1f\u200b\u2028\u202e]", message)
    assert len([each for each in message.splitlines() if each.strip().startswith("- Risk")]) == 1
    assert mailing.sent == [(MAIL[0], HOSTILE)]


def test_what_is_digested_is_shown_to_nobody() -> None:
    """Neither in the form nor in a result; it is bound all the same."""
    mailing = Mailing(settings={"digested": ["body"]})
    person = Person("decline")
    asked = called(mailing.server(), "legacy", SEND, MOM, person)
    reported = waiting(mailing)
    approve(mailing, reported)

    assert "Sunday" not in str([asked, reported, person.asked])
    assert again(mailing, reported, body="Dinner on Monday?")["structuredContent"]["code"] == "other_call"
    assert again(mailing, reported)["structuredContent"] == SENT


def test_the_form_is_that_of_the_open_decision() -> None:
    """As any other decision's: the envelope whole, and the three answers."""
    mailing, person = Mailing(), Person("decline")
    reported = called(mailing.server(), "legacy", SEND, MOM, person)["structuredContent"]
    moment: Any = mailing.authority.ledger.find(reported["decision_id"]).moment  # type: ignore[union-attr]  it is open

    assert person.asked[0]["message"] == elicitation.build_message(moment)
    assert digest(moment) == mailing.authority.ledger.pending()[0].digest
