"""The journal of a run in a store that several processes share.

Tasks claim and finish jobs one by one. The requests of all tasks that arrive during a transaction share the next one. A
thread renews the lease of this process, so that a busy event loop does not look like a dead one.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from emitter.bulk.journal import encode_entry
from emitter.errors import InputError, StoreFailed
from emitter.stores.jobs import Claim, JobTable, Outcome
from emitter.telemetry.sinks import generate_id
from emitter.threads import BlockingCall, run_blocking

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from emitter.bulk.journal import JournalEntry, RunFingerprint

K = TypeVar("K")
V = TypeVar("V")

ORPHAN_POLICIES = ("resend", "list")
DEFAULT_LEASE = 60.0
"""Seconds after which a process that has not renewed its lease counts as gone."""
_LONGEST_LEASE = 86_400
_RENEWALS = 4
"""Renewals within a lease, so that a failed or late renewal does not end it."""


class JobStore(Protocol):
    """A store whose jobs are shared, such as ``SqlStore`` and ``SqliteStore``."""

    @property
    def jobs(self) -> JobTable:
        """The shared jobs."""
        ...


class ClaimLost(Exception):
    """Another process has taken the job, because the lease of this one ended while the job waited."""


class JobJournal(Protocol):
    """A journal in which jobs are claimed and outcomes kept: a file, or a store."""

    notice: str | None

    async def claim(self, key: str, *, anew: bool = False, waiting: bool = False) -> Claim:
        """Claim a job, or return the reason why it must not be sent.

        ``anew`` also claims a job that has a final outcome. A job that is ``waiting`` for a rate limit counts as sent
        only after ``send``. If its process ends before, it is no orphan, and another process simply sends it.
        """
        ...

    async def send(self, key: str) -> None:
        """Mark a waiting job as sent. Raises ``ClaimLost`` if another process has it now."""
        ...

    async def finish(self, entry: JournalEntry) -> None:
        """Keep an outcome, and close the claim of its job."""
        ...

    async def release(self, key: str, *, sent: bool = False) -> None:
        """Give up the claim of a job. A job that was sent becomes an orphan: nobody knows its outcome."""
        ...


@dataclass(frozen=True, slots=True)
class ClaimOptions:
    """The shared store of a run, what happens to orphaned jobs, and the lease of this process in seconds."""

    store: JobStore | None = None
    orphans: str = "resend"
    lease: float = DEFAULT_LEASE
    run_id: str | None = None

    def __post_init__(self) -> None:
        if self.store is not None:
            jobs: Any = getattr(self.store, "jobs", None)
            if not isinstance(jobs, JobTable):
                kind = type(self.store).__name__
                raise InputError(
                    f"store= is a {kind}, which processes cannot share.", hint="Pass a SqlStore or a SqliteStore."
                )
        if self.orphans not in ORPHAN_POLICIES:
            raise InputError(f'orphans= is {self.orphans!r}; it must be "resend" or "list".')
        lease: Any = self.lease
        if isinstance(lease, bool) or not isinstance(lease, int | float) or not 1 <= lease <= _LONGEST_LEASE:
            raise InputError(f"lease= is {self.lease!r}; it must be from 1 to 86400 seconds.")

    @property
    def jobs(self) -> JobTable:
        """The shared jobs."""
        if self.store is None:
            raise RuntimeError("There is no store.")
        return self.store.jobs

    @property
    def resend(self) -> bool:
        """True if orphaned jobs are sent again."""
        return self.orphans == "resend"


_OTHER_RUN_NOTICE = (
    "The store has jobs of {!r} by {}, but none with the schema, words (instructions, prompts, materials, examples) "
    "and options of this run: nothing is read from them, and every job is sent and paid for."
)
NO_STORE = ClaimOptions()


class _Combiner(Generic[K, V]):
    """Combines the requests of concurrent tasks into one call in a thread, which returns a result for each."""

    def __init__(self, call: Callable[[list[K]], list[V]]) -> None:
        self._call = call
        self._pending: list[tuple[K, asyncio.Future[V]]] = []
        self._task: asyncio.Task[None] | None = None

    async def submit(self, item: K) -> V:
        """Return the result for an item."""
        future: asyncio.Future[V] = asyncio.get_running_loop().create_future()
        self._pending.append((item, future))
        if self._task is None:
            self._task = asyncio.create_task(self._drain())
        # A cancelled task must not cancel the future, which the thread is about to resolve.
        return await asyncio.shield(future)

    async def close(self) -> None:
        """Wait for the calls in progress."""
        while self._task is not None:
            await asyncio.wait([self._task])

    async def _drain(self) -> None:
        try:
            while self._pending:
                batch, self._pending = self._pending, []
                await self._send(batch)
        finally:  # the event loop may be ending, which cancels all of its tasks
            self._task = None
            for _, future in self._pending:
                future.cancel()

    async def _send(self, batch: list[tuple[K, asyncio.Future[V]]]) -> None:
        results: list[V] | Exception
        call = BlockingCall(partial(self._call, [item for item, _ in batch]))
        cancelled = await call.complete()
        try:
            results = call.result()
        except Exception as error:  # noqa: BLE001  every waiting task raises it
            results = error
        for number, (_, future) in enumerate(batch):
            if isinstance(results, Exception):
                future.set_exception(results)
                future.exception()  # no warning if its task is cancelled and never reads it
            else:
                future.set_result(results[number])
        if cancelled is not None:
            raise cancelled


class StoreJournal:
    """The jobs of a run in a store. ``holder`` is this process's lease."""

    def __init__(self, jobs: JobTable, run: str, options: ClaimOptions) -> None:
        self.notice: str | None = None
        self.holder = generate_id()
        self.jobs, self.run, self._options = jobs, run, options
        self._claims = _Combiner(self._claim_all)
        self._sends = _Combiner(self._send_all)
        self._outcomes = _Combiner(self._finish_all)
        self._abandoned: set[str] = set()

    async def claim(self, key: str, *, anew: bool = False, waiting: bool = False) -> Claim:
        """Claim a job, or return the reason why it must not be sent."""
        try:
            return await self._claims.submit((key, anew, waiting))
        except asyncio.CancelledError:
            # The transaction continues and may claim the job for a task that is gone. ``close`` releases it.
            self._abandoned.add(key)
            raise

    async def send(self, key: str) -> None:
        """Mark a waiting job as sent. Raises ``ClaimLost`` if another process has it now."""
        if not await self._sends.submit(key):
            raise ClaimLost

    async def finish(self, entry: JournalEntry) -> None:
        """Keep an outcome, and close the claim of its job."""
        text = encode_entry(entry).decode().rstrip("\n")
        await self._outcomes.submit(Outcome(entry.key, text, entry.is_final))

    async def release(self, key: str, *, sent: bool = False) -> None:
        """Give up the claim of a job. One that was sent is orphaned."""
        give_up = self.jobs.orphan if sent else self.jobs.release
        await run_blocking(give_up, self.run, key, self.holder)

    async def close(self) -> None:
        """Wait for the transactions in progress, and release the jobs that were claimed for cancelled tasks."""
        await self._claims.close()
        await self._sends.close()
        await self._outcomes.close()
        for key in self._abandoned:
            await self.release(key)

    def _claim_all(self, requests: list[tuple[str, bool, bool]]) -> list[Claim]:
        claims: dict[tuple[str, bool, bool], Claim] = {}
        resend = self._options.resend
        for anew, waiting in {(anew, waiting) for _, anew, waiting in requests}:
            keys = [key for key, *flags in requests if flags == [anew, waiting]]
            claimed = self.jobs.claim(self.run, keys, self.holder, resend=resend, anew=anew, waiting=waiting)
            claims |= {(key, anew, waiting): claim for key, claim in claimed.items()}
        return [claims[request] for request in requests]

    def _send_all(self, keys: list[str]) -> list[bool]:
        sent = self.jobs.send(self.run, keys, self.holder)
        return [key in sent for key in keys]

    def _finish_all(self, outcomes: list[Outcome]) -> list[None]:
        self.jobs.finish(self.run, outcomes, self.holder)
        return [None] * len(outcomes)


