"""``Acceptor``: an engine's side of the AI envelope, from a document to what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from emitter.accept import record
from emitter.accept.acceptance import Acceptance
from emitter.accept.case import Case, Received, Recorded, Remembered, Rules, World
from emitter.accept.gates.dedup import again
from emitter.accept.order import ALWAYS, ONCE, STORED, walk
from emitter.accept.outcome import Accepted
from emitter.accept.telling import is_unshown, refusal, stamped, subject
from emitter.accept.turn import Tally, Turn
from emitter.errors import InputError
from emitter.kinds.envelope import AIEnvelope
from emitter.kinds.universal import SCHEMA_REQUEST
from emitter.sinks import new_id, now
from emitter.store import MemoryStore
from emitter.store.log import Entry, Fresh

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.accept.context import Context
    from emitter.accept.outcome import Outcome
    from emitter.events import RunEvent
    from emitter.sinks import Sink
    from emitter.store.log import Store
    from emitter.wire import Json


@dataclass(frozen=True, slots=True)
class Acceptor:
    """Accepts envelopes as ``rules`` say, and keeps what became of them in ``store``.

    ``sink`` is called with every event that is told, ``observe`` with every ``Acceptance``. A host of several
    processes shares a ``SqliteStore``, one of several machines a ``SqlStore``; with ``store=None`` nothing is
    remembered, so that a repetition is accepted again. It may be used from many threads at once.

    Source: ai-envelope.md, "Primitive" (``AIEnvelopeAcceptor``) and "Production flow".
    """

    rules: Rules = field(default_factory=Rules)
    store: Store | None = field(default_factory=MemoryStore)
    sink: Sink | None = None
    observe: Callable[[Acceptance], object] | None = None
    stamp: Callable[[], str] = now
    mint: Callable[[], str] = new_id
    tally: Tally = field(default_factory=Tally, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.rules.__class__ is not Rules:
            raise InputError("rules must be Rules.", hint="Write Acceptor(Rules(catalogue, ...)).")
        if self.store is not None and not hasattr(self.store, "once"):
            raise InputError("store must be a store, or None.", hint="Write store=SqliteStore('runs.db').")

    def accept(self, envelope: AIEnvelope | Json, context: Context) -> Acceptance:
        """Return what becomes of ``envelope``; nothing that it may be raises.

        Raises ``StoreFailed`` where the store cannot keep it, and what a handler of your own raises: in both
        cases nothing was kept, and the envelope may come again. What ``sink`` or ``observe`` raise is raised too,
        after it was kept.
        """
        end, before = walk(self.receive(envelope, context), ALWAYS)
        if isinstance(end, Case):
            return self._observed(self._accepted(end))
        if isinstance(end, Remembered):
            return self._observed(_cached(end.entry, before))
        stored = self._stored(end, before) if self.store is not None and is_unshown(end) else None
        return self.refuse(end, before) if stored is None else self._observed(stored)

    def receive(self, envelope: AIEnvelope | Json, context: Context) -> Received:
        """Return what came in, as the steps begin with it."""
        return Received(_plain(envelope), context, self.rules, self._world(context.run_id))

    def refuse(self, outcome: Outcome, last: Received | Case) -> Acceptance:
        """Tell of a refusal, with nothing in it that is a secret: it may have come before redaction."""
        return self._observed(self._refused(outcome, last))

    def recall(self, correlation_id: str, context: Context) -> Acceptance | None:
        """Return what became of an envelope that was accepted before, where the store remembers it."""
        received = self.receive(None, context)
        entry = received.world.find(correlation_id)
        return None if entry is None else _cached(entry, received)

    def turn(self, context: Context) -> Turn:
        """Return a turn of the node: several envelopes, counted against the limits."""
        return Turn.of(self, context)

    def _world(self, run_id: str) -> World:
        store = self.store
        if store is None:
            return World(self.mint, self.stamp, lambda _: None)
        return World(self.mint, self.stamp, lambda correlation_id: store.find(run_id, correlation_id))

    def _accepted(self, case: Case) -> Acceptance:
        """Do what is done once, and return what stands afterwards."""
        try:
            recorded = _recorded(case) if self.store is None else self._kept(case, self.store)
        except _Ended as ended:
            return self._refused(ended.outcome, case)
        if isinstance(recorded, Recorded):
            self._tell(recorded.events)
            return _accepted(recorded)
        known = again(case, recorded)
        return _cached(recorded, case) if isinstance(known, Remembered) else self._refused(known, case)

    def _kept(self, case: Case, store: Store) -> Recorded | Entry:
        """Record the case, if nobody else was first; else return what they recorded."""
        done: list[Recorded] = []

        def make() -> Fresh:
            done[:] = [_recorded(case)]
            outcome = _accepted(done[0]).outcome.to_json()
            return Fresh(Entry(case.envelope.type, outcome, case.envelope.to_json()), done[0].events)

        kept = store.once(case.context.run_id, case.envelope.correlation_id, make)
        return Recorded(done[0].routed, kept.events) if kept.first else kept.entry

    def _stored(self, outcome: Outcome, case: Case) -> Acceptance | None:
        """Store content that the host cannot show, and warn of it; None where more than its kind is against it.

        Source: ai-envelope.md, "A2UI surfaces": store-without-render, and the run goes on.
        """
        store = self.store
        end, _ = walk(case, STORED)
        if isinstance(end, Remembered):
            return _cached(end.entry, case)
        if store is None or not isinstance(end, Case):
            return None
        clean = record.redacted(outcome, self.rules.secrets)
        told = refusal(clean, self.rules, case.context.counters)
        events = stamped(told, subject(end), end.received.world)
        entry = Entry(end.envelope.type, clean.to_json(), end.envelope.to_json())
        kept = store.once(case.context.run_id, end.envelope.correlation_id, lambda: Fresh(entry, events))
        if not kept.first:
            return _cached(kept.entry, case)
        self._tell(kept.events)
        return Acceptance(clean, case.context, self.rules, events=kept.events)

    def _refused(self, outcome: Outcome, last: Received | Case) -> Acceptance:
        secrets, context = self.rules.secrets, last.context
        clean = record.redacted(outcome, secrets)
        told = refusal(clean, self.rules, context.counters)
        events = stamped(told, subject(last), self._world(context.run_id))
        if self.store is not None and events:
            events = self.store.append(context.run_id, events)
        self._tell(events)
        return Acceptance(clean, context, self.rules, events=events)

    def _observed(self, found: Acceptance) -> Acceptance:
        if self.observe is not None:
            self.observe(found)
        return found

    def _tell(self, events: tuple[RunEvent, ...]) -> None:
        if self.sink is not None:
            for each in events:
                self.sink(each)


class _Ended(Exception):
    """What is done once came to a refusal: nothing is kept."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


