"""The published schemas: they are what is generated, and they accept what the models accept, and nothing else."""

from __future__ import annotations

import copy
import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from emitter.authority.records import ChainRecord
from emitter.authority.schemas import RECORD_TYPES, SCHEMAS
from emitter.decisions.canonical_json import CanonicalProfile, normalize_json
from emitter.schema import Validator
from tests.authority.execution.making import S256, act, asked
from tests.authority.lived import chain
from tests.authority.schemas import FOLDER, files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.messages import Json

CHAINED: TypeAdapter[Any] = TypeAdapter(ChainRecord)
VALIDATORS = {name: Validator(dict(schema)) for name, schema in SCHEMAS.items()}

CALL = {"r3_s256": S256, "call_id": "c", "function": "mail:send", "classes": f"sha256:{'0' * 64}"}
SCOPE = {"workflow_id": "w", "step_ids": ["a"], "targets": [], "capabilities": ["read", "write"]}


def lines(kind: str) -> Iterator[dict[str, Any]]:
    """Yield what the library wrote of a kind."""
    yield from (each["record"] for each in chain() if each["record"]["type"] == kind.upper())


STEP = {"stop_scope": "step", "step_id": "a"}
OVER = {"takeover_mode": "delegate_to_other_agent", "delegate_to": "b"}
TOLD = {"side_effects": {"a": [1, {}]}, "evidence_refs": ["b"], "error": "c", "result": "partial"}
MORE: dict[str, list[dict[str, Json]]] = {
    "confirm": [{"call": CALL, "scope": SCOPE}],
    "intent": [{"call": CALL, "step_id": "a"}],
    "receipt": [TOLD | {"step_id": "a"}],
    "stop": [STEP, OVER],
}
"""Members that the library had no reason to write."""


def written(name: str) -> list[dict[str, Json]]:
    """Return records that hold, with all the members that there are in one of them at least."""
    match name:
        case "line":
            return chain() + chain(signed=True)[:1]
        case "confirm-request":
            more = {"budget_usd": Decimal("7.5"), "max_side_effects": 1}
            return [asked().to_json(), asked(limits=more, call=CALL, scope=SCOPE).to_json()]
        case "action-request":
            more = {"step_id": "a", "capability": "read", "spends": {"budget_usd": 1}, "call": CALL}
            return [act().to_json(), act(**more).to_json()]
        case _:
            return [*lines(name), *(next(lines(name)) | each for each in MORE.get(name, []))]


def accepted(name: str, document: Json) -> bool:
    """Tell whether the model takes it: a record of a chain is what its ``type`` says, as where it is read."""
    record = RECORD_TYPES[name]
    try:
        if "type" in record.model_fields:
            return isinstance(CHAINED.validate_python(document), record)
        record.model_validate(document)
    except ValidationError:
        return False
    return True


def test_the_files_are_what_is_generated() -> None:
    """Else run: python -m tests.authority.schemas --write."""
    assert {file: file.read_text("utf-8") for file in FOLDER.iterdir()} == files()


def test_every_record_has_its_schema() -> None:
    """Each that can stand in a chain, and what is asked for before; with words for each type."""
    chained = {each["record"]["type"].lower() for each in chain()}

    assert {*RECORD_TYPES} == {*chained, "line", "confirm-request", "action-request"}
    assert {*SCHEMAS} == {*RECORD_TYPES, "proposal", "authorization-envelope", "workflow-declaration"}
    for name, schema in SCHEMAS.items():
        assert schema["$id"] == f"{name}.schema.json"
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        assert schema["title"]
        assert schema["description"]


@pytest.mark.parametrize("name", RECORD_TYPES)
def test_its_objects_are_closed(name: str) -> None:
    """Each object refuses what it does not name, but for what an act did, which is a host's own to tell."""
    schema = SCHEMAS[name]
    types = [schema, *cast("dict[str, Any]", schema.get("$defs", {})).values()]
    objects = [each for each in types if each["type"] == "object"]

    assert all(each["additionalProperties"] is False for each in objects)
    assert all("description" in each for each in types)
    assert "null" not in json.dumps(schema)
    assert "discriminator" not in json.dumps(schema)


@pytest.mark.parametrize("name", RECORD_TYPES)
def test_what_is_written_holds(name: str) -> None:
    """All that the library writes is valid."""
    records = written(name)

    assert records
    for each in records:
        assert accepted(name, each), each
        assert VALIDATORS[name](each) == (), each


