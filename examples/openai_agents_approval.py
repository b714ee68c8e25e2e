"""An agent of the OpenAI Agents SDK whose tools wait for a person. It may be killed at any time: run it again.

python examples/openai_agents_approval.py [FOLDER]    # scripted: no key, no network. Needs openai-agents
"""

import asyncio
from typing import Any

import office
from agents import Agent, RunConfig, Runner
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call

from emitter.integrations.openai_agents import apply_answers, as_tool, load_state, save_state


def respond(call: ModelCall) -> list[Any]:
    """Stand in for a model."""
    read = {each["call_id"]: each["output"] for each in call.input if each.get("type") == "function_call_output"}
    calls = [function_call(tool, args, call_id=name) for name, tool, args in office.next_calls(read)]
    return calls or [assistant_message("Done.")]


agent = Agent("assistant", model=ScriptedModel([ModelStep.respond(respond)] * 3))
agent.tools = [as_tool(office.send_email), as_tool(office.drop_table)]
store = office.authority.ledger.store


async def run() -> Any:
    """Run the agent until it is interrupted, or continue: whatever was approved is done now, once."""
    state = await load_state(store, "run-1", agent)
    if state is not None:
        await apply_answers(state)
    result = await Runner.run(agent, state or "Tidy up.", run_config=RunConfig(tracing_disabled=True))
    await save_state(store, "run-1", result.to_state())
    return result


while (result := asyncio.run(run())).interruptions and office.somebody_answers():
    pass
print(result.final_output)
