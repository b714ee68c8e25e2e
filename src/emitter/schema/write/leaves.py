"""Writing scalars and lists of constants."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from emitter.schema.codec import Codec, Plain, Text
from emitter.schema.compiled import Why
from emitter.schema.formats import EXPLAINED, WORDS, words_of
from emitter.schema.shape import Rule, Scalar, Values
from emitter.schema.value import INTEGER, NULL, NUMBER, STRING, same, type_of
from emitter.schema.write.ledger import TOLD, described

if TYPE_CHECKING:
    from emitter.profile.subset import Subset
    from emitter.schema.write.writer import Writer

_SHARED: dict[tuple[str, ...], Plain] = {}


def write_scalar(node: Scalar, writer: Writer) -> tuple[dict[str, Any], Codec]:
    """Return a scalar with the rules that the vendor enforces."""
    wire: dict[str, Any] = {"type": node.types[0] if len(node.types) == 1 else list(node.types)}
    if not node.rules:
        shared = _SHARED.get(node.types)
        if shared is None:
            shared = _SHARED[node.types] = Plain(node.types, {})
        return wire, shared
    lost: list[Rule] = []
    words = ""
    for rule in node.rules:
        held = enforced(rule, writer.subset)
        if held:
            wire[rule.keyword] = rule.value
        if rule.keyword == "format" and rule.value in (EXPLAINED if held else WORDS):
            words = words_of(rule.value)
            writer.ledger.lose(node, () if held else (rule,))
        elif not held:
            lost.append(rule)
    codec = Plain(node.types, wire)
    return writer.noted_losses(node, described(wire, words), lost), codec


LARGEST = 2**53
"""Beyond this a double is no exact integer, and engines that compile bounds into a grammar give up."""


def enforced(rule: Rule, subset: Subset) -> bool:
    """Tell whether the vendor enforces a rule of a scalar."""
    if isinstance(rule.value, int | float) and abs(rule.value) > LARGEST:
        return False
    if rule.keyword == "format":
        return "format" in subset.keywords and rule.value in subset.formats
    refused = subset.pattern_refuses if rule.keyword == "pattern" else None
    return rule.keyword in subset.keywords and (refused is None or re.search(refused, str(rule.value)) is None)


def write_values(node: Values, writer: Writer) -> tuple[dict[str, Any], Codec]:
    """Return a list of constants, by type; as JSON texts where the vendor does not take one of them."""
    if node.dropped:
        return _unlisted(node, writer)
    if all(each.__class__ is str for each in node.values):
        wire = {"type": STRING, "enum": node.values}
        return wire, Plain((STRING,), wire)
    takes = writer.subset.enum_types
    if not all(_taken(each, node.values, takes) for each in node.values):
        return _texts(node)
    texts = [each for each in node.values if isinstance(each, str)]
    numbers = [int(each) if type_of(each) == INTEGER else each for each in node.values if _is_number(each)]
    truths = [each for each in node.values if isinstance(each, bool)]
    groups: list[dict[str, Any]] = []
    if texts:
        groups.append({"type": STRING, "enum": texts})
    if numbers:
        whole = all(type_of(each) == INTEGER for each in numbers)
        groups.append({"type": INTEGER if whole else NUMBER, "enum": numbers})
    if truths:
        groups.append({"type": "boolean"} if len(truths) > 1 else {"type": "boolean", "enum": truths})
    if None in node.values:
        groups.append({"type": NULL})
    types = tuple(each["type"] for each in groups)
    codec = Plain(types, {"enum": node.values})
    return (groups[0] if len(groups) == 1 else {"anyOf": groups}), codec


def _is_number(value: Any) -> bool:
    return type_of(value) in {INTEGER, NUMBER}


def _taken(value: Any, values: list[Any], takes: frozenset[str]) -> bool:
    match value:
        case dict() | list():
            return False
        case None:
            return True
        case bool():
            # By identity, for 0 and 1 are equal to them.
            return "boolean" in takes or {True, False} <= {each for each in values if isinstance(each, bool)}
        case _:
            return type_of(value) in takes


def _texts(node: Values) -> tuple[dict[str, Any], Codec]:
    texts = {same(each): json.dumps(each, ensure_ascii=False) for each in node.values}
    types = tuple(dict.fromkeys(type_of(each) for each in node.values))
    wire = {"type": STRING, "enum": list(texts.values()), "description": "JSON text of the value."}
    return wire, Text(types, texts)


def _unlisted(node: Values, writer: Writer) -> tuple[dict[str, Any], Codec]:
    """Return the types alone, of constants that are too many for the vendor."""
    types = tuple(dict.fromkeys(type_of(each) for each in node.values))
    wire: dict[str, Any] = {"type": STRING}
    codec: Codec = Text(types)
    if not any(isinstance(each, dict | list) for each in node.values):
        named = tuple(each for each in types if not (each == INTEGER and NUMBER in types))
        wire, codec = {"type": named[0] if len(named) == 1 else list(named)}, Plain(named, {})
    rule = Rule(node.where, "enum", node.values)
    writer.ledger.lose_only(node, rule, Why.DEGRADED)
    listed = writer.ledger.appendix.rule(rule, writer.ledger.resolver(rule, node), TOLD)
    return described(wire, f"One of: {listed}."), codec
