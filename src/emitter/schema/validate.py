"""Validation against the original schema, with violations that never quote the answer.

The work is done by jsonschema-rs, formats asserted. What it reports is rewritten from the schema's side:
names and values of the answer are left out, and of a union only the branch that was meant is told.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import jsonschema_rs
from jsonschema_rs import ValidationErrorKind as Kind

from emitter.schema.violation import Violation
from emitter.wire import sequence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from jsonschema_rs import ValidationError

    from emitter.wire import Json

Schema: TypeAlias = "Mapping[str, Any]"

MAX_VIOLATIONS = 12
"""More than this many are cut off: a corrective fragment has constant size."""

_TAG_RULES = frozenset({"const", "enum"})
_ESCAPES = str.maketrans({"~": "~0", "/": "~1"})


class Validator:
    """A compiled validator of one schema."""

    def __init__(self, schema: Schema) -> None:
        self._names = frozenset(_property_names(schema))
        self._check = jsonschema_rs.validator_for(dict(schema), validate_formats=True)

    def __call__(self, value: Json) -> tuple[Violation, ...]:
        """Return the violations of ``value``, ordered by place, at most ``MAX_VIOLATIONS``."""
        if self._check.is_valid(value):
            return ()
        found = {
            Violation(self._pointer(error.instance_path), error.kind.name, _expected(error.kind))
            for outer in self._check.iter_errors(value)
            for error in _meant(outer)
        }
        return tuple(sorted(found, key=lambda each: (each.pointer, each.rule, each.expected))[:MAX_VIOLATIONS])

    def _pointer(self, path: Sequence[str | int]) -> str:
        return "".join(f"/{self._step(each)}" for each in path)

    def _step(self, step: str | int) -> str:
        if isinstance(step, int):
            return str(step)
        return step.translate(_ESCAPES) if step in self._names else "*"


def _property_names(schema: Any) -> Iterator[str]:
    pending: list[Any] = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            table = cast("dict[str, Any]", node)
            names = table.get("properties")
            if isinstance(names, dict):
                yield from cast("dict[str, Any]", names)
            pending.extend(table.values())
        elif isinstance(node, list):
            pending.extend(cast("list[Any]", node))


def _meant(error: ValidationError) -> Iterator[ValidationError]:
    """Yield the errors of the union branch that was meant, or the error itself."""
    pending = [error]
    while pending:
        current = pending.pop()
        branches = _branches(current)
        chosen = min(branches, key=_distance) if branches else []
        if chosen:
            pending.extend(chosen)
        else:
            yield current


def _branches(error: ValidationError) -> list[list[ValidationError]]:
    match error.kind:
        case Kind.AnyOf(context) | Kind.OneOfNotValid(context):
            return context
        case _:
            return []


def _distance(branch: list[ValidationError]) -> tuple[bool, bool, int]:
    """Rank a branch: one whose tag and type fit is nearer than one with fewer errors."""
    wrong_tag = any(error.kind.name in _TAG_RULES for error in branch)
    depth = min((len(error.instance_path) for error in branch), default=0)
    wrong_type = any(error.kind.name == "type" and len(error.instance_path) == depth for error in branch)
    return wrong_type and len(branch) == 1, wrong_tag, len(branch)


def _expected(kind: Kind) -> str:
    """Say from the schema's side what is expected."""
    match kind:
        case Kind.AdditionalProperties() | Kind.UnevaluatedProperties():
            return "no property that the schema does not name"
        case Kind.Required(name):
            return f"the property {json.dumps(name)}"
        case Kind.Type():
            return f"a value of type {' or '.join(map(str, sequence(kind.value)))}"
        case Kind.FalseSchema():
            return "no value here"
        case Kind.AnyOf() | Kind.OneOfNotValid() | Kind.OneOfMultipleValid():
            return "exactly one of the forms that the schema lists"
        case _:
            return _plain(kind.value)


def _plain(value: Any, limit: int = 200) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else f"{text[:limit]}…"
