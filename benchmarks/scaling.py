"""Several workers at once: how they share a limit, how they scale, and what they cost beside bare requests.

Run ``python -m benchmarks.scaling limits workers ray memory``, or some of them. The vendor is simulated, and its calls
are timed from the first to the last, so that starting the processes does not count.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from tests.stores.postgres import running

from benchmarks.distributed import IN_FLIGHT, LEASE, MODEL, Numbered, answer, jobs, spawn, two_nodes
from emitter import RateLimit
from emitter.bulk import emit_many
from emitter.stores import SqlStore
from emitter.testing import Overloaded, ReceivedRequest, simulator

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from emitter.testing import Behaviour

WORKERS, LIMIT, MINUTE = 4, 600, 60.0
LATENCY = 1.0
MODULE = "benchmarks.scaling"
ROUNDS = 40
"""Rows for each call in flight."""


class Vendor:
    """Times its calls, and refuses those above a limit a minute."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit, self.refused = limit, 0
        self.accepted: list[float] = []
        self._window: deque[float] = deque()
        self._lock = threading.Lock()

    def __call__(self, request: ReceivedRequest) -> Behaviour:
        """Answer a call."""
        with self._lock:
            now = time.monotonic()
            while self._window and self._window[0] <= now - MINUTE:
                self._window.popleft()
            if self.limit is not None and len(self._window) >= self.limit:
                self.refused += 1
                return Overloaded(status=429, retry_after=1.0)
            self._window.append(now)
            self.accepted.append(now)
        return answer(request)

    @property
    def seconds(self) -> float:
        """Seconds from the first accepted call to the last."""
        return self.accepted[-1] - self.accepted[0]

    @property
    def rate(self) -> float:
        """Accepted calls a second."""
        return (len(self.accepted) - 1) / self.seconds


def report(**figures: Any) -> None:
    """Print figures, with the load of the machine."""
    print(json.dumps({**figures, "load": round(os.getloadavg()[0], 1)}), flush=True)  # noqa: T201


def run_part(url: str, rows: int, part: int, parts: int, limit: int) -> None:
    """Work on a part of the rows over PostgreSQL, in a process of its own."""
    with SqlStore(url) as store:
        options: Any = {"store": store, "lease": LEASE, "in_flight": IN_FLIGHT, "ordered": False}
        options["rate_limit"] = RateLimit(limit) if limit else None
        mine = [each for number, each in enumerate(jobs(rows)) if number % parts == part]
        failed = sum(item.error is not None for item in emit_many(Numbered, mine, model=MODEL, **options))
    if failed:
        raise RuntimeError(f"{failed} rows failed.")


def run_workers(vendor: Vendor, rows: int, workers: int, latency: float, limit: int = 0) -> None:
    """Run the rows in plain processes over PostgreSQL, to their end."""
    with simulator(answers=vendor, latency=latency, keep=100) as server, running() as postgres:
        os.environ |= server.environment()
        parts = [("part", postgres.url(), rows, n, workers, limit) for n in range(workers)]
        started = [spawn(*part, module=MODULE) for part in parts]
        statuses = [worker.wait() for worker in started]
        if any(statuses):
            raise RuntimeError("A worker failed.")


def measure_limits() -> None:
    """Print how four workers keep and use a limit that they share."""
    vendor = Vendor(LIMIT)
    run_workers(vendor, 1_500, WORKERS, latency=0.3, limit=LIMIT)
    calls = len(vendor.accepted) + vendor.refused
    used = vendor.rate * MINUTE / LIMIT
    report(measured="limits", calls=calls, share_of_429=vendor.refused / calls, allowance_used=round(used, 3))


def measure_workers() -> None:
    """Print how the rate grows from one worker to four."""
    rates = {}
    for workers in (1, WORKERS):
        vendor = Vendor()
        run_workers(vendor, IN_FLIGHT * ROUNDS * workers, workers, LATENCY)
        rates[workers] = round(vendor.rate, 2)
    report(measured="workers", a_second=rates, times=round(rates[WORKERS] / rates[1], 2))


