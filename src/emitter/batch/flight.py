"""A batch at the vendor, and the emissions that wait for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from emitter.batch.filling import place_of
from emitter.wire import Fault, FaultKind

if TYPE_CHECKING:
    from emitter.batch.journal import Journal, Written
    from emitter.batch.underway import Underway
    from emitter.batch.vendor.shapes import Look, Result
    from emitter.wire import Answer


@dataclass(slots=True)
class Flight:
    """A batch at the vendor. ``waiting`` are the emissions of this run that wait for it, by the place of their request.

    ``missed`` counts how often it was looked for in vain, ``read`` how often its results were read to their end.
    """

    written: Written
    journal: Journal
    waiting: dict[int, Underway] = field(default_factory=dict[int, "Underway"])
    look: Look | None = None
    fault: Fault | None = None
    """Why its submission was not confirmed."""
    missed: int = 0
    read: int = 0
    odd: int = 0
    """Results that are not legible, not asked for, or there twice."""
    _seen: set[int] = field(default_factory=set[int])

    def begin(self) -> None:
        """Read the results from the beginning."""
        self.odd = 0
        self._seen.clear()

    def take(self, result: Result) -> Underway | None:
        """Keep a result, and go on with the emission that waits for it; the first of several counts."""
        place = place_of(result.ident, self.written.tag, len(self.written.keys))
        if place is None or place in self._seen or result.answer is None:
            self.odd += 1
            return None
        self._seen.add(place)
        if place not in self.written.left or self._was_ours_to_cancel(result.answer):
            return None
        return self.settle(place, result.answer)

    def _was_ours_to_cancel(self, answer: Answer) -> bool:
        return self.written.cancelled and isinstance(answer, Fault) and answer.kind is FaultKind.CANCELLED

    def settle(self, place: int, answer: Answer) -> Underway | None:
        """Write the answer to a request, and go on with its emission."""
        self.journal.answered(self.written.tag, place, answer)
        emission = self.waiting.pop(place, None)
        if emission is not None:
            emission.go(answer)
        return emission

    def released(self) -> list[Underway]:
        """Write that nothing more comes of it; return the emissions that wait for it in vain."""
        self.journal.closed(self.written.tag)
        emissions = list(self.waiting.values())
        self.waiting.clear()
        return emissions
