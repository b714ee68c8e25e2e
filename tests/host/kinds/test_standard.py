"""The kinds that come with the library, and the catalogue that holds them."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from pydantic import ValidationError

from emitter.errors import InputError
from emitter.host.kinds import A2UI_KIND, OWN_KINDS, STANDARD, UNIVERSAL_KINDS, KindRegistry, media_kinds
from emitter.models import BindingMoment, Deliberation, binding_moment
from emitter.models.standard_kinds import UNIVERSAL_SCHEMAS
from tests.host.kinds.near import near, often
from tests.models.test_binding_moment import MOMENT

BINDING = STANDARD["vendor.emitter.binding-moment"]
DELIBERATION = STANDARD["vendor.emitter.deliberation"]
REFUSAL = {
    "kind": "refusal",
    "reason": {"code": "BLOCKED", "user_message": "This cannot be shown.", "audit_id": "a-1"},
}
DELIBERATED = {"state": "half way", "missing": ["a date"], "permission": "to look it up"}
MADE_AT_NO_TIME = {
    "oracle_records": [{"oracle_id": "lab", "tier": "primary", "verified_at": "2026-02-28T00:00:00Z"}],
    "generated_at": "2026-02-30T00:00:00Z",
    "envelope_id": "e-1",
}

GOOD: dict[str, tuple[str, Any]] = {
    "clarification": ("clarification.request", {"questions": [{"id": "q", "question": "Which?"}]}),
    "clarification with all": (
        "clarification.request",
        {
            "reasoning": "",
            "questions": [{"id": "q", "question": "Which?", "schema": {"enum": [1]}, "context": {"any": [1]}}],
            "contextType": "form-field",
        },
    ),
    "schema.request": ("schema.request", {"envelopeType": "vendor.acme.prd.create", "reason": ""}),
    "schema.response": ("schema.response", {"envelopeType": "error", "ack": True}),
    "error": ("error", {"code": "context_exhausted", "message": "Too long.", "details": {"at": 3}}),
    "binding moment": (BINDING.id, {"reasoning": "because", "binding_moment": MOMENT}),
    "deliberation": (DELIBERATION.id, DELIBERATED),
    "document": ("vendor.emitter.document", {"name": "invoice", "document": [None, 1]}),
    "authorization": ("vendor.emitter.authorization", {"reasoning": "because", "authorization": REFUSAL}),
}
BAD: dict[str, tuple[str, Any, str, str]] = {
    "no questions": ("clarification.request", {}, "", "required"),
    "empty questions": ("clarification.request", {"questions": []}, "/questions", "minItems"),
    "an open question": (
        "clarification.request",
        {"questions": [{"id": "q", "question": "?", "hint": "x"}]},
        "/questions/0",
        "additionalProperties",
    ),
    "reasoning that is no text": ("error", {"code": "a", "message": "b", "reasoning": 1}, "/reasoning", "type"),
    "reasoning in schema.response": (
        "schema.response",
        {"envelopeType": "error", "ack": True, "reasoning": "x"},
        "",
        "additionalProperties",
    ),
    "no acknowledgement": ("schema.response", {"envelopeType": "error", "ack": False}, "/ack", "const"),
    "a kind of 257 characters": ("schema.request", {"envelopeType": "k" * 257}, "/envelopeType", "maxLength"),
    "an empty message": ("error", {"code": "a", "message": ""}, "/message", "minLength"),
    "a list": ("error", [], "", "type"),
    "no document": ("vendor.emitter.document", {"name": "invoice"}, "", "required"),
    "an authorization of no kind": (
        "vendor.emitter.authorization",
        {"authorization": {"reason": REFUSAL["reason"]}},
        "/authorization",
        "required",
    ),
    "a time on no calendar": (
        "vendor.emitter.authorization",
        {"authorization": {"kind": "measurement", "value": 1, "provenance": MADE_AT_NO_TIME}},
        "/authorization/provenance/generated_at",
        "value_error",
    ),
    "no moment": (BINDING.id, {"reasoning": "because"}, "", "required"),
    "null for the moment's meta": (
        BINDING.id,
        {"binding_moment": {**MOMENT, "meta": None}},
        "/binding_moment/meta",
        "type",
    ),
    "an option that does not exist": (
        BINDING.id,
        {"binding_moment": {**MOMENT, "question": {**MOMENT["question"], "recommended_idx": 2}}},
        "/binding_moment/question/recommended_idx",
        "range",
    ),
}


@pytest.mark.parametrize(("kind_id", "payload"), GOOD.values(), ids=GOOD.keys())
def test_a_payload_that_holds(kind_id: str, payload: Any) -> None:
    """Nothing is found in it, and it is left as it was."""
    before = copy.deepcopy(payload)

    assert STANDARD[kind_id].find_violations(payload) == ()
    assert STANDARD[kind_id].find_warnings(payload) == ()
    assert payload == before


@pytest.mark.parametrize(("kind_id", "payload", "pointer", "rule"), BAD.values(), ids=BAD.keys())
def test_a_payload_that_does_not_hold(kind_id: str, payload: Any, pointer: str, rule: str) -> None:
    """The place and the rule are reported."""
    assert [(each.pointer, each.rule) for each in STANDARD[kind_id].find_violations(payload)] == [(pointer, rule)]


@pytest.mark.parametrize(
    "outcome",
    [BindingMoment.model_validate(MOMENT), Deliberation.model_validate(DELIBERATED)],
    ids=["binding moment", "deliberation"],
)
@pytest.mark.parametrize("reasoning", ["", "because"], ids=["silent", "reasoned"])
def test_what_an_emission_writes_holds(outcome: BindingMoment | Deliberation, reasoning: str) -> None:
    """The payloads of this library's own emissions are taken by its own catalogue."""
    payload = json.loads(json.dumps(binding_moment.turn_payload(outcome, reasoning)))

    assert STANDARD[binding_moment.kind_of(outcome)].find_violations(payload) == ()