class BareMapper:
    """The bare engine: the same posts with ``httpx2`` alone, and as many at once."""

    def __init__(self) -> None:
        import httpx2  # noqa: PLC0415  in the actor

        self._client = httpx2.AsyncClient(timeout=600, limits=httpx2.Limits(max_connections=IN_FLIGHT))

    async def __call__(self, batch: Any) -> AsyncIterator[Any]:
        """Yield a batch with its answers."""
        import asyncio  # noqa: PLC0415  in the actor

        async def post(prompt: str) -> str:
            body = {"model": MODEL.partition("/")[2], "input": prompt}
            url, key = os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"]
            response = await self._client.post(
                f"{url}/responses", json=body, headers={"Authorization": f"Bearer {key}"}
            )
            return response.raise_for_status().text

        answers = await asyncio.gather(*map(post, batch["prompt"].to_pylist()))
        yield batch.append_column("answer", [list(answers)])


def run_mapped(address: str, rows: int, actors: int, bare: int) -> None:
    """Map the rows on a Ray cluster as its driver, in a process of its own, and print the driver's memory."""
    import resource  # noqa: PLC0415  Windows has none

    import ray  # noqa: PLC0415  an extra

    from emitter.integrations.ray import emit_dataset  # noqa: PLC0415  an extra

    ray.init(address=address, logging_level="ERROR", log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    table = ray.data.range(rows).map(lambda row: {"prompt": f"task {row['id']}"})
    batch_size = IN_FLIGHT * 2
    if bare:
        pool = ray.data.ActorPoolStrategy(size=actors)
        options: Any = {"batch_format": "pyarrow", "compute": pool, "num_cpus": 1}
        mapped = table.map_batches(BareMapper, batch_size=batch_size, **options)
    else:
        mapped = emit_dataset(Numbered, table, model=MODEL, actors=actors, batch_size=batch_size, in_flight=IN_FLIGHT)
    done = sum(row.get("error") is None for row in mapped.iter_rows())
    print(json.dumps({"done": done, "driver_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))  # noqa: T201


def map_rows(rows: int, actors: int, latency: float, *, bare: bool = False) -> tuple[Vendor, dict[str, int]]:
    """Map rows on a cluster of two nodes, and return the vendor and what the driver printed."""
    vendor = Vendor()
    with simulator(answers=vendor, latency=latency, keep=100) as server:
        os.environ |= server.environment()
        with two_nodes() as (nodes, _):
            driver = spawn("mapped", nodes.address, rows, actors, int(bare), module=MODULE, output=subprocess.PIPE)
            printed, _ = driver.communicate()
    return vendor, json.loads(printed.splitlines()[-1])


def measure_ray() -> None:
    """Print the rate of actors beside bare posts, and how it grows from one actor to three."""
    for actors in (1, 3):
        rates = {}
        for bare in (True, False):
            vendor, _ = map_rows(IN_FLIGHT * ROUNDS * actors, actors, LATENCY, bare=bare)
            rates["bare" if bare else "emitter"] = round(vendor.rate, 2)
        report(measured="ray", actors=actors, a_second=rates, share=round(rates["emitter"] / rates["bare"], 2))


def measure_memory() -> None:
    """Print the driver's memory for numbers of rows."""
    for rows in (10_000, 200_000):
        vendor, printed = map_rows(rows, 3, 0.0)
        report(measured="memory", rows=rows, a_second=round(vendor.rate, 1), **printed)


MEASURES: dict[str, Callable[[], None]] = {
    "limits": measure_limits,
    "workers": measure_workers,
    "ray": measure_ray,
    "memory": measure_memory,
}


def main() -> None:
    """Measure what is named, or be one of the workers."""
    workers: dict[str, Callable[..., None]] = {"part": run_part, "mapped": run_mapped}
    if sys.argv[1:2] and sys.argv[1] in workers:
        workers[sys.argv[1]](*(int(each) if each.isdecimal() else each for each in sys.argv[2:]))
        return
    for name in sys.argv[1:] or MEASURES:
        MEASURES[name]()


if __name__ == "__main__":
    main()
