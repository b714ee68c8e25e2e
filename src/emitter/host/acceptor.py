"""Accept envelopes: single ones, and those of a turn.

``Acceptor`` runs the pipeline, stores one outcome per correlation id, and sends the events to the sink. ``Turn``
counts the envelopes of a turn.

Source: ai-envelope.md, "Primitive", "Production flow", "Wire serialization" and ``PartialInfo``.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from emitter import host, stores
from emitter.errors import InputError
from emitter.host import outcomes
from emitter.host.config import (
    CachedOutcome,
    Counters,
    HostConfig,
    HostServices,
    InFlightEnvelope,
    ReceivedEnvelope,
)
from emitter.host.outcomes import Accepted
from emitter.host.pipeline import (
    OWN_STEPS,
    RECORDING_STEPS,
    STEPS,
    STORE_ONLY_STEPS,
    VALIDATION_STEPS,
    Acceptance,
    build_asset_references,
    build_refusal_events,
    counts_as_round,
    get_event_origin,
    is_unrendered_content,
    run_pipeline,
    to_run_events,
)
from emitter.host.validation import is_small, join_strings, reuse_outcome
from emitter.interpreter import run_steps
from emitter.messages import as_mapping
from emitter.models.envelope import AIEnvelope
from emitter.models.standard_kinds import CLARIFICATION_REQUEST, SCHEMA_REQUEST, UNIVERSAL_SCHEMAS
from emitter.stores.protocol import Entry, NewEntry
from emitter.telemetry.sinks import call_sink, generate_id, utc_timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from emitter.events import Event
    from emitter.host.config import EnvelopeContext
    from emitter.host.outcomes import EnvelopeOutcome
    from emitter.interpreter import Steps
    from emitter.messages import Json
    from emitter.stores.protocol import Store
    from emitter.telemetry.sinks import Sink

MAX_COUNTED_NODES = 4096
"""The most nodes that a host without a store counts for. The least recent node is forgotten first."""


@dataclass(frozen=True, slots=True, eq=False)
class _CountedEnvelope:
    """One counted envelope of an emission; ``correlation_id`` is None without a store."""

    turn: int
    kind: str
    correlation_id: str | None


class EmissionCounter:
    """Counts the envelopes of emissions by run and node: those in progress and, without a store, the accepted ones.

    Concurrent emissions of several threads count against each other. Those of several processes count once they are in
    the shared store.
    """

    __slots__ = ("_guard", "_kept", "_under_way")

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._under_way: dict[tuple[str, str], list[_CountedEnvelope]] = {}
        self._kept: OrderedDict[tuple[str, str], list[_CountedEnvelope]] = OrderedDict()

    def __reduce__(self) -> tuple[type[EmissionCounter], tuple[()]]:
        return EmissionCounter, ()

    @contextmanager
    def reserve(
        self, store: Store | None, context: EnvelopeContext, envelope: _CountedEnvelope
    ) -> Generator[EnvelopeContext]:
        """Yield the context with the counts before ``envelope``, and count it for others until the block ends."""
        key = context.run_id, context.node_id
        with self._guard:
            others = [*self._under_way.get(key, ()), *self._kept.get(key, ())]
            self._under_way.setdefault(key, []).append(envelope)
        try:
            yield replace(context, counters=_merge_counters(store, context, envelope, others))
        finally:
            with self._guard:
                self._under_way[key].remove(envelope)
                if not self._under_way[key]:
                    del self._under_way[key]

    def add(self, context: EnvelopeContext, envelope: _CountedEnvelope) -> None:
        """Count an envelope that a host without a store accepted."""
        key = context.run_id, context.node_id
        with self._guard:
            self._kept.setdefault(key, []).append(envelope)
            self._kept.move_to_end(key)
            if len(self._kept) > MAX_COUNTED_NODES:
                self._kept.popitem(last=False)


@contextmanager
def reserve_count(
    acceptor: Acceptor, context: EnvelopeContext, turn: int, kind: str, correlation_id: str
) -> Generator[EnvelopeContext]:
    """Yield an emission's context with the counts of its run, node and turn."""
    # without a store, two emissions of a kind in one turn share their id, and are two envelopes
    envelope = _CountedEnvelope(turn, kind, None if acceptor.store is None else correlation_id)
    with acceptor.emission_counter.reserve(acceptor.store, context, envelope) as counted:
        yield counted


