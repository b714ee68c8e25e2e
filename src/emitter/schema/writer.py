"""Write schema nodes in a provider's subset.

``SchemaWriter`` returns the wire schema of a node together with its codec, so that the two always match. Titles,
formats, examples and rules that the provider does not enforce are added to descriptions.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from emitter.errors import Unencodable
from emitter.messages import as_list
from emitter.profiles.tables import OptionalProperties
from emitter.schema.codecs import VALUE_MEMBER, Codec, JsonTextCodec, LazyCodec, WrappedCodec
from emitter.schema.formats import describe_format
from emitter.schema.json_data import NULL, OBJECT, STRING, canonical_key, child_pointer, definition_name, truncate_json
from emitter.schema.losses import (
    LossLog,
    add_conditions,
    add_description,
    conditions_sentence,
    without_redundant_title,
)
from emitter.schema.nodes import (
    AnyNode,
    ArrayNode,
    DefinitionOrder,
    EnumNode,
    NeverNode,
    Node,
    NoteKey,
    ObjectNode,
    ObjectProperty,
    RefNode,
    ScalarNode,
    SchemaDocument,
    UnionNode,
    definition_order,
    node_types,
)
from emitter.schema.python_types import is_name_informative
from emitter.schema.references import SchemaPart
from emitter.schema.results import LossReason
from emitter.schema.size_limits import DEFINITION_PREFIX, ROOT_POINTER
from emitter.schema.wire_types import closed_object, write_array, write_enum, write_object, write_scalar
from emitter.schema.wire_unions import ExclusivityChecker, outline_node, write_union

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emitter.profiles.tables import SchemaSubset
    from emitter.schema.nodes import Rule

MAX_INLINE_DEPTH = 12
"""Deeper definitions are not inlined, because decoding engines limit the depth of JSON."""
_CONTAINERS: tuple[type[Any], ...] = (dict, list)
"""A tuple, because type checkers narrow a plain ``dict`` to unknown types."""
_ANY_JSON_TEXT = 'JSON text of any value, such as 3, [true] or "blue" (a string keeps its quotes).'
_NOTE_KEYWORDS = ("title", "description")
_REFERENCE_NOTES = (*_NOTE_KEYWORDS, "examples")
MAX_INLINE_VALUES = 20
"""Scalar definitions, and enums up to this length, are inlined."""


class WireSchema(NamedTuple):
    """A wire schema and its codec."""

    wire: dict[str, Any]
    codec: Codec


class SchemaWriter:
    """Writes one document for one provider.

    ``flipped`` are the ids of the nodes of optional properties that are written in the other way than the provider
    prefers: as nullable instead of omitted, or the reverse. With ``compact``, enums are never inlined.
    """

    def __init__(
        self,
        document: SchemaDocument,
        subset: SchemaSubset,
        loss_log: LossLog,
        flipped: frozenset[int] = frozenset(),
        *,
        compact: bool = False,
    ) -> None:
        self.document = document
        self.subset = subset
        self.loss_log = loss_log
        self._flipped_nodes = flipped
        self._max_inline_values = 0 if compact else MAX_INLINE_VALUES
        self.nullable_optionals = subset.optionals is OptionalProperties.NULLABLE
        self.are_exclusive = ExclusivityChecker(document)
        self._order: DefinitionOrder = definition_order(document)
        self._codecs: dict[str, Codec] = {}
        self._wires: dict[str, dict[str, Any]] = {}
        self._heights: dict[str, int] = {}
        self._known_heights: dict[int, int] = {}
        self._referenced_names: dict[str, None] = {}
        self._root_definition = self._find_root_definition()

    def write_root(self) -> WireSchema:
        """Write the whole document."""
        # A definition is written after the definitions that it refers to, so that they can be inlined. Only a reference
        # in a cycle meets a definition that is not written yet.
        for name in self._order.names:
            wire, codec = self.write(self.document.definitions[name])
            self._wires[name], self._codecs[name], self._heights[name] = wire, codec, self._json_depth(wire)
        wire, codec = self._write_root_node()
        definitions = self._definitions()
        return WireSchema({**wire, "$defs": definitions} if definitions else wire, codec)

    def _find_root_definition(self) -> str | None:
        """Return the definition of a recursive root object, which ``#`` can refer to."""
        root = self.document.root
        if not self.subset.root_ref or self.subset.root_names is not None or not isinstance(root, RefNode):
            return None
        target = self.document.definitions[root.name]
        types = outline_node(self.document, root, self.subset).types
        is_object = isinstance(target, ObjectNode) and types == frozenset({OBJECT})
        return root.name if is_object and root.name in self._order.recursive else None

    def _write_root_node(self) -> WireSchema:
        """Write the root. A definition that is needed under ``$defs`` anyway is referred to."""
        root = self.document.root
        is_unshared = isinstance(root, RefNode) and root.name not in self._referenced_names
        written = self._get_definition(root) if isinstance(root, RefNode) and is_unshared else self.write(root)
        if self._is_valid_root(written.wire):
            return written
        inner = self.write(root) if is_unshared else written
        wire = closed_object({VALUE_MEMBER: inner.wire}, (VALUE_MEMBER,), self.subset)
        return WireSchema(wire, WrappedCodec(inner.codec))

    def _is_valid_root(self, wire: dict[str, Any]) -> bool:
        """Return whether the schema is a plain object, the only root that all formats and tools accept."""
        names = self.subset.root_names
        is_object = wire.get("type") == OBJECT and "anyOf" not in wire
        return is_object and (names is None or all(re.fullmatch(names, name) for name in wire.get("properties", ())))

    def _definitions(self) -> dict[str, Any]:
        """Return the definitions that are referred to."""
        return {name: without_redundant_title(self._wires[name], name) for name in self._referenced_names}

    def write(self, node: Node, *, null_is_absent: bool = False) -> WireSchema:
        """Write a node with its notes, and record its losses. With ``null_is_absent``, null will mean absent."""
        if isinstance(node, RefNode):
            return self._write_reference(node)
        wire, codec = _WRITERS_BY_NODE[node.__class__](node, self)
        if not node.unenforced and not node.notes:
            return WireSchema(wire, codec)
        lost_rules = self.loss_log.record(node, node.unenforced) if node.unenforced else []
        return WireSchema(
            self._describe_node(node, WireSchema(wire, codec), lost_rules, null_is_absent=null_is_absent), codec
        )

    def _describe_node(
        self, node: Node, written: WireSchema, lost_rules: list[str], *, null_is_absent: bool
    ) -> dict[str, Any]:
        """Return the wire schema with the title, description and unenforced rules of ``node``."""
        wire = written.wire
        notes = self._supported_notes(node.notes)
        sentences = [
            notes.pop("description", ""),
            wire.get("description", ""),
            *describe_notes(node, node.notes, written.codec, self.loss_log),
        ]
        default = encode_note_value(written.codec, node.notes["default"]) if "default" in node.notes else UNENCODABLE
        if default is not UNENCODABLE:
            if "default" in self.subset.keywords:
                notes["default"] = default
            elif null_is_absent:
                sentences.append(f"null means {truncate_json(default)}.")
            elif default is not None:
                sentences.append(f"Default: {truncate_json(default)}.")
            if default in ([], {}) and self.takes_null(node):
                sentences.append(f"Write {truncate_json(default)} if there are none.")
        sentences.append(conditions_sentence(lost_rules))
        rest = {key: each for key, each in wire.items() if key != "description"}
        return add_description({**rest, **notes}, *sentences)

    def record_losses(self, node: Node, wire: dict[str, Any], rules: Iterable[Rule]) -> dict[str, Any]:
        """Record rules of ``node`` that are not enforced, and add them to the description."""
        return add_conditions(wire, self.loss_log.record(node, rules))

    def is_nullable(self, field: ObjectProperty) -> bool:
        """Return whether an absent property is null on the wire."""
        return not field.required and (self.nullable_optionals != (id(field.node) in self._flipped_nodes))

    def write_json_text(self, node: Node) -> WireSchema:
        """Write a value as JSON text."""
        types = node.types if isinstance(node, AnyNode) else ()
        description = _ANY_JSON_TEXT
        if isinstance(node, AnyNode) and node.is_constrained:
            self.loss_log.record_json_text(node, degraded=node.is_degraded)
            quote = self.loss_log.appendix.quote_schema(node.parts, self._supported_notes(node.notes))
            description = f"JSON text of a value that must be valid against {quote}"
        elif len(types) < len(AnyNode("").types):
            description = f"JSON text of a value of type {' or '.join(types)}."
        for rule in node.rules:
            self.loss_log.add(rule, LossReason.OPEN)
        return WireSchema({"type": STRING, "description": description}, JsonTextCodec(types))

    def define(self, wire: dict[str, Any]) -> dict[str, Any]:
        """Add a definition and return a reference to it."""
        name = definition_name(str(wire.get("title", "object")))
        while name in self.document.definitions or self._wires.get(name, wire) != wire:
            name += "_"
        self._wires[name] = wire
        self._referenced_names[name] = None
        return {"$ref": f"{DEFINITION_PREFIX}{name}"}

    def _get_definition(self, node: RefNode) -> WireSchema:
        return WireSchema(self._wires[node.name], self._codecs[node.name])

    def _write_reference(self, node: RefNode) -> WireSchema:
        if node.name in self._wires and self._should_inline(node.name, self.document.definitions[node.name]):
            written = self._get_definition(node)
        else:
            is_root = node.name == self._root_definition
            if not is_root:
                self._referenced_names[node.name] = None
            codec = LazyCodec(self._codecs, node.name, *outline_node(self.document, node, self.subset))
            written = WireSchema({"$ref": ROOT_POINTER if is_root else f"{DEFINITION_PREFIX}{node.name}"}, codec)
        if node.text_parts:  # record the losses of each place that shares the text
            self.loss_log.record_json_text(node)
        lost_rules = self.loss_log.record(node, node.unenforced) if node.unenforced else []
        notes = self._reference_notes(node)
        sentences = [
            *describe_notes(node, notes, written.codec, self.loss_log),
            conditions_sentence(lost_rules),
        ]
        return WireSchema(
            self._describe_reference(written.wire, self._supported_notes(notes), sentences), written.codec
        )

    def _reference_notes(self, node: RefNode) -> dict[str, Any]:
        """Return the notes of a reference that its definition does not repeat."""
        defined = self.document.definitions[node.name].notes
        repeated = {key for key in _REFERENCE_NOTES if key in defined and defined[key] == node.notes.get(key)}
        return {key: value for key, value in node.notes.items() if key not in repeated}

    def _describe_reference(self, wire: dict[str, Any], notes: dict[str, Any], sentences: list[str]) -> dict[str, Any]:
        """Return ``wire`` with the notes of the reference.

        Most providers accept nothing beside a ``$ref``. An ``anyOf`` of one branch carries the description, unless the
        provider limits the number of unions.
        """
        if "$ref" not in wire or self.subset.ref_siblings:
            rest = {key: each for key, each in {**wire, **notes}.items() if key != "description"}
            return add_description(rest, notes.get("description", ""), wire.get("description", ""), *sentences)
        text = " ".join(filter(None, [notes.get("description", ""), *sentences]))
        return {"anyOf": [wire], "description": text} if text and self.subset.limits.unions is None else wire

    def _should_inline(self, name: str, target: Node) -> bool:
        if name in self._order.recursive or name in self._referenced_names:
            return False
        if self._heights[name] > MAX_INLINE_DEPTH:
            return False
        is_small = isinstance(target, ScalarNode) or (
            isinstance(target, EnumNode) and len(target.values) <= self._max_inline_values
        )
        return is_small or self._order.uses[name] == 1 or "$ref" not in self.subset.keywords

    def _supported_notes(self, notes: dict[str, Any]) -> dict[str, Any]:
        """Return the title and description, if the provider accepts them."""
        keywords = self.subset.keywords
        return {key: notes[key] for key in _NOTE_KEYWORDS if key in keywords and isinstance(notes.get(key), str)}

    def takes_null(self, node: Node) -> bool:
        """Return whether null is a value of ``node``."""
        if isinstance(node, ScalarNode):
            return NULL in node.types
        return NULL in node_types(self.document, node)

    def _json_depth(self, value: Any) -> int:
        """Return the depth of JSON, which may share parts."""
        if not isinstance(value, _CONTAINERS):
            return 1
        depth = self._known_heights.get(id(value))
        if depth is None:
            children: Iterable[Any] = value.values() if value.__class__ is dict else value
            depth = 1 + max(map(self._json_depth, children), default=0)
            self._known_heights[id(value)] = depth
        return depth


