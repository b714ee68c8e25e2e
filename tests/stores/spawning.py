"""The program that starts processes for the tests: it forks itself, so that each is there within milliseconds."""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from typing import Any

from emitter.stores import MemoryStore
from tests.stores import forking, jobs
from tests.stores.making import fresh

_LONGEST = 60
"""Seconds after which a process is ended that hangs, so that its test fails."""


def _start(reported: dict[str, Any]) -> int:
    child = os.fork()
    if child:
        return child
    status = 1
    signal.alarm(_LONGEST)
    try:
        job = getattr(jobs, reported["job"], None) or getattr(forking, reported["job"])
        job(_tell_to(reported["out"]), **reported["arguments"])
        status = 0
    except BaseException:  # noqa: BLE001  whatever it is, nobody above is to go on with the parent's work
        traceback.print_exc()
    os._exit(status)


def _tell_to(file: str) -> jobs.Tell:
    """Return what adds a line to a file in one write, so that it is there whatever becomes of its process."""
    lines = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def tell(*words: object) -> None:
        os.write(lines, json.dumps(words).encode() + b"\n")

    return tell


def main() -> None:
    """Do as each line says: start a process, and answer with its number, or wait for one, and answer how it ended."""
    MemoryStore().get_or_create("run", "warm", fresh)  # loads what a process without rights to read it could not
    for line in sys.stdin:
        reported = json.loads(line)
        answer = (
            _start(reported) if "job" in reported else os.waitstatus_to_exitcode(os.waitpid(reported["wait"], 0)[1])
        )
        print(answer, flush=True)  # noqa: T201  it is what the tests read


if __name__ == "__main__":
    main()
