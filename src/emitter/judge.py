"""The judge: from an answer to a verdict, the stop reason first.

Rule 1: the text is looked at only after a clean stop. A cut, refused or unknown answer is never parsed into
success, however whole it looks.
Rule 2: what is judged is the document after recovery and decoding, against the caller's original schema.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic_core import PydanticSerializationError, to_json

from emitter.recover import Path, Recovered, Retracted, Several, Stance, read, stance, without_blocks
from emitter.schema.findings import Raised, Reading
from emitter.schema.violation import HALF_A_CHARACTER, Violation
from emitter.wire import Fault, Reply, Stop
from emitter.wire.strict import same

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.schema import Compiled
    from emitter.wire import Answer, Json


class Verdict(str, Enum):
    """What an answer is worth."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    OVERFLOWED = "overflowed"
    REFUSED = "refused"
    VIOLATED = "violated"
    MALFORMED = "malformed"
    PAUSED = "paused"
    UNKNOWN = "unknown"
    FAULTED = "faulted"
    UNCHECKED = "unchecked"
    """Code of the caller's, asked what the document is worth, raised."""


Read: TypeAlias = "Callable[[Json], Reading[Any]]"
"""Reads a document that is valid against the schema: a value, or what content rules find in it."""


@dataclass(frozen=True, slots=True)
class Contract:
    """What a document must satisfy: the compiled schema, then ``read``, which makes the value of it.

    ``tidy`` may supply what a host must not insist on, before validation.
    """

    compiled: Compiled
    read: Read = Reading
    tidy: Callable[[Json], Json] = lambda document: document

    def accept(self, document: Json) -> Reading[Any]:
        """Return the value of a document, or why it has none. It is read once, and only when valid."""
        violations = self.compiled.validate(document) or _halves(document)
        return Reading(violations=violations) if violations else self.read(document)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and its grounds.

    ``value`` and the ``document`` it was read from are set when COMPLETE, ``raised`` when UNCHECKED. ``violations``
    are set when VIOLATED, and when MALFORMED where more can be said than that there is no document. ``recovered``
    tells how the document was read out of the answer, where one was. ``remarks`` are what is to be told of a value
    that stands all the same.
    """

    verdict: Verdict
    value: Any = None
    document: Json = None
    recovered: Recovered | None = None
    violations: tuple[Violation, ...] = ()
    raised: Raised | None = None
    remarks: tuple[Violation, ...] = ()


BY_STOP: dict[Stop, Verdict] = {
    Stop.COMPLETE: Verdict.COMPLETE,
    Stop.TRUNCATED: Verdict.TRUNCATED,
    Stop.OVERFLOWED: Verdict.OVERFLOWED,
    Stop.REFUSED: Verdict.REFUSED,
    Stop.PAUSED: Verdict.PAUSED,
    Stop.UNKNOWN: Verdict.UNKNOWN,
    Stop.FAULTED: Verdict.FAULTED,
}
"""What each stop alone is worth; total over ``Stop``."""


RETRACTED = Violation(
    "", "retracted", "the document alone, with no words that take it back; to refuse, words alone, with no document"
)
"""The words around the document refuse it or take it back."""
DOUBTED = Violation("", "doubted", "the document alone, with no words before or after it")
"""The words around the document may take it back: worth asking once, and no reason to refuse it."""


def judge(answer: Answer, contract: Contract, *, asked: bool = False) -> Judgement:
    """Return the verdict on ``answer``.

    ``asked`` tells that the model was already asked for the document alone: a document that is doubtful again is
    taken, with a remark. One that is retracted never is.
    """
    if isinstance(answer, Fault):
        return Judgement(Verdict.FAULTED)
    verdict = BY_STOP[answer.stop]
    if verdict is not Verdict.COMPLETE:
        return Judgement(verdict)
    found = document(answer)
    if isinstance(found, Retracted):
        return Judgement(Verdict.MALFORMED, violations=(RETRACTED,))
    if found is None:
        return Judgement(Verdict.MALFORMED)
    if found.doubtful and not asked:
        return Judgement(Verdict.MALFORMED, violations=(DOUBTED,))
    judgement = _validate(found, contract)
    return replace(judgement, remarks=(*judgement.remarks, DOUBTED)) if found.doubtful else judgement


def document(reply: Reply) -> Recovered | Retracted | None:
    """Return the one document of a cleanly stopped answer: a called tool's arguments, else the text."""
    if not reply.arguments:
        found = read(reply.text)
        return None if isinstance(found, Several) else found
    calls = [_arguments(each) for each in reply.arguments]
    first = calls[0]
    if first is None or not all(each is not None and same(each.value, first.value) for each in calls):
        return None
    beside = stance(without_blocks(reply.text))
    return Retracted() if beside is Stance.RETRACTED else replace(first, doubtful=beside is Stance.DOUBTFUL)


def _arguments(given: Json) -> Recovered | None:
    """Return the document that a tool was called with: its JSON text, or an object that the vendor has read."""
    if not isinstance(given, str):
        return Recovered(given, Path.DIRECT, 0) if _is_json(given) else None
    found = read(given)
    return found if isinstance(found, Recovered) else None


def _is_json(value: Json) -> bool:
    """Tell whether a value is JSON through and through: NaN stands where a number could not be held."""
    try:
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return False
    return True


def _validate(found: Recovered, contract: Contract) -> Judgement:
    document = contract.tidy(contract.compiled.decode(found.value))
    reading = contract.accept(document)
    if reading.raised is not None:
        return Judgement(Verdict.UNCHECKED, recovered=found, raised=reading.raised)
    if reading.violations:
        return Judgement(Verdict.VIOLATED, recovered=found, violations=reading.violations)
    return Judgement(Verdict.COMPLETE, reading.value, document, found, remarks=reading.remarks)


def _halves(document: Json) -> tuple[Violation, ...]:
    """Refuse half a character: JSON can spell it, and nothing can carry it."""
    try:
        to_json(document)
    except PydanticSerializationError:  # what is too deep for this writer is told from half a character by that one
        return _halves_of(json.dumps(document, ensure_ascii=False))
    return ()


def _halves_of(text: str) -> tuple[Violation, ...]:
    try:
        text.encode()
    except UnicodeEncodeError:
        return (HALF_A_CHARACTER,)
    return ()
