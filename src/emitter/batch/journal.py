"""The journal of batches: what was submitted under which id, and what came back.

A line is written before anything is submitted, and before anybody sees an answer; each in one write of the system,
so that a process that is killed loses none. What no line says did not happen, with one exception: a batch may have
been made whose id was not written any more. Such a batch is looked for at the vendor by its tag.
"""

from __future__ import annotations

import datetime as dt
import json
import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from emitter.batch.answers import of_answer, to_answer
from emitter.errors import BadJournal, JournalFailed
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from emitter.wire import Answer, Json

_KIND, _VERSION = "emitter-batches", 1
_OPENING = b'{"journal": "emitter-batches"'
_ANOTHER = "Name another file for this run, or ask for the same thing as before."
_TORN = "The journal {} ended in the middle of a line, which was dropped."


@dataclass(slots=True)
class Written:
    """A batch as the journal knows it.

    ``keys`` are its emissions, each at the place of its request; ``left`` are the places that are not answered
    yet. ``batch`` is the vendor's id, None where it was not written any more.
    """

    tag: str
    at: dt.datetime
    keys: tuple[str, ...]
    left: set[int]
    batch: str | None = None
    cancelled: bool = False


@dataclass(slots=True)
class _Known:
    """Where the answers to one emission stand, in order."""

    places: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])


