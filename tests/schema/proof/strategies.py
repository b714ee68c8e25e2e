"""Schemas with an instance each, built together: every keyword of the drafts, references and recursion too.

An instance is meant to be valid, but a keyword that was added afterwards may forbid it: the judge decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from tests.schema.proof.corpora import DRAFTS, Case

if TYPE_CHECKING:
    from collections.abc import Callable

    Draw = Callable[[st.SearchStrategy[Any]], Any]

Pair = tuple[Any, Any]

NAMES = st.sampled_from(("a", "b", "kind", "$ref", "a/b", "~", "x-1", "", "größe", "entries"))
TEXT = st.text(st.characters(codec="utf-8"), max_size=6) | st.sampled_from(("null", "1", '{"a":1}', "2024-02-29", "x-"))
NUMBERS = st.integers(-20, 20) | st.sampled_from((0.5, -1.25, 1e20, 2**53 - 1, 1.0, 0))
SCALARS = st.none() | st.booleans() | NUMBERS | TEXT
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | TEXT, inner, max_size=3), max_leaves=6
)
DEEPEST = 3


@dataclass
class _Document:
    """The schema that is being built: its draft, and what its references name."""

    draft: str
    definitions: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def shelf(self) -> str:
        """The keyword that holds definitions."""
        return "$defs" if self.draft.startswith("draft20") else "definitions"


@st.composite
def cases(draw: Draw) -> Case:
    """Draw a schema with an instance."""
    document = _Document(draw(st.sampled_from(("draft2020-12", "draft2020-12", "draft2019-09", "draft7", "draft4"))))
    schema, instance = _pair(draw, document, 0)
    if isinstance(schema, dict):
        named = draw(st.booleans()) or document.draft != "draft2020-12"
        head = {"$schema": DRAFTS[document.draft]} if named else {}
        tail = {document.shelf: document.definitions} if document.definitions else {}
        schema = {**head, **schema, **tail}
    return Case("generated", schema, document.draft, [instance], [draw(VALUES)])


def _pair(draw: Draw, document: _Document, depth: int) -> Pair:
    forms = _LEAVES if depth >= DEEPEST else (*_LEAVES, *_NESTED)
    schema, instance = draw(st.sampled_from(forms))(draw, document, depth + 1)
    if isinstance(schema, dict) and "$ref" not in schema and draw(st.integers(0, 4)) == 0:
        schema = {**schema, **draw(ANNOTATIONS)}
    return schema, instance


ANNOTATIONS = st.sampled_from(
    (
        {"description": "said"},
        {"title": "Named"},
        {"default": None},
        {"$comment": "x"},
        {"examples": [1]},
        {"x-own": {}},
    )
)


def _string(draw: Draw, document: _Document, _depth: int) -> Pair:
    bounds = {"minLength": 1, "maxLength": 9, "pattern": "^[a-z]+$", "format": "date"}
    if document.draft != "draft7":  # in which the two validators differ by name
        bounds["contentEncoding"] = "base64"
    kept = draw(st.sets(st.sampled_from(sorted(bounds)), max_size=2))
    return {"type": "string", **{each: bounds[each] for each in kept}}, draw(st.sampled_from(("ab", "2024-02-29", "")))


def _number(draw: Draw, document: _Document, _depth: int) -> Pair:
    exclusive = True if document.draft == "draft4" else -3
    bounds = {"minimum": -2, "maximum": 9, "multipleOf": 0.5, "exclusiveMinimum": exclusive}
    kept = draw(st.sets(st.sampled_from(sorted(bounds)), max_size=2)) | ({"minimum"} if exclusive is True else set())
    schema = {"type": draw(st.sampled_from(("integer", "number", ["number", "null"]))), **{n: bounds[n] for n in kept}}
    return schema, draw(st.sampled_from((0, 4, 2.5, 1.0)))


def _chosen(draw: Draw, document: _Document, _depth: int) -> Pair:
    values = draw(st.lists(VALUES, min_size=1, max_size=3, unique_by=repr))
    if document.draft != "draft4" and draw(st.booleans()):
        return {"const": values[0]}, values[0]
    return {"enum": values}, values[-1]


def _open(draw: Draw, document: _Document, _depth: int) -> Pair:
    several = {"type": ["string", "array", "object", "null"]}
    forms = [
        {},
        several,
        {"type": "object"},
        {"type": "array"},
        {"minimum": 0},
        *([True] * (document.draft != "draft4")),
    ]
    return draw(st.sampled_from(forms)), draw(VALUES)


def _bool_or_null(draw: Draw, _document: _Document, _depth: int) -> Pair:
    return draw(st.sampled_from((({"type": "boolean"}, True), ({"type": "null"}, None))))


def _object(draw: Draw, document: _Document, depth: int) -> Pair:
    properties = {name: _pair(draw, document, depth) for name in draw(st.lists(NAMES, max_size=3, unique=True))}
    present = {name: instance for name, (_, instance) in properties.items() if draw(st.booleans())}
    schema: dict[str, Any] = {"type": "object", "properties": {name: each for name, (each, _) in properties.items()}}
    required = [name for name in present if draw(st.booleans())]
    if required or (document.draft != "draft4" and draw(st.booleans())):
        schema["required"] = required
    if draw(st.booleans()):
        schema["additionalProperties"] = False
    elif draw(st.booleans()):
        schema["additionalProperties"], other = _pair(draw, document, depth)
        present.setdefault("other", other)
    bounds: dict[str, Any] = {"minProperties": 1, "maxProperties": 4, "propertyNames": {"maxLength": 6}}
    bounds |= {"dependentRequired": {"a": ["b"]}, "dependencies": {"b": ["a"]}, "unevaluatedProperties": False}
    bounds |= {"patternProperties": {"^x-": _pair(draw, document, depth)[0]}}
    kept = draw(st.sets(st.sampled_from(sorted(bounds)), max_size=1))
    return {**schema, **{each: bounds[each] for each in kept}}, present


def _array(draw: Draw, document: _Document, depth: int) -> Pair:
    items, instance = _pair(draw, document, depth)
    bounds: dict[str, Any] = {"minItems": 1, "maxItems": 3, "uniqueItems": True, "contains": items, "minContains": 2}
    kept = draw(st.sets(st.sampled_from(sorted(bounds)), max_size=2))
    return {"type": "array", "items": items, **{n: bounds[n] for n in kept}}, [instance] * draw(st.integers(0, 2))


def _tuple(draw: Draw, document: _Document, depth: int) -> Pair:
    pairs = [_pair(draw, document, depth) for _ in range(draw(st.integers(1, 3)))]
    first, rest = ("prefixItems", "items") if document.draft == "draft2020-12" else ("items", "additionalItems")
    schema: dict[str, Any] = {"type": "array", first: [each for each, _ in pairs]}
    if draw(st.booleans()):
        schema[rest] = draw(st.sampled_from((False, {"type": "integer"})))
    if draw(st.booleans()):
        schema["minItems"] = len(pairs)
    return schema, [instance for _, instance in pairs]


def _union(draw: Draw, document: _Document, depth: int) -> Pair:
    pairs = [_pair(draw, document, depth) for _ in range(draw(st.integers(1, 3)))]
    return {draw(st.sampled_from(("anyOf", "oneOf"))): [each for each, _ in pairs]}, pairs[0][1]


def _tagged(draw: Draw, document: _Document, depth: int) -> Pair:
    pairs = [_pair(draw, document, depth) for _ in range(2)]
    branches = [
        {"type": "object", "properties": {"kind": {"enum": [str(n)]}, "of": each}, "required": ["kind", "of"]}
        for n, (each, _) in enumerate(pairs)
    ]
    return {"oneOf": branches}, {"kind": "1", "of": pairs[1][1]}


def _both(draw: Draw, document: _Document, depth: int) -> Pair:
    schema, instance = _pair(draw, document, depth)
    weak = draw(st.sampled_from(({}, {"minLength": 1}, {"required": ["a"]}, {"type": ["object", "string", "number"]})))
    beside = draw(st.sampled_from(({}, {"not": {"const": 7}}, {"minProperties": 1})))
    return {"allOf": [schema, weak], **beside}, instance


def _conditional(draw: Draw, document: _Document, depth: int) -> Pair:
    schema, instance = _pair(draw, document, depth)
    then = draw(st.sampled_from(({"minimum": 3}, {"required": ["b"]}, False if document.draft != "draft4" else {})))
    return {"if": {"type": ["number", "object"]}, "then": then, "else": schema}, instance


def _reference(draw: Draw, document: _Document, depth: int) -> Pair:
    schema, instance = _pair(draw, document, depth)
    name = draw(st.sampled_from(("one", "two", "a~1b", "per%20cent")))
    document.definitions[name.replace("~1", "/").replace("%20", " ")] = schema
    beside = draw(st.sampled_from(({}, {}, {"description": "beside"}, {"minLength": 1})))
    return {"$ref": f"#/{document.shelf}/{name}", **beside}, instance


def _tree(draw: Draw, document: _Document, depth: int) -> Pair:
    value, instance = _pair(draw, document, depth)
    name = f"tree{len(document.definitions)}"
    again = {"$ref": f"#/{document.shelf}/{name}"}
    nodes = draw(st.sampled_from(({"type": "array", "items": again}, again, {"anyOf": [again, {"type": "null"}]})))
    document.definitions[name] = {
        "type": "object",
        "properties": {"value": value, "more": nodes},
        "required": ["value"],
    }
    return dict(again), {"value": instance}


_LEAVES = (_string, _number, _chosen, _open, _bool_or_null)
_NESTED = (_object, _object, _array, _tuple, _union, _tagged, _both, _conditional, _reference, _tree)
