"""Contract: whether the node may emit the kind. Limits: whether the envelope is one too many.

Source: ai-envelope.md, "Envelope Contract" and "Capability handshake integration". The universal kinds pass
every contract.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.accept.outcome import Breached, CapKind, Code, Gated
from emitter.kinds.universal import CLARIFICATION_REQUEST, SCHEMA_REQUEST, UNIVERSAL

if TYPE_CHECKING:
    from emitter.accept.case import Case


def contract(case: Case) -> Case | Gated:
    """Return the case where the node may emit its kind."""
    declared = case.context.contract
    if declared.accepts is None or declared.allows(case.envelope.type):
        return case
    allowed = (*UNIVERSAL, *sorted(declared.accepts - set(UNIVERSAL)))
    reason = f"{Code.CONTRACT.value}: the node may emit {', '.join(allowed)}"
    return Gated(Code.CONTRACT, reason, case.envelope.type, allowed, declared.refusal_mode)


def limits(case: Case) -> Case | Breached:
    """Return the case where no limit is reached; what was counted before it must be below each."""
    counted, allowed = case.context.counters, case.rules.limits
    if counted.envelopes >= allowed.envelopes_per_turn:
        return Breached(CapKind.ENVELOPES, allowed.envelopes_per_turn, counted.envelopes + 1)
    if case.envelope.type == CLARIFICATION_REQUEST and counted.clarification >= allowed.clarification_rounds:
        return Breached(CapKind.CLARIFICATION, allowed.clarification_rounds, counted.clarification + 1)
    if case.envelope.type == SCHEMA_REQUEST and counted.schema >= allowed.schema_rounds:
        return Breached(CapKind.SCHEMA, allowed.schema_rounds, counted.schema + 1)
    return case
