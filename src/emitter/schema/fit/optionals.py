"""Writing optional properties the other way than the vendor's usual, where that alone makes a schema fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.profile.subset import Optionals
from emitter.schema.shape import Document, Record
from emitter.schema.walk import types_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.profile.subset import Subset


def flips(document: Document, subset: Subset, over: dict[str, tuple[int, int]], unions: int) -> frozenset[int]:
    """Return the optional properties to write as required and nullable, where that alone helps."""
    too_many = max(
        (over[each][0] - over[each][1] for each in ("optional", "optional_of_one_object") if each in over), default=0
    )
    if not too_many or subset.optionals is not Optionals.OMIT:
        return frozenset()
    room = (subset.limits.unions if subset.limits.unions is not None else too_many) - unions
    largest = sorted(_records(document), key=_optional, reverse=True)
    fields = [each for record in largest for each in record.fields.values() if not each.required]
    fields.sort(key=lambda each: "null" not in types_of(document, each.node))
    free = [each for each in fields if "null" in types_of(document, each.node)]
    return frozenset(id(each.node) for each in fields[: min(too_many, len(free) + max(room, 0))])


def _records(document: Document) -> Iterator[Record]:
    return (node for node in document.nodes() if isinstance(node, Record))


def _optional(record: Record) -> int:
    return sum(not each.required for each in record.fields.values())
