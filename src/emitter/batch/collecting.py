"""Looking at batches, and collecting what came of their requests."""

from __future__ import annotations

import datetime as dt
from contextlib import aclosing
from typing import TYPE_CHECKING

from emitter.batch.submitting import fault_of
from emitter.batch.vendor.shapes import Intent

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from emitter.batch.board import Board
    from emitter.batch.flight import Flight
    from emitter.batch.vendor.shapes import Invalid, Look
    from emitter.wire import Fault

_READINGS = 2
"""So often results are read to their end before a request that is not among them counts as lost."""
_LOOKS = 2
"""So often a batch is looked for before it counts as never made: a list may lag behind."""
_SKEW = dt.timedelta(minutes=15)
"""How far the vendor's clock may be behind ours."""
_ODD = "{} results of batch {} are not legible, not asked for, or there twice; they were left out."


class Collecting:
    """Looks at the batches that are under way, and collects those that have ended."""

    def __init__(self, board: Board) -> None:
        self._board, self._means = board, board.means

    async def look(self, flight: Flight) -> AsyncGenerator[None]:
        """Look at a batch, and collect it if it has ended; yield as often as something came of it."""
        try:
            async with aclosing(self._looked(flight)) as looking:
                async for _ in looking:
                    yield
        except Exception as error:  # noqa: BLE001  each SDK has its own tree; what is not the vendor's rises again
            fault = fault_of(self._means.channel, error)
            if not fault.kind.transient:
                self._strand(flight, fault)

    async def _looked(self, flight: Flight) -> AsyncGenerator[None]:
        if flight.written.batch is None:
            await self._search(flight)
            return
        means, before = self._means, flight.look
        flight.look = now = await means.vendor.look(means.channel, flight.written.batch)
        if before is None or (before.done, before.failed, before.ended) != (now.done, now.failed, now.ended):
            self._board.pace.quicken()
        if now.invalid:
            self._refuse(flight, now.invalid)
            yield
        elif now.ended:
            async with aclosing(self._collected(flight, flight.written.batch, now)) as collecting:
                async for _ in collecting:
                    yield

    async def _search(self, flight: Flight) -> None:
        """Look for a batch whose submission was not confirmed; only where there is none, its calls are due again."""
        means, written = self._means, flight.written
        known = {each.batch for each in means.journal.open.values()}
        intent = Intent(written.tag, len(written.keys), written.at - _SKEW)
        found = [each for each in await means.vendor.candidates(means.channel, intent) if each.batch not in known]
        ours = next((each for each in found if each.ours), None)
        if ours is not None:
            means.journal.submitted(written.tag, ours.batch)
        elif not any(each.ours is None for each in found):
            flight.missed += 1
            if flight.missed >= _LOOKS:
                self._unmade(flight)

    def _unmade(self, flight: Flight) -> None:
        del self._board.flights[flight.written.tag]
        emissions = flight.released()
        if flight.fault is not None:
            for each in emissions:
                each.go(flight.fault, answered=False)
        self._board.place(*emissions)

    def _refuse(self, flight: Flight, invalid: tuple[Invalid, ...]) -> None:
        """Go on where the vendor ran nothing of a batch: requests at fault are told so, the others are due again."""
        board, size = self._board, len(flight.written.keys)
        del board.flights[flight.written.tag]
        named = [(each.line, each.fault) for each in invalid if each.line is not None and 0 <= each.line < size]
        for place, fault in named:
            emission = flight.settle(place, fault) if place in flight.written.left else None
            board.place(*([emission] if emission else []))
        emissions = flight.released()
        if named:
            board.place(*emissions)
        else:
            board.turned_away(emissions, invalid[0].fault)

    async def _collected(self, flight: Flight, batch: str, ended: Look) -> AsyncGenerator[None]:
        means = self._means
        flight.begin()
        async with aclosing(means.vendor.results(means.channel, batch, ended)) as coming:
            async for result in coming:
                emission = flight.take(result)
                if emission is not None:
                    self._board.place(emission)
                    yield
        flight.read += 1
        if flight.written.left and flight.read < _READINGS and not flight.written.cancelled:
            return
        if flight.odd:
            self._board.tell(_ODD.format(flight.odd, batch))
        self._finish(flight, ended.missing)
        yield

    def _finish(self, flight: Flight, missing: Fault | None) -> None:
        """Close a batch; a request without a result is one that failed, or is due again where we cancelled it."""
        if missing is not None and not flight.written.cancelled:
            for place in sorted(flight.written.left):
                emission = flight.settle(place, missing)
                self._board.place(*([emission] if emission else []))
        del self._board.flights[flight.written.tag]
        self._board.place(*flight.released())
        self._board.pace.quicken()

    def _strand(self, flight: Flight, fault: Fault) -> None:
        """End the emissions of a batch that cannot be looked at; the journal keeps it for another run."""
        emissions = list(flight.waiting.values())
        flight.waiting.clear()
        for each in emissions:
            each.go(fault, answered=False)
        self._board.place(*emissions)
