"""What the scripted model says: documents in the form that is asked for, and ways to spoil them."""

from __future__ import annotations

import json
from typing import Any

BOUND: dict[str, Any] = {
    "reasoning": (
        "The lock holder is gone, so the cause of the failure is gone. Going on ends the half-moved state about "
        "five hours before the peak; rolling back is quicker but throws away 61 partitions and has to be repeated."
    ),
    "turn": {
        "kind": "vendor.emitter.binding-moment",
        "synopsis": "Resume the migration from partition 62 now, so that it ends well before the 08:00 peak.",
        "findings": [
            "The report that held the lock has ended, so the same timeout is not expected again.",
            "87 partitions remain, about 50 minutes of work.",
            "A half-done state at peak would add about 40 ms to each checkout.",
        ],
        "recommendations": [
            "Resume from partition 62 with the same batch size.",
            "Block long-running reports on the orders table until 04:00.",
        ],
        "offer": "Ask for the lock log or the partition list on any item.",
        "question": {
            "stem": "How should the interrupted migration of the orders table be handled tonight?",
            "options": [
                {
                    "label": "Resume from partition 62 now",
                    "reasoning": "Ends the half-moved state before the peak, at the cost of 50 minutes of load.",
                },
                {
                    "label": "Roll back now",
                    "reasoning": "Back to a known state in 12 minutes, but the work has to be done again.",
                },
                {
                    "label": "Leave it until 09:00",
                    "reasoning": "The database team is present, but checkout runs slower through the peak.",
                },
            ],
            "recommended_idx": 0,
        },
    },
}

DELIBERATION: dict[str, Any] = {
    "reasoning": "Nothing here says whether the report will start again, and the answer turns on that.",
    "turn": {
        "kind": "vendor.emitter.deliberation",
        "state": "Resuming looks right if the lock does not return, and rolling back looks right if it does.",
        "missing": ["Whether the report is scheduled again before 04:00.", "The lock timeout now in force."],
        "permission": "May I read the report's schedule and the lock settings before I recommend a step?",
    },
}

_QUESTION: dict[str, Any] = BOUND["turn"]["question"]

TYPED: dict[str, Any] = {"vendor": "Acme", "total": 12.5}
INVOICE: dict[str, Any] = {"vendor": "Acme", "total": 12.5, "due": "2027-01-31"}
"""What the README's own form is answered with."""

BROKEN_WORD = "quxillious"
"""Stands in the answer that breaks the schema, and must stand in nothing that is sent afterwards."""

VIOLATED: dict[str, Any] = {
    "reasoning": f"A {BROKEN_WORD} case.",
    "turn": {
        **BOUND["turn"],
        "synopsis": f"Resume the {BROKEN_WORD} migration.",
        "question": {**_QUESTION, "recommended_idx": 3, "options": _QUESTION["options"][:1]},
    },
}

PROSE_ONLY = f"I would resume the {BROKEN_WORD} migration, since the report has ended and the peak is far away."

REFUSAL_TEXT = "I cannot help with that request."


def text(document: dict[str, Any]) -> str:
    """Return the document as the model writes it."""
    return json.dumps(document, ensure_ascii=False)


def cut(document: dict[str, Any], share: float) -> str:
    """Return the first part of the document's text."""
    whole = text(document)
    return whole[: int(len(whole) * share)]


def fenced(document: dict[str, Any]) -> str:
    """Return the document in a Markdown fence."""
    return f"```json\n{json.dumps(document, ensure_ascii=False, indent=2)}\n```"


def in_prose(document: dict[str, Any]) -> str:
    """Return the document with words around it."""
    return f"Here is the decision you asked for:\n\n{text(document)}\n\nTell me if you need anything else."
