"""The catalogue: every kind that a host takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from emitter.accept.catalogue.kind import Kind
from emitter.accept.catalogue.universal import UNIVERSAL_KINDS
from emitter.errors import InputError


class Catalogue(Mapping[str, Kind]):
    """The kinds that a host takes, by id; it never changes. The universal four are always in it, and come first.

    ``Catalogue()`` holds those alone (ai-envelope.md, "Universal kinds": an engine must know them). A kind that
    is added comes after those before it.
    """

    __slots__ = ("_kinds", "ids", "versions")

    def __init__(self, kinds: Iterable[Kind] = ()) -> None:
        """Build a catalogue of the universal kinds and ``kinds``; raises ``InputError`` where two share an id."""
        found: dict[str, Kind] = {}
        for each in (*UNIVERSAL_KINDS, *kinds):
            if each.id in found:
                raise InputError(f"The catalogue has a kind {each.id} already.", hint="List a kind once.")
            found[each.id] = each
        self._kinds: Final = found
        self.ids: Final = tuple(found)
        """``Capabilities.supportedEnvelopes``."""
        self.versions: Final[Mapping[str, int]] = MappingProxyType(
            {name: each.version for name, each in found.items() if each.version is not None}
        )
        """``Capabilities.schemaVersions``: the kinds whose version is advertised."""

    def __getitem__(self, kind_id: str) -> Kind:
        return self._kinds[kind_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Catalogue({', '.join(self.ids)})"

    def with_kinds(self, *kinds: Kind) -> Catalogue:
        """Return a catalogue with ``kinds`` too; raises ``InputError`` for an id that is there already."""
        return Catalogue((*tuple(self.values())[len(UNIVERSAL_KINDS) :], *kinds))
