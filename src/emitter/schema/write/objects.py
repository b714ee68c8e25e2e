"""Writing objects: named properties, and what is not named."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from emitter.schema.codec import Beside, Codec, Entries, Extras, Free, Member, Object
from emitter.schema.codec.objects import KEY, VALUE
from emitter.schema.compiled import Why
from emitter.schema.shape import Node, Open, Record, Rest, Rule
from emitter.schema.value import ARRAY, NULL, STRING
from emitter.schema.write.forms import closed, nullable
from emitter.schema.write.leaves import enforced
from emitter.schema.write.ledger import described, untitled

if TYPE_CHECKING:
    from emitter.schema.read.scope import Part
    from emitter.schema.write.writer import Writer

SLOT = "additional_properties"


def write_record(node: Record, writer: Writer) -> tuple[dict[str, Any], Codec]:
    """Return an object, closed where the vendor wants it; an open map becomes a list of entries."""
    if node.spilled:
        return _spilled(node, writer)
    if node.rest is None:
        return _closed(node, writer)
    if not writer.subset.closed_objects:
        return _open(node, node.rest, writer)
    if not node.fields:
        return _map(node, node.rest, writer)
    return _with_slot(node, node.rest, writer)


def _members(node: Record, writer: Writer) -> tuple[dict[str, Any], dict[str, Member]]:
    wires: dict[str, Any] = {}
    members: dict[str, Member] = {}
    for name, field in node.fields.items():
        null = writer.nullable(field)
        takes = writer.takes_null(field.node)
        wire, codec = writer.write(field.node, null_is_absent=null and not takes)
        wire = untitled(wire, name)
        absent = not field.required and (not takes or (null and NULL not in codec.types))
        members[name] = Member(codec, field.required, null, takes, absent)
        wires[name] = nullable(wire) if null else wire
    return wires, members


def _object(node: Record, wires: dict[str, Any], members: dict[str, Member], writer: Writer) -> dict[str, Any]:
    needed = [name for name in wires if name not in members or members[name].required or members[name].nullable]
    return writer.noted_losses(node, closed(wires, needed, writer.subset), node.rules)


def _closed(node: Record, writer: Writer) -> tuple[dict[str, Any], Codec]:
    wires, members = _members(node, writer)
    return _object(node, wires, members, writer), Object(members)


def _spilled(node: Record, writer: Writer) -> tuple[dict[str, Any], Codec]:
    """Return an object of which some properties go together as JSON text, for they are too many.

    What it has besides, unnamed, goes with them.
    """
    wires, members = _members(node, writer)
    ledger = writer.ledger
    for field in node.spilled.values():
        ledger.lose_whole(field.node, degraded=True)
    broken = {"properties", "required", "additionalProperties"}  # by a text that is no such object
    lost = [*(node.rest.names if node.rest else ())]
    if node.rest is not None and not node.rest.implicit:
        broken |= {"patternProperties"}
        for _, each in node.rest.entries:
            ledger.lose_whole(each, degraded=True)
        lost += node.rest.rules
    for part in node.parts:
        for keyword in sorted(broken & part.schema.keys()):
            ledger.lose_only(node, Rule(part.where, keyword, part.schema[keyword]), Why.DEGRADED)
    needed = [name for name, each in node.spilled.items() if each.required]
    said = (
        "JSON text of an object with these properties"
        if needed
        else ("JSON text of an object with any of these properties, {} for none")
    )
    forms = ledger.appendix.properties(node, {name: _said(each.node) for name, each in node.spilled.items()}, needed)
    slot = _slot(wires)
    wire = _object(node, {**wires, slot: {"type": STRING, "description": f"{said}: {forms}"}}, members, writer)
    allowed = None if node.rest is not None else frozenset(node.spilled)
    return writer.noted_losses(node, wire, lost), Object(members, Extras(allowed), slot, node.forbidden)


def _said(node: Node) -> tuple[Part, ...]:
    """Return the schemas that stand at a place, with references as they are."""
    return node.said if isinstance(node, Open) and node.said else node.parts


def _slot(wires: dict[str, Any]) -> str:
    slot = SLOT
    while slot in wires:
        slot += "_"
    return slot


def _open(node: Record, rest: Rest, writer: Writer) -> tuple[dict[str, Any], Codec]:
    """Return an object whose other properties the vendor takes as they are."""
    wires, members = _members(node, writer)
    wire = _object(node, wires, members, writer)
    del wire["additionalProperties"]
    if not wires:
        del wire["properties"], wire["required"]
    entries: list[tuple[str | None, Codec]] = []
    forms: list[dict[str, Any]] = []
    for pattern, each in rest.entries:
        form, codec = (None, Free()) if _anything(each) else writer.write(each)
        entries.append((pattern, codec))
        forms += [form] if form is not None else []
    if len(forms) == len(entries):
        wire["additionalProperties"] = forms[0] if len(forms) == 1 else {"anyOf": forms}
    lost = [*rest.names, *rest.rules]
    return writer.noted_losses(node, wire, lost), Object(members, Beside(tuple(entries)), None, node.forbidden)


def _anything(node: object) -> bool:
    return isinstance(node, Open) and not node.whole and not node.left and len(node.types) == len(Open("").types)


def _map(node: Record, rest: Rest, writer: Writer) -> tuple[dict[str, Any], Codec]:
    """Return an open map as a list of entries; the most properties are then the most entries."""
    wire, codec, lost = _entries(rest, writer, node.forbidden)
    for rule in node.rules:
        if rule.keyword == "maxProperties" and "maxItems" in writer.subset.keywords:
            wire["maxItems"] = codec.most = rule.value
        else:
            lost.append(rule)
    return writer.noted_losses(node, wire, lost), codec


def _with_slot(node: Record, rest: Rest, writer: Writer) -> tuple[dict[str, Any], Codec]:
    """Return an object with one more property, for those that are not named."""
    wires, members = _members(node, writer)
    slot = _slot(wires)
    codec: Codec
    if rest.implicit:
        said = "JSON text of an object with further properties, {} for none."
        form, codec, lost = {"type": STRING, "description": said}, Extras(), [*rest.names]
    else:
        form, codec, lost = _entries(rest, writer)
        form = described(form, "Further properties.")
    wire = _object(node, {**wires, slot: form}, members, writer)
    return writer.noted_losses(node, wire, lost), Object(members, codec, slot, node.forbidden)


def _entries(
    rest: Rest, writer: Writer, forbidden: frozenset[str] = frozenset()
) -> tuple[dict[str, Any], Entries, list[Rule]]:
    forms: list[dict[str, Any]] = []
    entries: list[tuple[str | None, Codec]] = []
    held = True
    listed = writer.write(rest.key).wire if rest.key is not None and len(rest.entries) == 1 else None
    if writer.subset.discriminated and len(rest.entries) > 1:
        # Entries are told apart by their keys, which is no discriminator; the rules say which key has which value.
        for _, each in rest.entries:
            writer.ledger.lose_whole(writer.document.resolved(each))
        rest = replace(rest, entries=((None, Open("")),))
    for pattern, each in rest.entries:
        form, codec = writer.write(each)
        key: dict[str, Any] = {"type": STRING} if listed is None else listed
        if pattern is not None and enforced(Rule("", "pattern", pattern), writer.subset):
            key["pattern"] = pattern
        held = held and (pattern is None or "pattern" in key)
        forms.append(closed({KEY: key, VALUE: form}, (KEY, VALUE), writer.subset))
        entries.append((pattern, codec))
    items = forms[0] if len(forms) == 1 else {"anyOf": forms}
    free = listed is None and not rest.names and all(pattern is None for pattern, _ in rest.entries)
    said = f"A map as a list of entries, each key once{', in the words you were given' if free else ''}."
    wire = {"type": ARRAY, "items": items, "description": said}
    names = rest.names if listed is None else ()
    return wire, Entries(tuple(entries), forbidden), [*names, *(() if held else rest.rules)]
