"""What is wrong with an answer, said without a word of the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from emitter.schema.pointer import escaped
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.wire import Json


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: where, which, and what is expected there.

    ``pointer`` is a JSON pointer in which every name that the schema does not know stands as ``*``, ``rule``
    the schema keyword or the id of a content rule, ``expected`` one phrase written from the schema alone.
    """

    pointer: str
    rule: str
    expected: str

    def __str__(self) -> str:
        return f"{self.pointer or '/'}: {self.rule}: {self.expected}"


def told(name: str, names: frozenset[str]) -> str:
    """Return a name as a violation's pointer tells it; ``names`` are those that the schema knows."""
    return escaped(name) if name in names else "*"


def names_of(schema: Json) -> frozenset[str]:
    """Return the names of all properties that a schema knows, also of one that holds itself."""
    return frozenset(_names(schema))


def _names(schema: Json) -> Iterator[str]:
    pending, seen = [schema], set[int]()
    while pending:
        node: Any = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        table = mapping(node)
        yield from mapping(table.get("properties"))
        pending.extend(table.values() or sequence(node))


HALF_A_CHARACTER = Violation("", "unicode", "text without lone surrogates")
"""Half a character, which JSON can spell and nothing can carry: found by the judge wherever it stands."""
