"""A run by way of the vendor's batches: the desk plans and keeps, ``emitter.batch`` asks."""

from __future__ import annotations

import os
from collections import deque
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic

from emitter.batch import Asked, Batch, Channel, Means, opened, run, vendor_of
from emitter.errors import InputError
from emitter.many.item import Item, R

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
    from contextlib import AbstractContextManager
    from os import PathLike

    from emitter.batch import Ended, Journal, Standing
    from emitter.conversation import Situation
    from emitter.many.bar import Report
    from emitter.many.job import Job
    from emitter.many.work import Begun, Desk, Work

BESIDE = ".batches"
"""What the name of the journal of batches has beyond that of the run's own."""


def chosen(given: object) -> Batch | None:
    """Return how batches are used, None where they are not; refuse what does not say."""
    if isinstance(given, Batch):
        return given
    if isinstance(given, bool):
        return Batch() if given else None
    raise InputError(f"batch is {given!r}; it must be True, False or a Batch.")


def book(path: str | PathLike[str] | None, work: Work[Any]) -> AbstractContextManager[Journal]:
    """Return the journal of batches beside the run's own."""
    place = None if path is None else os.fspath(path) + BESIDE
    return opened(place, work.about.to_json(), work.settings.host.rules.secrets)


def means(desk: Desk[Any], journal: Journal, how: Batch, report: Report) -> Means:
    """Return what the batches of a run are made with."""
    probe, settings = desk.work.probe, desk.work.settings
    channel = Channel(desk.client, probe.profile, probe.wire, settings.policy.timeout)

    def hear(standing: Standing) -> None:
        desk.tally.calls, desk.tally.retries = standing.submitted, standing.retries
        open_now = standing.in_progress
        report(replace(desk.tally.snapshot(desk.gate, standing.notice), in_flight=open_now, limit=open_now))

    return Means(vendor_of(probe.profile), channel, journal, how, settings.clock, hear)


class Batched(Generic[R]):
    """The emissions of a run, asked for by batches; ``tell`` is called after each item."""

    def __init__(self, desk: Desk[R], source: AsyncIterator[Situation | Job], tell: Callable[[Item[R]], None]) -> None:
        self._desk, self._source, self._tell = desk, source, tell
        self._begun: dict[str, Begun[R]] = {}
        self._ready: deque[Item[R]] = deque()
        self._waiting: dict[int, Item[R]] = {}
        self._handed = 0
        self._error: Exception | None = None

    async def items(self, using: Means, *, ordered: bool) -> AsyncGenerator[Item[R]]:
        """Yield what comes, in the order of the situations or as it is finished."""
        async with aclosing(run(using, self._asked())) as running:
            async for ended in running:
                self._ready.append(self._item(ended))
                for each in self._out(ordered=ordered):
                    yield each
        for each in self._out(ordered=ordered):
            yield each
        error = self._error or self._desk.unwritten
        if error is not None:
            raise error

    async def _asked(self) -> AsyncGenerator[Asked]:
        """Begin every situation; what is known or cannot be asked for is ready at once."""
        index = 0
        while (situation := await self._next()) is not None:
            begun = self._desk.begin(index, situation)
            index += 1
            known = self._desk.known(begun)
            if known is not None:
                self._ready.append(known)
            elif isinstance(begun.plan, Exception):
                self._ready.append(Item(begun.index, begun.key, begun.situation, begun.plan))
            else:
                key = begun.key if self._desk.journal is not None and begun.key else str(begun.index)
                self._begun[key] = begun
                yield Asked(key, begun.plan, begun.settings)

    async def _next(self) -> Situation | Job | None:
        try:
            return await anext(self._source)
        except StopAsyncIteration:
            return None
        except Exception as error:  # noqa: BLE001  it is raised at the end, when what was begun is handed out
            self._error = error
            return None

    def _item(self, ended: Ended) -> Item[R]:
        return self._desk.concluded(self._begun.pop(ended.key), ended.outcome, ended.events)

    def _out(self, *, ordered: bool) -> Iterator[Item[R]]:
        while self._ready:
            item = self._ready.popleft()
            self._tell(item)
            self._waiting[item.index if ordered else self._handed + len(self._waiting)] = item
            while self._handed in self._waiting:
                self._handed += 1
                yield self._waiting.pop(self._handed - 1)
