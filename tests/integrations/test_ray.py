"""Emissions over a Ray dataset, on a cluster of two nodes in this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel, Field

from emitter import RateLimit
from emitter.errors import InputError
from emitter.stores import SqliteStore
from emitter.stores.slots import SlotRequest
from tests.bulk.asking import MODEL, Numbered, answered, asked_of, serving, task

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def test_a_dataset_that_has_such_a_column_is_refused() -> None:
    """Two columns of one name could not be told apart. Nothing was sent."""
    from emitter.integrations.ray import EmissionMapper, EmissionSpec  # noqa: PLC0415  needs Ray

    with pytest.MonkeyPatch.context() as patch, serving(answered, patch) as quiet:
        mapper = EmissionMapper(EmissionSpec(Numbered, MODEL))
        with pytest.raises(InputError, match="'value' already"):
            anext(mapper(pa.table({"prompt": ["task 1"], "value": [1]}))).send(None)
    assert not quiet.calls


def test_wrong_options_are_refused() -> None:
    """Before anything runs."""
    from emitter.integrations.ray import emit_dataset  # noqa: PLC0415  needs Ray

    with pytest.raises(InputError, match="needs key="):
        emit_dataset(Numbered, None, model=MODEL, store=SqliteStore)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="errors="):
        emit_dataset(Numbered, None, model=MODEL, errors="hide")  # type: ignore[arg-type]


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