def add_accepted(acceptor: Acceptor, turn: int, acceptance: Acceptance) -> None:
    """Count an emission's accepted envelope, unless a store does."""
    if acceptor.store is None and acceptance.envelope is not None:
        acceptor.emission_counter.add(acceptance.context, _CountedEnvelope(turn, acceptance.envelope.type, None))


def _merge_counters(
    store: Store | None, context: EnvelopeContext, envelope: _CountedEnvelope, others: list[_CountedEnvelope]
) -> Counters:
    """Return the higher of the context's counters and the counts of earlier envelopes."""
    prefix = f"{context.run_id}:{context.node_id}:{envelope.turn}:"
    earlier = [(other.kind, other.turn == envelope.turn) for other in others if other.correlation_id is None]
    if store is not None:
        kinds = {other.correlation_id: other.kind for other in others if other.correlation_id is not None}
        kinds |= _find_accepted_kinds(store, context)
        earlier = [(kind, name.startswith(prefix)) for name, kind in kinds.items() if name != envelope.correlation_id]
    counters = context.counters
    return replace(
        counters,
        envelopes=max(counters.envelopes, sum(in_turn for _, in_turn in earlier)),
        clarification=max(counters.clarification, sum(kind == CLARIFICATION_REQUEST for kind, _ in earlier)),
    )


def _find_accepted_kinds(store: Store, context: EnvelopeContext) -> dict[str, str]:
    """Return the kinds by correlation id of a node's accepted envelopes, found through its events in the run's log."""
    ids = {str(event.get("causationId")) for event in store.events(context.run_id, node_id=context.node_id)}
    entries = {correlation_id: store.find(context.run_id, correlation_id) for correlation_id in ids}
    return {
        correlation_id: entry.type
        for correlation_id, entry in entries.items()
        if entry is not None and entry.outcome.get("status") == Accepted.status
    }


