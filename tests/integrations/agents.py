"""Agents of every framework, driven in one way: the same guarded tool, and a model that follows a script."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import pytest

from tests.work import FULL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from emitter.authority import Authority


class Call(NamedTuple):
    """A tool call that the scripted model makes."""

    id: str
    tool: str
    arguments: dict[str, Any]


class Job(NamedTuple):
    """What an agent of a test is made of: a function to guard as its tool, with options, and a script."""

    authority: Authority
    function: Callable[..., Any]
    options: Any
    script: Callable[[Mapping[str, str]], list[Call]]
    name: str = "send_email"
    """What a tool of the framework is guarded by."""

    @property
    def tool(self) -> Any:
        """The function, guarded."""
        return self.authority.guard(self.function, **self.options)


class Agent(Protocol):
    """An agent with the tool and the script of a test."""

    def __init__(self, job: Job) -> None: ...

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


class Conversation(Protocol):
    """A conversation with an agent that has the tool ``remind``."""

    def __init__(self, authority: Authority, remind: Callable[[str], str]) -> None: ...

    def say(self, text: str, *steps: Sequence[tuple[str, str]]) -> None:
        """Run the agent on a person's message until a call waits, or to its end.

        The model makes the calls of a step in one message, by the id and the person to remind, and then the next step.
        """

    def resume(self) -> None:
        """Run on after an answer."""

    def replay(self) -> None:
        """Run again from where the last call waited first."""

    @property
    def results(self) -> list[str]:
        """The results of calls that the model has read."""
        ...


FRAMEWORKS = {
    "langchain": "langchain",
    "langchain by name": "langchain",
    "pydantic_ai": "pydantic_ai",
    "pydantic_ai by name": "pydantic_ai",
    "openai_agents": "agents",
    "openai_agents by name": "agents",
    "claude_agent": "claude_agent_sdk",
    "claude_agent by name": "claude_agent_sdk",
}
"""The frameworks, with guarded functions or with tools of their own guarded, and what must be installed to try them."""


def find_agent(name: str) -> type[Agent]:
    """Return the agent of a framework, or skip the test where it is not installed."""
    pytest.importorskip(FRAMEWORKS[name])
    module, _, by_name = name.partition(" ")
    driver = "DriverByName" if by_name else "Driver"
    agent: type[Agent] = getattr(importlib.import_module(f"tests.integrations.driving_{module}"), driver)
    return agent


def find_conversation(name: str) -> type[Conversation]:
    """Return the conversation of a framework, or skip the test where it is not installed."""
    pytest.importorskip(FRAMEWORKS[name])
    module, _, by_name = name.partition(" ")
    conversation = "ConversationByName" if by_name else "Conversation"
    return cast(
        "type[Conversation]", getattr(importlib.import_module(f"tests.integrations.driving_{module}"), conversation)
    )


@pytest.fixture(params=FRAMEWORKS)
def framework(request: pytest.FixtureRequest) -> type[Agent]:
    """Return the agent of each framework."""
    return find_agent(request.param)


CLAUDE = [name for name in FRAMEWORKS if "claude_agent" in name]
"""Each run of these starts Claude Code twice, which takes forty times as long as the others."""
PARALLEL = [name for name in FRAMEWORKS if name not in CLAUDE]


def frameworks(claude: str) -> Any:
    """Parametrize a test with the frameworks, but one way of the Claude Agent SDK unless everything is tried."""
    return pytest.mark.parametrize("framework", FRAMEWORKS if FULL else [*PARALLEL, claude], indirect=True)


@pytest.fixture(params=PARALLEL)
def parallel_framework(request: pytest.FixtureRequest) -> type[Agent]:
    """Return the agent of each framework in which several calls of one message can wait."""
    return find_agent(request.param)
