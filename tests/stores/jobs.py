"""What a process of its own does with a store; what it tells is a JSON line in a file, there at once."""

from __future__ import annotations

import itertools
import os
import signal
import sqlite3
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine
from sqlalchemy.event import listen

from emitter.errors import EmitterError
from emitter.stores import NewEntry, SqliteStore, SqlStore
from tests.stores.making import event, events, fresh

if TYPE_CHECKING:
    from collections.abc import Callable

    Tell = Callable[..., None]


def opened(kind: str, address: str, **settings: float) -> Any:
    """Return a store on what is at an address."""
    return {"sqlite": SqliteStore, "postgres": SqlStore}[kind](address, **settings)


def race(tell: Tell, kind: str, address: str, start: str, rounds: int) -> None:
    """Handle the same envelopes as others do, from when a file is there; tell of each handler, and of each outcome."""
    while not Path(start).exists():
        time.sleep(0.001)
    with opened(kind, address) as store:
        for number in range(rounds):

            def handle(number: int = number) -> NewEntry:
                tell("handled", number)
                time.sleep(0.001)  # the others' chance to come in between, if anything lets them
                return fresh(f"{os.getpid()}", f"{os.getpid()}-{number}")

            kept = store.get_or_create("run", f"c{number}", handle)
            store.append("run", events(f"{os.getpid()}+{number}"))
            tell("kept", number, kept.created, kept.entry.envelope, len(kept.events))


def get_or_create(tell: Tell, kind: str, address: str, note: str, timeout: float = 60) -> None:
    """Handle an envelope, and tell what came of it."""
    with opened(kind, address, timeout=timeout) as store:
        try:
            kept = store.get_or_create("run", "c", lambda: fresh(note, note))
        except EmitterError as error:
            tell(type(error).__name__)
        else:
            tell(kept.created, kept.entry.envelope["payload"]["note"])


def write(tell: Tell, kind: str, address: str, name: str) -> None:
    """Write without an end, and tell of everything that is written."""
    with opened(kind, address) as store:
        for number in itertools.count():
            _write(store, tell, f"{name}-{number}")


def step(tell: Tell, kind: str, address: str, at: int, name: str) -> None:
    """Write a little, and be killed as one statement, the ``at``-th, is to be executed."""
    steps = itertools.count(1)

    def reported(*_: object, **__: object) -> None:
        if next(steps) == at:
            os.kill(os.getpid(), signal.SIGKILL)

    connect = sqlite3.connect

    def traced(*arguments: Any, **settings: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **settings)
        connection.set_trace_callback(reported)
        return connection

    sqlite3.connect = traced  # type: ignore[assignment]
    for each in ("before_cursor_execute", "commit"):
        listen(Engine, each, reported)
    with opened(kind, address) as store:
        _write(store, tell, name)


def hang(tell: Tell, kind: str, address: str) -> None:
    """Handle an envelope for ever."""

    def handle() -> NewEntry:
        tell("handling")
        signal.pause()
        raise AssertionError

    with opened(kind, address) as store:
        store.get_or_create("run", "c", handle)


def unprivileged(tell: Tell, path: str) -> None:
    """Open a file as somebody who may not write it."""
    if os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    try:
        SqliteStore(path).append("run", [event("e")])
    except EmitterError as error:
        tell(type(error).__name__, str(error))


def crowded(tell: Tell, path: str) -> None:
    """Write until there is no more room, for which a limit on the size of files stands here."""
    import resource  # noqa: PLC0415  Windows has none

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with SqliteStore(path) as store:
        room = os.stat(f"{path}-wal").st_size + 200_000  # noqa: PTH116  the one function of its kind here
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        try:
            for number in itertools.count():
                store.append("run", [event(f"e{number}", text="x" * 10_000)])
                tell(f"e{number}")
        except EmitterError as error:
            tell(type(error).__name__, str(error))
        tell([each["eventId"] for each in store.events("run")])


def _write(store: Any, tell: Tell, name: str) -> None:
    def handle() -> NewEntry:
        tell("handling", name)
        return fresh(name, f"{name}/0", f"{name}/1")

    store.get_or_create("run", name, handle)
    tell("kept", name)
    store.append("run", events(f"{name}/2", f"{name}/3"))
    tell("appended", name)
