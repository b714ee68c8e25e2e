"""A LangChain agent, which pauses its graph."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from emitter.integrations.langchain import GuardMiddleware, as_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from emitter.authority import Authority
    from tests.integrations.agents import Job


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

    def __init__(self, job: Job) -> None:
        self.agent: Any = create_agent(
            Model(script=job.script),
            [self.make_tool(job)],
            middleware=self.middleware(job),
            checkpointer=InMemorySaver(),
        )
        self.thread: Any = {"configurable": {"thread_id": "t1"}}
        self.first: Any = None

    def make_tool(self, job: Job) -> Any:
        """Return the agent's tool."""
        return as_tool(job.tool)

    def middleware(self, _: Job) -> list[Any]:
        """Return the agent's middleware."""
        return []

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
        return _read(self.messages)

    @property
    def messages(self) -> list[Any]:
        """The messages of the state."""
        messages: list[Any] = self.agent.get_state(self.thread).values["messages"]
        return messages


class DriverByName(Driver):
    """Drives an agent with a tool of LangChain's that a middleware guards: now in an event loop, now without one."""

    def make_tool(self, job: Job) -> Any:
        """Return the agent's tool."""
        return job.function if isinstance(job.function, BaseTool) else tool(job.function)

    def middleware(self, job: Job) -> list[Any]:
        """Return what guards it."""
        return [GuardMiddleware(job.authority, {job.name: job.options})]

    def resume(self) -> None:
        """Invoke the graph again."""
        asyncio.run(self.agent.ainvoke(None, self.thread))


class Conversation:
    """A thread of a LangChain agent."""

    def __init__(self, authority: Authority, remind: Callable[[str], str]) -> None:
        steps: list[Sequence[tuple[str, str]]] = []

        class Stepping(Model):
            def _generate(self, *_: Any, **__: Any) -> Any:
                step = steps.pop(0) if steps else []
                calls = [ToolCall(id=name, name="remind", args={"who": who}) for name, who in step]
                return ChatResult(generations=[ChatGeneration(message=AIMessage("Yes.", tool_calls=calls))])

        tools, middleware = self.guard(authority, remind)
        self.agent: Any = create_agent(
            Stepping(script=None), tools, middleware=middleware, checkpointer=InMemorySaver()
        )
        self.steps, self.thread, self.waited, self._message = (
            steps,
            {"configurable": {"thread_id": "t"}},
            None,
            ToolMessage,
        )

    def guard(self, authority: Authority, remind: Callable[[str], str]) -> tuple[list[Any], list[Any]]:
        """Return the tools and the middleware."""
        return [as_tool(authority.guard(remind))], []

    def say(self, text: str, *steps: Sequence[tuple[str, str]]) -> None:
        """Invoke the graph."""
        self.steps[:] = steps
        self.agent.invoke({"messages": [("user", text)]}, self.thread)
        self.waited = self.agent.get_state(self.thread).config

    def resume(self) -> None:
        """Invoke the graph again."""
        self.agent.invoke(None, self.thread)

    def replay(self) -> None:
        """Go back to the checkpoint."""
        self.agent.invoke(None, self.waited)

    @property
    def results(self) -> list[str]:
        """What the messages of the state have."""
        messages = self.agent.get_state(self.thread).values["messages"]
        return [each.text for each in messages if isinstance(each, self._message)]


class ConversationByName(Conversation):
    """A thread whose tool is guarded by a middleware."""

    def guard(self, authority: Authority, remind: Callable[[str], str]) -> tuple[list[Any], list[Any]]:
        """Return the tools and the middleware."""
        return [tool(remind)], [GuardMiddleware(authority, {"remind": {}})]
