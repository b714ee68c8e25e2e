"""Compare libraries on a real model: ``python -m benchmarks.real``, a table in Markdown.

The same twelve pydantic models, texts, budget, server and model (SmolLM2-135M on llama.cpp, see ``make real``) go
through this library, the SDK's parse helper, instructor (``JSON_SCHEMA``) and pydantic-ai (``NativeOutput``), at
temperature 0 and with three seeds. A value is right if it equals the one that the text states. Libraries that are not
installed are left out (``make peers``).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

from tests.real.server import is_installed, real_server

from benchmarks.libraries import ROOT
from benchmarks.page import note, say

if TYPE_CHECKING:
    from collections.abc import Iterator

ENVIRONMENTS: Final = {"emitter": "", "sdk": "", "instructor": "peer-instructor", "pydantic-ai": "peer-pydantic-ai"}
COLUMNS: Final = ("answers", "right", "wrong", "errors", "calls", "output tokens", "seconds")


def rows(library: str, url: str) -> Iterator[dict[str, Any]]:
    """Yield the result of each task with a library, as it comes."""
    environment = ENVIRONMENTS[library]
    python = ROOT / ".venv" / environment / "bin" / "python" if environment else sys.executable
    command = [python, "-W", "ignore", "-m", "benchmarks.runners.real_runner", library, url]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  our own module
        assert process.stdout is not None  # noqa: S101  it is a pipe
        for line in process.stdout:
            yield json.loads(line)


def add_up(found: list[dict[str, Any]]) -> tuple[float, ...]:
    """Return the figures of a library in the order of ``COLUMNS``."""
    errors = sum(bool(row["error"]) for row in found)
    right = sum(row["right"] for row in found)
    calls, tokens = sum(row["calls"] for row in found), sum(row["tokens"] for row in found)
    seconds = sum(row["seconds"] for row in found)
    return len(found) - errors, right, len(found) - errors - right, errors, calls, tokens, round(seconds, 1)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real", description=__doc__)
    parser.add_argument("libraries", nargs="*", help="only these (default: all that are installed)")
    chosen = parser.parse_args().libraries or list(ENVIRONMENTS)
    if not is_installed():
        note("error: no model is installed: make real")
        return 2
    say(f"| | {' | '.join(COLUMNS)} |")
    say(f"|---|{'--:|' * len(COLUMNS)}")
    with real_server() as url:
        for library in chosen:
            if ENVIRONMENTS[library] and not (ROOT / ".venv" / ENVIRONMENTS[library] / "installed").exists():
                note(f"left out: {library} is not installed; make peers")
                continue
            found: list[dict[str, Any]] = []
            for row in rows(library, url):
                found.append(row)
                note(f"{library} {row['task']}: {row['error'] or ('right' if row['right'] else 'wrong')}")
            say(f"| {library} | {' | '.join(f'{figure:,}' for figure in add_up(found))} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
