"""An agent that binds, is vetoed, deliberates, and binds again.

    python examples/agent_loop.py                              # scripted, on a simulated vendor: no key, no network
    python examples/agent_loop.py --model openai/gpt-6-sol     # a real model, and you are the principal

The principal refuses the first question. The agent may then not put it again: it gathers what was missing, and asks the
question that follows from the objection. Only what the principal chose is done.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from emitter import Material, Withheld, emit_binding_moment
from emitter.decisions import Act, Continuation, Hold, Resolution, Unresolved, open_dialogue, select_option
from emitter.decisions.ledger import Ledger
from emitter.models import BindingMoment, Deliberation, Option, Question
from emitter.render import text_formats
from emitter.testing import simulator, write_decision

if TYPE_CHECKING:
    from emitter.decisions.ledger_entries import PendingDecision

SITUATION = """\
The repository holds 14 branches that nobody touched for 90 days. 11 of them are merged. The weekly job that deletes \
stale branches runs in an hour."""

Principal = Callable[[BindingMoment], Resolution | Unresolved]


def run(principal: Principal, *, model: str, client: object = None) -> str:
    """Return what the agent did in the end."""
    ledger = Ledger()
    materials: list[Material] = []
    after: list[Continuation] = []
    for _ in range(5):
        decision = emit_binding_moment(SITUATION, model=model, client=client, materials=materials, after=after)
        if isinstance(decision, Withheld):  # the agent's veto: it cannot commit yet
            print(text_formats.format_withheld(decision.reason))
            materials.append(look_into(decision.reason))
            continue
        told = answered(principal, ledger.open(decision.value, agent="janitor"), ledger)
        match told:
            case Act(option=option):
                return f"did: {option.label}"
            case Hold():
                return "did nothing: nobody decided"
            case _:
                after.append(told)  # the next envelope must take it up
    return "did nothing: no question was answered"


def answered(principal: Principal, pending: PendingDecision, ledger: Ledger) -> Continuation:
    """Ask the principal, and return what the answer allows."""
    print(text_formats.format_moment(pending.moment))
    answer = principal(pending.moment)
    if isinstance(answer, Unresolved):
        return Hold(pending.moment, answer.reason)
    print(f"\n> {answer}\n")
    return ledger.resolve(pending.decision_id, answer).continuation


def look_into(reason: object) -> Material:
    """Find out what the agent lacks; here it is known already."""
    missing = reason.missing if isinstance(reason, Deliberation) else ()
    return Material("The three unmerged branches are Ada's, who is on leave until Monday.", f"looked up {missing}")


OFFER = "Ask for the list of branches."
FIRST = BindingMoment(
    synopsis="Delete all 14 stale branches now, before the weekly job does it without a record.",
    findings=("14 branches are older than 90 days.", "11 are merged.", "The job keeps no list of what it deletes."),
    recommendations=("Delete the branches now.", "Keep a list of the deleted heads."),
    offer=OFFER,
    question=Question.ask(
        "What should happen to the stale branches?",
        [
            Option(label="Delete all 14", reasoning="The repository is clean before the release."),
            Option(label="Delete the 11 merged ones", reasoning="Nothing unmerged is touched."),
        ],
        0,
    ),
)
DELIBERATION = Deliberation(
    state="Whose work the three unmerged branches hold is not known to me.",
    missing=("the authors of the unmerged branches",),
    permission="May I look up the authors before I ask again?",
)
SECOND = BindingMoment(
    synopsis="Stop the weekly job until Ada, the author of all three unmerged branches, is back on Monday.",
    findings=(
        "All three unmerged branches have one author, Ada.",
        "Ada is on leave until Monday.",
        "The job runs in an hour and cannot tell merged from unmerged.",
    ),
    recommendations=("Pause the job until Monday.", "Ask Ada which branches she needs."),
    offer=OFFER,
    question=Question.ask(
        "Should the weekly job run today, or after the author is back?",
        [
            Option(label="Pause the job until Monday", reasoning="Nobody's unmerged work can be lost."),
            Option(label="Run the job today, spare the three", reasoning="The merged ones go at once."),
        ],
        0,
    ),
)


def scripted() -> Principal:
    """Return a principal who refuses the first question and takes the second's recommendation."""
    objections = iter(["You do not know whose unmerged work this is. Find the author first."])

    def answer(moment: BindingMoment) -> Resolution:
        objection = next(objections, None)
        return (
            select_option(moment, moment.question.recommended_idx)
            if objection is None
            else open_dialogue(moment, objection)
        )

    return answer


def main() -> None:
    """Run the loop, scripted or with a real model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", metavar="M", help="vendor/model; you answer at the terminal")
    asked = parser.parse_args()
    if asked.model:
        from emitter.terminal import ask  # noqa: PLC0415  only here is a person asked

        print(run(ask, model=asked.model))
        return
    with simulator() as vendor:
        vendor.script(write_decision(FIRST), write_decision(DELIBERATION), write_decision(SECOND))
        model = "openai/gpt-6-sol"
        print(run(scripted(), model=model, client=vendor.client(model)))


if __name__ == "__main__":
    main()
