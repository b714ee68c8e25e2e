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
from emitter.errors import EmitterError, Tampered
from emitter.events import Level, LogAppended, RunEvent, format_timestamp
from emitter.messages import as_mapping
from emitter.problems import warn_of_problem
from emitter.stores import Entry, NewEntry
from emitter.stores import locks as forks
from emitter.telemetry.sinks import generate_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emitter.authority.chain import SigningCallbacks
    from emitter.authority.records import ChainRecord, Line
    from emitter.messages import Json
    from emitter.stores import Store, StoredEntry
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


class _NothingToAppend(Exception):
    """The record exists already."""


@dataclass(slots=True)
class _CachedChain:
    """A workflow's state in this process, with its lock."""

    state: WorkflowState
    lock: threading.RLock = field(default_factory=threading.RLock)


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
        """Append the record that ``make_record`` returns for the current end of the chain, or raise what it raises."""
        cached = self._chain(workflow_id)
        with cached.lock:
            self._refresh(cached)
            while True:
                try:
                    record, stored = self._append_once(cached.state, make_record)
                except _NothingToAppend:
                    return None
                self._refresh(cached)
                if stored.created and record is not None:
                    break
        self._emit_events(stored.events)
        return record

    def read(self, workflow_id: str, reader: Callable[[WorkflowState], T]) -> T:
        """Return ``reader(state)`` for the current state, under the workflow's lock."""
        cached = self._chain(workflow_id)
        with cached.lock:
            self._refresh(cached)
            return reader(cached.state)

    def lines(self, workflow_id: str) -> Iterator[Json]:
        """Yield the stored lines of a chain, unverified."""
        number = 0
        while (entry := self._store.find(get_run_id(workflow_id), str(number))) is not None:
            yield dict(entry.outcome)
            number += 1

    def attachment(self, workflow_id: str, number: int) -> Json:
        """Return the JSON stored beside a line."""
        return read_attachment(self._store, workflow_id, number)

    def workflows(self) -> tuple[str, ...]:
        """Return the workflows that have records, in the order in which they began."""
        return self._index.names()

    def put_once(self, name: str, value: Json) -> Json:
        """Store a JSON value under a name unless one exists, and return the stored one."""
        stored = self._store.get_or_create(INDEX_RUN_ID, name, lambda: NewEntry(Entry("once", {"value": value}, {})))
        return _stored_value(stored.entry, name)

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

    def _append_once(self, state: WorkflowState, make_record: RecordFactory[R]) -> tuple[R | None, StoredEntry]:
        """Return the entry stored under the next number, and the new record if it is that one."""
        run_id, records = get_run_id(state.workflow_id), list[R]()

        def make_entry() -> NewEntry:
            last = 0.0 if state.last is None else parse_timestamp(state.last.at)
            at = max(self._clock(), last)
            draft = make_record(state, at)
            if draft is None:
                raise _NothingToAppend
            if state.last is None:
                # Before the first line is stored: a process that is killed in between leaves a listed workflow without
                # lines, and never a chain that is not listed.
                self._index.add_workflow(state.workflow_id)
            records.append(draft.record)
            line = chain.make_line(
                state.next_number, format_timestamp(at), state.head, draft.record, self._signing.sign
            )
            self._check_readable(state, line)
            extra = {} if draft.attachment is None else {"kept": draft.attachment}
            event = make_run_event(make_line_event(line), run_id, at, state.workflow_id)
            return NewEntry(Entry(draft.record.type, line.to_json(), extra), (event,))

        stored = self._store.get_or_create(run_id, str(state.next_number), make_entry)
        return (records[-1] if stored.created else None), stored

    def _refresh(self, cached: _CachedChain) -> None:
        try:
            self._apply_new_lines(cached.state)
        except BaseException:
            cached.state = WorkflowState(cached.state.workflow_id)  # it may be half-way through a line
            raise

    def _apply_new_lines(self, state: WorkflowState) -> None:
        # The log is read before the lines, so that a line which is appended meanwhile does not seem to be missing.
        logged_head = read_logged_head(self._store, state.workflow_id) if state.last is None else None
        hashes = set(self._iter_new_lines(state))
        if logged_head is not None and logged_head not in hashes:
            place = f"the end of workflow {state.workflow_id}"
            raise Tampered(f"{place} is missing: the store's log has a line that the chain does not.", place=place)

    def _iter_new_lines(self, state: WorkflowState) -> Iterator[str]:
        """Apply the new lines, and yield their hashes."""
        run_id = get_run_id(state.workflow_id)
        while (entry := self._store.find(run_id, str(state.next_number))) is not None:
            place = f"line {state.next_number} of workflow {state.workflow_id}"
            line = chain.parse_line(dict(entry.outcome), place)
            chain.check_follows(state.last, line, place, state.workflow_id)
            try:
                self._signing.check_line(line)
            except Tampered as error:
                raise Tampered(f"Workflow {state.workflow_id}: {error.args[0]}", place=place, hint=error.hint) from None
            rules.apply_line(state, line, math.inf)  # a reader cannot know the writer's clock skew
            yield line.hash

    def _check_readable(self, state: WorkflowState, added: Line) -> None:
        """Raise what a reader of the new line would raise, because nothing could be appended after it."""
        place = f"the record for line {added.seq}"
        chain.check_follows(state.last, chain.parse_line(added.to_json(), place), place, state.workflow_id)
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
    return None if not events else as_mapping(as_mapping(events[-1].get("payload")).get("fields")).get("hash")


