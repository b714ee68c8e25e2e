"""A file of JSON lines, only ever added to: each in one write, so a killed process loses none; synced when closed."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from emitter.errors import BadJournal, JournalFailed
from emitter.files import open_private
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping
    from pathlib import Path

    from emitter.wire import Json

ANOTHER = "Name another file for this run, or ask for the same thing as before."
_NAME = "Name another file."


@dataclass(slots=True)
class Lines:
    """An open file, read through once and then added to; ``name`` and ``version`` stand in its first line.

    Messages say ``called``; ``end`` is the byte where the next line goes; ``torn`` if it ended within a line.
    """

    place: Path
    file: int
    name: str
    version: int
    called: str
    end: int = field(default=0, init=False)
    torn: bool = field(default=False, init=False)

    def read(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield number, first byte and content of each line; drop what a killed process wrote of a last one."""
        with os.fdopen(self.file, "rb", closefd=False) as file:
            for number, content in enumerate(file, 1):
                if content.endswith(b"\n"):
                    yield number, self.end, content
                    self.end += len(content)
                    continue
                opening = line_of({"journal": self.name}).removesuffix(b"}\n")
                if number == 1 and not (content.startswith(opening) or opening.startswith(content)):
                    raise self.bad(f"is no {self.called}", _NAME)
                os.ftruncate(self.file, self.end)
                self.torn = True

    def begin(self, about: Mapping[str, Json]) -> None:
        """Write the first line."""
        self.add(line_of({"journal": self.name, "version": self.version, "about": dict(about)}))

    def about(self, first: bytes) -> Mapping[str, Json]:
        """Return what the first line says the file is about; raises ``BadJournal`` where it is of another form."""
        head = members_of(first)
        if head.get("journal") != self.name:
            raise self.bad(f"is no {self.called}", _NAME)
        if head.get("version") != self.version:
            raise self.bad(f"is of format {head.get('version')!r}; this release reads {self.version}", ANOTHER)
        return mapping(head.get("about"))

    def part(self, at: int, size: int) -> bytes:
        """Return ``size`` bytes from ``at`` on."""
        os.lseek(self.file, at, os.SEEK_SET)
        return os.read(self.file, size)

    def add(self, line: bytes) -> None:
        """Write a line; raises ``JournalFailed`` where it could not be written, and leaves no part of it."""
        os.lseek(self.file, self.end, os.SEEK_SET)
        try:
            written = os.write(self.file, line)
        except OSError as error:
            raise _failed(self.place, error.strerror) from error
        if written != len(line):
            os.ftruncate(self.file, self.end)
            raise _failed(self.place, None)
        self.end += written

    def bad(self, what: str, hint: str) -> BadJournal:
        """Return the error that says ``what`` is wrong with the file."""
        return BadJournal(f"The journal {self.place} {what}.", hint=hint)


def line_of(members: Mapping[str, Json]) -> bytes:
    """Return the line, with its end."""
    return json.dumps(members).encode() + b"\n"


def members_of(line: bytes) -> Mapping[str, Json]:
    """Return what a line holds; nothing where it is no JSON object."""
    try:
        return mapping(cast("object", json.loads(line)))
    except (ValueError, RecursionError):
        return {}


@contextmanager
def opened(place: Path, name: str, version: int, called: str) -> Generator[Lines]:
    """Yield the file at ``place``, made where there is none; raises ``BadJournal`` where it cannot be opened."""
    try:
        file = open_private(place, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise BadJournal(f"The journal {place} cannot be opened: {error.strerror}.", hint=_NAME) from error
    try:
        yield Lines(place, file, name, version, called)
    finally:
        try:
            os.fsync(file)
        except OSError as error:
            raise _failed(place, error.strerror) from error
        finally:
            os.close(file)


def _failed(place: Path, why: str | None) -> JournalFailed:
    return JournalFailed(f"The journal {place} cannot be written: {why or 'there is no room for a whole line'}.")
