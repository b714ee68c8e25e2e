"""What the tables of docs/openwop.md are made of."""

from __future__ import annotations

from dataclasses import dataclass

from tests.traced.form import of


@dataclass(frozen=True, slots=True)
class Ruling:
    """A place where the specification, its schemas and its suite disagree, or are silent, and what is done here."""

    number: int
    question: str
    answer: str
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Invariant:
    """A security invariant of the protocol, and what holds it; ``beyond`` as with an obligation."""

    id: str
    line: str
    tests: tuple[str, ...] = ()
    beyond: str = ""


def rows(*faults: str) -> tuple[str, ...]:
    """Return rows of the faults' matrix, each of which is played on every wire, unary and streamed."""
    return of("faults/test_matrix", *(f"test_fault[{each}]" for each in faults))
