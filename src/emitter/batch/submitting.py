"""Submitting batches: written down before, and never twice."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import TYPE_CHECKING

from emitter.adapters.client import keys_of
from emitter.adapters.credentials import of_error
from emitter.adapters.response import of_exception
from emitter.batch.filling import Filling
from emitter.batch.flight import Flight
from emitter.door.hushed import without_credentials
from emitter.wire import Fault, FaultKind

if TYPE_CHECKING:
    from emitter.batch.board import Board
    from emitter.batch.filling import Lot
    from emitter.batch.vendor.shapes import Channel

_UNSURE = frozenset({FaultKind.TIMEOUT, FaultKind.CONNECTION, FaultKind.SERVER, FaultKind.PROTOCOL})
"""After these the batch may have been made all the same."""
_UNCONFIRMED = "The submission of a batch was not confirmed; it is looked for at the vendor before it is sent again."


def fault_of(channel: Channel, error: Exception) -> Fault:
    """Return the fault that an exception of the vendor's client stands for; what is none rises again."""
    answer = of_exception(channel.profile, channel.wire, error)
    if answer is None:
        raise error
    answer = without_credentials(answer, (*of_error(error), *keys_of(channel.profile, channel.client)))
    return answer if isinstance(answer, Fault) else Fault(FaultKind.BAD_REQUEST, "The vendor did not take the batch.")


class Submitting:
    """Puts calls that are due into batches, and submits these."""

    def __init__(self, board: Board) -> None:
        self._board, self._means = board, board.means
        self._filling = Filling(board.means.vendor, board.means.channel, board.means.how)

    @property
    def begun(self) -> bool:
        """Whether a batch is being put together."""
        return self._filling.begun

    async def submit(self, *, rest: bool) -> None:
        """Submit the batches that are full, and with ``rest`` what is left over, too."""
        board = self._board
        while board.due and not board.crowded:
            emission = board.due.popleft()
            lot = self._filling.add(emission)
            if emission.due is None:
                board.place(emission)
            if lot is not None:
                await self._send(lot)
        lot = self._filling.take() if rest else None
        if lot is None:
            return
        if board.crowded:
            board.due.extendleft(reversed(lot.emissions))
        else:
            await self._send(lot)

    async def _send(self, lot: Lot) -> None:
        means, keys = self._means, [each.key for each in lot.emissions]
        written = means.journal.submitting(lot.tag, keys, dt.datetime.now(dt.UTC))
        flight = Flight(written, means.journal, dict(enumerate(lot.emissions)))
        try:
            batch = await means.vendor.submit(means.channel, lot.tag, lot.requests)
        except Exception as error:  # noqa: BLE001  each SDK has its own tree; what is not the vendor's rises again
            fault = fault_of(means.channel, error)
            if fault.kind not in _UNSURE:
                means.journal.closed(lot.tag)
                self._board.turned_away(lot.emissions, fault)
                return
            flight.fault = fault
        else:
            means.journal.submitted(lot.tag, batch)
        self._board.flights[lot.tag] = flight
        self._count(lot)
        self._board.pace.quicken()
        self._board.tell(None if written.batch else _UNCONFIRMED)

    def _count(self, lot: Lot) -> None:
        board = self._board
        standing, again = board.standing, 0
        for each in lot.emissions:
            each.calls += 1
            again += each.due is not None and each.due.number > 1
        board.standing = replace(
            standing, submitted=standing.submitted + len(lot.emissions), retries=standing.retries + again
        )