@dataclass(frozen=True, slots=True)
class Acceptor:
    """Accepts the envelopes of a model as an OpenWOP host. It is thread-safe.

    Attributes:
        config: The kinds that the host accepts, its limits and its secrets.
        store: The outcomes by correlation id. Share a ``SqliteStore`` between processes and a ``SqlStore`` between
            machines. With None, a repeated envelope is accepted again.
        on_event: Called with every event.
        observe: Called with every ``Acceptance``.
        now: Returns the time of an event.
        new_id: Returns a new id.

    Source: ai-envelope.md, "Primitive" (``AIEnvelopeAcceptor``) and "Production flow".
    """

    config: HostConfig = field(default_factory=HostConfig)
    store: Store | None = field(default_factory=lambda: stores.MemoryStore())  # noqa: PLW0108  its module is loaded when it is first called
    on_event: Sink | None = None
    observe: Callable[[Acceptance], object] | None = None
    now: Callable[[], str] = utc_timestamp
    new_id: Callable[[], str] = generate_id
    emission_counter: EmissionCounter = field(default_factory=EmissionCounter, init=False, repr=False, compare=False)
    services: HostServices = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "services", HostServices(self.new_id, self.now, self.store))
        if self.config.__class__ is not HostConfig:
            raise InputError("config must be a HostConfig.", hint="Write Acceptor(HostConfig(registry, ...)).")
        if self.store is not None and not hasattr(self.store, "get_or_create"):
            raise InputError("store must be a store, or None.", hint="Write store=SqliteStore('runs.db').")

    def accept(self, envelope: AIEnvelope | Json, context: EnvelopeContext) -> Acceptance:
        """Accept an envelope, or refuse it. No content of an envelope raises.

        Args:
            envelope: The envelope, as an ``AIEnvelope`` or as JSON.
            context: The run and node that emitted it.

        Returns:
            The acceptance, whose ``outcome`` is one of ``Accepted``, ``Gated``, ``InvalidEnvelope`` and ``Breached``.

        Raises:
            StoreFailed: The store failed. Nothing was recorded, so the envelope can be sent again. The same holds for
                an exception of a handler. Exceptions of ``on_event`` and ``observe`` rise after the record was made.
        """
        return run_steps(self.notify(self.decide(envelope, context)))

    def decide(self, envelope: AIEnvelope | Json, context: EnvelopeContext) -> Acceptance:
        """Accept an envelope, or refuse it, and record that. Nobody is notified yet."""
        steps = VALIDATION_STEPS if self.store is not None else STEPS
        return self._finish(*run_pipeline(self.receive(envelope, context), steps))

    def decide_emission(self, envelope: AIEnvelope, context: EnvelopeContext) -> Acceptance:
        """Decide about an envelope that the library built from a valid document.

        Its shape and payload are valid, so they are not checked again.
        """
        text: str | None = ""
        if self.config.secrets.ids or not is_small(envelope.payload):
            text = join_strings({"payload": envelope.payload})
        if text is None:
            return self.decide(envelope, context)
        ids = (envelope.type, envelope.envelope_id, envelope.correlation_id, context.node_id)
        received = ReceivedEnvelope(None, context, self.config, self.services)
        state = InFlightEnvelope(received, envelope, "\0".join((text, *ids)))
        steps = OWN_STEPS if self.store is not None else (*OWN_STEPS, *RECORDING_STEPS)
        return self._finish(*run_pipeline(state, steps))

    def _finish(self, end: Any, state: Any) -> Acceptance:
        """Record the end of the pipeline; ``state`` is the envelope before it."""
        if isinstance(end, Acceptance):  # without a store, the pipeline runs to its end at once
            return end
        if isinstance(end, InFlightEnvelope):
            return self._record_accepted(end, cast("Store", self.store))
        if isinstance(end, CachedOutcome):
            return _to_cached_acceptance(end.entry, state)
        if self.store is not None and is_unrendered_content(end):
            stored = self._store_unrendered(end, state, self.store)
            if stored is not None:
                return stored
        return self.record_refusal(end, state)

    def receive(self, envelope: AIEnvelope | Json, context: EnvelopeContext) -> ReceivedEnvelope:
        """Return the input of the first step."""
        return ReceivedEnvelope(_to_json(envelope), context, self.config, self.services)

    def refuse(self, outcome: EnvelopeOutcome, state: ReceivedEnvelope | InFlightEnvelope) -> Acceptance:
        """Record a refusal, without secrets: the envelope may not be redacted yet."""
        return run_steps(self.notify(self.record_refusal(outcome, state)))

    def record_refusal(self, outcome: EnvelopeOutcome, state: ReceivedEnvelope | InFlightEnvelope) -> Acceptance:
        """Record a refusal, without secrets. Nobody is notified yet."""
        refused = self._build_refusal(outcome, state)
        if self.store is not None and refused.events:
            refused = replace(refused, events=self.store.append(state.context.run_id, refused.events))
        return refused

    def notify(self, acceptance: Acceptance) -> Steps[Acceptance]:
        """Send the events of an acceptance to the sink, and the acceptance to the observer."""
        if self.on_event is not None:
            for event in acceptance.events:
                yield from call_sink(self.on_event, event)
        if self.observe is not None:
            yield from call_sink(self.observe, acceptance)
        return acceptance

    def recall(self, correlation_id: str, context: EnvelopeContext) -> Acceptance | None:
        """Return the acceptance that the store has for a correlation id, if any."""
        received = self.receive(None, context)
        entry = None if self.store is None else self.store.find(context.run_id, correlation_id)
        return None if entry is None else _to_cached_acceptance(entry, received)

    def turn(self, context: EnvelopeContext) -> Turn:
        """Return a turn of the node, which counts its envelopes against the limits."""
        return Turn.start(self, context)

    def _record_accepted(self, state: InFlightEnvelope, store: Store) -> Acceptance:
        """Handle and record a validated envelope, once."""
        try:
            recorded = self._store_once(state, store)
        except _RefusedDuringRecordingError as refusal:
            return self.record_refusal(refusal.outcome, state)
        if isinstance(recorded, Acceptance):
            return recorded
        cached = reuse_outcome(state, recorded)
        if isinstance(cached, CachedOutcome):
            return _to_cached_acceptance(recorded, state)
        return self.record_refusal(cached, state)

    def _store_once(self, state: InFlightEnvelope, store: Store) -> Acceptance | Entry:
        """Handle and store the envelope, or return the entry of whoever was first."""
        acceptances: list[Acceptance] = []

        def make() -> NewEntry:
            acceptances[:] = [_run_recording_steps(state)]
            outcome, events = acceptances[0].outcome.to_json(), acceptances[0].events
            return NewEntry(Entry(state.envelope.type, outcome, state.envelope.to_json()), events)

        stored = store.get_or_create(state.context.run_id, state.envelope.correlation_id, make)
        return replace(acceptances[0], events=stored.events) if stored.created else stored.entry

    def _store_unrendered(self, outcome: EnvelopeOutcome, state: InFlightEnvelope, store: Store) -> Acceptance | None:
        """Store content that the host cannot render, with a warning. Return None if it fails another check.

        Source: ai-envelope.md, "A2UI surfaces": store-without-render, and the run goes on.
        """
        end, _ = run_pipeline(state, STORE_ONLY_STEPS)
        if isinstance(end, CachedOutcome):
            return _to_cached_acceptance(end.entry, state)
        if not isinstance(end, InFlightEnvelope):
            return None
        refused = self._build_refusal(outcome, end, build_asset_references(end.envelope))
        entry = Entry(end.envelope.type, refused.outcome.to_json(), end.envelope.to_json())
        stored = store.get_or_create(
            state.context.run_id, end.envelope.correlation_id, lambda: NewEntry(entry, refused.events)
        )
        if not stored.created:
            return _to_cached_acceptance(stored.entry, state)
        return replace(refused, events=stored.events)

    def _build_refusal(
        self, outcome: EnvelopeOutcome, state: ReceivedEnvelope | InFlightEnvelope, references: Iterable[Event] = ()
    ) -> Acceptance:
        clean = outcomes.redact_outcome(outcome, self.config.secrets)
        events = (*build_refusal_events(clean, self.config, state.context.counters), *references)
        stamped = to_run_events(events, get_event_origin(state), self.services)
        return Acceptance(clean, state.context, self.config, events=stamped)


