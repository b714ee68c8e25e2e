"""Writing arrays, and arrays whose items have places of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.schema.codec import Array, Codec, Slots
from emitter.schema.codec.lists import REST, slot
from emitter.schema.shape import Rule, Sequence
from emitter.schema.value import ARRAY, NULL, same
from emitter.schema.walk import as_text
from emitter.schema.write.forms import closed, nullable
from emitter.schema.write.ledger import described

if TYPE_CHECKING:
    from emitter.schema.write.writer import Writer


def write_array(node: Sequence, writer: Writer) -> tuple[dict[str, Any], Codec]:
    """Return an array; one with places of its own becomes an object where the vendor has no such thing."""
    if not node.prefix and node.rest is not None:
        item, codec = writer.write(node.rest)
        wire = _bounded(node, {"type": ARRAY, "items": item}, writer)
        return wire, Array(codec, wire)
    first = [writer.write(each) for each in node.prefix]
    keywords = writer.subset.keywords
    if {"prefixItems", "maxItems", "minItems"} <= keywords:
        return _by_place(node, first, writer)
    if node.rest is None and "maxItems" in keywords and _alike(first) and writer.subset.min_items_max is None:
        wire = {"type": ARRAY, "items": first[0][0], "minItems": node.least, "maxItems": node.most}
        return wire, Array(first[0][1], wire)
    return _slots(node, first, writer)


def _bounded(node: Sequence, wire: dict[str, Any], writer: Writer) -> dict[str, Any]:
    """Return the array with its bounds, as far as the vendor takes them."""
    lost: list[Rule] = []
    for rule in node.rules:
        most = writer.subset.min_items_max if rule.keyword == "minItems" else None
        if rule.keyword not in writer.subset.keywords:
            lost.append(rule)
            continue
        wire[rule.keyword] = rule.value if most is None else min(rule.value, most)
        lost += [rule] if wire[rule.keyword] != rule.value else []
    return writer.noted_losses(node, wire, lost)


def _alike(forms: list[Any]) -> bool:
    return len({same(wire) for wire, _ in forms}) == 1 and all(codec.plain for _, codec in forms)


def _by_place(node: Sequence, first: list[Any], writer: Writer) -> tuple[dict[str, Any], Codec]:
    wire: dict[str, Any] = {"type": ARRAY, "prefixItems": [form for form, _ in first]}
    rest = None
    if node.rest is not None:
        form, rest = writer.write(node.rest)
        wire["items"] = form
    if node.least:
        wire["minItems"] = node.least
    if node.most is not None:
        wire["maxItems"] = node.most
    return wire, Array(rest, wire, tuple(codec for _, codec in first))


def _slots(node: Sequence, first: list[Any], writer: Writer) -> tuple[dict[str, Any], Codec]:
    """Return an object with one slot for each place, and the rest as an array."""
    null = writer.nullable_optionals
    wires: dict[str, Any] = {}
    codecs: list[Codec] = []
    for index, (wire, codec) in enumerate(first):
        needed = index < node.least
        form, written = wire, codec
        if not needed and null and (NULL in codec.types or not codec.types):
            # Null must mean "no such item", so an item that may be null itself goes as text.
            form, written = writer.write(as_text(writer.document, node.prefix[index]))
        wires[slot(index)] = nullable(form) if null and not needed else form
        codecs.append(written)
    if _named(node):
        wires = {name: {key: each for key, each in form.items() if key != "title"} for name, form in wires.items()}
    needed_slots = list(wires) if null else list(wires)[: node.least]
    rest = None
    if node.rest is not None:
        form, codec = writer.write(node.rest)
        wires[REST] = _rest(node, form, writer)
        rest = Array(codec, wires[REST])
        needed_slots.append(REST)
    wire = described(closed(wires, needed_slots, writer.subset), _places(node))
    return wire, Slots(tuple(codecs), rest, min(node.least, len(codecs)), nullable=null)


def _named(node: Sequence) -> bool:
    """Tell whether every place has a name, as the items of a named tuple have."""
    return all(isinstance(each.notes.get("title"), str) for each in node.prefix)


def _places(node: Sequence) -> str:
    """Say which item each slot holds: by its title, as the items of a named tuple have one, else by its position."""
    if _named(node):
        names = [each.notes["title"] for each in node.prefix]
        return f"The items of an array: {', '.join(f'{slot(i)} = {name}' for i, name in enumerate(names))}."
    return f"The items of an array in their order: {slot(0)} is the first."


def _rest(node: Sequence, form: dict[str, Any], writer: Writer) -> dict[str, Any]:
    """Return the array of what comes after the places, with what is left of the bounds."""
    places = len(node.prefix)
    moved = [Rule(rule.where, rule.keyword, max(rule.value - places, 0)) for rule in node.rules]
    wire = {"type": ARRAY, "items": form}
    kept = [
        (rule, shown)
        for rule, shown in zip(node.rules, moved, strict=True)
        if shown.value or rule.keyword == "maxItems"
    ]
    lost: list[Rule] = []
    for rule, rest in kept:
        most = writer.subset.min_items_max if rule.keyword == "minItems" else None
        if rest.keyword in writer.subset.keywords and (most is None or rest.value <= most):
            wire[rest.keyword] = rest.value
        else:
            lost.append(rule)
    return writer.noted_losses(node, wire, lost)
