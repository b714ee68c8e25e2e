"""How long an answer can be, read off its schema."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from emitter.budget.estimate import most
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.wire import Json

# Measured on 429 recorded structured answers of three vendors, o200k_base: of 847 strings 95 % have at most 21
# tokens, 99 % at most 124, the longest 330; of 83 lists 90 % have at most 5 members.
_STRING = 48
_ITEMS = 5
# A member's comma, line break and indentation, for a vendor that does not write compactly; a document's own brackets.
_AROUND_MEMBER = 3
_BRACKETS = 2
# A double has 17 digits, a sign, a point and an exponent.
_NUMBER, _LONGEST_NUMBER = 4, 24
_FARTHEST = 10**40
_WORD = 2
# The most of common text in any script; an escape or a rare character takes more.
_PER_CHARACTER = 2
_FORMATTED, _LONGEST_FORMATTED = 20, 40
_FORMATS = frozenset({"date-time", "date", "time", "duration", "uuid", "ipv4", "ipv6"})
_DEEPEST = 64
_COUNTED_ONE_BY_ONE = 64


@dataclass(frozen=True, slots=True)
class Span:
    """The tokens of a typical answer, and those of the longest as far as the schema bounds it.

    ``known`` counts what is bounded at its longest and the rest as typical; where ``bounded``, that is all of it.
    """

    typical: int
    known: int
    bounded: bool = True

    @property
    def worst(self) -> int | None:
        """The tokens of the longest answer; None where the schema sets no bound."""
        return self.known if self.bounded else None

    def __add__(self, other: Span) -> Span:
        return Span(self.typical + other.typical, self.known + other.known, self.bounded and other.bounded)


_NOTHING = Span(0, 0)
_ANYTHING = Span(_STRING, _STRING, bounded=False)


def of_schema(schema: Json) -> Span:
    """Return how long a document of ``schema`` can be, a JSON Schema.

    A property that the schema does not name is not counted, a reference back to itself as nothing more.
    """
    return _Walk(schema).span(schema, 0)


@dataclass(slots=True)
class _Walk:
    root: Json
    met: dict[str, Span] = field(default_factory=dict[str, Span])

    def span(self, schema: Json, depth: int) -> Span:
        """Return the span of what stands on its own: a schema that says nothing allows anything."""
        if schema is False:
            return _NOTHING
        return self.part(schema, depth) or _ANYTHING

    def part(self, schema: Json, depth: int) -> Span | None:
        """Return the span of what the schema says; None where it says nothing of length."""
        if depth > _DEEPEST:
            return _ANYTHING
        node = mapping(schema)
        if isinstance(node.get("$ref"), str):
            return self._referred(node["$ref"], depth)
        if "const" in node:
            return _literals([node["const"]])
        if "enum" in node:
            return _literals(sequence(node["enum"]))
        parts = [self._own(node, depth), *self._parts(node.get("allOf"), depth)]
        parts += [_longest(some) for each in ("anyOf", "oneOf") if (some := self._parts(node.get(each), depth))]
        said = [each for each in parts if each is not None]
        return sum(said, _NOTHING) if said else None

    def _parts(self, schemas: Json, depth: int) -> list[Span]:
        return [each for one in sequence(schemas) if (each := self.part(one, depth + 1)) is not None]

    def _referred(self, reference: str, depth: int) -> Span:
        if reference not in self.met:
            self.met[reference] = Span(0, 0, bounded=False)
            self.met[reference] = self.span(_found(self.root, reference), depth + 1)
        return self.met[reference]

    def _own(self, node: Json, depth: int) -> Span | None:
        """Return the span of the node's own types, each read with the node's words for it."""
        named = node.get("type")
        types = [named] if isinstance(named, str) else sequence(named) or _implied(node)
        return _longest(self._of_type(each, node, depth) for each in types) if types else None

    def _of_type(self, kind: Json, node: Json, depth: int) -> Span:
        match kind:
            case "object":
                return self._object(node, depth)
            case "array":
                return self._array(node, depth)
            case "string":
                return _string(node)
            case "number" | "integer":
                return _number(node)
            case _:
                return Span(_WORD, _WORD)

    def _object(self, node: Json, depth: int) -> Span:
        members = mapping(node.get("properties")).items()
        whole = sum((_named(name) + self.span(each, depth + 1) for name, each in members), Span(_BRACKETS, _BRACKETS))
        others = [*mapping(node.get("patternProperties")).values(), node.get("additionalProperties", False)]
        opened = [self.span(each, depth + 1) for each in others if each is not False]
        return whole + _unbounded(_longest(opened), _ITEMS) if opened else whole

    def _array(self, node: Json, depth: int) -> Span:
        first = [self.span(each, depth + 1) for each in sequence(node.get("prefixItems"))]
        fixed = sum((each + Span(_AROUND_MEMBER, _AROUND_MEMBER) for each in first), Span(_BRACKETS, _BRACKETS))
        low, high = _length(node, "minItems") or 0, _length(node, "maxItems")
        rest = self.span(node.get("items", not first), depth + 1)
        if rest == _NOTHING or high == 0:
            return fixed
        usual = max(low, _ITEMS) - len(first)
        if high is None:
            return fixed + _unbounded(rest, usual)
        return fixed + _times(rest, min(usual, high - len(first)), high - len(first))


def _string(node: Json) -> Span:
    high, low = _length(node, "maxLength"), _length(node, "minLength") or 0
    if high is not None:
        longest = high * _PER_CHARACTER + _BRACKETS
        return Span(min(max(_STRING, low), longest), longest)
    if node.get("format") in _FORMATS:
        return Span(_FORMATTED, _LONGEST_FORMATTED)
    return Span(max(_STRING, low), max(_STRING, low), bounded=False)


def _number(node: Json) -> Span:
    low = _whole(node.get("minimum", node.get("exclusiveMinimum")))
    high = _whole(node.get("maximum", node.get("exclusiveMaximum")))
    if node.get("type") != "integer" or low is None or high is None:
        return Span(_NUMBER, _LONGEST_NUMBER)
    longest = max(most(str(max(min(each, _FARTHEST), -_FARTHEST))) for each in (low, high))
    return Span(min(_NUMBER, longest), longest)


def _literals(values: list[Json]) -> Span:
    """Return the span of the longest of ``values``; of many, each byte is taken for a token."""
    try:
        texts = [json.dumps(each, ensure_ascii=False) for each in values]
    except (RecursionError, TypeError, ValueError):
        return _ANYTHING
    if len(texts) > _COUNTED_ONE_BY_ONE:
        longest = max(len(each.encode(errors="replace")) for each in texts)
    else:
        longest = max(map(most, texts), default=0)
    return Span(longest, longest)


def _named(name: str) -> Span:
    tokens = most(json.dumps(name, ensure_ascii=False) + ":") + _AROUND_MEMBER
    return Span(tokens, tokens)


def _longest(spans: Iterable[Span]) -> Span:
    all_of_them = list(spans)
    return Span(
        max((each.typical for each in all_of_them), default=0),
        max((each.known for each in all_of_them), default=0),
        all(each.bounded for each in all_of_them),
    )


def _times(item: Span, usual: int, high: int) -> Span:
    each = item + Span(_AROUND_MEMBER, _AROUND_MEMBER)
    return Span(each.typical * max(usual, 0), each.known * max(high, 0), each.bounded)


def _unbounded(item: Span, usual: int) -> Span:
    span = _times(item, usual, usual)
    return Span(span.typical, span.known, bounded=False)


def _implied(node: Json) -> list[Json]:
    """Return the type that a node without ``type`` speaks of."""
    if "properties" in node or "additionalProperties" in node:
        return ["object"]
    return ["array"] if "items" in node or "prefixItems" in node else []


def _found(root: Json, reference: str) -> Json:
    """Return what a reference inside the document names; True where it names nothing that is there."""
    here = root
    for part in reference.removeprefix("#").split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if key not in mapping(here):
            return True
        here = here[key]
    return here


def _length(node: Json, word: str) -> int | None:
    found = _whole(node.get(word))
    return None if found is None else max(found, 0)


def _whole(value: Json) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if isinstance(value, int) or math.isfinite(value) else None
