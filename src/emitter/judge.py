"""The judge: from an answer to a verdict, the stop reason first.

Rule 1: the text is looked at only after a clean stop. A cut, refused or unknown answer is never parsed into
success, however whole it looks.
Rule 2: what is judged is the document after recovery and decoding, against the caller's original schema.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from emitter.recover import Path, Recovered, read
from emitter.wire import Fault, Reply, Stop

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.schema import Compiled, Violation
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


Check: TypeAlias = "Callable[[Json], tuple[Violation, ...]]"
"""A content rule: what it finds in a value that is valid against the schema."""


@dataclass(frozen=True, slots=True)
class Contract:
    """What a document must satisfy: the compiled schema, then the content rules.

    ``tidy`` may supply what a host must not insist on, before validation.
    """

    compiled: Compiled
    checks: tuple[Check, ...] = ()
    tidy: Callable[[Json], Json] = lambda document: document


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and its grounds. ``value`` is set when COMPLETE, ``violations`` when VIOLATED.

    ``recovered`` tells how the document was read out of the answer, where one was.
    """

    verdict: Verdict
    value: Json = None
    recovered: Recovered | None = None
    violations: tuple[Violation, ...] = ()


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


def judge(answer: Answer, contract: Contract) -> Judgement:
    """Return the verdict on ``answer``."""
    if isinstance(answer, Fault):
        return Judgement(Verdict.FAULTED)
    verdict = BY_STOP[answer.stop]
    if verdict is not Verdict.COMPLETE:
        return Judgement(verdict)
    found = document(answer)
    if found is None:
        return Judgement(Verdict.MALFORMED)
    return _validate(found, contract)


def document(reply: Reply) -> Recovered | None:
    """Return the one document of a cleanly stopped answer: a called tool's arguments, else the text."""
    if not reply.arguments:
        found = read(reply.text)
        return found if isinstance(found, Recovered) else None
    calls = [_arguments(each) for each in reply.arguments]
    first = calls[0]
    same = all(first is not None and each is not None and _same(each.value, first.value) for each in calls)
    return first if same else None


def _same(one: Json, other: Json) -> bool:
    """Compare as JSON, where 1 and true differ."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _arguments(given: Json) -> Recovered | None:
    if not isinstance(given, str):
        return Recovered(given, Path.DIRECT, 0)
    found = read(given)
    return found if isinstance(found, Recovered) else None


def _validate(found: Recovered, contract: Contract) -> Judgement:
    value = contract.tidy(contract.compiled.decode(found.value))
    violations = contract.compiled.validate(value)
    if not violations:
        violations = tuple(finding for check in contract.checks for finding in check(value))
    if violations:
        return Judgement(Verdict.VIOLATED, recovered=found, violations=violations)
    return Judgement(Verdict.COMPLETE, value, found)
