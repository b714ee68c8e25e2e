"""Jobs and rate limits that several processes share.

A job is claimed before it is sent, and its outcome closes the claim. Each process is a holder with a lease, which it
renews by the database's clock. A claim whose holder's lease has ended is orphaned: the job was sent or about to be
sent, and its outcome is unknown. A claim that waits for a rate limit was not sent, so the next process takes it. All
statements run on PostgreSQL and SQLite.

A limit on requests and tokens per minute is leased in slots by the generic cell rate algorithm. One time is kept for
the next request and one for the next token. A process that has five calls to make takes five slots at once, which
advances the shared times by as much.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from emitter.stores.protocol import encode_key

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager


class ClaimStatus(Enum):
    """The status of a claim."""

    CLAIMED = "claimed"
    """This process has the job, and may send it."""
    RESENT = "resent"
    """As ``CLAIMED``, but the job was orphaned, so it may have been sent before."""
    DONE = "done"
    """The job has a final outcome."""
    HELD = "held"
    """Another process has the job."""
    ORPHANED = "orphaned"
    """The process that had the job is gone, and the outcome is unknown."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The answer to a claim.

    Attributes:
        status: Whether the job may be sent.
        entry: The text of the outcome, if the job is done.
        holder: The process that has or had the job.
        claimed_at: When it claimed the job, in seconds since 1970 by the database's clock.
    """

    status: ClaimStatus
    entry: str | None = None
    holder: str | None = None
    claimed_at: float | None = None


@dataclass(frozen=True, slots=True)
class Orphan:
    """A claim whose holder is gone."""

    run: str
    key: str
    holder: str
    claimed_at: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a job, as text. A job whose outcome is not ``final`` can be claimed again."""

    key: str
    entry: str
    final: bool


class Transaction(Protocol):
    """Statements with named parameters (``:name``), in one transaction."""

    def execute(self, statement: str, parameters: Mapping[str, Any], /) -> Iterable[Sequence[Any]]:
        """Run a statement, and return its rows."""
        ...

    def executemany(self, statement: str, rows: Sequence[Mapping[str, Any]], /) -> object:
        """Run a statement once for each row of parameters."""
        ...


@dataclass(frozen=True, slots=True)
class SqlDialect:
    """The SQL that differs between databases: the time, the strings of a JSON array, locks, and a number's type."""

    now: str
    each_key: str
    lock_claims: str
    lock_row: str
    number: str
    lock_creation: str


