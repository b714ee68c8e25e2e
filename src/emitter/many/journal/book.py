"""The file of a journal: locked, and checked line by line when it is opened."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from emitter import lines
from emitter.many.journal import line as entry
from emitter.many.journal.lock import lock
from emitter.wire import Usage

if TYPE_CHECKING:
    import os
    from collections.abc import Generator

    from emitter.lines import Lines
    from emitter.many.journal.about import About
    from emitter.many.journal.line import Record

_TORN = "The journal {} ended in the middle of a line, which was dropped: that emission is asked for again."


class Journal:
    """What was done, by key. ``earlier`` is what it had cost when the journal was opened.

    ``notice`` says what was mended in it, if anything was.
    """

    def __init__(self, kept: Lines, about: About) -> None:
        self.earlier = Usage()
        self._lines = kept
        self._at: dict[str, tuple[int, int]] = {}
        self._read(about)
        self.notice = _TORN.format(kept.place) if kept.torn else None

    def find(self, key: str) -> Record | None:
        """Return what is known of ``key``, where it need not be asked for again."""
        return entry.read(self._lines.part(*self._at[key])) if key in self._at else None

    def add(self, record: Record) -> None:
        """Write a record; raises ``JournalFailed`` where it could not be written, and leaves no part of it."""
        self._lines.add(entry.write(record))

    def _read(self, about: About) -> None:
        for number, at, line in self._lines.read():
            if number == 1:
                self._check(line, about)
            else:
                self._learn(number, at, line)
        if self._lines.end == 0:
            self._lines.begin(about.to_json())

    def _check(self, first: bytes, about: About) -> None:
        """Refuse a first line that is of another run."""
        there, here = self._lines.about(first), about.to_json()
        other = [_told(each, there.get(each), here[each]) for each in here if there.get(each) != here[each]]
        if other:
            raise self._lines.bad(f"is of another run: {'; '.join(other)}", lines.ANOTHER)

    def _learn(self, number: int, at: int, line: bytes) -> None:
        try:
            record = entry.read(line)
        except (ValueError, RecursionError) as error:
            hint = f"Remove line {number} to have that emission asked for again, or name another file."
            raise self._lines.bad(f"does not hold in line {number}", hint) from error
        self.earlier += record.outcome.usage
        if record.settled:
            self._at[record.key] = at, len(line)
        else:
            self._at.pop(record.key, None)


def _told(name: str, there: object, here: str) -> str:
    """Say how a run differs; digests say nothing to a reader."""
    return f"it differs in its {name}" if name in _DIGESTS else f"its {name} is {there!r}, and here {here!r}"


_DIGESTS = frozenset({"schema", "words", "options"})


@contextmanager
def opened(path: str | os.PathLike[str] | None, about: About) -> Generator[Journal | None]:
    """Yield the journal at ``path``, made where there is none; None where none is wanted.

    Raises ``BadJournal`` for a file that cannot be one of this run, or that another run has open.
    """
    if path is None:
        yield None
        return
    with lines.opened(Path(path), "emitter", version=1, called="journal") as kept:
        try:
            lock(kept.file)
        except OSError as error:
            hint = "Wait until that is over, or name another file."
            raise kept.bad("is in use by another run", hint) from error
        yield Journal(kept, about)
