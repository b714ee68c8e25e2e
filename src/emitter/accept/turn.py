"""What is counted against a host's limits: the envelopes of a turn in the order they came, and those of emissions.

Source: ai-envelope.md, "Wire serialization" (several envelopes a turn) and "Capability handshake integration".
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from emitter.accept.context import Counters
from emitter.accept.extract import extract
from emitter.accept.outcome import Accepted
from emitter.accept.telling import counts_as_round
from emitter.kinds.envelope import AIEnvelope
from emitter.kinds.universal import CLARIFICATION_REQUEST, SCHEMA_REQUEST, UNIVERSAL
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from emitter.accept.acceptance import Acceptance
    from emitter.accept.acceptor import Acceptor
    from emitter.accept.context import Context
    from emitter.store.log import Store
    from emitter.wire import Json

MAX_NODES = 4096
"""How many nodes a host without a store counts for; the one that emitted longest ago is forgotten first."""


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """One emission's envelope among those that are counted: its turn, its kind, its correlation id in a store."""

    turn: int
    kind: str
    correlation_id: str | None


class Tally:
    """The envelopes of emissions that a host counts by run and node: those under way and, without a store, all others.

    Emissions of several threads that are under way at the same time count against each other. Those of several
    processes count once they are in the store that the processes share.
    """

    __slots__ = ("_guard", "_kept", "_under_way")

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._under_way: dict[tuple[str, str], list[_Place]] = {}
        self._kept: OrderedDict[tuple[str, str], list[_Place]] = OrderedDict()

    def __reduce__(self) -> tuple[type[Tally], tuple[()]]:
        return Tally, ()

    @contextmanager
    def counting(self, store: Store | None, context: Context, mine: _Place) -> Generator[Context]:
        """Yield the context with what was counted before ``mine``, whose place is held until the block ends."""
        key = context.run_id, context.node_id
        with self._guard:
            others = [*self._under_way.get(key, ()), *self._kept.get(key, ())]
            self._under_way.setdefault(key, []).append(mine)
        try:
            yield replace(context, counters=_counters(store, context, mine, others))
        finally:
            with self._guard:
                self._under_way[key].remove(mine)
                if not self._under_way[key]:
                    del self._under_way[key]

    def keep(self, context: Context, mine: _Place) -> None:
        """Count an envelope that was accepted by a host without a store from now on."""
        key = context.run_id, context.node_id
        with self._guard:
            self._kept.setdefault(key, []).append(mine)
            self._kept.move_to_end(key)
            if len(self._kept) > MAX_NODES:
                self._kept.popitem(last=False)


@contextmanager
def counting(acceptor: Acceptor, context: Context, turn: int, kind: str, correlation_id: str) -> Generator[Context]:
    """Yield the context of an emission's envelope, with what its run, node and turn emitted before."""
    # without a store the id says nothing of the question: two of a kind in one turn share it, and are two envelopes
    place = _Place(turn, kind, None if acceptor.store is None else correlation_id)
    with acceptor.tally.counting(acceptor.store, context, place) as counted:
        yield counted


def count(acceptor: Acceptor, turn: int, found: Acceptance) -> None:
    """Count an emission's envelope that was accepted, where no store does."""
    if acceptor.store is None and found.envelope is not None:
        acceptor.tally.keep(found.context, _Place(turn, found.envelope.type, None))


def _counters(store: Store | None, context: Context, mine: _Place, others: list[_Place]) -> Counters:
    """Return the context's counters, or what was emitted before where that is more."""
    prefix = f"{context.run_id}:{context.node_id}:{mine.turn}:"
    before = [(each.kind, each.turn == mine.turn) for each in others if each.correlation_id is None]
    if store is not None:
        accepted = _accepted(store, context)
        held = {each.correlation_id: each.kind for each in others if each.correlation_id is not None}
        found = {**held, **accepted}
        before = [(kind, name.startswith(prefix)) for name, kind in found.items() if name != mine.correlation_id]
    given = context.counters
    return replace(
        given,
        envelopes=max(given.envelopes, sum(in_turn for _, in_turn in before)),
        clarification=max(given.clarification, sum(kind == CLARIFICATION_REQUEST for kind, _ in before)),
    )


