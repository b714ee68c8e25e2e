"""Write objects, arrays, scalars and enums in a provider's subset.

Each function returns the wire schema and its codec. Open maps become lists of entries, and tuples become objects
where the provider has no ``prefixItems``.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from emitter.schema.codecs import VALUE_MEMBER, AnyCodec, Codec, JsonTextCodec, ScalarCodec
from emitter.schema.container_codecs import (
    KEY_MEMBER,
    REST_MEMBER,
    ArrayCodec,
    KeyValueCodec,
    MemberCodec,
    ObjectCodec,
    OverflowCodec,
    SiblingCodec,
    TupleCodec,
    item_member_name,
)
from emitter.schema.formats import ALWAYS_DESCRIBED_FORMATS, FORMAT_DESCRIPTIONS, describe_format
from emitter.schema.json_data import ARRAY, INTEGER, NULL, NUMBER, OBJECT, STRING, canonical_key, type_of
from emitter.schema.losses import MAX_QUOTE_LENGTH, add_description, without_redundant_title
from emitter.schema.nodes import (
    AnyNode,
    ArrayNode,
    EnumNode,
    Node,
    ObjectNode,
    Rule,
    ScalarNode,
    UnnamedProperties,
    to_json_text,
)
from emitter.schema.results import LossReason

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.profiles.tables import SchemaSubset
    from emitter.schema.references import SchemaPart
    from emitter.schema.writer import SchemaWriter

OVERFLOW_MEMBER = "additional_properties"


def write_object(node: ObjectNode, writer: SchemaWriter) -> tuple[dict[str, Any], Codec]:
    """Write an object, closed if the provider needs it. An open map becomes a list of entries."""
    if node.overflow:
        return _write_overflowing_object(node, writer)
    if node.unnamed is None:
        wires, members = _write_members(node, writer)
        return _object_schema(node, wires, members, writer), ObjectCodec(members)
    if not writer.subset.closed_objects:
        return _write_open_object(node, node.unnamed, writer)
    if not node.fields:
        return _write_map(node, node.unnamed, writer)
    if writer.subset.open_objects and _allows_anything(node.unnamed):
        return _write_open_object(node, node.unnamed, writer)
    return _write_object_with_overflow(node, node.unnamed, writer)


def _write_members(node: ObjectNode, writer: SchemaWriter) -> tuple[dict[str, Any], dict[str, MemberCodec]]:
    wires: dict[str, Any] = {}
    members: dict[str, MemberCodec] = {}
    for name, field in node.fields.items():
        is_nullable = writer.is_nullable(field)
        takes_null = writer.takes_null(field.node)
        wire, codec = writer.write(field.node, null_is_absent=is_nullable and not takes_null)
        wire = without_redundant_title(wire, name)
        # If null is a value of the property, a null on the wire is this value, unless values are JSON text there.
        null_is_absent = not field.required and (not takes_null or (is_nullable and NULL not in codec.types))
        members[name] = MemberCodec(codec, field.required, is_nullable, takes_null, null_is_absent)
        wires[name] = make_nullable(wire) if is_nullable else wire
    return wires, members


def _object_schema(
    node: ObjectNode, wires: dict[str, Any], members: dict[str, MemberCodec], writer: SchemaWriter
) -> dict[str, Any]:
    required = [name for name in wires if name not in members or members[name].required or members[name].nullable]
    return writer.record_losses(node, closed_object(wires, required, writer.subset), node.rules)


def _write_overflowing_object(node: ObjectNode, writer: SchemaWriter) -> tuple[dict[str, Any], Codec]:
    """Write an object with too many properties: the last ones, and unnamed ones, share one member as JSON text."""
    wires, members = _write_members(node, writer)
    lost_rules = _record_overflow(node, writer)
    required = [name for name, field in node.overflow.items() if field.required]
    parts = {name: _source_parts(field.node) for name, field in node.overflow.items()}
    quotation = writer.loss_log.appendix.quote_properties(node, parts, required)
    words = "these properties" if required else "any of these properties, {} for none"
    overflow_name = _overflow_name(wires)
    wires[overflow_name] = {"type": STRING, "description": f"JSON text of an object with {words}: {quotation}"}
    wire = _object_schema(node, wires, members, writer)
    allowed = None if node.unnamed is not None else frozenset(node.overflow)
    return writer.record_losses(node, wire, lost_rules), ObjectCodec(
        members, OverflowCodec(allowed), overflow_name, node.forbidden_names
    )


def _record_overflow(node: ObjectNode, writer: SchemaWriter) -> list[Rule]:
    """Record the rules inside the JSON text of overflowing properties. Returns the rules left to describe."""
    for field in node.overflow.values():
        writer.loss_log.record_json_text(field.node, degraded=True)
    unenforced = {"properties", "required", "additionalProperties"}
    lost_rules = [*(node.unnamed.name_rules if node.unnamed else ())]
    if node.unnamed is not None and not node.unnamed.is_implicit:
        unenforced |= {"patternProperties"}
        for _, entry in node.unnamed.entries:
            writer.loss_log.record_json_text(entry, degraded=True)
        lost_rules += node.unnamed.rules
    for part in node.parts:
        for keyword in sorted(unenforced & part.schema.keys()):
            writer.loss_log.record_rule(node, Rule(part.pointer, keyword, part.schema[keyword]), LossReason.DEGRADED)
    return lost_rules


def _source_parts(node: Node) -> tuple[SchemaPart, ...]:
    """Return the schemas at a place, with their references unresolved."""
    return node.source_parts if isinstance(node, AnyNode) and node.source_parts else node.parts


def _overflow_name(wires: dict[str, Any]) -> str:
    name = OVERFLOW_MEMBER
    while name in wires:
        name += "_"
    return name


def _write_open_object(node: ObjectNode, rest: UnnamedProperties, writer: SchemaWriter) -> tuple[dict[str, Any], Codec]:
    """Write an object whose unnamed properties the provider accepts."""
    wires, members = _write_members(node, writer)
    wire = _object_schema(node, wires, members, writer)
    del wire["additionalProperties"]
    if not wires:
        del wire["properties"], wire["required"]
    entries: list[tuple[str | None, Codec]] = []
    forms: list[dict[str, Any]] = []
    for pattern, entry in rest.entries:
        form, codec = (None, AnyCodec()) if _is_unconstrained(entry) else writer.write(entry)
        entries.append((pattern, codec))
        forms += [form] if form is not None else []
    if len(forms) == len(entries):
        wire["additionalProperties"] = forms[0] if len(forms) == 1 else {"anyOf": forms}
    elif writer.subset.open_objects:  # some engines close an object that does not say so
        wire["additionalProperties"] = {}
    lost_rules = [*rest.name_rules, *rest.rules]
    return writer.record_losses(node, wire, lost_rules), ObjectCodec(
        members, SiblingCodec(tuple(entries)), None, node.forbidden_names
    )


def _allows_anything(rest: UnnamedProperties) -> bool:
    """Return whether unnamed properties may have any name and any value."""
    is_free = not (rest.name_rules or rest.rules or rest.key_enum)
    return is_free and all(pattern is None and _is_unconstrained(entry) for pattern, entry in rest.entries)


def _is_unconstrained(node: object) -> bool:
    return (
        isinstance(node, AnyNode)
        and not node.is_constrained
        and not node.unenforced
        and len(node.types) == len(AnyNode("").types)
    )


def _write_map(node: ObjectNode, rest: UnnamedProperties, writer: SchemaWriter) -> tuple[dict[str, Any], Codec]:
    """Write an open map as a list of entries. ``maxProperties`` becomes ``maxItems``."""
    wire, codec, lost_rules = _write_entries(rest, writer, node.forbidden_names)
    for rule in node.rules:
        if rule.keyword == "maxProperties" and is_enforced(rule._replace(keyword="maxItems"), writer.subset):
            wire["maxItems"] = codec.max_entries = rule.value
        else:
            lost_rules.append(rule)
    return writer.record_losses(node, wire, lost_rules), codec


def _write_object_with_overflow(
    node: ObjectNode, rest: UnnamedProperties, writer: SchemaWriter
) -> tuple[dict[str, Any], Codec]:
    """Write an object with one more member for unnamed properties."""
    wires, members = _write_members(node, writer)
    overflow_name = _overflow_name(wires)
    codec: Codec
    if rest.is_implicit:
        words = "JSON text of an object with further properties, {} for none."
        overflow_wire, codec, lost_rules = {"type": STRING, "description": words}, OverflowCodec(), [*rest.name_rules]
    else:
        overflow_wire, codec, lost_rules = _write_entries(rest, writer)
        overflow_wire = add_description(overflow_wire, "Further properties.")
    wire = _object_schema(node, {**wires, overflow_name: overflow_wire}, members, writer)
    return writer.record_losses(node, wire, lost_rules), ObjectCodec(
        members, codec, overflow_name, node.forbidden_names
    )


def _write_entries(
    rest: UnnamedProperties, writer: SchemaWriter, forbidden: frozenset[str] = frozenset()
) -> tuple[dict[str, Any], KeyValueCodec, list[Rule]]:
    forms: list[dict[str, Any]] = []
    entries: list[tuple[str | None, Codec]] = []
    patterns_enforced = True
    key_wire = writer.write(rest.key_enum).wire if rest.key_enum is not None and len(rest.entries) == 1 else None
    if writer.subset.discriminated and len(rest.entries) > 1:
        # A key pattern is not a discriminator, so the values are carried as JSON text.
        for _, each in rest.entries:
            writer.loss_log.record_json_text(writer.document.resolve(each))
        rest = replace(rest, entries=((None, AnyNode("")),))
    for pattern, entry in rest.entries:
        form, codec = writer.write(entry)
        key: dict[str, Any] = {"type": STRING} if key_wire is None else key_wire
        if pattern is not None and is_enforced(Rule("", "pattern", pattern), writer.subset):
            key["pattern"] = pattern
        patterns_enforced = patterns_enforced and (pattern is None or "pattern" in key)
        forms.append(closed_object({KEY_MEMBER: key, VALUE_MEMBER: form}, (KEY_MEMBER, VALUE_MEMBER), writer.subset))
        entries.append((pattern, codec))
    items = forms[0] if len(forms) == 1 else {"anyOf": forms}
    has_free_keys = key_wire is None and not rest.name_rules and all(pattern is None for pattern, _ in rest.entries)
    words = f"A map as a list of entries, each key once{', in the words you were given' if has_free_keys else ''}."
    wire = {"type": ARRAY, "items": items, "description": words}
    names = rest.name_rules if key_wire is None else ()
    return wire, KeyValueCodec(tuple(entries), forbidden), [*names, *(() if patterns_enforced else rest.rules)]


def write_array(node: ArrayNode, writer: SchemaWriter) -> tuple[dict[str, Any], Codec]:
    """Write an array. A tuple becomes an object if the provider has no tuples."""
    if not node.prefix and node.items is not None:
        item, codec = writer.write(node.items)
        wire = _write_bounded_array(node, item, writer)
        return wire, ArrayCodec(codec, wire)
    prefix = [writer.write(item) for item in node.prefix]
    keywords = writer.subset.keywords
    if {"prefixItems", "maxItems", "minItems"} <= keywords:
        return _write_prefix_items(node, prefix, writer)
    if node.items is None and "maxItems" in keywords and _are_uniform(prefix) and writer.subset.min_items_max is None:
        wire = {"type": ARRAY, "items": prefix[0][0], "minItems": node.min_items, "maxItems": node.max_items}
        return wire, ArrayCodec(prefix[0][1], wire)
    return _write_tuple_object(node, prefix, writer)


def _write_bounded_array(node: ArrayNode, item: dict[str, Any], writer: SchemaWriter) -> dict[str, Any]:
    """Return the array of the items after the prefix, with the bounds that the provider accepts."""
    wire: dict[str, Any] = {"type": ARRAY, "items": item}
    lost_rules: list[Rule] = []
    for rule in node.rules:
        bound = max(rule.value - len(node.prefix), 0)
        if rule.keyword == "minItems" and not bound:
            continue  # the prefix alone satisfies it
        if rule.keyword not in writer.subset.keywords:
            lost_rules.append(rule)
            continue
        limits = [writer.subset.max_count, writer.subset.min_items_max if rule.keyword == "minItems" else None]
        sent = min([bound, *(limit for limit in limits if limit is not None)])
        if sent == bound or rule.keyword == "minItems":
            wire[rule.keyword] = sent
        if sent != bound or rule.keyword in writer.subset.uncertain:
            lost_rules.append(rule)
    return writer.record_losses(node, wire, lost_rules)


def _are_uniform(forms: list[Any]) -> bool:
    return len({canonical_key(wire) for wire, _ in forms}) == 1 and all(codec.same_on_wire for _, codec in forms)


def _write_prefix_items(node: ArrayNode, first: list[Any], writer: SchemaWriter) -> tuple[dict[str, Any], Codec]:
    wire: dict[str, Any] = {"type": ARRAY, "prefixItems": [form for form, _ in first]}
    items_codec = None
    if node.items is not None:
        form, items_codec = writer.write(node.items)
        wire["items"] = form
    if node.min_items:
        wire["minItems"] = node.min_items
    if node.max_items is not None:
        wire["maxItems"] = node.max_items
    return wire, ArrayCodec(items_codec, wire, tuple(codec for _, codec in first))


def _write_tuple_object(node: ArrayNode, first: list[Any], writer: SchemaWriter) -> tuple[dict[str, Any], Codec]:
    """Write a tuple as an object with one member per item and one for the rest."""
    nullable = writer.nullable_optionals
    wires: dict[str, Any] = {}
    codecs: list[Codec] = []
    for index, (wire, codec) in enumerate(first):
        is_required = index < node.min_items
        form, written = wire, codec
        if not is_required and nullable and (NULL in codec.types or not codec.types):
            # Null means "no item", so an item that may be null itself is carried as JSON text.
            form, written = writer.write(to_json_text(writer.document, node.prefix[index]))
        wires[item_member_name(index)] = make_nullable(form) if nullable and not is_required else form
        codecs.append(written)
    if _has_item_names(node):
        wires = {name: {key: each for key, each in form.items() if key != "title"} for name, form in wires.items()}
    required = list(wires) if nullable else list(wires)[: node.min_items]
    rest = None
    if node.items is not None:
        form, codec = writer.write(node.items)
        wires[REST_MEMBER] = _write_bounded_array(node, form, writer)
        rest = ArrayCodec(codec, wires[REST_MEMBER])
        required.append(REST_MEMBER)
    wire = add_description(closed_object(wires, required, writer.subset), _describe_items(node))
    return wire, TupleCodec(tuple(codecs), rest, min(node.min_items, len(codecs)), nullable=nullable)


def _has_item_names(node: ArrayNode) -> bool:
    """Return whether every item has a title, as in a named tuple."""
    return all(isinstance(item.notes.get("title"), str) for item in node.prefix)


def _describe_items(node: ArrayNode) -> str:
    """Describe the members by the titles of the items, or by their order."""
    if _has_item_names(node):
        names = [item.notes["title"] for item in node.prefix]
        return f"The items of an array: {', '.join(f'{item_member_name(i)} = {name}' for i, name in enumerate(names))}."
    return f"The items of an array in their order: {item_member_name(0)} is the first."


_SHARED_CODECS: dict[tuple[str, ...], ScalarCodec] = {}


def write_scalar(node: ScalarNode, writer: SchemaWriter) -> tuple[dict[str, Any], Codec]:
    """Write a scalar with the rules that the provider enforces."""
    wire: dict[str, Any] = {"type": node.types[0] if len(node.types) == 1 else list(node.types)}
    if not node.rules:
        shared = _SHARED_CODECS.get(node.types)
        if shared is None:
            shared = _SHARED_CODECS[node.types] = ScalarCodec(node.types, {})
        return wire, shared
    lost_rules: list[Rule] = []
    description = ""
    for rule in sorted(node.rules, key=lambda rule: rule.keyword in _LENGTHS):
        is_kept = _can_send(rule, node.types, wire, writer.subset)
        if is_kept:
            wire[rule.keyword] = rule.value
        is_certain = is_kept and rule.keyword not in writer.subset.uncertain
        if rule.keyword == "format" and rule.value in (ALWAYS_DESCRIBED_FORMATS if is_certain else FORMAT_DESCRIPTIONS):
            description = describe_format(rule.value)
            writer.loss_log.record(node, () if is_certain else (rule,))
        elif not is_certain:
            lost_rules.append(rule)
    codec = ScalarCodec(node.types, wire)
    return writer.record_losses(node, add_description(wire, description), lost_rules), codec


_STRING_RULES = frozenset({"pattern", "format", "minLength", "maxLength"})
_LENGTHS = frozenset({"minLength", "maxLength"})


def _can_send(rule: Rule, types: tuple[str, ...], wire: dict[str, Any], subset: SchemaSubset) -> bool:
    """Return whether a rule can be sent with the rules that ``wire`` has."""
    if not is_enforced(rule, subset, types):
        return False
    if not subset.lone_string_rules or rule.keyword not in _STRING_RULES:
        return True
    others = wire.keys() & _STRING_RULES
    return others <= _LENGTHS if rule.keyword in _LENGTHS else not others


MAX_SAFE_INTEGER = 2**53
"""Larger integers are not exact as doubles, and decoding engines reject them as bounds."""
_COUNTS = frozenset({"minLength", "maxLength", "minItems", "maxItems"})
_INTEGER_TYPES = frozenset({INTEGER, NULL})


def is_enforced(rule: Rule, subset: SchemaSubset, types: tuple[str, ...] = (STRING,)) -> bool:
    """Return whether the provider enforces a rule of a value of these types, or accepts it at least."""
    if isinstance(rule.value, int | float) and abs(rule.value) > MAX_SAFE_INTEGER:
        return False
    if rule.keyword == "format":
        return "format" in subset.keywords and rule.value in subset.formats
    if rule.keyword in _COUNTS and subset.max_count is not None and rule.value > subset.max_count:
        return False
    refused_pattern = subset.pattern_refuses if rule.keyword == "pattern" else None
    is_known = rule.keyword in subset.keywords or (
        f"{rule.keyword}:{INTEGER}" in subset.keywords and _INTEGER_TYPES.issuperset(types)
    )
    return is_known and (refused_pattern is None or re.search(refused_pattern, str(rule.value)) is None)


def write_enum(node: EnumNode, writer: SchemaWriter) -> tuple[dict[str, Any], Codec]:
    """Write an enum, grouped by type, or as JSON texts if the provider does not accept a value."""
    if node.is_dropped:
        return _write_dropped_enum(node, writer)
    if all(value.__class__ is str for value in node.values):
        wire = {"type": STRING, "enum": node.values}
        return wire, ScalarCodec((STRING,), wire)
    supported_types = writer.subset.enum_types
    if not all(_is_enum_value_supported(value, node.values, supported_types) for value in node.values):
        return _write_json_text_enum(node)
    strings = [value for value in node.values if isinstance(value, str)]
    numbers = [int(value) if type_of(value) == INTEGER else value for value in node.values if _is_number(value)]
    booleans = [value for value in node.values if isinstance(value, bool)]
    groups: list[dict[str, Any]] = []
    if strings:
        groups.append({"type": STRING, "enum": strings})
    if numbers:
        all_integers = all(type_of(number) == INTEGER for number in numbers)
        groups.append({"type": INTEGER if all_integers else NUMBER, "enum": numbers})
    if booleans:
        groups.append({"type": "boolean"} if len(booleans) > 1 else {"type": "boolean", "enum": booleans})
    if None in node.values:
        groups.append({"type": NULL})
    types = tuple(group["type"] for group in groups)
    codec = ScalarCodec(types, {"enum": node.values})
    return (groups[0] if len(groups) == 1 else {"anyOf": groups}), codec


def _is_number(value: Any) -> bool:
    return type_of(value) in {INTEGER, NUMBER}


def _is_enum_value_supported(value: Any, values: list[Any], supported_types: frozenset[str]) -> bool:
    match value:
        case dict() | list():
            return False
        case None:
            return True
        case bool():
            # A set of booleans only: 0 and 1 equal False and True.
            return "boolean" in supported_types or {True, False} <= {
                value for value in values if isinstance(value, bool)
            }
        case _:
            return type_of(value) in supported_types


def _write_json_text_enum(node: EnumNode) -> tuple[dict[str, Any], Codec]:
    texts = {canonical_key(value): json.dumps(value, ensure_ascii=False) for value in node.values}
    types = tuple(dict.fromkeys(type_of(value) for value in node.values))
    wire = {"type": STRING, "enum": list(texts.values()), "description": "JSON text of the value."}
    return wire, JsonTextCodec(types, texts)


def _write_dropped_enum(node: EnumNode, writer: SchemaWriter) -> tuple[dict[str, Any], Codec]:
    """Write only the types of an enum that is too long."""
    types = tuple(dict.fromkeys(type_of(value) for value in node.values))
    wire: dict[str, Any] = {"type": STRING}
    codec: Codec = JsonTextCodec(types)
    if not any(isinstance(value, dict | list) for value in node.values):
        wire_types = tuple(kind for kind in types if not (kind == INTEGER and NUMBER in types))
        wire, codec = {"type": wire_types[0] if len(wire_types) == 1 else list(wire_types)}, ScalarCodec(wire_types, {})
    rule = Rule(node.pointer, "enum", node.values)
    writer.loss_log.record_rule(node, rule, LossReason.DEGRADED)
    quotation = writer.loss_log.appendix.quote_rule(rule, writer.loss_log.resolver_for(rule, node), MAX_QUOTE_LENGTH)
    return add_description(wire, f"One of: {quotation}."), codec


_STRUCTURAL_KEYWORDS = frozenset({"enum", "const", "properties", "items"})
_NOTE_KEYWORDS = frozenset({"title", "description", "default"})


def closed_object(properties: dict[str, Any], required: Iterable[str], subset: SchemaSubset) -> dict[str, Any]:
    """Return a closed object schema with these properties, in this order."""
    wire = {"type": OBJECT, "properties": properties, "required": list(required), "additionalProperties": False}
    if subset.ordering and properties:
        wire[subset.ordering] = list(properties)
    return wire


def make_nullable(wire: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that also accepts null, in a form that every provider accepts."""
    kind = wire.get("type")
    if isinstance(kind, str) and kind != "null" and not wire.keys() & _STRUCTURAL_KEYWORDS:
        return {**wire, "type": [kind, "null"]}
    if kind == "null" or (isinstance(kind, list) and "null" in kind):
        return wire
    notes = {key: each for key, each in wire.items() if key in _NOTE_KEYWORDS}
    constraints = {key: each for key, each in wire.items() if key not in notes}
    if constraints.keys() != {"anyOf"}:
        return {"anyOf": [constraints, {"type": "null"}], **notes}
    has_null = any(each.get("type") == "null" for each in constraints["anyOf"])
    return wire if has_null else {"anyOf": [*constraints["anyOf"], {"type": "null"}], **notes}
