"""What processes do with an authority: ``python -m tests.authority.execution.process`` forks them, all at once."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sqlite3
import sys
import time
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emitter.authority import Authority
from emitter.errors import AuthorityError
from tests.authority.execution.making import act, granted, work
from tests.stores.jobs import opened

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.authority import Confirm

_LONGEST = 20
"""Seconds after which a process is ended that hangs, so that its test fails."""


def append(file: Path | str, *words: object) -> None:
    """Add a line to a file in one write, so that it is there whatever becomes of its process."""
    lines = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(lines, json.dumps(words).encode() + b"\n")
    os.close(lines)


def tell(*words: object) -> None:
    """Tell a JSON line, in one write."""
    os.write(sys.stdout.fileno(), json.dumps(words).encode() + b"\n")


def forked(job: Callable[..., None], *arguments: object) -> int:
    """Start a process that does a job, and return its number."""
    child = os.fork()
    if child:
        return child
    signal.alarm(_LONGEST)
    status = 1
    try:
        job(*arguments)
        status = 0
    finally:
        os._exit(status)


def ended(child: int) -> int:
    """Wait for a process, and return how it ended: a status, or a signal below 0."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def tried(do: Callable[[], object]) -> str:
    """Do something, and return how it ended."""
    try:
        do()
    except AuthorityError as error:
        return error.code
    return "done"


def hammer(kind: str, address: str, folder: str, number: int, confirms: list[Confirm]) -> None:
    """Do what each confirm allows, as often as it lets, from when a file is there; some ids are others' as well."""
    while not Path(folder, "start").exists():
        time.sleep(0.001)
    with opened(kind, address) as store:
        authority = Authority(store, actor=f"p{number}")
        for confirm in confirms:
            flow, limits = confirm.scope.workflow_id, confirm.limits
            for each in range(4):
                name = f"{flow}-{each}" if each % 2 else f"{flow}-{each}-{number}"
                spends = {name: 30 for name in limits if name.startswith("budget")}
                request = act(name, workflow_id=flow, call=confirm.call, spends=spends)
                doing = work(request, partial(append, f"{folder}/done", name))
                tell(flow, name, tried(partial(authority.execute, confirm.confirm_id, doing)))


def meddle(kind: str, address: str, folder: str, confirms: list[Confirm]) -> None:
    """Revoke and stop, each as soon as something was done under what it is of."""
    with opened(kind, address) as store:
        authority = Authority(store, actor="meddler")
        for confirm in confirms:
            flow = confirm.scope.workflow_id
            while f'"{flow}-' not in Path(folder, "done").read_text():
                time.sleep(0.001)
            authority.stop(flow) if flow.startswith("stop") else authority.revoke(confirm.confirm_id)


def crowding(kind: str, address: str, folder: str, rounds: str) -> None:
    """Let four processes do what they may, and a fifth take it back."""
    terms = {
        "free": {"limits": {"max_side_effects": 5}},
        "money": {"limits": {"budget_usd": 100, "max_side_effects": 9}},
        "once": {"limits": {}, "call": {"r3_s256": "A" * 43, "call_id": "call"}},
        "stop": {"limits": {"max_side_effects": 99}},
        "revoke": {"limits": {"max_side_effects": 99}},
    }
    with opened(kind, address) as store:
        confirms = [
            granted(Authority(store), scope={"workflow_id": f"{name}{number}"}, **each)
            for number in range(int(rounds))
            for name, each in terms.items()
        ]
    Path(folder, "done").touch()
    meddled = [each for each in confirms if each.scope.workflow_id.startswith(("stop", "revoke"))]
    children = [forked(hammer, kind, address, folder, each, confirms) for each in range(4)]
    children.append(forked(meddle, kind, address, folder, meddled))
    Path(folder, "start").touch()
    tell("ended", [ended(each) for each in children])


