"""The journal: append records to each workflow's chain, and read them back verified.

A record is stored under its line number with `Store.get_or_create`. If another thread, process or machine took that
number, the journal reads the new line, checks the record again and takes the next number. A check therefore holds at
the moment the record is written.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Generic, TypeAlias, TypeVar, overload

from emitter.authority import chain, rules
from emitter.authority.records import parse_timestamp
from emitter.authority.rules import WorkflowState
from emitter.errors import EmitterError, StoreAltered, Tampered
from emitter.events import Level, LogAppended, RunEvent, format_timestamp
from emitter.messages import as_mapping
from emitter.problems import warn_of_problem
from emitter.stores import Entry, NewEntry
from emitter.stores import locks as forks
from emitter.stores.protocol import require_known, scan_from
from emitter.telemetry.sinks import generate_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emitter.authority.chain import SigningCallbacks
    from emitter.authority.records import ChainRecord, Line
    from emitter.messages import Json
    from emitter.stores import Store, StoredEntry
    from emitter.stores.protocol import ScannedEntry
    from emitter.telemetry.sinks import Sink

T = TypeVar("T")
R = TypeVar("R", bound="ChainRecord")
_MAX_CACHED_WORKFLOWS: Final = 256
"""Number of recently used workflows whose state is kept in memory."""


@dataclass(frozen=True, slots=True)
class NewRecord(Generic[R]):
    """A record to append, and optional JSON stored beside it that is not part of the chain."""

    record: R
    attachment: Json = None


RecordFactory: TypeAlias = Callable[[WorkflowState, float], NewRecord[R] | None]
"""Builds a record from the current state and the time in seconds since 1970.

It returns None if there is nothing to add, and raises if nothing may be added.
"""


_ENDING_TYPES: Final = frozenset({"STOP", "REVOKE", "EXPIRE", "RECEIPT"})
"""The records that allow nothing, and so can follow records that this release does not know."""


class _NothingToAppend(Exception):
    """The record exists already."""


@dataclass(slots=True)
class _CachedChain:
    """A workflow's state in this process, with its lock, and the position in the store up to which it was scanned."""

    state: WorkflowState
    lock: threading.RLock = field(default_factory=threading.RLock)
    is_read: bool = False
    position: int = -1

    def reset(self) -> None:
        """Forget the state, which is then read again."""
        self.state, self.is_read, self.position = WorkflowState(self.state.workflow_id), False, -1


