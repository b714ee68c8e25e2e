"""What the benchmarks write: tables in Markdown, one sentence where something is absent, progress on a terminal."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Value = TypeVar("Value")

NONE = "-"
"""What a table says where there is no figure."""

_HOW = "install the dependency group `peers`: python -m pip install --group peers"


def say(line: str = "") -> None:
    """Write a line of the result."""
    sys.stdout.write(f"{line}\n")


def note(sentence: str) -> None:
    """Write a sentence that is no part of the result."""
    sys.stderr.write(f"{sentence}\n")


@cache  # so that what is absent is said once
def peer(module: str, package: str) -> Any:
    """Return a peer's module, or nothing and a sentence where it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        note(f"left out: {package} cannot be imported ({error}); {_HOW}")
        return None


def released(package: str) -> str:
    """Return a package's name and version."""
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return package


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table: the first column is words, the others are numbers."""
    table = [[*map(str, head)], *([*map(str, row)] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for count, row in enumerate(table):
        cells = (
            each.rjust(width) if at else each.ljust(width)
            for at, (each, width) in enumerate(zip(row, widths, strict=True))
        )
        yield f"| {' | '.join(cells)} |"
        if not count:
            yield f"| {' | '.join('-' * (width - bool(at)) + ':' * bool(at) for at, width in enumerate(widths))} |"


def progress(values: Iterable[Value], total: int, word: str) -> Iterator[Value]:
    """Yield the values, and show on a terminal how far it is."""
    shown = sys.stderr.isatty()
    for count, each in enumerate(values, 1):
        if shown:
            sys.stderr.write(f"\r{count} of {total} {word}")
            sys.stderr.flush()
        yield each
    if shown:
        sys.stderr.write("\r\033[K")


def number(value: float | None, places: int = 1) -> str:
    """Write a number for a table; ``NONE`` where there is none."""
    return NONE if value is None else f"{value:,.{places}f}"
