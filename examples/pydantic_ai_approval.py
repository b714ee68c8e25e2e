"""A pydantic-ai agent whose tools wait for a person, and which may be killed at any time: run it again.

python examples/pydantic_ai_approval.py [FOLDER]    # scripted: no key, no network. Needs pydantic-ai-slim
"""

import office
from pydantic import TypeAdapter
from pydantic_ai import Agent, AgentRunResult, DeferredToolRequests
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

from emitter.integrations.pydantic_ai import as_toolset, build_results


def model(messages: list[ModelMessage], _: object) -> ModelResponse:
    """Stand in for a model."""
    parts = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    calls = office.next_calls({part.tool_call_id: str(part.content) for part in parts})
    return ModelResponse([ToolCallPart(tool, args, name) for name, tool, args in calls] or [TextPart("Done.")])


tools = as_toolset(office.send_email, office.drop_table)
agent = Agent(FunctionModel(model), output_type=[str, DeferredToolRequests], toolsets=[tools])
saved, form = office.FOLDER / "run.json", TypeAdapter(tuple[list[ModelMessage], DeferredToolRequests])


def resume() -> AgentRunResult[str | DeferredToolRequests]:
    """Continue the run: whatever was approved is done now, once."""
    messages, requests = form.validate_json(saved.read_bytes())
    results = build_results(office.authority.ledger, requests)
    return agent.run_sync(message_history=messages, deferred_tool_results=results)


run = resume() if saved.exists() else agent.run_sync("Tidy up.")
while isinstance(run.output, DeferredToolRequests):
    saved.write_bytes(form.dump_json((run.all_messages(), run.output)))
    if not office.somebody_answers():
        break
    run = resume()
print(run.output)