INDEX_RUN_ID: Final = "emitter.authority"
"""The run whose log lists the workflows, and which holds values that belong to no single workflow."""


class WorkflowIndex:
    """The list of workflows in a store. Entries that were read are cached."""

    __slots__ = ("_clock", "_count", "_guard", "_last_event_number", "_names", "_store")

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self.reset()

    def reset(self) -> None:
        """Start with an empty cache and a new lock."""
        self._guard = threading.Lock()
        self._names = dict[str, None]()
        self._count = 0
        self._last_event_number = -1

    def names(self) -> tuple[str, ...]:
        """Return the workflows, or raise ``Tampered`` if the log has one that is not listed."""
        with self._guard:
            self._read_entries()
            while events := read_log(self._store, INDEX_RUN_ID, self._last_event_number):
                self._read_entries()  # another process may have added one meanwhile
                for event in events:
                    self._check_event(event)
            return tuple(self._names)

    def add_workflow(self, workflow_id: str) -> None:
        """List a workflow before its first line is written."""
        opened = LogAppended(Level.INFO, _WORKFLOW_OPENED, {})
        event = make_run_event(opened, INDEX_RUN_ID, self._clock(), workflow_id)
        entry = NewEntry(Entry("workflow", {"workflow_id": workflow_id}, {}), (event,))
        while workflow_id not in self.names():
            self._store.get_or_create(INDEX_RUN_ID, _entry_key(self._count), lambda: entry)

    def _read_entries(self) -> None:
        while (entry := self._store.find(INDEX_RUN_ID, _entry_key(self._count))) is not None:
            name = entry.outcome.get("workflow_id")
            if not isinstance(name, str):
                raise _index_tampered()
            self._names[name] = None
            self._count += 1

    def _check_event(self, event: Mapping[str, Json]) -> None:
        is_opened = as_mapping(event.get("payload")).get("message") == _WORKFLOW_OPENED
        if is_opened and event.get("causationId") not in self._names:
            raise _index_tampered()
        self._last_event_number = max(self._last_event_number + 1, event["sequence"])  # always advance


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


def _entry_key(number: int) -> str:
    return f"workflow:{number}"


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


def make_line_event(line: Line) -> LogAppended:
    """Return the event for an appended line."""
    level, message = _EVENT_MESSAGES[line.record.type]
    record = line.record.to_json()
    ids: dict[str, Json] = {name: record[name] for name in _EVENT_ID_FIELDS if name in record}
    return LogAppended(level, message, {"sequence": line.seq, "hash": line.hash, **ids})


def make_run_event(event: LogAppended, run_id: str, at: float, cause: str) -> RunEvent:
    """Return the event as recorded in a run; the store sets its number."""
    return RunEvent(event, generate_id(), run_id, _EVENT_NODE, format_timestamp(at), 0, cause)