@dataclass(slots=True)
class Turn:
    """The envelopes of one node in one turn. ``context.counters`` are the counts so far.

    A repeated envelope has its first outcome and is not counted again. A turn is not thread-safe.
    """

    acceptor: Acceptor
    context: EnvelopeContext
    accepted_ids: set[str] = field(default_factory=set[str])

    @classmethod
    def start(cls, acceptor: Acceptor, context: EnvelopeContext) -> Turn:
        """Return a turn of the node. Its clarifications are counted from the run's log."""
        if acceptor.store is None:
            return cls(acceptor, context)
        kinds = _find_accepted_kinds(acceptor.store, context)
        clarifications = {name for name, kind in kinds.items() if kind == CLARIFICATION_REQUEST}
        counters = context.counters
        counters = replace(counters, clarification=max(counters.clarification, len(clarifications)))
        return cls(acceptor, replace(context, counters=counters), clarifications)

    def accept(self, envelope: AIEnvelope | Json) -> Acceptance:
        """Accept the next envelope; see ``Acceptor.accept``."""
        is_repeated = _get_correlation_id(envelope) in self.accepted_ids
        counters = self.context.counters
        context = replace(self.context, counters=_decrement(counters)) if is_repeated else self.context
        acceptance = self.acceptor.accept(envelope, context)
        if acceptance.envelope is not None:
            self.accepted_ids.add(acceptance.envelope.correlation_id)
        if not acceptance.cached:
            self.context = replace(self.context, counters=_count_acceptance(counters, acceptance))
        return acceptance

    def accept_all(self, envelopes: Iterable[AIEnvelope | Json]) -> tuple[Acceptance, ...]:
        """Accept the envelopes in order, up to the first that fails the node."""
        acceptances: list[Acceptance] = []
        for envelope in envelopes:
            acceptances.append(self.accept(envelope))
            if acceptances[-1].failed:
                break
        return tuple(acceptances)

    def accept_text(self, text: str) -> tuple[Acceptance, ...]:
        """Accept the envelopes in a model's text: one document, an array, or fenced blocks."""
        return self.accept_all(document.value for document in host.extract_documents(text))

    def next_turn(self) -> Turn:
        """Return the node's next turn, whose envelopes are counted from 0."""
        counters = replace(self.context.counters, envelopes=0)
        return replace(self, context=replace(self.context, counters=counters))


