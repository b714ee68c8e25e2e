"""What an emission in chunks may take, and what a chunk leads to. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from emitter.accept.outcome import Code
    from emitter.kinds.envelope import AIEnvelope
    from emitter.schema import Violation


@dataclass(frozen=True, slots=True)
class Bounds:
    """What emissions in chunks may take.

    ``chunks`` and ``size`` bound one emission: its indexes, and the characters of a payload written as JSON (of
    fragments, of all together). ``open`` is how many of one run may wait at a time, ``timeout`` the seconds from
    the first chunk that came to the last, ``remembered`` how many that ended are known again if a chunk comes late.
    """

    chunks: int = 4096
    size: int = 1_048_576
    open: int = 64
    timeout: float = 300.0
    remembered: int = 4096


@dataclass(frozen=True, slots=True)
class Waiting:
    """It is not whole: ``chunks`` came, of ``total``, which is -1 where nobody said. It may be shown, and no more."""

    chunks: int
    total: int


@dataclass(frozen=True, slots=True)
class Complete:
    """It is whole: an envelope without ``partial``, untrusted if any chunk was that came before it was whole."""

    envelope: AIEnvelope


@dataclass(frozen=True, slots=True)
class Broken:
    """It will not be whole: its chunks contradict each other, exceed the bounds, or did not all come in time."""

    code: Code
    violations: tuple[Violation, ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    """It was whole before, and the chunk adds nothing: what became of it is kept under its ``correlationId``."""


Verdict: TypeAlias = Waiting | Complete | Broken | Repeated


@dataclass(frozen=True, slots=True)
class Expired:
    """An emission whose chunks did not all come in time, by the first of them that came."""

    run_id: str
    correlation_id: str
    type: str
    node_id: str | None
    broken: Broken
