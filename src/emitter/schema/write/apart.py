"""Whether two forms can be told apart on the wire, and whether two schemas can hold of one value."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from emitter.schema.codec import Among, Late, Plain, Text
from emitter.schema.codec.base import Members, members_of
from emitter.schema.shape import Document, Node, Record, Scalar, Sequence, Values
from emitter.schema.value import ARRAY, INTEGER, NUMBER, OBJECT, STRING, same, type_of
from emitter.schema.walk import MAX_FORMS, forms_of, types_of

if TYPE_CHECKING:
    from emitter.profile.subset import Subset
    from emitter.schema.codec.base import Codec

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
    """Return the single forms that a codec stands for; None where they are many, or nothing is known of one.

    A definition that is still being written stands for itself: its shape settles its types and its tag.
    """
    found: list[Codec] = []
    met: set[int] = set()
    waiting = [codec]
    while waiting:
        here = waiting.pop()
        if id(here) in met:
            continue
        met.add(id(here))
        if len(met) > MAX_FORMS:
            return None
        if isinstance(here, Among):
            waiting.extend(here.branches)
        elif isinstance(here, Late) and here.target is not None:
            waiting.append(here.target)
        elif not here.types:
            return None
        else:
            found.append(here)
    return found


class Outline(NamedTuple):
    """What the shape of a definition settles of its form before it is written."""

    types: frozenset[str] = frozenset()
    members: Members | None = None


def outline(document: Document, node: Node, subset: Subset) -> Outline:
    """Return every JSON type that the form of ``node`` may have on the wire, and the members that name an object."""
    forms = forms_of(document, node)
    if forms is None:
        return Outline()
    if len(forms) > 1:  # a union, which may be tagged
        return Outline(frozenset({OBJECT}).union(*(_wire_types(each, subset) for each in forms)))
    return Outline(_wire_types(forms[0], subset), _naming(forms[0]))


def _wire_types(form: Node, subset: Subset) -> frozenset[str]:
    match form:
        case Record():
            entries = form.rest is not None and not form.fields and not form.spilled and subset.closed_objects
            return frozenset({ARRAY if entries else OBJECT})
        case Sequence():
            return frozenset({ARRAY, OBJECT} if form.prefix else {ARRAY})
        case Scalar():
            return frozenset(form.types)
        case Values():
            return frozenset({STRING, *map(type_of, form.values)})
        case _:
            return frozenset({STRING})


def _naming(form: Node) -> Members | None:
    """Return the members of an object that must be there and are one of some texts."""
    if not isinstance(form, Record) or not form.fields:
        return None
    listed = {
        name: field.node.values
        for name, field in form.fields.items()
        if field.required and isinstance(field.node, Values) and not field.node.dropped
    }
    texts = {name: values for name, values in listed.items() if all(isinstance(each, str) for each in values)}
    each = {name: (Plain((STRING,), {"enum": values}), False) for name, values in texts.items()}
    return Members(each, frozenset(each), closed=False)


def _wide(types: frozenset[str]) -> frozenset[str]:
    return types | {INTEGER} if NUMBER in types else types


def _pair_apart(one: Codec, other: Codec, depth: int) -> bool:
    if not _wide(one.types) & _wide(other.types):
        return True
    if isinstance(one, Plain | Text) and isinstance(other, Plain | Text):
        if one.values is None or other.values is None:
            return False
        return not {same(each) for each in one.values} & {same(each) for each in other.values}
    ours, theirs = members_of(one), members_of(other)
    return ours is not None and theirs is not None and _members_apart(ours, theirs, depth)


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
