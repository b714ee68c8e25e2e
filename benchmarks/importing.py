"""What an import costs a fresh interpreter, beside pydantic's, and which heavy packages it brings along."""

from __future__ import annotations

import json
import subprocess
import sys
from statistics import median
from typing import Any

from benchmarks.libraries import ROOT

STATEMENTS = (
    "pass",
    "import pydantic",
    "import emitter",
    "from pydantic import BaseModel",
    "from emitter import emit_binding_moment",
)
HEAVY = ("openai", "anthropic", "google.genai", "httpx2", "tiktoken", "json_repair", "tqdm", "jsonschema_rs")
_PROGRAM = """
import sys, time
started = time.perf_counter()
{statement}
seconds = time.perf_counter() - started
import json
print(json.dumps([seconds, len(sys.modules), [each for each in {heavy!r} if each in sys.modules]]))
"""
_MILLI = 1e3


def measured(rounds: int) -> dict[str, dict[str, Any]]:
    """Return, for each statement, the median milliseconds by the clock, the modules loaded, and the heavy ones of them.

    Each runs in an interpreter of its own; they take turns, after one round that does not count (it fills the caches
    of files).
    """
    taken: dict[str, list[float]] = {each: [] for each in STATEMENTS}
    loaded: dict[str, tuple[int, list[str]]] = {}
    for count in range(rounds + 1):
        for each in STATEMENTS:
            seconds, modules, heavy = _fresh(each)
            taken[each].extend([seconds] if count else [])
            loaded[each] = modules, heavy
    return {
        each: {"ms": round(median(taken[each]) * _MILLI, 1), "modules": loaded[each][0], "heavy": loaded[each][1]}
        for each in STATEMENTS
    }


def _fresh(statement: str) -> tuple[float, int, list[str]]:
    program = _PROGRAM.format(statement=statement, heavy=HEAVY)
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=True)  # noqa: S603  our own
    seconds, modules, heavy = json.loads(ran.stdout)
    return seconds, modules, heavy
