"""A workflow's chain outside of its store: as lines of canonical JSON, read back strictly, and what it comes to.

Source: RFC 8785, for the one spelling that a line has. ``report`` tells more than that the hashes hold: who forges a
whole chain gets them right, so each record is held to the rules again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from emitter.authority.chain import check_answered, verify, workflow_of
from emitter.authority.records import Confirm
from emitter.authority.rules import places
from emitter.authority.rules.state import State
from emitter.decide.canonical import Profile, canonical
from emitter.decide.strict import parse
from emitter.errors import NotCanonical, Tampered

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.authority.records import Intent, Line
    from emitter.authority.rules.state import Held
    from emitter.wire import Json

Source: TypeAlias = str | bytes | Iterable[str] | Iterable[bytes]
"""A text, or a file that was opened, whose lines are these."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a chain that holds comes to: ``lines`` is how many, ``head`` the hash of the last, ``counts`` by type.

    ``signed`` says how many lines have a signature, whether or not anybody checked it. ``confirms`` say what was spent
    of each and why it is dead, if it is; ``unfinished`` are the acts that have no receipt. ``answered`` tells, by
    confirm, whose answer each rests on: the thumbprint of the principal's key, where somebody checked it.
    """

    workflow_id: str
    lines: int
    head: str
    signed: int
    counts: Mapping[str, int]
    confirms: tuple[Held, ...]
    unfinished: tuple[Intent, ...]
    answered: Mapping[str, str] = field(default_factory=dict[str, str])


def export(lines: Iterable[Json]) -> Iterator[bytes]:
    """Yield lines of a chain as they are written into a file: canonical JSON (RFC 8785) and a line feed.

    They are not looked at. Raises ``Tampered`` for what has no canonical form, which no line of a chain lacks.
    """
    for number, each in enumerate(lines):
        place = f"line {number}"
        try:
            yield canonical(each, Profile.WIRE) + b"\n"
        except NotCanonical:
            raise Tampered(f"{place} has no canonical form.", place=place) from None


def read_lines(source: Source) -> Iterator[Json]:
    """Yield the lines of a file, or of its text; raises ``Tampered`` for one that is not as ``export`` spells it."""
    for number, each in enumerate(_rows(source)):
        yield _document(each, f"line {number}")


def report(  # noqa: PLR0913  most have a default
    documents: Iterable[Json],
    check: Callable[[Line], None] | None = None,
    head: str | None = None,
    *,
    workflow_id: str | None = None,
    max_skew: float = 0.0,
    answers: Callable[[str, str | None], str] | None = None,
) -> Report:
    """Return what a chain comes to; raises ``Tampered`` at the first line that does not hold.

    A line holds where its hash does, where it follows on the one before, and where what stands before it allows what
    it says: no act without a live confirm that covers it and leaves enough of each limit. ``check`` looks at its
    signature: see ``emitter.authority.signing.checker``. ``head`` is the hash of a line that was once the last: without
    it nobody can tell that the end was cut off, or the whole replaced. ``workflow_id`` is whose chain it must be,
    ``max_skew`` by how many seconds clocks were allowed to differ, as in ``Authority(max_skew=)``.

    A confirm says which decision granted it; that it was made is the ledger's to tell, and none is asked here.
    ``answers`` looks at the principal's signature of the answer, which stands in the confirm: see
    ``emitter.authority.signing.Checker.answered_by``.
    """
    state: State | None = None
    counts, seen, signed = Counter[str](), set[str](), 0
    answered: dict[str, str] = {}
    for found in verify(documents, check):
        state = state or State(_expected(found, workflow_id))
        places.add(state, found, max_skew)
        if answers is not None and isinstance(found.record, Confirm):
            answered[found.record.confirm_id] = check_answered(found, answers) or ""
        counts[found.record.type] += 1
        seen.add(found.hash)
        signed += found.signature is not None
    if state is None:
        raise Tampered("The chain has no line.", place="line 0")
    _check_head(head, seen, state)
    confirms = tuple(state.confirms.values())
    unfinished = tuple(state.unfinished.values())
    return Report(state.workflow_id, state.next, state.head, signed, counts, confirms, unfinished, answered)


def _rows(source: Source) -> Iterator[str | bytes]:
    if isinstance(source, (str, bytes)):
        text = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
        *rows, rest = text.split(b"\n")
        yield from rows if not rest else (*rows, rest)
        return
    for each in source:
        yield each.removesuffix("\n") if isinstance(each, str) else each.removesuffix(b"\n")


def _document(row: str | bytes, place: str) -> Json:
    try:
        document = parse(row, Profile.WIRE)
    except NotCanonical as error:
        raise Tampered(f"{place} is no line of a chain ({error}).", place=place) from None
    spelled = row.encode("utf-8", "surrogatepass") if isinstance(row, str) else row
    if canonical(document, Profile.WIRE) != spelled:
        raise Tampered(f"{place} is not spelled as it was written: in canonical JSON.", place=place)
    return document


def _expected(first: Line, workflow_id: str | None) -> str:
    found = workflow_of(first.record)
    if workflow_id not in {None, found}:
        raise Tampered("line 0 is of another workflow's chain.", place="line 0")
    return found


def _check_head(head: str | None, seen: set[str], state: State) -> None:
    if head is not None and head not in seen:
        raise Tampered(
            "The chain does not have the line whose hash was noted: its end was cut off, or it is another chain.",
            place=f"line {state.next}",
        )
