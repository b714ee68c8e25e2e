"""Keeping the losses of one compilation, and saying them to the model where they stand."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from emitter.schema.compiled import Loss, Why
from emitter.schema.pointer import below
from emitter.schema.read.inside import below_rule, everything, references, stated
from emitter.schema.read.scope import Part
from emitter.schema.shape import Ref, Rule
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from referencing._core import Resolver

    from emitter.schema.drafts import Draft
    from emitter.schema.read.scope import Scope
    from emitter.schema.shape import Node

SHOWN = 200
"""The most characters of a rule's value that a loss repeats."""

TOLD = 2_000
"""The most characters of a piece of the schema that a description quotes."""


class _Quotation(NamedTuple):
    """A piece of the schema that descriptions quote: how often, and how long it is."""

    times: int
    size: int


class Appendix:
    """The pieces of a schema that descriptions quote, each by its JSON pointer.

    A short piece stands in the description. One that is long, or in ``apart``, goes into the appendix, which the
    prompt carries, with everything that it refers to.
    """

    def __init__(self, scope: Scope, apart: frozenset[str] = frozenset()) -> None:
        self._scope = scope
        self._apart = apart
        self._names: dict[str, list[Any]] = {}
        self._pieces: dict[tuple[object, ...], tuple[str, Part]] = {}
        self._texts: dict[str, str | None] = {}
        self._quoted: dict[str, _Quotation] = {}
        self._entries: dict[str, Part] = {}

    def whole(self, parts: tuple[Part, ...]) -> str:
        """Return how a description names the JSON Schema that ``parts`` are together."""
        key = tuple(id(part.schema) for part in parts)
        if key not in self._pieces:
            self._pieces[key] = self._named(self._together(parts))
        name, piece = self._pieces[key]
        text = self._quote(name, piece, TOLD)
        return f"the JSON Schema {name} of the instructions" if text is None else f"this JSON Schema: {text}"

    def properties(self, node: Node, fields: dict[str, tuple[Part, ...]], needed: list[str]) -> str:
        """Return how a description names some properties of ``node``, and those that have no name there."""
        key = (node.where, *((name, *(id(part.schema) for part in parts)) for name, parts in fields.items()))
        if key not in self._pieces:
            forms = {name: self._together(parts).schema if parts else True for name, parts in fields.items()}
            schema: dict[str, Any] = {"type": "object", "properties": forms}
            schema |= {"required": needed} if needed else {}
            for part in node.parts:
                beside = part.schema.keys() & {"patternProperties", "additionalProperties"}
                schema |= {keyword: part.schema[keyword] for keyword in sorted(beside)}
            where, resolver = node.parts[0][1:] if node.parts else self._scope.root[1:]
            self._pieces[key] = self._named(Part(schema, f"{where}/additional_properties", resolver))
        name, piece = self._pieces[key]
        return self._quote(name, piece, TOLD) or f"the JSON Schema {name} of the instructions"

    def _together(self, parts: tuple[Part, ...]) -> Part:
        """Return one schema that says what ``parts`` say together."""
        said = stated(parts, self._scope)
        schema = said[0].schema if len(said) == 1 else {"allOf": [part.schema for part in said]}
        return said[0]._replace(schema=schema)

    def rule(self, rule: Rule, resolver: Resolver[Any], limit: int = SHOWN) -> str:
        """Return how a description names the value of a keyword."""
        if rule.value.__class__ not in _NESTED:
            text = json.dumps(rule.value, ensure_ascii=False)
            if len(text) <= limit:
                return text
        key = (id(rule.value), rule.where, rule.keyword)
        if key not in self._pieces:
            self._pieces[key] = self._named(Part(rule.value, below(rule.where, rule.keyword), resolver))
        name, piece = self._pieces[key]
        return self._quote(name, piece, limit) or f"as {name} of the instructions"

    def _quote(self, name: str, piece: Part, limit: int) -> str | None:
        """Return the JSON text of a piece, with the definitions that it needs; None where the appendix has it."""
        if name not in self._texts:
            self._texts[name] = None if name in self._apart else self._short(name, piece, limit)
            if self._texts[name] is None:
                self._enter(name, piece)
        text = self._texts[name]
        if text is not None:
            self._quoted[name] = self._quoted[name]._replace(times=self._quoted[name].times + 1)
        return text

    def _short(self, name: str, piece: Part, limit: int) -> str | None:
        needed = self._needed(piece)
        if needed is None:
            return None
        own = [f"#/{keyword}/{name}" for keyword, held in needed.items() for name in held if held[name] is piece.schema]
        schema: Any = {"$ref": own[0]} if own else piece.schema
        text = json.dumps({**schema, **needed} if needed else schema, ensure_ascii=False)
        self._quoted[name] = _Quotation(0, len(text))
        return text if len(text) <= limit else None

    def crowded(self, room: int) -> frozenset[str]:
        """Return the pieces to set apart: those that take most, until the others have ``room`` in the descriptions."""
        sizes = sorted((each.times * each.size, name) for name, each in self._quoted.items())
        taken = sum(size for size, _ in sizes)
        apart: set[str] = set()
        while taken > room:
            size, name = sizes.pop()
            taken -= size
            apart.add(name)
        return frozenset(apart)

    def entries(self) -> dict[str, Any]:
        """Return the appendix: pieces by their pointers, none that stands inside another one."""
        inside = {id(each) for part in self._entries.values() for each in _nested_values(part.schema)}
        return {name: part.schema for name, part in self._entries.items() if id(part.schema) not in inside}

    def _named(self, piece: Part) -> tuple[str, Part]:
        name = piece.where if piece.where and not piece.where.startswith("/") else f"#{piece.where}"
        namesakes = self._names.setdefault(name, [])
        namesakes.append(piece.schema)
        return (name if len(namesakes) == 1 else f"{name} ({len(namesakes)})"), piece

    def _needed(self, piece: Part) -> dict[str, dict[str, Any]] | None:
        """Return the definitions to put beside a schema, by keyword; None where it refers to anything else."""
        found: dict[str, dict[str, Any]] = {}
        waiting, root = [piece], mapping(self._scope.root.schema)
        while waiting:
            for reference, target in references(waiting.pop(), self._scope):
                if reference == "#" and target.schema is piece.schema:
                    continue
                match = _DEFINITION.fullmatch(reference)
                if match is None or mapping(root.get(match[1])).get(match[2]) is not target.schema:
                    return None
                if match[1] in piece.schema or not _is_schema(piece.where):
                    return None
                held = found.setdefault(match[1], {})
                if match[2] not in held:
                    held[match[2]] = target.schema
                    waiting.append(target)
        return found

    def _enter(self, name: str, piece: Part) -> None:
        """Put a piece into the appendix, with all that it refers to."""
        if name in self._entries:
            return
        self._entries[name] = piece
        waiting, held = [piece], {id(part.schema) for part in self._entries.values()}
        held.update(id(each) for part in self._entries.values() for each in _nested_values(part.schema))
        while waiting:
            for reference, target in references(waiting.pop(), self._scope):
                if id(target.schema) not in held and reference not in self._entries:
                    self._entries[reference] = target
                    held.add(id(target.schema))
                    held.update(map(id, _nested_values(target.schema)))
                    waiting.append(target)


