"""Model a binding moment and the other answers of a decision turn.

``BindingMoment`` is one closed object with eight slots. An agent that does not decide returns ``Deliberation``,
``ClarificationRequest`` or ``ErrorReport``. ``TURN_SCHEMA`` is the union of the four that a model fills in. It is
flatter than the payloads, because some vendors allow only five levels, and has no hatches, which the caller sets.

Source: draft-morrison-binding-moment-envelope-00, sections 4 to 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from emitter.messages import as_mapping
from emitter.models.envelope import REJECT_NULL, ClosedModel
from emitter.models.standard_kinds import (
    BINDING_MOMENT,
    CLARIFICATION_REQUEST,
    DELIBERATION,
    ERROR,
    ID_SCHEMA,
    NONEMPTY_TEXT_SCHEMA,
    closed_schema,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Self

    from emitter.messages import Json

MIN_OPTIONS = 2
MAX_OPTIONS = 4


def _reject_lone_surrogate(text: str) -> str:
    """Reject a lone surrogate, which cannot be encoded or digested."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError("a string holds half of a surrogate pair") from error
    return text


Text: TypeAlias = Annotated[str, AfterValidator(_reject_lone_surrogate)]


class Option(ClosedModel):
    """One answer to the question, with its reasoning on one line (section 5.6)."""

    label: Text
    reasoning: Text


class Hatches(ClosedModel):
    """The principal's two vetoes: another answer, or another question (section 5.8)."""

    free_text: bool
    dialogue: bool


OPEN_HATCHES = Hatches(free_text=True, dialogue=True)
"""Both vetoes open, the default."""


class Question(ClosedModel):
    """The stem, the options, the recommended option and the hatches (sections 5.5 to 5.8)."""

    stem: Text
    options: Annotated[tuple[Option, ...], Field(strict=False, min_length=MIN_OPTIONS, max_length=MAX_OPTIONS)]
    recommended_idx: Annotated[int, Field(ge=0)]
    hatches: Hatches

    @classmethod
    def ask(cls, stem: str, options: Iterable[Option], recommended_idx: int, hatches: Hatches = OPEN_HATCHES) -> Self:
        """Create a question. Both hatches are open by default."""
        return cls(stem=stem, options=tuple(options), recommended_idx=recommended_idx, hatches=hatches)

    @model_validator(mode="after")
    def _index_in_range(self) -> Self:
        if self.recommended_idx >= len(self.options):
            raise ValueError("recommended_idx must be below the number of options")
        return self

    @property
    def recommended(self) -> Option:
        """The option that the agent recommends."""
        return self.options[self.recommended_idx]


class Meta(ClosedModel):
    """Optional information for surfaces (section 5.9)."""

    decision_class: Annotated[Text | None, REJECT_NULL] = None
    calibration_note: Annotated[Text | None, REJECT_NULL] = None


class BindingMoment(ClosedModel):
    """A decision that is ready for its principal."""

    synopsis: Text
    findings: Annotated[tuple[Text, ...], Field(strict=False)]
    recommendations: Annotated[tuple[Text, ...], Field(strict=False)]
    offer: Text
    question: Question
    meta: Annotated[Meta | None, REJECT_NULL] = None

    def to_json(self) -> dict[str, Json]:
        """Return the wire form, without absent members."""
        return self.model_dump(mode="json", exclude_none=True)


class Deliberation(ClosedModel):
    """The agent cannot decide yet: its state, the missing information, and the step that it asks permission for."""

    state: str
    missing: Annotated[tuple[str, ...], Field(strict=False)]
    permission: str


class Clarification(ClosedModel):
    """One question to the principal."""

    id: str
    question: str


class ClarificationRequest(ClosedModel):
    """The agent needs answers before it can deliberate."""

    questions: Annotated[tuple[Clarification, ...], Field(strict=False, min_length=1)]


class ErrorReport(ClosedModel):
    """The agent cannot do the task."""

    code: str
    message: str


TurnAnswer: TypeAlias = BindingMoment | Deliberation | ClarificationRequest | ErrorReport
TURN_SCHEMA_NAME = "binding_turn"
ERROR_CODES = ("validation_failed", "tool_call_refused", "context_exhausted", "ambiguous_intent")
"""The values that OpenWOP recommends for ``error.code``."""
_MAX_LISTED = 16
"""The most entries of a list. A small model repeats itself in a list without an end."""
_TEXT_LIST_SCHEMA: dict[str, Any] = {"type": "array", "items": {"type": "string"}, "maxItems": _MAX_LISTED}


def _variant_schema(kind: str, optional: tuple[str, ...] = (), /, **properties: dict[str, Any]) -> dict[str, Any]:
    return closed_schema(optional, kind={"type": "string", "enum": [kind]}, **properties)


