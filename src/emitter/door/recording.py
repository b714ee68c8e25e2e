"""Keeping what is told of one emission."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.sinks import Recorder

if TYPE_CHECKING:
    from emitter.door.settings import Settings


def recording(settings: Settings, node_id: str, correlation_id: str) -> Recorder:
    """Return what keeps the events of one emission, in the host's log too, and hands them to the caller's sink."""
    host = settings.host
    return Recorder(
        settings.run_id,
        node_id,
        correlation_id,
        settings.sink,
        secrets=host.rules.secrets,
        store=host.store,
    )
