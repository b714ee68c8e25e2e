"""The ledger's event log and the index that is built from it.

This module builds the ``log.appended`` events, adds each of them to the store once, passes it to the sink, and folds
the log into the open decisions, the rates and the warnings that are due. Every process that reads the log gets the same
result. Events contain no words of an envelope or an answer; ``decision_class`` is shortened, and its unprintable
characters are removed.

Source: draft-morrison-binding-moment-envelope-00, sections 5.9, 11 and 12.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from types import NoneType
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, cast

from emitter.decisions import ledger_entries
from emitter.decisions.decision_rates import DecisionMeasure, DecisionRates, RateThresholds
from emitter.decisions.ledger_entries import has_member_types
from emitter.decisions.ledger_words import deleted_words_key, words_key
from emitter.decisions.resolution import ResolutionOutcome, UnresolvedReason
from emitter.errors import StoreFailed
from emitter.events import Level, LogAppended, RunEvent, format_timestamp
from emitter.messages import as_mapping
from emitter.problems import warn_of_problem
from emitter.stores import NewEntry
from emitter.stores.locks import register_fork_handler
from emitter.stores.protocol import require_known
from emitter.telemetry.sinks import generate_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from emitter.decisions.ledger_entries import PendingDecision
    from emitter.messages import Json
    from emitter.models import BindingMoment
    from emitter.stores import Entry, Store, StoredEntry
    from emitter.telemetry.sinks import Sink

T = TypeVar("T")
LEDGER_RUN_ID: Final = "emitter.ledger"
"""The run id of the ledger's log in every store."""
OPENED_MESSAGE: Final = "decision.opened"
HATCH_SUPPRESSED_MESSAGE: Final = "decision.hatch_suppressed"
RESOLVED_MESSAGE: Final = "decision.resolved"
UNRESOLVED_MESSAGE: Final = "decision.unresolved"
APPROVED_MESSAGE: Final = "decision.approved"
ASSIGNED_MESSAGE: Final = "decision.assigned"
RATE_EXCEEDED_MESSAGE: Final = "decision.rate_exceeded"
REASKED_MESSAGE: Final = "decision.reasked"
SIMILAR_MESSAGE: Final = "decision.resembles_refused"
DETAIL_ASKED_MESSAGE: Final = "decision.detail_asked"
DETAIL_ANSWERED_MESSAGE: Final = "decision.detail_answered"
WORDS_DELETED_MESSAGE: Final = "decision.words_deleted"
UNREADABLE_MESSAGE: Final = "decision.unreadable"
_NODE_ID: Final = "ledger"
_PLACE: Final = "A record of the ledger"
_MAX_CLASS_LENGTH: Final = 64


def clean_decision_class(decision_class: str | None) -> str:
    """Return a decision class as it is counted: printable, at most 64 characters, empty if None."""
    return "".join(filter(str.isprintable, decision_class or ""))[:_MAX_CLASS_LENGTH]


def read_decision_class(moment: BindingMoment) -> str:
    """Return the decision class of an envelope as it is counted."""
    return clean_decision_class(None if moment.meta is None else moment.meta.decision_class)


def decision_fields(pending: PendingDecision) -> dict[str, Json]:
    """Return the fields that identify a decision in every event."""
    return {"digest": pending.digest, "agent": pending.agent, "decisionClass": read_decision_class(pending.moment)}


def make_opened_events(pending: PendingDecision) -> tuple[LogAppended, ...]:
    """Return the events of an opened decision. Closed hatches get an event of their own."""
    moment, hatches = pending.moment, pending.moment.question.hatches
    states = {"free_text": hatches.free_text, "dialogue": hatches.dialogue}
    fields = {
        **decision_fields(pending),
        "suppressedHatches": [name for name, is_open in states.items() if not is_open],
    }
    has_note = moment.meta is not None and moment.meta.calibration_note is not None
    event = LogAppended(
        Level.INFO, OPENED_MESSAGE, {**fields, "calibrationNote": has_note, "expiresAt": pending.expires_at}
    )
    return (event,) if all(states.values()) else (event, LogAppended(Level.WARN, HATCH_SUPPRESSED_MESSAGE, fields))


