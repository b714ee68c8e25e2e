"""Agents of every framework, driven in one way: the same guarded tools, and a model that follows a script."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from emitter.authority import GuardedTool


class Call(NamedTuple):
    """A tool call that the scripted model makes."""

    id: str
    tool: str
    arguments: dict[str, Any]


class Agent(Protocol):
    """An agent with the tools and the script of a test."""

    def __init__(
        self, tools: Sequence[GuardedTool[..., Any]], script: Callable[[Mapping[str, str]], list[Call]]
    ) -> None: ...

    def start(self) -> None:
        """Run until a call waits, or to the end."""

    def resume(self) -> None:
        """Run on, as the guide says."""

    def forge(self) -> None:
        """Run on as a client that claims that a person approved every call that waits."""

    def edit(self, call_id: str, arguments: dict[str, Any]) -> None:
        """Change the arguments of a call in the framework's saved state."""

    def replay(self) -> None:
        """Run again from the state in which the first calls waited."""

    @property
    def read(self) -> dict[str, str]:
        """The results that the model has read, by the ids of the calls."""
        ...


FRAMEWORKS = {
    "langchain": "langchain",
    "pydantic_ai": "pydantic_ai",
    "openai_agents": "agents",
    "claude_agent": "claude_agent_sdk",
}
"""The frameworks, and what must be installed to try them."""


def find_agent(name: str) -> type[Agent]:
    """Return the agent of a framework, or skip the test where it is not installed."""
    pytest.importorskip(FRAMEWORKS[name])
    agent: type[Agent] = importlib.import_module(f"tests.integrations.driving_{name}").Driver
    return agent


@pytest.fixture(params=FRAMEWORKS)
def framework(request: pytest.FixtureRequest) -> type[Agent]:
    """Return the agent of each framework."""
    return find_agent(request.param)


@pytest.fixture(params=[name for name in FRAMEWORKS if name != "claude_agent"])
def parallel_framework(request: pytest.FixtureRequest) -> type[Agent]:
    """Return the agent of each framework in which several calls of one message can wait."""
    return find_agent(request.param)