class Journal:
    """The chains of all workflows in a store.

    Every line that is read is checked: its hash, its position, the rules of delegation and, with ``signing``, its
    signature. A line's time is never earlier than the previous line's, whatever the clock says.
    """

    __slots__ = ("__weakref__", "_chains", "_clock", "_guard", "_index", "_max_skew", "_signing", "_sink", "_store")

    def __init__(
        self,
        store: Store,
        *,
        clock: Callable[[], float],
        on_event: Sink | None,
        signing: SigningCallbacks,
        max_skew: float,
    ) -> None:
        self._store = store
        self._clock = clock
        self._sink = on_event
        self._signing = signing
        self._max_skew = max_skew
        self._guard = threading.Lock()
        self._index = WorkflowIndex(store, clock)
        self._chains: OrderedDict[str, _CachedChain] = OrderedDict()
        forks.register_fork_handler(self)

    @overload
    def append(self, workflow_id: str, make_record: Callable[[WorkflowState, float], NewRecord[R]]) -> R: ...
    @overload
    def append(self, workflow_id: str, make_record: RecordFactory[R]) -> R | None: ...
    def append(self, workflow_id: str, make_record: RecordFactory[R]) -> R | None:
        """Append the record that ``make_record`` returns for the current end of the chain, or raise what it raises.

        A chain that this process knows is not read before: the store calls ``make_record`` only if no line follows the
        last known one.
        """
        cached = self._chain(workflow_id)
        with cached.lock:
            if not cached.is_read:
                self._refresh(cached)
            while True:
                try:
                    added, stored = self._append_once(cached.state, make_record)
                except _NothingToAppend:
                    return None
                if stored.created and added is not None:
                    break
                self._refresh(cached)
            self._apply(cached, added[1], is_own=True)
        self._emit_events(stored.events)
        return added[0]

    def read(self, workflow_id: str, reader: Callable[[WorkflowState], T], *, refresh: bool = True) -> T:
        """Return ``reader(state)`` for the current state, under the workflow's lock.

        Without ``refresh`` the store is read only for a chain that this process does not know. The state is then the
        one after this process's last record or reading, and a record that depends on it is checked when it is appended.
        """
        cached = self._chain(workflow_id)
        with cached.lock:
            if refresh or not cached.is_read:
                self._refresh(cached)
            return reader(cached.state)

    def lines(self, workflow_id: str) -> Iterator[Json]:
        """Yield the stored lines of a chain, unverified."""
        for _, entry in _read_lines(self._store, get_run_id(workflow_id), 0, -1):
            yield dict(entry.outcome)

    def attachment(self, workflow_id: str, number: int) -> Json:
        """Return the JSON stored beside a line."""
        return read_attachment(self._store, workflow_id, number)

    def workflows(self) -> tuple[str, ...]:
        """Return the workflows that have records, in the order in which they began."""
        return self._index.names()

    def put_once(self, name: str, value: Json) -> Json:
        """Store a JSON value under a name unless one exists, and return the stored one."""
        return self.put_new(name, value)[0]

    def put_new(self, name: str, value: Json) -> tuple[Json, bool]:
        """Store a JSON value as ``put_once`` does, and return whether the stored one is this one."""
        stored = self._store.get_or_create(INDEX_RUN_ID, name, lambda: NewEntry(Entry("once", {"value": value}, {})))
        return _stored_value(stored.entry, name), stored.created

    def get_value(self, name: str) -> Json:
        """Return the value stored under a name, or None."""
        entry = self._store.find(INDEX_RUN_ID, name)
        return None if entry is None else _stored_value(entry, name)

    def now(self) -> float:
        """Return the time in seconds since 1970."""
        return self._clock()

    def emit_warning(self, message: str, fields: Mapping[str, Json], cause: str) -> None:
        """Send a warning about something outside any chain to the sink."""
        event = LogAppended(Level.WARN, message, fields)
        self._emit_events((make_run_event(event, INDEX_RUN_ID, self._clock(), cause),))

    def after_fork(self, *, child: bool) -> None:
        """Reset locks and caches in a forked child, where a lock's holder may not exist."""
        if child:
            self._guard = threading.Lock()
            self._chains = OrderedDict()
            self._index.reset()

    def _chain(self, workflow_id: str) -> _CachedChain:
        with self._guard:
            cached = self._chains.setdefault(workflow_id, _CachedChain(WorkflowState(workflow_id)))
            self._chains.move_to_end(workflow_id)
            while len(self._chains) > _MAX_CACHED_WORKFLOWS:
                self._chains.popitem(last=False)
        return cached

    def _append_once(
        self, state: WorkflowState, make_record: RecordFactory[R]
    ) -> tuple[tuple[R, Line] | None, StoredEntry]:
        """Return the entry stored under the next number, and the new record with its line if it is that one."""
        run_id, added = get_run_id(state.workflow_id), list["tuple[R, Line]"]()

        def make_entry() -> NewEntry:
            last = 0.0 if state.last is None else parse_timestamp(state.last.at)
            at = max(self._clock(), last)
            draft = make_record(state, at)
            if draft is None:
                raise _NothingToAppend
            if draft.record.type not in _ENDING_TYPES:
                rules.check_all_known(state)
            if state.last is None:
                # Before the first line is stored: a process that is killed in between leaves a listed workflow without
                # lines, and never a chain that is not listed.
                self._index.add_workflow(state.workflow_id)
            document, line = chain.make_line(
                state.next_number, format_timestamp(at), state.head, draft.record, self._signing.sign
            )
            self._check_appendable(state, line)
            added.append((draft.record, line))
            extra = {} if draft.attachment is None else {"kept": draft.attachment}
            event = make_run_event(make_line_event(document), run_id, at, state.workflow_id)
            return NewEntry(Entry(draft.record.type, document, extra), (event,))

        stored = self._store.get_or_create(run_id, str(state.next_number), make_entry)
        return (added[-1] if stored.created else None), stored

    def _refresh(self, cached: _CachedChain) -> None:
        """Read the lines that were added. Where this process knows the last one, one look finds that there are none."""
        state, run_id = cached.state, get_run_id(cached.state.workflow_id)
        if not cached.is_read:
            self._read_chain(cached)
        elif (entry := self._store.find(run_id, str(state.next_number))) is not None:
            self._read_line(cached, entry)
            self._read_new_lines(cached)

    def _read_chain(self, cached: _CachedChain) -> None:
        """Read a chain, and compare its end with the store's log."""
        cached.reset()
        hashes = set(self._read_new_lines(cached))
        state = cached.state
        # A line and its event are stored together, so the events of the last line on are enough.
        for event in read_log(self._store, get_run_id(state.workflow_id), max(state.next_number - 2, -1)):
            logged = _line_hash(event)
            if logged is not None and logged not in hashes:
                hashes.update(self._read_new_lines(cached))  # it may have been appended meanwhile
            if logged is not None and logged not in hashes:
                place = f"the end of workflow {state.workflow_id}"
                raise Tampered(f"{place} is missing: the store's log has a line that the chain does not.", place=place)
        cached.is_read = True

    def _read_new_lines(self, cached: _CachedChain) -> list[str]:
        """Apply the new lines, and return their hashes."""
        run_id, first = get_run_id(cached.state.workflow_id), cached.state.next_number
        hashes: list[str] = []
        for position, entry in _read_lines(self._store, run_id, first, cached.position):
            hashes.append(self._read_line(cached, entry))
            cached.position = max(position, cached.position)
        return hashes

    def _read_line(self, cached: _CachedChain, entry: Entry) -> str:
        """Apply a line of the store, and return its hash."""
        state = cached.state
        place = f"line {state.next_number} of workflow {state.workflow_id}"
        line = chain.parse_line(dict(entry.outcome), place)
        chain.check_follows(state.last, line, place, state.workflow_id)
        self._apply(cached, line)
        return line.hash

    def _apply(self, cached: _CachedChain, line: Line, *, is_own: bool = False) -> None:
        """Apply a line, once its signature and the rules allow it. They allowed the process's own before it was stored.

        A state that is half-way through a line is dropped.
        """
        try:
            self._check_signature(cached.state, line)
            if is_own:
                cached.state.apply(line)
            else:
                rules.apply_line(cached.state, line, math.inf)  # a reader cannot know the writer's clock skew
        except BaseException:
            cached.reset()
            raise

    def _check_signature(self, state: WorkflowState, line: Line) -> None:
        place = f"line {line.seq} of workflow {state.workflow_id}"
        try:
            self._signing.check_line(line)
        except Tampered as error:
            raise Tampered(f"Workflow {state.workflow_id}: {error.args[0]}", place=place, hint=error.hint) from None

    def _check_appendable(self, state: WorkflowState, added: Line) -> None:
        """Raise what a reader of the new line would raise, because nothing could be appended after it."""
        place = f"the record for line {added.seq}"
        chain.check_follows(state.last, added, place, state.workflow_id)
        rules.check_line_allowed(state, added, self._max_skew)
        chain.check_stays_signed(state.last, added)

    def _emit_events(self, events: Iterable[RunEvent]) -> None:
        if self._sink is None:
            return
        for event in events:
            try:
                self._sink(event)
            except Exception as error:  # noqa: BLE001  a sink is user code
                message = f"A sink raised {type(error).__name__}; the records are unaffected."
                warn_of_problem(message)


