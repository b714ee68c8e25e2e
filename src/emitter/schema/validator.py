"""Validate documents against the original schema.

Validation uses jsonschema-rs with format checks. A ``Violation`` never quotes the answer: names that the schema does
not define are masked, and for a union only the errors of the closest branch are reported.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import jsonschema_rs
from jsonschema_rs import ValidationErrorKind as Kind

from emitter.errors import Uncompilable
from emitter.findings import Violation
from emitter.messages import as_list, as_mapping
from emitter.schema.codecs import Undecoded
from emitter.schema.dialects import DRAFT202012
from emitter.schema.formats import (
    FORMAT_CHECKS,
    PYDANTIC_FORMAT_CHECKS,
)
from emitter.schema.json_data import escape_pointer_token, iter_objects, truncate_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from jsonschema_rs import ValidationError

    from emitter.messages import Json
    from emitter.schema.dialects import SchemaDraft


def redact_name(name: str, names: frozenset[str]) -> str:
    """Return a name for a violation's pointer, masked unless it is one of ``names``."""
    return escape_pointer_token(name) if name in names else "*"


def property_names(schema: Json) -> frozenset[str]:
    """Return the names of all properties in a schema."""
    return frozenset(name for node in iter_objects(schema) for name in as_mapping(node.get("properties")))


LONE_SURROGATE = Violation("", "unicode", "text without lone surrogates")
"""The violation of half a surrogate pair, which JSON can express but UTF-8 cannot encode."""
Schema: TypeAlias = "Mapping[str, Any] | bool"
MAX_VIOLATIONS = 12
"""Further violations are dropped, so that a corrective prompt has a constant size."""
DANGLING_REFERENCE = "a reference has no target in this document"


class Validator:
    """Validates documents against one schema."""

    def __init__(self, schema: Schema, draft: SchemaDraft = DRAFT202012, *, typed: bool = False) -> None:
        """Build the validator. Raises ``Uncompilable`` if ``schema`` is not valid.

        With ``typed``, formats are checked as pydantic reads them, which is wider than the standards.
        """
        self._schema = schema
        formats = PYDANTIC_FORMAT_CHECKS if typed else FORMAT_CHECKS
        try:
            self._check = _build_check(schema, draft, formats)
        except jsonschema_rs.ValidationError as error:
            pointer = "".join(f"/{escape_pointer_token(str(each))}" for each in error.instance_path)
            raise Uncompilable(pointer, _invalid_schema_reason(error)) from error
        except (ValueError, TypeError, RecursionError) as error:
            raise Uncompilable("", f"the schema cannot be validated: {error}") from error

    @cached_property
    def _property_names(self) -> frozenset[str]:
        return property_names(self._schema)

    def __call__(self, value: Json) -> tuple[Violation, ...]:
        """Return at most ``MAX_VIOLATIONS`` violations, ordered by place.

        Undecoded values are reported alone: the rules of the schema apply to decoded values.
        """
        if _contains_undecoded(value):
            return self._to_violations(_find_undecoded(value))
        return self.check_decoded(value)

    def check_decoded(self, value: Json) -> tuple[Violation, ...]:
        """Return the violations of a value that contains no undecoded values, which only codecs create."""
        try:
            if self._check.is_valid(value):
                return ()
            errors = self._check.iter_errors(value)
            return self._to_violations(
                violation for error in errors for violation in _relevant_errors(error, self._schema, value)
            )
        except UnicodeEncodeError:
            return (LONE_SURROGATE,)

    def _to_violations(self, errors: Iterable[_RawViolation]) -> tuple[Violation, ...]:
        violations = {
            Violation("".join(f"/{self._pointer_token(step)}" for step in error.path), error.rule, error.expected)
            for error in errors
        }
        return tuple(sorted(violations, key=lambda each: (each.pointer, each.rule, each.expected))[:MAX_VIOLATIONS])

    def _pointer_token(self, step: str | int) -> str:
        if isinstance(step, _WireMemberName):
            return escape_pointer_token(step)
        return str(step) if isinstance(step, int) else redact_name(step, self._property_names)


