"""The journal of batches: what was submitted under which id, and what came back.

A line is written before anything is submitted, and before anybody sees an answer; each in one write of the system,
so that a process that is killed loses none. What no line says did not happen, with one exception: a batch may have
been made whose id was not written any more. Such a batch is looked for at the vendor by its tag.
"""

from __future__ import annotations

import datetime as dt
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emitter import lines
from emitter.batch.answers import of_answer, to_answer
from emitter.redact import NO_SECRETS
from emitter.wire import sequence

if TYPE_CHECKING:
    import os
    from collections.abc import Generator, Mapping, Sequence

    from emitter.lines import Lines
    from emitter.redact import Secrets
    from emitter.wire import Answer, Json

_MEND = "It says what was paid for: mend that line, or name another file to ask for everything again."
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

    def __init__(self, kept: Lines | None, about: Mapping[str, Json], secrets: Secrets = NO_SECRETS) -> None:
        self._secrets = secrets
        self.open: dict[str, Written] = {}
        self.notice: str | None = None
        self._lines = kept
        self._known: dict[str, _Known] = {}
        if kept is not None:
            self._read(kept, about)

    @property
    def lasting(self) -> bool:
        """Whether it is kept in a file."""
        return self._lines is not None

    def answers(self, key: str) -> list[Answer]:
        """Return the answers to an emission that stood in the file when it was opened, in order."""
        known = self._known.get(key)
        if known is None or self._lines is None:
            return []
        found = (self._lines.part(at, size) for at, size in known.places)
        return [to_answer(lines.members_of(each)["answer"]) for each in found]

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
        self._write({"answered": tag, "place": place, "answer": self._secrets.json(of_answer(answer)).value})
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

    def _read(self, kept: Lines, about: Mapping[str, Json]) -> None:
        for number, at, line in kept.read():
            if number == 1:
                _check(kept, line, about)
                continue
            try:
                self._take(lines.members_of(line), (at, len(line)))
            except (KeyError, IndexError, TypeError, ValueError) as error:
                raise kept.bad(f"does not hold in line {number}", _MEND) from error
        if kept.torn:
            self.notice = _TORN.format(kept.place)
        if kept.end == 0:
            kept.begin(about)

    def _take(self, members: Mapping[str, Any], where: tuple[int, int]) -> None:
        """Learn what the line that stands there says."""
        match members:
            case {"submitting": str(tag), "at": str(at), "keys": list()}:
                keys = tuple(str(each) for each in sequence(members["keys"]))
                self.open[tag] = Written(tag, dt.datetime.fromisoformat(at), keys, set(range(len(keys))))
            case {"submitted": str(tag), "batch": str(batch)}:
                self.open[tag].batch = batch
            case {"answered": str(tag), "place": int(place), "answer": answer}:
                to_answer(answer)
                self.open[tag].left.remove(place)
                self._known.setdefault(self.open[tag].keys[place], _Known()).places.append(where)
            case {"cancelling": str(tag)}:
                self.open[tag].cancelled = True
            case {"closed": str(tag)}:
                del self.open[tag]
            case {"over": str(key)}:
                self._known.pop(key, None)
            case _:
                raise ValueError("it is no line of a journal")

    def _write(self, members: Mapping[str, Json]) -> None:
        if self._lines is not None:
            self._lines.add(lines.line_of(members))


def _check(kept: Lines, first: bytes, about: Mapping[str, Json]) -> None:
    """Refuse a first line that is of another run."""
    there = kept.about(first)
    other = [each for each in about if there.get(each) != about[each]]
    if other:
        raise kept.bad(f"is of another run: it differs in {', '.join(other)}", lines.ANOTHER)


@contextmanager
def opened(
    path: str | os.PathLike[str] | None, about: Mapping[str, Json], secrets: Secrets = NO_SECRETS
) -> Generator[Journal]:
    """Yield the journal of batches at ``path``, made where there is none; one that keeps nothing where None.

    ``about`` is what all emissions of the run have in common; ``secrets`` are struck out of the answers. Raises
    ``BadJournal`` for a file that is of another run or does not hold. It keeps nobody out: the journal of the run,
    beside which it lies, is locked.
    """
    if path is None:
        yield Journal(None, about)
        return
    with lines.opened(Path(path), "emitter-batches", version=1, called="journal of batches") as kept:
        yield Journal(kept, about, secrets)
