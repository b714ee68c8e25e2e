"""The numbers of one run, and the file that they are kept in."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.libraries import ROOT, Runner, missing, present
from emitter.tokens import has_exact_counter

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = Path(__file__).with_name("results.json")
"""What a full run writes, and the README's table is made from."""
QUICK_FILE = ROOT / "build" / "benchmark-quick.json"
ENCODING = "o200k_base"
"""What the simulator counts tokens in, where its rank file is at hand."""
SECTIONS = ("about", "faults", "overhead", "streaming", "recovery", "imports", "load")
_HERE = ("llm-emitter", "openai", "anthropic", "google-genai", "httpx2", "pydantic", "json_repair")


def about(*, quick: bool) -> dict[str, Any]:
    """Return when, how and with what it is measured; of the machine only its class."""
    return {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "mode": "quick" if quick else "full",
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}",
        "tokens": f"counted in {ENCODING}"
        if has_exact_counter(ENCODING)
        else f"estimated, never fewer than in {ENCODING}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "versions": {"here": _versions(), **_of_libraries()},
        "missing": missing(),
    }


def _versions() -> dict[str, str]:
    found = {}
    for each in _HERE:
        with suppress(PackageNotFoundError):
            found[each] = version(each)
    return found


def _of_libraries() -> dict[str, dict[str, str]]:
    found = {}
    for each in present():
        with Runner(each) as runner:
            found[each.name] = runner.versions()
    return found


def save(results: Mapping[str, Any], file: Path | None = None) -> Path:
    """Write the results, one line for each row, to where the environment or the mode says; return the path."""
    reported = os.environ.get("BENCHMARK_RESULTS")
    target = file or (Path(reported) if reported else FILE if results["about"]["mode"] == "full" else QUICK_FILE)
    target.parent.mkdir(parents=True, exist_ok=True)
    sections = ",\n".join(f"{json.dumps(name)}: {_lines(each)}" for name, each in results.items())
    target.write_text(f"{{\n{sections}\n}}\n", "utf-8")
    return target


def load(file: Path = FILE) -> dict[str, Any]:
    """Return the results that a file holds."""
    sections: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return {name: _tables(each) if "columns" in each else each for name, each in sections.items()}


def _tables(section: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(section["columns"], row, strict=True)) for row in section["rows"]]


def _lines(section: Any) -> str:
    """Write a list or table with one entry a line, so that two runs can be compared; names of columns once."""
    if isinstance(section, list):
        rows = ",\n".join(f"  {json.dumps(list(each.values()))}" for each in section)
        return f'{{"columns": {json.dumps(list(section[0]))}, "rows": [\n{rows}\n]}}'
    return "{\n" + ",\n".join(f"  {json.dumps(name)}: {json.dumps(each)}" for name, each in section.items()) + "\n}"