_OPTION_SCHEMA = closed_schema(label=NONEMPTY_TEXT_SCHEMA, reasoning=NONEMPTY_TEXT_SCHEMA)
_QUESTION_SCHEMA = closed_schema(
    stem=NONEMPTY_TEXT_SCHEMA,
    options={"type": "array", "items": _OPTION_SCHEMA, "minItems": MIN_OPTIONS, "maxItems": MAX_OPTIONS},
    recommended_idx={"type": "integer", "enum": list(range(MAX_OPTIONS))},
)
TURN_SCHEMA: Mapping[str, Json] = closed_schema(
    reasoning={"type": "string", "description": "Think here first, before the turn."},
    turn={
        "anyOf": [
            _variant_schema(
                BINDING_MOMENT,
                ("calibration_note", "decision_class"),
                synopsis=NONEMPTY_TEXT_SCHEMA,
                findings=_TEXT_LIST_SCHEMA,
                recommendations=_TEXT_LIST_SCHEMA,
                offer=NONEMPTY_TEXT_SCHEMA,
                question=_QUESTION_SCHEMA,
                calibration_note={"type": "string"},
                decision_class={"type": "string"},
            ),
            _variant_schema(
                DELIBERATION, state=NONEMPTY_TEXT_SCHEMA, missing=_TEXT_LIST_SCHEMA, permission=NONEMPTY_TEXT_SCHEMA
            ),
            _variant_schema(
                CLARIFICATION_REQUEST,
                questions={
                    "type": "array",
                    "minItems": 1,
                    "maxItems": _MAX_LISTED,
                    "items": closed_schema(id=ID_SCHEMA, question=NONEMPTY_TEXT_SCHEMA),
                },
            ),
            _variant_schema(ERROR, code={"type": "string", "enum": list(ERROR_CODES)}, message=NONEMPTY_TEXT_SCHEMA),
        ]
    },
)
"""The JSON Schema (2020-12) of the document that the model writes."""


def add_reasoning(document: Json) -> Json:
    """Return the document with an empty ``reasoning`` if it has none, which a host must accept (OpenWOP RFC 0030)."""
    members = as_mapping(document)
    if document.__class__ is not dict or members.get("reasoning") is not None:
        return document
    return {"reasoning": "", **{name: value for name, value in members.items() if name != "reasoning"}}


def is_recommendation_in_range(document: Json) -> bool:
    """Return whether the recommended option of a schema-valid document exists."""
    question = document["turn"].get("question")
    return question is None or question["recommended_idx"] < len(question["options"])


def parse_turn(document: Json, hatches: Hatches, decision_class: str | None) -> TurnAnswer:
    """Parse the answer in a schema-valid document whose recommendation is in range."""
    turn: dict[str, Any] = dict(document["turn"])
    kind: str = turn.pop("kind")
    if kind == BINDING_MOMENT:
        return _parse_binding_moment(turn, hatches, decision_class)
    return _WITHHELD_MODELS[kind].model_validate(turn)


_WITHHELD_MODELS: dict[str, type[Deliberation | ClarificationRequest | ErrorReport]] = {
    DELIBERATION: Deliberation,
    CLARIFICATION_REQUEST: ClarificationRequest,
    ERROR: ErrorReport,
}


def parse_recorded_turn(kind: str, payload: Json) -> TurnAnswer:
    """Parse the payload of an envelope; raise ``ValidationError`` for one that ``turn_payload`` did not create."""
    members = as_mapping(payload)
    if kind == BINDING_MOMENT:
        return BindingMoment.model_validate(members.get("binding_moment"))
    body = {name: value for name, value in members.items() if name != "reasoning"}
    return _WITHHELD_MODELS.get(kind, Deliberation).model_validate(body)


def _parse_binding_moment(turn: dict[str, Any], hatches: Hatches, decision_class: str | None) -> BindingMoment:
    note = turn.pop("calibration_note", "")
    suggested = turn.pop("decision_class", "")
    texts = {"decision_class": decision_class or suggested, "calibration_note": note}
    meta = {name: text for name, text in texts.items() if text.strip()}
    question = turn["question"]
    # JSON Schema counts 1.0 as an integer
    turn["question"] = {**question, "recommended_idx": int(question["recommended_idx"]), "hatches": hatches}
    return BindingMoment.model_validate({**turn, "meta": meta} if meta else turn)


def turn_document(answer: TurnAnswer, reasoning: str = "") -> dict[str, Json]:
    """Return the document that ``parse_turn`` parses to ``answer``."""
    body = answer.model_dump(mode="json", exclude_none=True)
    if isinstance(answer, BindingMoment):
        body |= body.pop("meta", {})
        body["question"] = {key: body["question"][key] for key in _QUESTION_SCHEMA["properties"]}
    return {"reasoning": reasoning, "turn": {"kind": kind_of(answer), **body}}


def turn_payload(answer: TurnAnswer, reasoning: str) -> dict[str, Json]:
    """Return the envelope's payload. An empty ``reasoning`` is left out."""
    body: dict[str, Json] = (
        {"binding_moment": answer.to_json()} if isinstance(answer, BindingMoment) else answer.model_dump(mode="json")
    )
    return {"reasoning": reasoning, **body} if reasoning else body


def kind_of(answer: TurnAnswer) -> str:
    """Return the kind of an answer."""
    match answer:
        case BindingMoment():
            return BINDING_MOMENT
        case Deliberation():
            return DELIBERATION
        case ClarificationRequest():
            return CLARIFICATION_REQUEST
        case ErrorReport():
            return ERROR
