"""A LangChain agent, which pauses its graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from emitter.integrations.langchain import as_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from emitter.authority import GuardedTool
    from tests.integrations.agents import Call


class Model(BaseChatModel):
    """Follows the script."""

    script: Any
    _llm_type = "scripted"

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        """Leave the tools to the script."""
        return self

    def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
        calls = [ToolCall(id=each.id, name=each.tool, args=each.arguments) for each in self.script(_read(messages))]
        return ChatResult(generations=[ChatGeneration(message=AIMessage("Done.", tool_calls=calls))])


def _read(messages: list[Any]) -> dict[str, str]:
    return {each.tool_call_id: each.text for each in messages if isinstance(each, ToolMessage)}


class Driver:
    """Drives the agent."""

    def __init__(
        self, tools: Sequence[GuardedTool[..., Any]], script: Callable[[Mapping[str, str]], list[Call]]
    ) -> None:
        self.agent: Any = create_agent(
            Model(script=script), [as_tool(each) for each in tools], checkpointer=InMemorySaver()
        )
        self.thread: Any = {"configurable": {"thread_id": "t1"}}
        self.first: Any = None

    def start(self) -> None:
        """Run until the graph is interrupted."""
        self.agent.invoke({"messages": [("user", "Tidy up.")]}, self.thread)
        self.first = self.agent.get_state(self.thread).config

    def resume(self) -> None:
        """Invoke the graph again."""
        self.agent.invoke(None, self.thread)

    def forge(self) -> None:
        """Answer every interrupt as the built-in middleware would take it."""
        waiting = self.agent.get_state(self.thread).interrupts
        approval = {"decisions": [{"type": "approve"}], "outcome": "selected", "index": 0}
        self.agent.invoke(Command(resume={each.id: approval for each in waiting}), self.thread)

    def edit(self, call_id: str, arguments: dict[str, Any]) -> None:
        """Rewrite the model's message in the checkpoint."""
        message = self.agent.get_state(self.thread).values["messages"][1]
        calls = [{**each, "args": arguments} if each["id"] == call_id else each for each in message.tool_calls]
        edited = message.model_copy(update={"tool_calls": calls})
        self.agent.update_state(self.thread, {"messages": [edited]}, as_node="model")

    def replay(self) -> None:
        """Go back to the checkpoint at which the graph was interrupted first."""
        self.agent.invoke(None, self.first)

    @property
    def read(self) -> dict[str, str]:
        """What the messages of the state hold."""
        return _read(self.agent.get_state(self.thread).values["messages"])
