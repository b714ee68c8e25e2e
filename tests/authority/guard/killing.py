"""What processes do that are killed amid a guarded call, forked by ``python -m tests.authority.guard.killing``.

Each of them counts its steps: what it asks of the store, from before it until after it, and every place in somebody
else's code. At one of them it kills itself. A process after it makes the same call again.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from emitter.decisions.ledger_entries import ResolvedDecision
from emitter.errors import Unfinished, UnknownDecision
from emitter.stores import SqliteStore
from tests.authority.guard.dying import CALL, Fate, Mortal, add, guarded, read
from tests.authority.guard.parts import kept
from tests.work import FULL

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.authority import Authority

UNFINISHED = 3
"""The status of a process whose call was begun before."""
ROUNDS = 8 if FULL else 3
STRIDES = {"asked": 1, "waiting": 1} if FULL else {"asked": 5, "waiting": 7}
"""How many steps each process goes further than the one before, unless everything is wanted."""


def once(folder: Path, at: int, way: str) -> None:
    """Make the call, and be killed at a step."""
    fate = Fate(folder, at)
    with SqliteStore(folder / "store.db") as store:
        _, call = guarded(Mortal(store, fate), fate, way=way)
        value = call()
        add(folder / "returned", json.dumps([fate.steps, value]))


def again(folder: Path, way: str) -> None:
    """Make the same call in a process that is left alone, and tell what stood before it, and what came of it."""
    fate = Fate(folder)
    with SqliteStore(folder / "store.db") as store:
        authority, call = guarded(store, fate, way=way)
        asked_before = len(read(folder, "asked"))
        reported = {"stood": stands(authority), "begun": [each.intent_id for each in authority.unfinished_actions()]}
        try:
            reported["value"] = call()
        except Unfinished as error:
            reported["unfinished"] = error.intent_id
        reported["asked"] = len(read(folder, "asked")) - asked_before
    tell(reported)


def stands(authority: Authority) -> bool:
    """Tell whether the decision about the call was resolved."""
    try:
        return isinstance(authority.ledger.find(str(kept(authority, CALL).get("decision_id"))), ResolvedDecision)
    except UnknownDecision:
        return False


def tell(reported: object) -> None:
    """Tell a JSON line, in one write."""
    os.write(sys.stdout.fileno(), json.dumps(reported).encode() + b"\n")


def forked(job: Callable[..., None], *arguments: object) -> int:
    """Let a process do a job, and return how it ended: a status, or a signal below 0."""
    child = os.fork()
    if not child:
        signal.alarm(30)
        status = 1
        try:
            job(*arguments)
            status = 0
        except Unfinished:
            status = UNFINISHED
        finally:  # nobody above is to go on with the parent's work
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def made(place: Path) -> Path:
    """Return a place with a store that holds nothing: to make one is another test's matter, and takes its time."""
    place.mkdir()
    empty = place.with_name("empty.db")
    if not empty.exists():
        SqliteStore(empty).close()
    shutil.copy(empty, place / "store.db")
    return place


def everywhere(folder: Path, way: str) -> None:
    """Kill a process at each step in turn, each time in a new place, until one comes to its end."""
    for at in count(1, STRIDES[way]):
        place = made(folder / str(at))
        status = forked(once, place, at, way)
        tell([at, status])
        if forked(again, place, way) or status != -signal.SIGKILL:
            return


def often(folder: Path, way: str) -> None:
    """Kill one process after the other at a step that was drawn, in the same place, until one is left alone."""
    drawn = random.Random(7)  # noqa: S311  it hides nothing
    for number in range(ROUNDS):
        place = made(folder / str(number))
        status = -signal.SIGKILL
        while status == -signal.SIGKILL:
            status = forked(once, place, drawn.randint(1, 30), way)
        tell([number, status])
        forked(again, place, way)


if __name__ == "__main__":
    {"everywhere": everywhere, "often": often}[sys.argv[1]](Path(sys.argv[2]), sys.argv[3])
