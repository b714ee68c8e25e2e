"""Toolsets of pydantic-ai's with some tools guarded, and runs that wait for answers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from emitter.authority import Authority
from emitter.decisions import select_option
from emitter.decisions.ledger import PendingDecision
from emitter.errors import InputError
from tests.integrations.test_by_name import Office

pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")
from pydantic_ai import Agent, DeferredToolRequests, ExternalToolset, FunctionToolset, Tool, ToolDefinition, ToolReturn
from pydantic_ai.capabilities import HandleDeferredToolCalls
from pydantic_ai.exceptions import UserError
from pydantic_ai.models.test import TestModel

from emitter.integrations.pydantic_ai import as_toolset, build_results, guard_toolset, wait_for_answers


def test_what_a_tool_returns_is_kept() -> None:
    """What the model does not see of it stays unseen, in a replay, too."""

    def send_email(to: str) -> Any:
        """Send an e-mail."""
        return ToolReturn(f"sent to {to}", metadata={"secret": "xyzzy"})

    office = Office("pydantic_ai by name", send_email)
    office.approve()
    office.agent.resume()
    office.agent.replay()

    assert office.agent.read == {"call_1": "sent to ada"}


def test_the_ledger_alone_is_asked_and_about_no_other_tool() -> None:
    """A tool that requires approval by itself is asked about once; approvals of others are left to the caller."""
    calls: list[str] = []

    def send_email(to: str) -> None:
        calls.append(f"mail {to}")

    def drop_table(table: str) -> None:
        calls.append(f"drop {table}")

    def find(name: str) -> None:
        calls.append(f"find {name}")

    authority = Authority()
    own = FunctionToolset([Tool(each, requires_approval=each is not find) for each in (send_email, drop_table, find)])
    toolset = guard_toolset(authority, own, {"send_email": {}})
    agent = Agent(TestModel(), output_type=[str, DeferredToolRequests], toolsets=[toolset])
    run = asyncio.run(agent.run("Tidy up."))
    assert isinstance(run.output, DeferredToolRequests)
    assert calls == ["find a"]
    (pending,) = authority.ledger.pending()
    authority.ledger.resolve(pending.decision_id, select_option(pending.moment, 0))

    results = build_results(authority.ledger, run.output)
    assert list(results.approvals.values()) == [True]
    with pytest.raises(UserError):
        asyncio.run(agent.run(message_history=run.all_messages(), deferred_tool_results=results))
    results.approvals |= {each.tool_call_id: each.tool_call_id in results.approvals for each in run.output.approvals}
    asyncio.run(agent.run(message_history=run.all_messages(), deferred_tool_results=results))
    assert calls == ["find a", "mail a"]


def test_what_runs_elsewhere_cannot_be_guarded() -> None:
    """Nothing here could run an approved call once."""
    toolset = guard_toolset(Authority(), ExternalToolset([ToolDefinition(name="send")]), {"send": {}})
    agent = Agent(TestModel(), output_type=[str, DeferredToolRequests], toolsets=[toolset])
    with pytest.raises(InputError, match="executed elsewhere"):
        asyncio.run(agent.run("Tidy up."))


def test_a_run_waits_for_answers() -> None:
    """The handler goes on as soon as the decision is closed, whatever the answer."""
    authority, calls = Authority(), list[str]()

    def send_email(to: str) -> str:
        calls.append(to)
        return "sent"

    async def run(index: int) -> str:
        agent = Agent(
            TestModel(),
            toolsets=[as_toolset(authority.guard(send_email))],
            capabilities=[HandleDeferredToolCalls(wait_for_answers(authority.ledger, poll=0.01))],
        )
        running = asyncio.create_task(agent.run("Tidy up."))
        while not (waiting := authority.ledger.pending()):
            assert not running.done()
            await asyncio.sleep(0.01)
        authority.ledger.resolve(waiting[0].decision_id, select_option(waiting[0].moment, index))
        return str((await running).output)

    assert "sent" in asyncio.run(run(0))
    assert "Leave it undone" in asyncio.run(run(1))
    assert calls == ["a"]


def test_a_run_that_is_cancelled_while_it_waits_withdraws_its_question() -> None:
    """Nobody can continue the run, so an answer would have no effect."""
    authority, calls = Authority(), list[str]()

    def send_email(to: str) -> str:
        calls.append(to)
        return "sent"

    waits = asyncio.Event()

    async def handle(context: Any, requests: DeferredToolRequests) -> Any:
        waits.set()
        return await wait_for_answers(authority.ledger, poll=0.01)(context, requests)

    async def run() -> str:
        tools = as_toolset(authority.guard(send_email))
        agent = Agent(TestModel(), toolsets=[tools], capabilities=[HandleDeferredToolCalls(handle)])
        running = asyncio.create_task(agent.run("Tidy up."))
        await waits.wait()
        (waiting,) = authority.ledger.pending()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return waiting.decision_id

    decision = authority.ledger.find(asyncio.run(run()))
    assert isinstance(decision, PendingDecision)
    assert (decision.withdrawn, calls) == (True, [])
