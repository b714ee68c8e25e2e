"""Statistics of a bulk run, and the progress bar that shows them."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeAlias

from emitter.errors import InputError, UnknownOutcome
from emitter.messages import Usage
from emitter.prices import CostSummary, prices_of, sum_costs

if TYPE_CHECKING:
    from collections.abc import Generator
    from decimal import Decimal

    from emitter.attempts import Verdict
    from emitter.bulk.limiter import AdaptiveLimiter
    from emitter.core.effects import EmissionOutcome
    from emitter.policy import PriceTable

_LENGTH_STEP = 1000
"""Calls are summed by the length of their prompts, because some models have other prices for long prompts."""
_NO_CALLS = (Usage(), 0)


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The state of a run.

    Attributes:
        done: Finished jobs: answered, failed and unknown ones, replayed or not.
        failed: Finished jobs whose result is an exception other than ``UnknownOutcome``.
        replayed: Finished jobs that were read from the journal or store, without a call.
        total: The number of inputs, or None if it is unknown.
        calls: Calls that were sent.
        retries: Calls that were not the first of their emission.
        usage: The tokens of the calls.
        in_flight: Calls in progress, and those that wait for a rate limit.
        limit: The number of calls that may be in progress now.
        notice: A message worth reading, such as that the journal ended in the middle of a line.
        waiting: Calls that wait for a rate limit.
        unknown: Finished jobs whose result is an ``UnknownOutcome``.
    """

    done: int
    failed: int
    replayed: int
    total: int | None
    calls: int
    retries: int
    usage: Usage
    in_flight: int
    limit: int
    notice: str | None = None
    waiting: int = 0
    unknown: int = 0


class RunStats:
    """The statistics of a run.

    Attributes:
        total: The number of inputs, or None if it is unknown.
        done: Results so far, replayed or not: answers, ``failed`` and ``unknown``.
        failed: Results that are exceptions other than ``UnknownOutcome``.
        unknown: Results that are an ``UnknownOutcome``: an earlier process may have sent the job.
        replayed: Results that were read from the journal or store, without a call.
        calls: Calls that this run has sent.
        retries: Calls that were not the first of their emission.
        waiting: Calls that wait for a rate limit now.
        usage: The tokens of this run's calls.
        replayed_usage: The tokens of the replayed results, which earlier runs or other processes paid for. They are
            not in ``usage``, and not in ``cost``.
        verdicts: The number of this run's calls with each verdict.
        notices: Messages worth reading, such as a list of the batches that continue at the vendor. The progress bar
            shows them too.
        resent_keys: Keys of jobs that were sent again: an earlier run may have sent them, and their outcome was not
            recorded.
        stale_keys: Keys of jobs that have changed since their answers were recorded.
        prices: The prices that ``cost`` is computed with.
    """

    def __init__(self, total: int | None, prices: PriceTable | None = None) -> None:
        self.total = total
        self.prices = prices
        self.done = 0
        self.failed = 0
        self.unknown = 0
        self.replayed = 0
        self.calls = 0
        self.retries = 0
        self.waiting = 0
        self.usage = Usage()
        self.replayed_usage = Usage()
        self.verdicts: Counter[Verdict] = Counter()
        self.notices: list[str] = []
        self.resent_keys: list[str] = []
        self.stale_keys: list[str] = []
        self._usage_by_length: dict[tuple[int, int, bool], tuple[Usage, int]] = {}
        """By the model and the length of the prompt."""

    def __repr__(self) -> str:
        counts = f"done={self.done}, failed={self.failed}, unknown={self.unknown}, replayed={self.replayed}"
        spent = f"calls={self.calls}, usage={self.usage}, cost={self.cost}, verdicts={dict(self.verdicts)}"
        return f"RunStats({counts}, {spent}, resent_keys={self.resent_keys}, notices={self.notices})"

    def add_outcome(self, outcome: EmissionOutcome) -> None:
        """Count the cost of an emission, whatever its result."""
        self.usage += outcome.usage
        self.verdicts.update(attempt.verdict for attempt in outcome.attempts)
        for attempt in outcome.attempts:
            if attempt.usage is not None:
                # Vendors raise a price from a whole thousand on, or above it, so these lengths are apart.
                thousands, rest = divmod(attempt.usage.input, _LENGTH_STEP)
                key = (attempt.route, thousands, rest == 0)
                usage, calls = self._usage_by_length.get(key, _NO_CALLS)
                self._usage_by_length[key] = (usage + attempt.usage, calls + 1)

    @property
    def cost(self) -> Decimal | None:
        """The cost of this run's calls in US dollars so far, or None if the model has no price.

        It is computed at the prices of the moment at which you read it.
        """
        return self._summarize_costs().cost

    @property
    def no_cost_reason(self) -> str | None:
        """The reason why ``cost`` is None, and what to pass. None if there is a cost."""
        return self._summarize_costs().reason

    def _summarize_costs(self) -> CostSummary:
        items = self._usage_by_length.items()
        return sum_costs((prices_of(self.prices, route), usage, calls) for (route, *_), (usage, calls) in items)

    def add_call(self, number: int) -> None:
        """Count a call, the ``number``-th of its emission."""
        self.calls += 1
        self.retries += number > 1

    def add_waiting(self, change: int) -> None:
        """Change the number of calls that wait for a rate limit."""
        self.waiting += change

    def add_result(self, error: Exception | None, *, replayed: bool) -> None:
        """Count a result."""
        self.done += 1
        is_unknown = isinstance(error, UnknownOutcome)
        self.unknown += is_unknown
        self.failed += error is not None and not is_unknown
        self.replayed += replayed

    def snapshot(self, limiter: AdaptiveLimiter, notice: str | None = None) -> RunProgress:
        """Return the current progress."""
        return RunProgress(
            done=self.done,
            failed=self.failed,
            replayed=self.replayed,
            total=self.total,
            calls=self.calls,
            retries=self.retries,
            usage=self.usage,
            in_flight=limiter.in_flight,
            limit=limiter.limit,
            notice=notice,
            waiting=self.waiting,
            unknown=self.unknown,
        )


