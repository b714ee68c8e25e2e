"""Ask the hostile vendor for every shape, on every wire, in every mode: ``python -m tests.hostile.report``.

It prints what came of it and ends with 1 where anything may not be. ``--small`` asks for a sample, ``--only`` for the
shapes whose names begin so. While it runs, it prints the part, how many of its runs have ended, and the seconds.

There are two parts. The first one has the answers that end, and says nothing of time, but that no call ends by its
timeout. The second one has the answers that do not end by themselves, each at a deadline of a second, many at once. A
call that ends more than a second after its deadline is tried again among four and then twice alone, since others may
have kept the processor and the interpreter. It then is late only if a control had these two seconds, too: a process
that sleeps and computes in turn (``tests.hostile.control``), which a busy machine delays as much as the run. A call
that is late each time is a hang. On a machine so busy that a control gets less than a third of its time, a call that
hangs for the vendor's six seconds may pass: ``tried again`` says how many runs only the control excused, and it is 0 on
a quiet machine.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache, partial
from typing import TYPE_CHECKING

from tests.hostile import batches, events, foreign, shapes, trickles
from tests.hostile.courses import background_runs, live_runs, row_runs, step_runs
from tests.hostile.figures import Figures
from tests.hostile.modes import perform, perform_timed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.hostile.courses import Run
    from tests.hostile.shapes import Shape

SMALL, FULL = 1 << 18, 32 << 20
"""How many bytes a response may have: in a sample, and in the full grid, where it is what users have."""
_CANCELLED = (
    *(f"redirect:{status}-elsewhere" for status in (301, 302, 303, 307, 308)),
    *(
        "redirect:307-alias",
        "body:json-digits",
        "body:not-utf8",
        "status:500-good",
        "frame:gzip",
        "cut:body-half-close",
    ),
)
"""The shapes with which a cancellation is answered, besides those that do not end."""


@cache
def all_shapes(size: int) -> list[Shape]:
    """Return every shape of an answer, but those that do not end."""
    return [*shapes.shapes(size), *events.shapes(), *foreign.shapes()]


def grid(size: int, only: str = "") -> list[Run]:
    """Return every run but those that do not end."""
    made = [each for each in all_shapes(size) if each.name.startswith(only)]
    steps = [each for each in batches.step_shapes() if each.name.startswith(only)]
    rows = [each for each in batches.row_shapes() if each.name.startswith(only)]
    return [*live_runs(made), *background_runs(made), *step_runs([*made, *steps]), *row_runs(made, rows)]


def timed_grid(size: int, only: str = "") -> list[Run]:
    """Return the runs that do not end, and those of batches that are cancelled."""
    made = [each for each in trickles.shapes() if each.name.startswith(only)]
    others = [each for each in all_shapes(size) if each.name.startswith(only) and each.name in _CANCELLED]
    cancelled = [run for run in step_runs([*made, *others], cancel=True) if run.step == "cancel"]
    return [run for run in (*live_runs(made), *background_runs(made), *step_runs(made), *cancelled) if _is_tried(run)]


def _is_tried(run: Run) -> bool:
    """Return whether a step is tried: of floods, few of them; of slow reading, those that send much."""
    if str(run).startswith("flood:"):
        return run.step in ("", "poll", "status", "results")
    uploads = "upload" if run.wire == "openai-responses" and run.mode == "batch" else "create"
    return not run.is_upload or run.step in ("", uploads)


def sample(runs: Sequence[Run]) -> list[Run]:
    """Return a run of every shape, each on a wire, in a mode and at a step in turn: always the same ones."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.shape.name if run.shape is not None else str(run), []).append(run)
    return [choice[7 * place % len(choice)] for place, choice in enumerate(found.values())]


_PARTS = 40


def _part(number: int, size: int, only: str) -> Figures:
    warnings.simplefilter("ignore")
    return perform(grid(size, only)[number::_PARTS], size)


def _whole(size: int, only: str, processes: int, show: Callable[[str], None]) -> Figures:
    """Perform the grid in a few processes."""
    figures = Figures()
    total = sum(run.jobs for run in grid(size, only))
    if not total:
        return figures
    with ProcessPoolExecutor(processes) as pool:
        parts = [pool.submit(_part, number, size, only) for number in range(_PARTS)]
        for each in as_completed(parts):
            figures.add(each.result())
            show(f"answers that end: {min(figures.runs.total(), total)} of {total} runs")
    return figures


def _show(began: float, words: str) -> None:
    """Show how far it is: in one line on a terminal, in a line of its own in a log."""
    if words:
        words = f"{words}, {time.monotonic() - began:.0f} s"
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{words}")
        sys.stderr.flush()
    elif words:
        sys.stderr.write(f"{words}\n")


def _show_timed(show: Callable[[str], None], total: int, ended: int) -> None:
    again = f", {ended - total} tries more" if ended > total else ""
    show(f"answers that do not end: {min(ended, total)} of {total} runs{again}")


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a sample, with a small limit on sizes")
    parser.add_argument("--only", default="", help="shapes whose name begins so")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    size = SMALL if given.small else FULL
    began = time.monotonic()
    show = partial(_show, began)
    warnings.simplefilter("ignore")
    timed = timed_grid(size, given.only)
    if given.small:
        figures, timed = perform(sample(grid(size, given.only)), size), sample(timed)
    else:
        figures = _whole(size, given.only, given.processes, show)
    figures.add(perform_timed(timed, size, measured=True, report=partial(_show_timed, show)))
    show("")
    lines = [*figures.lines, f"seconds            {time.monotonic() - began:.0f}"]
    sys.stdout.write("\n".join([*lines, ""]))
    return 1 if figures.amiss else 0


if __name__ == "__main__":
    sys.exit(main())