def _recorded(case: Case) -> Recorded:
    end, _ = walk(case, ONCE)
    if not isinstance(end, Recorded):
        raise _Ended(end)
    return end


def _accepted(recorded: Recorded) -> Acceptance:
    case, events = recorded.routed.case, recorded.events
    return Acceptance(
        Accepted(case.envelope.envelope_id, tuple([each.event_id for each in events])),
        case.context,
        case.rules,
        envelope=case.envelope,
        events=events,
        warnings=case.warnings,
        drift=case.drift,
        redactions=case.redactions,
        requested=recorded.routed.requested,
    )


def _plain(envelope: AIEnvelope | Json) -> Json:
    """Return an envelope as JSON; one whose payload is none stays as it is, for the first step to refuse."""
    try:
        return envelope.to_json() if isinstance(envelope, AIEnvelope) else envelope
    except (ValueError, RecursionError):
        return envelope


def _cached(entry: Entry, last: Received | Case) -> Acceptance:
    secrets = last.rules.secrets
    envelope = record.envelope(entry, secrets)
    requested = None
    if envelope is not None and envelope.type == SCHEMA_REQUEST:
        requested = envelope.payload["envelopeType"]
    outcome = record.redacted(record.outcome(entry), secrets)
    return Acceptance(outcome, last.context, last.rules, envelope=envelope, requested=requested, cached=True)
