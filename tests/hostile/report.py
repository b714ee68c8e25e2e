"""Ask the hostile vendor for every shape, on every wire, in every mode: ``python -m tests.hostile.report``.

It prints what came of it and ends with 1 where anything may not be. ``--small`` asks for a sample.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx2

from emitter import Emission, EmissionError, Policy, aemit, astream, emit, stream
from emitter.adapters.clients import create_client
from emitter.messages import FaultKind
from emitter.profiles import find_profile
from emitter.testing.scenarios import SCENARIO_MODELS
from tests.hostile.shapes import DOCUMENT, INPUT, WIRES, Ask, Shape, shapes
from tests.hostile.vendor import HostileVendor, Script, hostile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MODES = ("sync", "async", "stream", "astream")
FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["a", "n"],
    "additionalProperties": False,
}
SMALL, FULL = 1 << 18, 32 << 20
"""How many bytes a response may have: in a sample, and in the full grid, where it is what users have."""
_TIMEOUT = 60.0
_NO_REUSE = httpx2.Limits(max_keepalive_connections=0)
"""A connection is for one request: what one shape leaves behind must not meet the next."""


@dataclass
class Figures:
    """What came of the runs; ``amiss`` names each that may not be."""

    runs: int = 0
    errors: Counter[str] = field(default_factory=Counter[str])
    successes: int = 0
    amiss: dict[str, list[str]] = field(default_factory=dict[str, "list[str]"])
    elsewhere: int = 0
    peak: int = 0

    def note(self, what: str, run: str) -> None:
        """Keep a run that went wrong."""
        self.amiss.setdefault(what, []).append(run)

    @property
    def lines(self) -> Iterator[str]:
        """The figures as text."""
        yield f"runs               {self.runs}"
        yield f"typed errors       {sum(self.errors.values())}"
        yield f"successes          {self.successes}"
        for what in ("wrong success", "raw exception", "hang", "lost usage", "wrong error", "sent again"):
            found = self.amiss.get(what, [])
            yield f"{what:18} {len(found)}"
            yield from (f"    {each}" for each in found)
        yield f"sent elsewhere     {self.elsewhere}"
        yield f"peak memory        {self.peak >> 10} MiB"


@dataclass(frozen=True)
class Run:
    """One shape on one wire in one mode."""

    shape: Shape
    wire: str
    mode: str

    def __str__(self) -> str:
        return f"{self.shape.name} {self.wire} {self.mode}"


def grid(made: Sequence[Shape]) -> list[Run]:
    """Return every run."""
    return [Run(shape, wire, mode) for shape in made for wire in WIRES for mode in MODES]


def sample(made: Sequence[Shape]) -> list[Run]:
    """Return a run of every shape, each on a wire and in a mode in turn: always the same ones."""
    return [Run(each, WIRES[n % 4], MODES[(n // 4 + n) % 4]) for n, each in enumerate(made)]


@dataclass
class _Grid:
    """A vendor that answers as the present run wants it, and the clients through which it is asked."""

    size: int
    stranger: HostileVendor
    run: Run | None = None
    vendor: HostileVendor | None = None
    clients: dict[tuple[str, bool], Any] = field(default_factory=dict[tuple[str, bool], Any])
    figures: Figures = field(default_factory=Figures)

    def answer(self, _: str) -> Script:
        """Return what the present run is answered with."""
        assert self.run is not None
        assert self.vendor is not None
        streams = self.run.mode in ("stream", "astream")
        return self.run.shape.script(Ask(self.run.wire, streams, self.vendor.url, self.stranger.url))

    def settings(self, run: Run, http: Any) -> dict[str, Any]:
        """Return the settings of a run."""
        assert self.vendor is not None
        self.run = run
        self.vendor.requests.clear()
        asynchronous = run.mode in ("async", "astream")
        key = (run.wire, asynchronous)
        if key not in self.clients:
            profile, _ = find_profile(SCENARIO_MODELS[run.wire])
            self.clients[key] = create_client(
                profile, asynchronous=asynchronous, base_url=self.vendor.url, api_key="sk-hostile", http_client=http
            )
        policy = Policy(max_attempts=1, max_faults=0, timeout=_TIMEOUT, max_response_bytes=self.size)
        return {"model": SCENARIO_MODELS[run.wire], "wire": run.wire, "client": self.clients[key], "policy": policy}


def perform(runs: Sequence[Run], size: int) -> Figures:
    """Perform the runs one after the other, and return what came of them."""
    with hostile(lambda _: Script([])) as stranger:
        grid = _Grid(size, stranger)
        with (
            hostile(grid.answer) as grid.vendor,
            httpx2.Client(timeout=_TIMEOUT, limits=_NO_REUSE, follow_redirects=True) as http,
        ):
            for run in runs:
                if run.mode in ("sync", "stream"):
                    _count(run, _performed(partial(_sync, run, grid.settings(run, http))), grid)
            asyncio.run(_all(runs, grid))
        grid.figures.elsewhere = len(stranger.requests)
    grid.figures.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return grid.figures


def _sync(run: Run, settings: dict[str, Any]) -> Any:
    if run.mode == "sync":
        return emit(FORM, "Now?", **settings)
    with stream(FORM, "Now?", **settings) as running:
        return running.result()


async def _async(run: Run, settings: dict[str, Any]) -> Any:
    if run.mode == "async":
        return await aemit(FORM, "Now?", **settings)
    async with astream(FORM, "Now?", **settings) as running:
        return await running.result()


async def _all(runs: Sequence[Run], grid: _Grid) -> None:
    async with httpx2.AsyncClient(timeout=_TIMEOUT, limits=_NO_REUSE, follow_redirects=True) as http:
        for run in runs:
            if run.mode in ("async", "astream"):
                outcome: Any
                try:
                    outcome = await _async(run, grid.settings(run, http))
                except Exception as error:  # noqa: BLE001  which ones come is what is asked
                    outcome = error
                _count(run, outcome, grid)


def _performed(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except Exception as error:  # noqa: BLE001  which ones come is what is asked
        return error


def _count(run: Run, outcome: Any, grid: _Grid) -> None:
    figures = grid.figures
    figures.runs += 1
    assert grid.vendor is not None
    if len(grid.vendor.requests) != 1:
        figures.note("sent again", f"{run}: {len(grid.vendor.requests)} requests")
    if isinstance(outcome, Emission):
        figures.successes += 1
        if outcome.value != DOCUMENT or run.shape.expected == "error":
            figures.note("wrong success", f"{run}: {outcome.value}")
    elif isinstance(outcome, EmissionError):
        figures.errors[outcome.code] += 1
        if run.shape.expected == "answer":
            figures.note("wrong error", f"{run}: {outcome}")
    else:
        figures.note("raw exception", f"{run}: {outcome!r:.200}")
        return
    _count_trace(run, outcome, figures)


def _count_trace(run: Run, outcome: Any, figures: Figures) -> None:
    """Look for calls that ended only because of their timeout, and for costs that nobody was told."""
    late = any(each.fault and each.fault.kind is FaultKind.TIMEOUT for each in outcome.trace.attempts)
    if late and not run.shape.name.startswith("status:"):  # 408 and 504 say themselves that they were late
        figures.note("hang", str(run))
    least = INPUT if run.shape.said else 1 if isinstance(outcome, Emission) else 0
    if not outcome.trace.attempts or outcome.trace.usage.input < least:
        figures.note("lost usage", f"{run}: {outcome.trace.usage}")


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a sample, with a small limit on sizes")
    parser.add_argument("--only", default="", help="shapes whose name begins so")
    given = parser.parse_args()
    size = SMALL if given.small else FULL
    made = [each for each in shapes(size) if each.name.startswith(given.only)]
    began, used = time.monotonic(), time.process_time()
    warnings.simplefilter("ignore")
    figures = perform(sample(made) if given.small else grid(made), size)
    spent = f"{time.monotonic() - began:.0f} (processor {time.process_time() - used:.0f})"
    lines = [f"shapes             {len(made)}", *figures.lines, f"seconds            {spent}"]
    sys.stdout.write("\n".join([*lines, ""]))
    return 1 if figures.amiss or figures.elsewhere else 0


if __name__ == "__main__":
    sys.exit(main())