@asynccontextmanager
async def open_store_journal(
    options: ClaimOptions, fingerprint: RunFingerprint, *, batched: bool = False
) -> AsyncGenerator[StoreJournal]:
    """Open the shared jobs of a run. Raises ``StoreFailed`` if the store cannot be reached.

    One process at a time has the jobs of a ``batched`` run. Its journal of batches records which of them were sent.
    """
    jobs, name = options.jobs, name_run(fingerprint, options.run_id)
    has_other = await run_blocking(jobs.has_other, name, name.rpartition(" ")[2])
    if batched:
        name, options = f"{name} batched", replace(options, orphans="resend")
    journal = StoreJournal(jobs, name, options)
    if has_other:
        journal.notice = _OTHER_RUN_NOTICE.format(options.run_id or fingerprint.name, fingerprint.model)
    await run_blocking(jobs.renew, journal.holder, options.lease)
    ended = threading.Event()
    thread = threading.Thread(
        target=_keep_lease, args=(jobs, journal.holder, options.lease, ended), name="emitter.lease", daemon=True
    )
    thread.start()
    try:
        yield journal
    finally:
        try:
            await journal.close()
        finally:
            ended.set()
            await run_blocking(thread.join)
            with suppress(StoreFailed):  # the lease ends without it, only later
                await run_blocking(jobs.leave, journal.holder)


def _keep_lease(jobs: JobTable, holder: str, lease: float, ended: threading.Event) -> None:
    while not ended.wait(lease / _RENEWALS):
        with suppress(StoreFailed):  # the next renewal may succeed, and claims fail by themselves
            jobs.renew(holder, lease)


def name_run(fingerprint: RunFingerprint, run_id: str | None) -> str:
    """Return the name under which processes that run the same requests share their jobs."""
    text = json.dumps([fingerprint.to_json(), run_id], sort_keys=True)
    digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()
    return f"{run_id or fingerprint.name} {fingerprint.model} {digest}"
