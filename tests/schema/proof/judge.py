"""A second validator, which shares no code with the library's: the ``jsonschema`` package, traced.

Each fault knows the keywords on its way, each with the pointer of the schema that holds it, across references.
Regular expressions and formats are asked of jsonschema-rs, so that the two differ in no dialect.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import jsonschema
import jsonschema_rs
from jsonschema_specifications import REGISTRY
from referencing import Registry, Resource

from emitter.schema.json_data import escape_pointer_token
from tests.schema.proof.corpora import DRAFTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jsonschema.protocols import Validator


def _ours(uri: str) -> tuple[str, Resource[Any]]:
    """Return a meta-schema without its ``$schema``, for which the package would leave our class for its own."""
    found = REGISTRY[uri]
    contents = {name: each for name, each in found.contents.items() if name != "$schema"}
    return uri, Resource(contents, found._specification)


_META = Registry().with_resources(map(_ours, REGISTRY)).crawl()


class Unjudged(Exception):
    """The validator has no opinion: the schema is none, names what is not there, or goes round in a circle."""


@dataclass(frozen=True, slots=True)
class Step:
    """A keyword on the way to a fault, and the pointer of the schema that holds it where that is in the document."""

    pointer: str | None
    keyword: str


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that an instance breaks: ``steps`` lead to it from the inside out, the first is the broken one.

    ``branches`` are those of a union of which none holds, each with what is broken in it.
    """

    steps: tuple[Step, ...]
    expected: Any
    instance: Any
    reported: str
    branches: tuple[tuple[Fault, ...], ...] = ()

    def __str__(self) -> str:
        first = self.steps[0]
        return f"{first.keyword} at {'#' + first.pointer if first.pointer is not None else 'elsewhere'}"


class Judge:
    """Judges instances of one schema; raises ``Unjudged`` where it cannot."""

    def __init__(self, schema: Any, draft: str | None = None) -> None:
        self._schema = json.loads(json.dumps(schema))  # a copy of its own, in which each place is one object
        self._places = dict(_places(self._schema))
        base = jsonschema.validators.validator_for(schema, default=_class_of(draft))
        if isinstance(self._schema, dict):
            self._schema.pop("$schema", None)  # otherwise a reference to the root would leave our class for theirs
        try:
            base.check_schema(self._schema, format_checker=jsonschema.FormatChecker(formats=()))
        except Exception as error:
            raise Unjudged(f"no schema: {_short(error)}") from error
        self._validator: Validator = _traced(base)(self._schema, registry=_META)

    def faults(self, instance: Any) -> list[Fault]:
        """Return what the instance breaks; a union is one fault, whatever its branches say."""
        try:
            return [self._fault(each) for each in self._validator.iter_errors(instance)]
        except Exception as error:
            raise Unjudged(_short(error)) from error

    def valid(self, instance: Any) -> bool:
        """Tell whether the instance breaks nothing."""
        return not self.faults(instance)

    def _fault(self, error: Any) -> Fault:
        trail = [Step(self._places.get(id(schema)), keyword) for schema, keyword in getattr(error, "trail", ())]
        inner = Step(trail[0].pointer, error.validator) if trail and error.validator else None
        steps = (*((inner,) if inner and inner != trail[0] else ()), *trail) or (Step("", "false"),)
        inside: dict[Any, list[Fault]] = {}
        for each in error.context or () if error.validator in {"anyOf", "oneOf"} else ():
            inside.setdefault(each.schema_path[0], []).append(self._fault(each))
        branches = tuple(map(tuple, inside.values()))
        return Fault(steps, error.validator_value, error.instance, error.message[:200], branches)


def _class_of(draft: str | None) -> Any:
    latest = jsonschema.Draft202012Validator
    return jsonschema.validators.validator_for({"$schema": DRAFTS.get(draft or "", "")}, default=latest)


def _places(schema: Any) -> Iterator[tuple[int, str]]:
    """Yield the identity and the pointer of everything in a document."""
    waiting = [("", schema)]
    while waiting:
        pointer, value = waiting.pop()
        if isinstance(value, dict):
            yield id(value), pointer
            waiting.extend((f"{pointer}/{escape_pointer_token(name)}", each) for name, each in value.items())
        elif isinstance(value, list):
            waiting.extend((f"{pointer}/{index}", each) for index, each in enumerate(value))


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0][:120] if str(error) else ''}"


@cache
def _traced(base: Any) -> Any:
    """Return a validator class whose errors remember the keywords that they came through."""
    checks = {**_OLD, **base.VALIDATORS, **{name: each for name, each in _OURS.items() if name in base.VALIDATORS}}
    return jsonschema.validators.extend(base, {name: _remembering(name, each) for name, each in checks.items()})


def _remembering(keyword: str, check: Callable[..., Any]) -> Callable[..., Any]:
    def run(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        for error in check(validator, value, instance, schema) or ():
            error.trail = (*getattr(error, "trail", ()), (schema, keyword))
            yield error

    return run


@lru_cache(maxsize=4096)
def _found(pattern: str, text: str) -> bool:
    return _expression(pattern).is_valid(text)


@lru_cache(maxsize=4096)
def _expression(pattern: str) -> Any:
    return jsonschema_rs.validator_for({"pattern": pattern})


@lru_cache(maxsize=512)
def _format(draft: str, name: str) -> Any:
    return jsonschema_rs.validator_for({"$schema": draft, "format": name}, validate_formats=True)


def _check_pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
    if isinstance(instance, str) and not _found(pattern, instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def _check_patterns(validator: Any, patterns: dict[str, Any], instance: Any, _schema: Any) -> Iterator[Any]:
    for pattern, schema in patterns.items() if isinstance(instance, dict) else ():
        for name in [each for each in instance if _found(pattern, each)]:
            yield from validator.descend(instance[name], schema, path=name, schema_path=pattern)


def _check_others(validator: Any, schema: Any, instance: Any, holder: dict[str, Any]) -> Iterator[Any]:
    for name in instance if isinstance(instance, dict) else ():
        if name not in holder.get("properties", {}) and not any(
            _found(pattern, name) for pattern in holder.get("patternProperties", {})
        ):
            yield from validator.descend(instance[name], schema, path=name)


def _check_format(validator: Any, name: str, instance: Any, _schema: Any) -> Iterator[Any]:
    meta = validator.META_SCHEMA
    if isinstance(instance, str) and not _format(meta.get("$id") or meta["id"], name).is_valid(instance):
        yield jsonschema.ValidationError(f"{instance!r} is not a {name}")


def _check_multiple(_validator: Any, divisor: float, instance: Any, _schema: Any) -> Iterator[Any]:
    # exact, on the decimals as they are written: 0.3 is a multiple of 0.1
    number = isinstance(instance, int | float) and not isinstance(instance, bool)
    if number and (Fraction(str(instance)) / Fraction(str(divisor))).denominator != 1:
        yield jsonschema.ValidationError(f"{instance!r} is not a multiple of {divisor}")


_OURS = {
    "pattern": _check_pattern,
    "patternProperties": _check_patterns,
    "additionalProperties": _check_others,
    "format": _check_format,
    "multipleOf": _check_multiple,
}
_OLD = {"dependencies": jsonschema.Draft7Validator.VALIDATORS["dependencies"]}
"""What later drafts dropped, and what jsonschema-rs still reads in them, as the official suite recommends."""
