"""Emissions over a Ray dataset, on a cluster of two nodes in this machine."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import warnings
from contextlib import closing
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel, Field

from emitter import RateLimit
from emitter.bulk.runner import close_client
from emitter.errors import InputError, Refused, Uncompilable, UnknownModelWarning
from emitter.stores import SqliteStore
from emitter.stores.jobs import SlotRequest
from tests.bulk.asking import MODEL, Numbered, answered, asked_of, serving, task

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.testing import Simulator

ray: Any = pytest.importorskip("ray", reason="Ray is not installed")
pa: Any = pytest.importorskip("pyarrow", reason="Ray Data is not installed")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.filterwarnings("default::pytest.PytestWarning")]

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def vendor() -> Iterator[Simulator]:
    """Run a vendor that the cluster's environment leads to."""
    with pytest.MonkeyPatch.context() as patch, serving(answered, patch) as running:
        patch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
        patch.setenv("RAY_raylet_start_wait_time_s", "300")  # on a busy machine
        patch.setenv("PYTHONPATH", str(ROOT))
        yield running


@pytest.fixture(scope="module")
def cluster(vendor: Simulator) -> Iterator[None]:  # noqa: ARG001  before the nodes
    """Run two nodes with two CPUs each."""
    from ray.cluster_utils import Cluster  # noqa: PLC0415  skipped where absent

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
    nodes.add_node(num_cpus=2)
    ray.init(address=nodes.address, logging_level="ERROR", log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()
    nodes.shutdown()


def emit_batches(spec: Any, *batches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of the batches, as one actor makes them, without a cluster."""
    from emitter.integrations.ray import EmissionMapper  # noqa: PLC0415  needs Ray

    async def emit_all() -> list[dict[str, Any]]:
        mapper = EmissionMapper(spec)
        members = vars(mapper)
        try:
            tables = [table for each in batches async for table in mapper(pa.Table.from_pylist(each))]
        finally:  # an actor keeps both to its end
            await close_client(vars(members["_emitter"])["_options"]["client"])
            if spec.store is not None:
                members["_options"]["store"].close()
        return [row for table in tables for row in table.to_pylist()]

    return asyncio.run(emit_all())


def test_rows_get_typed_columns(cluster: None, vendor: Simulator, tmp_path: Path) -> None:  # noqa: ARG001
    """Values, errors and usage are columns; a second run reads the store, under one limit."""
    from emitter.integrations.ray import emit_dataset  # noqa: PLC0415  needs Ray

    vendor.reset()
    texts = [task(n, "refuse" if n == 3 else "") for n in range(40)]
    rows = ray.data.from_items([{"id": n, "prompt": text} for n, text in enumerate(texts)])
    store = partial(SqliteStore, str(tmp_path / "jobs.db"))
    emit = partial(
        emit_dataset, Numbered, rows, model=MODEL, key="id", store=store, batch_size=10, rate_limit=RateLimit(6_000)
    )
    first = emit().materialize()
    found = sorted(first.take_all(), key=lambda row: row["id"])
    assert [row["value"] and row["value"]["n"] for row in found] == [None if n == 3 else n for n in range(40)]
    assert [row["id"] for row in found if row["error"]] == [3]
    assert found[3]["error"].startswith("Refused")
    assert str(first.schema().base_schema.field("value").type) == "struct<n: int64>"
    assert first.sum("output_tokens") == sum(row["output_tokens"] for row in found) > 0
    assert first.sum("cost") > 0
    assert set(asked_of(vendor).values()) == {1}

    again = emit().take_all()
    assert all(row["replayed"] for row in again)
    assert asked_of(vendor).total() == 40


def test_actors_share_a_limit_without_a_store(cluster: None, vendor: Simulator) -> None:  # noqa: ARG001
    """A named actor leases the slots; a failure is raised if you prefer."""
    from emitter.integrations.ray import LIMIT_ACTOR, emit_dataset  # noqa: PLC0415  needs Ray

    rows = ray.data.from_items([{"text": task(n, "refuse" if n == 5 else "")} for n in range(8)])
    emit = partial(
        emit_dataset, Numbered, rows, model=MODEL, prompt=lambda row: row["text"], rate_limit=RateLimit(6_000)
    )
    assert sum(row["error"] is not None for row in emit().take_all()) == 1
    assert ray.get_actor(LIMIT_ACTOR, namespace="emitter")
    with pytest.raises(Exception, match="Refused"):
        emit(errors="raise").take_all()


def test_the_limits_survive_their_actor(cluster: None) -> None:  # noqa: ARG001
    """It is started again, and a lease that was asked for meanwhile is given."""
    from emitter.integrations.ray import LIMIT_ACTOR, lease_from_actor  # noqa: PLC0415  needs Ray

    request = SlotRequest(1, requests_per_minute=60)
    assert lease_from_actor("survives", request).delay == 0
    ray.kill(ray.get_actor(LIMIT_ACTOR, namespace="emitter"), no_restart=False)
    assert lease_from_actor("survives", request).delay >= 0


def test_an_answer_is_never_that_of_another_prompt(vendor: Simulator, tmp_path: Path) -> None:
    """A key of two prompts is an error in one dataset, and stale in the next. A repeated batch is read again."""
    from emitter.integrations.ray import EmissionSpec  # noqa: PLC0415  needs Ray

    vendor.reset()
    spec = partial(EmissionSpec, Numbered, MODEL, key="id", store=partial(SqliteStore, tmp_path / "jobs.db"))
    answer, other = {"id": "a", "prompt": task(1)}, {"id": "a", "prompt": task(2)}
    refusal, question = {"id": "b", "prompt": task(3, "refuse")}, {"id": "b", "prompt": task(4)}
    found = emit_batches(spec(), [answer, refusal], [other, question], [answer, refusal])
    assert [row["value"] for row in found] == [{"n": 1}, None, None, None, {"n": 1}, None]
    assert [(row["error"] or "").partition(":")[0] for row in found] == [
        "",
        "Refused",
        *["InputError"] * 2,
        "",
        "Refused",
    ]
    assert "key 'a' was answered for another prompt" in found[2]["error"]
    assert [row["replayed"] for row in found] == [False] * 4 + [True] * 2
    assert not any(row["stale"] for row in found)
    assert found[2]["input_tokens"] == 0 < found[0]["input_tokens"]

    later = emit_batches(spec(), [other, question], [answer])
    assert [(row["value"], row["stale"], row["replayed"]) for row in later] == [
        ({"n": 1}, True, True),
        (None, True, True),
        ({"n": 1}, False, True),
    ]
    assert asked_of(vendor) == {1: 1, 3: 1}


def test_lost_rows_can_be_looked_up(vendor: Simulator, tmp_path: Path) -> None:
    """A listed row has the id of its request, and a row that is sent again is marked."""
    from emitter.integrations.ray import EmissionSpec  # noqa: PLC0415  needs Ray

    vendor.reset()
    spec = partial(EmissionSpec, Numbered, MODEL, key="id", store=partial(SqliteStore, tmp_path / "jobs.db"))
    rows = [{"id": n, "prompt": task(n)} for n in range(2)]
    emit_batches(spec(), rows[:1])
    with closing(sqlite3.connect(tmp_path / "jobs.db")) as database:
        ((run,),) = database.execute("SELECT run_id FROM emitter_jobs")
    with SqliteStore(tmp_path / "jobs.db") as store:
        store.jobs.claim(run, ["1"], "a process that is gone")

    listed = emit_batches(spec(options={"orphans": "list"}), rows)
    assert listed[1]["error"].startswith("UnknownOutcome")
    assert listed[1]["request_id"].startswith("emitter-")
    assert (listed[0]["request_id"], listed[1]["resent"]) == (None, False)
    again = emit_batches(spec(), rows)
    assert [(row["value"]["n"], row["resent"]) for row in again] == [(0, False), (1, True)]


def test_a_row_without_a_job_is_an_error_of_its_own(vendor: Simulator) -> None:
    """The other rows of its batch are sent."""
    from emitter.integrations.ray import EmissionSpec  # noqa: PLC0415  needs Ray

    vendor.reset()
    spec = partial(EmissionSpec, Numbered, MODEL, prompt=lambda row: task(int(row["n"])), key="id")
    rows = [{"id": "a", "n": "one"}, {"id": None, "n": "2"}, {"id": "c", "n": "3"}]
    found = emit_batches(spec(), rows)
    assert [row["value"] for row in found] == [None, None, {"n": 3}]
    assert [(row["error"] or "").partition(":")[0] for row in found] == ["ValueError", "InputError", ""]
    with pytest.raises(ValueError, match="one"):
        emit_batches(spec(errors="raise"), rows)


def test_a_raised_error_loses_no_answer_of_the_store(vendor: Simulator, tmp_path: Path) -> None:
    """All rows of the batch were answered and kept; without a store they are lost, and sent again."""
    from emitter.integrations.ray import EmissionSpec  # noqa: PLC0415  needs Ray

    rows = [{"id": n, "prompt": task(n, "refuse" if n == 0 else "")} for n in range(3)]
    for store, calls in ((None, 2), (partial(SqliteStore, tmp_path / "jobs.db"), 1)):
        vendor.reset()
        spec = partial(EmissionSpec, Numbered, MODEL, key="id", store=store)
        with pytest.raises(Refused):
            emit_batches(spec(errors="raise"), rows)
        emit_batches(spec(), rows)
        assert asked_of(vendor) == dict.fromkeys(range(3), calls)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"prompt": "task 1", "value": 1}, "'value' already"),
        ({"text": "task 1", "id": 1}, "no column 'prompt', only text"),
    ],
)
def test_columns_that_do_not_fit_are_refused(
    row: Mapping[str, Any],
    problem: str,
    cluster: None,  # noqa: ARG001
    vendor: Simulator,
) -> None:
    """On the driver if they are known there, and otherwise in the actor. Nothing was sent."""
    from emitter.integrations.ray import EmissionSpec, emit_dataset  # noqa: PLC0415  needs Ray

    rows = ray.data.from_items([row])
    with pytest.raises(InputError, match=problem):
        emit_dataset(Numbered, rows, model=MODEL)
    emit_dataset(Numbered, rows.map(lambda row: row), model=MODEL)  # nobody knows its columns yet
    vendor.reset()
    with pytest.raises(InputError, match=problem):
        emit_batches(EmissionSpec(Numbered, MODEL), [dict(row)])
    assert not vendor.calls


@pytest.mark.parametrize(
    ("options", "error", "problem"),
    [
        ({"store": SqliteStore}, InputError, "needs key="),
        ({"store": "jobs.db", "key": "id"}, InputError, "must be a function"),
        ({"errors": "hide"}, InputError, "errors="),
        ({"prompt": ["a"]}, InputError, "prompt= must be"),
        ({"form": "Invoice"}, Uncompilable, "is of type str"),
        ({"rate_limit": 600}, InputError, "rate_limit is of type int"),
        ({"orphans": "lst"}, InputError, "orphans= is 'lst'"),
        ({"temprature": 1}, TypeError, "Did you mean 'temperature'"),
        ({"journal": "run.jsonl"}, InputError, "Pass store="),
        ({"progress": True}, InputError, "on the driver"),
        ({"dataset": [{"prompt": "a"}]}, InputError, r"ray\.data\.from_items"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, dict) else "",
)
def test_wrong_options_are_refused(
    options: dict[str, Any], error: type[Exception], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything runs, on a driver without the vendor's key."""
    from emitter.integrations.ray import emit_dataset  # noqa: PLC0415  needs Ray

    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(error, match=problem):
        emit_dataset(**{"form": Numbered, "dataset": None, "model": MODEL, **options})


def test_the_driver_warns_of_an_unknown_model(vendor: Simulator) -> None:  # noqa: ARG001
    """Once, at the caller's line; the actors do not repeat it."""
    from emitter.integrations.ray import EmissionSpec  # noqa: PLC0415  needs Ray

    with pytest.warns(UnknownModelWarning) as caught:
        spec = EmissionSpec(Numbered, "openai/gpt-99")
    assert [each.filename for each in caught] == [__file__]
    with warnings.catch_warnings(record=True) as repeated:
        warnings.simplefilter("always")
        assert emit_batches(spec, [{"prompt": task(1)}])[0]["value"] == {"n": 1}
    assert not [each for each in repeated if each.category is UnknownModelWarning]


class Colour(Enum):
    """A choice."""

    RED = "red"


class Tree(BaseModel):
    """A recursive type."""

    name: str
    children: list[Tree] = []


class Line(BaseModel):
    """A position, with a name of its own for a field."""

    cents: int = Field(serialization_alias="amount")
    note: str | None = None


OPEN = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True}
NULLABLE = {"type": "object", "properties": {"a": {"type": ["integer", "null"]}, "b": {"type": "number"}}}
TREE = Tree(name="a", children=[Tree(name="b")])


@pytest.mark.parametrize(
    ("form", "value", "kind", "stored"),
    [
        (int, 3, "int64", 3),
        (list[float], [1, 2.5], "list<item: double>", [1.0, 2.5]),
        (Colour, Colour.RED, "string", "red"),
        (Line, Line(cents=5), "struct<amount: int64, note: string>", {"amount": 5, "note": None}),
        (int | str, "5", "string", '"5"'),
        (dict[str, int], {"a": 1}, "string", '{"a": 1}'),
        (tuple[int, str], (1, "a"), "string", '[1, "a"]'),
        (
            Tree,
            TREE,
            "struct<name: string, children: list<item: string>>",
            {"name": "a", "children": ['{"name": "b", "children": []}']},
        ),
        (OPEN, {"a": "b", "c": 1}, "string", '{"a": "b", "c": 1}'),
        (NULLABLE, {"a": None}, "struct<a: int64, b: double>", {"a": None, "b": None}),
    ],
    ids=lambda each: getattr(each, "__name__", str(each)[:30]),
)
def test_values_have_arrow_types(form: Any, value: Any, kind: str, stored: Any) -> None:
    """What has no single type is a string of JSON."""
    from emitter.integrations.ray import value_column  # noqa: PLC0415  needs Ray

    column = value_column(form)
    assert str(column.type) == kind
    assert pa.scalar(column.encode(value), column.type).as_py() == stored


def test_the_example_runs() -> None:
    """The second pass over the store pays for nothing."""
    command = [sys.executable, ROOT / "examples" / "ray_dataset.py"]
    environment = {**os.environ, "RAY_raylet_start_wait_time_s": "300"}  # on a busy machine
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=environment)
    assert ended.returncode == 0, ended.stderr
    assert "rows: 20 paid for now: 20" in ended.stdout
    assert "rows: 20 paid for now: 0" in ended.stdout
