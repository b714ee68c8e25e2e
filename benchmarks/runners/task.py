"""The task that every library is given: one decision, written as the pydantic model that a user would write.

Nothing but pydantic is imported here, because each library's own environment runs it.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel

PROMPT = (
    "The migration of the orders table is rehearsed: 11 minutes on a full copy, every check green. The table is quiet "
    "between two and four at night; the whole team is here on Monday. The reporting team shows wrong totals until it "
    "has run, and the auditors read the books until Friday. Put the decision when it runs to the person in charge."
)
BUDGET = 1024
"""The output budget in tokens that every library is given first."""
MODELS = {
    "openai-responses": "gpt-6-sol",
    "openai-chat": "gpt-6-sol",
    "anthropic": "claude-opus-5",
    "google": "gemini-3.8-flash",
}
"""The model that is asked for on each wire."""


class Option(BaseModel):
    """One way to go."""

    label: str
    reasoning: str


class Question(BaseModel):
    """What is to be decided."""

    stem: str
    options: list[Option]
    recommended_idx: int


class Moment(BaseModel):
    """A decision, ready for the person who makes it."""

    reasoning: str
    synopsis: str
    findings: list[str]
    recommendations: list[str]
    offer: str
    question: Question


class Section(BaseModel):
    """A part of a report."""

    heading: str
    text: str


class Report(BaseModel):
    """An answer of any length."""

    title: str
    sections: list[Section]


WHOLE: dict[str, Any] = {
    "reasoning": (
        "The migration is reversible until the old column is dropped, and the load is lowest between two and four at "
        "night. Waiting until Monday costs the reporting team one more week of wrong totals, but has the whole team at "
        "hand. What I cannot judge is how much another week of wrong totals matters to the finance department."
    ),
    "synopsis": "The migration is rehearsed and ready; it can run tonight in the quiet window, or on Monday.",
    "findings": [
        "The rehearsal on a full copy took 11 minutes and 4 seconds, and every check afterwards was green.",
        "Between two and four at night the table sees 0.3 % of the day's writes.",
        "Rolling back takes 90 seconds as long as the old column is kept.",
    ],
    "recommendations": [
        "Keep the old column for a week, whichever night is chosen.",
        "Tell the reporting team the hour at which the totals become right.",
    ],
    "offer": "I can show the log of the rehearsal, the exact statements, and the plan for rolling back.",
    "question": {
        "stem": "When does the migration of the orders table run?",
        "options": [
            {"label": "Tonight at two", "reasoning": "The window is wide enough, and the totals are right earlier."},
            {"label": "Monday at ten", "reasoning": "The whole team is present if something unforeseen happens."},
            {"label": "Not before the audit", "reasoning": "Nothing changes in the books while the auditors read."},
            {"label": "Never", "reasoning": "The old totals stay wrong, and nothing else can break."},
        ],
        "recommended_idx": 0,
    },
}
"""The right answer."""

STUB = {**WHOLE, "question": {**WHOLE["question"], "options": WHOLE["question"]["options"][:2]}}
"""What was written when the budget ran out, closed: valid in every way, and two of four options are missing."""

BROKEN = {name: each for name, each in WHOLE.items() if name != "question"}
"""A document without a part that its form requires."""


def report(size: int) -> dict[str, Any]:
    """Return a report of about so many bytes of JSON, in short sections."""
    sections: list[dict[str, str]] = []
    length = 0
    while length < size:
        index = len(sections)
        section = {
            "heading": f"Finding {index}",
            "text": f"The lock of {index} is gone, so we go on with what was left.",
        }
        sections.append(section)
        length += len(json.dumps(section)) + 1
    return {"title": "A report", "sections": sections}
