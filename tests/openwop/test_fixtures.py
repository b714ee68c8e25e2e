"""The mock-model fixtures: the whole sequence that is reported each, on every wire."""

from __future__ import annotations

from typing import Any

import pytest

from emitter import EmissionError, Policy, emit
from emitter.events import SCHEMA_IGNORED
from emitter.host import Acceptor
from emitter.stores import MemoryStore
from emitter.testing import simulator
from tests.models.openwop import needs_schemas
from tests.openwop.asking import conforms, types
from tests.openwop.mock_ai import Entry
from tests.openwop.programs import NODE, ROWS, Row
from tests.openwop.running import fixtures, needs_fixtures

pytestmark = needs_fixtures
WIRES: dict[str, str | None] = {
    "openai/mock-mini": "openai-chat",
    "anthropic/mock-mini": None,
    "google/mock-mini": None,
    "ollama/mock-mini": None,
}


def performed(name: str, row: Row, model: str = "openai/mock-mini") -> tuple[list[Any], str | None, list[int]]:
    """Return what an emission of the fixture's node tells, its code, and its budgets."""
    node = fixtures()[f"conformance-envelope-{name}"]["nodes"][0]
    store, wire = MemoryStore(), WIRES[model]
    with simulator() as vendor:
        vendor.script(*map(Entry.of, row.program))
        try:
            found: Any = emit(
                node["config"]["outputSchema"],
                node["inputs"]["messages"]["value"],
                model=model,
                **({} if wire is None else {"wire": wire}),  # type: ignore[arg-type]
                client=vendor.client(model, verify=False),
                policy=Policy(output_tokens=node["config"].get("maxTokens"), nl_to_format=row.in_words),
                host=Acceptor(store=store),
                run_id="run",
                node_id=node["id"],
            )
        except EmissionError as error:
            found = error
        assert len(vendor.calls) == len(row.growth)
    return list(store.events("run")), getattr(found, "code", None), [each.budget for each in found.trace.attempts]


@pytest.mark.parametrize("model", WIRES)
@pytest.mark.parametrize("name", ROWS)
def test_a_fixture_tells_exactly_this(name: str, model: str) -> None:
    """The whole sequence, the terminal code and the budgets: the same on every wire."""
    row = ROWS[name]
    reported, code, budgets = performed(name, row, model)

    # The simulated model breaks a schema that its vendor enforces, which is logged besides.
    expected = [each for each in reported if each["payload"].get("message") != SCHEMA_IGNORED]
    assert tuple(types(expected)) == row.reported
    assert code == row.code
    assert budgets == [budgets[0] * each for each in row.growth]
    assert {each["nodeId"] for each in reported} == {NODE}
    assert {each["causationId"] for each in reported} == {reported[0]["causationId"]}
    assert [each["sequence"] for each in reported] == list(range(len(reported)))


@needs_schemas
@pytest.mark.parametrize("name", ROWS)
def test_a_fixtures_events_are_openwops(name: str) -> None:
    """Each document holds to its schema."""
    reported, _, _ = performed(name, ROWS[name])

    for each in reported:
        conforms(each)


def test_every_fixture_is_in_the_table() -> None:
    """Beside the two that ask no model for a document."""
    assert {f"conformance-envelope-{each}" for each in ROWS} == {
        each for each in fixtures() if each.startswith("conformance-envelope-")
    }
