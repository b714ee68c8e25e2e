"""What came of the runs: what may not be, and the figures that are printed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from emitter import Emission, EmissionError
from emitter.messages import FaultKind
from tests.hostile.courses import MODES
from tests.hostile.trickles import DEADLINE
from tests.hostile.wires import INPUT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.hostile.courses import Course, Run

FAULTS = {
    "wrong success": "another value than the right one, or a value where none may be",
    "raw exception": "an exception that is not an EmissionError",
    "hang": "a call that ends later than its deadline and a second in each try, or only because of its timeout",
    "sent elsewhere": "a request to another origin",
    "memory": "more memory than a few times what a response may have",
    "lost usage": "a cost that the vendor said and the trace does not have",
    "wrong report": "fields that a stream reported and that are not those of its result",
    "wrong error": "an error where the right answer came",
    "sent again": "a second request that is paid for",
    "not met": "a run that never came to its shape, so that it shows nothing",
}
"""What may not be, in the order in which it is printed."""


@dataclass
class Figures:
    """What came of the runs; ``amiss`` names each that may not be."""

    runs: Counter[str] = field(default_factory=Counter[str])
    errors: Counter[str] = field(default_factory=Counter[str])
    successes: int = 0
    amiss: dict[str, list[str]] = field(default_factory=dict[str, "list[str]"])
    peak: int = 0
    longest: float = 0.0
    again: int = 0
    """How many runs were tried again, because they were late or did not come to their shape among others."""
    excused: int = 0
    """How many runs were late by the clock in each try, and not by the control: the machine was busy."""

    def note(self, what: str, run: str) -> None:
        """Keep a run that went wrong."""
        self.amiss.setdefault(what, []).append(run)

    def add(self, other: Figures) -> None:
        """Add the figures of another part."""
        self.runs += other.runs
        self.errors += other.errors
        self.successes += other.successes
        self.again += other.again
        self.excused += other.excused
        self.peak, self.longest = max(self.peak, other.peak), max(self.longest, other.longest)
        for what, found in other.amiss.items():
            self.amiss.setdefault(what, []).extend(found)

    @property
    def lines(self) -> Iterator[str]:
        """The figures as text."""
        yield f"runs               {self.runs.total()}"
        yield from (f"    {mode:14} {self.runs[mode]}" for mode in MODES if self.runs[mode])
        yield f"typed errors       {self.errors.total()}"
        yield f"successes          {self.successes}"
        for what in FAULTS:
            found = self.amiss.get(what, [])
            yield f"{what:18} {len(found)}"
            yield from (f"    {each}" for each in found)
        yield f"peak memory        {self.peak >> 10} MiB"
        if self.longest:
            yield f"longest            {self.longest:.1f} s, at a deadline of {DEADLINE:g} s"
            yield f"tried again        {self.again}, of which {self.excused} were late because the machine was busy"


@dataclass(frozen=True)
class Outcome:
    """What came of one job: an emission or an exception, and the fields that a stream reported last."""

    result: Any
    reported: dict[str, Any] | None = None


def count(figures: Figures, course: Course, outcomes: Sequence[Outcome]) -> None:
    """Count what came of a run."""
    run = course.run
    figures.runs[run.mode] += run.jobs
    if course.strange:
        figures.note("sent elsewhere", f"{run}: {course.strange}")
    if course.again > 0:
        figures.note("sent again", f"{run}: {[each.path for each in course.received]}")
    if not (course.met or run.is_upload):
        figures.note("not met", f"{run}: {[each.path for each in course.received]}")
    if run.step == "cancel":
        return
    if len(outcomes) != run.jobs:
        figures.note("raw exception", f"{run}: {[each.result for each in outcomes]!r:.200}")
        return
    for job, outcome in enumerate(outcomes):
        _count_one(figures, run, job, outcome)


def _count_one(figures: Figures, run: Run, job: int, outcome: Outcome) -> None:
    result, expected, name = outcome.result, run.expected(job), run.name(job)
    if isinstance(result, Emission):
        figures.successes += 1
        if expected != "any" and (result.value != run.document(job) or expected == "error"):
            figures.note("wrong success", f"{name}: {result.value}")
        if outcome.reported and outcome.reported != {f"/{key}": value for key, value in result.value.items()}:
            figures.note("wrong report", f"{name}: {outcome.reported} and then {result.value}")
    elif isinstance(result, EmissionError):
        figures.errors[result.code] += 1
        if expected == "answer":
            figures.note("wrong error", f"{name}: {result}")
    else:
        figures.note("raw exception", f"{name}: {result!r:.200}")
        return
    attempts, usage = result.trace.attempts, result.trace.usage
    if not run.may_time_out and any(each.fault and each.fault.kind is FaultKind.TIMEOUT for each in attempts):
        figures.note("hang", name)
    least = INPUT if run.said(job) else 1 if isinstance(result, Emission) else 0
    if usage.input < least or (run.mode != "batch" and not attempts):
        figures.note("lost usage", f"{name}: {usage}")
