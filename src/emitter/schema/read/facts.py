"""Sorting the keywords of the schemas that hold together at one place by what they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.schema.shape import Remark, Rule
from emitter.schema.value import ARRAY, EVERY_TYPE, INTEGER, NUMBER, OBJECT, STRING, same
from emitter.wire import sequence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.schema.drafts import Draft
    from emitter.schema.read.scope import Part

UNIONS = ("anyOf", "oneOf")
FOLLOWED = ("$ref", "allOf")
"""Keywords whose schemas stand among the parts themselves, once they have been followed."""

NOTES = frozenset({"title", "description", "default", "examples"})
_NAMES = ("x-enum-varnames", "x-enumNames", "enumNames")
"""Keywords under which the names of listed values are usual, in the order of the values."""
_CONTENT = frozenset({"contentMediaType", "contentEncoding", "contentSchema"})
_ABOUT: dict[str, str] = {
    **dict.fromkeys(("minLength", "maxLength", "pattern", "format"), STRING),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), NUMBER),
    **dict.fromkeys(("items", "additionalItems", "prefixItems", "minItems", "maxItems", "uniqueItems"), ARRAY),
    **dict.fromkeys(("contains", "minContains", "maxContains", "unevaluatedItems"), ARRAY),
    **dict.fromkeys(("properties", "required", "additionalProperties", "patternProperties"), OBJECT),
    **dict.fromkeys(("propertyNames", "minProperties", "maxProperties", "unevaluatedProperties"), OBJECT),
    **dict.fromkeys(("dependencies", "dependentRequired", "dependentSchemas"), OBJECT),
}
_REMARKS = frozenset({"example", *_NAMES, *_CONTENT})
_OF_DRAFT_4 = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
_LEFT = frozenset({"not", "if", "then", "else", "$dynamicRef", "$recursiveRef"})
_VACUOUS = {"minLength": 0, "minItems": 0, "minProperties": 0, "uniqueItems": False}
"""Rules that every value keeps."""


class Facts:
    """What is said of one value: ``about`` lists the keywords by the type they constrain."""

    __slots__ = ("about", "constants", "left", "notes", "parts", "types", "unions")

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts
        self.types: tuple[str, ...] | None = None
        self.notes: dict[str, Any] = {}
        self.constants: list[list[Any]] = []
        self.unions: list[tuple[Part, str]] = []
        self.about: dict[str, list[Rule]] = {}
        self.left: list[Rule] = []

    @property
    def conditional(self) -> bool:
        """Whether schemas that are not read may speak of more properties or items."""
        return bool(self.left) or any("if" in part.schema for part in self.parts)

    @property
    def where(self) -> str:
        """The pointer of the first schema."""
        return self.parts[0].where


def gather(parts: Sequence[Part], draft: Draft) -> Facts:
    """Return what ``parts`` say together; references and ``allOf`` have been followed before."""
    facts = Facts(tuple(parts))
    for part in parts:
        for keyword, value in part.schema.items():
            if keyword in NOTES:
                facts.notes.setdefault(keyword, value)
            elif keyword in _REMARKS:
                _remark(facts, part, keyword)
            elif keyword in draft.keywords:
                _sort(facts, part, keyword, value)
    return facts


def _remark(facts: Facts, part: Part, keyword: str) -> None:
    """Keep what a keyword tells that constrains no value."""
    value = part.schema[keyword]
    if keyword == "example":
        facts.notes.setdefault("examples", [value])
    elif keyword in _CONTENT:
        facts.notes.setdefault(Remark.CONTENT, part)
    elif isinstance(value, list):
        values = [part.schema["const"]] if "const" in part.schema else sequence(part.schema.get("enum"))
        names = facts.notes.setdefault(Remark.NAMES, {})
        names.update({same(each): name for each, name in zip(values, sequence(value), strict=False)})


def _sort(facts: Facts, part: Part, keyword: str, value: Any) -> None:
    about = _ABOUT.get(keyword)
    if about is not None:
        rule = _exclusive(part, keyword) if value is True or value is False else Rule(part.where, keyword, value)
        if rule is not None and (keyword not in _VACUOUS or value != _VACUOUS[keyword]):
            facts.about.setdefault(about, []).append(rule)
    elif keyword == "type":
        facts.types = _meet(facts.types, _named(value))
    elif keyword in {"enum", "const"}:
        facts.constants.append(sequence(value) if keyword == "enum" else [value])
    elif keyword in UNIONS:
        facts.unions.append((part, keyword))
    elif keyword in _LEFT and _says_something(part.schema, keyword):
        facts.left.append(Rule(part.where, keyword, value))


def _exclusive(part: Part, keyword: str) -> Rule | None:
    """Return a rule whose value is a truth value; in draft 4 it says that the bound beside it is exclusive."""
    value = part.schema[keyword]
    if keyword in _OF_DRAFT_4:
        bound = part.schema.get(_OF_DRAFT_4[keyword])
        return Rule(part.where, keyword, bound) if value and bound is not None else None
    return Rule(part.where, keyword, value)


def _says_something(schema: dict[str, Any], keyword: str) -> bool:
    if keyword == "if":
        return "then" in schema or "else" in schema
    if keyword == "not":
        return schema["not"] is not False
    return keyword not in {"then", "else"} or "if" in schema


def _named(value: Any) -> tuple[str, ...]:
    """Return the types named by ``type``."""
    return (value,) if isinstance(value, str) else tuple(dict.fromkeys(sequence(value)))


def _meet(one: tuple[str, ...] | None, other: tuple[str, ...]) -> tuple[str, ...]:
    """Return the types that both allow, where every integer is a number."""
    if one is None:
        return other
    wide = set(other)
    met = [each for each in one if each in wide or (each == INTEGER and NUMBER in wide)]
    if NUMBER in one and INTEGER in wide and NUMBER not in wide:
        met.append(INTEGER)
    return tuple(dict.fromkeys(met))


def kinds(facts: Facts) -> tuple[str, ...]:
    """Return the types a value may have."""
    types = EVERY_TYPE if facts.types is None else facts.types
    if len(types) == 1:
        return types
    return tuple(each for each in types if not (each == INTEGER and NUMBER in types))
