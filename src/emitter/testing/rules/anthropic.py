"""Anthropic: ``output_config.format`` (``broken``) and the input of strict tools (``broken_as_tool``)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from emitter.testing.rules import clauses
from emitter.testing.rules.dialect import Dialect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.testing.rules.reading import Breach, Place, Tree

_ANNOTATIONS = frozenset({"title", "description", "default", "$defs"})
_OF_TYPE = {
    **dict.fromkeys(("properties", "required", "additionalProperties"), "object"),
    **dict.fromkeys(("items", "minItems"), "array"),
    **dict.fromkeys(("pattern", "format"), "string"),
}
_COMBINATORS = ("anyOf", "allOf", "$ref")
_KEYWORDS = _ANNOTATIONS | frozenset({"type", "enum", "const", *_OF_TYPE, *_COMBINATORS})
# Lookaround, back references by number and by name, word boundaries, and counts above 99 ("big" has no number).
_REFUSED = re.compile(r"\(\?<?[=!]|\\[1-9]|\\k|\(\?P=|\\[bB]|\{\d{3,}|,\d{3,}\}")
_PROPERTY_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_MAX_OPTIONAL_OF_ONE_OBJECT = 23
"""Recorded: one object with 24 is too complex, although 24 spread over several tools are taken."""


def not_empty(place: Place) -> Iterator[Breach]:
    """Refuse ``{}``."""
    if place.schema == {}:
        yield place.breach("empty_schema")


def combinator_stands_alone(place: Place) -> Iterator[Breach]:
    """Refuse anything but annotations beside ``anyOf``, ``allOf`` or ``$ref``."""
    for combinator in _COMBINATORS:
        if combinator in place.members:
            beside = [each for each in place.members if each not in _ANNOTATIONS and each != combinator]
            yield from (place.breach(f"keyword_beside_{combinator.removeprefix('$')}", each) for each in beside)


def keyword_of_its_type(place: Place) -> Iterator[Breach]:
    """Refuse a keyword beside a type that it is not about."""
    for keyword in place.members:
        if place.types and keyword in _OF_TYPE and _OF_TYPE[keyword] not in place.types:
            yield place.breach("keyword_of_another_type", keyword)


def few_items(place: Place) -> Iterator[Breach]:
    """Refuse a ``minItems`` above 1."""
    if place.members.get("minItems", 0) not in (0, 1):
        yield place.breach("min_items_above_1")


def constants_are_primitive(place: Place) -> Iterator[Breach]:
    """Refuse an object or an array in ``enum`` or ``const``."""
    if any(isinstance(each, dict | list) for each in clauses.constants(place)):
        yield place.breach("enum_of_primitives_only")


def enum_has_one_type(place: Place) -> Iterator[Breach]:
    """Refuse values beside a list of types, even where they fit (recorded)."""
    if isinstance(place.members.get("type"), list) and clauses.constants(place):
        yield place.breach("enum_beside_list_of_types")


def simple_enough(place: Place) -> Iterator[Breach]:
    """Refuse one object with all the optional properties that a request may have."""
    if len(place.properties.keys() - place.required) > _MAX_OPTIONAL_OF_ONE_OBJECT:
        yield place.breach("max_optional_of_one_object", f"at most {_MAX_OPTIONAL_OF_ONE_OBJECT}")


def no_ref_in_all_of(tree: Tree) -> Iterator[Breach]:
    """Refuse a reference as a branch of ``allOf``."""
    for path, place in tree.places.items():
        if path[-2:-1] == ("allOf",) and "$ref" in place.members:
            yield place.breach("ref_in_all_of")


def optional(tree: Tree) -> int:
    """Count the properties that may be absent."""
    return sum(len(place.properties.keys() - place.required) for place in tree.places.values())


def unions(tree: Tree) -> int:
    """Count the places with a list of types or a union."""
    return sum(
        isinstance(place.members.get("type"), list) or "anyOf" in place.members for place in tree.places.values()
    )


def tool_root(place: Place) -> Iterator[Breach]:
    """Refuse an input of a tool that is no object by its own word, or has odd names."""
    if place.path:
        return
    if place.members.get("type") != "object":
        yield place.breach("tool_root_must_be_an_object")
    for combinator in ("anyOf", "allOf", "oneOf"):
        if combinator in place.members:
            yield place.breach("tool_root_must_not_be_a_union", combinator)
    for name in place.properties:
        if not _PROPERTY_KEY.fullmatch(name):
            yield place.breach("tool_property_key", name)


FORMAT = Dialect(
    reads=_KEYWORDS,
    everywhere=(
        clauses.an_object,
        not_empty,
        clauses.well_formed(_KEYWORDS),
        clauses.known_types,
        clauses.typed_unless("enum", "const", *_COMBINATORS),
        clauses.only(_KEYWORDS),
        combinator_stands_alone,
        keyword_of_its_type,
        clauses.closed,
        clauses.formats(clauses.STRING_FORMATS | {"uri"}),
        clauses.pattern_without(_REFUSED),
        few_items,
        constants_are_primitive,
        clauses.enum_fits_type,
        enum_has_one_type,
        simple_enough,
    ),
    of_the_whole=(
        clauses.refs_resolve,
        clauses.no_recursion,
        no_ref_in_all_of,
        clauses.at_most(24, "max_optional_properties", optional),
        clauses.at_most(16, "max_unions", unions),
    ),
)
TOOL = replace(FORMAT, everywhere=(tool_root, *FORMAT.everywhere))

broken = FORMAT.broken
broken_as_tool = TOOL.broken
