"""Reading a schema of any draft into its shape.

What holds together at one place (references, ``allOf``, the base of a union and its branch) is read as one
conjunction. Each set of schemas that is met through a reference is read once and named, which ties the knot
of recursion and keeps the work bounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.errors import Uncompilable
from emitter.schema.pointer import below
from emitter.schema.read.facts import FOLLOWED, Facts, gather, kinds
from emitter.schema.read.records import record
from emitter.schema.read.scalars import SCALARS, constants, leaf, scalar
from emitter.schema.read.scope import Part, Scope, name_of
from emitter.schema.read.sequences import array
from emitter.schema.read.unions import union
from emitter.schema.shape import Choice, Document, Never, Node, Open, Ref, Rule
from emitter.schema.value import ARRAY, EVERY_TYPE, OBJECT, STRING
from emitter.wire import sequence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.schema.drafts import Draft

MAX_DEPTH = 25
"""What is nested deeper is carried as JSON text: no vendor takes it, and reading must stay bounded."""

MAX_NODES = 8_000
"""What a schema unfolds into beyond this is carried as JSON text."""

MAX_TOGETHER = 100
"""More schemas that hold together at one place are carried as JSON text too."""

_SILENT = frozenset({"$schema", "$id", "id", "$comment", "$defs", "definitions", "$anchor", "title", "description"})


class Reader:
    """One reading of one document; ``close`` takes what the schema does not name as not wanted."""

    def __init__(self, scope: Scope, draft: Draft, *, close: bool) -> None:
        self.scope = scope
        self.draft = draft
        self.close = close
        self.closings: list[Rule] = []
        self._names: dict[frozenset[int], str] = {}
        self._taken: dict[str, int] = {}
        self._waiting: list[tuple[str, list[Part]]] = []
        self._reduced: dict[tuple[int, tuple[str, ...]], dict[str, Any]] = {}
        self._depth = 0
        self._count = 0

    def document(self) -> Document:
        """Return the whole document."""
        root = self.node([self.scope.root])
        definitions: dict[str, Node] = {}
        while self._waiting:
            name, parts = self._waiting.pop()
            definitions[name] = self._read(parts)
        own = self._names.get(frozenset({id(self.scope.root.schema)}))
        return Document(root if own is None else Ref("", own), definitions)

    def node(self, parts: Sequence[Part]) -> Node:
        """Return what ``parts`` say together."""
        self._count += 1
        found = leaf(parts[0]) if len(parts) == 1 else None
        return self._together(parts) if found is None else found

    def _together(self, parts: Sequence[Part]) -> Node:
        saying = [part for part in parts if part.schema is not True and part.schema != {}]
        if any(part.schema is False for part in saying):
            return Never(parts[0].where)
        if not saying:
            return Open(parts[0].where)
        if len(saying) == 1 and "$ref" not in saying[0].schema and "allOf" not in saying[0].schema:
            return self._flat(saying, saying)
        alone = self._alone(saying)
        if alone is not None:
            return self._reference([self.scope.lookup(alone, "$ref")], [alone])
        flat, followed = self._expand(saying)
        if followed and flat is not None and not any(part.schema is False for part in flat):
            return self._reference([part for part in flat if isinstance(part.schema, dict)], saying)
        return self._flat(flat, saying)

    def without(self, part: Part, keywords: tuple[str, ...]) -> Part:
        """Return ``part`` without these keywords: the same object each time, for schemas are told apart by identity."""
        if not part.schema.keys() & set(keywords):
            return part
        key = (id(part.schema), keywords)
        if key not in self._reduced:
            self._reduced[key] = {name: each for name, each in part.schema.items() if name not in keywords}
        return part._replace(schema=self._reduced[key])

    def _alone(self, parts: list[Part]) -> Part | None:
        """Return the one part that says something, if all it says is a reference."""
        saying = [part for part in parts if part.schema.keys() - _SILENT]
        if len(saying) != 1 or "$ref" not in saying[0].schema:
            return None
        if self.draft.ref_alone or not (saying[0].schema.keys() - {"$ref"}) & self.draft.keywords - {"$defs"}:
            return saying[0]
        return None

    def _reference(self, parts: list[Part], saying: list[Part]) -> Node:
        """Name what the parts say together, to be read once."""
        key = frozenset(id(part.schema) for part in parts)
        if key not in self._names:
            self._names[key] = self._free_name(name_of(parts[0].where))
            self._waiting.append((self._names[key], parts))
        first = saying[0]
        notes = {each: first.schema[each] for each in ("title", "description", "examples") if each in first.schema}
        return Ref(first.where, self._names[key], notes=notes, parts=tuple(saying))

    def _free_name(self, wanted: str) -> str:
        name = wanted
        while name in self._taken:
            self._taken[wanted] += 1
            name = f"{wanted}_{self._taken[wanted]}"
        self._taken[name] = 1
        return name

    def _expand(self, parts: Sequence[Part]) -> tuple[list[Part] | None, bool]:
        """Follow references and ``allOf``; tell too whether a reference was followed. None if they are too many."""
        waiting, met, found = list(reversed(parts)), set[int](), list[Part]()
        followed = again = False
        while waiting:
            part = waiting.pop()
            if id(part.schema) in met and part.schema.__class__ is dict:
                again = True
                continue
            met.add(id(part.schema))
            if len(met) > MAX_TOGETHER:
                return None, followed
            refers = part.schema.__class__ is dict and "$ref" in part.schema
            if refers:
                followed = True
                waiting.append(self.scope.lookup(part, "$ref"))
            if not (refers and self.draft.ref_alone):
                found.append(part)
                waiting.extend(reversed(self._all_of(part)))
        if followed and again and not any(_says_more(part.schema) for part in found):
            raise Uncompilable(parts[0].where, "refers to itself without end, and says nothing else")
        return found, followed

    def _all_of(self, part: Part) -> list[Part]:
        listed = sequence(part.schema.get("allOf")) if part.schema.__class__ is dict else []
        return [self.scope.inside(part, below(part.where, "allOf", index), each) for index, each in enumerate(listed)]

    def _read(self, parts: Sequence[Part]) -> Node:
        """Read what ``parts`` say together, references that they hold themselves followed at once."""
        if all(part.schema.__class__ is dict and not set(FOLLOWED) & part.schema.keys() for part in parts):
            return self._flat(list(parts), parts)
        return self._flat(self._expand(parts)[0], parts)

    def _flat(self, flat: list[Part] | None, parts: Sequence[Part]) -> Node:
        """Read schemas of which none refers to another; ``parts`` are those they come from."""
        where = parts[0].where
        if flat is None or self._depth > MAX_DEPTH or self._count > MAX_NODES:
            return Open(where, whole=True, parts=tuple(parts))
        if any(part.schema is False for part in flat):
            return Never(where)
        saying = [part for part in flat if isinstance(part.schema, dict)]
        if not saying:
            return Open(where)
        facts = gather(saying, self.draft)
        if any(rule.keyword == "not" and rule.value in (True, {}) for rule in facts.left):
            return Never(where)
        self._depth += 1
        try:
            node = self._shape(facts)
        finally:
            self._depth -= 1
        node.notes = {**facts.notes, **node.notes}
        node.parts = facts.parts
        node.left = (*node.left, *facts.left)
        return node

    def _shape(self, facts: Facts) -> Node:
        if facts.constants:
            return constants(facts, EVERY_TYPE if facts.types is None else facts.types)
        if facts.unions:
            return union(facts, self)
        types = kinds(facts)
        if facts.types is None:
            return self._untyped(facts)
        return _one([self._typed(facts, each) for each in _grouped(types)], facts)

    def _untyped(self, facts: Facts) -> Node:
        """Read a schema without ``type``: what it constrains has a form, any other type is open."""
        about = [each for each in (*_grouped(EVERY_TYPE),) if set(each) & facts.about.keys()]
        if not about:
            return Open(facts.where)
        spoken = [self._typed(facts, tuple(each for each in group if each in facts.about)) for group in about]
        if self.close:
            self.closings.append(Rule(facts.where, "type", None))
            return _one(spoken, facts)
        others = tuple(each for each in EVERY_TYPE if each not in facts.about)
        # What goes as text can be a text that is no JSON, and so escape the rules for texts.
        escaped = tuple(facts.about.get(STRING, ()))
        return _one([*spoken, Open(facts.where, types=others, rules=escaped)], facts)

    def _typed(self, facts: Facts, types: tuple[str, ...]) -> Node:
        if types == (OBJECT,):
            return record(facts, self)
        if types == (ARRAY,):
            return array(facts, self)
        return scalar(facts, types)


def _says_more(schema: Any) -> bool:
    """Tell whether a schema says anything but what it refers to."""
    return schema.__class__ is not dict or bool(schema.keys() - _SILENT - set(FOLLOWED))


def _grouped(types: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the types by form: all scalars together, arrays and objects each alone."""
    scalars = tuple(each for each in types if each in SCALARS)
    return [*([scalars] if scalars else []), *((each,) for each in types if each in {ARRAY, OBJECT})]


def _one(nodes: list[Node], facts: Facts) -> Node:
    """Return the one form that is possible, or the choice between several."""
    possible = [node for node in nodes if not isinstance(node, Never)]
    if not possible:
        return Never(facts.where)
    return possible[0] if len(possible) == 1 else Choice(facts.where, tuple(possible), parts=facts.parts)
