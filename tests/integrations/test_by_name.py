"""Tools that an agent has already, guarded by name: what they keep of their framework, and what they lose."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority
from emitter.decisions import select_option
from emitter.errors import InputError
from emitter.integrations.approvals import Rejected, Returned, Waiting, guard_existing
from tests.integrations.agents import Call, Job, find_agent

if TYPE_CHECKING:
    from collections.abc import Callable

BY_NAME = ["langchain by name", "pydantic_ai by name", "openai_agents by name"]
CALL = Call("call_1", "send_email", {"to": "ada"})


class Office:
    """An agent with one tool of its framework, guarded, whose call is approved."""

    def __init__(self, framework: str, function: Callable[..., Any], call: Call = CALL, **options: Any) -> None:
        self.authority = Authority()
        script = lambda read: [] if call.id in read else [call]  # noqa: E731
        self.agent = find_agent(framework)(Job(self.authority, function, options, script, call.tool))

    def approve(self) -> None:
        """Start, and approve what waits."""
        self.agent.start()
        for pending in self.authority.ledger.pending():
            self.authority.ledger.resolve(pending.decision_id, select_option(pending.moment, 0))

    @property
    def results(self) -> list[str]:
        """What the receipts say."""
        return [each.result.value for each in self.authority.receipts()]


@pytest.mark.parametrize("framework", BY_NAME)
def test_the_person_reads_what_the_tool_is(framework: str) -> None:
    """Its function, its description and each argument by its name."""

    def send_email(to: str) -> str:
        """Send an e-mail."""
        return to

    office = Office(framework, send_email, digested=["to"])
    office.agent.start()
    (pending,) = office.authority.ledger.pending()
    findings = "\n".join(pending.moment.findings)

    assert "to: not shown (SHA-256" in findings
    assert "send_email" in findings.partition("Function: ")[2]
    assert __name__ in findings
    assert "What it does: Send an e-mail." in findings


@pytest.mark.parametrize("framework", BY_NAME)
def test_a_tool_that_fails_has_a_receipt_that_says_so(framework: str) -> None:
    """It fails in its framework's way, and is not run again."""
    calls: list[str] = []

    def send_email(to: str) -> str:
        """Send an e-mail."""
        calls.append(to)
        raise ConnectionError("no route")

    office = Office(framework, send_email)
    office.approve()
    if framework == "openai_agents by name":
        office.agent.resume()
        assert "An error occurred" in office.agent.read["call_1"]
    else:
        with pytest.raises(ConnectionError, match="no route"):
            office.agent.resume()
    office.agent.replay()

    assert (calls, office.results) == (["ada"], ["failure"])
    assert "did not succeed" in office.agent.read["call_1"]


def test_only_a_framework_runs_its_tool() -> None:
    """Without it there is nothing to run; and what the tool does not take is not asked about."""
    authority = Authority()
    tool = guard_existing(
        authority, {}, name="send", description="Send.", parameters=["from"], implementation=authority
    )

    async def run(arguments: dict[str, Any]) -> Any:
        return arguments

    unknown = asyncio.run(tool.make_call("c1", {"from": "ada", "cc": "eve"}, run))
    assert isinstance(unknown, Rejected)
    assert "no parameter 'cc'" in unknown.message
    assert asyncio.run(tool.find_obstacle("c1", {"cc": "eve"})) == Rejected(
        "The call was not made: send has no parameter 'cc'."
    )
    assert authority.ledger.pending() == ()

    waiting = asyncio.run(tool.make_call("c2", {"from": "ada"}, run))
    assert isinstance(waiting, Waiting)
    authority.ledger.resolve(waiting.pending.decision_id, select_option(waiting.pending.moment, 0))
    assert asyncio.run(tool.make_call("c2", {"from": "ada"}, run)) == Returned({"from": "ada"})
    with pytest.raises(InputError, match="by its agent framework"):
        asyncio.run(_call_alone(tool.guarded, authority))


async def _call_alone(tool: Any, authority: Authority) -> None:
    decision = await tool.propose("c3", **{"from": "ada"})
    await authority.ledger.aresolve(decision.decision_id, select_option(decision.moment, 0))
    await tool.call("c3", **{"from": "ada"})


@pytest.mark.parametrize("framework", BY_NAME[:2])
def test_a_name_that_no_tool_has_stops_the_agent(framework: str) -> None:
    """A typo leaves no tool unguarded: nothing runs."""
    calls: list[str] = []

    def send_email(to: str) -> str:
        """Send an e-mail."""
        calls.append(to)
        return to

    job = Job(Authority(), send_email, {}, lambda read: [] if read else [CALL], name="send_mail")
    agent = find_agent(framework)(job)
    with pytest.raises(InputError, match="There is no tool 'send_mail' to guard"):
        agent.start()

    assert calls == []
