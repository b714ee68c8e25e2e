"""What an import and the first emission cost a fresh interpreter: ``python -m benchmarks.importing``.

An import stands beside pydantic's, with the heavy packages that it brings along. An emission is made with an SDK that
is loaded already, to a simulator of another process.
"""

from __future__ import annotations

import json
import subprocess
import sys
from statistics import median
from typing import Any

from benchmarks.libraries import ROOT
from emitter.testing import Text, simulator

STATEMENTS = (
    "pass",
    "import pydantic",
    "import emitter",
    "from pydantic import BaseModel",
    "from emitter import emit",
    "from emitter import emit_binding_moment",
)
HEAVY = ("openai", "anthropic", "google.genai", "httpx2", "tiktoken", "json_repair", "tqdm", "jsonschema_rs")
_PROGRAM = """
import sys, time
started, spent = time.perf_counter(), time.process_time()
{statement}
seconds, spent = time.perf_counter() - started, time.process_time() - spent
import json
print(json.dumps([seconds, spent, len(sys.modules), [each for each in {heavy!r} if each in sys.modules]]))
"""
_FIRST = """
import json, sys, time
from openai import OpenAI
from pydantic import BaseModel
class Order(BaseModel):
    name: str
    count: int
client = OpenAI(api_key="none", base_url=sys.argv[1])
taken = [time.process_time()]
from emitter import emit
taken.append(time.process_time())
for _ in range(2):
    emit(Order, "One tea.", model="openai/gpt-6-sol", client=client)
    taken.append(time.process_time())
print(json.dumps([later - earlier for earlier, later in zip(taken, taken[1:])]))
"""
STEPS = ("import", "first emission", "second emission")
_MILLI = 1e3


def measured(rounds: int) -> dict[str, dict[str, Any]]:
    """Return, for each statement, the median milliseconds, the modules loaded, and the heavy ones of them.

    ``ms`` is by the clock, ``cpu_ms`` of the processor.
    Each runs in an interpreter of its own; they take turns, after one round that does not count (it fills the caches
    of files).
    """
    taken: dict[str, list[tuple[float, float]]] = {each: [] for each in STATEMENTS}
    loaded: dict[str, tuple[int, list[str]]] = {}
    for count in range(rounds + 1):
        for each in STATEMENTS:
            seconds, spent, modules, heavy = _fresh(each)
            taken[each].extend([(seconds, spent)] if count else [])
            loaded[each] = modules, heavy
    return {each: _row(taken[each], *loaded[each]) for each in STATEMENTS}


def _row(taken: list[tuple[float, float]], modules: int, heavy: list[str]) -> dict[str, Any]:
    wall, cpu = (round(median(kind) * _MILLI, 1) for kind in zip(*taken, strict=True))
    return {"ms": wall, "cpu_ms": cpu, "modules": modules, "heavy": heavy}


def _fresh(statement: str) -> tuple[float, float, int, list[str]]:
    program = _PROGRAM.format(statement=statement, heavy=HEAVY)
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=True)  # noqa: S603  our own
    seconds, spent, modules, heavy = json.loads(ran.stdout)
    return seconds, spent, modules, heavy


def first_emission(rounds: int) -> dict[str, float]:
    """Return the median milliseconds of the processor that the import, the first and the second emission take."""
    with simulator(answers=Text({"name": "tea", "count": 1})) as vendor:
        program = [sys.executable, "-c", _FIRST, f"{vendor.url}/v1"]
        ran = [subprocess.run(program, cwd=ROOT, capture_output=True, check=True) for _ in range(rounds + 1)]  # noqa: S603
    taken = zip(*(json.loads(each.stdout) for each in ran[1:]), strict=True)
    return {step: round(median(kind) * _MILLI, 1) for step, kind in zip(STEPS, taken, strict=True)}


def main() -> None:
    """Print both."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    for statement, each in measured(rounds).items():
        reported = f"{each['cpu_ms']:8.1f} ms cpu {each['ms']:8.1f} ms wall {each['modules']:5} modules"
        sys.stdout.write(f"{statement:42}{reported}\n")
    for step, spent in first_emission(rounds).items():
        sys.stdout.write(f"{step:42}{spent:8.1f} ms cpu\n")


if __name__ == "__main__":
    main()
