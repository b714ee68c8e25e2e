"""What processes do with a ledger: ``python -m tests.decisions.ledger.process`` forks them, all at once."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from emitter.decisions import answer_in_words, open_dialogue, select_option
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision
from emitter.errors import AlreadyResolved
from emitter.stores import SqliteStore, SqlStore
from tests.decisions.ledger.asking import START, moment

if TYPE_CHECKING:
    from collections.abc import Callable

ASKED = moment(options=4)


def race(file: str, start: str, number: int, rounds: int) -> None:
    """Resolve the same decisions as others do, each in its own way, from when a file is there."""
    while not Path(start).exists():
        time.sleep(0.001)
    with SqliteStore(file) as store:
        ledger = Ledger(store)
        for each in range(rounds):
            asked = moment(f"Number {each}?", options=4)
            answers = (
                select_option(asked, 1),
                select_option(asked, 2),
                answer_in_words(asked, "My own."),
                open_dialogue(asked, "Why?"),
            )
            ledger.open(asked, decision_id=f"d{each}")
            try:
                tell(each, ledger.resolve(f"d{each}", answers[number]).already_resolved)
            except AlreadyResolved:
                tell(each, "late")


def die(file: str, at: int) -> None:
    """Open and resolve a decision, and be killed as the time is asked for, which is amid the keeping, so many times."""
    asked = count(1)

    def clock() -> float:
        if next(asked) == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return START

    with SqliteStore(file) as store:
        ledger = Ledger(store, clock=clock)
        ledger.open(ASKED, decision_id="d", expires_in=60)
        tell(at, "opened")
        ledger.resolve("d", select_option(ASKED, 0))
        tell(at, "resolved")


def inherit(ledger: Ledger) -> None:
    """Use a ledger that was opened before the fork, while another thread was reading its log."""
    signal.alarm(20)
    ledger.resolve("d", select_option(ASKED, 0))
    tell("child", ledger.rates().resolved)


def tell(*words: object) -> None:
    """Tell a JSON line, in one write."""
    os.write(sys.stdout.fileno(), json.dumps(words).encode() + b"\n")


def forked(job: Callable[..., None], *arguments: object) -> int:
    """Start a process that does a job, and return its number."""
    child = os.fork()
    if child:
        return child
    job(*arguments)
    os._exit(0)


def ended(child: int) -> int:
    """Wait for a process, and return how it ended: a status, or a signal below 0."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def racing(folder: str, rounds: str) -> None:
    """Let four processes race."""
    start = Path(folder, "start")
    children = [forked(race, f"{folder}/ledger.db", str(start), each, int(rounds)) for each in range(4)]
    start.touch()
    tell("ended", [ended(each) for each in children])


def dying(folder: str, most: str) -> None:
    """Let one process after the other die, until one is left alone."""
    for at in range(1, int(most)):
        status = ended(forked(die, f"{folder}/{at}.db", at))
        tell(at, status)
        if status == 0:
            return


def forking(folder: str) -> None:
    """Fork while the log is being read."""
    with SqliteStore(f"{folder}/ledger.db") as store:
        ledger = Ledger(store)
        ledger.open(ASKED, decision_id="d")
        with ledger._log._lock:
            child = forked(inherit, ledger)
        tell("ended", ended(child))
        tell("parent", ledger.rates().resolved)


def reading(kind: str, address: str, decision_id: str) -> None:
    """Be an agent in a process of its own: read what the principal decided, and what they want to know."""
    with (SqlStore if kind == "postgres" else SqliteStore)(address) as store:
        ledger = Ledger(store)
        found = ledger.find(decision_id)
        for each in ledger.detail_requests(decision_id):
            tell("detail", each.number, each.topic)
            if isinstance(found, PendingDecision):
                ledger.answer_detail(decision_id, each.number, {"asked": each.topic})
        if isinstance(found, ResolvedDecision):
            tell(type(found.continuation).__name__, getattr(found.continuation, "objection", None))


if __name__ == "__main__":
    {"racing": racing, "dying": dying, "forking": forking, "reading": reading}[sys.argv[1]](*sys.argv[2:])
