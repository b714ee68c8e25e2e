"""The rules that more than one vendor has, each one told what differs between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.testing.rules.reading import DEFINITIONS, explore
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

    from emitter.testing.rules.dialect import OfPlace, OfTree
    from emitter.testing.rules.reading import Breach, Place, Tree

TYPES = frozenset({"string", "number", "boolean", "integer", "object", "array", "null"})
STRING_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})


def _count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: object) -> bool:
    return isinstance(value, str)


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_text, sequence(value)))


def _object(value: object) -> bool:
    return isinstance(value, dict)


def _filled(value: object) -> bool:
    return bool(sequence(value))


def _open_or_closed(value: object) -> bool:
    return isinstance(value, bool | dict)


_SHAPES: dict[str, Callable[[object], bool]] = {
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas", *DEFINITIONS), _object),
    **dict.fromkeys(("anyOf", "any_of", "oneOf", "allOf", "prefixItems", "enum"), _filled),
    **dict.fromkeys(("required", "propertyOrdering", "property_ordering"), _texts),
    **dict.fromkeys(("title", "description", "pattern", "format", "$ref", "$schema", "$id", "$anchor"), _text),
    **dict.fromkeys(("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"), _count),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), _number),
    "additionalProperties": _open_or_closed,
}


def an_object(place: Place) -> Iterator[Breach]:
    """Refuse a schema that is no object, such as ``true``."""
    if not isinstance(place.schema, dict):
        yield place.breach("schema_must_be_an_object", type(place.schema).__name__)


def well_formed(keywords: frozenset[str]) -> OfPlace:
    """Refuse one of these keywords with another kind of value than the draft gives it."""
    shapes = {keyword: fits for keyword, fits in _SHAPES.items() if keyword in keywords}

    def rule(place: Place) -> Iterator[Breach]:
        for keyword, value in place.members.items():
            if keyword in shapes and not shapes[keyword](value):
                yield place.breach("keyword_malformed", keyword)

    return rule


def known_types(place: Place) -> Iterator[Breach]:
    """Refuse a ``type`` that is none of the seven, nor a list of them."""
    named = place.members.get("type", "null")
    names = sequence(named) if isinstance(named, list) else [named]
    if not names or not all(isinstance(each, str) and each in TYPES for each in names):
        yield place.breach("type_unknown")


def only(keywords: frozenset[str]) -> OfPlace:
    """Refuse every keyword but these."""

    def rule(place: Place) -> Iterator[Breach]:
        yield from (place.breach("keyword_not_supported", each) for each in place.members if each not in keywords)

    return rule


def typed_unless(*keywords: str) -> OfPlace:
    """Ask for a type, unless one of these stands in its place."""

    def rule(place: Place) -> Iterator[Breach]:
        if isinstance(place.schema, dict) and not {"type", *keywords} & set(place.members):
            yield place.breach("type_missing")

    return rule


def closed(place: Place) -> Iterator[Breach]:
    """Refuse an object that does not forbid what it does not name."""
    if "object" in place.types and place.members.get("additionalProperties") is not False:
        yield place.breach("object_must_be_closed")


def array_has_items(place: Place) -> Iterator[Breach]:
    """Refuse an array that does not say what it holds."""
    if "array" in place.types and "items" not in place.members:
        yield place.breach("array_needs_items")


def required_are_properties(place: Place) -> Iterator[Breach]:
    """Refuse to require what is no property."""
    for name in sorted(place.required - place.properties.keys()):
        yield place.breach("required_names_no_property", name)


def formats(known: frozenset[str], rule_id: str = "format_not_supported") -> OfPlace:
    """Refuse other formats of strings; other types may carry any."""

    def rule(place: Place) -> Iterator[Breach]:
        named = place.members.get("format")
        if "string" in place.types and isinstance(named, str) and named not in known:
            yield place.breach(rule_id, named)

    return rule


def pattern_without(refused: re.Pattern[str]) -> OfPlace:
    """Refuse a pattern with a construct that the vendor's engine lacks."""

    def rule(place: Place) -> Iterator[Breach]:
        pattern = place.members.get("pattern")
        if isinstance(pattern, str) and refused.search(pattern):
            yield place.breach("pattern_not_supported", pattern)

    return rule


def type_of(value: Any) -> frozenset[str]:
    """Return the names of the types that a JSON value has."""
    match value:
        case None:
            return frozenset({"null"})
        case bool():
            return frozenset({"boolean"})
        case int():
            return frozenset({"integer", "number"})
        case float():
            return frozenset({"integer", "number"} if value.is_integer() else {"number"})
        case str():
            return frozenset({"string"})
        case _:
            return frozenset({"array"} if isinstance(value, list) else {"object"})


def constants(place: Place) -> list[Any]:
    """Return the values of ``enum`` and ``const``."""
    return [*sequence(place.members.get("enum")), *([place.members["const"]] if "const" in place.members else [])]


def enum_fits_type(place: Place) -> Iterator[Breach]:
    """Refuse a value of ``enum`` or ``const`` whose type is not the one beside it."""
    if place.types and not all(type_of(each) & set(place.types) for each in constants(place)):
        yield place.breach("enum_must_fit_type", " ".join(place.types))


def ref_beside_only(keywords: frozenset[str]) -> OfPlace:
    """Refuse anything beside a reference but these."""

    def rule(place: Place) -> Iterator[Breach]:
        if "$ref" in place.members:
            beside = [each for each in place.members if each != "$ref" and each not in keywords]
            yield from (place.breach("keyword_beside_ref", each) for each in beside)

    return rule


def refs_resolve(tree: Tree) -> Iterator[Breach]:
    """Refuse a reference that names no place of this schema."""
    for place in tree.places.values():
        reference = place.members.get("$ref")
        if isinstance(reference, str) and not reference.startswith("#"):
            yield place.breach("ref_external", reference)
        elif isinstance(reference, str) and tree.target(reference) is None:
            yield place.breach("ref_undefined", reference)


def no_recursion(tree: Tree) -> Iterator[Breach]:
    """Refuse a reference that leads back to where it stands."""
    yield from (tree.places[path].breach("recursion") for path in explore(tree.edges())[1])


def at_most(limit: int, rule: str, measure: Callable[[Tree], int]) -> OfTree:
    """Refuse a schema that measures more than the limit as a whole."""

    def whole(tree: Tree) -> Iterator[Breach]:
        measured = measure(tree)
        if measured > limit:
            yield tree.places[()].breach(rule, f"{measured} of at most {limit}")

    return whole


def properties(tree: Tree) -> int:
    """Count the properties of all objects."""
    return sum(len(place.properties) for place in tree.places.values())


def enum_values(tree: Tree) -> int:
    """Count the values of all enums."""
    return sum(len(sequence(place.members.get("enum"))) for place in tree.places.values())


def characters(tree: Tree) -> int:
    """Count the characters of all names of properties and definitions, and of all constants."""
    return sum(
        sum(map(len, place.properties))
        + sum(len(name) for keyword in DEFINITIONS for name in mapping(place.members.get(keyword)))
        + sum(len(each) for each in constants(place) if isinstance(each, str))
        for place in tree.places.values()
    )
