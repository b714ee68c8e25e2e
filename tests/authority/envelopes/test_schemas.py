"""The published schemas say what the types say."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from pydantic import ValidationError

from emitter.authority.envelopes import AUTHORIZATION_SCHEMA, WORKFLOW_SCHEMA, dump_authorization, read_authorization
from emitter.host.registry import STANDARD
from emitter.models import AUTHORIZATION
from emitter.models.authorization import Refusal, RefusalCode, WorkflowDeclaration
from emitter.schema import Validator
from tests.authority.envelopes.parts import ENVELOPES, WORKFLOWS
from tests.authority.envelopes.test_wire import near

VALID = Validator(AUTHORIZATION_SCHEMA)
DECLARED = Validator(WORKFLOW_SCHEMA)
KIND = STANDARD[AUTHORIZATION]


@pytest.mark.parametrize("kind", ENVELOPES)
def test_every_kind_is_valid(kind: str) -> None:
    """As an envelope, and as the payload that carries it."""
    written = dump_authorization(ENVELOPES[kind])

    assert VALID(written) == ()
    assert KIND.find_violations({"reasoning": "", "authorization": written}) == ()
    assert KIND.find_violations({"authorization": written}) == ()


@pytest.mark.parametrize("kind", ENVELOPES)
def test_every_member_counts(kind: str) -> None:
    """One that is missing is found, unless it is optional; one too many is found."""
    written = dump_authorization(ENVELOPES[kind])
    for name in written:
        fewer = {key: each for key, each in written.items() if key != name}
        assert bool(VALID(fewer)) is (name != "params")
    assert VALID({**written, "more": 1})
    assert KIND.find_violations({"authorization": {**written, "more": 1}})


@given(near())
def test_a_kind_is_taken_by_a_host_where_it_is_read_by_a_client(content: Any) -> None:
    """For whatever is almost an envelope, catalogue and reader give the same verdict; the schema is never stricter."""
    found = read_authorization(copy.deepcopy(content))
    is_read = not (isinstance(found, Refusal) and found.reason.code is RefusalCode.BLOCKED)

    assert (KIND.find_violations({"authorization": content}) == ()) is is_read
    if is_read:
        assert VALID(content) == ()


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_declaration_is_valid(name: str) -> None:
    """With whatever else is configured there."""
    assert DECLARED({**WORKFLOWS[name].model_dump(mode="json"), "retries": 3}) == ()


@pytest.mark.parametrize("intent", ["authoritative", "non_authoritative", "other", None])
@pytest.mark.parametrize("mode", ["INLINE", "ASYNC", "NON_AUTHORITATIVE_ONLY", "LATER"])
def test_the_schema_of_a_declaration_says_what_its_type_says(intent: Any, mode: str) -> None:
    """The contradiction is in it, too."""
    declared = {"workflow_id": "w", "authoritative_intent": intent, "enforcement_mode": mode}
    try:
        WorkflowDeclaration.model_validate(declared)
        held = True
    except ValidationError:
        held = False

    assert (DECLARED(declared) == ()) is held


def test_they_are_json() -> None:
    """They can be written to a file as they are, and name their dialect; titles of pydantic's are not in them."""
    for schema in (AUTHORIZATION_SCHEMA, WORKFLOW_SCHEMA):
        text = json.dumps(schema)
        assert json.loads(text)["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        assert text.count('"title"') == 1
