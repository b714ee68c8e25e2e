"""What it costs to read an answer that comes in deltas of 20 characters, against its size."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmarks.libraries import EMITTER, PEERS, SDK, WIRES, Lost, Runners
from benchmarks.runners.task import report
from emitter.testing import PlannedResponse, RawResponse, simulator
from emitter.testing.responses import compose_response

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmarks.libraries import Library, Runner
    from emitter.testing import ReceivedRequest
    from emitter.testing.plans import PlannedOutcome

KILO = 1000
DELTA = 20
PARTIAL = "pydantic_core partial"
FLOOR = "httpx2 stream"
PEER_WIRES = ("openai-chat", "anthropic")
"""Where the peers are measured; ours and the SDKs are on every wire."""
_SHORT = 1.0
"""Seconds below which a measurement is made several times."""
_BUDGET = 32_000


@dataclass(frozen=True, slots=True)
class Point:
    """The processor seconds of one stream of ``kilobytes``; ``estimated`` where it was stopped and extrapolated."""

    contender: str
    wire: str
    kilobytes: int
    seconds: float
    estimated: bool = False


class Long:
    """A long answer, whatever the request's budget: it is the reading that is measured."""

    def __init__(self, size: int) -> None:
        self._text = json.dumps(report(size), separators=(",", ":"))
        self._written: dict[tuple[object, ...], RawResponse] = {}

    def plan(self, asked: ReceivedRequest) -> PlannedOutcome:
        """Return the events, written once for each form of request."""
        key = (asked.wire, asked.tool, asked.include_usage)
        if key not in self._written:
            response = compose_response(PlannedResponse(self._text, chunk_size=DELTA), replace(asked, budget=None))
            self._written[key] = RawResponse(response.body, response.headers["content-type"])
        return self._written[key]


def measured(sizes: Sequence[int], cap: float, runs: int = 3) -> list[Point]:
    """Measure at ``sizes`` in kilobytes; what takes more than ``cap`` processor seconds is left, and extrapolated.

    A measurement that is over soon is made in so many ``runs``, and the least counts.
    """
    with Runners() as runners, ExitStack() as stack:
        urls = {size: stack.enter_context(simulator(answers=Long(size * KILO), keep=1)).url for size in sizes}
        return [
            point
            for library, name, wire in _contests()
            for point in _line(runners.of(library), (name, wire), urls, (cap, runs))
        ]


def plain(points: Sequence[Point]) -> list[dict[str, Any]]:
    """Return the points as JSON."""
    return [{**asdict(each), "seconds": float(f"{each.seconds:.3g}")} for each in points]


def _contests() -> Iterator[tuple[Library, str, str]]:
    for wire in WIRES:
        yield EMITTER, "emit", wire
        yield SDK, SDK.contender, wire
        yield SDK, FLOOR, wire
    yield SDK, PARTIAL, "no wire"
    yield from ((each, each.contender, wire) for each in PEERS if not each.absent for wire in PEER_WIRES)


def _line(runner: Runner, who: tuple[str, str], urls: Mapping[int, str], bounds: tuple[float, int]) -> list[Point]:
    points: list[Point] = []
    cap, runs = bounds
    for size, url in urls.items():
        stopped = bool(points) and points[-1].estimated
        job = {"contender": who[0], "wire": who[1], "url": url, "size": size * KILO, "cap": cap, "budget": _BUDGET}
        seconds = None if stopped else _measured(runner, job, runs, warm=bool(points))
        points.append(Point(*who, size, *((seconds,) if seconds is not None else (_beyond(points, size, cap), True))))
    return points


def _measured(runner: Runner, job: dict[str, Any], runs: int, *, warm: bool) -> float | None:
    """Return the least seconds of the runs; None where it was too long."""
    best: float | None = None
    for count in range(runs + (not warm)):
        try:
            reported = runner.ask("stream", 3 * job["cap"] + 30, **job)
        except Lost:
            return None
        if reported["stopped"]:
            return None
        _check(reported["value"], job)
        if count or warm:
            best = min(reported["cpu"], best or reported["cpu"])
        if reported["cpu"] > _SHORT:
            return best or reported["cpu"]
    return best


def _check(value: Any, job: Mapping[str, Any]) -> None:
    """Refuse a time for reading something else than the answer; a floor has no value."""
    if value is not None and value != report(job["size"]):
        raise RuntimeError(f"{job['contender']} on {job['wire']}: the stream of {job['size']} ended in another value")


def _beyond(points: Sequence[Point], size: int, cap: float) -> float:
    """Extrapolate quadratically from the largest size that was measured; at least the cap, which was passed."""
    measured_ones = [each for each in points if not each.estimated]
    return max([cap, *(each.seconds * (size / each.kilobytes) ** 2 for each in measured_ones[-1:])])
