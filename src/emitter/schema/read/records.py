"""Reading what is said of objects: the properties that are named, and the rest."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import jsonschema_rs

from emitter.schema.pattern import matches
from emitter.schema.pointer import below
from emitter.schema.read.facts import NOTES, gather
from emitter.schema.read.scalars import merged
from emitter.schema.shape import Field, Never, Node, Open, Record, Rest, Rule, Values
from emitter.schema.value import OBJECT
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.schema.read.facts import Facts
    from emitter.schema.read.reader import Reader
    from emitter.schema.read.scope import Part

_ABOUT_NAMES = frozenset({"patternProperties", "propertyNames"})
_COUNTS = frozenset({"minProperties", "maxProperties"})
_READ = frozenset({"properties", "required", "additionalProperties", "patternProperties", "propertyNames"})


def record(facts: Facts, reader: Reader) -> Node:
    """Return the object that the parts describe together."""
    parts = [part for part in facts.parts if part.schema.keys() & _READ]
    fields, forbidden = _fields(facts, parts, reader)
    if fields is None:
        return Never(facts.where)
    rest, over = _rest(parts, reader)
    if rest is not None and rest.implicit and _all_evaluated(facts, parts):
        rest = None
    if rest is not None and rest.implicit and fields and reader.close:
        reader.closings.append(Rule(facts.where, "additionalProperties", True))
        rest = None
    said = [rule for rule in facts.about.get(OBJECT, ()) if rule.keyword not in _READ]
    bounds, _ = merged(rule for rule in said if rule.keyword in _COUNTS)
    counts = tuple(rule for rule in bounds if not _held(rule, fields, rest))
    left = [*over, *(rule for rule in said if rule.keyword not in _COUNTS)]
    return Record(facts.where, fields, rest, forbidden, rules=counts, left=tuple(left), parts=facts.parts)


def _all_evaluated(facts: Facts, parts: list[Part]) -> bool:
    """Tell whether what no keyword read here speaks of is forbidden; the rule itself stays for the local check."""
    said = facts.about.get(OBJECT, ())
    speaking = any(rule.keyword.startswith("depend") for rule in said) or facts.conditional
    silent = not any("additionalProperties" in part.schema for part in parts)
    shut = [rule.value is False for rule in said if rule.keyword == "unevaluatedProperties"]
    return bool(shut) and all(shut) and silent and not speaking


def _held(rule: Rule, fields: dict[str, Field], rest: Rest | None) -> bool:
    """Tell whether the form itself keeps this bound on the number of properties."""
    count: int = rule.value
    if rule.keyword == "minProperties":
        return count <= sum(each.required for each in fields.values())
    return rest is None and count >= len(fields)


def _fields(facts: Facts, parts: list[Part], reader: Reader) -> tuple[dict[str, Field] | None, frozenset[str]]:
    """Return the named properties (None where one that is required can have no value) and the forbidden ones."""
    required = dict.fromkeys(
        each for part in parts for each in sequence(part.schema.get("required")) if isinstance(each, str)
    )
    names = dict.fromkeys(name for part in parts for name in mapping(part.schema.get("properties")))
    fields: dict[str, Field] = {}
    forbidden: set[str] = set()
    alone = parts[0] if len(parts) == 1 and not parts[0].schema.keys() & _ABOUT_NAMES else None
    for name in {**names, **required}:
        plain = alone if name in names else None
        node = _named(facts, parts, name, reader) if plain is None else _plain(plain, name, reader)
        if not isinstance(node, Never):
            fields[name] = Field(node, name in required)
        elif name in required:
            return None, frozenset()
        else:
            forbidden.add(name)
    return fields, frozenset(forbidden)


def _plain(part: Part, name: str, reader: Reader) -> Node:
    """Return a property of the only schema that says anything of it."""
    where = below(part.where, "properties", name)
    return reader.node([reader.scope.inside(part, where, part.schema["properties"][name])])


def _named(facts: Facts, parts: list[Part], name: str, reader: Reader) -> Node:
    if not all(_allowed_name(part, name, reader) for part in parts):
        return Never(facts.where)
    said = [each for part in parts for each in _said_of(part, name, reader)]
    return reader.node(said) if said else Open(below(facts.where, "properties", name))


def _names_rule(part: Part, reader: Reader) -> Any:
    """Return the schema for names; draft 4 has none."""
    return part.schema.get("propertyNames", True) if "propertyNames" in reader.draft.keywords else True


def _allowed_name(part: Part, name: str, reader: Reader) -> bool:
    """Tell whether a rule for names allows this one; one that refers elsewhere is left to the local check."""
    rule = _names_rule(part, reader)
    return rule is True or _refers(rule) or jsonschema_rs.is_valid(rule, name, validate_formats=True)


def _refers(rule: Any) -> bool:
    return "$ref" in json.dumps(rule)


def _said_of(part: Part, name: str, reader: Reader) -> Iterator[Part]:
    """Yield the subschemas of ``part`` that a property of this name must satisfy."""
    said = False
    named = mapping(part.schema.get("properties"))
    if name in named:
        said = True
        yield reader.scope.inside(part, below(part.where, "properties", name), named[name])
    for pattern, schema in mapping(part.schema.get("patternProperties")).items():
        if matches(pattern, name):
            said = True
            yield reader.scope.inside(part, below(part.where, "patternProperties", pattern), schema)
    if not said and "additionalProperties" in part.schema:
        where = below(part.where, "additionalProperties")
        yield reader.scope.inside(part, where, part.schema["additionalProperties"])


def _rest(parts: list[Part], reader: Reader) -> tuple[Rest | None, list[Rule]]:
    """Return what properties may have that are not named, and the rules for them that are left over."""
    ruling = [part for part in parts if _names_rule(part, reader) is not True]
    names = tuple(Rule(part.where, "propertyNames", _names_rule(part, reader)) for part in ruling)
    speaking = [part for part in parts if _speaks_of_rest(part.schema)]
    where = parts[0].where if parts else ""
    if any(_names_rule(part, reader) is False or _shut(part.schema) for part in parts):
        return None, [rule for rule in names if _refers(rule.value)]
    if not speaking:
        explicit = any("additionalProperties" in part.schema for part in parts)
        return Rest(((None, Open(where)),), implicit=not explicit, names=names), []
    if len(speaking) > 1:
        # Which of several sets of rules speaks of a name is not unfolded.
        return Rest(((None, Open(where)),), names=names), [rule for part in speaking for rule in _rules(part)]
    rest, over = _spoken(speaking[0], names, reader)
    return (rest and replace(rest, key=_listed_names(ruling, reader))), over


def _says_only_ref(schema: Any) -> bool:
    return schema.__class__ is dict and schema.keys() - NOTES == {"$ref"}


def _listed_names(ruling: list[Part], reader: Reader) -> Values | None:
    """Return the names that one rule lists, if it does nothing else."""
    if len(ruling) != 1:
        return None
    part = reader.scope.inside(ruling[0], below(ruling[0].where, "propertyNames"), ruling[0].schema["propertyNames"])
    if _says_only_ref(part.schema):
        part = reader.scope.found(part) or part
    if part.schema.__class__ is not dict or "$ref" in part.schema or "allOf" in part.schema:
        return None
    facts = gather([part], reader.draft)
    if len(facts.constants) != 1 or facts.unions or facts.about or facts.left:
        return None
    values = list(dict.fromkeys(each for each in facts.constants[0] if isinstance(each, str)))
    return Values(part.where, cast("list[Any]", values), notes=facts.notes) if values else None


def _speaks_of_rest(schema: dict[str, Any]) -> bool:
    return schema.get("additionalProperties", True) is not True or bool(mapping(schema.get("patternProperties")))


def _shut(schema: dict[str, Any]) -> bool:
    return schema.get("additionalProperties") is False and not mapping(schema.get("patternProperties"))


def _rules(part: Part) -> list[Rule]:
    keywords = ("additionalProperties", "patternProperties")
    return [Rule(part.where, each, part.schema[each]) for each in keywords if each in part.schema]


def _spoken(part: Part, names: tuple[Rule, ...], reader: Reader) -> tuple[Rest | None, list[Rule]]:
    """Return the rest as one schema describes it."""
    patterns = mapping(part.schema.get("patternProperties"))
    other = part.schema.get("additionalProperties", True)
    entries: list[tuple[str | None, Node]] = []
    for pattern, schema in patterns.items():
        node = reader.node([reader.scope.inside(part, below(part.where, "patternProperties", pattern), schema)])
        if not isinstance(node, Never):
            entries.append((pattern, node))
    if other is not False:
        node = reader.node([reader.scope.inside(part, below(part.where, "additionalProperties"), other)])
        if not isinstance(node, Never):
            entries.append((None, node))
    blurred = len(patterns) > 1 or (bool(patterns) and other is not False)
    over = _rules(part) if blurred else []
    rest = Rest(tuple(entries), names=names, rules=tuple(_rules(part)) if patterns and other is False else ())
    return (rest if entries else None), over
