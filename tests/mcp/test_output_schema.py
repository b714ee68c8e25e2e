"""Room for the member in a tool's output schema: made where it can be, and nothing else is changed (section 7.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.decisions import MalformedEnvelope, parse_moment
from emitter.errors import InputError
from emitter.mcp.schemas import ENVELOPE_SCHEMA, inline_references, is_closed, widen_schema
from emitter.messages import as_mapping
from emitter.testing.sample_moments import MALFORMED_RESULTS, ORDINARY_MOMENTS, VALID_MOMENT
from tests.work import examples

if TYPE_CHECKING:
    from emitter.messages import Json

_NAME: Json = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
_NODE: Json = {"properties": {"name": {}, "below": {"items": {"$ref": "#/$defs/Node"}}}, "additionalProperties": False}
_BEYOND_A_SCHEMA = ("recommended beyond the last", "half a character")
"""What a JSON Schema cannot say of an envelope."""

OPEN: dict[str, Json] = {
    "an object": _NAME,
    "an empty schema": {},
    "an object that says it is open": {**_NAME, "additionalProperties": True},
    "branches": {"type": "object", "anyOf": [_NAME, {"required": ["id"]}]},
}
CLOSED: dict[str, Json] = {
    "a closed object": {**_NAME, "additionalProperties": False},
    "values of a type": {"type": "object", "additionalProperties": {"type": "integer"}},
    "unevaluated": {**_NAME, "unevaluatedProperties": False},
    "names": {"type": "object", "propertyNames": {"maxLength": 4}},
    "a number of members": {"type": "object", "maxProperties": 1},
    "behind a reference": {"$ref": "#/$defs/Node", "$defs": {"Node": _NODE}},
    "one of closed branches": {
        "oneOf": [
            {"properties": {"name": {}, "kind": {"const": kind}}, "required": ["kind"], "additionalProperties": False}
            for kind in ("a", "b")
        ]
    },
    "all of": {"allOf": [{"$ref": "#/$defs/Node"}, {"required": ["name"]}], "$defs": {"Node": _NODE}},
}
REFUSED: dict[str, Json] = {
    "a list": {"type": "array"},
    "a value": {"const": {"name": "a"}},
    "values": {"enum": [{"name": "a"}]},
    "not": {"type": "object", "not": {"required": ["binding_moment"]}},
    "if": {"type": "object", "if": {"required": ["name"]}, "then": {"maxProperties": 1}},
    "dependent": {"type": "object", "dependentSchemas": {"name": {"maxProperties": 1}}},
    "a pattern that it matches": {"type": "object", "patternProperties": {"^b": {"type": "integer"}}},
    "a root that holds itself": {"$ref": "#/$defs/A", "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}]}}},
    "a schema elsewhere": {"$ref": "https://schemas.example/branch.json"},
    "a member of that name": {"type": "object", "properties": {"binding_moment": {"type": "string"}}},
    "a branch with a member of that name": {"anyOf": [{"properties": {"binding_moment": {}}}, _NAME]},
}

payloads = st.dictionaries(
    st.sampled_from(["name", "id", "kind", "below", "more"]),
    st.one_of(st.text(max_size=3), st.integers(), st.sampled_from(["a", "b"])),
    max_size=3,
)


@pytest.mark.parametrize("schema", OPEN.values(), ids=OPEN)
def test_an_open_schema_is_reported_from_a_closed_one(schema: Json) -> None:
    """A member that is not named is taken."""
    assert not is_closed(schema)


@pytest.mark.parametrize("schema", CLOSED.values(), ids=CLOSED)
def test_a_closed_schema_is_known(schema: Json) -> None:
    """However it is closed, and wherever it says so."""
    assert is_closed(schema)


@pytest.mark.parametrize("schema", {**OPEN, **CLOSED}.values(), ids={**OPEN, **CLOSED})
@settings(max_examples=examples(30))
@given(payload=payloads)
def test_a_widened_schema_says_of_every_payload_what_it_said_before(schema: Json, payload: dict[str, Json]) -> None:
    """With the envelope beside it, and without: the member is additive, and optional."""
    before, after = jsonschema_rs.validator_for(schema), jsonschema_rs.validator_for(widen_schema(schema))
    emitted = {**payload, "binding_moment": VALID_MOMENT.to_json()}

    if before.is_valid(payload):
        assert after.is_valid(payload)
        assert after.is_valid(emitted)
    elif "maxProperties" not in schema:
        assert not after.is_valid(payload)
        assert not after.is_valid(emitted)


@pytest.mark.parametrize("schema", {**OPEN, **CLOSED}.values(), ids={**OPEN, **CLOSED})
def test_a_widened_schema_takes_no_other_thing_for_an_envelope(schema: Json) -> None:
    """The member is an envelope, and never null."""
    after = jsonschema_rs.validator_for(widen_schema(schema))

    assert not any(
        after.is_valid({"name": "a", "binding_moment": each}) for each in (None, {}, "a", [VALID_MOMENT.to_json()])
    )


@pytest.mark.parametrize("schema", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_widened_is_refused(schema: Json) -> None:
    """Rather than published as something else."""
    with pytest.raises(InputError, match=r"binding_moment|widened"):
        widen_schema(schema)


def test_the_published_envelope_takes_every_well_formed_one() -> None:
    """Section 4: every number of options, every recommendation, every hatch, with meta and without."""
    takes = jsonschema_rs.validator_for(dict(ENVELOPE_SCHEMA))

    assert [name for name, each in ORDINARY_MOMENTS.items() if not takes.is_valid(each.to_json())] == []


@pytest.mark.parametrize("name", [name for name in MALFORMED_RESULTS if name not in _BEYOND_A_SCHEMA])
def test_the_published_envelope_refuses_a_malformed_one(name: str) -> None:
    """Section 4: but for what a JSON Schema cannot say, such as that the recommended option is there."""
    given: Any = as_mapping(MALFORMED_RESULTS[name])["binding_moment"]

    assert isinstance(parse_moment(given), MalformedEnvelope)
    assert not jsonschema_rs.validator_for(dict(ENVELOPE_SCHEMA)).is_valid(given)


def test_a_schema_in_one_piece_means_the_same() -> None:
    """References are written out; where a type holds itself, anything is allowed there, and nothing else is looser."""
    whole = inline_references({"$ref": "#/$defs/Node", "$defs": {"Node": _NODE}})
    takes = jsonschema_rs.validator_for(whole)

    assert "$ref" not in str(whole)
    assert takes.is_valid({"name": "a", "below": [{"name": "b", "below": [{"other": 1}]}]})
    assert not takes.is_valid({"name": "a", "other": 1})