def _stored_value(entry: Entry, name: str) -> Json:
    if not name.startswith("confirm:"):  # whose workflow is found in any version, so that it can be revoked
        require_known(entry, f"The record {name}")
    if "value" not in entry.outcome:
        raise Tampered("A value in the store was changed.", place=name)
    return entry.outcome["value"]


def get_run_id(workflow_id: str) -> str:
    """Return the store run of a workflow's chain."""
    return f"{INDEX_RUN_ID}:{workflow_id}"


def read_attachment(store: Store, workflow_id: str, number: int) -> Json:
    """Return the JSON stored beside a line, or None."""
    entry = store.find(get_run_id(workflow_id), str(number))
    return None if entry is None else entry.envelope.get("kept")


def read_logged_head(store: Store, workflow_id: str) -> str | None:
    """Return the hash of a workflow's last line according to the store's event log, or None if that has none."""
    events = read_log(store, get_run_id(workflow_id))
    return None if not events else _line_hash(events[-1])


def _line_hash(event: Mapping[str, Json]) -> str | None:
    """Return the hash of the line that an event is about, or None."""
    return as_mapping(as_mapping(event.get("payload")).get("fields")).get("hash")


def _read_lines(store: Store, run_id: str, first: int, after: int) -> Iterator[tuple[int, Entry]]:
    """Yield a chain's entries from line ``first`` on, with their positions. They end where a number is missing.

    ``after`` is the position of an earlier line. A store that cannot scan is asked for one line after the other.
    """
    try:
        scanned = scan_from(store, run_id, after)
    except StoreAltered:  # one of them: the others are read, and the error is raised in its place
        scanned = None
    if scanned is None:
        while (entry := store.find(run_id, str(first))) is not None:
            yield -1, entry
            first += 1
        return
    # By their numbers: a database that an older release filled may return them in another order.
    for each in sorted(scanned, key=_by_number):
        if each.correlation_id == str(first):
            yield each.position, each.entry
            first += 1


