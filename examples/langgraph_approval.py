"""A LangChain agent whose tools wait for a person, and which may be killed at any time: run it again.

python examples/langgraph_approval.py [FOLDER]    # scripted: no key, no network. Needs langchain
"""

from typing import Any

import office
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.sqlite import SqliteSaver

from emitter.integrations.langchain import as_tool


class ScriptedModel(BaseChatModel):
    """Stands in for a model."""

    _llm_type = "scripted"

    def bind_tools(self, *_: Any, **__: Any) -> Any:  # noqa: D102
        return self

    def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
        read = {each.tool_call_id: each.text for each in messages if isinstance(each, ToolMessage)}
        calls = [ToolCall(id=name, name=tool, args=arguments) for name, tool, arguments in office.next_calls(read)]
        return ChatResult(generations=[ChatGeneration(message=AIMessage("Done.", tool_calls=calls))])


with SqliteSaver.from_conn_string(str(office.FOLDER / "graph.db")) as saver:
    tools = [as_tool(office.send_email), as_tool(office.drop_table)]
    agent, thread = create_agent(ScriptedModel(), tools, checkpointer=saver), {"configurable": {"thread_id": "1"}}
    state = agent.invoke(None if saver.get(thread) else {"messages": [("user", "Tidy up.")]}, thread)
    while "__interrupt__" in state and office.somebody_answers():
        state = agent.invoke(None, thread)  # whatever was approved is done now, once
    print(*(message.text for message in state["messages"]), sep="\n")
