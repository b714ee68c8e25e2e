"""What a proof says of one schema and one profile."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

LAWS = ("accepted", "decodable", "sound", "faithful", "checked", "reported", "grown", "total", "timeout")
"""In the order in which they are reported."""

GRAVE = frozenset({"accepted", "sound", "reported", "grown", "total", "timeout"})
"""A report with one of these red is a failure as a whole."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A law that does not hold: ``reason`` is the same for failures of one kind, ``detail`` is this one's."""

    law: str
    reason: str
    detail: str = ""


@dataclass(slots=True)
class Report:
    """The verdicts on one schema compiled for one profile.

    ``refused`` and ``pointer`` say why and where there is no compiled form.
    ``counts`` are of instances, documents, excuses and missing names; ``seconds`` and ``size`` are those of the
    compilation, ``growth`` is the size by that of the schema as given, and ``degraded`` that it was cut down.
    """

    case: str
    profile: str
    refused: str | None = None
    pointer: str = ""
    enforced: bool = False
    failures: list[Failure] = field(default_factory=list[Failure])
    counts: Counter[str] = field(default_factory=Counter[str])
    seconds: float = 0.0
    size: int = 0
    growth: float = 0.0
    degraded: bool = False

    def fail(self, law: str, reason: str, detail: object = "") -> None:
        """Note that a law does not hold; the same reason is noted once."""
        if not any((each.law, each.reason) == (law, reason) for each in self.failures):
            self.failures.append(Failure(law, reason, str(detail)[:600]))

    def red(self, law: str) -> bool:
        """Tell whether a law does not hold."""
        return any(each.law == law for each in self.failures)

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return asdict(self)


def same(one: Any, other: Any) -> bool:
    """Tell whether two values are one, null being the same as absent; 1 is 1.0, but never true."""
    return differing(one, other) is None


def differing(one: Any, other: Any, place: str = "#") -> str | None:
    """Return the first place at which two values are not the same, if there is one."""
    pairs: list[tuple[Any, Any, Any]] | None = None
    if isinstance(one, dict) and isinstance(other, dict):
        pairs = [(name, one.get(name), other.get(name)) for name in {**one, **other}]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = [(index, *each) for index, each in enumerate(zip(one, other, strict=True))]
    if pairs is not None:
        found = (differing(left, right, f"{place}/{name}") for name, left, right in pairs)
        return next((each for each in found if each), None)
    return None if isinstance(one, bool) == isinstance(other, bool) and one == other else place
