"""Tools of LangChain's, guarded by a middleware: what their results are, and what their receipts say."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integrations.agents import Call
from tests.integrations.test_by_name import Office

pytest.importorskip("langchain", reason="langchain is not installed")
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.types import Command


def test_messages_are_kept_and_passes_commands_on() -> None:
    """A message comes back as it was; what changes the graph changes it once. Other tools are not asked about."""
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