def _whole(value: Any) -> Any:
    """Return a document whose whole numbers are integers: JSON Schema makes no difference, a strict type does."""
    if isinstance(value, dict):
        return {key: _whole(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_reasoning(value: Any) -> bool:
    """Return whether a kind accepts a payload's ``reasoning``. A null one counts as absent."""
    return value is None or isinstance(value, str)


@often
@given(near(BINDING.schema))
def test_the_moments_schema_and_rule_say_what_its_type_says(payload: Any) -> None:
    """For any payload, the schema with its one rule and the pydantic model give the same verdict."""
    shown = payload if isinstance(payload, dict) else {"binding_moment": payload, "no": "object"}
    try:
        BindingMoment.model_validate(_whole(shown["binding_moment"]))
        held = shown.keys() <= {"reasoning", "binding_moment"} and _is_reasoning(shown.get("reasoning"))
    except (ValidationError, KeyError):
        held = False

    assert (not BINDING.find_violations(payload)) == held


@often
@given(near(DELIBERATION.schema))
@example({"missing": ["x"], "permission": "", "state": "", "reasoning": None})
def test_the_deliberations_schema_says_what_its_type_says(payload: Any) -> None:
    """For any payload, the schema and the pydantic model give the same verdict."""
    body = (
        {name: each for name, each in payload.items() if name != "reasoning"} if isinstance(payload, dict) else payload
    )
    try:
        Deliberation.model_validate(body)
        held = not isinstance(payload, dict) or _is_reasoning(payload.get("reasoning"))
    except ValidationError:
        held = False

    assert (not DELIBERATION.find_violations(payload)) == held


def test_questions_of_one_id_are_warned_of() -> None:
    """Answers are matched by id; two of one id are taken, for the schema allows them."""
    twice = {"questions": [{"id": "q", "question": "a"}, {"id": "p", "question": "b"}, {"id": "q", "question": "c"}]}

    assert STANDARD["clarification.request"].find_violations(twice) == ()
    found = STANDARD["clarification.request"].find_warnings(twice)
    assert [(each.pointer, each.rule) for each in found] == [("/questions/2/id", "unique")]


def test_the_universal_four_come_first() -> None:
    """Every catalogue has them, in OpenWOP's order, and then its own in theirs."""
    own = tuple(each.id for each in OWN_KINDS)

    assert KindRegistry().ids == tuple(UNIVERSAL_SCHEMAS)
    assert STANDARD.ids == (*UNIVERSAL_SCHEMAS, *own)
    assert KindRegistry(reversed(OWN_KINDS)).ids == (*UNIVERSAL_SCHEMAS, *reversed(own))


def test_it_is_a_mapping() -> None:
    """It is looked up, iterated and counted as a mapping is, and shown by its ids."""
    assert STANDARD.get("error") is STANDARD["error"]
    assert STANDARD.get("vendor.acme.prd.create") is None
    assert "error" in STANDARD
    assert "Error" not in STANDARD
    assert list(STANDARD) == list(STANDARD.ids)
    assert len(STANDARD) == 8
    assert repr(KindRegistry()) == "KindRegistry(clarification.request, schema.request, schema.response, error)"


def test_kinds_are_added_to_a_new_catalogue() -> None:
    """The old one stays as it was."""
    more = STANDARD.with_kinds(*media_kinds(), A2UI_KIND)

    assert more.ids == (*STANDARD.ids, "media.image", "media.audio", "media.file", "ui.a2ui-surface")
    assert A2UI_KIND.id not in STANDARD


def test_versions_are_those_advertised() -> None:
    """A kind without a version is in the catalogue, and not among ``schemaVersions``."""
    kind = replace(A2UI_KIND, version=None)
    catalogue = KindRegistry([kind])

    assert set(STANDARD.versions.values()) == {1}
    assert kind.id in catalogue.ids
    assert catalogue.versions == dict.fromkeys(UNIVERSAL_SCHEMAS, 1)


@pytest.mark.parametrize("kind", [UNIVERSAL_KINDS[0], OWN_KINDS[0]], ids=["universal", "own"])
def test_a_kind_is_listed_once(kind: Any) -> None:
    """A second one of the same id is refused: nobody could say which is meant."""
    with pytest.raises(InputError, match=r"already has a kind "):
        STANDARD.with_kinds(kind)


NO_BASES = {
    "empty": "",
    "no scheme": "host.example",
    "another scheme": "ftp://host.example",
    "no host": "https://",
    "a query": "https://host.example?x=1",
    "a fragment": "https://host.example#x",
    "credentials": "https://user:secret@host.example",
    "a blank": "https://host.example/a b",
    "a line break": "https://host.example/\n",
    "not ASCII": "https://höst.example",
    "a port beyond all": "https://host.example:99999",
    "no text": 7,
}


@pytest.mark.parametrize("base_url", NO_BASES.values(), ids=NO_BASES.keys())
def test_a_base_that_is_none(base_url: Any) -> None:
    """A schema is named by an address, which is not repeated: it may hold a password."""
    with pytest.raises(InputError, match="base_url must be the http or https URL") as raised:
        STANDARD["error"].build_document(base_url)

    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("base_url", ["http://localhost:8080", "https://host.example/api/", "HTTPS://[::1]:1"])
def test_a_base_with_port_or_path(base_url: str) -> None:
    """A host may live below a path."""
    found = STANDARD["error"].build_document(base_url)["$id"]

    assert found.lower() == f"{base_url.rstrip('/').lower()}/schemas/envelopes/error.schema.json"
