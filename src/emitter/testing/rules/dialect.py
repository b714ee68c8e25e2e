"""A vendor's dialect of JSON Schema as a value: what it reads, and the rules that it holds a schema to."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeAlias

from emitter.testing.rules.reading import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from emitter.testing.rules.reading import Breach, Place, Tree

OfPlace: TypeAlias = "Callable[[Place], Iterable[Breach]]"
OfTree: TypeAlias = "Callable[[Tree], Iterable[Breach]]"

MAX_BREACHES = 200


@dataclass(frozen=True, slots=True)
class Dialect:
    """``reads`` are the keywords that the vendor looks into."""

    reads: frozenset[str]
    everywhere: tuple[OfPlace, ...]
    of_the_whole: tuple[OfTree, ...] = ()

    def broken(self, schema: object) -> list[Breach]:
        """Return what the schema breaks, the rules of the whole first; any JSON value will do."""
        tree = read(schema, self.reads)
        told = chain(
            tree.unread.values(),
            chain.from_iterable(rule(tree) for rule in self.of_the_whole),
            chain.from_iterable(rule(place) for place in tree.places.values() for rule in self.everywhere),
        )
        return list(islice(told, MAX_BREACHES))
