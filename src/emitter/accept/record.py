"""Outcomes as they are remembered and as they are told: to JSON and back, without a secret."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from emitter.accept.outcome import Accepted, Breached, CapKind, Code, Gated, Invalid, RefusalMode
from emitter.errors import StoreFailed
from emitter.kinds.envelope import AIEnvelope
from emitter.schema import Violation
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.accept.outcome import Outcome
    from emitter.redact import Secrets
    from emitter.store.log import Entry
    from emitter.wire import Json


_ELSEWHERE = "Something else wrote into it, or another release; look at the run's log."

E = TypeVar("E", bound=Enum)


def outcome(entry: Entry) -> Outcome:
    """Return the outcome that an entry remembers."""
    kept = entry.outcome
    status, reason = kept.get("status"), str(kept.get("reason", ""))
    if status == Accepted.status:
        recorded = tuple(map(str, sequence(kept.get("recordedEventIds"))))
        return Accepted(str(kept.get("envelopeId", "")), recorded)
    if status == Gated.status:
        gate = mapping(kept.get("gate"))
        allowed = tuple(map(str, sequence(kept.get("allowedKinds"))))
        mode = _member(RefusalMode, gate.get("refusalMode"), RefusalMode.FAIL_NODE)
        return Gated(_code(reason, Code.CONTRACT), reason, entry.type, allowed, mode)
    if status == Breached.status:
        kind = _member(CapKind, kept.get("capKind"), CapKind.ENVELOPES)
        return Breached(kind, kept.get("limit", 0), kept.get("observed", 0), reason)
    return Invalid(_code(reason, Code.PAYLOAD), reason, tuple(map(_violation, sequence(kept.get("details")))))


def envelope(entry: Entry, secrets: Secrets) -> AIEnvelope | None:
    """Return the envelope that an entry remembers, if it does; raises ``StoreFailed`` for what is none.

    It is struck through again: a secret may have been registered since.
    """
    if not entry.envelope:
        return None
    try:
        return AIEnvelope.model_validate(secrets.json(dict(entry.envelope)).value)
    except ValidationError:
        raise StoreFailed("What the store remembers of an envelope is no envelope.", hint=_ELSEWHERE) from None


def redacted(given: Outcome, secrets: Secrets) -> Outcome:
    """Return an outcome with every secret struck out of it; what an envelope says of itself is all it may quote."""
    if not secrets or isinstance(given, Accepted | Breached):
        return given
    clean = replace(given, reason=secrets.text(given.reason).value)
    return replace(clean, refused_type=secrets.text(clean.refused_type).value) if isinstance(clean, Gated) else clean


def _code(reason: str, otherwise: Code) -> Code:
    """Return the code that a reason begins with; what another host recorded may begin with none."""
    return _member(Code, reason.partition(":")[0], otherwise)


def _member(choices: type[E], given: object, otherwise: E) -> E:
    return next((each for each in choices if each.value == given), otherwise)


def _violation(detail: Json) -> Violation:
    told: Mapping[str, Json] = mapping(detail)
    return Violation(str(told.get("instancePath", "")), str(told.get("keyword", "")), str(told.get("message", "")))
