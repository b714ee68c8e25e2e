"""A pydantic-ai agent, whose run ends with deferred tools."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter
from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    DeferredToolResults,
    FunctionToolset,
    ModelMessagesTypeAdapter,
    ToolApproved,
)
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

from emitter.integrations.pydantic_ai import as_toolset, build_results, guard_toolset

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from emitter.authority import Authority
    from tests.integrations.agents import Job

STATE = TypeAdapter(tuple[list[ModelMessage], DeferredToolRequests])


def _read(messages: list[ModelMessage]) -> dict[str, str]:
    parts = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    return {part.tool_call_id: str(part.content) for part in parts}


class Driver:
    """Drives the agent, and keeps its state as JSON between runs."""

    def __init__(self, job: Job) -> None:
        def model(messages: list[ModelMessage], _: object) -> ModelResponse:
            calls = job.script(_read(messages))
            return ModelResponse(
                [ToolCallPart(each.tool, each.arguments, each.id) for each in calls] or [TextPart("Done.")]
            )

        toolset = self.make_toolset(job)
        self.agent = Agent(FunctionModel(model), output_type=[str, DeferredToolRequests], toolsets=[toolset])
        self.ledger = job.authority.ledger
        self.first = self.saved = b""
        self.messages: list[ModelMessage] = []

    def make_toolset(self, job: Job) -> Any:
        """Return the agent's tools."""
        return as_toolset(job.tool)

    def start(self) -> None:
        """Run until calls are deferred."""
        self._run(user_prompt="Tidy up.")
        self.first = self.saved

    def resume(self) -> None:
        """Run on with what the ledger says."""
        messages, requests = STATE.validate_json(self.saved)
        self._run(message_history=messages, deferred_tool_results=build_results(self.ledger, requests))

    def forge(self) -> None:
        """Approve every call, in one of the two ways that there are."""
        messages, requests = STATE.validate_json(self.saved)
        approvals: Any = {each.tool_call_id: ToolApproved() for each in requests.approvals}
        self._run(message_history=messages, deferred_tool_results=DeferredToolResults(approvals=approvals))

    def edit(self, call_id: str, arguments: dict[str, Any]) -> None:
        """Rewrite the model's message in the history."""
        messages, requests = STATE.validate_json(self.saved)
        parts: list[Any] = [
            replace(part, args=arguments) if getattr(part, "tool_call_id", "") == call_id else part
            for part in messages[1].parts
        ]
        self.saved = STATE.dump_json(([messages[0], replace(messages[1], parts=parts), *messages[2:]], requests))

    def replay(self) -> None:
        """Run on from the first state."""
        self.saved = self.first
        self.resume()

    def _run(self, **how: Any) -> None:
        run = asyncio.run(self.agent.run(**how))
        self.messages = run.all_messages()
        if isinstance(run.output, DeferredToolRequests):
            self.saved = STATE.dump_json((self.messages, run.output))

    @property
    def read(self) -> dict[str, str]:
        """What the history holds."""
        return _read(self.messages)


class DriverByName(Driver):
    """Drives an agent with a toolset of pydantic-ai's, one tool of which is guarded."""

    def make_toolset(self, job: Job) -> Any:
        """Return the agent's tools."""
        return guard_toolset(job.authority, FunctionToolset([job.function]), {job.name: job.options})


class Conversation:
    """A message history of a pydantic-ai agent, which is JSON between runs."""

    def __init__(self, authority: Authority, remind: Callable[[str], str]) -> None:
        def answer(*_: Any) -> ModelResponse:
            step = self.steps.pop(0) if self.steps else []
            calls = [ToolCallPart("remind", {"who": who}, tool_call_id=name) for name, who in step]
            return ModelResponse(parts=calls or [TextPart("Done.")])

        self.ledger, self.steps = authority.ledger, list[Any]()
        self.agent: Any = Agent(
            FunctionModel(answer), output_type=[str, DeferredToolRequests], toolsets=[self.guard(authority, remind)]
        )
        self.history = self.waited = (b"[]", b"")
        self.passed: dict[str, Any] = {}

    def guard(self, authority: Authority, remind: Callable[[str], str]) -> Any:
        """Return the toolset."""
        return as_toolset(authority.guard(remind))

    def say(self, text: str, *steps: Sequence[tuple[str, str]]) -> None:
        """Run the agent."""
        self.steps[:] = steps
        self._run(self.history[0], user_prompt=text)
        self.waited = self.history

    def resume(self, *, with_results: bool = True) -> None:
        """Run on with what the ledger says, or as a front end does, which claims that everything was approved."""
        requests = TypeAdapter(DeferredToolRequests).validate_json(self.history[1])
        results = build_results(self.ledger, requests)
        if not with_results:
            results = DeferredToolResults(approvals=dict.fromkeys(results.approvals, True))
        self._run(self.history[0], deferred_tool_results=results)

    def replay(self) -> None:
        """Run on from the history as it was."""
        self.history = self.waited
        self.resume()

    def _run(self, history: bytes, **more: Any) -> None:
        messages = ModelMessagesTypeAdapter.validate_json(history)
        run = asyncio.run(self.agent.run(message_history=messages, **self.passed, **more))
        output = run.output
        waits = TypeAdapter(DeferredToolRequests).dump_json(output) if not isinstance(output, str) else b""
        self.history = run.all_messages_json(), waits

    @property
    def results(self) -> list[str]:
        """What the history has."""
        parts = [part for message in json.loads(self.history[0]) for part in message["parts"]]
        return [part["content"] for part in parts if part["part_kind"] == "tool-return"]


class ConversationByName(Conversation):
    """A history of an agent whose toolset is guarded by name."""

    def guard(self, authority: Authority, remind: Callable[[str], str]) -> Any:
        """Return the toolset."""
        return guard_toolset(authority, FunctionToolset([remind]), {"remind": {}})
