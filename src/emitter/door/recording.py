"""Keeping what is told of one emission."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.kinds import Trust
from emitter.sinks import Recorder

if TYPE_CHECKING:
    from emitter.accept import Context
    from emitter.door.settings import Settings


def recording(settings: Settings, context: Context, correlation_id: str) -> Recorder:
    """Return what keeps the events of one emission, in the host's log too, and hands them to the caller's sink.

    Where anything that was shown is untrusted, every event is marked so, whether or not an envelope comes of it.
    """
    host = settings.host
    return Recorder(
        settings.run_id,
        context.node_id,
        correlation_id,
        settings.sink,
        secrets=host.rules.secrets,
        store=host.store,
        trust=Trust.UNTRUSTED if context.inputs is Trust.UNTRUSTED else None,
    )
