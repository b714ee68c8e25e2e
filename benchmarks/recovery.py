"""What it costs to look for a document in hostile text, against its size: brackets, quotes, backslashes, fences."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.libraries import Library, Lost, Runner

if TYPE_CHECKING:
    from collections.abc import Sequence

KILO = 1000
READERS = ("emitter", "json_repair")
TEXTS = {
    "open braces": ("", "{1", ""),
    "braces and quotes": ('{"', '{"', ""),
    "quotes": ('["', 'x "y" ', ""),
    "brackets in a string": ('{"a": "[', 'x"', ""),
    "backslashes": ("{'a': '", "\\'\\\\ ", "',}"),
    "fences": ("", '```json\n{"a": ', ""),
}
"""What each text is made of: a beginning, what is repeated, an end."""
_LIBRARY = Library("recovery", "recovery_runner", READERS[0], ("llm-emitter", "json_repair"))


@dataclass(frozen=True, slots=True)
class Point:
    """The processor seconds of one reading of ``kilobytes``; None where it was stopped or raised, as ``end`` says."""

    reader: str
    text: str
    kilobytes: int
    seconds: float | None
    end: str = ""


def measured(sizes: Sequence[int], cap: float) -> list[Point]:
    """Measure at ``sizes`` in kilobytes; a reader that takes longer than ``cap`` seconds is not asked for more."""
    with Runner(_LIBRARY) as runner:
        runner.ask("about", packages=_LIBRARY.packages)  # so that loading does not count
        return [point for reader in READERS for text in TEXTS for point in _line(runner, (reader, text), sizes, cap)]


def plain(points: Sequence[Point]) -> list[dict[str, Any]]:
    """Return the points as JSON."""
    seconds = [None if each.seconds is None else float(f"{each.seconds:.3g}") for each in points]
    return [{**asdict(each), "seconds": spent} for each, spent in zip(points, seconds, strict=True)]


def _line(runner: Runner, who: tuple[str, str], sizes: Sequence[int], cap: float) -> list[Point]:
    points: list[Point] = []
    for size in sizes:
        points.append(_point(runner, who, size, cap))
        if points[-1].seconds is None:
            break
    return points


def _point(runner: Runner, who: tuple[str, str], size: int, cap: float) -> Point:
    reader, text = who
    prefix, unit, suffix = TEXTS[text]
    job: dict[str, Any] = {"contender": reader, "prefix": prefix, "unit": unit, "suffix": suffix, "size": size * KILO}
    try:
        return Point(reader, text, size, runner.ask("cpu", cap, calls=1, **job)["cpu"])
    except Lost:
        return Point(reader, text, size, None, f"stopped after {cap:g} s")
    except RuntimeError as error:
        return Point(reader, text, size, None, "RecursionError" if "RecursionError" in str(error) else "raised")