@pytest.mark.parametrize("name", RECORD_TYPES)
def test_a_record_is_read_back_from_what_it_is_written_as(name: str) -> None:
    """By pydantic's own methods as by ours; what is absent is never null."""
    record = RECORD_TYPES[name]
    for each in written(name):
        made = record.model_validate(each)

        assert record.model_validate_json(made.model_dump_json()) == made
        assert record.model_validate(made.model_dump()) == made
        assert record.model_validate_json(json.dumps(made.to_json())) == made
        assert json.loads(made.model_dump_json()) == made.to_json() == made.model_dump(mode="json")


# One member changed: both say the same of it.

ODD: list[Json] = [
    *[None, True, False, 0, 1, -1, 1.5, 2**53 - 1, 100 * 365 * 86_400, 100 * 365 * 86_400 + 1],
    *["", "a", "\u00e4" * 512, "\u00e4" * 513, "x" * 10_000, "x" * 10_001, "\U0001f600", "a\n"],
    *["low", "critical", "step", "chain", "pause", "delegate_to_other_agent", "success", "partial", "LOW"],
    *["CONFIRM", "STOP", "RECEIPT", "confirm"],
    *[S256, f"{S256}\n", S256[:-1], f"sha256:{'0' * 64}", f"sha256:{'0' * 63}A", f"sha256:{'0' * 64}\n"],
    *["2027-01-15T08:00:00Z", "2027-01-15T08:00:00.1Z", "2027-01-15T08:00:00.1234567Z", "2027-01-15T08:00:00"],
    *["2028-02-29T08:00:00Z", "2027-02-29T08:00:00Z", "2027-04-31T08:00:00Z", "2027-01-15T24:00:00Z"],
    *["2016-12-31T23:59:60Z", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"],
    *["2027-01-15t08:00:00z", "2027-01-15 08:00:00Z", "2027-01-15T08:00:00+00:00", "2027-01-15T08:00:00Z\n"],
    *["\u0662\u0660\u0662\u0667-01-15T08:00:00Z", "2027-13-01T00:00:00Z", "2027-00-01T00:00:00Z"],
    *[[], ["a"], ["a", "a"], [""], ["a", 1], [None], {}, {"a": 1}, {"a": -1}, {"a": 1.5}, {"A": 1}, {"": 1}],
    *[{"budget_usd": each} for each in (1, 7.5, "7.5", "7.50", "7", "07.5", "-7.5", "9" * 15 + ".5", "9" * 16 + ".5")],
    *[{"a": "7.5"}, {"budget_dollars": "7.5"}, {"budget_usd": "0.000001"}, {"budget_usd": "0.0000001"}, "7.5", "7.5\n"],
    *[{"a" * 64: 1}, {"a" * 65: 1}, {"a": True}, {"a": None}, {"workflow_id": "w"}, CALL, {**CALL, "x": 1}],
]


def places(document: Json, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return where something stands in a document."""
    if isinstance(document, dict):
        return [path, *[each for name in document for each in places(document[name], (*path, name))]]
    if isinstance(document, list):
        return [path, *[each for number, value in enumerate(document) for each in places(value, (*path, number))]]
    return [path]


def within(document: Json, path: list[Any]) -> Json:
    """Return what stands at a place."""
    for step in path:
        document = document[step]
    return document


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, Json]:
    """Return a record in which up to three members are odd, are not there, or are more than there may be."""
    name = draw(st.sampled_from([*RECORD_TYPES]))
    document: Json = copy.deepcopy(draw(st.sampled_from(written(name))))
    for _ in range(draw(st.integers(1, 3))):
        *path, last = draw(st.sampled_from(places(document)[1:] or [("x",)]))
        parent = within(document, path)
        kind = draw(st.integers(0, 5))
        if kind == 0:
            del parent[last]
        elif kind == 1 and isinstance(parent, dict):
            members = [each for schema in RECORD_TYPES.values() for each in schema.model_fields]
            parent[draw(st.sampled_from([*members, "note", ""]))] = copy.deepcopy(draw(st.sampled_from(ODD)))
        else:
            parent[last] = copy.deepcopy(draw(st.sampled_from(ODD)))
    return name, document


@given(changes())
def test_model_and_schema_agree(changed: tuple[str, Json]) -> None:
    """What one accepts, the other accepts: a change at random, read as it would be from a file."""
    name, document = changed
    document = normalize_json(document, CanonicalProfile.WIRE)

    assert accepted(name, document) == (VALIDATORS[name](document) == ())


@pytest.mark.parametrize("name", RECORD_TYPES)
def test_each_member_agrees(name: str) -> None:
    """Whatever stands where anything stands."""
    record = written(name)[-1]
    for *path, last in places(record)[1:]:
        for odd in ODD:
            document: Json = copy.deepcopy(record)
            within(document, path)[last] = copy.deepcopy(odd)
            assert accepted(name, document) == (VALIDATORS[name](document) == ()), (path, last, odd)
