"""A pydantic-ai agent whose tool waits for a decision.

    python examples/pydantic_ai_approval.py      # scripted, on a simulated vendor: no key, no network

The tool asks for approval with the arguments that a model chose. A model writes the briefing; the two options are
written here, from the call itself, since what a person approves must be what runs. The approving option carries a
digest of the call outside the envelope, and only that call is let through. Needs ``pydantic-ai-slim``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable

from pydantic import BaseModel, Field
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, RunContext, ToolApproved, ToolDenied
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from emitter import emit
from emitter.decisions import Act, Hold, Incorporate, Reopen, Resolution, select_option
from emitter.decisions.ledger import Ledger
from emitter.models import BindingMoment, Option, Question
from emitter.testing import Text, simulator

MODEL = "google/gemini-3.8-flash"

Principal = Callable[[BindingMoment], Resolution]


def agent(model: object) -> Agent[None, str | DeferredToolRequests]:
    """Return the agent and its one tool that changes something."""
    made = Agent(model, output_type=[str, DeferredToolRequests])

    @made.tool(requires_approval=True)
    def send_email(_: RunContext[None], to: str, subject: str) -> str:
        """Send an email."""
        return f"sent {subject!r} to {to}"

    return made


class Briefing(BaseModel):
    """What a model has to say about a call."""

    synopsis: str = Field(description="one sentence that says whether to make the call, and why")
    findings: list[str] = Field(description="three to six observations it rests on")
    recommendations: list[str] = Field(description="two to four moves, each beginning with a verb")
    why_make_it: str = Field(description="one line: why the principal might make the call")
    why_not: str = Field(description="one line: why the principal might not")
    make_it: bool = Field(description="what you recommend")


def envelope(call: ToolCallPart, said: Briefing) -> BindingMoment:
    """Return the decision about exactly this call."""
    options = [
        Option(label=f"Call {call.tool_name} with {call.args_as_json_str()}", reasoning=said.why_make_it),
        Option(label="Leave it undone", reasoning=said.why_not),
    ]
    return BindingMoment(
        synopsis=said.synopsis,
        findings=said.findings,
        recommendations=said.recommendations,
        offer="Ask for anything the agent knows about this.",
        question=Question.ask("Should this call be made, or left undone?", options, 0 if said.make_it else 1),
    )


def approved(call: ToolCallPart, ledger: Ledger, answer: Principal, client: object) -> ToolApproved | ToolDenied:
    """Ask the principal about one call."""
    situation = f"The agent wants to call {call.tool_name} with {call.args_as_json_str()}."
    moment = envelope(call, emit(Briefing, situation, model=MODEL, client=client).value)
    pending = ledger.open(moment, agent="assistant", actions=[fingerprint(call), None])
    resolved = ledger.resolve(pending.decision_id, answer(moment))
    match resolved.continuation:
        case Act() if resolved.action == fingerprint(call):
            return ToolApproved()
        case Act(option=option):
            return ToolDenied(f"The principal chose otherwise: {option.label}")
        case Incorporate(answer=words):
            return ToolDenied(f"The principal says: {words}")
        case Reopen(objection=words):
            return ToolDenied(f"This was the wrong question: {words}")
        case Hold():
            return ToolDenied("Nobody decided.")


def fingerprint(call: ToolCallPart) -> str:
    """Return the digest of exactly this call."""
    told = json.dumps([call.tool_name, call.args_as_dict()], sort_keys=True)
    return f"sha256:{hashlib.sha256(told.encode()).hexdigest()}"


BRIEFING = Briefing(
    synopsis="Send the invitation to mom now: the dinner is tomorrow.",
    findings=["The dinner is tomorrow at seven.", "Mom was not invited yet.", "She reads her mail in the morning."],
    recommendations=["Send the email to mom.", "Book the table once she answers."],
    why_make_it="She reads it before she makes other plans.",
    why_not="A call later would be warmer.",
    make_it=True,
)


def wants_to_write(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """Stand in for a model: call the tool first, then say what came of it."""
    returned = [part for each in messages for part in each.parts if isinstance(part, ToolReturnPart)]
    if returned:
        return ModelResponse([TextPart(f"Done: {returned[-1].content}")])
    return ModelResponse([ToolCallPart("send_email", {"to": "mom@example.org", "subject": "Dinner"}, "call-1")])


def take_the_first(moment: BindingMoment) -> Resolution:
    """Stand in for the principal."""
    return select_option(moment, 0)


def main() -> None:
    """Run the agent up to the tool call, ask, and let it end."""
    with simulator(answers=Text(BRIEFING.model_dump())) as vendor:
        assistant, ledger, client = agent(FunctionModel(wants_to_write)), Ledger(), vendor.client(MODEL)
        run = assistant.run_sync("Invite mom to dinner.")
        if not isinstance(run.output, DeferredToolRequests):
            raise SystemExit("The agent asked for nothing.")
        answers = {each.tool_call_id: approved(each, ledger, take_the_first, client) for each in run.output.approvals}
        ended = assistant.run_sync(
            message_history=run.all_messages(), deferred_tool_results=DeferredToolResults(approvals=answers)
        )
        print(ended.output)


if __name__ == "__main__":
    main()
