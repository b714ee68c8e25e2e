"""Tools of the OpenAI Agents SDK, guarded: what they keep, and which are refused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from emitter.authority import Authority
from emitter.errors import InputError

pytest.importorskip("agents", reason="openai-agents is not installed")
from agents import Agent, RunConfig, Runner, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from emitter.integrations.openai_agents import apply_answers, guard_tool


def test_openai_agents_keep_the_settings_of_a_tool_and_refuse_an_agent() -> None:
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
def test_openai_agents_ask_about_no_arguments_that_are_no_object(arguments: str) -> None:
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
