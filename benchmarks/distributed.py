"""Rows through several processes that are killed at drawn moments: which come out, and what was paid twice.

``make distributed`` prints a table. The vendor is simulated, with latency, and counts its calls. Each engine works on
the same rows until all are done; meanwhile its processes get SIGKILL and are started again.
"""

from __future__ import annotations

import argparse
import asyncio
import faulthandler
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from tests.stores.postgres import running

from emitter.bulk import Job, emit_many
from emitter.errors import UnknownOutcome
from emitter.stores import SqlStore
from emitter.testing import ReceivedRequest, Simulator, Text, simulator

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

MODEL = "openai/gpt-6-sol"
LATENCY = 0.5
WORKERS, IN_FLIGHT, KILLS, LEASE = 4, 16, 6, 3.0
GROUP = 50
"""Rows of a DBOS workflow."""
_NUMBER = re.compile(r"task (\d+)")


class Numbered(BaseModel):
    """The number of a row."""

    n: int


def number_in(body: Any) -> int:
    """Return the number of the row that a request is about."""
    found = _NUMBER.search(str(body))
    return -1 if found is None else int(found[1])


def answer(request: ReceivedRequest) -> Text:
    """Answer with the number of the row."""
    return Text({"n": number_in(request.body)})


def jobs(rows: int, first: int = 0) -> Iterator[Job]:
    """Yield all rows, beginning with one that depends on the worker."""
    for number in range(rows):
        n = (number + first) % rows
        yield Job(f"task {n}", key=f"row-{n}")


def judge(error: object, value: int | None, expected: int) -> str:
    """Return what became of a row."""
    if error is not None:
        return "listed" if "UnknownOutcome" in (type(error).__name__, str(error).partition(":")[0]) else "failed"
    return "rows" if value == expected else "wrong"


def run_worker(url: str, rows: int, orphans: Any, number: int) -> None:
    """Work on the rows over PostgreSQL, in a process of its own."""
    with SqlStore(url) as store:
        options: Any = {"store": store, "orphans": orphans, "lease": LEASE, "in_flight": IN_FLIGHT, "ordered": False}
        first = number * rows // WORKERS
        found = Counter(
            judge(item.error, None if item.error else item.value.n, (item.index + first) % rows)
            for item in emit_many(Numbered, jobs(rows, first), model=MODEL, progress=False, **options)
        )
    print(json.dumps(found))  # noqa: T201


def run_dbos(url: str, system: str, rows: int, orphans: Any) -> None:
    """Work on the rows in DBOS workflows, in a process of its own."""
    from dbos import DBOS, SetWorkflowID  # noqa: PLC0415  an extra

    from emitter.integrations.dbos import aemit  # noqa: PLC0415  an extra

    store = SqlStore(url)

    @DBOS.workflow()
    async def emit_group(first: int) -> Counter[str]:
        async def emit_row(n: int) -> str:
            options: Any = {"store": store, "orphans": orphans, "lease": LEASE}
            try:
                emission = await aemit(Numbered, f"task {n}", model=MODEL, **options)
            except UnknownOutcome:
                return "listed"
            return "rows" if emission.value.n == n else "wrong"

        return Counter([await emit_row(n) for n in range(first, min(first + GROUP, rows))])

    async def start() -> None:
        DBOS.launch()
        handles = []
        for first in range(0, rows, GROUP):
            with SetWorkflowID(f"group-{first}"):
                handles.append(await DBOS.start_workflow_async(emit_group, first))
        print(json.dumps(sum([Counter(await handle.get_result()) for handle in handles], Counter())))  # noqa: T201

    DBOS(config={"name": "distributed", "system_database_url": system, "log_level": "ERROR"})
    asyncio.run(start())


