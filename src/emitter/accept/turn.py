"""A turn of a node: several envelopes in the order they came, counted against the limits.

Source: ai-envelope.md, "Wire serialization" (several envelopes a turn) and "Capability handshake integration".
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from emitter.accept.context import Counters
from emitter.accept.extract import extract
from emitter.accept.telling import counts_as_round
from emitter.events import ClarificationRequested
from emitter.kinds.envelope import AIEnvelope
from emitter.kinds.universal import CLARIFICATION_REQUEST, SCHEMA_REQUEST, UNIVERSAL
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.accept.acceptance import Acceptance
    from emitter.accept.acceptor import Acceptor
    from emitter.accept.context import Context
    from emitter.wire import Json


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
        log = [each for each in acceptor.store.events(context.run_id) if each.get("nodeId") == context.node_id]
        asked = {str(each.get("causationId")) for each in log if each.get("type") == ClarificationRequested.type}
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
