"""The document of the validation benchmark: a binding moment of about 2 KB, and its form as pydantic models.

pydantic validates models and no schemas, so it can only be measured fairly where someone wrote the model; the models
say what ``emitter.models.binding_moment.TURN_SCHEMA`` says, rule for rule.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

DOCUMENT: dict[str, Any] = {
    "reasoning": (
        "The migration is reversible until the old column is dropped, and the load is lowest between two and four "
        "at night. Waiting until Monday costs the reporting team one more week of wrong totals, but it has the whole "
        "team at hand. The rehearsal took eleven minutes on a copy of the same size, so the window is wide enough. "
        "What I cannot judge is how much another week of wrong totals matters to the finance department."
    ),
    "turn": {
        "kind": "vendor.emitter.binding-moment",
        "synopsis": (
            "The migration of the orders table is rehearsed and ready; it can run tonight in the quiet window, or on "
            "Monday with the whole team present."
        ),
        "findings": [
            "The rehearsal on a full copy took 11 minutes and 4 seconds, and every check afterwards was green.",
            "Between two and four at night the table sees 0.3 % of the day's writes.",
            "Rolling back takes 90 seconds as long as the old column is kept.",
            "The reporting team has shown wrong totals since the fourteenth; two customers have asked about them.",
            "Nobody of the on-call rota has run this migration before; its author can be reached by telephone.",
        ],
        "recommendations": [
            "Keep the old column for a week, whichever night is chosen.",
            "Tell the reporting team the hour at which the totals become right.",
        ],
        "offer": "I can show the log of the rehearsal, the exact statements, and the plan for rolling back.",
        "question": {
            "stem": "When does the migration of the orders table run?",
            "options": [
                {
                    "label": "Tonight at two",
                    "reasoning": "The quiet window is wide enough, and the totals are right a week earlier.",
                },
                {
                    "label": "Monday at ten",
                    "reasoning": "The whole team is present if something unforeseen happens.",
                },
                {
                    "label": "Not before the audit",
                    "reasoning": "Nothing changes in the books while the auditors read them.",
                },
            ],
            "recommended_idx": 0,
        },
        "calibration_note": "The length of the window is measured; the cost of another week is the team's estimate.",
        "decision_class": "operations",
    },
}

_Text = Annotated[str, Field(min_length=1)]
_Id = Annotated[str, Field(min_length=1, max_length=128)]


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Option(_Closed):
    label: _Text
    reasoning: _Text


class _Question(_Closed):
    stem: _Text
    options: Annotated[list[_Option], Field(min_length=2, max_length=4)]
    recommended_idx: Literal[0, 1, 2, 3]


class _Moment(_Closed):
    kind: Literal["vendor.emitter.binding-moment"]
    synopsis: _Text
    findings: list[str]
    recommendations: list[str]
    offer: _Text
    question: _Question
    calibration_note: str = ""
    decision_class: str = ""


class _Deliberation(_Closed):
    kind: Literal["vendor.emitter.deliberation"]
    state: _Text
    missing: list[str]
    permission: _Text


class _Asked(_Closed):
    id: _Id
    question: _Text


class _Clarification(_Closed):
    kind: Literal["clarification.request"]
    questions: Annotated[list[_Asked], Field(min_length=1)]


class _Error(_Closed):
    kind: Literal["error"]
    code: Literal["validation_failed", "tool_call_refused", "context_exhausted", "ambiguous_intent"]
    message: _Text


class Turn(_Closed):
    """The model's turn, as a pydantic user writes it: with a discriminator."""

    reasoning: str
    turn: Annotated[_Moment | _Deliberation | _Clarification | _Error, Field(discriminator="kind")]
