"""Whether two forms can be told apart on the wire, and whether two schemas can hold of one value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.schema.codec import Among, Late, Plain, Text
from emitter.schema.shape import Document, Node, Record, Values
from emitter.schema.value import INTEGER, NUMBER, same
from emitter.schema.walk import MAX_FORMS, forms_of, types_of

if TYPE_CHECKING:
    from emitter.schema.codec.base import Codec, Members

DEPTH = 4
"""How deep two objects are compared; deeper differences are not looked for."""

MAX_COMPARED = 20_000
"""More pairs are not compared: they may overlap, for all that is known."""


def apart(one: Codec, other: Codec, depth: int = DEPTH) -> bool:
    """Tell whether no document can be of both forms; False where that is not sure."""
    if depth == 0:
        return False
    ours, theirs = _forms(one), _forms(other)
    if ours is None or theirs is None:
        return False
    return len(ours) * len(theirs) <= MAX_FORMS and all(_pair_apart(a, b, depth) for a in ours for b in theirs)


def _forms(codec: Codec) -> list[Codec] | None:
    """Return the single forms that a codec stands for; None where one is not known yet, or they are many."""
    found: list[Codec] = []
    met: set[int] = set()
    waiting = [codec]
    while waiting:
        here: Codec | None = waiting.pop()
        here = here.target if isinstance(here, Late) else here
        if here is None or len(met) > MAX_FORMS:
            return None
        if id(here) in met:
            continue
        met.add(id(here))
        if isinstance(here, Among):
            waiting.extend(here.branches)
        elif isinstance(here, Late):
            waiting.append(here)
        else:
            found.append(here)
    return found


def _wide(types: frozenset[str]) -> frozenset[str]:
    return types | {INTEGER} if NUMBER in types else types


def _pair_apart(one: Codec, other: Codec, depth: int) -> bool:
    if not _wide(one.types) & _wide(other.types):
        return True
    if isinstance(one, Plain | Text) and isinstance(other, Plain | Text):
        if one.values is None or other.values is None:
            return False
        return not {same(each) for each in one.values} & {same(each) for each in other.values}
    ours, theirs = getattr(one, "members", None), getattr(other, "members", None)
    return ours is not None and theirs is not None and _members_apart(ours(), theirs(), depth)


def _members_apart(one: Members, other: Members, depth: int) -> bool:
    if (one.closed and other.required - one.each.keys()) or (other.closed and one.required - other.each.keys()):
        return True
    for name in one.required & other.required:
        (ours, our_null), (theirs, their_null) = one.each[name], other.each[name]
        if our_null and their_null:
            continue
        if (our_null and theirs.admits(None)) or (their_null and ours.admits(None)):
            continue
        if apart(ours, theirs, depth - 1):
            return True
    return False


class Exclusive:
    """Whether two schemas of one document can hold of one value, each pair compared once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._known: dict[tuple[int, int], bool] = {}

    def __call__(self, pair: tuple[Node, Node], depth: int = DEPTH) -> bool:
        """Tell whether no value can satisfy both; False where that is not sure."""
        one, other = map(self._document.resolved, pair)
        key = (id(one), id(other))
        if depth == 0 or len(self._known) > MAX_COMPARED:
            return False
        if key not in self._known:
            self._known[key] = False  # while it is being compared, which a circle may lead back to
            self._known[key] = self._compared(one, other, depth)
        return self._known[key]

    def _compared(self, one: Node, other: Node, depth: int) -> bool:
        ours, theirs = forms_of(self._document, one), forms_of(self._document, other)
        if ours is None or theirs is None or len(ours) * len(theirs) > MAX_FORMS:
            return False
        return all(self._forms_exclusive(a, b, depth) for a in ours for b in theirs)

    def _forms_exclusive(self, one: Node, other: Node, depth: int) -> bool:
        ours, theirs = (_wide(frozenset(types_of(self._document, each))) for each in (one, other))
        if not ours & theirs:
            return True
        if isinstance(one, Values) and isinstance(other, Values):
            return not {same(each) for each in one.values} & {same(each) for each in other.values}
        return isinstance(one, Record) and isinstance(other, Record) and self._records_exclusive(one, other, depth)

    def _records_exclusive(self, one: Record, other: Record, depth: int) -> bool:
        for ours, theirs in ((one, other), (other, one)):
            needed = {name for name, each in ours.fields.items() if each.required}
            if theirs.rest is None and needed - theirs.fields.keys():
                return True
        shared = [(one.fields[name], other.fields[name]) for name in one.fields if name in other.fields]
        return any((a.required or b.required) and self((a.node, b.node), depth - 1) for a, b in shared)
