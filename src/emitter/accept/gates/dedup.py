"""Dedup: whether an envelope of this correlation id was accepted before.

Source: ai-envelope.md, "Replay determinism".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.accept.case import Remembered
from emitter.accept.outcome import Code, Invalid
from emitter.kinds.envelope import Trust
from emitter.schema import Violation
from emitter.wire import mapping

if TYPE_CHECKING:
    from emitter.accept.case import Case
    from emitter.store.log import Entry

_CONFLICT = Violation("/type", "correlation", "the kind that was accepted under this correlationId before")


def dedup(case: Case) -> Case | Remembered | Invalid:
    """Return the case where its correlation id is new."""
    entry = case.received.world.find(case.envelope.correlation_id)
    return case if entry is None else again(case, entry)


def again(case: Case, entry: Entry) -> Remembered | Invalid:
    """Return what was remembered, unless that was of another kind, or may not advance the approval that waits now."""
    if entry.type != case.envelope.type:
        return Invalid(Code.CONFLICT, f"{Code.CONFLICT.value}: {_CONFLICT}", (_CONFLICT,))
    recorded = mapping(mapping(entry.envelope).get("meta")).get("contentTrust")
    if case.context.approving and recorded == Trust.UNTRUSTED.value:
        return Invalid(Code.APPROVAL, Code.APPROVAL.value)
    return Remembered(entry)