def make_resolved_event(
    pending: PendingDecision, outcome: ResolutionOutcome, channel: str, words_until: float | None = None
) -> LogAppended:
    """Return the event of a resolution. ``words_until`` is when the answer's words are deleted."""
    fields = {**decision_fields(pending), "outcome": outcome.value, "channel": channel}
    if pending.subject:
        fields["subject"] = pending.subject
    return LogAppended(Level.INFO, RESOLVED_MESSAGE, {**fields, **_words_until_field(words_until)})


def make_detail_asked_event(
    pending: PendingDecision, number: int, channel: str, words_until: float | None
) -> LogAppended:
    """Return the event of a detail request. ``words_until`` is when its topic is deleted."""
    fields = {**decision_fields(pending), "number": number, "channel": channel}
    return LogAppended(Level.INFO, DETAIL_ASKED_MESSAGE, {**fields, **_words_until_field(words_until)})


def make_words_deleted_event(name: str) -> LogAppended:
    """Return the event for words that were deleted from the store."""
    return LogAppended(Level.INFO, WORDS_DELETED_MESSAGE, {"entry": name})


def _words_until_field(words_until: float | None) -> dict[str, Json]:
    return {} if words_until is None else {"wordsUntil": words_until}


def make_unresolved_event(decision: Mapping[str, Json], reason: UnresolvedReason, channel: str = "") -> LogAppended:
    """Return the event of a decision that was put to somebody who did not decide."""
    return LogAppended(Level.INFO, UNRESOLVED_MESSAGE, {**decision, "reason": reason.value, "channel": channel})


def make_expired_event(decision: Mapping[str, Json]) -> LogAppended:
    """Return the event of a decision that expired."""
    fields = {**decision, "reason": UnresolvedReason.TIMEOUT.value, "expired": True}
    return LogAppended(Level.INFO, UNRESOLVED_MESSAGE, fields)


def make_withdrawn_event(decision: Mapping[str, Json], reason: UnresolvedReason, channel: str) -> LogAppended:
    """Return the event of a decision that the agent withdrew."""
    fields = {**decision, "reason": reason.value, "channel": channel, "expired": True, "withdrawn": True}
    return LogAppended(Level.INFO, UNRESOLVED_MESSAGE, fields)


def make_decision_event(level: Level, message: str, pending: PendingDecision, **fields: Json) -> LogAppended:
    """Return an event of a decision with fields of its own."""
    return LogAppended(level, message, {**decision_fields(pending), **fields})


def make_unreadable_event(decision: str, line: int | None = None) -> LogAppended:
    """Return the event for an entry in the store, or a ``line`` of the log, that was altered."""
    return LogAppended(
        Level.WARN, UNREADABLE_MESSAGE, {"reference": decision, **({} if line is None else {"line": line})}
    )


def make_run_event(event: LogAppended, seconds: float, causation_id: str) -> RunEvent:
    """Return an event as it is recorded, before the store numbers it."""
    return RunEvent(event, generate_id(), LEDGER_RUN_ID, _NODE_ID, format_timestamp(seconds), 0, causation_id)


RateScope: TypeAlias = tuple[str, str | None]
"""An agent and a decision class, or None for all classes together."""
_DECISION_MEMBERS = {"digest": (str,), "agent": (str,), "decisionClass": (str,)}
_MEMBER_TYPES: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    OPENED_MESSAGE: {
        **_DECISION_MEMBERS,
        "expiresAt": (int, float, NoneType),
        "calibrationNote": (bool,),
        "suppressedHatches": (list,),
    },
    RESOLVED_MESSAGE: {**_DECISION_MEMBERS, "outcome": (str,)},
    UNRESOLVED_MESSAGE: _DECISION_MEMBERS,
    DETAIL_ASKED_MESSAGE: {"number": (int,)},
    ASSIGNED_MESSAGE: {"number": (int,)},
    WORDS_DELETED_MESSAGE: {"entry": (str,)},
    RATE_EXCEEDED_MESSAGE: {"line": (int,), "measure": (str,)},
    UNREADABLE_MESSAGE: {"reference": (str,)},
}
_OUTCOME_COUNTERS = {
    ResolutionOutcome.FREE_TEXT.value: "free_texts",
    ResolutionOutcome.DIALOGUE.value: "question_vetoes",
}


@dataclass(slots=True)
class IndexedDecision:
    """An open decision: its event fields, and whether it was put to somebody who did not decide."""

    fields: Mapping[str, Json]
    was_unanswered: bool = False


