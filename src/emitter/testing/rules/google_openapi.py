"""Google: ``responseSchema`` and a tool's ``parameters``, the older dialect after OpenAPI, closed to other keywords.

The library sends the other dialect; this one stands here because most recorded rejections of Google are in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.testing.rules import clauses
from emitter.testing.rules.dialect import Dialect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.testing.rules.reading import Breach, Place

_UNIONS = ("anyOf", "any_of")
_KEYWORDS = frozenset(
    {"type", "format", "title", "description", "nullable", "default", "example", "enum", "pattern"}
    | {"items", "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength"}
    | {"properties", "required", "minProperties", "maxProperties", "propertyOrdering", "property_ordering", *_UNIONS}
)


def one_type(place: Place) -> Iterator[Breach]:
    """Refuse a ``type`` that is not one name, in capitals or not."""
    named = place.members.get("type", "null")
    if not isinstance(named, str) or named.lower() not in clauses.TYPES:
        yield place.breach("type_must_be_one_name")


def union_stands_alone(place: Place) -> Iterator[Breach]:
    """Refuse anything beside a union."""
    if set(_UNIONS) & set(place.members) and len(place.members) > 1:
        yield place.breach("union_must_be_alone")


def properties_of_objects(place: Place) -> Iterator[Breach]:
    """Refuse properties elsewhere than in objects, and none at all below the root (recorded: taken at the root)."""
    if "properties" in place.members and "object" not in place.types:
        yield place.breach("properties_only_for_object")
    if place.path and place.members.get("properties") == {}:
        yield place.breach("properties_must_not_be_empty")


def enum_of_texts(place: Place) -> Iterator[Breach]:
    """Refuse an enum elsewhere than in strings, and an empty value of it."""
    if "enum" in place.members and "string" not in place.types:
        yield place.breach("enum_only_for_string")
    if "" in clauses.constants(place):
        yield place.breach("enum_value_must_not_be_empty")


DIALECT = Dialect(
    reads=_KEYWORDS,
    everywhere=(
        clauses.an_object,
        clauses.well_formed(_KEYWORDS),
        one_type,
        clauses.typed_unless(*_UNIONS),
        clauses.only(_KEYWORDS),
        union_stands_alone,
        properties_of_objects,
        clauses.required_are_properties,
        clauses.array_has_items,
        enum_of_texts,
        clauses.formats(frozenset({"enum", "date-time"})),
    ),
)

broken = DIALECT.broken
