"""What pydantic makes of a type, in the words that OpenWOP asks for: the same values, said portably.

``Literal`` becomes an enum of one value, a tagged union an ``anyOf`` whose branches require their tag, and a type
that refers to itself an object at the root.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from emitter.accept.catalogue.schema import named, rebuilt
from emitter.schema import Violation
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.accept.catalogue.kind import Rule
    from emitter.schema.findings import Reading
    from emitter.wire import Json

_RAISED: Final = Violation("", "validator", "a payload that the kind's own validators can read")


def portable(schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return a schema that pydantic made with its literals and tagged unions as OpenWOP wants them."""
    found: dict[str, Json] = rebuilt(dict(schema), lambda node: _union(_literal(node), schema))
    target = mapping(named(found, found.get("$ref")))
    if target.get("type") != "object":
        return found
    return {**target, **{name: each for name, each in found.items() if name != "$ref"}}


def readable(read: Callable[[Json], Reading[Any]]) -> Rule:
    """Return the rule that the type itself can read the payload: its validators may know more than its schema.

    What a validator raises that is no finding is a bug of the host's, and refuses the payload all the same.
    """

    def rule(payload: Json) -> tuple[Violation, ...]:
        try:
            return read(payload).violations
        except Exception:  # noqa: BLE001  the caller's code may raise anything, and no envelope may raise
            return (_RAISED,)

    return rule


def _literal(node: dict[str, Any]) -> dict[str, Any]:
    if "const" not in node:
        return node
    return {"enum" if name == "const" else name: [each] if name == "const" else each for name, each in node.items()}


def _union(node: dict[str, Any], schema: Mapping[str, Json]) -> dict[str, Any]:
    if "oneOf" not in node:
        return node
    tag = mapping(node.get("discriminator")).get("propertyName")
    branches = [_tagged(each, tag, schema) for each in node["oneOf"]]
    return {**{name: each for name, each in node.items() if name not in {"oneOf", "discriminator"}}, "anyOf": branches}


def _tagged(branch: Json, tag: object, schema: Mapping[str, Json]) -> Json:
    """Return a branch that requires its tag; pydantic does, whether or not the field has a default."""
    told = mapping(branch)
    target = mapping(named(schema, told.get("$ref"))) if "$ref" in told else told
    if tag not in mapping(target.get("properties")) or tag in sequence(target.get("required")):
        return branch
    return {**told, "required": [*sequence(told.get("required")), tag]}