ProgressCallback: TypeAlias = Callable[[RunProgress], object]
"""Called after each finished job. Its return value is ignored."""


def validate_progress(progress: object) -> None:
    """Raise ``InputError`` unless progress can be reported this way."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise InputError(
            f"progress is {progress!r}; it must be True, False, None or a function that takes a RunProgress."
        )


@contextmanager
def open_progress(progress: ProgressCallback | bool | None) -> Generator[ProgressCallback]:  # noqa: FBT001  the caller's own setting
    """Yield the callback. None shows a bar if standard error is a terminal."""
    if callable(progress):
        yield progress
    elif progress or (progress is None and sys.stderr is not None and sys.stderr.isatty()):
        with _open_bar() as report:
            yield report
    else:
        yield _ignore


def _ignore(_: RunProgress) -> None:
    pass


@contextmanager
def _open_bar() -> Generator[ProgressCallback]:
    tqdm = importlib.import_module("tqdm.std").tqdm  # imported only when a bar is shown
    # tqdm starts a thread that outlives the run, and a lock between processes. A class of our own has neither.
    kind: Any = type("Bar", (tqdm,), {"monitor_interval": 0})
    kind.set_lock(RLock())
    bar = kind(unit="emission", dynamic_ncols=True, file=sys.stderr)

    def report(progress: RunProgress) -> None:
        if progress.notice is not None:
            bar.write(progress.notice, file=sys.stderr)
        bar.total = progress.total
        bar.set_postfix_str(_format_progress(progress), refresh=False)
        bar.update(progress.done - bar.n)

    try:
        yield report
    finally:
        bar.close()


def _format_progress(progress: RunProgress) -> str:
    failed = f"{progress.failed} failed, " if progress.failed else ""
    failed += f"{progress.unknown} unknown, " if progress.unknown else ""
    retries = f"{progress.retries} again, " if progress.retries else ""
    waiting = f", {progress.waiting} waiting" if progress.waiting else ""
    return f"{failed}{retries}{progress.usage.total} tokens, {progress.in_flight}/{progress.limit} in flight{waiting}"
