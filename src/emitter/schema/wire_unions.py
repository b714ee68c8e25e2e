"""Write unions in a provider's subset.

If no document can match two branches on the wire, the union becomes a plain ``anyOf``. Otherwise the branches get a
tag, which decoding removes, because a decoder could not know which branch the model meant.
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from emitter.schema.codecs import (
    VALUE_MEMBER,
    VARIANT_MEMBER,
    Codec,
    JsonTextCodec,
    LazyCodec,
    ScalarCodec,
    TaggedUnionCodec,
    UnionCodec,
    WireMembers,
    get_members,
)
from emitter.schema.json_data import ARRAY, INTEGER, NUMBER, OBJECT, STRING, canonical_key, type_of
from emitter.schema.losses import add_conditions
from emitter.schema.nodes import (
    MAX_UNION_MEMBERS,
    AnyNode,
    ArrayNode,
    EnumNode,
    NeverNode,
    Node,
    ObjectNode,
    RefNode,
    ScalarNode,
    SchemaDocument,
    UnionNode,
    flatten_union,
    node_types,
)
from emitter.schema.wire_types import closed_object

if TYPE_CHECKING:
    from emitter.profiles.tables import SchemaSubset
    from emitter.schema.writer import SchemaWriter

MAX_PAIRS = 5_000
"""Unions with more pairs of branches are tagged without comparing them."""
_TAG_BY_NODE: dict[type[Node], str] = {
    AnyNode: "open",
    NeverNode: "never",
    ScalarNode: "scalar",
    EnumNode: "values",
    ObjectNode: "record",
    ArrayNode: "sequence",
    UnionNode: "choice",
    RefNode: "ref",
}
"""The tags of branches without a title."""
_INVALID_NAME_CHARACTERS = re.compile(r"[^A-Za-z0-9_-]+")


def write_union(node: UnionNode, writer: SchemaWriter) -> tuple[dict[str, Any], Codec]:
    """Write a union, with tags if its branches could be confused."""
    forms = [writer.write(branch) for branch in node.branches]
    codecs = tuple(codec for _, codec in forms)
    conditions = _record_overlap(node, writer)
    branches: list[Any] = [branch for form, _ in forms for branch in _nested_branches(form)]
    needs_tags = writer.subset.discriminated and _lack_discriminators(codecs)
    if _are_distinguishable(codecs) and not needs_tags:
        if writer.subset.discriminated:
            from emitter.schema.tier1 import branches_without_discriminator  # noqa: PLC0415  only for OpenWOP's subset

            # Only one branch is an object, but linters do not follow references and count those as objects too.
            for index in branches_without_discriminator(branches):
                branches[index] = writer.define(branches[index])
        return add_conditions({"anyOf": branches}, conditions), UnionCodec(codecs)
    names = _branch_names(node.branches, writer)
    tagged = [_tagged_branch(name, form, writer) for name, (form, _) in zip(names, forms, strict=True)]
    return add_conditions({"anyOf": tagged}, conditions), TaggedUnionCodec(dict(zip(names, codecs, strict=True)))


def _nested_branches(form: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the branches of a nested union without notes, or the form itself."""
    return form["anyOf"] if form.keys() == {"anyOf"} else [form]


def _record_overlap(node: UnionNode, writer: SchemaWriter) -> list[str]:
    """Record a ``oneOf`` whose branches may overlap, and return the condition to describe."""
    if not node.is_exclusive or node.origin is None:
        return []
    pairs = list(combinations(node.branches, 2))
    if len(pairs) <= MAX_PAIRS and all(map(writer.are_exclusive, pairs)):
        return []
    writer.loss_log.record_rule(node, node.origin)
    return ["exactly one of these forms fits"]


def _are_distinguishable(codecs: tuple[Codec, ...]) -> bool:
    pairs = list(combinations(codecs, 2))
    return len(pairs) <= MAX_PAIRS and all(
        (one.same_on_wire and other.same_on_wire) or are_disjoint(one, other) for one, other in pairs
    )


