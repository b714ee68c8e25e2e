"""The caller's own rules: asked of a value, bounded in what they find, and never mistaken for the model."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from emitter.arguments import listed
from emitter.errors import InputError
from emitter.schema import Violation
from emitter.schema.author import author_of
from emitter.schema.findings import FROM_CODE, MAX_FINDINGS, UNTOLD, Raised, Reading
from emitter.schema.messages import LONGEST, without
from emitter.schema.pointer import escaped
from emitter.schema.violation import names_of

if TYPE_CHECKING:
    from emitter.judge import Read
    from emitter.schema.author import Author
    from emitter.schema.source import Source
    from emitter.wire import Json

T = TypeVar("T")

Check: TypeAlias = Callable[[T], Iterable[Violation | str] | bool | None]
"""A rule of the caller's: what it finds in a value, as a sentence, sentences or ``Violation``s.

Nothing, an empty text or list, None and True say that the rule holds. False says that it does not: the model is told
the first line of the function's docstring.
"""

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


def reader(source: Source[Any], checks: tuple[Check[Any], ...], *, told: bool = True) -> Read:
    """Return the function that reads a valid document and asks the checks; what they raise is told as theirs.

    Without ``told`` the words of validators and checks are withheld.
    """
    names = names_of(source.schema)
    authors = tuple(cache(partial(author_of, each)) for each in checks)

    def read(document: Json) -> Reading[Any]:
        reading = _guarded(f"A validator of {source.name}", partial(source.read, document))
        if reading.raised is not None:
            return reading
        if reading.violations:
            return reading if told else replace(reading, violations=tuple(map(_withheld, reading.violations)))
        findings: list[Violation] = []
        for each, author in zip(checks, authors, strict=True):
            words = _Words(each, document, names, author, told)
            asked = _guarded(_named(each), partial(_asked, each, reading.value, words))
            if asked.raised is not None:
                return asked
            findings.extend(asked.violations)
        return Reading(violations=tuple(findings[:MAX_FINDINGS])) if findings else reading

    return read


def _withheld(found: Violation) -> Violation:
    return replace(found, expected=UNTOLD) if found.rule in FROM_CODE else found


def _guarded(by: str, act: Callable[[], Reading[Any]]) -> Reading[Any]:
    try:
        return act()
    except Exception as error:  # noqa: BLE001  the caller's code may raise anything, and the trace must outlive it
        return Reading(raised=Raised(by, error))


def _named(check: Check[Any]) -> str:
    return f"The check {getattr(check, '__name__', type(check).__name__)}"


def _asked(check: Check[Any], value: object, words: _Words) -> Reading[Any]:
    """Return what a check finds, as violations; a lone sentence counts as a list of one, and False as no sentence."""
    found: Any = check(value)
    if found is False:
        return Reading(violations=(Violation("", _RULE, words.unsaid),))
    if found is None or found is True or (isinstance(found, str) and not found):
        return Reading()
    if isinstance(found, str | Violation):
        found = (found,)
    first = islice(cast("Iterable[object]", found), MAX_FINDINGS)
    return Reading(violations=tuple(words.finding(each) for each in first))


@dataclass(frozen=True, slots=True)
class _Words:
    """What the model is told of a check's findings in a document: nothing of the document."""

    check: Check[Any]
    document: Json
    names: frozenset[str]
    author: Callable[[], Author]
    told: bool

    @property
    def unsaid(self) -> str:
        """What is told of a finding without words, or with words that are withheld: the check's own description."""
        named = getattr(self.check, "__name__", type(self.check).__name__)
        described = (inspect.getdoc(self.check) or "").strip().partition("\n")[0]
        if not self.told or not described or not inspect.isroutine(self.check):
            return f"an answer that passes the check {named}"
        return _line(described)

    def finding(self, each: object) -> Violation:
        """Return a finding as a violation."""
        if isinstance(each, Violation):
            rule = each.rule if self._clean(each.rule) == each.rule else _RULE
            return Violation(self._pointer(each.pointer), _line(rule), self._clean(each.expected) or self.unsaid)
        if isinstance(each, str):
            return Violation("", _RULE, self._clean(each) or self.unsaid)
        raise TypeError(f"a finding is a sentence or a Violation, not a {type(each).__name__}")

    def _clean(self, text: str) -> str | None:
        if not self.told:
            return None
        return without(text, self.document, self.author, self.names)

    def _pointer(self, pointer: str) -> str:
        """Return a pointer in which every name that the schema does not know stands as ``*``."""
        known = {escaped(each) for each in self.names}
        steps = _line(pointer).removeprefix("/").split("/") if pointer else []
        return "".join(f"/{each if each in known or each.isdecimal() else '*'}" for each in steps)


def _line(text: str) -> str:
    """Return a text as one short line that every wire can carry."""
    whole = " ".join(text.split()).encode(errors="replace").decode()
    return whole if len(whole) <= LONGEST else f"{whole[:LONGEST]}…"
