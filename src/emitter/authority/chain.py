"""The chain of a workflow's records: each line holds the hash of the one before, so none can be changed in silence.

What a chain cannot tell is that its end was cut off: keep the hash of the last line elsewhere, or have it signed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from pydantic import ValidationError

from emitter.authority.records import Confirm, Line
from emitter.authority.records.form import moment
from emitter.decide.canonical import HALF_PAIR, Profile
from emitter.decide.digest import digest_of
from emitter.errors import InputError, NotCanonical, Tampered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from emitter.authority.records import Chained
    from emitter.decide.digest import AnswerCheck
    from emitter.wire import Json

T = TypeVar("T")

_NAME: Final = "emitter.authority"
_SIGN: Final = "Give it sign=, as those have it who wrote the lines before."


@dataclass(frozen=True, slots=True)
class Seal:
    """What signs the hash of a line, and what looks at the signature of one that is read, raising what it finds.

    ``answers`` looks at the signature of the answer by which a confirm was granted.
    """

    sign: Callable[[str], str] | None = None
    check: Callable[[Line], None] | None = None
    answers: AnswerCheck | None = None

    def look(self, line: Line) -> None:
        """Look at the signatures of a line that is read."""
        if self.check is not None:
            self.check(line)
        if self.answers is not None:
            check_answered(line, self.answers)


UNSEALED: Final = Seal()


def genesis(workflow_id: str) -> str:
    """Return what the first line of a workflow's chain has for ``prev``: no chain can pass for another's."""
    return digest_of({"chain": _NAME, "workflow_id": workflow_id}, Profile.WIRE)


def line(seq: int, at: str, prev: str, record: Chained, sign: Callable[[str], str] | None = None) -> Line:
    """Return the line of a record; ``sign`` makes a signature of its hash."""
    hashed = _hash({"seq": seq, "at": at, "prev": prev, "record": record.to_json()})
    made = Line(seq=seq, at=at, prev=prev, record=record, hash=hashed)
    return made if sign is None else made.model_copy(update={"signature": _signed(hashed, sign)})


def _signed(hashed: str, sign: Callable[[str], str]) -> str:
    made = sign(hashed)
    if not isinstance(made, str) or HALF_PAIR.search(made):  # pyright: ignore[reportUnnecessaryIsInstance]  it is anybody's code
        raise InputError("sign= returned no text.", hint="It returns a signature of the hash that it is given.")
    return made


def read(document: Json, place: str) -> Line:
    """Return a line whose hash holds; raises ``Tampered``, which names the ``place``."""
    try:
        found = Line.model_validate(document)
        expected = _hash({name: each for name, each in document.items() if name not in {"hash", "signature"}})
    except (ValidationError, NotCanonical):
        raise Tampered(f"{place} is no line of a chain.", place=place) from None
    if found.hash != expected:
        raise Tampered(f"{place} is not what was written: its hash does not hold.", place=place)
    return found


def follows(last: Line | None, found: Line, place: str, workflow_id: str | None = None) -> None:
    """Raise ``Tampered`` where a line does not follow on the last one, or is of another workflow than that."""
    workflow = workflow_id or workflow_of(found.record if last is None else last.record)
    expected = (0, genesis(workflow)) if last is None else (last.seq + 1, last.hash)
    is_earlier = last is not None and moment(found.at) < moment(last.at)
    if (found.seq, found.prev) != expected or is_earlier or workflow_of(found.record) != workflow:
        raise Tampered(f"{place} does not follow on the line before.", place=place)


def check_signed(last: Line | None, added: Line) -> None:
    """Raise ``InputError`` for a line without a signature after one that has one: the chain would hold no more."""
    if last is not None and last.signature is not None and added.signature is None:
        raise InputError("The workflow's chain is signed, and nothing signs for this authority.", hint=_SIGN)


def check_answered(line: Line, answers: Callable[[str, str | None], T]) -> T | None:
    """Return what ``answers`` tells of the answer that a confirm rests on, None for another record.

    Raises ``Tampered`` where its signature does not hold.
    """
    if not isinstance(line.record, Confirm):
        return None
    try:
        return answers(line.record.statement, line.record.granted_by.signature)
    except Tampered as error:
        place = f"line {line.seq}"
        raise Tampered(f"{place}, CONFIRM, rests on no answer: {error.args[0]}", place=place) from None


def verify(documents: Iterable[Json], check: Callable[[Line], None] | None = None) -> Iterator[Line]:
    """Yield the lines of a chain, each of which holds; raises ``Tampered`` at the first that does not.

    ``check`` looks at a line's signature, and raises what it finds.
    """
    last: Line | None = None
    for number, document in enumerate(documents):
        place = f"line {number}"
        found = read(document, place)
        follows(last, found, place)
        if check is not None:
            check(found)
        last = found
        yield found


def workflow_of(record: Chained) -> str:
    """Return the workflow that a record is of."""
    return record.scope.workflow_id if record.type == "CONFIRM" else record.workflow_id


def _hash(members: Json) -> str:
    return digest_of(members, Profile.WIRE)
