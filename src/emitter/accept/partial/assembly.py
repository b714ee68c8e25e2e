"""``Assembly``: chunks in, verdicts out. It reads no clock and waits for nothing: whoever feeds it says the time."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, TypeAlias

from emitter.accept.partial.emission import NO_JSON, TOO_LATE, WHOLE, Chunk, Emission, broken
from emitter.accept.partial.verdict import Bounds, Broken, Complete, Expired, Repeated, Waiting

if TYPE_CHECKING:
    from emitter.accept.partial.verdict import Verdict
    from emitter.kinds.envelope import AIEnvelope

    _Key: TypeAlias = tuple[str, str]
    _Ended: TypeAlias = Broken | Repeated

TOO_MANY = broken("/partial", "fewer emissions of this run that wait for chunks at a time")


class Assembly:
    """The emissions that are not whole yet, of any number of runs; a correlation id means something in its run only.

    An emission that ended, well or badly, is known for as long as its timeout, so that a chunk which comes late
    neither begins it anew nor mends it. What a sender can make it hold is bounded by ``Bounds``, for each run.
    It belongs to one thread at a time: who shares it guards it.
    """

    def __init__(self, bounds: Bounds | None = None) -> None:
        self._bounds = bounds or Bounds()
        self._open: dict[str, dict[str, Emission]] = {}
        self._ended: OrderedDict[_Key, tuple[_Ended, float]] = OrderedDict()

    def add(self, chunk: AIEnvelope, now: float, run_id: str = "") -> Verdict:
        """Return what a chunk leads to; ``now`` is in seconds, of any clock that does not go back.

        An envelope without ``partial`` is whole, and passes. A chunk that is refused for the number of emissions
        that wait is not held against its emission: it may come again.
        """
        self._forget_ended(now)
        key = run_id, chunk.correlation_id
        known = self._open.get(run_id, {}).get(chunk.correlation_id)
        if chunk.partial is None:
            return Complete(chunk) if known is None else self._end(key, WHOLE, now)
        if key in self._ended:
            return self._ended[key][0]
        emission = known or Emission(chunk, now)
        if now - emission.begun >= self._bounds.timeout:
            return self._end(key, TOO_LATE, now)
        found = Chunk.of(chunk, chunk.partial)
        if found is None:
            return self._end(key, NO_JSON, now)
        refused = emission.refusal(found, self._bounds)
        return self._taken(key, emission, found, now) if refused is None else self._end(key, refused, now)

    def expired(self, now: float) -> tuple[Expired, ...]:
        """Return, once, the emissions whose time is over; to be called as long as anything is awaited."""
        late = [
            (run_id, emission.first)
            for run_id, emissions in self._open.items()
            for emission in emissions.values()
            if now - emission.begun >= self._bounds.timeout
        ]
        for run_id, first in late:
            self._end((run_id, first.correlation_id), TOO_LATE, now)
        return tuple(
            Expired(run_id, first.correlation_id, first.type, first.node_id, TOO_LATE) for run_id, first in late
        )

    def forget(self, correlation_id: str, run_id: str = "") -> None:
        """Let the emission begin anew, as when the model is asked to mend what it emitted under the same id."""
        self._close((run_id, correlation_id))
        self._ended.pop((run_id, correlation_id), None)

    def _taken(self, key: _Key, emission: Emission, chunk: Chunk, now: float) -> Verdict:
        run_id, correlation_id = key
        waiting = self._open.get(run_id, {})
        full = len(waiting) >= self._bounds.open and correlation_id not in waiting
        emission.take(chunk)
        end = emission.end()
        if end is not None:
            self._end(key, Repeated() if isinstance(end, Complete) else end, now)
            return end
        if full:
            return TOO_MANY
        self._open.setdefault(run_id, {})[correlation_id] = emission
        return Waiting(len(emission.marks), emission.total)

    def _end(self, key: _Key, verdict: _Ended, now: float) -> _Ended:
        """Remember how an emission ended, and nothing else of it."""
        self._close(key)
        self._ended[key] = verdict, now + self._bounds.timeout
        return verdict

    def _close(self, key: _Key) -> None:
        run_id, correlation_id = key
        emissions = self._open.get(run_id, {})
        emissions.pop(correlation_id, None)
        if not emissions:
            self._open.pop(run_id, None)

    def _forget_ended(self, now: float) -> None:
        """Forget what ended long ago, and the oldest where there are too many; they stand in the order they ended."""
        while self._ended:
            _, until = next(iter(self._ended.values()))
            if until > now and len(self._ended) <= self._bounds.remembered:
                return
            self._ended.popitem(last=False)
