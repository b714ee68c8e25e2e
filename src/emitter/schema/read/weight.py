"""How much a validator has to look at for one value: references and unions unfold into one another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.errors import Uncompilable
from emitter.wire import sequence

if TYPE_CHECKING:
    from emitter.schema.read.scope import Part, Scope

MAX_WEIGHT = 100_000
"""More schemas than these may not speak of one and the same value; no validator would come to an end."""

MAX_CHAIN = 200
"""No more schemas than these may lead to one another: a recursion that ends inside native code is no exception."""

_LISTS = ("anyOf", "oneOf", "allOf")
_SINGLE = ("not", "if", "then", "else")


def weigh(scope: Scope) -> None:
    """Raise ``Uncompilable`` where references unfold into more than can be checked."""
    known: dict[int, int] = {}
    for part in scope.places():
        try:
            weight = _weight(part, scope, known)
        except RecursionError as error:
            raise Uncompilable(part.where, "references lead on and on") from error
        if weight > MAX_WEIGHT:
            raise Uncompilable(part.where, f"references unfold into more than {MAX_WEIGHT} schemas of one value")


def _weight(part: Part, scope: Scope, known: dict[int, int], depth: int = 0) -> int:
    schema: Any = part.schema
    if schema.__class__ is not dict:
        return 1
    if id(schema) not in known:
        if depth == MAX_CHAIN:
            raise Uncompilable(part.where, "references lead on and on")
        known[id(schema)] = 0  # a circle is not gone round again
        inside = [each for keyword in _LISTS for each in sequence(schema.get(keyword))]
        inside += [schema[keyword] for keyword in _SINGLE if keyword in schema]
        held = [scope.inside(part, part.where, each) for each in inside]
        if isinstance(schema.get("$ref"), str) and (found := scope.found(part)) is not None:
            held.append(found)
        known[id(schema)] = 1 + sum(_weight(each, scope, known, depth + 1) for each in held)
    return known[id(schema)]
