"""What the model chose: everything the schema admits can be read, and what comes out is OpenWOP's."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from emitter.models import (
    OPEN_HATCHES,
    AIEnvelope,
    BindingMoment,
    ClarificationRequest,
    EnvelopeMeta,
    EnvelopeSource,
    ErrorReport,
    Hatches,
    Trust,
    binding_moment,
)
from tests.models.openwop import errors, needs_schemas
from tests.scenarios.answers import BOUND, DELIBERATION

IS_VALID = jsonschema_rs.validator_for(dict(binding_moment.TURN_SCHEMA)).is_valid
PAYLOADS = {ClarificationRequest: "clarification.request", ErrorReport: "error"}

CLARIFICATION = {
    "reasoning": "",
    "turn": {"kind": "clarification.request", "questions": [{"id": "when", "question": "When?"}]},
}
ERROR = {"reasoning": "x", "turn": {"kind": "error", "code": "ambiguous_intent", "message": "Two readings."}}


def documents(schema: Any) -> st.SearchStrategy[Any]:
    """Return what is valid against a schema of the few keywords that ours has."""
    if "anyOf" in schema:
        return st.one_of(*map(documents, schema["anyOf"]))
    if "enum" in schema:
        number = schema["type"] == "integer"
        return st.sampled_from([*schema["enum"], *(map(float, schema["enum"]) if number else ())])
    if schema["type"] == "string":
        longest = schema.get("maxLength", 200)
        return st.text(min_size=schema.get("minLength", 0), max_size=longest) | st.just("x" * longest)
    if schema["type"] == "array":
        items = documents(schema["items"])
        return st.lists(items, min_size=schema.get("minItems", 0), max_size=schema.get("maxItems", 4))
    members = {name: documents(each) for name, each in schema["properties"].items()}
    optional = {name: members.pop(name) for name in set(members) - set(schema["required"])}
    return st.fixed_dictionaries(members, optional=optional)


def enveloped(outcome: binding_moment.TurnAnswer, reasoning: str) -> dict[str, Any]:
    """Return the envelope's wire form, as it crosses the wire."""
    envelope = AIEnvelope(
        type=binding_moment.kind_of(outcome),
        schema_version=1,
        envelope_id="e-1",
        correlation_id="r:n:0:k",
        node_id="n",
        payload=binding_moment.turn_payload(outcome, reasoning),
        meta=EnvelopeMeta(
            source=EnvelopeSource.AI_GENERATION, ts="2026-01-31T12:00:00.000Z", content_trust=Trust.TRUSTED
        ),
    )
    wire: dict[str, Any] = json.loads(json.dumps(envelope.to_json()))
    return wire


@needs_schemas
@given(
    documents(binding_moment.TURN_SCHEMA),
    st.builds(Hatches, free_text=st.booleans(), dialogue=st.booleans()),
    st.none() | st.text(),
)
def test_what_the_schema_admits_is_read_and_enveloped(document: Any, hatches: Hatches, named: str | None) -> None:
    """A valid document is an outcome or has its mark out of range, and its envelope and payload are OpenWOP's."""
    assert IS_VALID(document)
    if not binding_moment.is_recommendation_in_range(document):
        return
    outcome = binding_moment.parse_turn(document, hatches, named)
    envelope = enveloped(outcome, document["reasoning"])

    assert outcome == binding_moment.parse_turn(json.loads(json.dumps(document)), hatches, named)
    assert outcome == binding_moment.parse_turn(binding_moment.turn_document(outcome, "first"), hatches, None)
    assert IS_VALID(binding_moment.turn_document(outcome))
    assert envelope["type"] == document["turn"]["kind"]
    assert errors(envelope, "ai-envelope.schema.json") == []
    if type(outcome) in PAYLOADS:
        assert errors(envelope["payload"], f"envelopes/{PAYLOADS[type(outcome)]}.schema.json") == []
    if isinstance(outcome, BindingMoment):
        assert BindingMoment.model_validate(envelope["payload"]["binding_moment"]) == outcome
        assert outcome.question.hatches == hatches


