"""Ask for a document of the caller's type or JSON Schema.

Parses the answer, runs the caller's checks and validators, and selects what a stream reports. Types that grant
authority are rejected: only ``emit_authorization`` creates them.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from emitter import prompts as prompt
from emitter.arguments import check_list
from emitter.errors import InputError
from emitter.forms.form import OutputForm
from emitter.messages import as_mapping
from emitter.models.envelope import document_payload
from emitter.models.standard_kinds import AUTHORIZATION, DOCUMENT
from emitter.schema import Violation
from emitter.schema.json_data import escape_pointer_token
from emitter.schema.message_redaction import MAX_MESSAGE_LENGTH, collect_source_text, redact_message
from emitter.schema.python_types import resolve_schema
from emitter.schema.results import (
    CALLBACK_RULES,
    DEFAULT_EXPECTATION,
    MAX_PYDANTIC_VIOLATIONS,
    CallbackFailure,
    ParseResult,
)
from emitter.schema.validator import property_names
from emitter.streaming import StreamSelection, parse_pointer

if TYPE_CHECKING:
    from typing import Any

    from emitter.core.verdicts import DocumentContract, DocumentReader
    from emitter.messages import Json
    from emitter.models import AIEnvelope
    from emitter.schema.message_redaction import SourceText
    from emitter.schema.python_types import SchemaSource
    from emitter.streaming import DocumentPath


def document_form(
    schema: object, checks: object, examples: object, kind: str | None = None, *, show_messages: bool = True
) -> OutputForm:
    """Return the form of a document, emitted as ``kind``.

    If ``show_messages`` is false, the model does not see messages of validators and checks. Raises ``Uncompilable`` for
    an unusable schema and ``InputError`` for the other arguments.
    """
    documents = tuple(check_list("examples", examples, (str, bytes, Mapping), "the documents, or values of the type"))
    valid_checks = validate_checks(checks)
    if documents or isinstance(schema, Mapping):
        return _make_form(cast("object", schema), valid_checks, documents, kind, show_messages=show_messages)
    try:
        return _cached_form(schema, valid_checks, (), kind, show_messages=show_messages)
    except TypeError:  # it cannot be hashed
        return _make_form(schema, valid_checks, (), kind, show_messages=show_messages)


def _make_form(
    schema: object, checks: tuple[Check[Any], ...], examples: Sequence[object], kind: str | None, *, show_messages: bool
) -> OutputForm:
    source = resolve_schema(schema)
    reject_reserved(schema, kind, typed=source.is_python_type)
    return OutputForm(
        kind=kind or DOCUMENT,
        default_node_id="emit",
        name=source.name,
        schema=schema,
        system_prompt=prompt.document_prompt,
        has_heading=False,
        read_value=make_reader(source, checks, show_messages=show_messages),
        codec=_NamedDocumentCodec(source.name) if kind is None else _KindCodec(kind),
        examples=tuple(_example_document(source, index, document) for index, document in enumerate(examples)),
    )


_cached_form = lru_cache(maxsize=256)(_make_form)


def _example_document(source: SchemaSource[Any], index: int, example: object) -> Json:
    """Return an example as JSON."""
    try:
        value = source.dump(example)
    except PydanticSerializationError:  # no value of the type, so it must be a document already
        value = example
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"examples[{index}] is neither JSON nor a value of the schema's type.") from error


@dataclass(frozen=True, slots=True)
class _NamedDocumentCodec:
    """Puts the document beside its name, since its kind does not identify it."""

    name: str

    def to_payload(self, _: Any, document: Json) -> tuple[str, Json]:
        return DOCUMENT, document_payload(self.name, document)

    def from_envelope(self, contract: DocumentContract, envelope: AIEnvelope) -> tuple[Any, Json] | None:
        payload = as_mapping(envelope.payload)
        return _read_document(contract, payload.get("document")) if payload.get("name") == self.name else None


@dataclass(frozen=True, slots=True)
class _KindCodec:
    """Uses the document as the payload of the caller's own kind."""

    kind: str

    def to_payload(self, _: Any, document: Json) -> tuple[str, Json]:
        return self.kind, document

    def from_envelope(self, contract: DocumentContract, envelope: AIEnvelope) -> tuple[Any, Json] | None:
        return _read_document(contract, envelope.payload) if envelope.type == self.kind else None


