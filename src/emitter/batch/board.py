"""Where every emission of a run stands: due a call, resting before one, waiting for a batch, or over."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from emitter.batch.flight import Flight
from emitter.batch.standing import Pace, Standing
from emitter.clock import pause
from emitter.wire import FaultKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.batch.journal import Journal
    from emitter.batch.settings import Batch
    from emitter.batch.standing import Report
    from emitter.batch.underway import Ended, Underway
    from emitter.batch.vendor import Vendor
    from emitter.batch.vendor.shapes import Channel
    from emitter.clock import Clock
    from emitter.wire import Fault

CROWDED = frozenset({FaultKind.RATE_LIMIT, FaultKind.OVERLOADED})
"""What a vendor says that has too many batches of ours."""


@dataclass(frozen=True, slots=True)
class Means:
    """What a run of batches works with."""

    vendor: Vendor
    channel: Channel
    journal: Journal
    how: Batch
    clock: Clock
    report: Report


@dataclass(slots=True)
class _Resting:
    """An emission that waits before it calls again, until the clock says so much."""

    emission: Underway
    until: float


@dataclass(slots=True)
class Board:
    """All that is under way."""

    means: Means
    flights: dict[str, Flight] = field(default_factory=dict[str, Flight])
    due: deque[Underway] = field(default_factory=deque["Underway"])
    standing: Standing = field(default_factory=Standing)
    crowded: bool = False
    """Whether the vendor takes no further batch before one of ours is done."""
    pace: Pace = field(init=False)
    _resting: list[_Resting] = field(default_factory=list[_Resting])
    _over: deque[Underway] = field(default_factory=deque["Underway"])
    _began: float = field(init=False)

    def __post_init__(self) -> None:
        self._began = self.means.clock.monotonic()
        self.pace = Pace(self.means.how.poll, self.means.how.slowest)
        self.flights = {tag: Flight(each, self.means.journal) for tag, each in self.means.journal.open.items()}

    @property
    def busy(self) -> bool:
        """Whether anything is still to be done."""
        return bool(self.due or self._resting or self._over or self.waited_for)

    @property
    def waited_for(self) -> list[Flight]:
        """The batches that emissions of this run wait for."""
        return [each for each in self.flights.values() if each.waiting]

    def place(self, *emissions: Underway) -> None:
        """Put emissions where they belong now."""
        for each in emissions:
            if each.over is not None:
                self._over.append(each)
            elif each.wait is not None:
                seconds = pause(each.wait, self.means.clock)
                self._resting.append(_Resting(each, self.means.clock.monotonic() + seconds))
            else:
                self.due.append(each)

    def ended(self) -> Iterator[Ended]:
        """Yield what is over; what failed for good is begun anew by another run, once this one has handed it out."""
        while self._over:
            emission = self._over.popleft()
            yield emission.ended()
            if emission.failed_for_good:
                self.means.journal.over(emission.key)

    def rested(self) -> float:
        """Let those go on that have rested, and end those whose time is up; return the seconds of the longest rest."""
        now, resting = self.means.clock.monotonic(), self._resting
        self._resting = []
        for each in resting:
            left = each.emission.left(now, self._left(now))
            if left is not None and left <= each.until - now:
                each.emission.expire(now)
                self.place(each.emission)
            elif each.until <= now:
                each.emission.resume()
                self.place(each.emission)
            else:
                self._resting.append(each)
        return max((each.until - now for each in self._resting), default=0.0)

    def expire(self) -> None:
        """End those whose time is up; their batches go on at the vendor."""
        now = self.means.clock.monotonic()
        for flight in self.waited_for:
            for place, emission in list(flight.waiting.items()):
                if self._is_late(emission, now):
                    emission.expire(now)
                    self.place(flight.waiting.pop(place))
        due, self.due = self.due, deque()
        for emission in due:
            if self._is_late(emission, now):
                emission.expire(now)
            self.place(emission)

    def turned_away(self, emissions: list[Underway], fault: Fault) -> None:
        """Go on with emissions whose batch the vendor did not take: later, where it has too many of ours, or by it."""
        if fault.kind in CROWDED and self.waited_for:
            self.crowded = True
            self.due.extendleft(reversed(emissions))
            return
        for each in emissions:
            each.go(fault, answered=False)
        self.place(*emissions)

    def nearest(self) -> float | None:
        """Return the seconds until the first deadline of those that wait."""
        now = self.means.clock.monotonic()
        waiting = (each for flight in self.waited_for for each in flight.waiting.values())
        lefts = (each.left(now, self._left(now)) for each in waiting)
        return min((each for each in lefts if each is not None), default=None)

    def _is_late(self, emission: Underway, now: float) -> bool:
        left = emission.left(now, self._left(now))
        return left is not None and left <= 0

    def _left(self, now: float) -> float | None:
        timeout = self.means.how.timeout
        return None if timeout is None else self._began + timeout - now

    def tell(self, notice: str | None = None) -> None:
        """Report how the batches stand."""
        flights = self.waited_for
        looks = [each.look for each in flights if each.look is not None]
        self.means.report(
            replace(
                self.standing,
                batches=len(flights),
                in_progress=sum(len(each.written.keys) for each in flights),
                done=sum(each.done for each in looks),
                failed=sum(each.failed for each in looks),
                notice=notice,
            )
        )