def _get_correlation_id(envelope: AIEnvelope | Json) -> str | None:
    if isinstance(envelope, AIEnvelope):
        return envelope.correlation_id
    correlation_id: Json = as_mapping(envelope).get("correlationId")
    return correlation_id if isinstance(correlation_id, str) else None


def _decrement(counters: Counters) -> Counters:
    """Return the counters without one that they already count."""
    counts = counters.envelopes, counters.schema, counters.clarification
    return Counters(*(max(0, count - 1) for count in counts))


def _count_acceptance(counters: Counters, acceptance: Acceptance) -> Counters:
    envelopes = counters.envelopes + 1
    kind = None if acceptance.envelope is None else acceptance.envelope.type
    if kind == SCHEMA_REQUEST or counts_as_round(acceptance.outcome):
        return replace(counters, envelopes=envelopes, schema=counters.schema + 1)
    if kind == CLARIFICATION_REQUEST:
        return replace(counters, envelopes=envelopes, clarification=counters.clarification + 1)
    # rounds belong to one envelope: a valid one ends them
    return replace(counters, envelopes=envelopes, schema=counters.schema if kind in (None, *UNIVERSAL_SCHEMAS) else 0)


class _RefusedDuringRecordingError(Exception):
    """A recording step refused the envelope; nothing is stored."""

    def __init__(self, outcome: EnvelopeOutcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


def _run_recording_steps(state: InFlightEnvelope) -> Acceptance:
    end, _ = run_pipeline(state, RECORDING_STEPS)
    if not isinstance(end, Acceptance):
        raise _RefusedDuringRecordingError(end)
    return end


def _to_json(envelope: AIEnvelope | Json) -> Json:
    """Return an envelope as JSON, or as it is if its payload is not JSON; the first step refuses it then."""
    try:
        return envelope.to_json() if isinstance(envelope, AIEnvelope) else envelope
    except (ValueError, RecursionError):
        return envelope


def _to_cached_acceptance(entry: Entry, state: ReceivedEnvelope | InFlightEnvelope) -> Acceptance:
    secrets = state.config.secrets
    envelope = outcomes.load_envelope(entry, secrets)
    requested_kind = None
    if envelope is not None and envelope.type == SCHEMA_REQUEST:
        requested_kind = envelope.payload["envelopeType"]
    outcome = outcomes.redact_outcome(outcomes.load_outcome(entry), secrets)
    return Acceptance(
        outcome, state.context, state.config, envelope=envelope, requested_kind=requested_kind, cached=True
    )
