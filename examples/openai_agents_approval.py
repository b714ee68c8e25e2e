"""An agent of the OpenAI Agents SDK whose tools wait for a person. It may be killed at any time: run it again.

python examples/openai_agents_approval.py [FOLDER]    # scripted: no key, no network. Needs openai-agents
"""

import asyncio
from typing import Any

import office
from agents import Agent, RunConfig, Runner, RunState
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call

from emitter.integrations.openai_agents import apply_answers, as_tool


def respond(call: ModelCall) -> list[Any]:
    """Stand in for a model."""
    read = {each["call_id"]: each["output"] for each in call.input if each.get("type") == "function_call_output"}
    calls = [function_call(tool, args, call_id=name) for name, tool, args in office.next_calls(read)]
    return calls or [assistant_message("Done.")]


agent = Agent("assistant", model=ScriptedModel([ModelStep.respond(respond)] * 3))
agent.tools = [as_tool(office.send_email), as_tool(office.drop_table)]
saved = office.FOLDER / "run.json"


async def run() -> Any:
    """Run the agent until it is interrupted, or continue: whatever was approved is done now, once."""
    state: Any = await RunState.from_string(agent, saved.read_text()) if saved.exists() else "Tidy up."
    if isinstance(state, RunState):
        await apply_answers(state)
    result = await Runner.run(agent, state, run_config=RunConfig(tracing_disabled=True))
    saved.write_text(result.to_state().to_string())
    return result


while (result := asyncio.run(run())).interruptions and office.somebody_answers():
    pass
print(result.final_output)