class JobDatabase(Protocol):
    """A database with the tables of jobs."""

    @property
    def dialect(self) -> SqlDialect:
        """The SQL of the database."""
        ...

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Open a write transaction, which is committed at the end of the block."""
        ...


_TABLES = (
    """CREATE TABLE IF NOT EXISTS emitter_jobs (
        run_id TEXT NOT NULL, job_key TEXT NOT NULL, state TEXT NOT NULL, holder TEXT NOT NULL,
        claimed_at {number} NOT NULL, entry TEXT, PRIMARY KEY (run_id, job_key))""",
    "CREATE INDEX IF NOT EXISTS emitter_jobs_open ON emitter_jobs (holder) WHERE state = 'open'",
    "CREATE TABLE IF NOT EXISTS emitter_holders (holder TEXT PRIMARY KEY, expires_at {number} NOT NULL)",
    """CREATE TABLE IF NOT EXISTS emitter_limits (
        name TEXT PRIMARY KEY, next_request {number} NOT NULL, next_token {number} NOT NULL,
        paused_until {number} NOT NULL)""",
)
_RENEW = """INSERT INTO emitter_holders (holder, expires_at) VALUES (:holder, {now} + :seconds)
    ON CONFLICT (holder) DO UPDATE SET expires_at = {now} + :seconds"""
_LEAVE = "DELETE FROM emitter_holders WHERE holder = :holder OR expires_at <= {now}"
_IS_GONE = "NOT EXISTS (SELECT 1 FROM emitter_holders AS h WHERE h.holder = j.holder AND h.expires_at > {now})"
# WHERE true is for SQLite: after a SELECT, its parser would take ON CONFLICT for the ON of a join. Rows are locked in
# the order of their keys, here and below, so that two processes that claim the same jobs cannot deadlock.
_INSERT = """INSERT INTO emitter_jobs (run_id, job_key, state, holder, claimed_at)
    SELECT :run, value, :state, :holder, {now} FROM {each_key} WHERE true ORDER BY value
    ON CONFLICT DO NOTHING RETURNING job_key"""
_SELECT = """SELECT job_key, state, entry, holder, claimed_at, {is_gone} FROM emitter_jobs AS j
    WHERE run_id = :run AND job_key IN (SELECT value FROM {each_key})"""
_TAKE = """UPDATE emitter_jobs SET state = CASE state WHEN 'open' THEN 'open' ELSE :state END,
    holder = :holder, claimed_at = {now} WHERE run_id = :run AND job_key IN (
        SELECT job_key FROM emitter_jobs AS j WHERE run_id = :run AND job_key IN (SELECT value FROM {each_key})
        AND (state = 'failed' OR (state = 'final' AND :anew = 1)
        OR ((state = 'waiting' OR (state = 'open' AND :resend = 1)) AND {is_gone}))
        ORDER BY job_key {lock_claims})
    RETURNING job_key"""
_SEND = """UPDATE emitter_jobs SET state = 'open', claimed_at = {now}
    WHERE run_id = :run AND job_key IN (
        SELECT job_key FROM emitter_jobs AS j WHERE run_id = :run AND job_key IN (SELECT value FROM {each_key})
        AND state IN ('waiting', 'open') AND holder = :holder ORDER BY job_key {lock_claims})
    RETURNING job_key"""
_FINISH = """INSERT INTO emitter_jobs (run_id, job_key, state, holder, claimed_at, entry)
    VALUES (:run, :key, :state, :holder, {now}, :entry)
    ON CONFLICT (run_id, job_key) DO UPDATE SET state = excluded.state, entry = excluded.entry
    WHERE emitter_jobs.state <> 'final'"""
_HAS_OTHER = """SELECT NOT EXISTS (SELECT 1 FROM emitter_jobs WHERE run_id IN (:run, :batched)) AND (
    EXISTS (SELECT 1 FROM emitter_jobs WHERE run_id > :first AND run_id < :run
        AND substr(run_id, 1, :length) = :first)
    OR EXISTS (SELECT 1 FROM emitter_jobs WHERE run_id > :batched AND run_id < :last
        AND substr(run_id, 1, :length) = :first))"""
"""Two seeks in the index: the names of runs that differ in their digest alone are next to each other."""
_RELEASE = """DELETE FROM emitter_jobs
    WHERE run_id = :run AND job_key = :key AND holder = :holder AND state IN ('open', 'waiting')"""
_ENTRIES = """SELECT job_key, entry FROM emitter_jobs WHERE run_id = :run AND state = 'final' ORDER BY job_key"""
_ORPHAN = """UPDATE emitter_jobs SET state = 'open', holder = ''
    WHERE run_id = :run AND job_key = :key AND holder = :holder AND state IN ('open', 'failed')"""
_ORPHANS = """SELECT run_id, job_key, holder, claimed_at FROM emitter_jobs AS j
    WHERE state = 'open' AND {is_gone} ORDER BY run_id, job_key"""
_SELECT_LIMIT = """SELECT next_request, next_token, paused_until, {now} FROM emitter_limits WHERE name = :name
    {lock_row}"""
_INSERT_LIMIT = "INSERT INTO emitter_limits VALUES (:name, 0, 0, 0) ON CONFLICT DO NOTHING"
_UPDATE_LIMIT = """UPDATE emitter_limits SET next_request = :request, next_token = :token, paused_until = :paused
    WHERE name = :name"""


class JobTable:
    """The shared jobs of a store. Threads and processes may call every method at the same time.

    The first call creates the missing tables.
    """

    def __init__(self, database: JobDatabase) -> None:
        self._database = database
        self._fragments = asdict(database.dialect)
        self._fragments["is_gone"] = _IS_GONE.format(**self._fragments)
        self._has_tables = False

    @contextmanager
    def _transaction(self) -> Generator[Transaction]:
        """Open a transaction. The first one creates the missing tables, which no event loop should wait for."""
        if not self._has_tables:
            with self._database.transaction() as transaction:
                for statement in ("{lock_creation}", *_TABLES):
                    transaction.execute(self._format(statement), {})
            self._has_tables = True
        with self._database.transaction() as transaction:
            yield transaction

    def renew(self, holder: str, seconds: float) -> None:
        """Let the lease of a holder end ``seconds`` from now, by the database's clock."""
        with self._transaction() as transaction:
            transaction.execute(self._format(_RENEW), {"holder": holder, "seconds": seconds})

    def has_other(self, run: str, digest: str) -> bool:
        """Return whether a run has no jobs, and another run has some whose name differs in the digest at its end."""
        name = encode_key(run)
        first = name.removesuffix(digest)
        ends = {"first": first, "last": f"{first}g", "length": len(first)}  # a digest is hexadecimal
        with self._transaction() as transaction:
            ((has_other,),) = transaction.execute(_HAS_OTHER, {"run": name, "batched": f"{name} batched", **ends})
        return bool(has_other)

    def leave(self, holder: str) -> None:
        """End the lease of a holder, and delete leases that have ended. Claims that are not closed are orphaned."""
        with self._transaction() as transaction:
            transaction.execute(self._format(_LEAVE), {"holder": holder})

    def claim(  # noqa: PLR0913  the flags have defaults
        self,
        run: str,
        keys: Sequence[str],
        holder: str,
        *,
        resend: bool = False,
        anew: bool = False,
        waiting: bool = False,
    ) -> dict[str, Claim]:
        """Claim jobs, all in one transaction, and return the answer by key.

        Args:
            run: The run, which keeps equal keys of different runs apart.
            keys: The jobs.
            holder: This process, whose lease must have been renewed.
            resend: Whether to take orphaned jobs.
            anew: Whether to take jobs that have a final outcome.
            waiting: Whether ``send`` is called before the jobs are sent. Until then, a job that was not orphaned before
                cannot be orphaned.
        """
        names = {encode_key(key): key for key in keys}
        state = "waiting" if waiting else "open"
        parameters = {"run": encode_key(run), "holder": holder, "state": state, "keys": json.dumps(list(names))}
        with self._transaction() as transaction:
            inserted = {row[0] for row in transaction.execute(self._format(_INSERT), parameters)}
            claims = dict.fromkeys(inserted, Claim(ClaimStatus.CLAIMED, holder=holder))
            rest = [name for name in names if name not in inserted]
            if rest:
                parameters |= {"keys": json.dumps(rest)}
                rows = transaction.execute(self._format(_SELECT), parameters)
                found = {row[0]: _read_claim(*row[1:]) for row in rows}
                take = {**parameters, "resend": int(resend), "anew": int(anew)}
                taken = transaction.execute(self._format(_TAKE), take) if _may_take(found, resend, anew) else ()
                claims |= found | {name: _take_claim(found.get(name, _UNREAD)) for (name,) in taken}
        return {key: claims.get(name, _UNREAD) for name, key in names.items()}

    def send(self, run: str, keys: Sequence[str], holder: str) -> set[str]:
        """Mark waiting jobs as sent, and return those that this process still holds and may send now."""
        names = {encode_key(key): key for key in keys}
        parameters = {"run": encode_key(run), "holder": holder, "keys": json.dumps(list(names))}
        with self._transaction() as transaction:
            return {names[name] for (name,) in transaction.execute(self._format(_SEND), parameters)}

    def finish(self, run: str, outcomes: Sequence[Outcome], holder: str) -> None:
        """Store outcomes and close their claims, all in one transaction. The first final outcome of a job stays."""
        rows = [
            {
                "run": encode_key(run),
                "key": encode_key(outcome.key),
                "state": "final" if outcome.final else "failed",
                "holder": holder,
                "entry": outcome.entry,
            }
            for outcome in sorted(outcomes, key=lambda outcome: encode_key(outcome.key))
        ]
        with self._transaction() as transaction:
            transaction.executemany(self._format(_FINISH), rows)

    def release(self, run: str, key: str, holder: str) -> None:
        """Give up the claim of a job that was not sent, or, for an ``Orphan``, let the job be sent again."""
        with self._transaction() as transaction:
            transaction.execute(_RELEASE, {"run": encode_key(run), "key": encode_key(key), "holder": holder})

    def entries(self, run: str) -> list[tuple[str, str]]:
        """Return the keys and texts of the final outcomes of a run, in the order of the keys."""
        with self._transaction() as transaction:
            return [(key, text) for key, text in transaction.execute(_ENTRIES, {"run": encode_key(run)})]

    def orphan(self, run: str, key: str, holder: str) -> None:
        """Give up the claim of a job that was sent and whose outcome will stay unknown."""
        with self._transaction() as transaction:
            transaction.execute(_ORPHAN, {"run": encode_key(run), "key": encode_key(key), "holder": holder})

    def resend(self, orphan: Orphan) -> None:
        """Let the next run send an orphaned job again."""
        with self._transaction() as transaction:
            transaction.execute(_RELEASE, {"run": orphan.run, "key": orphan.key, "holder": orphan.holder})

    def orphans(self) -> list[Orphan]:
        """Return the claims of all runs whose holders are gone."""
        with self._transaction() as transaction:
            return [Orphan(*row) for row in transaction.execute(self._format(_ORPHANS), {})]

    def lease_slots(self, name: str, request: SlotRequest) -> Slots:
        """Return when the next calls may start, within the limits that all processes share under ``name``."""
        with self._transaction() as transaction:
            rows = [*transaction.execute(self._format(_SELECT_LIMIT), {"name": name})]
            if not rows:
                transaction.execute(_INSERT_LIMIT, {"name": name})
                rows = [*transaction.execute(self._format(_SELECT_LIMIT), {"name": name})]
            next_request, next_token, paused_until, now = rows[0]
            state, slots = take_slots(LimitState(next_request, next_token, paused_until), request, now)
            values = {"request": state.next_request, "token": state.next_token, "paused": state.paused_until}
            transaction.execute(_UPDATE_LIMIT, {"name": name, **values})
        return slots

    def _format(self, statement: str) -> str:
        return statement.format(**self._fragments)


