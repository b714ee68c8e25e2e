"""Tools of the OpenAI Agents SDK, guarded: what they keep, and which are refused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from emitter.authority import Authority
from emitter.errors import InputError
from emitter.stores import MemoryStore

pytest.importorskip("agents", reason="openai-agents is not installed")
from agents import Agent, RunConfig, Runner, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from emitter.integrations.openai_agents import apply_answers, as_tool, delete_state, guard_tool, load_state, save_state


def test_a_tool_keeps_its_settings_and_an_agent_is_refused() -> None:
    """A guarded tool is enabled, described and timed as before; what another agent may do is not one call."""

    @function_tool(timeout=7, description_override="Send.", is_enabled=False, strict_mode=False)
    async def send(to: str, cc: str = "") -> str:
        return to + cc

    guarded = guard_tool(Authority(), send)
    kept = ("name", "description", "params_json_schema", "strict_json_schema", "is_enabled", "timeout_seconds")
    assert [getattr(guarded, each) for each in kept] == [getattr(send, each) for each in kept]

    with pytest.raises(InputError, match="is an agent"):
        guard_tool(Authority(), Agent("helper").as_tool("help", "Help."))


@pytest.mark.parametrize("arguments", ["{", "[]", "7", '"to"'])
def test_nobody_is_asked_about_arguments_that_are_no_object(arguments: str) -> None:
    """The model reads what is wrong with them."""
    calls: list[str] = []

    @function_tool
    def send(to: str) -> None:
        calls.append(to)

    authority = Authority()
    call = function_call("send", arguments, call_id="c1")
    model = ScriptedModel([[call], [assistant_message("Done.")]])
    agent = Agent("assistant", model=model, tools=[guard_tool(authority, send)])

    async def run() -> Any:
        result = await Runner.run(agent, "Go.", run_config=RunConfig(tracing_disabled=True))
        if result.interruptions:
            state = result.to_state()
            await apply_answers(state)
            result = await Runner.run(agent, state, run_config=RunConfig(tracing_disabled=True))
        return result.to_input_list()

    assert "arguments are invalid" in str(asyncio.run(run()))
    assert (calls, authority.ledger.pending()) == ([], ())


class Dying(MemoryStore):
    """A store whose process dies before it writes a state."""

    dies = False

    def get_or_create(self, run_id: str, *rest: Any) -> Any:
        """Write, or die."""
        if self.dies and "openai-agents" in run_id:
            raise KeyboardInterrupt
        return super().get_or_create(run_id, *rest)


async def interrupted() -> tuple[Any, Any]:
    """Return an agent and the state of its run, which waits."""
    model = ScriptedModel([[function_call("send", {"to": "ada"}, call_id="c1")], [assistant_message("Done.")]])

    def send(to: str) -> str:
        return to

    agent = Agent("assistant", model=model, tools=[as_tool(Authority().guard(send))])
    result = await Runner.run(agent, "Go.", run_config=RunConfig(tracing_disabled=True))
    return agent, result.to_state()


def test_the_state_that_was_saved_last_is_loaded() -> None:
    """Of each run its own, as often as it is saved, and none once it is deleted."""

    async def run() -> None:
        store, (agent, state) = MemoryStore(), await interrupted()
        assert await load_state(store, "r1", agent) is None
        for turn in range(5):
            state.approve(state.get_interruptions()[0]) if turn % 2 else state.reject(state.get_interruptions()[0])
            await save_state(store, "r1", state)
            loaded = await load_state(store, "r1", agent)
            assert loaded is not None
            assert loaded.to_string() == state.to_string()
        await save_state(store, "r2", state)
        delete_state(store, "r1")
        assert await load_state(store, "r1", agent) is None
        assert await load_state(store, "r2", agent) is not None

    asyncio.run(run())


def test_a_process_that_dies_while_it_saves_leaves_the_state_before() -> None:
    """However often it dies."""

    async def run() -> None:
        store, (agent, state) = Dying(), await interrupted()
        await save_state(store, "r1", state)
        await save_state(store, "r1", state)
        before = state.to_string()
        state.approve(state.get_interruptions()[0])
        for _ in range(2):
            store.dies = True
            with pytest.raises(KeyboardInterrupt):
                await save_state(store, "r1", state)
            store.dies = False
            loaded = await load_state(store, "r1", agent)
            assert loaded is not None
            assert loaded.to_string() == before

    asyncio.run(run())
