"""How much work tests do, and how much a call does, counted in a way that no clock and no load can change."""

from __future__ import annotations

import os
import sys
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import FrameType


FULL = os.environ.get("EMITTER_TESTS") == "full"
"""True under ``make check-all``: property tests run at full size, on fresh examples."""


def examples(full: int) -> int:
    """Return how many examples a property test draws: ``full`` under ``make check-all``, a tenth of it otherwise."""
    return full if FULL else max(min(full, 5), full // 10)


def covering(*axes: Iterable[Any], strength: int = 2) -> list[tuple[Any, ...]]:
    """Return the cells of a grid that a test runs: all of them under ``make check-all``.

    Otherwise it is a covering array: any values of ``strength`` axes stand together in at least one cell. With a
    strength of one, each value is in at least one cell, and the values of the shorter axes take turns.
    """
    values = [list(axis) for axis in axes]
    if strength == 1 and not FULL:
        return [tuple(axis[nth % len(axis)] for axis in values) for nth in range(max(map(len, values)))]
    grid = list(product(*(range(len(axis)) for axis in values)))
    if not FULL:
        grid = _covering(grid, strength)
    return [tuple(axis[at] for axis, at in zip(values, cell, strict=True)) for cell in grid]


def _covering(grid: list[tuple[int, ...]], strength: int) -> list[tuple[int, ...]]:
    parts = {cell: set(combinations(enumerate(cell), strength)) for cell in grid}
    covered, chosen = set[Any](), set[tuple[int, ...]]()
    for gain in range(max(map(len, parts.values())), 0, -1):
        for cell in grid:
            if len(parts[cell] - covered) >= gain:
                chosen.add(cell)
                covered |= parts[cell]
    return sorted(chosen)


class TooMuchWorkError(AssertionError):
    """A call executed more lines than it was allowed."""


def count_lines(call: Callable[[], object], limit: int | None = None) -> int:
    """Run ``call`` and return how many lines of Python it executed, in every function that it entered.

    Raises ``TooMuchWorkError`` as soon as it executes more than ``limit`` lines, so a call that would never end
    fails instead of hanging. Work inside C functions, such as a regular expression's, is not counted.
    """
    lines = 0

    def trace(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal lines
        if event == "line":
            lines += 1
            if limit is not None and lines > limit:
                sys.settrace(None)
                raise TooMuchWorkError(f"The call executed more than {limit} lines.")
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return lines