def _by_number(scanned: ScannedEntry) -> tuple[int, str]:
    """Return a sort key that orders the numbers at the end of correlation ids."""
    return len(scanned.correlation_id), scanned.correlation_id


INDEX_RUN_ID: Final = "emitter.authority"
"""The run that holds values which belong to no single workflow. Its log listed the workflows of older releases."""
WORKFLOWS_RUN_ID: Final = "emitter.authority.workflows"
"""The run that lists the workflows, each under its id."""


class WorkflowIndex:
    """The list of workflows in a store. Entries that were read are cached."""

    __slots__ = ("_clock", "_guard", "_names", "_runs", "_store")

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self.reset()

    def reset(self) -> None:
        """Start with an empty cache and a new lock."""
        self._guard = threading.Lock()
        self._names = dict[str, None]()
        self._runs = (_IndexRun(INDEX_RUN_ID), _IndexRun(WORKFLOWS_RUN_ID))

    def names(self) -> tuple[str, ...]:
        """Return the workflows, or raise ``Tampered`` if the log has one that is not listed."""
        with self._guard:
            for run in self._runs:
                self._read_entries(run)
                while events := read_log(self._store, run.run_id, run.last_event):
                    self._read_entries(run)  # another process may have added one meanwhile
                    for event in events:
                        self._check_event(event)
                        run.last_event = max(run.last_event + 1, event["sequence"])  # always advance
            return tuple(self._names)

    def add_workflow(self, workflow_id: str) -> None:
        """List a workflow before its first line is written."""
        opened = LogAppended(Level.INFO, _WORKFLOW_OPENED, {})
        event = make_run_event(opened, WORKFLOWS_RUN_ID, self._clock(), workflow_id)
        entry = NewEntry(Entry("workflow", {"workflow_id": workflow_id}, {}), (event,))
        if workflow_id not in self._names:
            self._store.get_or_create(WORKFLOWS_RUN_ID, workflow_id, lambda: entry)

    def _read_entries(self, run: _IndexRun) -> None:
        for entry in run.read_entries(self._store):
            name = entry.outcome.get("workflow_id")
            if not isinstance(name, str):
                raise _index_tampered()
            self._names[name] = None

    def _check_event(self, event: Mapping[str, Json]) -> None:
        is_opened = as_mapping(event.get("payload")).get("message") == _WORKFLOW_OPENED
        if is_opened and event.get("causationId") not in self._names:
            raise _index_tampered()


