"""Opening a store that is there, and reading the chains in it, whatever somebody else wrote into it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from emitter.authority import Authority
from emitter.authority.journal import beside, noted_head
from emitter.authority.results import check_kept
from emitter.errors import InputError, StoreAltered, Tampered
from emitter.ledger import Ledger
from emitter.ledger.ledger import DEFAULT_WORDS
from emitter.store import SqliteStore
from emitter.store.database import Database
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from emitter.ledger import KeepWords
    from emitter.wire import Json

T = TypeVar("T")

_MAGIC: Final = b"SQLite format 3\0"
_SECONDS: Final = 10.0
"""How long a store's own writers are waited for."""
_UNREADABLE: Final = (StoreAltered, ValueError, TypeError, KeyError, AttributeError, RecursionError)
"""What reading an entry raises that is not as the library writes it."""


class Stored(NamedTuple):
    """A store that is open, and the authority whose records it has."""

    store: SqliteStore
    authority: Authority

    def workflows(self, named: str | None) -> tuple[str, ...]:
        """Return the workflow that is named, or all; raises ``InputError`` for one that has no record."""
        known = readable("the list of workflows", self.authority.workflows)
        if named is None:
            return known
        if named not in known and next(self.lines(named), None) is None:
            raise InputError(
                "The store has no record of this workflow.", hint="`emitter receipts list STORE` names those it has."
            )
        return (named,)

    def lines(self, workflow_id: str) -> Iterator[Json]:
        """Yield a workflow's lines as they stand in the store; raises ``Tampered`` for one that cannot be read."""
        lines, number = self.authority.lines(workflow_id), 0
        while (found := readable(f"line {number}", lambda: next(lines, None))) is not None:
            yield found
            number += 1

    def check_kept(self, workflow_id: str) -> None:
        """Raise ``Tampered`` where what is retained beside a line is not what the line has the digest of."""
        for number, found in enumerate(self.lines(workflow_id)):
            kept = readable(f"line {number}", partial(beside, self.store, workflow_id, number))
            check_kept(kept, mapping(found.get("record")).get("retained"), f"line {number}")

    def noted_head(self, workflow_id: str) -> str | None:
        """Return the hash of the last line that the store's log tells of."""
        return readable("the store's log", lambda: noted_head(self.store, workflow_id))


def is_store(name: str) -> bool:
    """Tell whether a file is SQLite's; one that cannot be read is none, and whoever reads it tells why."""
    try:
        with Path(name).open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


@contextmanager
def opened(
    name: str, words: KeepWords | None = DEFAULT_WORDS, sign: Callable[[str], str] | None = None
) -> Generator[Stored]:
    """Open a store that is there; raises ``InputError`` where none is, and makes none.

    ``words`` says how its ledger keeps the principal's words, and ``sign`` signs their answers.
    """
    if not Path(name).is_file():
        raise InputError(f"{name} is no file.", hint="Name the file of a store.")
    database = Database(os.path.realpath(name), _SECONDS)
    try:
        is_new = database.is_new()
    finally:
        database.close()
    if is_new:
        raise InputError(f"{name} holds nothing, so it is no store.", hint="Name the file of a store.")
    with SqliteStore(name, timeout=_SECONDS) as store:
        yield Stored(store, Authority(store, ledger=Ledger(store, words=words, sign=sign)))


def readable(place: str, read: Callable[[], T]) -> T:
    """Return what is read; raises ``Tampered`` where it is nothing that the library wrote."""
    try:
        return read()
    except _UNREADABLE:
        raise Tampered(f"{place} is nothing that this library wrote.", place=place) from None
