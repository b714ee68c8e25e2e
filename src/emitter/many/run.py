"""A run under way in the async world."""

from __future__ import annotations

from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

from emitter.batch import vendor_of
from emitter.door.perform import recorder
from emitter.door.session import fitting
from emitter.door.spending import warn_of_assumptions
from emitter.errors import InputError
from emitter.events import Level, LogAppended
from emitter.many import bar, batched, journal
from emitter.many.crew import Crew
from emitter.many.item import Item, R
from emitter.many.limit import gate_of
from emitter.many.sending import shared
from emitter.many.tally import Tally
from emitter.many.work import Desk

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator
    from os import PathLike
    from types import TracebackType
    from typing import Self

    from emitter.batch import Batch
    from emitter.conversation import Situation
    from emitter.many.bar import Report
    from emitter.many.job import Job
    from emitter.many.limit import Gate
    from emitter.many.work import Work
    from emitter.wire import Usage


_STALE = (
    "The job with the key {!r} has changed since its answer was written to the journal. Its earlier answer is "
    "returned, as for every changed job (Item.stale). Give a changed job a new key to ask again."
)


@dataclass(frozen=True, slots=True)
class How:
    """How many emissions are made; see ``aemit_many``."""

    in_flight: int
    ordered: bool
    journal: str | PathLike[str] | None
    progress: Report | bool | None
    batch: Batch | None = None

    def __post_init__(self) -> None:
        given: Any = self.in_flight
        if isinstance(given, bool) or not isinstance(given, int) or given < 1:
            raise InputError(f"in_flight is {given!r}; it must be a whole number of 1 or more.")
        bar.checked(self.progress)


class Counted:
    """What a run has come to so far; read it at any time, also after it was left."""

    _tally: Tally

    @property
    def tally(self) -> Tally:
        """All that is counted: items, calls, retries, verdicts, and what the journal had cost before."""
        return self._tally

    @property
    def usage(self) -> Usage:
        """The tokens of all calls of this run, those of failed and cancelled emissions too."""
        return self._tally.usage

    @property
    def calls(self) -> int:
        """How many calls this run has sent."""
        return self._tally.calls


class AsyncRun(Counted, Generic[R]):
    """Many emissions under way: an async iterator of ``Item``.

    Leaving its ``async with`` block, ``aclose``, and cancelling the task that iterates it end all that is under
    way; what that had cost is in ``usage`` and in the journal. Nothing is begun before it is iterated.
    """

    def __init__(self, work: Work[R], source: AsyncIterator[Situation | Job], total: int | None, how: How) -> None:
        fitting(work.settings.client, work.probe.profile, work.probe.ask.request.model, asynchronous=True)
        warn_of_assumptions(work.probe)
        if how.batch is not None:
            vendor_of(work.probe.profile)
        self._tally = Tally(total)
        self._running = _running(work, source, how, self._tally)

    def __aiter__(self) -> AsyncIterator[Item[R]]:
        return self._running

    async def __anext__(self) -> Item[R]:
        return await anext(self._running)

    async def results(self) -> list[Item[R]]:
        """Return all that is left, in the order of the situations."""
        async with aclosing(self._running):
            return sorted([each async for each in self._running], key=lambda each: each.index)

    async def aclose(self) -> None:
        """Leave: what is under way is cancelled, and nothing more is sent."""
        await self._running.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()


async def _running(
    work: Work[R], source: AsyncIterator[Situation | Job], how: How, tally: Tally
) -> AsyncGenerator[Item[R]]:
    settings, probe = work.settings, work.probe
    async with AsyncExitStack() as stack:
        book = stack.enter_context(journal.opened(how.journal, work.about))
        report = stack.enter_context(bar.reporting(how.progress))
        client = await stack.enter_async_context(shared(probe.profile, settings, how.in_flight))
        gate = gate_of(client, how.in_flight, settings.clock, settings.policy.max_retry_after)
        if book is not None:
            _opened(work, book, tally, report, gate)

        def tell(item: Item[R]) -> None:
            tally.finished(failed=item.error is not None, replayed=item.replayed)
            if item.stale and len(tally.stale_keys) == 1:
                _notice(work, _STALE.format(item.key), tally, report, gate)
            report(tally.snapshot(gate))

        desk = Desk(work, gate, client, tally, book)
        if how.batch is not None:
            kept = stack.enter_context(batched.book(how.journal, work))
            using = batched.means(desk, kept, how.batch, report)
            coming = batched.Batched(desk, source, tell).items(using, ordered=how.ordered)
        else:
            coming = Crew(desk, source, tell).items(how.in_flight, ordered=how.ordered)
        items = await stack.enter_async_context(aclosing(coming))
        async for each in items:
            yield each


def _opened(work: Work[R], book: journal.Journal, tally: Tally, report: Report, gate: Gate) -> None:
    """Tell what the journal had cost, and what was mended in it."""
    tally.earlier = book.earlier
    if book.notice is not None:
        _notice(work, book.notice, tally, report, gate)


def _notice(work: Work[R], notice: str, tally: Tally, report: Report, gate: Gate) -> None:
    """Put a notice where it is seen: in the run's counts, the sink and the progress bar."""
    tally.notices.append(notice)
    recorder(work.probe, work.settings)(LogAppended(Level.WARN, notice))
    report(tally.snapshot(gate, notice))
