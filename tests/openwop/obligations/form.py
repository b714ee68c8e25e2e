"""What the tables of docs/openwop.md are made of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Level(str, Enum):
    """How far an obligation binds (RFC 2119)."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"


@dataclass(frozen=True, slots=True)
class Obligation:
    """What the specification asks of a host, and what holds it.

    ``code`` names what does it (``module:name``), ``tests`` what would turn red if it did not
    (``path::function``, with ``[row]`` for a row of the faults' matrix). ``note`` says how it is meant here,
    ``beyond`` what of it is not held, and why.
    """

    id: str
    level: Level
    line: str
    code: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    note: str = ""
    beyond: str = ""


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


def of(file: str, *names: str) -> tuple[str, ...]:
    """Return tests of one file."""
    return tuple(f"tests/{file}.py::{name}" for name in names)


def rows(*faults: str) -> tuple[str, ...]:
    """Return rows of the faults' matrix, each of which is played on every wire, unary and streamed."""
    return of("faults/test_matrix", *(f"test_fault[{each}]" for each in faults))
