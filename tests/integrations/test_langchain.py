"""Tools of LangChain's, guarded by a middleware: what their results are, and what their receipts say."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from emitter.authority import ApprovalState, Authority
from emitter.decisions import select_option
from tests.integrations.agents import Call
from tests.integrations.test_by_name import Office

pytest.importorskip("langchain", reason="langchain is not installed")
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command

from emitter.integrations.langchain import GuardMiddleware, as_tool
from tests.integrations.driving_langchain import Model


def test_what_changes_the_graph_changes_it_once() -> None:
    """A replay says that it is not repeated."""
    calls: list[str] = []

    def send_email(to: str) -> Any:
        """Send an e-mail."""
        calls.append(to)
        return Command(update={"messages": [ToolMessage("handed over", tool_call_id="call_1")]})

    office = Office("langchain by name", send_email)
    office.approve()
    office.agent.resume()
    first = office.agent.read["call_1"]
    office.agent.replay()

    assert (first, calls, office.results) == ("handed over", ["ada"], ["success"])
    assert "is not repeated" in office.agent.read["call_1"]


def test_a_message_is_retained_as_it_was() -> None:
    """With its artifact."""

    @tool(response_format="content_and_artifact")
    def search(to: str) -> tuple[str, dict[str, int]]:
        """Search."""
        return f"found {to}", {"hits": 3}

    office = Office("langchain by name", search, Call("call_1", "search", {"to": "ada"}))
    office.approve()
    office.agent.resume()
    office.agent.replay()
    (message,) = [each for each in office.agent.messages if isinstance(each, ToolMessage)]  # type: ignore[attr-defined]

    assert (message.text, message.artifact, message.status) == ("found ada", {"hits": 3}, "success")


@pytest.mark.parametrize("members", [{"properties": {"from": {"type": "string"}}}, {}], ids=["from", "none"])
def test_a_tool_of_an_mcp_server_is_guarded(members: dict[str, Any]) -> None:
    """It has a JSON Schema in place of parameters, which may have names that Python has not, or none."""
    calls = list[dict[str, str]]()

    def run(**arguments: str) -> str:
        calls.append(arguments)
        return "done"

    given = dict.fromkeys(members.get("properties", {}), "ada")
    fetch = StructuredTool(name="fetch", description="Fetch.", args_schema={"type": "object", **members}, func=run)
    office = Office("langchain by name", fetch, Call("call_1", "fetch", given))
    office.approve()
    office.agent.resume()

    assert calls == [given]
    assert office.agent.read == {"call_1": "done"}


def test_arguments_that_langchain_refuses_end_in_a_failure() -> None:
    """Its message says why, and the receipt that nothing succeeded."""

    def send_email(to: int) -> int:
        """Send an e-mail."""
        return to

    office = Office("langchain by name", send_email)
    office.approve()
    office.agent.resume()

    assert office.results == ["failure"]
    assert "valid integer" in office.agent.read["call_1"]


def test_other_tools_of_the_agent_are_not_asked_about() -> None:
    """They run as they are, also in an event loop."""
    authority, calls = Authority(), list[str]()

    @tool
    def send_email(to: str) -> str:
        """Send an e-mail."""
        return to

    @tool
    def search(words: str) -> str:
        """Search."""
        calls.append(words)
        return words

    model = Model(script=lambda read: [] if read else [Call("c1", "search", {"words": "ada"})])
    agent: Any = create_agent(model, [send_email, search], middleware=[GuardMiddleware(authority, {"send_email": {}})])
    agent.invoke({"messages": [("user", "Look.")]})
    asyncio.run(agent.ainvoke({"messages": [("user", "Look.")]}))

    assert calls == ["ada", "ada"]
    assert authority.ledger.pending() == ()


def test_a_graph_of_ones_own_uses_it_without_an_agent() -> None:
    """A ``ToolNode`` takes its methods."""
    authority = Authority()

    @tool
    def send_email(to: str) -> str:
        """Send an e-mail."""
        return f"sent to {to}"

    guard = GuardMiddleware(authority, {"send_email": {}})
    node = ToolNode([send_email], wrap_tool_call=guard.wrap_tool_call, awrap_tool_call=guard.awrap_tool_call)
    builder: Any = StateGraph(MessagesState)
    builder.add_node("tools", node)
    builder.set_entry_point("tools")
    graph, thread = builder.compile(checkpointer=InMemorySaver()), {"configurable": {"thread_id": "1"}}
    call = ToolCall(id="c1", name="send_email", args={"to": "ada"})
    state = graph.invoke({"messages": [AIMessage("", tool_calls=[call])]}, thread)
    (pending,) = authority.ledger.pending()
    authority.ledger.resolve(pending.decision_id, select_option(pending.moment, 0))

    assert state["__interrupt__"][0].value["decision_id"] == pending.decision_id
    assert graph.invoke(None, thread)["messages"][-1].text == "sent to ada"


class Scripted(GenericFakeChatModel):
    """Answers one message after the other."""

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        """Leave the tools to the script."""
        return self


WAYS = {"guarded by name": True, "a guarded tool": False}


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("by_name", WAYS.values(), ids=WAYS)
def test_a_question_is_withdrawn_when_the_user_writes_on(by_name: bool, is_async: bool) -> None:
    """LangGraph drops the call that waits, so an answer would have no effect; other threads go on waiting."""
    authority, calls = Authority(), list[str]()

    def send_email(to: str) -> str:
        """Send an e-mail."""
        calls.append(to)
        return to

    tools = [tool(send_email)] if by_name else [as_tool(authority.guard(send_email))]
    guard = GuardMiddleware(authority, {"send_email": {}} if by_name else {})
    wanted = [AIMessage("", tool_calls=[ToolCall(id=f"call_{n}", name="send_email", args={"to": n})]) for n in "ab"]
    model = Scripted(messages=iter([*wanted, AIMessage("Never mind.")]))
    agent = create_agent(model, tools, middleware=[guard], checkpointer=InMemorySaver())

    def invoke(words: str, thread: str) -> None:
        given, config = {"messages": [HumanMessage(words)]}, {"configurable": {"thread_id": thread}}
        asyncio.run(agent.ainvoke(given, config)) if is_async else agent.invoke(given, config)

    invoke("Write to a.", "1")
    invoke("Write to b.", "10")
    first, other = authority.ledger.pending()
    invoke("Stop that.", "1")

    assert authority.ledger.pending() == (other,)
    assert authority.find_state(first.decision_id) is ApprovalState.WITHDRAWN
    assert calls == []


def test_a_resumed_graph_withdraws_nothing_also_not_an_agent_within_it() -> None:
    """An agent that begins within a graph must not withdraw what another part of it asks."""
    authority, calls = Authority(), list[str]()

    @tool
    def send_email(to: str) -> str:
        """Send an e-mail."""
        calls.append(to)
        return to

    def agent(name: str) -> Any:
        call = ToolCall(id=f"call_{name}", name="send_email", args={"to": name})
        model = Scripted(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("Done.")]))
        return create_agent(model, [send_email], middleware=[GuardMiddleware(authority, {"send_email": {}})])

    graph = StateGraph(MessagesState)
    for name in ("one", "two"):
        graph.add_node(name, agent(name))
        graph.add_edge("__start__", name)
    compiled, thread = graph.compile(checkpointer=InMemorySaver()), {"configurable": {"thread_id": "1"}}
    compiled.invoke({"messages": [HumanMessage("Write to both.")]}, thread)
    waiting = authority.ledger.pending()
    for pending in waiting:
        authority.ledger.resolve(pending.decision_id, select_option(pending.moment, 0))
    compiled.invoke(None, thread)

    assert len(waiting) == 2
    assert sorted(calls) == ["one", "two"]
