"""Redaction and trust: what may leave the host, and what may be believed.

Source: ai-envelope.md, "Redaction (SR-1 carry-forward)" and "Trust boundary"; RFC 0143 (meet of inputs).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import ValidationError

from emitter.accept.outcome import Code, Invalid
from emitter.kinds.envelope import AIEnvelope, Trust
from emitter.schema import Violation

if TYPE_CHECKING:
    from emitter.accept.case import Case

_MARKED = Violation("", "redaction", "ids and marks that hold no secret: they cannot be struck out and still be ids")


def redaction(case: Case) -> Case | Invalid:
    """Return the case with every secret struck out, wherever in the document it stands."""
    secrets = case.rules.secrets
    if not secrets or not secrets.finds(case.texts):
        return case
    clean = secrets.json(case.envelope.to_json())
    if not clean.count:
        return case
    try:
        envelope = AIEnvelope.model_validate(clean.value, by_name=False)
    except ValidationError:
        return Invalid(Code.SHAPE, f"{Code.SHAPE.value}: {_MARKED}", (_MARKED,))
    if _ids(envelope) != _ids(case.envelope):
        return Invalid(Code.SHAPE, f"{Code.SHAPE.value}: {_MARKED}", (_MARKED,))
    return replace(case, envelope=envelope, texts="", redactions=clean.count)


def _ids(envelope: AIEnvelope) -> tuple[str | None, ...]:
    return envelope.type, envelope.envelope_id, envelope.correlation_id, envelope.node_id


def trust(case: Case) -> Case | Invalid:
    """Return the case with its trust stated: one untrusted input taints, and nothing the envelope says lifts it."""
    meant = trust_of(case)
    if case.context.approving and meant is Trust.UNTRUSTED:
        return Invalid(Code.APPROVAL, Code.APPROVAL.value)
    if meant is case.envelope.meta.content_trust:
        return case
    meta = case.envelope.meta.model_copy(update={"content_trust": meant})
    return replace(case, envelope=case.envelope.model_copy(update={"meta": meta}))


def trust_of(case: Case) -> Trust:
    """Return the meet of what the node consumed and what the envelope says of itself."""
    if case.context.inputs is Trust.UNTRUSTED:
        return Trust.UNTRUSTED
    return case.envelope.meta.content_trust or case.context.boundary
