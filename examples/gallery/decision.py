"""The decision that is drawn."""

from __future__ import annotations

from emitter.models import BindingMoment, Meta, Option, Question

MOMENT = BindingMoment(
    synopsis="Resume the migration from partition 62 now, so that it ends well before the 08:00 peak.",
    findings=(
        "The report that held the lock has ended, so the same timeout is not expected again.",
        "87 partitions remain, about 50 minutes of work.",
        "A half-done state at peak would add about 40 ms to each checkout.",
    ),
    recommendations=(
        "Resume from partition 62 with the same batch size.",
        "Block long-running reports on the orders table until 04:00.",
    ),
    offer="Ask for the lock log or the partition list on any item.",
    question=Question.ask(
        "How should the interrupted migration of the orders table be handled tonight?",
        [
            Option(
                label="Resume from partition 62 now",
                reasoning="Ends the half-moved state before the peak, at the cost of 50 minutes of load.",
            ),
            Option(
                label="Roll back now",
                reasoning="Back to a known state in 12 minutes, but the work has to be done again.",
            ),
            Option(
                label="Leave it until 09:00",
                reasoning="The database team is present, but checkout runs slower through the peak.",
            ),
        ],
        0,
    ),
    meta=Meta(decision_class="operations"),
)