def _read_claim(state: str, entry: str | None, holder: str, claimed_at: float, is_gone: object) -> Claim:
    if state == "open":
        status = ClaimStatus.ORPHANED if is_gone else ClaimStatus.HELD
    else:
        status = ClaimStatus.DONE if state == "final" else ClaimStatus.HELD
    return Claim(status, entry if state == "final" else None, holder, claimed_at)


_UNREAD = Claim(ClaimStatus.HELD)
"""The claim of a job that another process released or claimed between two statements."""


def _take_claim(before: Claim) -> Claim:
    status = ClaimStatus.RESENT if before.status is ClaimStatus.ORPHANED else ClaimStatus.CLAIMED
    return replace(before, status=status, entry=None)


def _may_take(found: Mapping[str, Claim], resend: bool, anew: bool) -> bool:  # noqa: FBT001  of one call only
    """Return whether a further statement could take any job."""
    free = {ClaimStatus.HELD: True, ClaimStatus.ORPHANED: resend, ClaimStatus.DONE: anew}
    return any(free[claim.status] for claim in found.values())


_WINDOW = 60.5
"""Seconds of a minute, and half a second more, since calls do not all arrive equally late."""
_BURST = 50
"""The largest burst is a fiftieth of the limit: 12 of 600 requests."""


