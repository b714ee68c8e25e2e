"""The catalogue: every kind that a host takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
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

    def __init__(self, kinds: Iterable[Kind] = (), versions: Mapping[str, int] | None = None) -> None:
        """Build a catalogue of the universal kinds and ``kinds``; raises ``InputError`` where two share an id.

        ``versions`` is advertised of the kinds that it names, whatever they say of themselves.
        """
        found: dict[str, Kind] = {}
        for each in (*UNIVERSAL_KINDS, *kinds):
            if each.id in found:
                raise InputError(f"The catalogue has a kind {each.id} already.", hint="List a kind once.")
            found[each.id] = replace(each, version=(versions or {}).get(each.id, each.version))
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

    def with_versions(self, versions: Mapping[str, int]) -> Catalogue:
        """Return a catalogue that advertises other versions; raises ``InputError`` for a kind that is not in it.

        The schemas stay what they are: a host says so whose schemas changed in a way that its readers must know.
        """
        unknown = [each for each in versions if each not in self._kinds]
        if unknown:
            raise InputError(f"The catalogue has no kind {unknown[0]}.", hint=f"It has {', '.join(self.ids)}.")
        return Catalogue(self._added, {**self.versions, **versions})

    def with_kinds(self, *kinds: Kind) -> Catalogue:
        """Return a catalogue with ``kinds`` too; raises ``InputError`` for an id that is there already."""
        return Catalogue((*self._added, *kinds), self.versions)

    @property
    def _added(self) -> tuple[Kind, ...]:
        return tuple(self.values())[len(UNIVERSAL_KINDS) :]