def _build_check(schema: Schema, draft: SchemaDraft, formats: Any) -> Any:
    """Return the validator of jsonschema-rs, which reads no reference with a character that URIs do not have."""
    options: Any = {"validate_formats": True, "formats": formats, "retriever": _refuse_retrieval}
    try:
        return draft.validator(schema, **options)
    except jsonschema_rs.ValidationError as error:
        if not isinstance(error.kind, Kind.Referencing):
            raise
        from emitter.schema.references import escape_references  # noqa: PLC0415  few references have such characters

        escaped = escape_references(schema, draft)
        if escaped == schema:
            raise
        return draft.validator(escaped, **options)


def _refuse_retrieval(uri: str) -> Any:
    """Raise, because the validator would otherwise fetch references over the network."""
    raise LookupError(uri)


def _invalid_schema_reason(error: ValidationError) -> str:
    if isinstance(error.kind, Kind.Referencing):
        return DANGLING_REFERENCE
    return f"is not valid JSON Schema: {truncate_json(error.instance)} is not allowed here"


class _WireMemberName(str):
    """The name of a wire member that the schema does not have. It never comes from the answer."""

    __slots__ = ()


class _RawViolation(NamedTuple):
    """A violation before its names are redacted."""

    path: Sequence[str | int]
    rule: str
    expected: str


def _contains_undecoded(value: Json) -> bool:
    """Return whether ``value`` contains an undecoded value. Most do not, so paths are not recorded."""
    pending: list[Any] = [value]
    while pending:
        current = pending.pop()
        kind = current.__class__
        if kind is dict:
            pending.extend(current.values())
        elif kind is list:
            pending.extend(current)
        elif kind is not str and isinstance(current, Undecoded):
            return True
    return False


def _find_undecoded(value: Json) -> list[_RawViolation]:
    """Return a violation for each undecoded value."""
    violations: list[_RawViolation] = []
    pending: list[tuple[Json, tuple[str | int, ...]]] = [(value, ())]
    while pending:
        current, path = pending.pop()
        if isinstance(current, Undecoded):
            violations.append(
                _RawViolation(
                    path if current.slot is None else (*path[:-1], _WireMemberName(current.slot)),
                    current.rule,
                    current.expected,
                )
            )
        elif isinstance(current, dict):
            pending.extend((each, (*path, name)) for name, each in as_mapping(current).items())
        elif isinstance(current, list):
            pending.extend((each, (*path, index)) for index, each in enumerate(as_list(current)))
    return violations


def _relevant_errors(error: ValidationError, schema: Schema, document: Json) -> Iterator[_RawViolation]:
    """Yield the errors of the union branch that was meant, a wrong tag, or the error itself."""
    # Imported here, because most documents are valid.
    from emitter.schema.closest_branch import WrongTag, choose_branch, read_union_error  # noqa: PLC0415
    from emitter.schema.phrases import BrokenRule, describe_correction  # noqa: PLC0415

    pending = [error]
    while pending:
        current = pending.pop()
        # The errors of all branches of a union would confuse the model, so only the closest branch is reported.
        union = read_union_error(current, schema, document)
        chosen = [] if union is None else choose_branch(union)
        if isinstance(chosen, WrongTag):
            expected = describe_correction(BrokenRule("enum", {}, None, chosen.allowed))
            yield _RawViolation([*current.instance_path, chosen.name], "enum", expected)
        elif chosen:
            pending.extend(chosen)
        else:
            yield _RawViolation(current.instance_path, current.kind.name, _describe_expectation(current, schema))


def _describe_expectation(error: ValidationError, schema: Schema) -> str:
    """Return the expectation, described from the schema alone."""
    from emitter.schema.closest_branch import value_at  # noqa: PLC0415  as above
    from emitter.schema.phrases import RULES_WITH_ARGUMENT, BrokenRule, describe_correction  # noqa: PLC0415  as above

    kind, path = error.kind, list(error.schema_path)
    keyword = kind.name
    if keyword in path:  # the path of an error in a property's name leads on, to the keyword that the name broke
        path = path[: len(path) - path[::-1].index(keyword) - 1]
    node = as_mapping(value_at(schema, path))
    argument = kind.property if isinstance(kind, Kind.Required) else kind.value
    if keyword not in node:  # the path leads into another document, or it names no keyword
        node = {keyword: True if argument is None else argument} if keyword in RULES_WITH_ARGUMENT else {}
    return describe_correction(BrokenRule(keyword, node, cast("Json", schema), argument))
