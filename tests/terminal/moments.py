"""Decisions to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.models import BindingMoment, Hatches, Meta, Option, Question

if TYPE_CHECKING:
    from collections.abc import Iterable

_OPTIONS = (
    ("Release the payment", "Everything matches, and waiting costs EUR 368."),
    ("Hold it until Monday", "The controller sees it first; the discount is lost."),
    ("Pay half now", "Limits what is at stake, at the price of a second booking and a call to the accounts."),
    ("Send it back", "Starts over with a corrected invoice."),
)


def invoice(
    count: int = 3,
    *,
    free_text: bool = True,
    dialogue: bool = True,
    options: Iterable[tuple[str, str]] = _OPTIONS,
    stem: str = "What should happen with Norwind's invoice today?",
) -> BindingMoment:
    """Return a decision about an invoice, the second option recommended."""
    return BindingMoment(
        synopsis="Hold Norwind's invoice until Monday; the bank details changed last week.",
        findings=(
            "The invoice matches purchase order 4471 line by line.",
            "Norwind's bank details changed on Thursday.",
            "The 2 % discount (EUR 368) ends at midnight.",
        ),
        recommendations=("Ask Norwind by telephone.", "File the invoice under project Aurora."),
        offer="Ask for detail on any item.",
        question=Question(
            stem=stem,
            options=tuple(Option(label=label, reasoning=reasoning) for label, reasoning in list(options)[:count]),
            recommended_idx=1,
            hatches=Hatches(free_text=free_text, dialogue=dialogue),
        ),
        meta=Meta(calibration_note="I called this routine an hour ago."),
    )


INVOICE = invoice()
