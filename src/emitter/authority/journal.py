"""The journal: each workflow's chain in a store, to which one record after the other is added, each checked as it is.

A record is added under its number, and a number is taken once in all threads and processes: whoever finds it taken
reads what was added, checks again, and takes the next. So a check holds at the very moment at which its record is
written, whatever others do meanwhile, in every store that keeps ``Store.once``.
"""

from __future__ import annotations

import math
import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Generic, TypeAlias, TypeVar

from emitter.authority import chain, telling
from emitter.authority.chain import UNSEALED, Seal
from emitter.authority.listing import INDEX, Listing, log_of
from emitter.authority.records.form import moment, written
from emitter.authority.rules import places
from emitter.authority.rules.state import State
from emitter.errors import Tampered
from emitter.store import Entry, Fresh, forks
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emitter.authority.records import Chained, Line
    from emitter.events import RunEvent
    from emitter.sinks import Sink
    from emitter.store import Kept, Store
    from emitter.wire import Json

T = TypeVar("T")
R = TypeVar("R", bound="Chained")

_CACHED: Final = 256
"""Workflows whose state is kept in memory, the latest used."""


@dataclass(frozen=True, slots=True)
class Draft(Generic[R]):
    """A record that is to be added, and JSON that is kept beside it and is no part of the chain."""

    record: R
    beside: Json = None


Make: TypeAlias = Callable[[State, float], Draft[R]]
"""Makes a record of the state as it is now, at a time in seconds since 1970; raises where there shall be none."""


@dataclass(slots=True)
class _Chain:
    """A workflow's state in this process, and who reads it."""

    state: State
    lock: threading.RLock = field(default_factory=threading.RLock)


