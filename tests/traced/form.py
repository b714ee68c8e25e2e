"""What a table of obligations is made of."""

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
class Passage:
    """One obligation, and the fingerprints of its sentences; none where it binds without a keyword, or is ours."""

    obligation: Obligation
    sentences: tuple[str, ...] = ()


def of(file: str, *names: str) -> tuple[str, ...]:
    """Return tests of one file."""
    return tuple(f"tests/{file}.py::{name}" for name in names)
