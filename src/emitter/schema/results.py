"""Result types of the schema package.

``Compiled`` is the result of compiling a schema, and ``Loss`` is a keyword that the provider does not enforce.
``ParseResult`` is the result of parsing a valid document into a Python value. Violations made from pydantic errors
never quote the document.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, cast

from pydantic_core import PydanticKnownError

from emitter.findings import Violation
from emitter.messages import as_list
from emitter.schema.formats import OFFSET_HINT
from emitter.schema.validator import redact_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pydantic_core import ErrorDetails, ValidationError

    from emitter.findings import Finding
    from emitter.messages import Json
    from emitter.schema.message_redaction import SourceText


class LossReason(str, Enum):
    """The reason why a keyword is not enforced by the provider."""

    UNSUPPORTED = "unsupported"
    """The provider's subset does not have the keyword."""
    INSIDE = "inside"
    """A branch of this union is not fully enforced."""
    OPEN = "open"
    """The keyword applies inside a value that is carried as JSON text."""
    CLOSED = "closed"
    """Properties that the schema does not name are not allowed, as the caller chose."""
    WIDENED = "widened"
    """OpenAPI's ``nullable``, which JSON Schema does not know, also allows null."""
    CONTRADICTORY = "contradictory"
    """No value satisfies the keyword and the others that apply with it. What it describes is left out."""
    DEGRADED = "degraded"
    """The provider has the keyword, but the whole schema is too large."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A keyword that the provider does not enforce. It is described to the model and validated locally.

    Attributes:
        pointer: The JSON pointer of the schema that contains the keyword.
        keyword: The keyword.
        value: Its value as JSON, cut if it is long.
        why: The reason.
    """

    pointer: str
    keyword: str
    value: str
    why: LossReason = LossReason.UNSUPPORTED

    def __str__(self) -> str:
        return f"{self.pointer or '/'}: {self.keyword} {self.value}"


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """A schema in the provider's subset, with functions to convert and validate documents.

    One object is shared by all callers. Copy what you want to change.

    Attributes:
        schema: The wire schema.
        losses: The keywords that the provider does not enforce.
        encode: Converts an instance of the original to a document of ``schema``. Raises ``Unencodable``.
        decode: Converts a document of ``schema`` back. Never raises. Null and absent are equal in an optional property.
        validate: Validates an instance against ``original``.
        original: The caller's schema.
        enforced: False if the provider can enforce nothing. ``schema`` is then the original, for the prompt.
        appendix: The pieces of the original that descriptions refer to, by JSON pointer. The prompt must contain them.
        degraded: The losses that are caused only by the provider's size limits.
    """

    schema: Mapping[str, Json] | bool
    losses: tuple[Loss, ...]
    encode: Callable[[Json], Json]
    decode: Callable[[Json], Json]
    validate: Callable[[Json], tuple[Violation, ...]]
    original: Mapping[str, Json] | bool = field(default_factory=dict[str, "Json"])
    enforced: bool = True
    appendix: Mapping[str, Json] = field(default_factory=dict[str, "Json"])
    degraded: tuple[Loss, ...] = field(init=False)

    def __post_init__(self) -> None:
        degraded = tuple(loss for loss in self.losses if loss.why is LossReason.DEGRADED)
        object.__setattr__(self, "degraded", degraded)


T = TypeVar("T")
_Path: TypeAlias = "tuple[str | int, ...]"
MAX_PYDANTIC_VIOLATIONS = 12
"""Further violations are dropped, so that a corrective prompt has a constant size."""
_MAX_VALUE_LENGTH = 200
_TYPE_CONTEXT_KEYS = frozenset(
    {"gt", "ge", "lt", "le", "multiple_of", "min_length", "max_length", "pattern", "expected", "expected_tags"}
    | {"discriminator", "max_digits", "decimal_places", "whole_digits", "class", "class_name", "tz_expected"}
    | {"expected_schemes", "expected_version", "field_type"}
)
"""The parts of an error's context that come from the type. The others may come from the document."""
_VALIDATOR_RULES = frozenset({"value_error", "assertion_error"})
"""The kinds of errors that the caller's validators raise."""
DEFAULT_EXPECTATION = "what the description of this place asks for"
"""Replaces a validator's message that is missing or fully redacted."""
_SCHEMA_RULES = frozenset(
    {"missing", "extra_forbidden", "literal_error", "enum", "none_required", "union_tag_invalid", "union_tag_not_found"}
    | {"greater_than", "greater_than_equal", "less_than", "less_than_equal", "multiple_of", "finite_number"}
    | {"string_too_short", "string_too_long", "string_pattern_mismatch", "too_short", "too_long"}
    | {"missing_argument", "unexpected_keyword_argument", "unexpected_positional_argument"}
)
"""The kinds of errors that a type's JSON Schema states, besides those of types and formats."""
_DICT_KEY_STEP = "[key]"
"""The step that pydantic adds for an error in a key of a dict."""
CUSTOM_RULE = "custom"
CALLBACK_RULES = frozenset({*_VALIDATOR_RULES, CUSTOM_RULE})
"""The rules of violations whose message comes from a validator."""


