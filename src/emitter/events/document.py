"""``RunEvent``: the document around an event, as it is told, kept and sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from typing import TYPE_CHECKING, cast

from emitter.events.records import CapBreached, NodeFailed

if TYPE_CHECKING:
    from emitter.events.records import Event
    from emitter.kinds.envelope import Trust
    from emitter.wire import Json


@dataclass(frozen=True, slots=True)
class RunEvent:
    """One event as it was told: a RunEventDoc around a payload.

    ``timestamp`` is ISO 8601 in UTC, ``sequence`` counts from 0 within the emission, or within the run where a
    store keeps the run's log. ``causation_id`` is the envelope's correlation id. ``content_trust`` is the
    envelope's, where an envelope is what the event tells of, and "untrusted" in an emission over untrusted material.
    """

    event: Event
    event_id: str
    run_id: str
    node_id: str
    timestamp: str
    sequence: int
    causation_id: str
    content_trust: Trust | None = None

    @property
    def type(self) -> str:
        """The OpenWOP event type."""
        return self.event.type

    def to_json(self) -> dict[str, Json]:
        """Return the RunEventDoc."""
        trust: dict[str, Json] = {} if self.content_trust is None else {"contentTrust": self.content_trust.value}
        return {
            "eventId": self.event_id,
            "runId": self.run_id,
            "nodeId": self.node_id,
            "type": self.type,
            "payload": payload(self.event, self.node_id),
            "timestamp": self.timestamp,
            "sequence": self.sequence,
            "causationId": self.causation_id,
            **trust,
        }


def payload(event: Event, node_id: str) -> dict[str, Json]:
    """Return the event's payload as its schema wants it."""
    if isinstance(event, NodeFailed):
        return {"nodeId": node_id, **_failed(event, node_id)}
    told = {each.name: getattr(event, each.name) for each in fields(event)}
    # envelopes are counted by turn: the payload of that breach names no node
    about: dict[str, Json] = {} if isinstance(event, CapBreached) and event.kind == "envelopes" else {"nodeId": node_id}
    return {**about, **{_camel(name): _plain(value) for name, value in told.items() if value is not None}}


def _failed(event: NodeFailed, node_id: str) -> dict[str, Json]:
    error: dict[str, Json] = {"code": event.code, "message": event.message}
    if event.details:
        error["details"] = {"nodeId": node_id, **event.details}
    return {"error": error} if event.attempts is None else {"error": error, "attempts": event.attempts}


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


def _plain(value: Json) -> Json:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Json]", value))
    if isinstance(value, tuple):
        return [_plain(each) for each in cast("tuple[Json, ...]", value)]
    return value.value if isinstance(value, Enum) else value