def _lack_discriminators(codecs: tuple[Codec, ...]) -> bool:
    """Return whether several branches are objects, and at least one of them has no discriminator."""
    objects = [codec for codec in codecs if OBJECT in codec.types or not codec.types]
    return len(objects) > 1 and not all(_has_discriminator(codec) for codec in objects)


def _has_discriminator(codec: Codec) -> bool:
    members = get_members(codec)
    if members is None:
        return False
    required = (members.codecs[name] for name in members.required)
    values = [codec.values for codec, nullable in required if isinstance(codec, ScalarCodec) and not nullable]
    return any(each is not None and len(each) == 1 and isinstance(each[0], str) for each in values)


def _branch_names(branches: tuple[Node, ...], writer: SchemaWriter) -> list[str]:
    """Return a tag for each branch: its title, the name of its definition, or its type."""
    names: list[str] = []
    for index, branch in enumerate(branches):
        title = str(
            branch.notes.get("title")
            or (branch.name if isinstance(branch, RefNode) else _TAG_BY_NODE[type(writer.document.resolve(branch))])
        )
        name = _INVALID_NAME_CHARACTERS.sub("_", title)[:40].strip("_") or "form"
        while name in names:
            name = f"{name}_{index}"
        names.append(name)
    return names


def _tagged_branch(name: str, form: dict[str, Any], writer: SchemaWriter) -> dict[str, Any]:
    return closed_object(
        {VARIANT_MEMBER: {"type": STRING, "enum": [name]}, VALUE_MEMBER: form},
        (VARIANT_MEMBER, VALUE_MEMBER),
        writer.subset,
    )


MAX_COMPARE_DEPTH = 4
"""The maximum depth of the comparison of two objects."""
MAX_COMPARED_PAIRS = 20_000
"""Further pairs are assumed to overlap."""


def are_disjoint(one: Codec, other: Codec, depth: int = MAX_COMPARE_DEPTH) -> bool:
    """Return whether no document can have both forms; False if that is not certain."""
    if depth == 0:
        return False
    one_members, other_members = _flatten_codec(one), _flatten_codec(other)
    if one_members is None or other_members is None:
        return False
    return len(one_members) * len(other_members) <= MAX_UNION_MEMBERS and all(
        _pair_is_disjoint(a, b, depth) for a in one_members for b in other_members
    )


def _flatten_codec(codec: Codec) -> list[Codec] | None:
    """Return the codecs of all members, or None if they are too many or untyped.

    A definition that is not written yet counts as one member.
    """
    codecs: list[Codec] = []
    visited: set[int] = set()
    pending = [codec]
    while pending:
        current = pending.pop()
        if id(current) in visited:
            continue
        visited.add(id(current))
        if len(visited) > MAX_UNION_MEMBERS:
            return None
        if isinstance(current, UnionCodec):
            pending.extend(current.branches)
        elif isinstance(current, LazyCodec) and current.target is not None:
            pending.append(current.target)
        elif not current.types:
            return None
        else:
            codecs.append(current)
    return codecs


class WireOutline(NamedTuple):
    """The types and members of a definition that are known before it is written."""

    types: frozenset[str] = frozenset()
    members: WireMembers | None = None


def outline_node(document: SchemaDocument, node: Node, subset: SchemaSubset) -> WireOutline:
    """Return all JSON types that the wire form of ``node`` may have, and its discriminating members."""
    members = flatten_union(document, node)
    if members is None:
        return WireOutline()
    if len(members) > 1:  # the union may be tagged
        return WireOutline(frozenset({OBJECT}).union(*(_wire_types(member, subset) for member in members)))
    return WireOutline(_wire_types(members[0], subset), _discriminating_members(members[0]))


def _wire_types(form: Node, subset: SchemaSubset) -> frozenset[str]:
    match form:
        case ObjectNode():
            is_entry_list = form.unnamed is not None and not form.fields and not form.overflow and subset.closed_objects
            return frozenset({ARRAY if is_entry_list else OBJECT})
        case ArrayNode():
            return frozenset({ARRAY, OBJECT} if form.prefix else {ARRAY})
        case ScalarNode():
            return frozenset(form.types)
        case EnumNode():
            return frozenset({STRING, *map(type_of, form.values)})
        case _:
            return frozenset({STRING})