@dataclass(frozen=True, slots=True)
class CallbackFailure:
    """An exception in the caller's code that is a bug and not a violation.

    If ``returned`` is true, the code returned a value of a wrong type, which ``error`` describes.
    """

    callback: str
    error: Exception
    returned: bool = False

    def __str__(self) -> str:
        return f"{self.callback} " + (
            f"returned {self.error}" if self.returned else f"raised {type(self.error).__name__}"
        )


@dataclass(frozen=True, slots=True)
class ParseResult(Generic[T]):
    """A parsed value, or the violations or the failure that prevent it.

    ``findings`` are about a value that is accepted. ``corrections`` are the same findings as violations at their place
    in the document, if the model is to be asked once to correct it.
    """

    value: T | None = None
    violations: tuple[Violation, ...] = ()
    failure: CallbackFailure | None = None
    findings: tuple[Finding, ...] = ()
    corrections: tuple[Violation, ...] = ()


class _TemplateValues(dict[str, str]):
    """The values of a message template. Unknown ones become an ellipsis, plurals an "s"."""

    def __missing__(self, key: str) -> str:
        return "s" if key == "expected_plural" else "…"


def violations_from_pydantic(
    error: ValidationError, document: Json, names: frozenset[str], author: Callable[[], SourceText]
) -> tuple[Violation, ...]:
    """Return pydantic's errors as violations; ``names`` are the schema's, ``author`` returns the validators' source."""
    from emitter.schema.message_redaction import redact_message  # noqa: PLC0415  few documents reach pydantic invalid

    details = _closest_branches(error.errors(include_url=False, include_input=False), document, names)
    redact = partial(redact_message, document=document, author=cache(author), names=names)
    violations = (
        Violation(_document_pointer(detail["loc"], document, names), *_describe_error(detail, redact))
        for detail in details
    )
    return tuple(dict.fromkeys(violations))[:MAX_PYDANTIC_VIOLATIONS]


def _closest_branches(errors: list[ErrorDetails], document: Json, names: frozenset[str]) -> list[ErrorDetails]:
    """Return the errors of the branches that the model chose.

    Pydantic reports the errors of all branches of a union, and those of the others would tell the model to choose
    another one. The document satisfies the JSON Schema, so the chosen branch has the fewest errors that the schema
    states, too.
    """
    kept = [(error, _chosen_branches(error["loc"], document, names)) for error in errors]
    unions = {union for _, chosen in kept for union in chosen}
    for union in sorted(unions, key=len, reverse=True):  # the innermost first: its errors count for the outer ones
        stated: Counter[str] = Counter()
        for error, chosen in kept:
            if union in chosen:
                stated[chosen[union]] += _is_stated_by_schema(error["type"])
        fewest = min(stated.values())
        kept = [(error, chosen) for error, chosen in kept if union not in chosen or stated[chosen[union]] == fewest]
    return [error for error, _ in kept]


def _is_stated_by_schema(kind: str) -> bool:
    return kind in _SCHEMA_RULES or kind.endswith(("_type", "_parsing"))


def _chosen_branches(path: _Path, document: Json, names: frozenset[str]) -> dict[_Path, str]:
    """Return the branch that an error is about, by the place of each union on the way to it."""
    return {
        path[:position]: step
        for position, (step, name) in enumerate(_document_steps(path, document, names))
        if name is None and isinstance(step, str) and step != _DICT_KEY_STEP
    }


def _document_pointer(path: _Path, document: Json, names: frozenset[str]) -> str:
    """Return the place as a JSON pointer, without the steps that pydantic adds, such as union branches."""
    return "".join(f"/{name}" for _, name in _document_steps(path, document, names) if name is not None)


def _document_steps(path: _Path, document: Json, names: frozenset[str]) -> Iterator[tuple[str | int, str | None]]:
    """Yield each step with its name in a JSON pointer, or None for a step that pydantic adds."""
    value = document
    for nth, step in enumerate(path, start=1):
        name = None
        if isinstance(step, int) and isinstance(value, list) and step < len(as_list(value)):
            value, name = as_list(value)[step], str(step)
        elif isinstance(step, str) and isinstance(value, dict):
            table = cast("dict[str, Json]", value)
            if step in table or (nth == len(path) and step in names):
                value, name = table.get(step), redact_name(step, names)
        yield step, name


def _describe_error(error: ErrorDetails, redact: Callable[[str], str | None]) -> tuple[str, str]:
    """Return the kind of an error and the expectation, from the type or from the validator's message."""
    kind, context = error["type"], error.get("ctx", {})
    if kind in _VALIDATOR_RULES:
        raised = context.get("error")
        return kind, redact(error["msg"] if raised is None else str(raised)) or DEFAULT_EXPECTATION
    if kind == "timezone_aware":
        return kind, OFFSET_HINT
    # Only the template of the message is used: the message itself may quote the answer.
    try:
        template = PydanticKnownError(cast("Any", kind), context).message_template
    except (KeyError, TypeError):  # a custom kind, with any context
        return CUSTOM_RULE, redact(error["msg"]) or DEFAULT_EXPECTATION
    return kind, template.format_map(
        _TemplateValues({name: _truncate(str(value)) for name, value in context.items() if name in _TYPE_CONTEXT_KEYS})
    )


def _truncate(text: str) -> str:
    return text if len(text) <= _MAX_VALUE_LENGTH else f"{text[:_MAX_VALUE_LENGTH]}…"