def _accepted(store: Store, context: Context) -> dict[str, str]:
    """Return the envelopes of a node that the run's log leads to and that were accepted: their ids and kinds."""
    log = store.events(context.run_id)
    named = {str(each.get("causationId")) for each in log if each.get("nodeId") == context.node_id}
    entries = {name: store.find(context.run_id, name) for name in named}
    return {
        name: entry.type
        for name, entry in entries.items()
        if entry is not None and entry.outcome.get("status") == Accepted.status
    }


@dataclass(slots=True)
class Turn:
    """What a node emits in one turn; ``context.counters`` is what was counted until now.

    An envelope that was accepted before is no further one: it is not counted again, and has the outcome that it
    had. A turn belongs to one thread.
    """

    acceptor: Acceptor
    context: Context
    seen: set[str] = field(default_factory=set[str])

    @classmethod
    def of(cls, acceptor: Acceptor, context: Context) -> Turn:
        """Return a turn of the node, counting on from what the run's log tells of it."""
        if acceptor.store is None:
            return cls(acceptor, context)
        accepted = _accepted(acceptor.store, context)
        asked = {name for name, kind in accepted.items() if kind == CLARIFICATION_REQUEST}
        counters = context.counters
        counters = replace(counters, clarification=max(counters.clarification, len(asked)))
        return cls(acceptor, replace(context, counters=counters), asked)

    def accept(self, envelope: AIEnvelope | Json) -> Acceptance:
        """Return what becomes of the next envelope; see ``Acceptor.accept``."""
        again = _correlation_id(envelope) in self.seen
        counters = self.context.counters
        context = replace(self.context, counters=_without_one(counters)) if again else self.context
        found = self.acceptor.accept(envelope, context)
        if found.envelope is not None:
            self.seen.add(found.envelope.correlation_id)
        if not found.cached:
            self.context = replace(self.context, counters=_counted(counters, found))
        return found

    def accept_all(self, envelopes: Iterable[AIEnvelope | Json]) -> tuple[Acceptance, ...]:
        """Return what becomes of each, in order, up to the first that fails the node."""
        done: list[Acceptance] = []
        for each in envelopes:
            done.append(self.accept(each))
            if done[-1].failed:
                break
        return tuple(done)

    def accept_text(self, text: str) -> tuple[Acceptance, ...]:
        """Return what becomes of the envelopes in a model's text: one document, an array, or fenced blocks."""
        return self.accept_all(each.value for each in extract(text))

    def following(self) -> Turn:
        """Return the node's next turn: its envelopes are counted anew."""
        counters = replace(self.context.counters, envelopes=0)
        return replace(self, context=replace(self.context, counters=counters))


def _correlation_id(envelope: AIEnvelope | Json) -> str | None:
    given: Json = (
        envelope.correlation_id if isinstance(envelope, AIEnvelope) else mapping(envelope).get("correlationId")
    )
    return given if isinstance(given, str) else None


def _without_one(counters: Counters) -> Counters:
    """Return the counters as they were before one of those that they count."""
    return Counters(
        max(0, counters.envelopes - 1),
        max(0, counters.schema - 1),
        max(0, counters.clarification - 1),
    )


def _counted(before: Counters, found: Acceptance) -> Counters:
    outcome, envelopes = found.outcome, before.envelopes + 1
    if counts_as_round(outcome):
        return replace(before, envelopes=envelopes, schema=before.schema + 1)
    kind = None if found.envelope is None else found.envelope.type
    if kind == SCHEMA_REQUEST:
        return replace(before, envelopes=envelopes, schema=before.schema + 1)
    if kind == CLARIFICATION_REQUEST:
        return replace(before, envelopes=envelopes, clarification=before.clarification + 1)
    # the rounds are an envelope's: one that holds ends them
    return replace(before, envelopes=envelopes, schema=before.schema if kind in (None, *UNIVERSAL) else 0)
