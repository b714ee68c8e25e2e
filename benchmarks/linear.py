"""How the work on hostile texts grows with their length: ``python -m benchmarks.linear``.

Each reader reads a text and one four times as long. Linear work takes four times as long, quadratic work sixteen.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from tests.authority.narrative import test_linear as narrative
from tests.checks.content import test_linear as checks
from tests.checks.content.labelled import moment
from tests.checks.content.test_linear import MEGABYTE
from tests.host.test_extract import HOSTILE
from tests.recover.test_bounds import FRAMES, UNITS

from emitter.checks import DEFAULT_CHECKS
from emitter.checks.text import MAX_READ
from emitter.host.model_text import extract_documents
from emitter.recover import parse_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from emitter.models import BindingMoment

_RUNS = 5
_WANTED = 8.0
"""Between linear and quadratic; small texts are measured less exactly."""
_FLOOR = 0.002
"""Seconds under which a reading says nothing."""


_FRAMED = {
    f"{before}…{after}": lambda text, frame=(before, after): parse_answer(text.join(frame)) for before, after in FRAMES
}


def seconds(read: Callable[[str], object], text: str) -> float:
    """Return the least processor time of some runs."""
    best = float("inf")
    for _ in range(_RUNS):
        start = time.process_time()
        read(text)
        best = min(best, time.process_time() - start)
    return best


def _named(units: Iterable[str]) -> dict[str, str]:
    return {ascii(each): each for each in units}


def main() -> int:
    """Print the worst growth of each reader; return 1 if one is above what is wanted."""
    worst = 0.0
    for name, readers, pieces, many, length in (
        ("content checks", checks.READERS, checks.HOSTILE, checks.repeat, MAX_READ),
        ("narrative scanner", narrative.READERS, narrative.HOSTILE, narrative.many, narrative.LARGE),
        ("recovery", _FRAMED, {ascii(each): each for each in UNITS}, narrative.many, 12_000),
        (
            "extraction",
            {"documents": extract_documents},
            {ascii(each): each for each in HOSTILE},
            narrative.many,
            20_000,
        ),
    ):
        for reader, read in readers.items():
            found = []
            for piece, text in pieces.items():
                large = seconds(read, many(text, length))
                small = max(seconds(read, many(text, length // 4)), _FLOOR / 4)
                found.append((large / small if large > _FLOOR else 0.0, piece))
            growth, piece = max(found)
            worst = max(worst, growth)
            print(f"{name:20} {reader:12} at most {growth:5.1f} times for four times the text ({piece})")  # noqa: T201
    _print_decisions()
    return int(worst > _WANTED)


def _print_decisions() -> None:
    """Print how long all default checks take for a decision with a megabyte in one slot."""
    for slot in ("synopsis", "stem"):
        taken = {
            piece: seconds(lambda text, slot=slot: _check(moment(**{slot: text})), checks.repeat(text, MEGABYTE))
            for piece, text in checks.HOSTILE.items()
        }
        piece = max(taken, key=taken.__getitem__)
        print(f"a decision with 1 MB in its {slot}: at most {taken[piece] * 1e3:.0f} ms ({piece})")  # noqa: T201


def _check(decision: BindingMoment) -> None:
    for checker in DEFAULT_CHECKS:
        tuple(checker(decision))


if __name__ == "__main__":
    sys.exit(main())
