"""What a process of its own does that forks once it has a store."""

from __future__ import annotations

import itertools
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from emitter.errors import InputError
from emitter.stores import NewEntry, SqliteStore
from tests.stores.jobs import opened
from tests.stores.making import events, fresh

if TYPE_CHECKING:
    from tests.stores.jobs import Tell


def both(tell: Tell, kind: str, address: str) -> None:
    """Use a store before a fork and, in both processes, after it."""
    with opened(kind, address) as store:
        store.append("run", events("before"))
        child = os.fork()
        name = "parent" if child else "child"
        kept = store.get_or_create("run", "both", lambda: fresh(name, f"{name}'s"))
        store.append("run", events(name))
        tell(name, kept.created, kept.entry.envelope)
        if not child:
            store.close()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        store.append("run", events("after"))
        tell("status", status)


def meanwhile(tell: Tell, kind: str, address: str) -> None:
    """Fork while a thread handles an envelope that the child wants as well."""
    handling, forked = threading.Event(), threading.Event()

    def handle() -> NewEntry:
        handling.set()
        assert forked.wait(20)
        return fresh("parent")

    with opened(kind, address, timeout=20) as store, ThreadPoolExecutor(1) as pool:
        calling = pool.submit(store.get_or_create, "run", "c", handle)
        assert handling.wait(20)
        child = os.fork()
        if not child:
            tell("child waits")
            kept = store.get_or_create("run", "c", lambda: fresh("child"))
            tell(kept.created, kept.entry.envelope["payload"]["note"])
            os._exit(0)
        forked.set()
        tell(calling.result().created, "parent")
        tell("status", os.waitpid(child, 0)[1])


def often(tell: Tell, kind: str, address: str, children: int) -> None:
    """Fork again and again while threads write; each child writes as well."""
    done = threading.Event()

    def write(name: str) -> int:
        for number in itertools.count():
            store.append("run", events(f"{name}{number}"))
            if done.is_set():
                return number + 1
        raise AssertionError

    with opened(kind, address) as store, ThreadPoolExecutor(3) as pool:
        writing = [pool.submit(write, name) for name in "abc"]
        pids: list[int] = []
        for number in range(children):
            pids.append(os.fork())
            if not pids[-1]:
                with ThreadPoolExecutor(1) as own:
                    own.submit(store.append, "run", events(f"child {number}")).result()
                store.get_or_create("run", f"c{number % 2}", lambda number=number: fresh(number, f"once {number}"))
                os._exit(0)
        ended = [os.waitpid(pid, 0)[1] for pid in pids]
        done.set()
        tell(ended, sum(each.result() for each in writing))


def outlive(tell: Tell, address: str) -> None:
    """Fork a child that goes on writing when its parent has closed the store, and others have come and gone."""
    store = SqliteStore(address)
    store.append("run", events("before"))
    wrote, gone = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        store.append("run", events("child"))
        os.write(wrote[1], b".")
        os.read(gone[0], 1)
        store.append("run", events("after"))
        store.close()
        os._exit(0)
    os.read(wrote[0], 1)
    store.close()
    with SqliteStore(address) as another:
        another.append("run", events("other"))
    os.write(gone[1], b".")
    tell(os.waitpid(child, 0)[1])


def amid(tell: Tell, address: str) -> None:
    """Fork amid a use of the store, as a signal's handler might."""
    with SqliteStore(address, timeout=0.05) as store:
        with store._database.connection():
            child = os.fork()
        if not child:
            try:
                store.append("run", events("child"))
            except InputError as error:
                tell(str(error))
            os._exit(0)
        os.waitpid(child, 0)
        tell(store.append("run", events("parent"))[0].sequence)
