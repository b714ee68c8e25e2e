"""Google: ``responseJsonSchema`` and ``parametersJsonSchema``, which ignore more than they refuse.

That a schema has too many states for serving cannot be told here: no number is published.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.testing.rules import clauses
from emitter.testing.rules.dialect import Dialect
from emitter.testing.rules.reading import explore
from emitter.wire import sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.testing.rules.reading import Breach, Path, Place, Tree

_KEYWORDS = frozenset(
    {"$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum"}
    | {"items", "prefixItems", "minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf"}
    | {"properties", "additionalProperties", "required", "propertyOrdering"}
)
_FORMATS = frozenset({"date-time", "date", "time"})
# Documented: only keywords that start with $. Recorded: a title beside the reference of the root is taken too.
_BESIDE_REF = frozenset({"$id", "$defs", "$anchor", "$schema", "title"})


def enum_of_texts_and_numbers(place: Place) -> Iterator[Breach]:
    """Refuse an ``enum`` that holds more than strings and numbers."""
    values = place.members.get("enum")
    if not all(clauses.type_of(each) & {"string", "number"} for each in sequence(values)):
        yield place.breach("enum_of_strings_and_numbers_only")


def recursion_is_optional(tree: Tree) -> Iterator[Breach]:
    """Refuse a cycle that leads through no property that may be absent; null is not enough."""

    def needed(place: Place, below: Path) -> bool:
        return below[len(place.path)] != "properties" or below[-1] in place.required

    looping = explore(tree.edges(follow=needed))[1]
    yield from (tree.places[path].breach("recursion_in_required") for path in looping)


def unheeded_keyword(place: Place) -> Iterator[Breach]:
    """Tell the keywords that have no effect."""
    yield from (place.breach("keyword_ignored", each) for each in place.members if each not in _KEYWORDS)


DIALECT = Dialect(
    reads=_KEYWORDS,
    everywhere=(
        clauses.an_object,
        clauses.well_formed(_KEYWORDS),
        clauses.known_types,
        enum_of_texts_and_numbers,
        clauses.ref_beside_only(_BESIDE_REF),
    ),
    of_the_whole=(clauses.refs_resolve, recursion_is_optional),
)
_UNHEEDED = Dialect(reads=_KEYWORDS, everywhere=(unheeded_keyword, clauses.formats(_FORMATS, "format_ignored")))

broken = DIALECT.broken
ignored = _UNHEEDED.broken
