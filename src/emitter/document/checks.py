"""The caller's own rules: asked of a value, bounded in what they find, and never mistaken for the model."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from emitter.door.settings import listed
from emitter.errors import InputError
from emitter.schema import Violation
from emitter.schema.findings import MAX_FINDINGS, Raised, Reading

if TYPE_CHECKING:
    from emitter.judge import Read
    from emitter.schema.source import Source
    from emitter.wire import Json

T = TypeVar("T")

Check: TypeAlias = Callable[[T], Iterable[Violation | str] | None]
"""A rule of the caller's: what it finds in a value, as sentences or ``Violation``s; nothing where it holds."""

_LONGEST = 300
_RULE = "check"


def checked(given: object) -> tuple[Check[Any], ...]:
    """Return the checks; raises ``InputError`` for what cannot be called and answered."""
    checks = tuple(listed("checks", given, (str,), "the functions"))
    for index, each in enumerate(checks):
        if not callable(each):
            raise InputError(f"checks[{index}] is of type {type(each).__name__}, not a function of the value.")
        if inspect.iscoroutinefunction(each):
            raise InputError(f"checks[{index}] is async.", hint="A check answers at once: wait after the emission.")
    return cast("tuple[Check[Any], ...]", checks)


def reader(source: Source[Any], checks: tuple[Check[Any], ...]) -> Read:
    """Return the function that reads a valid document and asks the checks; what they raise is told as theirs."""

    def read(document: Json) -> Reading[Any]:
        reading = _guarded(f"A validator of {source.name}", partial(source.read, document))
        if reading.violations or reading.raised is not None:
            return reading
        findings: list[Violation] = []
        for each in checks:
            asked = _guarded(_named(each), partial(_asked, each, reading.value))
            if asked.raised is not None:
                return asked
            findings.extend(asked.violations)
        return Reading(violations=tuple(findings[:MAX_FINDINGS])) if findings else reading

    return read


def _guarded(by: str, act: Callable[[], Reading[Any]]) -> Reading[Any]:
    try:
        return act()
    except Exception as error:  # noqa: BLE001  the caller's code may raise anything, and the trace must outlive it
        return Reading(raised=Raised(by, error))


def _named(check: Check[Any]) -> str:
    return f"The check {getattr(check, '__name__', type(check).__name__)}"


def _asked(check: Check[Any], value: object) -> Reading[Any]:
    """Return what a check finds, as violations; a lone sentence counts as a list of one."""
    found: Any = check(value)
    if isinstance(found, str | Violation):
        found = (found,)
    first = islice(cast("Iterable[object]", () if found is None else found), MAX_FINDINGS)
    return Reading(violations=tuple(_finding(each) for each in first))


def _finding(each: object) -> Violation:
    if isinstance(each, Violation):
        return replace(each, pointer=_line(each.pointer), rule=_line(each.rule), expected=_line(each.expected))
    if isinstance(each, str):
        return Violation("", _RULE, _line(each))
    raise TypeError(f"a finding is a sentence or a Violation, not a {type(each).__name__}")


def _line(text: str) -> str:
    """Return a text as one short line that every wire can carry."""
    whole = " ".join(text.split()).encode(errors="replace").decode()
    return whole if len(whole) <= _LONGEST else f"{whole[:_LONGEST]}…"
