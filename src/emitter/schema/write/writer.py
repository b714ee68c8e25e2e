"""Writing a shape in a vendor's subset: the wire schema and its codec together.

Every form has a function that returns both, so that the two cannot drift apart.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from emitter.profile.subset import Optionals
from emitter.schema.codec import Codec, Late, Text, Wrapped
from emitter.schema.codec.choices import VALUE
from emitter.schema.compiled import Why
from emitter.schema.fit.measure import DEFINITION
from emitter.schema.graph import Order, order_of
from emitter.schema.shape import Choice, Document, Field, Never, Node, Open, Record, Ref, Scalar, Sequence, Values
from emitter.schema.value import NULL, OBJECT, STRING
from emitter.schema.walk import types_of
from emitter.schema.write.apart import Exclusive
from emitter.schema.write.arrays import write_array
from emitter.schema.write.choices import write_choice
from emitter.schema.write.forms import closed
from emitter.schema.write.leaves import write_scalar, write_values
from emitter.schema.write.ledger import Ledger, described, shown
from emitter.schema.write.objects import write_record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.profile.subset import Subset
    from emitter.schema.shape import Rule

INLINE_DEPTH = 12
"""Nor is one repeated whose JSON is nested deeper than this: engines stop reading at some depth."""

_NESTED: tuple[type[Any], ...] = (dict, list)
"""As a table, for to the checkers what isinstance finds by name is a dict of unknown things."""

INLINE_VALUES = 20
"""A definition that is a scalar, or lists no more values than this, is repeated rather than referred to."""


class Written(NamedTuple):
    """A form on the wire, and the way there and back."""

    wire: dict[str, Any]
    codec: Codec


class Writer:
    """One writing of one document for one vendor.

    ``flipped`` are the nodes of optional properties that are written the other way than the vendor's usual. A
    ``lean`` writing repeats no list of constants, however short it is.
    """

    def __init__(
        self,
        document: Document,
        subset: Subset,
        ledger: Ledger,
        flipped: frozenset[int] = frozenset(),
        *,
        lean: bool = False,
    ) -> None:
        self.document = document
        self.subset = subset
        self.ledger = ledger
        self._flipped = flipped
        self._listed = 0 if lean else INLINE_VALUES
        self.nullable_optionals = subset.optionals is Optionals.NULLABLE
        self.exclusive = Exclusive(document)
        self._order: Order = order_of(document)
        self._codecs: dict[str, Codec] = {}
        self._wires: dict[str, dict[str, Any]] = {}
        self._heights: dict[str, int] = {}
        self._known_heights: dict[int, int] = {}
        self._referred: dict[str, None] = {}

    def root(self) -> Written:
        """Return the whole document, its root in the form that the vendor wants."""
        for name in self._order.names:
            wire, codec = self.write(self.document.definitions[name])
            self._wires[name], self._codecs[name], self._heights[name] = wire, codec, self._height(wire)
        wire, codec = self._root()
        definitions = self._definitions()
        return Written({**wire, "$defs": definitions} if definitions else wire, codec)

    def _root(self) -> Written:
        root = self.document.root
        written = self._definition(root) if isinstance(root, Ref) else self.write(root)
        if self._may_be_root(written.wire):
            return written
        inner = self.write(root) if isinstance(root, Ref) else written
        wire = closed({VALUE: inner.wire}, (VALUE,), self.subset)
        return Written(wire, Wrapped(inner.codec))

    def _may_be_root(self, wire: dict[str, Any]) -> bool:
        """Tell whether a form may stand at the root: a plain object, for some formats and every tool take no other."""
        names = self.subset.root_names
        plain = wire.get("type") == OBJECT and "anyOf" not in wire
        return plain and (names is None or all(re.fullmatch(names, each) for each in wire.get("properties", ())))

    def _definitions(self) -> dict[str, Any]:
        """Return the definitions that are referred to, from the root or from one another."""
        return {name: self._wires[name] for name in self._referred}

    def write(self, node: Node) -> Written:
        """Return a node's form, with what is said of it and what is lost."""
        if isinstance(node, Ref):
            return self._reference(node)
        wire, codec = _WRITERS[node.__class__](node, self)
        if not node.left and not node.notes:
            return Written(wire, codec)
        told = self.ledger.lose(node, node.left) if node.left else []
        return Written(self.noted(node, wire, told), codec)

    def noted(self, node: Node, wire: dict[str, Any], told: list[str]) -> dict[str, Any]:
        """Return ``wire`` with the title and description of ``node``, and the rules to keep in mind."""
        keywords = self.subset.keywords
        if not told and "default" not in node.notes and "description" not in wire:
            return {**wire, **{key: each for key, each in node.notes.items() if key in keywords}}
        notes = {key: each for key, each in node.notes.items() if key in keywords and isinstance(each, str)}
        if "default" in node.notes and "default" in keywords:
            notes["default"] = node.notes["default"]
        if not notes and not told and "default" not in node.notes:
            return wire
        sentences = [notes.pop("description", ""), wire.get("description", "")]
        if "default" in node.notes and "default" not in notes:
            sentences.append(f"Default: {shown(node.notes['default'])}.")
        sentences += [f"Must hold: {', '.join(told)}."] if told else []
        own = {key: each for key, each in wire.items() if key != "description"}
        return described({**own, **notes}, *sentences)

    def noted_losses(
        self, node: Node, wire: dict[str, Any], lost: Iterable[Rule], why: Why = Why.UNSUPPORTED
    ) -> dict[str, Any]:
        """Write down rules of ``node`` that are not enforced, and tell them in its description."""
        told = self.ledger.lose(node, lost, why)
        return described(wire, f"Must hold: {', '.join(told)}.") if told else wire

    def nullable(self, field: Field) -> bool:
        """Tell whether a property that may be absent is null on the wire instead."""
        return not field.required and (self.nullable_optionals != (id(field.node) in self._flipped))

    def open_value(self, node: Node) -> Written:
        """Carry a value as JSON text."""
        types = node.types if isinstance(node, Open) else ()
        said = "JSON text of any value."
        if isinstance(node, Open) and node.whole:
            self.ledger.lose_whole(node, degraded=node.degraded)
            said = f"JSON text of a value that must be valid against {self.ledger.appendix.whole(node.parts)}"
        elif len(types) < len(Open("").types):
            said = f"JSON text of a value of type {' or '.join(types)}."
        for rule in node.rules:
            self.ledger.note(rule, Why.OPEN)
        return Written({"type": STRING, "description": said}, Text(types))

    def _definition(self, node: Ref) -> Written:
        return Written(self._wires[node.name], self._codecs[node.name])

    def _reference(self, node: Ref) -> Written:
        if node.name in self._wires and self._inlined(node.name, self.document.definitions[node.name]):
            written = self._definition(node)
        else:
            self._referred[node.name] = None
            written = Written({"$ref": f"{DEFINITION}{node.name}"}, Late(self._codecs, node.name))
        told = self.ledger.lose(node, node.left) if node.left else []
        return Written(self._beside(written.wire, self._own_notes(node), told), written.codec)

    def _beside(self, wire: dict[str, Any], notes: dict[str, Any], told: list[str]) -> dict[str, Any]:
        """Return ``wire`` with notes of the place that refers to it, and the rules to keep in mind there.

        Most vendors take nothing beside a ``$ref``: a union of one carries the description, where unions are
        not counted.
        """
        said = [notes.get("description", ""), *([f"Must hold: {', '.join(told)}."] if told else [])]
        if "$ref" not in wire or self.subset.ref_siblings:
            rest = {key: each for key, each in {**wire, **notes}.items() if key != "description"}
            return described(rest, *said, wire.get("description", ""))
        text = " ".join(filter(None, said))
        return {"anyOf": [wire], "description": text} if text and self.subset.limits.unions is None else wire

    def _inlined(self, name: str, target: Node) -> bool:
        if name in self._order.recursive or name in self._referred:
            return False
        if self._heights[name] > INLINE_DEPTH:
            return False
        small = isinstance(target, Scalar) or (isinstance(target, Values) and len(target.values) <= self._listed)
        return small or self._order.uses[name] == 1 or "$ref" not in self.subset.keywords

    def _own_notes(self, node: Node) -> dict[str, Any]:
        return {key: each for key, each in node.notes.items() if key in self.subset.keywords and key != "default"}

    def takes_null(self, node: Node) -> bool:
        """Tell whether null is a value of ``node``."""
        if isinstance(node, Scalar):
            return NULL in node.types
        return NULL in types_of(self.document, node)

    def _height(self, value: Any) -> int:
        """Return how deep the JSON of a form is nested; parts of it may be shared between forms."""
        if not isinstance(value, _NESTED):
            return 1
        known = self._known_heights.get(id(value))
        if known is None:
            inside: Iterable[Any] = value.values() if value.__class__ is dict else value
            known = 1 + max(map(self._height, inside), default=0)
            self._known_heights[id(value)] = known
        return known


def _write_open(node: Node, writer: Writer) -> Written:
    return writer.open_value(node)


_WRITERS: dict[type[Node], Any] = {
    Scalar: write_scalar,
    Record: write_record,
    Sequence: write_array,
    Values: write_values,
    Choice: write_choice,
    Open: _write_open,
    Never: _write_open,
}