class Journal:
    """What was submitted and answered. ``open`` are the batches that more may come from, by tag."""

    def __init__(self, place: Path | None, file: int, about: Mapping[str, Json]) -> None:
        self.open: dict[str, Written] = {}
        self.notice: str | None = None
        self._place, self._file = place, file
        self._known: dict[str, _Known] = {}
        self._end = 0
        if place is not None:
            self._read(place, about)

    @property
    def lasting(self) -> bool:
        """Whether it is kept in a file."""
        return self._place is not None

    def answers(self, key: str) -> list[Answer]:
        """Return the answers to an emission that stood in the file when it was opened, in order."""
        known = self._known.get(key)
        return [self._answer_at(*each) for each in known.places] if known else []

    def submitting(self, tag: str, keys: Sequence[str], at: dt.datetime) -> Written:
        """Write that a batch is about to be submitted."""
        self._write({"submitting": tag, "at": at.isoformat(), "keys": list(keys)})
        written = self.open[tag] = Written(tag, at, tuple(keys), set(range(len(keys))))
        return written

    def submitted(self, tag: str, batch: str) -> None:
        """Write the vendor's id of a batch."""
        self._write({"submitted": tag, "batch": batch})
        self.open[tag].batch = batch

    def answered(self, tag: str, place: int, answer: Answer) -> None:
        """Write what a request came to."""
        self._write({"answered": tag, "place": place, "answer": of_answer(answer)})
        self.open[tag].left.discard(place)

    def cancelling(self, tag: str) -> None:
        """Write that a batch is about to be cancelled: what is not run of it is to be asked for again."""
        self._write({"cancelling": tag})
        self.open[tag].cancelled = True

    def closed(self, tag: str) -> None:
        """Write that nothing more comes from a batch."""
        self._write({"closed": tag})
        self.open.pop(tag, None)

    def over(self, key: str) -> None:
        """Write that an emission failed for good in this run, so that another run asks for it from the beginning."""
        self._write({"over": key})

    def close(self) -> None:
        """Bring all of it to the disk, and let others in."""
        if self._place is None:
            return
        try:
            os.fsync(self._file)
        except OSError as error:
            raise self._failed(error) from error
        finally:
            os.close(self._file)

    def _read(self, place: Path, about: Mapping[str, Json]) -> None:
        with place.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    self._torn(line, first=number == 1)
                elif number == 1:
                    self._check(line, about)
                else:
                    self._learn(line, number)
        if self._end == 0:
            self._write({"journal": _KIND, "version": _VERSION, "about": dict(about)})

    def _torn(self, line: bytes, *, first: bool) -> None:
        """Drop the part of a line that was being written when its process was killed."""
        if first and not (line.startswith(_OPENING) or _OPENING.startswith(line)):
            raise self._bad("is no journal of batches", "Name another file.")
        os.ftruncate(self._file, self._end)
        self.notice = _TORN.format(self._place)

    def _check(self, line: bytes, about: Mapping[str, Json]) -> None:
        """Refuse a first line that is of another run."""
        head = _loaded(line)
        if head.get("journal") != _KIND:
            raise self._bad("is no journal of batches", "Name another file.")
        if head.get("version") != _VERSION:
            raise self._bad(f"is of format {head.get('version')!r}; this release reads {_VERSION}", _ANOTHER)
        there = mapping(head.get("about"))
        other = [each for each in about if there.get(each) != about[each]]
        if other:
            raise self._bad(f"is of another run: it differs in {', '.join(other)}", _ANOTHER)
        self._end += len(line)

    def _learn(self, line: bytes, number: int) -> None:
        members = _loaded(line)
        try:
            self._take(members, len(line))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            hint = "It says what was paid for: mend that line, or name another file to ask for everything again."
            raise self._bad(f"does not hold in line {number}", hint) from error
        self._end += len(line)

    def _take(self, members: Mapping[str, Any], size: int) -> None:
        """Learn what one line says."""
        match members:
            case {"submitting": str(tag), "at": str(at), "keys": list()}:
                keys = tuple(str(each) for each in sequence(members["keys"]))
                self.open[tag] = Written(tag, dt.datetime.fromisoformat(at), keys, set(range(len(keys))))
            case {"submitted": str(tag), "batch": str(batch)}:
                self.open[tag].batch = batch
            case {"answered": str(tag), "place": int(place), "answer": answer}:
                to_answer(answer)
                self.open[tag].left.remove(place)
                self._known.setdefault(self.open[tag].keys[place], _Known()).places.append((self._end, size))
            case {"cancelling": str(tag)}:
                self.open[tag].cancelled = True
            case {"closed": str(tag)}:
                del self.open[tag]
            case {"over": str(key)}:
                self._known.pop(key, None)
            case _:
                raise ValueError("it is no line of a journal")

    def _answer_at(self, at: int, size: int) -> Answer:
        os.lseek(self._file, at, os.SEEK_SET)
        return to_answer(_loaded(os.read(self._file, size))["answer"])

    def _write(self, members: Mapping[str, Json]) -> None:
        """Write a line, or no part of it."""
        line = json.dumps(members).encode() + b"\n"
        at, self._end = self._end, self._end + len(line)
        if self._place is None:
            return
        os.lseek(self._file, at, os.SEEK_SET)
        written, failed = 0, None
        try:
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError as error:
            failed = error
        if failed is not None:
            self._end = at
            os.ftruncate(self._file, at)
            raise self._failed(failed) from failed

    def _bad(self, what: str, hint: str) -> BadJournal:
        return BadJournal(f"The journal {self._place} {what}.", hint=hint)

    def _failed(self, error: OSError) -> JournalFailed:
        return JournalFailed(f"The journal {self._place} cannot be written: {error.strerror}.")


def _loaded(line: bytes) -> Mapping[str, Any]:
    try:
        return mapping(cast("object", json.loads(line)))
    except (ValueError, RecursionError):
        return {}


@contextmanager
def opened(path: str | os.PathLike[str] | None, about: Mapping[str, Json]) -> Generator[Journal]:
    """Yield the journal of batches at ``path``, made where there is none; one that keeps nothing where None.

    ``about`` is what all emissions of the run have in common. Raises ``BadJournal`` for a file that is of another
    run or does not hold. It keeps nobody out: the journal of the run, beside which it lies, is locked.
    """
    if path is None:
        yield Journal(None, -1, about)
        return
    place = Path(path)
    try:
        file = os.open(place, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
    except OSError as error:
        raise BadJournal(
            f"The journal {place} cannot be opened: {error.strerror}.", hint="Name another file."
        ) from error
    try:
        journal = Journal(place, file, about)
    except BaseException:
        os.close(file)
        raise
    try:
        yield journal
    finally:
        journal.close()
