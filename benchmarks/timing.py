"""Times of functions that are measured beside one another.

They take turns, and what is counted is processor time of this thread, in seconds: all of them compute and none waits,
and on a busy machine a clock on the wall tells how busy it is.
"""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_LONG_ENOUGH = 0.005
"""Seconds that one round of a short function lasts at least: far above the resolution of the clock."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """A function to measure: ``prepare`` makes its argument anew for each call, and is not measured."""

    run: Callable[[Any], object]
    prepare: Callable[[], Any]


def calls(contestants: Mapping[str, Contestant], rounds: int) -> dict[str, float]:
    """Return the median seconds of one call of each, after one call that does not count."""
    taken: dict[str, list[float]] = {name: [] for name in contestants}
    for count in range(rounds + 1):
        for name, each in contestants.items():
            argument = each.prepare()
            with _undisturbed():
                started = time.thread_time()
                each.run(argument)
                spent = time.thread_time() - started
            taken[name].extend([spent] if count else [])
    return {name: median(spent) for name, spent in taken.items()}


def loops(functions: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the median seconds of one call of each, for functions too short to be timed alone."""
    numbers = {name: _number(each) for name, each in functions.items()}
    taken: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, each in functions.items():
            taken[name].append(_looped(each, numbers[name]) / numbers[name])
    return {name: median(spent) for name, spent in taken.items()}


def _number(function: Callable[[], object]) -> int:
    number = 1
    while _looped(function, number) < _LONG_ENOUGH:
        number *= 2
    return number


def _looped(function: Callable[[], object], number: int) -> float:
    with _undisturbed():
        started = time.thread_time()
        for _ in range(number):
            function()
        return time.thread_time() - started


class _undisturbed:  # noqa: N801  it is used as a word, like contextlib's own
    """Keep the garbage collector out of a measurement, as ``timeit`` does."""

    def __enter__(self) -> None:
        gc.collect(0)
        gc.disable()

    def __exit__(self, *_: object) -> None:
        gc.enable()