def one(folder: str, confirm_id: str, name: str, *, is_async: bool = False) -> None:
    """Do one act, which adds a line to a file."""

    def tool() -> str:
        append(f"{folder}/done", name)
        return name

    with opened("sqlite", f"{folder}/store.db") as store:
        authority = Authority(store)
        doing = work(act(name, workflow_id=flow_of(name)), tool)
        reported = (
            asyncio.run(authority.aexecute(confirm_id, doing)) if is_async else authority.execute(confirm_id, doing)
        )
        assert reported == name


def fall(folder: str, confirm_id: str, at: int, *, is_async: bool) -> None:
    """Do one act, and be killed as one statement, the ``at``-th, is to be executed."""
    steps, connect = count(1), sqlite3.connect

    def reported(*_: object) -> None:
        if next(steps) == at:
            os.kill(os.getpid(), signal.SIGKILL)

    def traced(*arguments: Any, **settings: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **settings)
        connection.set_trace_callback(reported)
        return connection

    sqlite3.connect = traced  # type: ignore[assignment]
    one(folder, confirm_id, f"at{at}/0", is_async=is_async)


def many(folder: str, confirm_id: str, flow: str) -> None:
    """Do one act after the other, without an end."""
    for number in count():
        one(folder, confirm_id, f"{flow}/{number}")


def falling(folder: str, way: str) -> None:
    """Let one process after the other be killed, each a statement later, until one is left alone."""
    for at in count(1):
        confirm_id = confirmed(folder, f"at{at}")
        status = ended(forked(partial(fall, folder, confirm_id, at, is_async=way == "async")))
        tell(f"at{at}", confirm_id, status)
        if status != -signal.SIGKILL:
            return


def killing(folder: str, times: str) -> None:
    """Kill one process after the other, each at a moment that was drawn."""
    drawn = random.Random(7)  # noqa: S311  it hides nothing
    for number in range(int(times)):
        confirm_id = confirmed(folder, f"k{number}")
        child = forked(many, folder, confirm_id, f"k{number}")
        time.sleep(drawn.uniform(0, 0.04))
        os.kill(child, signal.SIGKILL)
        tell(f"k{number}", confirm_id, ended(child))


def hanging(folder: str) -> None:
    """Kill a process that is inside its tool."""
    confirm_id, (inside, at_work) = confirmed(folder, "hung"), os.pipe()

    def tool() -> None:
        append(f"{folder}/done", "hung/0")
        os.write(at_work, b".")
        signal.pause()

    def hang() -> None:
        with opened("sqlite", f"{folder}/store.db") as store:
            Authority(store).execute(confirm_id, work(act("hung/0", workflow_id="hung"), tool))

    child = forked(hang)
    os.read(inside, 1)
    os.kill(child, signal.SIGKILL)
    tell("hung", confirm_id, ended(child))


def forking(folder: str) -> None:
    """Fork amid the use of an authority, as another thread's use would be; parent and child both use it on."""
    with opened("sqlite", f"{folder}/store.db") as store:
        authority = Authority(store)
        confirm_id = granted(authority, limits={"max_side_effects": 3}).confirm_id
        journal = authority._context.journal
        with authority._context.active_actions._lock, journal._chain("w").lock, journal._guard:
            child = forked(lambda: tell("child", tried(lambda: authority.execute(confirm_id, work("child")))))
        tell("ended", ended(child))
        tell("parent", *(tried(partial(authority.execute, confirm_id, work(name))) for name in "abc"))


def confirmed(folder: str, flow: str) -> str:
    """Grant what a process is to do, and return the confirm's id."""
    with opened("sqlite", f"{folder}/store.db") as store:
        return granted(Authority(store), scope={"workflow_id": flow}).confirm_id


def flow_of(name: str) -> str:
    """Return the workflow of an act."""
    return name.partition("/")[0]


if __name__ == "__main__":
    jobs = {each.__name__: each for each in (crowding, falling, killing, hanging, forking)}
    jobs[sys.argv[1]](*sys.argv[2:])
