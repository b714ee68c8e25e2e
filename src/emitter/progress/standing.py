"""What a schema says of the value at a place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.schema.drafts import draft_of
from emitter.schema.read.scope import Part, Scope
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from emitter.progress.scan import Path
    from emitter.wire import Json

_TYPES = {"string": str, "object": dict, "array": list}
_FREE: dict[str, Any] = {}
_JOINED = ("allOf", "anyOf", "oneOf")


def standing(schema: Json, path: Path) -> list[Mapping[str, Json]]:
    """Return every schema for what stands at ``path``; none where it leads elsewhere than along named properties."""
    scope = Scope(schema, draft_of(schema))
    found = _forms(scope, [scope.root])
    for step in path:
        found = _forms(scope, [each for part in found for each in _property(scope, part, step)])
    return [part.schema for part in found]


def admits(node: Mapping[str, Json], *kinds: str) -> bool:
    """Tell whether a value of one of the types (string, object, array) may stand there, as far as it is said."""
    said = node.get("type")
    if said is not None:
        return any(kind in (sequence(said) or [said]) for kind in kinds)
    values = [node["const"]] if "const" in node else sequence(node.get("enum"))
    if values:
        return any(isinstance(each, _TYPES[kind]) for each in values for kind in kinds)
    return not any(key in node for key in ("$ref", *_JOINED))


def named(schema: Json) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Yield every property in a schema, wherever it stands: its name and its own schema."""
    waiting: list[Any] = [schema]
    while waiting:
        node = waiting.pop()
        yield from ((name, mapping(each)) for name, each in mapping(mapping(node).get("properties")).items())
        waiting.extend(mapping(node).values() if isinstance(node, dict) else sequence(node))


def tags(schema: Json) -> dict[str, list[Json]]:
    """Return the properties that tell one form of a union from another, and the values that they may have."""
    found: dict[str, list[Json]] = {}
    for name, each in named(schema):
        only = [each["const"]] if "const" in each else sequence(each.get("enum"))
        if len(only) == 1 and isinstance(only[0], str):
            found.setdefault(name, []).append(only[0])
    return found


def _property(scope: Scope, part: Part, step: str | int) -> Iterator[Part]:
    members = mapping(part.schema.get("properties"))
    if step in members:
        yield scope.inside(part, f"{part.where}/properties/{step}", members[str(step)])


def _forms(scope: Scope, parts: Iterable[Part]) -> list[Part]:
    """Return the schemas and all that they are made of, through references and unions."""
    waiting, found = list(parts), dict[int, Part]()
    while waiting:
        part = waiting.pop()
        if part.schema is True:  # what is free to be anything says nothing of it
            part = part._replace(schema=_FREE)
        node = part.schema
        if node.__class__ is not dict or id(node) in found:
            continue
        found[id(node)] = part
        joined = [each for key in _JOINED for each in sequence(node.get(key))]
        waiting.extend(scope.inside(part, part.where, each) for each in joined)
        referred = scope.found(part) if "$ref" in node else None
        waiting.extend([] if referred is None else [referred])
    return list(found.values())