@dataclass(frozen=True, slots=True)
class LimitState:
    """The regular times of the next request and the next token, and the end of a pause, in seconds."""

    next_request: float = 0.0
    next_token: float = 0.0
    paused_until: float = 0.0


@dataclass(frozen=True, slots=True)
class SlotRequest:
    """The calls of a process that wait for a limit.

    Attributes:
        calls: How many calls to start.
        tokens: The tokens of all of them, and what earlier calls used beyond their expected tokens. May be negative.
        requests_per_minute: The limit on requests, or None.
        tokens_per_minute: The limit on tokens, or None.
        pause: Seconds for which the vendor wants no calls, or 0.
    """

    calls: int
    tokens: int = 0
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    pause: float = 0.0


@dataclass(frozen=True, slots=True)
class Slots:
    """The times of calls: the first may start after ``delay`` seconds, each further one ``interval`` seconds later."""

    delay: float
    interval: float


def take_slots(state: LimitState, request: SlotRequest, now: float) -> tuple[LimitState, Slots]:
    """Return the state after a request, and its slots."""
    paused_until = max(state.paused_until, now + request.pause) if request.pause > 0 else state.paused_until
    earliest, calls = max(now, paused_until), max(1, request.calls)
    requests = _advance(state.next_request, request.calls, request.requests_per_minute, calls, earliest)
    tokens = _advance(state.next_token, request.tokens, request.tokens_per_minute, calls, earliest)
    start, end = max(requests.first, tokens.first), max(requests.last, tokens.last)
    interval = max(0.0, end - start) / max(1, calls - 1)
    return LimitState(requests.regular, tokens.regular, paused_until), Slots(start - now, interval)


class _Advance(NamedTuple):
    """The regular time after some units, and the times at which the first and the last call may start."""

    regular: float
    first: float
    last: float


def _advance(regular: float, amount: int, limit: int | None, calls: int, earliest: float) -> _Advance:
    """Return the times after ``amount`` units.

    A burst and then regular units come to at most ``limit`` in any minute. So do calls of several units, up to a
    quarter of the limit; a larger one may exceed it once.
    """
    if limit is None:
        return _Advance(regular, earliest, earliest)
    burst = max(1, limit // _BURST)
    largest = min(max(1, amount // calls), max(1, limit // 4))
    interval = _WINDOW / (limit - burst - largest + 2)
    regular = max(regular, earliest)
    credit = (burst - 1) * interval
    after = max(regular + amount * interval, earliest)
    last = after - max(1, amount // calls) * interval
    return _Advance(after, max(earliest, regular - credit), max(earliest, last - credit))
