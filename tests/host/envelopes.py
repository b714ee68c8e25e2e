"""Envelopes, contexts and hosts that the tests of accepting start from."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from emitter.host import Acceptor, EnvelopeContext, HostConfig, register_kind
from emitter.host.registry import STANDARD
from emitter.stores import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.events import RunEvent

NOTE = "vendor.acme.note"
"""A kind of the tests' own."""

NOTE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
CATALOGUE = register_kind(NOTE, NOTE_SCHEMA, version=2, registry=STANDARD)
CONTEXT = EnvelopeContext("run-1", "node-1")

PAYLOADS: dict[str, Any] = {
    "clarification.request": {"questions": [{"id": "q1", "question": "Which region?"}]},
    "schema.request": {"envelopeType": NOTE},
    "schema.response": {"envelopeType": NOTE, "ack": True},
    "error": {"code": "validation_failed", "message": "I cannot do it."},
    NOTE: {"text": "hello"},
}
"""A payload that holds, for each kind."""


def envelope(kind: str = NOTE, **change: Any) -> dict[str, Any]:
    """Return an envelope that is accepted, with ``change`` in it."""
    made: dict[str, Any] = {
        "type": kind,
        "schemaVersion": 2 if kind == NOTE else 1,
        "envelopeId": "env-1",
        "correlationId": "run-1:node-1:0:abc123",
        "payload": PAYLOADS.get(kind, {}),
        "meta": {"source": "ai-generation", "ts": "2026-05-18T10:00:00Z", "contentTrust": "trusted"},
    }
    return {**made, **change}


def ids() -> Iterator[str]:
    """Yield ids that can be told apart and foretold."""
    return (f"id-{number}" for number in count(1))


def acceptor(rules: HostConfig | None = None, **given: Any) -> Acceptor:
    """Return a host whose ids and time are known beforehand."""
    made = ids()
    settings = {"store": MemoryStore(), "new_id": lambda: next(made), "now": lambda: "2026-05-18T10:00:01.000Z"}
    return Acceptor(rules or HostConfig(registry=CATALOGUE), **{**settings, **given})


def types(events: tuple[RunEvent, ...]) -> list[str]:
    """Return what was reported, by type."""
    return [each.type for each in events]
