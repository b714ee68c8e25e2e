"""All rules over one envelope."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from pydantic import BaseModel

from emitter.decide.lint.expected import EXPECTED, section
from emitter.decide.lint.finding import DEFAULT_DISCIPLINE, Discipline, Finding, Severity
from emitter.decide.lint.slots import CHECKS
from emitter.decide.lint.text import READ
from emitter.decide.seen import seen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.kinds import BindingMoment


def lint(moment: BindingMoment, discipline: Discipline = DEFAULT_DISCIPLINE) -> tuple[Finding, ...]:
    """Return what the discipline finds in an envelope, the errors first.

    The beginning of each text is taken, as it is read: see ``emitter.decide.seen``. The phrases are English. Of a text
    in another language only what its marks show is found: a blank, a second sentence, a question that stands as a
    position. The work is linear in the envelope.
    """
    return tuple(sorted(_found(moment, discipline), key=lambda each: each.severity is not Severity.ERROR))


def _found(moment: BindingMoment, discipline: Discipline) -> Iterator[Finding]:
    read = cast("BindingMoment", _read(moment))
    for rule, check in CHECKS.items():
        severity = discipline.severity(rule)
        if severity is not Severity.OFF:
            for slot in check(read):
                yield Finding(slot, rule, severity, section(slot), EXPECTED[rule])


def _read(value: object) -> object:
    """Return an envelope, or a part of it, with what is read of its texts."""
    match value:
        case str():
            return seen(value[:READ])
        case tuple():
            return tuple(map(_read, cast("tuple[object, ...]", value)))
        case BaseModel():
            return value.model_copy(update={name: _read(each) for name, each in value})
        case _:
            return value
