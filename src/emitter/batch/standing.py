"""How a run of batches stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the batches of a run stand.

    ``submitted`` counts the requests that this run has submitted, ``retries`` those of them that were not the first
    of their emission. ``batches`` are open at the vendor; of their ``in_progress`` requests it says that ``done``
    came to an answer and ``failed`` to none. ``notice`` is a sentence worth reading.
    """

    submitted: int = 0
    retries: int = 0
    batches: int = 0
    in_progress: int = 0
    done: int = 0
    failed: int = 0
    notice: str | None = None


Report: TypeAlias = Callable[[Standing], object]
"""Told of each change; what it returns is not looked at."""


class Pace:
    """How long to wait before the next look: longer and longer, while nothing changes."""

    _SLOWER = 1.5

    def __init__(self, first: float, slowest: float) -> None:
        self._first, self._slowest = first, slowest
        self._next = first

    def seconds(self) -> float:
        """Return how long to wait now."""
        seconds, self._next = self._next, min(self._slowest, self._next * self._SLOWER)
        return seconds

    def quicken(self) -> None:
        """Begin anew: something has changed."""
        self._next = self._first