@dataclass(frozen=True, slots=True)
class DueWarning:
    """A warning that is recorded once. ``name`` is the same in every process."""

    name: str
    decision: str
    event: LogAppended


@dataclass(slots=True)
class LedgerIndex:
    """The state that follows from the log, up to the event with number ``last_sequence``."""

    thresholds: RateThresholds
    last_sequence: int = -1
    open_decisions: dict[str, IndexedDecision] = field(default_factory=dict[str, IndexedDecision])
    closed_decisions: dict[str, None] = field(default_factory=dict[str, None])
    due_warnings: dict[str, DueWarning] = field(default_factory=dict[str, DueWarning])
    assignment_counts: dict[str, int] = field(default_factory=dict[str, int])
    _counts: dict[RateScope, Counter[str]] = field(default_factory=dict[RateScope, "Counter[str]"])
    _refused_by_agent: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    _exceeded: set[tuple[RateScope, DecisionMeasure]] = field(default_factory=set[tuple[RateScope, DecisionMeasure]])
    _expiries: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    _refusals: dict[str, None] = field(default_factory=dict[str, None])
    _refused_by_subject: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    _words_until: dict[str, tuple[float, str]] = field(default_factory=dict[str, tuple[float, str]])

    def add(self, documents: Iterable[Mapping[str, Json]]) -> None:
        """Add the events after ``last_sequence``; ignore events of other writers, and report malformed ones once."""
        readers = {
            OPENED_MESSAGE: self._on_opened,
            RESOLVED_MESSAGE: self._on_resolved,
            UNRESOLVED_MESSAGE: self._on_unresolved,
            RATE_EXCEEDED_MESSAGE: self._on_rate_exceeded,
            UNREADABLE_MESSAGE: self._on_unreadable,
            DETAIL_ASKED_MESSAGE: self._on_detail_asked,
            ASSIGNED_MESSAGE: self._on_assigned,
            WORDS_DELETED_MESSAGE: self._on_words_deleted,
        }
        for document in documents:
            self.last_sequence = cast("int", document["sequence"])
            payload = as_mapping(document["payload"])
            message, fields = str(payload.get("message")), as_mapping(payload.get("fields"))
            if message in readers:
                reader = readers[message] if has_member_types(fields, _MEMBER_TYPES[message]) else self._add_unreadable
                reader(str(document["causationId"]), fields)

    def find_expired(self, now: float) -> str | None:
        """Return an open decision that has expired, or None."""
        while self._expiries and self._expiries[0][0] <= now:
            decision = self._expiries[0][1]
            if decision in self.open_decisions:
                return decision
            heappop(self._expiries)
        return None

    def find_expired_words(self, now: float) -> tuple[tuple[str, str], ...]:
        """Return the keys of expired words, each with its decision."""
        return tuple((name, decision) for name, (until, decision) in self._words_until.items() if until <= now)

    def remove_words(self, name: str) -> None:
        """Record that words were deleted."""
        self._words_until.pop(name, None)

    def refused_decisions(self) -> tuple[str, ...]:
        """Return the decisions whose question was refused, latest first."""
        return tuple(reversed(self._refusals))

    def refused_digests(self, agent: str) -> Mapping[str, str]:
        """Return an agent's envelopes whose question was refused: digest to decision."""
        return dict(self._refused_by_agent.get(agent, {}))

    def refused_about(self, subject: str) -> tuple[str, ...]:
        """Return the decisions about a subject whose question was refused, latest first."""
        return tuple(reversed(self._refused_by_subject.get(subject, ())))

    def rates(self, agent: str | None, decision_class: str | None) -> DecisionRates:
        """Return the rates of an agent and a class; None is all of them."""
        counted_class = None if decision_class is None else clean_decision_class(decision_class)
        total: Counter[str] = Counter()
        for (scope_agent, scope_class), counts in self._counts.items():
            if scope_class is not None and agent in (None, scope_agent) and counted_class in (None, scope_class):
                total += counts
        return DecisionRates(**total)

    def _on_opened(self, decision: str, fields: Mapping[str, Json]) -> None:
        identity = {name: fields[name] for name in ("digest", "agent", "decisionClass")}
        self.open_decisions[decision] = IndexedDecision(identity)
        if fields["expiresAt"] is not None:
            heappush(self._expiries, (fields["expiresAt"], decision))
        has_note, has_closed_hatch = bool(fields["calibrationNote"]), bool(fields["suppressedHatches"])
        self._add_counts(
            decision, fields, {"opened": 1, "calibration_notes": has_note, "suppressed_hatches": has_closed_hatch}
        )

    def _on_resolved(self, decision: str, fields: Mapping[str, Json]) -> None:
        opened, counter = self._close(decision), _OUTCOME_COUNTERS.get(fields["outcome"])
        if fields["outcome"] == ResolutionOutcome.DIALOGUE.value:
            self._refused_by_agent.setdefault(fields["agent"], {}).setdefault(fields["digest"], decision)
            self._refusals[decision] = None
            if fields.get("subject"):
                self._refused_by_subject.setdefault(str(fields["subject"]), []).append(decision)
        self._track_words(words_key(decision), decision, fields)
        is_settled = opened is not None and opened.was_unanswered
        self._add_counts(
            decision, fields, {"resolved": 1, "settled": not is_settled, **({counter: 1} if counter else {})}
        )

    def _on_detail_asked(self, decision: str, fields: Mapping[str, Json]) -> None:
        self._track_words(words_key(decision, fields["number"]), decision, fields)

    def _on_assigned(self, decision: str, fields: Mapping[str, Json]) -> None:
        self.assignment_counts[decision] = fields["number"]

    def _track_words(self, name: str, decision: str, fields: Mapping[str, Json]) -> None:
        words_until: object = fields.get("wordsUntil")
        if isinstance(words_until, int | float):
            self._words_until[name] = (words_until, decision)

    def _on_words_deleted(self, _: str, fields: Mapping[str, Json]) -> None:
        self.remove_words(fields["entry"])

    def _on_unresolved(self, decision: str, fields: Mapping[str, Json]) -> None:
        opened = self.open_decisions.get(decision)
        if opened is not None and not opened.was_unanswered:
            opened.was_unanswered = True
            self._add_counts(decision, fields, {"unanswered": 1, "settled": 1})
        if fields.get("expired"):
            self._close(decision)

    def _close(self, decision: str) -> IndexedDecision | None:
        self.closed_decisions[decision] = None
        return self.open_decisions.pop(decision, None)

    def _add_unreadable(self, decision: str, _: Mapping[str, Json]) -> None:
        event = make_unreadable_event(decision, self.last_sequence)
        self._add_warning(DueWarning(_unreadable_key(event.fields), decision, event))

    def _on_unreadable(self, _: str, fields: Mapping[str, Json]) -> None:
        self.due_warnings.pop(_unreadable_key(fields), None)

    def _on_rate_exceeded(self, _: str, fields: Mapping[str, Json]) -> None:
        self.due_warnings.pop(_warning_key(fields), None)

    def _add_counts(self, decision: str, fields: Mapping[str, Json], increments: Mapping[str, int]) -> None:
        agent = str(fields["agent"])
        scopes: tuple[RateScope, RateScope] = (agent, str(fields["decisionClass"])), (agent, None)
        for scope in scopes:
            self._counts.setdefault(scope, Counter()).update(increments)
        for scope in scopes:
            self._check_thresholds(decision, scope, DecisionRates(**self._counts[scope]))

    def _check_thresholds(self, decision: str, scope: RateScope, rates: DecisionRates) -> None:
        """Add warnings for rates that reached their thresholds, and reset the ones that are below again.

        An agent's classes together are reported only if no single class was, so that nobody stays below every threshold
        by giving each decision a class of its own.
        """
        for measure in DecisionMeasure:
            key = (scope, measure)
            if not self.thresholds.is_exceeded(rates, measure):
                self._exceeded.discard(key)
            elif key not in self._exceeded:
                event = _make_rate_event(scope, measure, rates, self.thresholds, self.last_sequence)
                if scope[1] is not None or not self._is_class_exceeded(scope[0], measure):
                    self._add_warning(DueWarning(_warning_key(event.fields), decision, event))
                self._exceeded.add(key)

    def _add_warning(self, warning: DueWarning) -> None:
        self.due_warnings[warning.name] = warning

    def _is_class_exceeded(self, agent: str, measure: DecisionMeasure) -> bool:
        return any(exceeded == measure and scope_agent == agent for (scope_agent, _), exceeded in self._exceeded)