def _write_open(node: Node, writer: SchemaWriter) -> WireSchema:
    return writer.write_json_text(node)


_WRITERS_BY_NODE: dict[type[Node], Any] = {
    ScalarNode: write_scalar,
    ObjectNode: write_object,
    ArrayNode: write_array,
    EnumNode: write_enum,
    UnionNode: write_union,
    AnyNode: _write_open,
    NeverNode: _write_open,
}
MAX_EXAMPLES = 3
"""The maximum number of examples of one value."""
MAX_EXAMPLE_LENGTH = 200
"""Longer examples are omitted."""
UNENCODABLE: Any = object()
"""Marks a value without a wire form."""


def describe_notes(node: Node, notes: dict[str, Any], codec: Codec, loss_log: LossLog) -> Iterator[str]:
    """Yield the sentences that notes add to a description."""
    if NoteKey.NAMES in notes:
        yield _describe_value_names(node, notes[NoteKey.NAMES])
    if NoteKey.FORMAT in notes:
        yield describe_format(notes[NoteKey.FORMAT])
    if NoteKey.CONTENT in notes:
        yield from _describe_content(notes[NoteKey.CONTENT], loss_log)
    if "examples" in notes:
        yield _describe_examples(as_list(notes["examples"]), codec)


def encode_note_value(codec: Codec, value: Any) -> Any:
    """Return the wire form of a default or example, or ``UNENCODABLE``."""
    try:
        return codec.encode(value, "")
    except Unencodable:
        return value if codec.same_on_wire else UNENCODABLE
    except KeyError:  # a definition that is not written yet
        return UNENCODABLE


