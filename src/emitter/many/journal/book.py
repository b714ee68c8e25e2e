"""The file of a journal: locked, checked line by line when it is opened, and only ever added to.

Each line is written in one write of the system, so a process that is killed loses no line that it has written; it
is synced to the disk when the run ends, so a machine that stops may lose the last ones.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from emitter.errors import BadJournal, JournalFailed
from emitter.many.journal import line as lines
from emitter.many.journal.lock import lock
from emitter.wire import Usage, mapping

if TYPE_CHECKING:
    from collections.abc import Generator

    from emitter.many.journal.about import About
    from emitter.many.journal.line import Record

_VERSION = 1
_OPENING = b'{"journal": "emitter"'
_ANOTHER = "Name another file for this run, or ask for the same thing as before."
_TORN = "The journal {} ended in the middle of a line, which was dropped: that emission is asked for again."


class Journal:
    """What was done, by key. ``earlier`` is what it had cost when the journal was opened.

    ``notice`` says what was mended in it, if anything was.
    """

    def __init__(self, place: Path, file: int, about: About) -> None:
        self.earlier = Usage()
        self.notice: str | None = None
        self._place, self._file = place, file
        self._at: dict[str, tuple[int, int]] = {}
        self._end = self._read(about)

    def find(self, key: str) -> Record | None:
        """Return what is known of ``key``, where it need not be asked for again."""
        if key not in self._at:
            return None
        start, size = self._at[key]
        os.lseek(self._file, start, os.SEEK_SET)
        return lines.read(os.read(self._file, size))

    def add(self, record: Record) -> None:
        """Write a record; raises ``JournalFailed`` where it could not be written, and leaves no part of it."""
        self._write(lines.write(record))

    def close(self) -> None:
        """Bring all of it to the disk, and let others in."""
        try:
            os.fsync(self._file)
        except OSError as error:
            raise self._failed(error) from error
        finally:
            os.close(self._file)

    def _read(self, about: About) -> int:
        """Check every line; return where the next one goes."""
        at, number = 0, 0
        with self._place.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    return self._torn(at, line, number, about)
                if number == 1:
                    self._check(line, about)
                else:
                    self._learn(at, line, number)
                at += len(line)
        self._end = at
        return at if number else self._begun(about)

    def _torn(self, at: int, line: bytes, number: int, about: About) -> int:
        """Drop the part of a line that was being written when its process was killed."""
        if number == 1 and not (line.startswith(_OPENING) or _OPENING.startswith(line)):
            raise self._bad("is no journal", "Name another file.")
        os.ftruncate(self._file, at)
        self._end, self.notice = at, _TORN.format(self._place)
        return at if number > 1 else self._begun(about)

    def _begun(self, about: About) -> int:
        head = {"journal": "emitter", "version": _VERSION, "about": about.to_json()}
        self._end = 0
        self._write(json.dumps(head).encode() + b"\n")
        return self._end

    def _check(self, line: bytes, about: About) -> None:
        """Refuse a first line that is of another run."""
        head = mapping(_loaded(line))
        if head.get("journal") != "emitter":
            raise self._bad("is no journal", "Name another file.")
        if head.get("version") != _VERSION:
            raise self._bad(f"is of format {head.get('version')!r}; this release reads {_VERSION}", _ANOTHER)
        there, here = mapping(head.get("about")), about.to_json()
        other = [_told(each, there.get(each), here[each]) for each in here if there.get(each) != here[each]]
        if other:
            raise self._bad(f"is of another run: {'; '.join(other)}", _ANOTHER)

    def _learn(self, at: int, line: bytes, number: int) -> None:
        try:
            record = lines.read(line)
        except (ValueError, RecursionError) as error:
            hint = f"Remove line {number} to have that emission asked for again, or name another file."
            raise self._bad(f"does not hold in line {number}", hint) from error
        self.earlier += record.outcome.usage
        if record.settled:
            self._at[record.key] = at, len(line)
        else:
            self._at.pop(record.key, None)

    def _write(self, line: bytes) -> None:
        os.lseek(self._file, self._end, os.SEEK_SET)
        try:
            written = os.write(self._file, line)
        except OSError as error:
            raise self._failed(error) from error
        if written != len(line):
            os.ftruncate(self._file, self._end)
            raise self._failed(None)
        self._end += written

    def _bad(self, what: str, hint: str) -> BadJournal:
        return BadJournal(f"The journal {self._place} {what}.", hint=hint)

    def _failed(self, error: OSError | None) -> JournalFailed:
        why = (error.strerror if error else None) or "there is no room for a whole line"
        return JournalFailed(f"The journal {self._place} cannot be written: {why}.")


def _loaded(line: bytes) -> object:
    try:
        return cast("object", json.loads(line))
    except (ValueError, RecursionError):
        return None


def _told(name: str, there: object, here: str) -> str:
    """Say how a run differs; digests say nothing to a reader."""
    return f"its {name} differs" if name in _DIGESTS else f"its {name} is {there!r}, and here {here!r}"


_DIGESTS = frozenset({"schema", "words", "options"})


@contextmanager
def opened(path: str | os.PathLike[str] | None, about: About) -> Generator[Journal | None]:
    """Yield the journal at ``path``, made where there is none; None where none is wanted.

    Raises ``BadJournal`` for a file that cannot be one of this run, or that another run has open.
    """
    if path is None:
        yield None
        return
    place = Path(path)
    file = _locked(place)
    try:
        journal = Journal(place, file, about)
    except BaseException:
        os.close(file)
        raise
    try:
        yield journal
    finally:
        journal.close()


def _locked(place: Path) -> int:
    try:
        file = os.open(place, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
    except OSError as error:
        raise BadJournal(
            f"The journal {place} cannot be opened: {error.strerror}.", hint="Name another file."
        ) from error
    try:
        lock(file)
    except OSError as error:
        os.close(file)
        raise BadJournal(
            f"The journal {place} is in use by another run.", hint="Wait until that is over, or name another file."
        ) from error
    return file