def _make_rate_event(
    scope: RateScope, measure: DecisionMeasure, rates: DecisionRates, thresholds: RateThresholds, sequence: int
) -> LogAppended:
    agent, decision_class = scope
    class_field: dict[str, Json] = {} if decision_class is None else {"decisionClass": decision_class}
    fields: dict[str, Json] = {
        "agent": agent,
        **class_field,
        "measure": measure.value,
        "rate": rates.rate(measure),
        "count": rates.count(measure),
        "of": rates.base_count(measure),
        "threshold": thresholds.threshold(measure),
        "line": sequence,
    }
    return LogAppended(Level.WARN, RATE_EXCEEDED_MESSAGE, fields)


def _unreadable_key(fields: Mapping[str, Json]) -> str:
    return f"{fields.get('line')}:unreadable"


def _warning_key(fields: Mapping[str, Json]) -> str:
    """Return the name of a warning: the event that made it due, the measure and the kind of scope."""
    return f"{fields['line']}:{fields['measure']}:{'class' if 'decisionClass' in fields else 'agent'}"


EntryFactory: TypeAlias = "Callable[[float], tuple[Entry, Iterable[LogAppended]]]"
"""Returns the entry to store and its events, for a time in seconds since 1970."""


def end_key(decision: str) -> str:
    """Return the store key of a decision's end: its resolution or its expiry."""
    return f"closed:{decision}"