def run_ray(address: str, url: str, rows: int, orphans: Any) -> None:
    """Work on the rows as the driver of a Ray cluster, in a process of its own."""
    import ray  # noqa: PLC0415  an extra

    from emitter.integrations.ray import emit_dataset  # noqa: PLC0415  an extra

    ray.init(address=address, logging_level="ERROR", log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    table = ray.data.from_items([{"id": f"row-{n}", "n": n, "prompt": f"task {n}"} for n in range(rows)])
    store = partial(SqlStore, url)
    options: Any = {"orphans": orphans, "lease": LEASE, "in_flight": IN_FLIGHT}
    done = emit_dataset(Numbered, table, model=MODEL, key="id", store=store, actors=3, batch_size=50, **options)
    found = Counter(judge(row["error"], row["value"] and row["value"]["n"], row["n"]) for row in done.iter_rows())
    print(json.dumps(found))  # noqa: T201


@dataclass
class Trial:
    """One engine at work on the rows."""

    url: str
    rows: int
    orphans: str
    vendor: Simulator
    seed: int = 18
    draw: random.Random = field(init=False)
    printed: list[dict[str, int]] = field(default_factory=list)
    """The rows that each worker got, by what became of them."""

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)  # noqa: S311  the same moments each time

    def draw_moments(self, count: int) -> list[int]:
        """Return after how many calls to kill."""
        return sorted(self.draw.sample(range(self.rows // 20, self.rows * 9 // 10), count))


def spawn(
    *arguments: object, module: str = "benchmarks.distributed", output: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """Start a program as a worker."""
    return subprocess.Popen([sys.executable, "-m", module, *map(str, arguments)], stdout=output)  # noqa: S603


def keep_running(commands: list[tuple[object, ...]], trial: Trial, kills: int) -> int:
    """Run the workers to their end. After drawn numbers of calls, kill one and start it again. Return the kills."""
    workers = [spawn(*command, output=subprocess.PIPE) for command in commands]
    moments, done = trial.draw_moments(kills), 0
    while any(worker.poll() != 0 for worker in workers):
        time.sleep(0.05)
        for number, worker in enumerate(workers):
            if worker.poll() == -signal.SIGKILL:
                workers[number] = spawn(*commands[number], output=subprocess.PIPE)
            elif worker.poll() not in (None, 0):
                raise RuntimeError(f"A worker failed with status {worker.returncode}.")
        alive = [worker for worker in workers if worker.poll() is None]
        if moments and alive and len(trial.vendor.calls) >= moments[0]:
            trial.draw.choice(alive).send_signal(signal.SIGKILL)
            moments.pop(0)
            done += 1
    outputs = [worker.communicate()[0].splitlines() for worker in workers]
    trial.printed = [json.loads(next(line for line in reversed(lines) if line.startswith(b"{"))) for lines in outputs]
    return done


def kill_actors(trial: Trial, ended: threading.Event, killed: list[str], nodes: Any, spare: Any) -> None:
    """Kill actors of the dataset after drawn numbers of calls, and one node, which is replaced."""
    import psutil  # noqa: PLC0415  for this engine only

    for turn, moment in enumerate(trial.draw_moments(4)):
        while len(trial.vendor.calls) < moment:
            if ended.wait(0.1):
                return
        if turn == 2:  # noqa: PLR2004  in the middle
            nodes.remove_node(spare, allow_graceful=False)
            nodes.add_node(num_cpus=2)
            killed.append("node")
            continue
        actors = [
            each
            for each in psutil.process_iter(["cmdline"])
            if "EmissionMapper" in " ".join(each.info["cmdline"] or ())
        ]
        if actors:
            trial.draw.choice(actors).send_signal(signal.SIGKILL)
            killed.append("actor")


def try_processes(trial: Trial) -> str:
    """Run four plain processes over PostgreSQL."""
    commands = [("worker", trial.url, trial.rows, trial.orphans, n) for n in range(WORKERS)]
    return f"{keep_running(commands, trial, KILLS)} processes"


def try_dbos(trial: Trial) -> str:
    """Run one process of DBOS workflows, which recover."""
    system = trial.url.replace("?", "_dbos?")
    return f"{keep_running([('dbos', trial.url, system, trial.rows, trial.orphans)], trial, 3)} processes"


@contextmanager
def two_nodes() -> Generator[tuple[Any, Any]]:
    """Run a Ray cluster of two nodes with two CPUs each, and yield it and its second node."""
    os.environ |= {
        "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
        "RAY_raylet_start_wait_time_s": "120",
        "PYTHONPATH": str(Path.cwd()),
    }
    from ray.cluster_utils import Cluster  # noqa: PLC0415  an extra

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
    try:
        yield nodes, nodes.add_node(num_cpus=2)
    finally:
        nodes.shutdown()


def try_ray(trial: Trial) -> str:
    """Run a cluster of two nodes; actors, a node and the driver are killed."""
    ended, killed = threading.Event(), list[str]()
    with two_nodes() as (nodes, spare), ThreadPoolExecutor(1) as pool:
        drivers = pool.submit(keep_running, [("ray", nodes.address, trial.url, trial.rows, trial.orphans)], trial, 1)
        drivers.add_done_callback(lambda _: ended.set())
        kill_actors(trial, ended, killed, nodes, spare)  # a node can be added by the main thread only
    return f"{killed.count('actor')} actors, {killed.count('node')} nodes, {drivers.result()} drivers"


ENGINES: dict[str, Callable[[Trial], str]] = {
    "processes": try_processes,
    "dbos": try_dbos,
    "ray": try_ray,
}


def measure(engine: str, trial: Trial) -> dict[str, Any]:
    """Return what came of the rows, and what the vendor counted."""
    vendor = trial.vendor
    vendor.reset()
    started = time.monotonic()
    kills = ENGINES[engine](trial)
    seconds = time.monotonic() - started
    paid = Counter(number_in(call.body) for call in vendor.calls)
    return {
        "engine": engine,
        "orphans": trial.orphans,
        "killed": kills,
        **{kind: min(each.get(kind, 0) for each in trial.printed) for kind in ("rows", "listed")},
        "wrong": sum(each.get("wrong", 0) for each in trial.printed),
        "calls": paid.total(),
        "paid_twice": sum(count - 1 for count in paid.values()),
        "seconds": round(seconds, 1),
    }


def main() -> None:
    """Measure each engine with each policy, or be one of the workers."""
    workers: dict[str, Callable[..., None]] = {"worker": run_worker, "dbos": run_dbos, "ray": run_ray}
    if sys.argv[1:2] and sys.argv[1] in workers:
        faulthandler.register(signal.SIGUSR1)
        arguments = [int(each) if each.isdecimal() else each for each in sys.argv[2:]]
        workers[sys.argv[1]](*arguments)
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--orphans", default="list,resend")
    parser.add_argument("--seed", type=int, default=18)
    options = parser.parse_args()
    with ExitStack() as stack:
        vendor = stack.enter_context(simulator(answers=answer, latency=LATENCY, keep=None))
        os.environ |= vendor.environment()
        server = stack.enter_context(running())
        for number, (engine, orphans) in enumerate(
            (engine, orphans) for engine in options.engines.split(",") for orphans in options.orphans.split(",")
        ):
            with server.connected() as connection:
                for name in (f"d{number}", f"d{number}_dbos"):
                    connection.execute(f"CREATE DATABASE {name}".encode())
            url = f"postgresql://emitter@/d{number}?host={server.folder}"
            print(json.dumps(measure(engine, Trial(url, options.rows, orphans, vendor, options.seed))), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
