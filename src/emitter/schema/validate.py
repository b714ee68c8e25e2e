"""Validation against the original schema, with violations that never quote the answer.

The work is done by jsonschema-rs, formats asserted. What it reports is rewritten from the schema's side:
names and values of the answer are left out, and of a union only the branch that was meant is told.
"""

from __future__ import annotations

import json
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import jsonschema_rs
from jsonschema_rs import ValidationErrorKind as Kind

from emitter.errors import Uncompilable
from emitter.schema.codec.base import Unread
from emitter.schema.drafts import DRAFT202012
from emitter.schema.formats import CHECKS, CHECKS_OF_TYPES, OFFSET, WORDS, lacks_only_an_offset
from emitter.schema.pointer import escaped
from emitter.schema.violation import HALF_A_CHARACTER, Violation, names_of, told
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from jsonschema_rs import ValidationError

    from emitter.schema.drafts import Draft
    from emitter.wire import Json

Schema: TypeAlias = "Mapping[str, Any] | bool"

MAX_VIOLATIONS = 12
"""More than this many are cut off: a corrective fragment has constant size."""

DANGLING = "a reference names nothing in this document, or something outside it"

_SEVERAL = 2
_TAG_RULES = frozenset({"const", "enum"})


class Validator:
    """A compiled validator of one schema."""

    def __init__(self, schema: Schema, draft: Draft = DRAFT202012, *, typed: bool = False) -> None:
        """Build the validator; raises ``Uncompilable`` for what is no schema of ``draft``.

        ``typed`` holds formats to pydantic's reading, which is wider than the standards.
        """
        self._schema = schema
        formats = CHECKS_OF_TYPES if typed else CHECKS
        try:
            self._check = draft.validator(schema, validate_formats=True, formats=formats, retriever=_nowhere)
        except jsonschema_rs.ValidationError as error:
            where = "".join(f"/{escaped(str(each))}" for each in error.instance_path)
            raise Uncompilable(where, _refused(error)) from error
        except (ValueError, TypeError, RecursionError) as error:
            raise Uncompilable("", f"no validator can be built for it ({error})") from error

    @cached_property
    def _names(self) -> frozenset[str]:
        return names_of(self._schema)

    def __call__(self, value: Json) -> tuple[Violation, ...]:
        """Return the violations of ``value``, ordered by place, at most ``MAX_VIOLATIONS``.

        What ``decode`` could not read is told first, alone: the rules of the schema are for what was read.
        """
        if _holds_unread(value):
            return self._to_violations(_unread(value))
        try:
            return () if self._check.is_valid(value) else self._violations(value)
        except UnicodeEncodeError:
            return (HALF_A_CHARACTER,)

    def _violations(self, value: Json) -> tuple[Violation, ...]:
        return self._to_violations(each for outer in self._check.iter_errors(value) for each in _meant(outer))

    def _to_violations(self, errors: Iterable[_Found]) -> tuple[Violation, ...]:
        found = {Violation(self._pointer(each.path), each.rule, each.expected) for each in errors}
        return tuple(sorted(found, key=lambda each: (each.pointer, each.rule, each.expected))[:MAX_VIOLATIONS])

    def _pointer(self, path: Sequence[str | int]) -> str:
        return "".join(f"/{self._step(each)}" for each in path)

    def _step(self, step: str | int) -> str:
        if isinstance(step, _Slot):
            return escaped(step)
        return str(step) if isinstance(step, int) else told(step, self._names)


def _nowhere(uri: str) -> Any:
    """Fetch nothing: a schema that is not at hand is none."""
    raise LookupError(uri)


def _refused(error: ValidationError) -> str:
    if isinstance(error.kind, Kind.Referencing):
        return DANGLING
    return f"is no valid JSON Schema: {_plain(error.instance)} may not stand here"


class _Slot(str):
    """The name of a property that the wire has and the schema has not: it comes from no answer."""

    __slots__ = ()


class _Found(NamedTuple):
    """What is wrong: where, which rule, and what is expected there."""

    path: Sequence[str | int]
    rule: str
    expected: str


