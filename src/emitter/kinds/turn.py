"""The form in which a model is asked: one object, four things it may be.

It is flatter than the payloads that come out of it, so that it fits the shallowest vendor (five levels),
and the model is not asked for what the caller decides (the hatches).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from emitter.kinds.binding_moment import (
    BINDING_MOMENT,
    MAX_OPTIONS,
    MIN_OPTIONS,
    BindingMoment,
    Hatches,
)
from emitter.kinds.withheld import (
    CLARIFICATION_REQUEST,
    DELIBERATION,
    ERROR,
    ClarificationRequest,
    Deliberation,
    ErrorReport,
)
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.wire import Json

Outcome: TypeAlias = BindingMoment | Deliberation | ClarificationRequest | ErrorReport

NAME = "binding_turn"

ERROR_CODES = ("validation_failed", "tool_call_refused", "context_exhausted", "ambiguous_intent")
"""OpenWOP's recommended values of ``error.code``."""

_TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
_ID: dict[str, Any] = {**_TEXT, "maxLength": 128}
_TEXTS: dict[str, Any] = {"type": "array", "items": {"type": "string"}}


def _object(optional: tuple[str, ...] = (), /, **properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def _form(kind: str, optional: tuple[str, ...] = (), /, **properties: dict[str, Any]) -> dict[str, Any]:
    return _object(optional, kind={"type": "string", "enum": [kind]}, **properties)


_OPTION = _object(label=_TEXT, reasoning=_TEXT)
_QUESTION = _object(
    stem=_TEXT,
    options={"type": "array", "items": _OPTION, "minItems": MIN_OPTIONS, "maxItems": MAX_OPTIONS},
    recommended_idx={"type": "integer", "enum": list(range(MAX_OPTIONS))},
)

SCHEMA: Mapping[str, Json] = _object(
    reasoning={"type": "string", "description": "Think here first, before the turn."},
    turn={
        "anyOf": [
            _form(
                BINDING_MOMENT,
                ("calibration_note", "decision_class"),
                synopsis=_TEXT,
                findings=_TEXTS,
                recommendations=_TEXTS,
                offer=_TEXT,
                question=_QUESTION,
                calibration_note={"type": "string"},
                decision_class={"type": "string"},
            ),
            _form(DELIBERATION, state=_TEXT, missing=_TEXTS, permission=_TEXT),
            _form(
                CLARIFICATION_REQUEST,
                questions={"type": "array", "minItems": 1, "items": _object(id=_ID, question=_TEXT)},
            ),
            _form(ERROR, code={"type": "string", "enum": list(ERROR_CODES)}, message=_TEXT),
        ]
    },
)
"""JSON Schema (2020-12) of the document that the model writes."""


def with_reasoning(document: Json) -> Json:
    """Return ``document`` with an empty ``reasoning`` where it has none, or null.

    A host must not reject an envelope for that (OpenWOP RFC 0030); asking for it as required is what makes
    every vendor write it first.
    """
    members = mapping(document)
    if document.__class__ is not dict or members.get("reasoning") is not None:
        return document
    return {"reasoning": "", **{name: each for name, each in members.items() if name != "reasoning"}}


def recommended_in_range(document: Json) -> bool:
    """Tell whether the recommended option exists, in a document that is valid against ``SCHEMA``."""
    question = document["turn"].get("question")
    return question is None or question["recommended_idx"] < len(question["options"])


def read(document: Json, hatches: Hatches, decision_class: str | None) -> Outcome:
    """Return what the model chose, from a document that is valid against ``SCHEMA`` and in range."""
    turn: dict[str, Any] = dict(document["turn"])
    kind: str = turn.pop("kind")
    if kind == BINDING_MOMENT:
        return _binding_moment(turn, hatches, decision_class)
    return _FORMS[kind].model_validate(turn)


_FORMS: dict[str, type[Deliberation | ClarificationRequest | ErrorReport]] = {
    DELIBERATION: Deliberation,
    CLARIFICATION_REQUEST: ClarificationRequest,
    ERROR: ErrorReport,
}


def recorded(kind: str, payload: Json) -> Outcome:
    """Return what an envelope's payload holds; raises ``ValidationError`` for one that ``payload`` did not make."""
    members = mapping(payload)
    if kind == BINDING_MOMENT:
        return BindingMoment.model_validate(members.get("binding_moment"))
    rest = {name: each for name, each in members.items() if name != "reasoning"}
    return _FORMS.get(kind, Deliberation).model_validate(rest)


def _binding_moment(turn: dict[str, Any], hatches: Hatches, decision_class: str | None) -> BindingMoment:
    note = turn.pop("calibration_note", "")
    named = turn.pop("decision_class", "")
    said = {"decision_class": decision_class or named, "calibration_note": note}
    meta = {name: text for name, text in said.items() if text.strip()}
    asked = turn["question"]
    # JSON Schema counts 1.0 as an integer
    turn["question"] = {**asked, "recommended_idx": int(asked["recommended_idx"]), "hatches": hatches}
    return BindingMoment.model_validate({**turn, "meta": meta} if meta else turn)


def document(outcome: Outcome, reasoning: str = "") -> dict[str, Json]:
    """Return the document that a model would write for ``outcome``: what ``read`` makes it of."""
    said = outcome.model_dump(mode="json", exclude_none=True)
    if isinstance(outcome, BindingMoment):
        said |= said.pop("meta", {})
        said["question"] = {key: said["question"][key] for key in _QUESTION["properties"]}
    return {"reasoning": reasoning, "turn": {"kind": kind_of(outcome), **said}}


def payload(outcome: Outcome, reasoning: str) -> dict[str, Json]:
    """Return the envelope's payload; an empty ``reasoning`` is left out."""
    body: dict[str, Json] = (
        {"binding_moment": outcome.to_json()} if isinstance(outcome, BindingMoment) else outcome.model_dump(mode="json")
    )
    return {"reasoning": reasoning, **body} if reasoning else body


def kind_of(outcome: Outcome) -> str:
    """Return the kind's id."""
    match outcome:
        case BindingMoment():
            return BINDING_MOMENT
        case Deliberation():
            return DELIBERATION
        case ClarificationRequest():
            return CLARIFICATION_REQUEST
        case ErrorReport():
            return ERROR