_DEFINITION = re.compile(r"#/(\$defs|definitions)/([^/~%]+)")
_NESTED = frozenset({dict, list})
_NO_SCHEMAS = frozenset(
    {"dependentSchemas", "dependencies", "dependentRequired", "patternProperties", "properties", "enum", "const"}
    | {"allOf", "anyOf", "oneOf", "prefixItems"}
)


def _is_schema(where: str) -> bool:
    """Tell whether a piece is a schema, beside whose keywords definitions may stand."""
    return where.rpartition("/")[2] not in _NO_SCHEMAS


def _nested_values(value: Any) -> Iterator[Any]:
    """Yield every object and array inside a JSON value."""
    waiting = [value]
    while waiting:
        here: Any = waiting.pop()
        values: Any = here.values() if here.__class__ is dict else here if here.__class__ is list else ()
        inside = [each for each in values if each.__class__ in _NESTED]
        yield from inside
        waiting.extend(inside)


class Ledger:
    """The losses so far, each once, and the nodes that they stand at."""

    def __init__(self, scope: Scope, draft: Draft, apart: frozenset[str] = frozenset()) -> None:
        self.at: set[int] = set()
        self.appendix = Appendix(scope, apart)
        self._scope = scope
        self._draft = draft
        self._met: set[int] = set()
        self._losses: dict[tuple[str, str], Loss] = {}

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses by their place."""
        return tuple(self._losses.values())

    def lose(self, node: Node, rules: Iterable[Rule], why: Why = Why.UNSUPPORTED) -> list[str]:
        """Write the rules down, with all that stands inside them; return what to tell the model."""
        return [self._lose(node, rule, why) for rule in rules]

    def _lose(self, node: Node, rule: Rule, why: Why) -> str:
        self.lose_only(node, rule, why)
        self._write_inside(below_rule(rule, self._scope, node.parts))
        return f"{rule.keyword} {self.appendix.rule(rule, self.resolver(rule, node))}"

    def resolver(self, rule: Rule, node: Node) -> Resolver[Any]:
        """Return the resolver for what a rule of ``node`` refers to."""
        return next((part.resolver for part in node.parts if part.where == rule.where), self._scope.root.resolver)

    def lose_only(self, node: Node, rule: Rule, why: Why = Why.UNSUPPORTED) -> None:
        """Write one rule down that the form says in its own way."""
        self.at.add(id(node))
        self._write(rule, why)

    def lose_whole(self, node: Node, *, degraded: bool = False) -> None:
        """Write down every keyword of a value that goes as JSON text."""
        self.at.add(id(node))
        parts = (isinstance(node, Ref) and node.text) or node.parts
        self._write_inside(parts)
        for part in parts if degraded else ():
            for keyword in part.schema.keys() & self._draft.keywords:
                self._write(Rule(part.where, keyword, part.schema[keyword]), Why.DEGRADED)

    def _write_inside(self, parts: Iterable[Part]) -> None:
        for rule in everything(parts, self._scope, self._draft, self._met):
            self._write(rule, Why.OPEN)

    def note(self, rule: Rule, why: Why) -> None:
        """Write one rule down that is not told at its place."""
        self._write(rule, why)

    def _write(self, rule: Rule, why: Why) -> None:
        key = (rule.where, rule.keyword)
        if key not in self._losses or (why is not Why.OPEN and self._losses[key].why is Why.OPEN):
            self._losses[key] = Loss(rule.where, rule.keyword, shown(rule.value), why)


def shown(value: Any, limit: int = SHOWN) -> str:
    """Return a value of the schema as JSON text, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else f"{text[:limit]}…"


def untitled(wire: dict[str, Any], name: str) -> dict[str, Any]:
    """Return ``wire`` without a title that only repeats the name it stands under."""
    title = wire.get("title")
    repeats = isinstance(title, str) and _letters(title) == _letters(name)
    return {key: each for key, each in wire.items() if key != "title"} if repeats else wire


def _letters(text: str) -> str:
    return "".join(each for each in text.casefold() if each.isalnum())


def described(wire: dict[str, Any], *sentences: str) -> dict[str, Any]:
    """Return ``wire`` with these sentences added to its description."""
    said = [each for each in (wire.get("description"), *sentences) if each]
    return {**wire, "description": " ".join(said)} if said else wire