def _read_document(contract: DocumentContract, document: Json) -> tuple[Any, Json] | None:
    result = contract.check(document)
    return None if result.failure is not None or result.violations else (result.value, document)


T = TypeVar("T")
Check: TypeAlias = Callable[[T], Iterable[Violation | str] | bool | None]
"""A rule of the caller: returns what is wrong with a value, as a sentence, sentences or ``Violation``s.

None, True and an empty text or list mean that the rule holds. False means that it does not: the model is then corrected
with the first line of the function's docstring.
"""
_CHECK_RULE = "check"


def validate_checks(value: object) -> tuple[Check[Any], ...]:
    """Return the checks; raise ``InputError`` for one that is not a sync function."""
    checks = tuple(check_list("checks", value, (str,), "the functions"))
    for index, check in enumerate(checks):
        if not callable(check):
            raise InputError(f"checks[{index}] is of type {type(check).__name__}, not a function of the value.")
        if inspect.iscoroutinefunction(check):
            raise InputError(f"checks[{index}] is async.", hint="Pass a sync function, and await after the emission.")
    return cast("tuple[Check[Any], ...]", checks)


def make_reader(
    source: SchemaSource[Any], checks: tuple[Check[Any], ...], *, show_messages: bool = True
) -> DocumentReader:
    """Return the function that parses a valid document and runs the checks."""
    names = cache(partial(property_names, source.schema))
    authors = tuple(cache(partial(collect_source_text, check)) for check in checks)

    def read(document: Json) -> ParseResult[Any]:
        reading = _call_user_code(f"A validator of {source.name}", partial(source.parse, document))
        if reading.failure is not None:
            return reading
        if reading.violations:
            return (
                reading
                if show_messages
                else replace(reading, violations=tuple(map(_withhold_message, reading.violations)))
            )
        findings: list[Violation] = []
        for check, author in zip(checks, authors, strict=True):
            messages = _CheckMessages(check, document, names, author, show_messages)
            result = _call_user_code(_check_name(check), partial(_run_check, check, reading.value, messages))
            if result.failure is not None:
                return result
            findings.extend(result.violations)
        return ParseResult(violations=tuple(findings[:MAX_PYDANTIC_VIOLATIONS])) if findings else reading

    return read


def _withhold_message(violation: Violation) -> Violation:
    return replace(violation, expected=DEFAULT_EXPECTATION) if violation.rule in CALLBACK_RULES else violation


def _call_user_code(caller: str, function: Callable[[], ParseResult[Any]]) -> ParseResult[Any]:
    try:
        return function()
    except Exception as error:  # noqa: BLE001  the caller's code may raise anything, and the trace must outlive it
        return ParseResult(failure=CallbackFailure(caller, error))


def _check_name(check: Check[Any]) -> str:
    return f"The check {getattr(check, '__name__', type(check).__name__)}"


def _run_check(check: Check[Any], value: object, messages: _CheckMessages) -> ParseResult[Any]:
    """Return the findings of a check as violations."""
    finding: Any = check(value)
    if finding is False:
        return ParseResult(violations=(Violation("", _CHECK_RULE, messages.description),))
    if finding is None or finding is True or (isinstance(finding, str) and not finding):
        return ParseResult()
    if isinstance(finding, str | Violation):
        finding = (finding,)
    first = islice(cast("Iterable[object]", finding), MAX_PYDANTIC_VIOLATIONS)
    return ParseResult(violations=tuple(messages.to_violation(item) for item in first))


