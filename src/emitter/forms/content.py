"""Run the checks on an answer, and convert their results to violations, corrections and findings.

No violation or finding quotes the answer: its text is removed from the messages of the caller's checks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

from emitter.arguments import check_list, is_async
from emitter.errors import InputError
from emitter.findings import Finding, Severity
from emitter.schema import Violation
from emitter.schema.json_data import escape_pointer_token
from emitter.schema.message_redaction import MAX_MESSAGE_LENGTH, NO_CONTEXT, collect_source_text, redact_message
from emitter.schema.results import MAX_PYDANTIC_VIOLATIONS, CallbackFailure, ParseResult

if TYPE_CHECKING:
    from emitter.messages import Json
    from emitter.schema.message_redaction import SourceText

T = TypeVar("T")
Check: TypeAlias = Callable[[T], Iterable[Finding | Violation | str] | bool | None]
"""A rule about a value, as a function that returns its findings. A ``Checker`` is one.

It returns ``Finding``s with a severity, or sentences or ``Violation``s, which are errors. None, True and an empty text
or list mean that the rule holds. False means that it does not: the model is then corrected with the first line of the
function's docstring.
"""
_CHECK_RULE: Final = "check"
_MAX_FINDINGS: Final = 100
"""The maximum number of findings that are read from one of the caller's checks."""


def validate_checks(value: object) -> tuple[Check[Any], ...]:
    """Return the checks. Raises ``InputError`` for a check that is not a sync function."""
    checks = tuple(check_list("checks", value, (str,), "the functions"))
    for index, check in enumerate(checks):
        if not callable(check):
            raise InputError(f"checks[{index}] is of type {type(check).__name__}, not a function of the value.")
        if is_async(check):
            raise InputError(f"checks[{index}] is async.", hint="Pass a sync function, and await after the emission.")
    return cast("tuple[Check[Any], ...]", checks)


@dataclass(frozen=True, slots=True)
class ContentChecks:
    """The checks of a form, and the rules for their messages.

    Attributes:
        checks: The checks.
        names: Returns the property names of the schema, which messages may contain.
        show_messages: Show the messages of the caller's checks to the model.
        locate: Maps a finding's pointer to a pointer in the model's document.
        context: The texts of the validation context, which messages may contain.
    """

    checks: tuple[Check[Any], ...]
    names: Callable[[], frozenset[str]]
    show_messages: bool = True
    locate: Callable[[str], str] = str
    context: SourceText = NO_CONTEXT

    def run(self, value: object, document: Json, *, findings: Iterable[Finding] = ()) -> ParseResult[Any]:
        """Return the value with the findings about it, or the violations that reject it.

        ``findings`` are added to those of the checks.
        """
        found = list(findings)
        for check in self.checks:
            result = call_user_code(_check_name(check), partial(self._run_check, check, value, document))
            if result.failure is not None:
                return result
            found += result.findings
        errors, corrections = (
            tuple(self._to_violation(finding) for finding in found if finding.severity is severity)
            for severity in (Severity.ERROR, Severity.RETRY)
        )
        if errors:
            return ParseResult(violations=(*errors, *corrections)[:MAX_PYDANTIC_VIOLATIONS])
        reported = tuple(finding for finding in found if finding.severity is not Severity.OFF)
        return ParseResult(value, findings=reported, corrections=corrections[:MAX_PYDANTIC_VIOLATIONS])

    def _to_violation(self, finding: Finding) -> Violation:
        return Violation(self.locate(finding.pointer), finding.rule, finding.message)

    def _run_check(self, check: Check[Any], value: object, document: Json) -> ParseResult[Any]:
        """Return the findings of a check, without any text of the document."""
        found: Any = check(value)
        if found is None or found is True or (isinstance(found, str | tuple) and not found):
            return ParseResult()
        if type(check).__module__.startswith("emitter.checks."):
            return ParseResult(findings=tuple(cast("Iterable[Finding]", found)))
        messages = _CheckMessages(check, document, self.names, self.show_messages, self.context)
        if found is False:
            return ParseResult(findings=(Finding("", _CHECK_RULE, Severity.ERROR, messages.description),))
        if isinstance(found, str | Violation | Finding):
            found = (found,)
        returned = cast("object", found)
        if returned is value or not isinstance(returned, Iterable):  # pydantic's models are iterable
            raise _CheckResultError(returned)
        first = islice(cast("Iterable[object]", returned), _MAX_FINDINGS)
        return ParseResult(findings=tuple(messages.to_finding(item) for item in first))


