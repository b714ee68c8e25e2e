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
from emitter.schema.fit.measure import DEFINITION, ROOT
from emitter.schema.graph import Order, order_of
from emitter.schema.shape import Choice, Document, Field, Never, Node, Open, Record, Ref, Scalar, Sequence, Values
from emitter.schema.value import NULL, OBJECT, STRING
from emitter.schema.walk import types_of
from emitter.schema.write.apart import Exclusive, outline
from emitter.schema.write.arrays import write_array
from emitter.schema.write.choices import write_choice
from emitter.schema.write.forms import closed
from emitter.schema.write.leaves import write_scalar, write_values
from emitter.schema.write.ledger import Ledger, described, shown, untitled
from emitter.schema.write.objects import write_record
from emitter.schema.write.remarks import UNSAYABLE, on_wire, remarks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.profile.subset import Subset
    from emitter.schema.shape import Rule

INLINE_DEPTH = 12
"""Nor is one repeated whose JSON is nested deeper than this: engines stop reading at some depth."""

_NESTED: tuple[type[Any], ...] = (dict, list)
"""As a table, for to the checkers what isinstance finds by name is a dict of unknown things."""

_SAID = ("title", "description")

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
        self._own = self._root_name()

    def root(self) -> Written:
        """Return the whole document, its root in the form that the vendor wants."""
        for name in self._order.names:
            wire, codec = self.write(self.document.definitions[name])
            self._wires[name], self._codecs[name], self._heights[name] = wire, codec, self._height(wire)
        wire, codec = self._root()
        definitions = self._definitions()
        return Written({**wire, "$defs": definitions} if definitions else wire, codec)

    def _root_name(self) -> str | None:
        """Return the definition for which ``#`` may stand: the root's own, where that is an object and recursive."""
        root = self.document.root
        if not self.subset.root_ref or self.subset.root_names is not None or not isinstance(root, Ref):
            return None
        target = self.document.definitions[root.name]
        types = outline(self.document, root, self.subset).types
        is_object = isinstance(target, Record) and types == frozenset({OBJECT})
        return root.name if is_object and root.name in self._order.recursive else None

    def _root(self) -> Written:
        """Return the root; a definition that stands under ``$defs`` anyway is referred to and not written twice."""
        root = self.document.root
        once = isinstance(root, Ref) and root.name not in self._referred
        written = self._definition(root) if isinstance(root, Ref) and once else self.write(root)
        if self._may_be_root(written.wire):
            return written
        inner = self.write(root) if once else written
        wire = closed({VALUE: inner.wire}, (VALUE,), self.subset)
        return Written(wire, Wrapped(inner.codec))

    def _may_be_root(self, wire: dict[str, Any]) -> bool:
        """Tell whether a form may stand at the root: a plain object, for some formats and every tool take no other."""
        names = self.subset.root_names
        plain = wire.get("type") == OBJECT and "anyOf" not in wire
        return plain and (names is None or all(re.fullmatch(names, each) for each in wire.get("properties", ())))

    def _definitions(self) -> dict[str, Any]:
        """Return the definitions that are referred to, from the root or from one another."""
        return {name: untitled(self._wires[name], name) for name in self._referred}

    def write(self, node: Node, *, null_is_absent: bool = False) -> Written:
        """Return a node's form, with what is said of it and what is lost.

        ``null_is_absent`` tells that the form is going to be null where the caller's document has nothing.
        """
        if isinstance(node, Ref):
            return self._reference(node)
        wire, codec = _WRITERS[node.__class__](node, self)
        if not node.left and not node.notes:
            return Written(wire, codec)
        told = self.ledger.lose(node, node.left) if node.left else []
        return Written(self._noted(node, Written(wire, codec), told, null_is_absent=null_is_absent), codec)

    def _noted(self, node: Node, written: Written, told: list[str], *, null_is_absent: bool) -> dict[str, Any]:
        """Return the form with the title and description of ``node``, and the rules to keep in mind."""
        wire = written.wire
        kept = self._own_notes(node)
        sentences = [
            kept.pop("description", ""),
            wire.get("description", ""),
            *remarks(node, written.codec, self.ledger),
        ]
        default = on_wire(written.codec, node.notes["default"]) if "default" in node.notes else UNSAYABLE
        if default is not UNSAYABLE:
            if "default" in self.subset.keywords:
                kept["default"] = default
            elif null_is_absent:
                sentences.append(f"null means {shown(default)}.")
            elif default is not None:
                sentences.append(f"Default: {shown(default)}.")
            if default in ([], {}) and self.takes_null(node):
                sentences.append(f"Write {shown(default)} if there are none.")
        sentences += [f"Must hold: {', '.join(told)}."] if told else []
        own = {key: each for key, each in wire.items() if key != "description"}
        return described({**own, **kept}, *sentences)

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
        said = 'JSON text of any value, such as 3, [true] or "blue" (a string keeps its quotes).'
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
            own = node.name == self._own
            if not own:
                self._referred[node.name] = None
            codec = Late(self._codecs, node.name, *outline(self.document, node, self.subset))
            written = Written({"$ref": ROOT if own else f"{DEFINITION}{node.name}"}, codec)
        if node.text:  # one text stands for several places: what is lost at each is written down
            self.ledger.lose_whole(node)
        told = self.ledger.lose(node, node.left) if node.left else []
        said = [*remarks(node, written.codec, self.ledger), f"Must hold: {', '.join(told)}." if told else ""]
        return Written(self._with_notes(written.wire, self._own_notes(node), said), written.codec)

    def _with_notes(self, wire: dict[str, Any], notes: dict[str, Any], said: list[str]) -> dict[str, Any]:
        """Return ``wire`` with notes of the place that refers to it, and what else is said there.

        Most vendors take nothing beside a ``$ref``: a union of one carries the description, where unions are
        not counted.
        """
        if "$ref" not in wire or self.subset.ref_siblings:
            rest = {key: each for key, each in {**wire, **notes}.items() if key != "description"}
            return described(rest, notes.get("description", ""), wire.get("description", ""), *said)
        text = " ".join(filter(None, [notes.get("description", ""), *said]))
        return {"anyOf": [wire], "description": text} if text and self.subset.limits.unions is None else wire

    def _inlined(self, name: str, target: Node) -> bool:
        if name in self._order.recursive or name in self._referred:
            return False
        if self._heights[name] > INLINE_DEPTH:
            return False
        small = isinstance(target, Scalar) or (isinstance(target, Values) and len(target.values) <= self._listed)
        return small or self._order.uses[name] == 1 or "$ref" not in self.subset.keywords

    def _own_notes(self, node: Node) -> dict[str, Any]:
        """Return the title and description of a node, as far as the vendor takes them."""
        notes, keywords = node.notes, self.subset.keywords
        return {key: notes[key] for key in _SAID if key in keywords and isinstance(notes.get(key), str)}

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
