"""Claude Code keeps one deferred call: the others are dropped, and nothing is asked about a call that was dropped."""

from __future__ import annotations

import pytest

from tests.integrations.agents import find_agent
from tests.integrations.test_promises import CALLS, Office, approve


@pytest.fixture
def office() -> Office:
    """Return one whose agent made two calls in one message."""
    return Office(find_agent("claude_agent"))


def test_calls_wait_one_after_the_other(office: Office) -> None:
    """The person is asked about the last one; the model makes the other again, and none is made twice."""
    (only,) = office.authority.ledger.pending()
    office.agent.resume()
    assert office.authority.ledger.pending() == (only,)

    office.answer("bob", approve)
    office.agent.resume()
    assert (office.sent, set(office.agent.read)) == ([("bob", "Minutes")], {"call_2"})

    office.answer("ada", approve)
    office.agent.resume()
    assert office.sent == [("bob", "Minutes"), ("ada", "Minutes")]
    assert office.authority.ledger.pending() == ()
    assert len(office.authority.receipts()) == 2


def test_a_replay_does_not_act_twice() -> None:
    """From the transcript before the act, the tool returns what it returned."""
    office = Office(find_agent("claude_agent"), CALLS[0])
    office.answer("ada", approve)
    office.agent.resume()
    office.agent.replay()

    assert office.sent == [("ada", "Minutes")]
    assert office.agent.read == {"call_1": "sent to ada"}
    assert office.authority.ledger.pending() == ()


def test_a_client_that_permits_every_tool_runs_nothing() -> None:
    """Without the hook no tool knows its call, and under an id that the client makes up nothing is approved."""
    office = Office(find_agent("claude_agent"), CALLS[0])
    office.agent.forge()

    assert office.sent == []
    assert "Nothing was done" in office.agent.read["call_1"]