class Journal:
    """The chains; ``clock`` returns seconds since 1970, ``skew`` is by how many of them clocks may differ.

    Each line that is read is held to its hash, to its place, to the rules by which it was added, and to its ``seal``.
    No line is earlier than the one before it, whatever the clock says.
    """

    __slots__ = ("__weakref__", "_chains", "_clock", "_guard", "_listing", "_seal", "_sink", "_skew", "_store")

    def __init__(
        self,
        store: Store,
        *,
        clock: Callable[[], float] = time.time,
        sink: Sink | None = None,
        seal: Seal = UNSEALED,
        skew: float = 0.0,
    ) -> None:
        self._store = store
        self._clock = clock
        self._sink = sink
        self._seal = seal
        self._skew = skew
        self._guard = threading.Lock()
        self._listing = Listing(store, clock)
        self._chains: OrderedDict[str, _Chain] = OrderedDict()
        forks.hold(self)

    def add(self, workflow_id: str, make: Make[R]) -> R:
        """Add the record that ``make`` returns, at the end of the chain as it is then; what it raises is raised."""
        held = self._chain(workflow_id)
        with held.lock:
            self._read(held)
            while True:
                record, kept = self._keep(held.state, make)
                self._read(held)
                if kept.first and record is not None:
                    break
        self._tell(kept.events)
        return record

    def look(self, workflow_id: str, see: Callable[[State], T]) -> T:
        """Return what ``see`` makes of all that the chain comes to as of now; nobody changes it meanwhile."""
        held = self._chain(workflow_id)
        with held.lock:
            self._read(held)
            return see(held.state)

    def lines(self, workflow_id: str) -> Iterator[Json]:
        """Yield the lines of a chain as they stand in the store, unchecked."""
        number = 0
        while (entry := self._store.find(run_of(workflow_id), str(number))) is not None:
            yield dict(entry.outcome)
            number += 1

    def beside(self, workflow_id: str, number: int) -> Json:
        """Return the JSON that is kept beside a line."""
        return beside(self._store, workflow_id, number)

    def workflows(self) -> tuple[str, ...]:
        """Return the workflows that have a record, in the order in which they began."""
        return self._listing.names()

    def once(self, name: str, value: Json) -> Json:
        """Keep a JSON value under a name, once in all; return the one that is kept."""
        kept = self._store.once(INDEX, name, lambda: Fresh(Entry("once", {"value": value}, {})))
        return _value(kept.entry, name)

    def known(self, name: str) -> Json:
        """Return what is kept under a name, None where nothing is."""
        entry = self._store.find(INDEX, name)
        return None if entry is None else _value(entry, name)

    def now(self) -> float:
        """Return the time, in seconds since 1970."""
        return self._clock()

    def tell(self, event: RunEvent) -> None:
        """Tell the sink of something that stands in no chain."""
        self._tell((event,))

    def forking(self) -> None:
        """Do nothing: who holds a lock waits for the store."""

    def forked(self, *, child: bool) -> None:
        """Begin anew in a child: a thread that is not there may have held a lock, amid its reading."""
        if child:
            self._guard = threading.Lock()
            self._chains = OrderedDict()
            self._listing.begin_anew()

    def _chain(self, workflow_id: str) -> _Chain:
        with self._guard:
            found = self._chains.setdefault(workflow_id, _Chain(State(workflow_id)))
            self._chains.move_to_end(workflow_id)
            while len(self._chains) > _CACHED:
                self._chains.popitem(last=False)
        return found

    def _keep(self, state: State, make: Make[R]) -> tuple[R | None, Kept]:
        """Return what is kept under the next number, and the record, if it is the one that ``make`` returned."""
        run, made = run_of(state.workflow_id), list[R]()

        def fresh() -> Fresh:
            last = 0.0 if state.last is None else moment(state.last.at)
            at = max(self._clock(), last)
            draft = make(state, at)
            if state.last is None:
                self._listing.put(state.workflow_id)
            made.append(draft.record)
            added = chain.line(state.next, written(at), state.head, draft.record, self._seal.sign)
            self._check_readable(state, added)
            beside = {} if draft.beside is None else {"kept": draft.beside}
            told = telling.stamped(telling.line(added), run, at, state.workflow_id)
            return Fresh(Entry(draft.record.type, added.to_json(), beside), (told,))

        kept = self._store.once(run, str(state.next), fresh)
        return (made[-1] if kept.first else None), kept

    def _read(self, held: _Chain) -> None:
        try:
            self._read_on(held.state)
        except BaseException:
            held.state = State(held.state.workflow_id)  # amid a line it is neither what it was nor what it shall be
            raise

    def _read_on(self, state: State) -> None:
        noted = noted_head(self._store, state.workflow_id) if state.last is None else None
        seen = set(self._added(state))
        if noted is not None and noted not in seen:
            place = f"the end of workflow {state.workflow_id}"
            raise Tampered(f"{place} is gone: the store's log tells of a line that is not there.", place=place)

    def _added(self, state: State) -> Iterator[str]:
        """Add the lines that follow, and yield their hashes."""
        run = run_of(state.workflow_id)
        while (entry := self._store.find(run, str(state.next))) is not None:
            place = f"line {state.next} of workflow {state.workflow_id}"
            found = chain.read(dict(entry.outcome), place)
            chain.follows(state.last, found, place, state.workflow_id)
            self._seal.look(found)
            places.add(state, found, math.inf)  # by how much its writer's clock was off is no reader's to say
            yield found.hash

    def _check_readable(self, state: State, added: Line) -> None:
        """Raise what a reader would where a line cannot be read again: nothing could ever follow on it."""
        place = f"the record for line {added.seq}"
        chain.follows(state.last, chain.read(added.to_json(), place), place, state.workflow_id)
        places.check(state, added, self._skew)
        chain.check_signed(state.last, added)

    def _tell(self, events: Iterable[RunEvent]) -> None:
        if self._sink is None:
            return
        for event in events:
            try:
                self._sink(event)
            except Exception as error:  # noqa: BLE001  a sink is anybody's code
                told = f"A sink raised {type(error).__name__}; what was recorded stands."
                with suppress(RuntimeWarning):  # raised, it would leave an act that was intended, and never begun
                    warnings.warn(told, RuntimeWarning, stacklevel=2)


def _value(entry: Entry, name: str) -> Json:
    if "value" not in entry.outcome:
        raise Tampered("What the store keeps under a name is not what was written there.", place=name)
    return entry.outcome["value"]


def run_of(workflow_id: str) -> str:
    """Return the run in which a store keeps a workflow's chain."""
    return f"{INDEX}:{workflow_id}"


def beside(store: Store, workflow_id: str, number: int) -> Json:
    """Return the JSON that a store keeps beside a line of a workflow's chain, None where there is none."""
    entry = store.find(run_of(workflow_id), str(number))
    return None if entry is None else entry.envelope.get("kept")


def noted_head(store: Store, workflow_id: str) -> str | None:
    """Return the hash of a workflow's last line, as the store's log of events tells it; None where it tells nothing."""
    events = log_of(store, run_of(workflow_id))
    return None if not events else mapping(mapping(events[-1].get("payload")).get("fields")).get("hash")