def _describe_value_names(node: Node, names: dict[str, Any]) -> str:
    values = node.values if isinstance(node, EnumNode) else []
    pairs = [(value, names.get(canonical_key(value))) for value in values]
    descriptions = [
        f"{json.dumps(value, ensure_ascii=False)} = {name}"
        for value, name in pairs
        if isinstance(name, str) and is_name_informative(name, value)
    ]
    return f"{', '.join(descriptions)}." if descriptions else ""


def _describe_content(part: SchemaPart, loss_log: LossLog) -> Iterator[str]:
    schema: dict[str, Any] = part.schema
    media = schema.get("contentMediaType")
    content_schema = schema.get("contentSchema")
    if isinstance(content_schema, dict) and content_schema:
        content = SchemaPart(content_schema, child_pointer(part.pointer, "contentSchema"), part.resolver)
        yield f"JSON text of a value that must be valid against {loss_log.appendix.quote_schema((content,))}"
    elif media == "application/json":
        yield _ANY_JSON_TEXT
    elif isinstance(media, str):
        yield f"A text of type {media}."
    if isinstance(schema.get("contentEncoding"), str):
        yield f"Encoded in {schema['contentEncoding']}."


def _describe_examples(values: list[Any], codec: Codec) -> str:
    encoded = [encode_note_value(codec, value) for value in values[:MAX_EXAMPLES]]
    texts = [json.dumps(each, ensure_ascii=False) for each in encoded if each is not UNENCODABLE]
    short_texts = [text for text in texts if len(text) <= MAX_EXAMPLE_LENGTH]
    return f"For example: {', '.join(short_texts)}." if short_texts else ""
