"""Ask for a document of the caller's type or JSON Schema.

Parses the answer, runs the caller's checks and validators, and selects the parts that a stream reports. Types that
grant authority are rejected, because only ``emit_authorization`` may create them.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from pydantic_core import PydanticSerializationError

from emitter.arguments import check_list
from emitter.errors import InputError
from emitter.forms.content import ContentChecks, call_user_code, validate_checks
from emitter.forms.form import OutputForm
from emitter.messages import as_mapping
from emitter.models.envelope import document_payload
from emitter.models.standard_kinds import AUTHORIZATION, DOCUMENT
from emitter.prompts import Example, document_prompt, suggest_example
from emitter.schema.dialects import has_keyword
from emitter.schema.json_data import parse_pointer
from emitter.schema.message_redaction import NO_CONTEXT, collect_context_text
from emitter.schema.python_types import ValidationContext, build_adapter, resolve_schema
from emitter.schema.results import (
    CALLBACK_RULES,
    DEFAULT_EXPECTATION,
    ParseResult,
)
from emitter.schema.validator import property_names
from emitter.streaming import StreamSelection

if TYPE_CHECKING:
    from typing import Any

    from emitter.core.verdicts import DocumentContract, DocumentReader
    from emitter.forms.content import Check
    from emitter.messages import Json
    from emitter.models import AIEnvelope
    from emitter.schema import Violation
    from emitter.schema.message_redaction import SourceText
    from emitter.schema.python_types import SchemaSource
    from emitter.streaming import DocumentPath


class DocumentTerms(NamedTuple):
    """The options of a typed object, which is emitted as ``kind``.

    If ``show_messages`` is false, the model does not see messages of validators and checks. ``context`` is the
    validation context of pydantic.
    """

    checks: tuple[Check[Any], ...] = ()
    examples: tuple[object, ...] = ()
    context: object = None
    kind: str | None = None
    show_messages: bool = True


NO_TERMS: Final = DocumentTerms()


def document_terms(
    checks: object, examples: object, context: object, kind: str | None, *, show_messages: bool
) -> DocumentTerms:
    """Return the terms. Raises ``InputError`` for invalid checks or examples."""
    if checks == () and examples == () and context is None and kind is None and show_messages:
        return NO_TERMS  # most forms
    documents = check_list("examples", examples, (str, bytes, Mapping), "the documents, or values of the type")
    return DocumentTerms(validate_checks(checks), tuple(documents), context, kind, show_messages)


def document_form(schema: object, terms: DocumentTerms = NO_TERMS) -> OutputForm:
    """Return the form of a document.

    Raises:
        Uncompilable: The schema cannot be used.
        InputError: One of the terms cannot be used.
    """
    if terms.examples or terms.context is not None or isinstance(schema, Mapping):
        return _make_form(cast("object", schema), terms)
    try:
        return _cached_form(schema, terms)
    except TypeError:  # the schema cannot be hashed
        return _make_form(schema, terms)


def _make_form(schema: object, terms: DocumentTerms) -> OutputForm:
    source, kind = resolve_schema(schema), terms.kind
    if isinstance(source.schema, Mapping) and source.schema and not has_keyword(source.schema):
        warnings.warn(_NO_KEYWORD, UserWarning, stacklevel=6)  # the caller of emit
    context_text = NO_CONTEXT
    if terms.context is not None:
        if not source.is_python_type:
            raise InputError("context= is for the validators of a type, and a JSON Schema has none.", hint=_CHECKS_HINT)
        context_text = collect_context_text(terms.context)
        source = replace(source, parse=partial(source.parse, context=ValidationContext(terms.context, context_text)))
    reject_reserved(schema, kind, typed=source.is_python_type)
    return OutputForm(
        kind=kind or DOCUMENT,
        default_node_id="emit",
        name=source.name,
        schema=schema,
        system_prompt=document_prompt,
        has_heading=False,
        read_value=make_reader(source, terms.checks, show_messages=terms.show_messages, context=context_text),
        codec=_NamedDocumentCodec(source.name) if kind is None else _KindCodec(kind),
        examples=tuple(_json_example(source, index, example) for index, example in enumerate(terms.examples)),
    )


_NO_KEYWORD: Final = (
    "The schema has no keyword of JSON Schema, so every JSON value is valid. "
    'For an object, write {"type": "object", "properties": {...}}.'
)
_CHECKS_HINT: Final = "Pass a type, or use checks=."
_cached_form = lru_cache(maxsize=256)(_make_form)


def _json_example(source: SchemaSource[Any], index: int, example: object) -> Example[Json]:
    """Return an example with its output as JSON. A value or document becomes an example without an input."""
    if not isinstance(example, Example):
        return Example("", _example_document(source, index, example))
    pair = cast("Example[Any]", example)
    if not pair.input.strip():
        raise InputError(f"examples[{index}] has an empty input.", hint="Pass the value alone.")
    return Example(pair.input, _example_document(source, index, pair.output))


def _example_document(source: SchemaSource[Any], index: int, example: object) -> Json:
    """Return the output of an example as JSON."""
    try:
        value = source.dump(example)
    except PydanticSerializationError:  # not a value of the type, so it must be a document already
        value = example
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"examples[{index}] is neither JSON nor a value of the schema's type.", hint=suggest_example(example)
        ) from error


@dataclass(frozen=True, slots=True)
class _NamedDocumentCodec:
    """Puts the document and its name into the payload, because the shared kind does not identify the document."""

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


def make_reader(
    source: SchemaSource[Any],
    checks: tuple[Check[Any], ...],
    *,
    show_messages: bool = True,
    context: SourceText = NO_CONTEXT,
) -> DocumentReader:
    """Return the function that parses a valid document and runs the checks."""
    content = ContentChecks(checks, cache(partial(property_names, source.schema)), show_messages, context=context)

    def read(document: Json) -> ParseResult[Any]:
        result = call_user_code(f"A validator of {source.name}", partial(source.parse, document))
        if result.failure is not None:
            return result
        if result.violations:
            return (
                result
                if show_messages
                else replace(result, violations=tuple(map(_withhold_message, result.violations)))
            )
        return content.run(result.value, document) if checks else result

    return read


def _withhold_message(violation: Violation) -> Violation:
    return replace(violation, expected=DEFAULT_EXPECTATION) if violation.rule in CALLBACK_RULES else violation


def document_selectors(expand: object, follow: object) -> StreamSelection:
    """Return the parts that a stream reports. Raises ``InputError`` for a value that is not a JSON pointer."""
    containers = [_check_pointer("into", pointer) for pointer in check_list("into", expand, (str,), "the pointers")]
    texts = [_check_pointer("follow", pointer) for pointer in check_list("follow", follow, (str,), "the pointers")]
    return StreamSelection(containers=tuple(_container_paths(containers)), text_pointers=tuple(texts))


def _check_pointer(name: str, value: object) -> str:
    if not isinstance(value, str) or not value.startswith("/"):
        raise InputError(f"{name} has {value!r}, which is not a JSON pointer.", hint="Write one such as '/lines'.")
    return value


def _container_paths(pointers: list[str]) -> set[DocumentPath]:
    """Return the paths of the containers and of their parents, whose members are reported one by one."""
    paths = [parse_pointer(path) for path in pointers]
    return {path[:end] for path in paths for end in range(1, len(path) + 1)}


_RESERVED_HINT: Final = "Use emit_authorization, which builds the envelope from your oracles' readings."


def reject_reserved(schema: object, kind: str | None, *, typed: bool) -> None:
    """Raise ``InputError`` for a kind or type that would let a model grant authority."""
    if kind == AUTHORIZATION or (typed and _is_reserved_type(schema)):
        raise InputError("A model cannot write an authorization envelope, or a part of one.", hint=_RESERVED_HINT)


def _is_reserved_type(kind: object) -> bool:
    if isinstance(kind, Hashable):
        return _contains_reserved(kind)
    return _contains_reserved.__wrapped__(kind)


@lru_cache(maxsize=256)
def _contains_reserved(schema: object) -> bool:
    """Return whether pydantic creates values of the reserved types for this type."""
    adapter, _ = build_adapter(schema)
    return any(getattr(cls, "grants_authority", False) is True for cls in _iter_classes(adapter.core_schema))


def _iter_classes(core_schema: object) -> Iterable[type]:
    match core_schema:
        case Mapping():  # a model with ``defer_build`` has a mapping that builds its schema on access
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
