"""What processes do that make the same call at once, forked by ``python -m tests.authority.guard.racing``."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emitter.authority import Authority
from emitter.decisions import select_option
from emitter.errors import AuthorityError
from emitter.stores import SqliteStore, SqlStore
from tests.authority.guard.dying import add

if TYPE_CHECKING:
    from emitter.decisions.ledger_entries import PendingDecision

PROCESSES, THREADS = 4, 16
_STORES = {"sqlite": SqliteStore, "postgres": SqlStore}


def sending(store: Any, folder: Path, call_id: str) -> Any:
    """Return a guard of a tool that adds a line to a file, as each process has its own."""

    def send(to: str) -> str:
        add(folder / f"effects-{call_id}", f"to {to}")
        time.sleep(0.002)  # the others' chance to come in between, if anything lets them
        return f"sent to {to}"

    def ask(pending: PendingDecision) -> Any:
        add(folder / f"asked-{call_id}", pending.decision_id)
        return select_option(pending.moment, 0)

    return Authority(store).guard(send, ask=ask)


def made(guard: Any, call_id: str, to: str) -> tuple[str, str]:
    """Make the call, and return what came of it: what was returned, or which error was raised."""
    try:
        return "returned", guard.call(call_id, to)
    except AuthorityError as error:
        return "raised", type(error).__name__


def race(folder: Path, kind: str, address: str, rounds: int) -> None:
    """Make the same calls as others do, from when a file is there, and each again until it has an answer."""
    while not (folder / "start").exists():
        time.sleep(0.001)
    with _STORES[kind](address, timeout=20) as store:
        for number in range(rounds):
            call_id = f"c{number}"
            guard = sending(store, folder, call_id)
            found = [made(guard, call_id, "mom")]
            end = time.monotonic() + 20
            while found[-1][0] != "returned" and time.monotonic() < end:
                found.append(made(guard, call_id, "mom"))
            tell([call_id, *found[-1], sorted({each for how, each in found if how == "raised"})])


def tell(reported: object) -> None:
    """Tell a JSON line, in one write."""
    os.write(sys.stdout.fileno(), json.dumps(reported).encode() + b"\n")


def main(folder: Path, kind: str, address: str, rounds: int) -> None:
    """Let processes race."""
    children = []
    for _ in range(PROCESSES):
        child = os.fork()
        if not child:
            signal.alarm(60)
            status = 1
            try:
                race(folder, kind, address, rounds)
                status = 0
            finally:  # nobody above is to go on with the parent's work
                os._exit(status)
        children.append(child)
    (folder / "start").touch()
    tell(["ended", [os.waitstatus_to_exitcode(os.waitpid(each, 0)[1]) for each in children]])


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