def _holds_unread(value: Json) -> bool:
    """Tell whether ``value`` holds anything that could not be read; no place is noted, since nearly none does."""
    pending: list[Any] = [value]
    while pending:
        one = pending.pop()
        kind = one.__class__
        if kind is dict:
            pending.extend(one.values())
        elif kind is list:
            pending.extend(one)
        elif kind is not str and isinstance(one, Unread):
            return True
    return False


def _unread(value: Json) -> list[_Found]:
    """Return where ``value`` holds what could not be read."""
    found: list[_Found] = []
    pending: list[tuple[Json, tuple[str | int, ...]]] = [(value, ())]
    while pending:
        one, path = pending.pop()
        if isinstance(one, Unread):
            found.append(_Found(path if one.slot is None else (*path[:-1], _Slot(one.slot)), one.rule, one.expected))
        elif isinstance(one, dict):
            pending.extend((each, (*path, name)) for name, each in mapping(one).items())
        elif isinstance(one, list):
            pending.extend((each, (*path, index)) for index, each in enumerate(sequence(one)))
    return found


def _meant(error: ValidationError) -> Iterator[_Found]:
    """Yield the errors of the union branch that was meant, all tags where none was, or the error itself."""
    pending = [error]
    while pending:
        current = pending.pop()
        branches, depth = _branches(current), len(current.instance_path)
        chosen = min(branches, key=partial(_distance, depth=depth)) if branches else []
        untagged = _untagged([each for each in branches if not _is_of_other_type(each, depth)])
        if untagged is not None:
            yield untagged
        elif chosen:
            pending.extend(chosen)
        else:
            yield _Found(current.instance_path, current.kind.name, _expected(current.kind, current.instance))


def _untagged(branches: list[list[ValidationError]]) -> _Found | None:
    """Return the tags of all branches, where one field would choose among them and holds none of these."""
    tags = [[error for error in branch if error.kind.name in _TAG_RULES] for branch in branches]
    places = {tuple(each.instance_path) for several in tags for each in several}
    if len(tags) < _SEVERAL or len(places) != 1 or any(len(several) != 1 for several in tags):
        return None
    allowed = [value for (each,) in tags for value in _tags(each.kind)]
    return _Found(next(iter(places)), "enum", _plain(allowed)) if _differ(allowed) else None


def _differ(values: list[Any]) -> bool:
    """Tell whether no two are the same: what all branches share tells none of them apart."""
    return len({_plain(each) for each in values}) == len(values)


def _is_of_other_type(branch: list[ValidationError], depth: int) -> bool:
    """Tell whether a branch of a union at ``depth`` is for values of another type."""
    return len(branch) == 1 and branch[0].kind.name == "type" and len(branch[0].instance_path) == depth


def _tags(kind: Kind) -> list[Any]:
    return sequence(kind.value) if kind.name == "enum" else [kind.value]


def _branches(error: ValidationError) -> list[list[ValidationError]]:
    match error.kind:
        case Kind.AnyOf(context) | Kind.OneOfNotValid(context):
            return context
        case _:
            return []


def _distance(branch: list[ValidationError], depth: int) -> tuple[bool, bool, int]:
    """Rank a branch: one whose tag and type fit is nearer than one with fewer errors."""
    wrong_tag = any(error.kind.name in _TAG_RULES for error in branch)
    wrong_type = any(error.kind.name == "type" and len(error.instance_path) == depth for error in branch)
    return wrong_type and len(branch) == 1, wrong_tag, len(branch)


def _expected(kind: Kind, instance: Json) -> str:
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
            return _format(kind.value, instance) if kind.name == "format" else _plain(kind.value)


def _format(name: str, instance: Json) -> str:
    if lacks_only_an_offset(name, instance):
        return f"{_plain(name)}, {OFFSET}"
    words = WORDS.get(name)
    return f"{_plain(name)}: {words}" if words else _plain(name)


def _plain(value: Any, limit: int = 200) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except TypeError:  # the validator hands over an error of its own, which quotes the answer
        return "what the schema says of it"
    return text if len(text) <= limit else f"{text[:limit]}…"