class LedgerLog:
    """The log in the store and its index. ``clock`` returns seconds since 1970.

    An event is stored before the process that added it sends it to the sink. What is stored stands: an exception of a
    sink becomes a warning.
    """

    __slots__ = ("__weakref__", "_clock", "_index", "_lock", "_sink", "_store", "_thresholds")

    def __init__(
        self, store: Store, clock: Callable[[], float], on_event: Sink | None, thresholds: RateThresholds
    ) -> None:
        self._store = store
        self._clock = clock
        self._sink = on_event
        self._thresholds = thresholds
        self._lock = threading.Lock()
        self._index = LedgerIndex(thresholds)
        register_fork_handler(self)

    def find(self, name: str) -> Entry | None:
        """Return the entry under a name, or None. Raises ``NewerRecord``."""
        entry = self._store.find(LEDGER_RUN_ID, name)
        return None if entry is None else require_known(entry, _PLACE)

    def record(self, name: str, make: EntryFactory, decision: str) -> StoredEntry:
        """Return the entry under a name. If there is none, store what ``make`` returns and send its events."""
        stored = self.record_silently(name, make, decision)
        self.publish(stored)
        return stored

    def record_event(self, name: str, event: LogAppended, decision: str) -> None:
        """Record and send an event, once."""
        self.record(name, partial(_make_marker, event), decision)

    def record_silently(self, name: str, make: EntryFactory, decision: str) -> StoredEntry:
        """Record an entry as ``record`` does, without sending the events."""

        def make_new() -> NewEntry:
            now = self._clock()
            entry, events = make(now)
            return NewEntry(entry, tuple(make_run_event(event, now, decision) for event in events))

        stored = self._store.get_or_create(LEDGER_RUN_ID, name, make_new)
        require_known(stored.entry, _PLACE)
        return stored

    def publish(self, stored: StoredEntry) -> None:
        """Send the events of a stored entry and do what is due after them. Never raises, since the entry stands."""
        self._send(stored.events)
        try:
            if stored.events:
                self.refresh(stored.events)
        except StoreFailed as error:
            _warn_of_failure("store", error)

    def refresh(self, added: tuple[RunEvent, ...] = ()) -> None:
        """Read new events, expire decisions, delete expired words and record warnings.

        ``added`` are the events that this process has just stored. The store is read only if others come before them.
        """
        events: list[RunEvent] = []
        try:
            with self._lock:
                self._read_new_events(added)
                self._record_expiries(events)
                self._delete_expired_words(events)
                self._record_warnings(events)
        finally:
            self._send(events)

    def read(self, reader: Callable[[LedgerIndex], T], *, refresh: bool = True) -> T:
        """Return ``reader(index)`` for the current index.

        Without ``refresh`` only new events are read: nothing expires, and no warning is recorded.
        """
        if refresh:
            self.refresh()
        with self._lock:
            if not refresh:
                self._read_new_events()
            return reader(self._index)

    def known(self, reader: Callable[[LedgerIndex], T]) -> T:
        """Return ``reader(index)`` for the events that this process knows, without reading the store."""
        with self._lock:
            return reader(self._index)

    @property
    def store(self) -> Store:
        """The store of the log."""
        return self._store

    def now(self) -> float:
        """Return the time, in seconds since 1970."""
        return self._clock()

    def write_words(self, name: str, entry: Entry) -> None:
        """Store words under a name, replacing what an interrupted resolution may have left."""
        # The words are written before the resolution that they belong to. A process that was killed in between leaves
        # words that no resolution names.
        if not self._store.get_or_create(LEDGER_RUN_ID, name, lambda: NewEntry(entry)).created:
            self._store.forget(LEDGER_RUN_ID, name)
            self._store.get_or_create(LEDGER_RUN_ID, name, lambda: NewEntry(entry))

    def find_words(self, written_before: float) -> tuple[tuple[str, str], ...]:
        """Return the keys of words that were written before a time and are kept, each with its decision."""
        found: list[tuple[str, str]] = []
        last = format_timestamp(max(written_before, 0.0))
        for document in self._store.events(LEDGER_RUN_ID):
            payload, decision = as_mapping(document["payload"]), str(document["causationId"])
            message, number = payload.get("message"), as_mapping(payload.get("fields")).get("number")
            if message not in (RESOLVED_MESSAGE, DETAIL_ASKED_MESSAGE):
                continue
            name = words_key(decision, number) if isinstance(number, int) else words_key(decision)
            if str(document["timestamp"]) <= last and self.find(name) is not None:
                found.append((name, decision))
        return tuple(found)

    def delete_words(self, name: str, decision: str) -> None:
        """Delete words from the store and record the deletion."""
        self._send(self._delete_entry(name, decision))

    def after_fork(self, *, child: bool) -> None:
        """Start with a new lock and index in a child, since another thread may have been updating them."""
        if child:
            self._lock = threading.Lock()
            self._index = LedgerIndex(self._thresholds)

    def _read_new_events(self, added: tuple[RunEvent, ...] = ()) -> None:
        last = self._index.last_sequence
        follows = bool(added) and added[0].sequence == last + 1
        self._index.add((event.to_json() for event in added) if follows else self._store.events(LEDGER_RUN_ID, last))

    def _record_expiries(self, events: list[RunEvent]) -> None:
        while (decision := self._index.find_expired(self._clock())) is not None:
            event = make_expired_event(self._index.open_decisions[decision].fields)
            events += self.record_silently(end_key(decision), partial(_make_expiry, event), decision).events
            self._read_new_events()
            # Also if the log has no event of the end, because somebody altered it: the loop must end.
            self._index.open_decisions.pop(decision, None)

    def _delete_expired_words(self, events: list[RunEvent]) -> None:
        for name, decision in self._index.find_expired_words(self._clock()):
            events += self._delete_entry(name, decision)
            self._index.remove_words(name)

    def _delete_entry(self, name: str, decision: str) -> tuple[RunEvent, ...]:
        self._store.forget(LEDGER_RUN_ID, name)
        return self.record_silently(
            deleted_words_key(name), partial(_make_marker, make_words_deleted_event(name)), decision
        ).events

    def _record_warnings(self, events: list[RunEvent]) -> None:
        for warning in tuple(self._index.due_warnings.values()):
            events += self.record_silently(
                f"exceeded:{warning.name}", partial(_make_marker, warning.event), warning.decision
            ).events
            self._index.due_warnings.pop(warning.name, None)

    def _send(self, events: Iterable[RunEvent]) -> None:
        if self._sink is None:
            return
        for event in events:
            try:
                self._sink(event)
            except Exception as error:  # noqa: BLE001  a sink may raise anything
                _warn_of_failure("sink", error)


def _warn_of_failure(source: str, error: Exception) -> None:
    """Warn of a failure after something was stored. The exception text may contain words and is left out."""
    warn_of_problem(f"The ledger's {source} raised {type(error).__name__}; what was recorded stands.")


def _make_marker(event: LogAppended, _: float) -> tuple[Entry, tuple[LogAppended, ...]]:
    """Return the entry of an event that is only recorded once."""
    return ledger_entries.MARKER_ENTRY, (event,)


def _make_expiry(event: LogAppended, expired_at: float) -> tuple[Entry, tuple[LogAppended, ...]]:
    return ledger_entries.make_expired_entry(expired_at), (event,)
