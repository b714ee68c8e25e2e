"""Many emissions by way of batches: submit what is due, wait, collect, and submit again what its remedy asks for.

Each emission is the same generator that a single call drives, and is sent the same answers, so its verdicts,
remedies and events are those of the single call.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from emitter.batch.board import Board
from emitter.batch.collecting import Collecting
from emitter.batch.submitting import Submitting, fault_of
from emitter.batch.underway import Underway

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from emitter.batch.board import Means
    from emitter.batch.flight import Flight
    from emitter.batch.underway import Asked, Ended

_GO_ON = "{} go on at the vendor; a run with the same journal collects them."
_CANCELLED = "{} were cancelled; a run with the same journal collects what was done."
_FORGOTTEN = "{} go on at the vendor, and nothing is left that could collect them, since there is no journal."


async def run(means: Means, source: AsyncIterator[Asked]) -> AsyncGenerator[Ended]:
    """Yield what each emission of ``source`` came to, as it ends.

    All of ``source`` is read and begun first. What it raises, and ``JournalFailed``, ends the run; batches that
    are under way then go on at the vendor, unless ``Batch.cancel`` is set.
    """
    engine = Engine(means)
    try:
        async with aclosing(engine.items(source)) as items:
            async for each in items:
                yield each
    finally:
        await engine.leave()


class Engine:
    """One run of batches."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._board = Board(means)
        self._submitting, self._collecting = Submitting(self._board), Collecting(self._board)
        self._places = {
            flight.written.keys[place]: (flight, place)
            for flight in self._board.flights.values()
            for place in flight.written.left
        }

    async def items(self, source: AsyncIterator[Asked]) -> AsyncGenerator[Ended]:
        """Yield what each emission came to."""
        board = self._board
        if self._means.journal.notice is not None:
            board.tell(self._means.journal.notice)
        async for asked in source:
            self._begin(asked)
            await self._submitting.submit(rest=False)
            for each in board.ended():
                yield each
        earlier = bool(board.waited_for)
        while board.busy or self._submitting.begun:
            await self._submit()
            for each in board.ended():
                yield each
            await self._sleep(at_once=earlier)
            earlier = False
            async for each in self._looked():
                yield each

    def _begin(self, asked: Asked) -> None:
        """Begin an emission, and go on with it as far as the journal knows the answers."""
        emission = Underway(asked, self._means.clock.monotonic())
        emission.replay(self._means.journal.answers(asked.key))
        flight, place = self._places.pop(asked.key, (None, 0))
        if flight is not None and emission.due is not None:
            flight.waiting[place] = emission
        else:
            self._board.place(emission)

    async def _looked(self) -> AsyncGenerator[Ended]:
        """Look at every batch, and yield what has ended by it."""
        board = self._board
        board.crowded = False
        board.expire()
        for flight in board.waited_for:
            async with aclosing(self._collecting.look(flight)) as looking:
                async for _ in looking:
                    for each in board.ended():
                        yield each
        board.tell()

    async def _submit(self) -> None:
        """Submit all that is due. Who rests before a call holds up nobody, as long as batches are to be looked at."""
        seconds = self._board.rested()
        if seconds > 0 and not (self._board.due or self._board.waited_for or self._submitting.begun):
            await self._means.clock.asleep(seconds)
            self._board.rested()
        await self._submitting.submit(rest=True)

    async def _sleep(self, *, at_once: bool) -> None:
        """Wait before the next look, but not for batches of an earlier run, nor beyond a deadline."""
        if at_once or not self._board.waited_for:
            return
        seconds, nearest = self._board.pace.seconds(), self._board.nearest()
        await self._means.clock.asleep(seconds if nearest is None else max(0.0, min(seconds, nearest)))

    async def leave(self) -> None:
        """Say what is left at the vendor, or cancel it."""
        flights = self._board.waited_for
        if not flights:
            return
        if self._means.how.cancel:
            for each in flights:
                await self._cancel(each)
        names = ", ".join(each.written.batch or f"the batch {each.written.tag}" for each in flights)
        kept = _CANCELLED if self._means.how.cancel else _GO_ON
        self._board.tell((kept if self._means.journal.lasting else _FORGOTTEN).format(names))

    async def _cancel(self, flight: Flight) -> None:
        batch = flight.written.batch
        if batch is None:
            return
        self._means.journal.cancelling(flight.written.tag)
        try:
            await self._means.vendor.cancel(self._means.channel, batch)
        except Exception as error:  # noqa: BLE001  it goes on, then; the journal knows it
            self._board.tell(f"Batch {batch} could not be cancelled: {fault_of(self._means.channel, error).message}")
