"""What the shared store of a run costs: claims, outcomes and leases a second on one PostgreSQL, and bytes a row.

Run ``python -m benchmarks.claims``. The server is a temporary one that does not wait for the disk (fsync off).
"""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

from tests.stores.postgres import Postgres, running

from benchmarks.distributed import MODEL, Numbered, answer, jobs
from emitter.bulk import emit_many
from emitter.stores import SqlStore
from emitter.stores.jobs import JobTable, Outcome, SlotRequest
from emitter.testing import simulator

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 2.0
ENTRY = "x" * 1_500


def rate(step: Callable[[int], int]) -> int:
    """Return how many a second ``step`` does; it takes the number of its call."""
    started, done, turn = time.perf_counter(), 0, 0
    while (elapsed := time.perf_counter() - started) < SECONDS:
        done, turn = done + step(turn), turn + 1
    return round(done / elapsed)


def measure_table(table: JobTable) -> None:
    """Print the rates of one connection."""
    table.renew("holder", 3600)
    for size in (1, 32, 256):

        def claim(turn: int, size: int = size) -> int:
            return len(table.claim("run", [f"{size}-{turn}-{n}" for n in range(size)], "holder"))

        def finish(turn: int, size: int = size) -> int:
            table.finish("run", [Outcome(f"{size}-{turn}-{n}", ENTRY, True) for n in range(size)], "holder")
            return size

        print(json.dumps({"together": size, "claims/s": rate(claim), "outcomes/s": rate(finish)}), flush=True)  # noqa: T201
    request = SlotRequest(10, 1_000, 10**9, 10**9)
    print(json.dumps({"leases/s": rate(lambda _: len([table.lease_slots("limit", request)]))}), flush=True)  # noqa: T201


def measure_rows(server: Postgres, store: SqlStore, rows: int) -> None:
    """Print what the rows of a run take on the disk."""
    with simulator(answers=answer) as vendor:
        os.environ |= vendor.environment()
        emit_many(Numbered, jobs(rows), model=MODEL, store=store, progress=False).results()
    with server.connected() as connection:
        (schema,) = connection.execute(
            "SELECT schemaname FROM pg_tables WHERE tablename = 'emitter_jobs'"
        ).fetchone() or ("",)
        size = connection.execute(f"SELECT pg_total_relation_size('{schema}.emitter_jobs')".encode()).fetchone() or (0,)
    print(json.dumps({"rows": rows, "bytes a row": round(size[0] / rows)}), flush=True)  # noqa: T201


if __name__ == "__main__":
    print(json.dumps({"load": os.getloadavg()[0], "cores": os.cpu_count()}), flush=True)  # noqa: T201
    with running() as found, SqlStore(found.empty()) as first:
        measure_rows(found, first, 1_000)
        measure_table(first.jobs)
