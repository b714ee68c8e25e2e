"""Choose the branch of a union that an invalid value was meant for.

A discriminator decides. Without one, the structure does: the type of the value, then the names of its properties, then
their types. Other rules, such as a format, decide only between branches of equal structure.
"""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from jsonschema_rs import ValidationErrorKind as Kind

from emitter.messages import as_list, as_mapping
from emitter.schema.json_data import canonical_key, resolve_reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jsonschema_rs import ValidationError

    from emitter.messages import Json

_MIN_TAGGED_BRANCHES = 2
_MAX_REFERENCES = 20
"""References from a branch to a branch are followed this far."""


class UnionError(NamedTuple):
    """The errors of a union: the value, where it is, the schemas of the branches, and the errors of each branch."""

    value: Json
    path: Sequence[str | int]
    schemas: list[Json]
    branches: list[list[ValidationError]]


class WrongTag(NamedTuple):
    """The property that chooses a branch has a value that no branch has. ``allowed`` are the values of all branches."""

    name: str
    allowed: list[Json]


def read_union_error(error: ValidationError, schema: Json, document: Json) -> UnionError | None:
    """Return an error as that of a union, or None if it is another error."""
    match error.kind:
        case Kind.AnyOf(branches) | Kind.OneOfNotValid(branches):
            stated = as_list(value_at(schema, error.schema_path))  # nothing, below an id of its own
            schemas = [_merge(schema, each) for each in stated] if len(stated) == len(branches) else []
            return UnionError(value_at(document, error.instance_path), error.instance_path, schemas, branches)
        case _:
            return None


def value_at(document: Json, path: Sequence[str | int]) -> Any:
    """Return the value at a place of a document, or None."""
    return reduce(_child, path, document)


def _child(value: Any, step: str | int) -> Any:
    if isinstance(value, dict):
        return as_mapping(value).get(str(step))
    items = as_list(value)
    return items[step] if isinstance(step, int) and step < len(items) else None


def _merge(schema: Json, branch: Any) -> Json:
    """Return the keywords of a branch with those of its references and ``allOf``. Properties are merged."""
    merged: dict[str, Any] = {}
    pending, steps = [branch], 0
    while pending and steps < _MAX_REFERENCES:
        part, steps = as_mapping(pending.pop()), steps + 1
        properties = {**as_mapping(part.get("properties")), **as_mapping(merged.get("properties"))}
        merged = {**part, **merged, "properties": properties}
        pending += as_list(part.get("allOf"))
        pending += [resolve_reference(schema, part["$ref"])] if "$ref" in part else []
    return merged


def choose_branch(union: UnionError) -> list[ValidationError] | WrongTag:
    """Return the errors of the branch that was meant, or the tag that no branch has."""
    # A branch for values of another type says nothing about this value, unless all branches are.
    depth = len(union.path)
    fitting = [index for index, errors in enumerate(union.branches) if not _is_type_mismatch(errors, depth)]
    for name, values in _discriminators([union.schemas[index] for index in fitting] if union.schemas else []):
        if name not in as_mapping(union.value):
            continue
        key = canonical_key(as_mapping(union.value)[name])
        chosen = [index for index, each in zip(fitting, values, strict=True) if key in map(canonical_key, each)]
        return union.branches[chosen[0]] if chosen else WrongTag(name, [tag for each in values for tag in each])
    return min(union.branches, key=partial(_distance, depth=depth)) if union.branches else []


def _discriminators(schemas: list[Json]) -> Iterator[tuple[str, list[list[Json]]]]:
    """Yield the properties that have other values in each branch, with the values."""
    if len(schemas) < _MIN_TAGGED_BRANCHES:
        return
    for name in as_mapping(as_mapping(schemas[0]).get("properties")):
        values = [_listed_values(as_mapping(as_mapping(each).get("properties")).get(name)) for each in schemas]
        keys = [canonical_key(value) for each in values for value in each]
        if all(values) and len(set(keys)) == len(keys):
            yield name, values


def _listed_values(schema: Json) -> list[Json]:
    table = as_mapping(schema)
    return [table["const"]] if "const" in table else as_list(table.get("enum"))


def _is_type_mismatch(errors: list[ValidationError], depth: int) -> bool:
    """Return whether a branch of a union at ``depth`` is for values of another type."""
    return len(errors) == 1 and errors[0].kind.name == "type" and len(errors[0].instance_path) == depth


class _Distance(NamedTuple):
    """The distance of a value from a branch. The first field counts most."""

    other_type: bool
    names: int
    types: int
    constants: int
    inside: int
    errors: int


_NAME_RULES = frozenset({"required", "additionalProperties", "unevaluatedProperties", "falseSchema", "propertyNames"})


def _distance(errors: list[ValidationError], depth: int) -> _Distance:
    own = [error for error in errors if len(error.instance_path) == depth]
    members = [error for error in errors if len(error.instance_path) == depth + 1]
    names = sum(_count_names(error) for error in own) + sum(
        error.kind.name in {"const", "falseSchema"} for error in members
    )
    return _Distance(
        _is_type_mismatch(errors, depth),
        names,
        sum(_is_of_other_type(error) for error in members),
        sum(error.kind.name == "enum" for error in members),
        sum(error.kind.name in _NAME_RULES or _is_of_other_type(error) for error in errors) - names,
        len(errors),
    )


def _count_names(error: ValidationError) -> int:
    """Return how many missing or unknown properties an error is about."""
    match error.kind:
        case Kind.AdditionalProperties(unexpected) | Kind.UnevaluatedProperties(unexpected):
            return len(unexpected)
        case _:
            return int(error.kind.name in _NAME_RULES)


def _is_of_other_type(error: ValidationError) -> bool:
    """Return whether a value has another type than its schema, or than every branch of a union."""
    match error.kind:
        case Kind.AnyOf(branches) | Kind.OneOfNotValid(branches):
            return all(_is_type_mismatch(each, len(error.instance_path)) for each in branches)
        case _:
            return error.kind.name == "type"
