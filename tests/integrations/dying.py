"""Run an example again and again, each time in a process of its own: ``dying.py EXAMPLE``.

Each line of standard input is a run: JSON with its ``arguments``, the file for its ``output``, and whether it ``dies``,
which is between an approval and its act: the act is confirmed, and no intent is written. The answer is its status. The
processes are forked from one that has imported what the example imports, since that is what takes time.
"""

from __future__ import annotations

import ast
import gc
import importlib
import json
import os
import runpy
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from emitter.authority import execution


def die(*_: object, **__: object) -> None:
    """Die like a process whose machine lost its power."""
    os.kill(os.getpid(), signal.SIGKILL)


def import_all(example: Path) -> None:
    """Import what an example imports, but for its neighbours, which begin to act."""
    statements = ast.parse(example.read_text(encoding="utf-8")).body
    imports = [[each.name for each in one.names] for one in statements if isinstance(one, ast.Import)]
    imports += [[one.module] for one in statements if isinstance(one, ast.ImportFrom) and one.module]
    for name in (name for names in imports for name in names if not (example.parent / f"{name}.py").exists()):
        importlib.import_module(name)


def run(example: Path, arguments: list[str], output: str, *, dies: bool) -> None:
    """Run the example in this process."""
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(file, stream)
    if dies:
        execution.execute_confirmed = die  # type: ignore[assignment]  # it comes to nothing
    sys.argv = [str(example), *arguments]
    runpy.run_path(str(example), run_name="__main__")


def fork(example: Path, job: Any) -> int:
    """Run the example in a process of its own, and return its status, once whatever it has started is ended."""
    child = os.fork()
    if child == 0:
        run(example, **job)
        sys.stdout.flush()
        os._exit(0)  # to take thousands of modules down takes time
    _, status = os.waitpid(child, 0)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    program = Path(sys.argv[1])
    sys.path[0] = str(program.parent)  # as Python does for a program
    import_all(program)
    gc.freeze()  # or each process would copy what it looks through
    for line in sys.stdin:
        sys.stdout.write(f"{fork(program, json.loads(line))}\n")
        sys.stdout.flush()