@dataclass(slots=True)
class _IndexRun:
    """A run that lists workflows, and how far it was read."""

    run_id: str
    position: int = -1
    count: int = 0
    last_event: int = -1

    def read_entries(self, store: Store) -> Iterator[Entry]:
        """Yield the entries that were added."""
        scanned = scan_from(store, self.run_id, self.position)
        if scanned is None:
            yield from self._find_entries(store)
            return
        self.position = scanned[-1].position if scanned else self.position
        # By their numbers, where they have some: see _read_lines().
        listed = [each for each in scanned if each.entry.type == "workflow"]
        if self.run_id == INDEX_RUN_ID:
            listed.sort(key=_by_number)
        yield from (each.entry for each in listed)

    def _find_entries(self, store: Store) -> Iterator[Entry]:
        """Yield the added entries of a store that cannot scan, by the names in the log or by their numbers."""
        if self.run_id == WORKFLOWS_RUN_ID:
            names = (str(event.get("causationId")) for event in read_log(store, self.run_id, self.last_event))
            yield from filter(None, (store.find(self.run_id, name) for name in names))
            return
        while (entry := store.find(self.run_id, f"workflow:{self.count}")) is not None:
            self.count += 1
            yield entry


def read_log(store: Store, run_id: str, after: int = -1) -> tuple[Mapping[str, Json], ...]:
    """Return a run's events after a number, or raise ``Tampered`` for an invalid one."""
    try:
        events = store.events(run_id, after)
    except EmitterError:
        raise
    except (ValueError, RecursionError):
        raise _invalid_log() from None
    if not all(isinstance(event, Mapping) and type(event.get("sequence")) is int for event in events):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _invalid_log()
    return events


def _invalid_log() -> Tampered:
    place = "the store's log"
    return Tampered(f"{place} contains events that emitter did not write.", place=place)


def _index_tampered() -> Tampered:
    place = "the list of workflows"
    return Tampered(f"{place} was changed: the store's log has other workflows.", place=place)


_EVENT_NODE: Final = "authority"
_EVENT_MESSAGES: Final = {
    "CONFIRM": (Level.INFO, "authority.confirmed"),
    "REVOKE": (Level.WARN, "authority.revoked"),
    "EXPIRE": (Level.WARN, "authority.expired"),
    "STOP": (Level.WARN, "authority.stopped"),
    "RESUME": (Level.WARN, "authority.resumed"),
    "INTENT": (Level.INFO, "authority.intended"),
    "RECEIPT": (Level.INFO, "authority.receipted"),
}
_EVENT_ID_FIELDS: Final = (
    "confirm_id",
    "request_id",
    "intent_id",
    "receipt_id",
    "intent_ref",
    "authorization_ref",
    "result",
)
_WORKFLOW_OPENED: Final = "authority.workflow_opened"
CONFLICTING_RECEIPT_MESSAGE: Final = "authority.settled_otherwise"
"""An action ended differently from the receipt that was written by hand."""
HOOK_FAILED_MESSAGE: Final = "authority.hook_failed"


def make_line_event(line: Mapping[str, Json]) -> LogAppended:
    """Return the event for an appended line, from its JSON."""
    record = line["record"]
    level, message = _EVENT_MESSAGES[record["type"]]
    ids: dict[str, Json] = {name: record[name] for name in _EVENT_ID_FIELDS if name in record}
    return LogAppended(level, message, {"sequence": line["seq"], "hash": line["hash"], **ids})


def make_run_event(event: LogAppended, run_id: str, at: float, cause: str) -> RunEvent:
    """Return the event as recorded in a run; the store sets its number."""
    return RunEvent(event, generate_id(), run_id, _EVENT_NODE, format_timestamp(at), 0, cause)
