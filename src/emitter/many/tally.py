"""What a run has come to so far, and what it has cost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.wire import Usage

if TYPE_CHECKING:
    from emitter.judge import Verdict
    from emitter.many.limit import Gate
    from emitter.steps import Outcome


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Where a run stands.

    ``done`` counts what is finished, ``failed`` and ``replayed`` are parts of it, ``total`` is None where the
    situations do not say how many they are. ``calls`` were sent to the vendor, ``retries`` of them not the first
    of their emission; ``usage`` is what they cost. ``in_flight`` calls are under way, ``limit`` is how many may be.
    ``notice`` is a sentence worth reading, such as that the journal ended in the middle of a line.
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


class Tally:
    """Counts a run. ``usage`` and ``calls`` are this run's own; ``earlier`` is what its journal had cost before.

    ``stale_keys`` are the keys of jobs that have changed since their answers were written to the journal.
    """

    def __init__(self, total: int | None) -> None:
        self.total = total
        self.done = 0
        self.failed = 0
        self.replayed = 0
        self.calls = 0
        self.retries = 0
        self.usage = Usage()
        self.earlier = Usage()
        self.verdicts: Counter[Verdict] = Counter()
        self.notices: list[str] = []
        self.stale_keys: list[str] = []

    def __repr__(self) -> str:
        counted = f"done={self.done}, failed={self.failed}, replayed={self.replayed}, calls={self.calls}"
        return f"Tally({counted}, usage={self.usage}, verdicts={dict(self.verdicts)})"

    def spent(self, outcome: Outcome) -> None:
        """Count what an emission cost, whatever it came to."""
        self.usage += outcome.usage
        self.verdicts.update(each.verdict for each in outcome.attempts)

    def called(self, number: int) -> None:
        """Count a call, the ``number``-th of its emission."""
        self.calls += 1
        self.retries += number > 1

    def finished(self, *, failed: bool, replayed: bool) -> None:
        """Count an item."""
        self.done += 1
        self.failed += failed
        self.replayed += replayed

    def snapshot(self, gate: Gate, notice: str | None = None) -> RunProgress:
        """Return where the run stands."""
        return RunProgress(
            done=self.done,
            failed=self.failed,
            replayed=self.replayed,
            total=self.total,
            calls=self.calls,
            retries=self.retries,
            usage=self.usage,
            in_flight=gate.running,
            limit=gate.limit,
            notice=notice,
        )