@dataclass(frozen=True, slots=True)
class _CheckMessages:
    """Converts the findings of a check to violations without any text of the document."""

    check: Check[Any]
    document: Json
    names: Callable[[], frozenset[str]]
    author: Callable[[], SourceText]
    show_messages: bool

    @property
    def description(self) -> str:
        """The message for a finding without its own, or with one that is withheld."""
        name = getattr(self.check, "__name__", type(self.check).__name__)
        summary = (inspect.getdoc(self.check) or "").strip().partition("\n")[0]
        if not self.show_messages or not summary or not inspect.isroutine(self.check):
            return f"an answer that passes the check {name}"
        return _single_line(summary)

    def to_violation(self, finding: object) -> Violation:
        """Return a finding as a violation."""
        if isinstance(finding, Violation):
            rule = finding.rule if self._redact_text(finding.rule) == finding.rule else _CHECK_RULE
            return Violation(
                self._redact_pointer(finding.pointer),
                _single_line(rule),
                self._redact_text(finding.expected) or self.description,
            )
        if isinstance(finding, str):
            return Violation("", _CHECK_RULE, self._redact_text(finding) or self.description)
        raise TypeError(f"a finding is a sentence or a Violation, not a {type(finding).__name__}")

    def _redact_text(self, text: str) -> str | None:
        if not self.show_messages:
            return None
        return redact_message(text, self.document, self.author, self.names())

    def _redact_pointer(self, pointer: str) -> str:
        """Return a pointer in which every name that the schema does not know is replaced by ``*``."""
        known = {escape_pointer_token(token) for token in self.names()}
        steps = _single_line(pointer).removeprefix("/").split("/") if pointer else []
        return "".join(f"/{token if token in known or token.isdecimal() else '*'}" for token in steps)


def _single_line(text: str) -> str:
    """Return the text as one short line that every wire can carry."""
    line = " ".join(text.split()).encode(errors="replace").decode()
    return line if len(line) <= MAX_MESSAGE_LENGTH else f"{line[:MAX_MESSAGE_LENGTH]}…"


def document_selectors(expand: object, follow: object) -> StreamSelection:
    """Return the parts to report; raise ``InputError`` for a value that is not a JSON pointer."""
    containers = [_check_pointer("into", pointer) for pointer in check_list("into", expand, (str,), "the pointers")]
    texts = [_check_pointer("follow", pointer) for pointer in check_list("follow", follow, (str,), "the pointers")]
    return StreamSelection(containers=tuple(_container_paths(containers)), text_pointers=tuple(texts))


def _check_pointer(name: str, value: object) -> str:
    if not isinstance(value, str) or not value.startswith("/"):
        raise InputError(f"{name} has {value!r}, which is not a JSON pointer.", hint="Write one such as '/lines'.")
    return value


def _container_paths(pointers: list[str]) -> set[DocumentPath]:
    """Return the paths of the containers and of those around them, which are no longer reported whole."""
    paths = [parse_pointer(path) for path in pointers]
    return {path[:end] for path in paths for end in range(1, len(path) + 1)}


_RESERVED_HINT: Final = "Use emit_authorization, which builds the envelope from your oracles' readings."


def reject_reserved(schema: object, kind: str | None, *, typed: bool) -> None:
    """Raise ``InputError`` for a kind or type with which a model would grant authority."""
    if kind == AUTHORIZATION or (typed and _is_reserved_type(schema)):
        raise InputError("A model cannot write an authorization envelope, or a part of one.", hint=_RESERVED_HINT)


def _is_reserved_type(kind: object) -> bool:
    if isinstance(kind, Hashable):
        return _contains_reserved(kind)
    return _contains_reserved.__wrapped__(kind)


@lru_cache(maxsize=256)
def _contains_reserved(schema: object) -> bool:
    """Return whether pydantic creates values of the reserved types for this type."""
    adapter: TypeAdapter[Any] = TypeAdapter(cast("Any", schema))
    return any(getattr(cls, "grants_authority", False) is True for cls in _iter_classes(adapter.core_schema))


def _iter_classes(core_schema: object) -> Iterable[type]:
    match core_schema:
        case Mapping():  # not always a dict: a model with ``defer_build`` builds its schema here
            for name, member in cast("Mapping[str, object]", core_schema).items():
                if name == "metadata":
                    continue
                if name == "cls" and isinstance(member, type):
                    yield member
                yield from _iter_classes(member)
        case list() | tuple():
            for member in cast("list[object]", core_schema):
                yield from _iter_classes(member)
        case _:
            return
