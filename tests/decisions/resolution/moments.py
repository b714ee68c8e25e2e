"""Envelopes to resolve."""

from __future__ import annotations

from emitter.models import BindingMoment, Hatches, Option, Question


def moment(synopsis: str = "Release the payment.", *, hatches: tuple[bool, bool] = (True, True)) -> BindingMoment:
    """Return an envelope of two options; ``hatches`` are the free text's and the dialogue's."""
    options = [
        Option(label="Release", reasoning="The checks passed."),
        Option(label="Hold", reasoning="A further review can be asked for."),
    ]
    return BindingMoment(
        synopsis=synopsis,
        findings=("The amount matches.",),
        recommendations=("Release the payment.", "Tell the payee."),
        offer="Ask for the invoice.",
        question=Question.ask(
            "What is to be done with the payment?", options, 0, Hatches(free_text=hatches[0], dialogue=hatches[1])
        ),
    )
