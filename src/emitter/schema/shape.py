"""What a JSON Schema means, in eight nouns: the form between reading (any draft) and writing (any vendor).

Every node says where it came from (``where``, a JSON pointer into the original), what is told to the model
(``notes``), the rules that a vendor may enforce (``rules``) and those that none can (``left``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from emitter.schema.value import EVERY_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.wire import Json


class Rule(NamedTuple):
    """A keyword and its value, and the pointer of the schema that holds it."""

    where: str
    keyword: str
    value: Any


class Remark:
    """Names of notes that no vendor has a keyword for: they are put into words."""

    FORMAT = "$format"
    """A format that says nothing about which values are valid."""
    NAMES = "$names"
    """The names of listed values, by the values as JSON."""
    CONTENT = "$content"
    """The part that describes what a text holds, such as JSON."""


def _nothing() -> dict[str, Any]:
    """Return one empty table for all: notes are replaced, never changed."""
    return _NOTHING


_NOTHING: dict[str, Any] = {}


@dataclass(slots=True, eq=False)
class _Node:
    where: str
    notes: dict[str, Any] = field(default_factory=_nothing, kw_only=True)
    """Title, description, default and examples, and remarks under the names of ``Remark``."""
    rules: tuple[Rule, ...] = field(default=(), kw_only=True)
    left: tuple[Rule, ...] = field(default=(), kw_only=True)
    unions: tuple[Rule, ...] = field(default=(), kw_only=True)
    """The unions of which this is the only branch that is possible."""
    parts: tuple[Any, ...] = field(default=(), kw_only=True)
    """The schemas of the original that hold here together (``emitter.schema.read.scope.Part``)."""


@dataclass(slots=True, eq=False)
class Open(_Node):
    """Any value of these types, with no closed form.

    ``whole`` means that ``parts`` say more of the value than its types: none of that can be enforced.
    ``degraded`` means that it had a form, and the schema as a whole was too large for the vendor. ``said`` are the
    schemas that stand at the place itself where ``parts`` are those that they refer to.
    """

    types: tuple[str, ...] = EVERY_TYPE
    whole: bool = False
    degraded: bool = False
    said: tuple[Any, ...] = ()


@dataclass(slots=True, eq=False)
class Never(_Node):
    """No value at all."""


@dataclass(slots=True, eq=False)
class Scalar(_Node):
    """A string, a number, a boolean or null."""

    types: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Values(_Node):
    """One of these values, of any type; ``dropped`` means that they are too many to be listed for the vendor."""

    values: list[Json]
    dropped: bool = False


class Field(NamedTuple):
    """A property that the schema names."""

    node: Node
    required: bool


@dataclass(slots=True, eq=False)
class Rest:
    """The properties that the schema does not name.

    ``entries`` pairs the pattern of their names, or None for all others, with what they hold. ``implicit``
    means that the schema is silent about them; ``names`` are rules for the names themselves and ``key`` holds the
    names that a single such rule lists, ``rules`` say which names are allowed at all, where the patterns alone do.
    """

    entries: tuple[tuple[str | None, Node], ...]
    implicit: bool = False
    names: tuple[Rule, ...] = ()
    key: Values | None = None
    rules: tuple[Rule, ...] = ()


@dataclass(slots=True, eq=False)
class Record(_Node):
    """An object; without ``rest`` it is closed.

    ``forbidden`` are names that no property may have, ``spilled`` properties that go as JSON text together.
    """

    fields: dict[str, Field]
    rest: Rest | None = None
    forbidden: frozenset[str] = frozenset()
    spilled: dict[str, Field] = field(default_factory=_nothing)


@dataclass(slots=True, eq=False)
class Sequence(_Node):
    """An array: ``prefix`` by position, then any number of ``rest``; without ``rest`` it ends there."""

    prefix: tuple[Node, ...] = ()
    rest: Node | None = None
    least: int = 0
    most: int | None = None


@dataclass(slots=True, eq=False)
class Choice(_Node):
    """One of several forms; ``origin`` is the union keyword it stems from, where one did."""

    branches: tuple[Node, ...]
    origin: Rule | None = None

    @property
    def exclusive(self) -> bool:
        """Whether exactly one branch must hold."""
        return self.origin is not None and self.origin.keyword == "oneOf"


@dataclass(slots=True, eq=False)
class Ref(_Node):
    """A definition, by name.

    ``text`` are the schemas of the value where the definition is JSON text that several places share.
    """

    name: str
    text: tuple[Any, ...] = ()


Node: TypeAlias = Open | Never | Scalar | Values | Record | Sequence | Choice | Ref


@dataclass(frozen=True, slots=True)
class Document:
    """A schema as read: its root, and the definitions that ``Ref`` names."""

    root: Node
    definitions: dict[str, Node]

    def resolved(self, node: Node) -> Node:
        """Return what ``node`` stands for, references followed; a circle of bare references is ``Never``."""
        seen: set[str] = set()
        while isinstance(node, Ref):
            if node.name in seen:
                return Never(node.where)
            seen.add(node.name)
            node = self.definitions[node.name]
        return node

    def nodes(self) -> Iterator[Node]:
        """Yield every node, the root's first, each definition's after."""
        for start in (self.root, *self.definitions.values()):
            waiting = [start]
            while waiting:
                node = waiting.pop()
                yield node
                waiting.extend(children(node))


def children(node: Node) -> list[Node]:
    """Return the nodes directly inside ``node``; a reference has none."""
    match node:
        case Record():
            rest = [each for _, each in node.rest.entries] if node.rest is not None else []
            return [*(each.node for each in node.fields.values()), *rest]
        case Sequence():
            return [*node.prefix, *([node.rest] if node.rest is not None else [])]
        case Choice():
            return list(node.branches)
        case _:
            return []