class _CheckResultError(TypeError):
    """A check returned a value of the wrong type."""

    def __init__(self, found: object) -> None:
        kind = type(found).__name__
        super().__init__(f"a value of type {kind}; a check returns sentences, Findings, Violations, a bool or None")


def call_user_code(caller: str, function: Callable[[], ParseResult[Any]]) -> ParseResult[Any]:
    """Call a function of the caller, and return an exception that it raises as a failure."""
    try:
        return function()
    except _CheckResultError as error:
        return ParseResult(failure=CallbackFailure(caller, error, returned=True))
    except Exception as error:  # noqa: BLE001  the caller's code may raise anything, and the trace must survive it
        return ParseResult(failure=CallbackFailure(caller, error))


def _check_name(check: Check[Any]) -> str:
    return f"The check {getattr(check, '__name__', type(check).__name__)}"


@cache
def _source_text(check: Check[Any]) -> SourceText:
    return collect_source_text(check)


@dataclass(frozen=True, slots=True)
class _CheckMessages:
    """Converts the result of one of the caller's checks to findings without any text of the document."""

    check: Check[Any]
    document: Json
    names: Callable[[], frozenset[str]]
    show_messages: bool
    context: SourceText

    @property
    def description(self) -> str:
        """The message of a finding that has none, or whose message is withheld."""
        name = getattr(self.check, "__name__", type(self.check).__name__)
        summary = (inspect.getdoc(self.check) or "").strip().partition("\n")[0]
        if not self.show_messages or not summary or not inspect.isroutine(self.check):
            return f"an answer that passes the check {name}"
        return _single_line(summary)

    def to_finding(self, found: object) -> Finding:
        """Return a finding for an item that a check returned. Sentences and violations are errors."""
        match found:
            case Finding():
                return self._redact(found.pointer, found.rule, Severity(found.severity), found.message)
            case Violation():
                return self._redact(found.pointer, found.rule, Severity.ERROR, found.expected)
            case str():
                return self._redact("", _CHECK_RULE, Severity.ERROR, found)
            case _:
                raise _CheckResultError(found)

    def _redact(self, pointer: str, rule: str, severity: Severity, message: str) -> Finding:
        known_rule = rule if self._redact_text(rule) == rule else _CHECK_RULE
        text = self._redact_text(message) or self.description
        return Finding(self._redact_pointer(pointer), _single_line(known_rule), severity, text)

    def _redact_text(self, text: str) -> str | None:
        if not self.show_messages:
            return None
        return redact_message(text, self.document, self._author, self.names())

    def _author(self) -> SourceText:
        return _source_text(self.check) + self.context

    def _redact_pointer(self, pointer: str) -> str:
        """Return a pointer in which every name that the schema does not know is replaced by ``*``."""
        known = {escape_pointer_token(token) for token in self.names()}
        steps = _single_line(pointer).removeprefix("/").split("/") if pointer else []
        return "".join(f"/{token if token in known or token.isdecimal() else '*'}" for token in steps)


def _single_line(text: str) -> str:
    """Return the text as one short line that every wire can carry."""
    line = " ".join(text.split()).encode(errors="replace").decode()
    return line if len(line) <= MAX_MESSAGE_LENGTH else f"{line[:MAX_MESSAGE_LENGTH]}…"
