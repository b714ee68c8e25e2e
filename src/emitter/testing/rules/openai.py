"""OpenAI: ``response_format``, ``text.format`` and tools under ``strict``.

Third parties claim that ``default`` is refused; recorded exchanges show it taken, so it is taken here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from emitter.testing.rules import clauses
from emitter.testing.rules.dialect import Dialect
from emitter.testing.rules.reading import levels
from emitter.wire import sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.testing.rules.dialect import OfPlace
    from emitter.testing.rules.reading import Breach, Place

# "definitions" is not listed; OpenAI's own helper for Node writes it.
STRUCTURE = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf"}
    | {"$ref", "$defs", "definitions", "$schema", "title", "description"}
)
_BOUNDS = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems"}
)
_KEYWORDS = STRUCTURE | _BOUNDS | {"pattern", "format", "default"}
_LOOKAROUND = re.compile(r"\(\?<?[=!]")
_TOP_LEVEL = re.compile(r"#(/(\$defs|definitions)/[^/]+)?")
_LONG_ENUM = 250


def root_is_a_plain_object(place: Place) -> Iterator[Breach]:
    """Refuse a root that is no object by its own word: a union, a reference, a list of types."""
    if not place.path and place.members.get("type") != "object":
        yield place.breach("root_must_be_an_object")
    if not place.path and "anyOf" in place.members:
        yield place.breach("root_must_not_be_a_union")


def object_has_properties(place: Place) -> Iterator[Breach]:
    """Refuse an object that does not name its properties, even if there are none."""
    if "object" in place.types and "properties" not in place.members:
        yield place.breach("object_needs_properties")


def all_required(place: Place) -> Iterator[Breach]:
    """Refuse a property that may be absent; what may be so is a union with null."""
    for name in place.properties:
        if name not in place.required:
            yield place.breach("all_properties_required", name)


def refs_name_definitions(place: Place) -> Iterator[Breach]:
    """Refuse a reference to anything but the root and its definitions."""
    reference = place.members.get("$ref", "#")
    if isinstance(reference, str) and not _TOP_LEVEL.fullmatch(reference):
        yield place.breach("ref_only_to_top_level_definitions", reference)


def long_enum_is_short(most: int) -> OfPlace:
    """Refuse an enum of many strings with more characters than this in all."""

    def rule(place: Place) -> Iterator[Breach]:
        values = sequence(place.members.get("enum"))
        if len(values) > _LONG_ENUM and sum(len(each) for each in values if isinstance(each, str)) > most:
            yield place.breach("max_characters_of_one_enum", f"at most {most}")

    return rule


EVERYWHERE = (
    root_is_a_plain_object,
    clauses.an_object,
    clauses.well_formed(_KEYWORDS),
    clauses.known_types,
    clauses.typed_unless("anyOf", "$ref"),
    clauses.closed,
    object_has_properties,
    all_required,
    clauses.required_are_properties,
    clauses.array_has_items,
    clauses.enum_fits_type,
    clauses.ref_beside_only(frozenset()),
    refs_name_definitions,
)
"""What holds of every model that takes a strict schema at all."""

DIALECT = Dialect(
    reads=_KEYWORDS,
    everywhere=(
        *EVERYWHERE,
        clauses.only(_KEYWORDS),
        clauses.formats(clauses.STRING_FORMATS),
        clauses.pattern_without(_LOOKAROUND),
        long_enum_is_short(15_000),
    ),
    of_the_whole=(
        clauses.refs_resolve,
        clauses.at_most(10, "max_nesting", levels),
        clauses.at_most(5_000, "max_properties", clauses.properties),
        clauses.at_most(1_000, "max_enum_values", clauses.enum_values),
        clauses.at_most(120_000, "max_characters", clauses.characters),
    ),
)

broken = DIALECT.broken
