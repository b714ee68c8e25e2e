"""An agent of the OpenAI Agents SDK, whose run is interrupted."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agents import Agent, RunConfig, Runner, RunState, UserError, function_tool
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call

from emitter.integrations.openai_agents import apply_answers, as_tool, guard_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agents.testing import ModelCall

    from emitter.authority import Authority
    from tests.integrations.agents import Job


def _read(items: Any) -> dict[str, str]:
    outputs = [each for each in items if isinstance(each, dict) and each.get("type") == "function_call_output"]
    return {each["call_id"]: each["output"] for each in outputs}


class Driver:
    """Drives the agent, and keeps its state as a string between runs."""

    def __init__(self, job: Job) -> None:
        def respond(call: ModelCall) -> Any:
            calls = job.script(_read(call.input))
            return [function_call(each.tool, each.arguments, call_id=each.id) for each in calls] or [
                assistant_message("Done.")
            ]

        model = ScriptedModel([ModelStep.respond(respond)] * 5)
        self.agent = Agent("assistant", model=model, tools=[self.make_tool(job)])
        self.saved = self.first = ""
        self.read: dict[str, str] = {}

    def make_tool(self, job: Job) -> Any:
        """Return the agent's tool."""
        return as_tool(job.tool)

    def start(self) -> None:
        """Run until it is interrupted."""
        asyncio.run(self._run("Tidy up."))
        self.first = self.saved

    def resume(self) -> None:
        """Run on from the state."""
        asyncio.run(self._resume(claims=False))

    def forge(self) -> None:
        """Approve every call in the state, for good."""
        with suppress(UserError):
            asyncio.run(self._resume(claims=True))

    def edit(self, call_id: str, arguments: dict[str, Any]) -> None:
        """Rewrite the calls in the string, and leave out the fingerprints by which the SDK would notice."""

        def rewrite(members: dict[str, Any]) -> dict[str, Any]:
            found = members.get("call_id") == call_id and "arguments" in members
            return {**members, "arguments": json.dumps(arguments)} if found else members

        state = json.loads(self.saved, object_hook=rewrite)
        state["context"]["tool_invocations"] = {}
        self.saved = json.dumps(state)

    def replay(self) -> None:
        """Run on from the first state."""
        self.saved = self.first
        self.resume()

    async def _resume(self, *, claims: bool) -> None:
        state = await RunState.from_string(self.agent, self.saved)
        for each in state.get_interruptions() if claims else ():
            state.approve(each, always_approve=True)
        await apply_answers(state)
        await self._run(state)

    async def _run(self, given: Any) -> None:
        result = await Runner.run(self.agent, given, run_config=RunConfig(tracing_disabled=True))
        self.read = _read(result.to_input_list())
        if result.interruptions:
            self.saved = result.to_state().to_string()


class DriverByName(Driver):
    """Drives an agent with a tool of the SDK's that is guarded."""

    def make_tool(self, job: Job) -> Any:
        """Return the agent's tool."""
        return guard_tool(job.authority, function_tool(job.function), **job.options)


class Conversation:
    """Runs of an agent of the OpenAI Agents SDK, each with the items of those before, and kept as a string."""

    def __init__(self, authority: Authority, remind: Callable[[str], str]) -> None:
        def respond(_: Any) -> Any:
            step = self.steps.pop(0) if self.steps else []
            calls = [function_call("remind", {"who": who}, call_id=name) for name, who in step]
            return calls or [assistant_message("Done.")]

        self.steps, self.items = list[Any](), list[Any]()
        model = ScriptedModel([ModelStep.respond(respond)] * 30)
        self.agent = Agent("assistant", model=model, tools=[self.guard(authority, remind)])
        self.saved = self.waited = ""
        self.load_options: dict[str, Any] = {}

    def guard(self, authority: Authority, remind: Callable[[str], str]) -> Any:
        """Return the tool."""
        return as_tool(authority.guard(remind))

    def say(self, text: str, *steps: Sequence[tuple[str, str]]) -> None:
        """Run the agent on the items so far."""
        self.steps[:] = steps
        asyncio.run(self._run([*self.items, {"role": "user", "content": text}]))
        self.waited = self.saved

    def resume(self) -> None:
        """Run on from the state."""
        asyncio.run(self._resume())

    def replay(self) -> None:
        """Run on from the state as it was."""
        self.saved = self.waited
        self.resume()

    async def _resume(self) -> None:
        state = await RunState.from_string(self.agent, self.saved, **self.load_options)
        await apply_answers(state)
        await self._run(state)

    async def _run(self, what: Any) -> None:
        result = await Runner.run(self.agent, what, run_config=RunConfig(tracing_disabled=True))
        self.items, self.saved = result.to_input_list(), result.to_state().to_string()

    @property
    def results(self) -> list[str]:
        """What the items have."""
        return [each["output"] for each in self.items if each.get("type") == "function_call_output"]


class ConversationByName(Conversation):
    """Runs of an agent whose function tool is guarded."""

    def guard(self, authority: Authority, remind: Callable[[str], str]) -> Any:
        """Return the tool."""
        return guard_tool(authority, function_tool(remind))