@pytest.mark.parametrize("document", [BOUND, DELIBERATION, CLARIFICATION, ERROR], ids=lambda each: each["turn"]["kind"])
def test_reasoning_stands_beside_what_was_chosen(document: dict[str, Any]) -> None:
    """The payload is reasoning, if there is any, and then the kind's own members; nothing is lost."""
    outcome = binding_moment.parse_turn(document, OPEN_HATCHES, None)
    payload = binding_moment.turn_payload(outcome, document["reasoning"])

    assert ("reasoning" in payload) == bool(document["reasoning"])
    assert next(iter(binding_moment.turn_payload(outcome, "first"))) == "reasoning"
    if not isinstance(outcome, BindingMoment):
        assert payload | document["turn"] == {**payload, "kind": document["turn"]["kind"]}


META: dict[str, tuple[dict[str, str], str | None, dict[str, str] | None]] = {
    "nothing said": ({}, None, None),
    "blank said": ({"decision_class": "", "calibration_note": " "}, "", None),
    "the model's class": ({"decision_class": "spending"}, None, {"decision_class": "spending"}),
    "the caller's class wins": ({"decision_class": "spending"}, "consent", {"decision_class": "consent"}),
    "a note": ({"calibration_note": "I said less."}, None, {"calibration_note": "I said less."}),
}


@pytest.mark.parametrize(("said", "named", "meta"), META.values(), ids=META.keys())
def test_meta_holds_what_was_said(said: dict[str, str], named: str | None, meta: dict[str, str] | None) -> None:
    """What nobody said is absent, never null and never blank."""
    document = {**BOUND, "turn": {**BOUND["turn"], **said}}
    outcome = binding_moment.parse_turn(document, OPEN_HATCHES, named)

    assert isinstance(outcome, BindingMoment)
    assert outcome.to_json().get("meta") == meta


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"turn": 1}, {"reasoning": "", "turn": 1}),
        ({"turn": 1, "reasoning": None}, {"reasoning": "", "turn": 1}),
        ({"reasoning": "x"}, {"reasoning": "x"}),
        ([], []),
    ],
)
def test_reasoning_may_be_missing(given: Any, read: Any) -> None:
    """A document whose reasoning is absent or null is not refused for it; what is no object stays what it is."""
    assert binding_moment.add_reasoning(given) == read


ENVELOPES: dict[str, dict[str, Any]] = {
    "unknown member": {"extra": 1},
    "empty type": {"type": ""},
    "long id": {"envelopeId": "x" * 129},
    "empty correlation": {"correlationId": ""},
    "negative version": {"schemaVersion": -1},
    "null for an absent member": {"partial": None},
    "ts that is a word": {"meta": {"source": "user", "ts": "tomorrow", "contentTrust": "trusted"}},
    "ts elsewhere": {"meta": {"source": "user", "ts": "2026-01-31T12:00:00+02:00", "contentTrust": "trusted"}},
    "ts without zone": {"meta": {"source": "user", "ts": "2026-01-31T12:00:00", "contentTrust": "trusted"}},
    "ts that never is": {"meta": {"source": "user", "ts": "2026-02-31T12:00:00Z", "contentTrust": "trusted"}},
    "unknown source": {"meta": {"source": "model", "ts": "2026-01-31T12:00:00Z", "contentTrust": "trusted"}},
    "unknown trust": {"meta": {"source": "user", "ts": "2026-01-31T12:00:00Z", "contentTrust": "maybe"}},
    "no meta": {"meta": None},
}


@pytest.mark.parametrize("change", ENVELOPES.values(), ids=ENVELOPES.keys())
def test_an_envelope_that_does_not_hold_is_refused(change: dict[str, Any]) -> None:
    """The document around a payload is closed, and its ids and time are bounded."""
    envelope = enveloped(binding_moment.parse_turn(BOUND, OPEN_HATCHES, None), "x")
    assert AIEnvelope.model_validate(envelope).to_json() == envelope

    with pytest.raises(ValidationError):
        AIEnvelope.model_validate({**envelope, **change})


def test_every_list_has_an_end() -> None:
    """A small model that repeats itself fills a list until the budget is used up."""

    def lists(schema: Any) -> list[Any]:
        inner = [*schema.get("anyOf", ()), *schema.get("properties", {}).values(), *filter(None, [schema.get("items")])]
        return [*([schema] if schema.get("type") == "array" else []), *(each for one in inner for each in lists(one))]

    assert len(lists(binding_moment.TURN_SCHEMA)) >= len(("findings", "recommendations", "options", "missing"))
    assert [each for each in lists(binding_moment.TURN_SCHEMA) if "maxItems" not in each] == []
