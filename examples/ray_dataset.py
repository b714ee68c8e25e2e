"""Invoices in a Ray dataset, read by a model, with typed columns.

    python examples/ray_dataset.py      # on a simulated vendor: no key, no network

Ray starts the actors, hands them batches, and starts lost ones again. The store keeps what was paid for: run it again
over the same store, and every row is read from it. Needs the extra ``ray``.
"""

from __future__ import annotations

import os
import tempfile
from functools import partial
from pathlib import Path

import ray
from pydantic import BaseModel

from emitter import RateLimit
from emitter.integrations.ray import emit_dataset
from emitter.stores import SqliteStore
from emitter.testing import Text, simulator


class Invoice(BaseModel):
    """What is read."""

    vendor: str
    cents: int


def read_invoices(rows: ray.data.Dataset, file: Path) -> ray.data.Dataset:
    """Return the rows with their invoices, which are kept: to count and sum them sends nothing again."""
    return emit_dataset(
        Invoice,
        rows,
        model="openai/gpt-6-sol",
        key="id",
        store=partial(SqliteStore, file),  # SqlStore for several machines
        rate_limit=RateLimit(requests_per_minute=6_000),
        orphans="list",
    ).materialize()


def main(folder: Path, environment: dict[str, str]) -> None:
    """Emit for each row, twice."""
    ray.init("local", num_cpus=4, logging_level="ERROR", log_to_driver=False, runtime_env={"env_vars": environment})
    rows = ray.data.from_items([{"id": n, "prompt": f"Invoice {n}: Acme, 12.50 euros."} for n in range(20)])
    for _ in range(2):
        done = read_invoices(rows, folder / "jobs.db")
        paid = done.filter(lambda row: not row["replayed"]).count()
        print("rows:", done.count(), "paid for now:", paid, "tokens:", done.sum("output_tokens"))
    print(done.schema())
    ray.shutdown()


if __name__ == "__main__":
    os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
    with (
        simulator(answers=lambda _: Text({"vendor": "Acme", "cents": 1250})) as vendor,
        tempfile.TemporaryDirectory() as name,
    ):
        main(Path(name), vendor.environment())
