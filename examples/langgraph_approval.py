"""A LangGraph agent that pauses its graph for a decision.

    python examples/langgraph_approval.py        # scripted, on a simulated vendor: no key, no network

A node emits the envelope, the next hands it to ``interrupt``; the graph sleeps in its checkpointer until somebody
resumes it with a resolution, which must answer the very envelope that was asked. The envelope is made in its own node:
LangGraph runs a node from its beginning when it is resumed. Needs ``langgraph``.
"""

from __future__ import annotations

from functools import partial
from typing import Any, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from emitter import Withheld, emit_binding_moment
from emitter.decisions import Act, Continuation, Hold, Incorporate, Reopen, continue_after, select_option
from emitter.decisions.resolution import resolution_from_json, resolution_to_json
from emitter.models import BindingMoment, Option, Question
from emitter.testing import simulator, write_decision

MODEL = "anthropic/claude-sonnet-5-5"


class State(TypedDict, total=False):
    """What the graph carries: the situation, the envelope as JSON, and what was done."""

    situation: str
    moment: dict[str, Any]
    done: str


def graph(client: object) -> Any:
    """Return the compiled graph."""
    steps = StateGraph(State)
    steps.add_node("decide", partial(decide, client=client))
    steps.add_node("ask", ask)
    steps.add_edge(START, "decide")
    steps.add_conditional_edges("decide", lambda state: "ask" if "moment" in state else END)
    steps.add_edge("ask", END)
    return steps.compile(checkpointer=InMemorySaver())


def decide(state: State, *, client: object) -> State:
    """Emit the envelope."""
    decision = emit_binding_moment(state["situation"], model=MODEL, client=client)
    if isinstance(decision, Withheld):
        return {"done": "nothing: the agent needs to think first"}
    return {"moment": decision.value.to_json()}


def ask(state: State) -> State:
    """Sleep until somebody answers, and say what the answer allows."""
    answer = interrupt({"binding_moment": state["moment"]})
    return {
        "done": settled(continue_after(resolution_from_json(answer), BindingMoment.model_validate(state["moment"])))
    }


def settled(told: Continuation) -> str:
    """Return what is done after an answer."""
    match told:
        case Act(option=option):
            return option.label
        case Incorporate(answer=words):
            return f"as the principal said: {words}"
        case Reopen():
            return "nothing: the question was refused"
        case Hold():
            return "nothing: nobody decided"


MOMENT = BindingMoment(
    synopsis="Refund the order in full: the parcel was lost by the carrier.",
    findings=("The carrier confirmed the loss.", "The order is worth 84 euros.", "The customer has no other claim."),
    recommendations=("Refund 84 euros.", "Claim the sum from the carrier."),
    offer="Ask for the carrier's letter.",
    question=Question.ask(
        "How should the lost parcel be settled?",
        [
            Option(label="Refund 84 euros", reasoning="The customer is made whole today."),
            Option(label="Send the goods again", reasoning="The customer still gets what they ordered."),
        ],
        0,
    ),
)


def main() -> None:
    """Run the graph to its pause, answer, and let it end."""
    with simulator(answers=write_decision(MOMENT)) as vendor:
        running = graph(vendor.client(MODEL))
        thread = {"configurable": {"thread_id": "order-1"}}
        paused = running.invoke({"situation": "The parcel of order 1 was lost."}, thread)
        asked = BindingMoment.model_validate(paused["__interrupt__"][0].value["binding_moment"])
        print(asked.synopsis)
        ended = running.invoke(Command(resume=resolution_to_json(select_option(asked, 0))), thread)
        print(f"did: {ended['done']}")


if __name__ == "__main__":
    main()
