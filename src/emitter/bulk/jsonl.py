"""An append-only JSON Lines file, with an advisory lock.

Each line is one write, so a killed process loses no complete line. The file is synced when it is closed.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from emitter.errors import BadJournal, JournalFailed
from emitter.files import open_private
from emitter.messages import as_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping
    from pathlib import Path

    from emitter.messages import Json

_OTHER_FILE_HINT = "Use another file for this run, or make the same requests as before."
_OTHER_NAME_HINT = "Use another file."
_DIGEST_FIELDS = frozenset({"schema", "words", "options"})
"""Members of ``about`` that tell nothing when they are shown."""


@dataclass(slots=True)
class JsonlFile:
    """An open file that is read once and then appended to.

    ``name`` and ``version`` are in its first line, and ``description`` is used in errors. ``end_offset`` is where the
    next line goes. ``was_torn`` means that the file ended within a line.
    """

    path: Path
    descriptor: int
    name: str
    version: int
    description: str
    end_offset: int = field(default=0, init=False)
    was_torn: bool = field(default=False, init=False)

    def iter_lines(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield number, offset and content of each line. Drop an incomplete last line of a killed process."""
        with os.fdopen(self.descriptor, "rb", closefd=False) as file:
            for number, content in enumerate(file, 1):
                if content.endswith(b"\n"):
                    yield number, self.end_offset, content
                    self.end_offset += len(content)
                    continue
                opening = encode_line({"journal": self.name}).removesuffix(b"}\n")
                if number == 1 and not (content.startswith(opening) or opening.startswith(content)):
                    raise self.make_error(f"is not a {self.description}", _OTHER_NAME_HINT)
                os.ftruncate(self.descriptor, self.end_offset)
                self.was_torn = True

    def load(
        self, about: Mapping[str, Json], apply: Callable[[Mapping[str, Any], tuple[int, int]], None], hint: str
    ) -> None:
        """Pass each line and its offset and size to ``apply``, or write the first line of an empty file.

        Raises ``BadJournal``, with ``hint``, for a line that ``apply`` rejects, and for a file of another run: its
        first line has another ``about``.
        """
        for number, offset, line in self.iter_lines():
            if number == 1:
                self._check_header(decode_line(line), about)
                continue
            try:
                apply(decode_line(line), (offset, len(line)))
            except (LookupError, TypeError, ValueError, RecursionError) as error:
                raise self.make_error(f"is invalid in line {number}", hint.format(number=number)) from error
        if self.end_offset == 0:
            self.append(encode_line({"journal": self.name, "version": self.version, "about": dict(about)}))

    def _check_header(self, header: Mapping[str, Json], about: Mapping[str, Json]) -> None:
        if header.get("journal") != self.name:
            raise self.make_error(f"is not a {self.description}", _OTHER_NAME_HINT)
        if header.get("version") != self.version:
            raise self.make_error(
                f"has format {header.get('version')!r}; this release reads format {self.version}", _OTHER_FILE_HINT
            )
        recorded = as_mapping(header.get("about"))
        differences = [
            f"it differs in its {name}"
            if name in _DIGEST_FIELDS
            else f"its {name} is {recorded.get(name)!r}, and here it is {current!r}"
            for name, current in about.items()
            if recorded.get(name) != current
        ]
        if differences:
            raise self.make_error(f"belongs to another run: {'; '.join(differences)}", _OTHER_FILE_HINT)

    def read_at(self, offset: int, size: int) -> bytes:
        """Return ``size`` bytes from ``offset`` on."""
        os.lseek(self.descriptor, offset, os.SEEK_SET)
        return os.read(self.descriptor, size)

    def append(self, line: bytes) -> None:
        """Write a line, completely or not at all. Raises ``JournalFailed``."""
        os.lseek(self.descriptor, self.end_offset, os.SEEK_SET)
        try:
            written = os.write(self.descriptor, line)
        except OSError as error:
            raise _make_write_error(self.path, error.strerror) from error
        if written != len(line):
            os.ftruncate(self.descriptor, self.end_offset)
            raise _make_write_error(self.path, None)
        self.end_offset += written

    def make_error(self, problem: str, hint: str) -> BadJournal:
        """Return the error for an unusable journal."""
        return BadJournal(f"The journal {self.path} {problem}.", hint=hint)


def encode_line(members: Mapping[str, Json]) -> bytes:
    """Return a JSON line, including the newline."""
    return json.dumps(members).encode() + b"\n"


def decode_line(line: bytes) -> Mapping[str, Json]:
    """Return the object in a line, or an empty one."""
    try:
        return as_mapping(cast("object", json.loads(line)))
    except (ValueError, RecursionError):
        return {}


@contextmanager
def open_jsonl(path: Path, name: str, version: int, description: str) -> Generator[JsonlFile]:
    """Open a file, and create it if needed. Raises ``BadJournal`` if it cannot be opened."""
    try:
        file = open_private(path, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise BadJournal(f"The journal {path} cannot be opened: {error.strerror}.", hint=_OTHER_NAME_HINT) from error
    try:
        yield JsonlFile(path, file, name, version, description)
    finally:
        try:
            os.fsync(file)
        except OSError as error:
            raise _make_write_error(path, error.strerror) from error
        finally:
            os.close(file)


def _make_write_error(path: Path, reason: str | None) -> JournalFailed:
    return JournalFailed(f"The journal {path} cannot be written: {reason or 'the disk has no room for a whole line'}.")


if sys.platform == "win32":
    import msvcrt
    import os

    _LOCK_OFFSET = 1 << 40
    """The locked byte, beyond all data, since Windows lets no process read a locked byte."""

    def lock_file(file: int) -> None:
        """Lock an open file. Raises ``OSError`` if another process holds it."""
        at = os.lseek(file, 0, os.SEEK_CUR)
        os.lseek(file, _LOCK_OFFSET, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        finally:
            os.lseek(file, at, os.SEEK_SET)

else:
    import fcntl

    def lock_file(file: int) -> None:
        """Lock an open file. Raises ``OSError`` if another process holds it."""
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