def _discriminating_members(form: Node) -> WireMembers | None:
    """Return the required members of an object that are string enums."""
    if not isinstance(form, ObjectNode) or not form.fields:
        return None
    enums = {
        name: field.node.values
        for name, field in form.fields.items()
        if field.required and isinstance(field.node, EnumNode) and not field.node.is_dropped
    }
    string_enums = {name: values for name, values in enums.items() if all(isinstance(text, str) for text in values)}
    members = {name: (ScalarCodec((STRING,), {"enum": values}), False) for name, values in string_enums.items()}
    return WireMembers(members, frozenset(members), is_closed=False)


def _with_integers(types: frozenset[str]) -> frozenset[str]:
    return types | {INTEGER} if NUMBER in types else types


def _pair_is_disjoint(one: Codec, other: Codec, depth: int) -> bool:
    if not _with_integers(one.types) & _with_integers(other.types):
        return True
    if isinstance(one, ScalarCodec | JsonTextCodec) and isinstance(other, ScalarCodec | JsonTextCodec):
        if one.values is None or other.values is None:
            return False
        return not {canonical_key(value) for value in one.values} & {canonical_key(value) for value in other.values}
    one_members, other_members = get_members(one), get_members(other)
    if one_members is None or other_members is None:
        return False
    return _members_are_disjoint(one_members, other_members, depth)


def _members_are_disjoint(one: WireMembers, other: WireMembers, depth: int) -> bool:
    if (one.is_closed and other.required - one.codecs.keys()) or (
        other.is_closed and one.required - other.codecs.keys()
    ):
        return True
    for name in one.required & other.required:
        (one_codec, one_nullable), (other_codec, other_nullable) = one.codecs[name], other.codecs[name]
        if one_nullable and other_nullable:
            continue
        if (one_nullable and other_codec.admits(None)) or (other_nullable and one_codec.admits(None)):
            continue
        if are_disjoint(one_codec, other_codec, depth - 1):
            return True
    return False


class ExclusivityChecker:
    """Compares schemas of one document. Each pair is compared once."""

    def __init__(self, document: SchemaDocument) -> None:
        self._document = document
        self._known: dict[tuple[int, int], bool] = {}

    def __call__(self, pair: tuple[Node, Node], depth: int = MAX_COMPARE_DEPTH) -> bool:
        """Return whether no value can satisfy both nodes; False if that is not certain."""
        one, other = map(self._document.resolve, pair)
        key = (id(one), id(other))
        if depth == 0 or len(self._known) > MAX_COMPARED_PAIRS:
            return False
        if key not in self._known:
            self._known[key] = False  # for cycles
            self._known[key] = self._compare(one, other, depth)
        return self._known[key]

    def _compare(self, one: Node, other: Node, depth: int) -> bool:
        one_members, other_members = flatten_union(self._document, one), flatten_union(self._document, other)
        if one_members is None or other_members is None or len(one_members) * len(other_members) > MAX_UNION_MEMBERS:
            return False
        return all(self._single_nodes_exclusive(a, b, depth) for a in one_members for b in other_members)

    def _single_nodes_exclusive(self, one: Node, other: Node, depth: int) -> bool:
        one_types, other_types = (_with_integers(frozenset(node_types(self._document, node))) for node in (one, other))
        if not one_types & other_types:
            return True
        if isinstance(one, EnumNode) and isinstance(other, EnumNode):
            return not {canonical_key(value) for value in one.values} & {canonical_key(value) for value in other.values}
        return (
            isinstance(one, ObjectNode) and isinstance(other, ObjectNode) and self._objects_exclusive(one, other, depth)
        )

    def _objects_exclusive(self, one: ObjectNode, other: ObjectNode, depth: int) -> bool:
        for node, closed in ((one, other), (other, one)):
            required = {name for name, field in node.fields.items() if field.required}
            if closed.unnamed is None and required - closed.fields.keys():
                return True
        shared = [(one.fields[name], other.fields[name]) for name in one.fields if name in other.fields]
        return any((a.required or b.required) and self((a.node, b.node), depth - 1) for a, b in shared)
