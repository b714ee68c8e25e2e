"""What of an event becomes an attribute: a table that names each one, so that nothing else can.

Source: observability.md of OpenWOP v1, "Envelope-reliability events (RFC 0032)". A refusal's text never is; neither
are messages, errors' sentences, questions, outputs, nor the fields of a log line.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from emitter import events
from emitter.otel import names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.events import Event, RunEvent

Value: TypeAlias = str | int | float | bool

TABLE: Mapping[type[Event], Mapping[str, str]] = {
    events.RetryAttempted: {
        "attempt": "openwop.envelope.retry.attempt",
        "reason": "openwop.envelope.retry.reason",
    },
    events.RetryExhausted: {
        "total_attempts": "openwop.envelope.retry.total_attempts",
        "final_reason": "openwop.envelope.retry.final_reason",
    },
    events.EnvelopeRefusal: {"safety_category": "openwop.envelope.refusal.safety_category"},
    events.EnvelopeTruncated: {
        "stop_reason": "openwop.envelope.truncated.stop_reason",
        "output_token_count": "openwop.envelope.truncated.output_token_count",
    },
    events.NlToFormatEngaged: {"fallback_calls": "openwop.envelope.nl_to_format.fallback_calls"},
    events.RecoveryApplied: {
        "path": "openwop.envelope.recovery.path",
        "byte_offset": "openwop.envelope.recovery.byte_offset",
    },
    events.CapBreached: {
        "kind": names.CAP_KIND,
        "limit": names.CAP_LIMIT,
        "observed": names.CAP_OBSERVED,
    },
    events.ProviderUsage: {
        "input_tokens": names.COST_INPUT,
        "output_tokens": names.COST_OUTPUT,
        "provider": names.COST_PROVIDER,
    },
    events.NodeFailed: {"code": names.ERROR_TYPE},
    events.NodeCompleted: {},
    events.ClarificationRequested: {},
    events.InterruptRequested: {},
    events.ModelCapabilitySubstituted: {},
    events.ModelCapabilityInsufficient: {},
    events.ReplayDiverged: {},
    events.ReplayDivergedAtRefusal: {},
    events.LogAppended: {},
}
"""For each event the attribute of each field that has one. Total over ``Event``."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LARGEST = 2**63 - 1
"""The largest integer that exporters can write."""


def own(event: Event) -> dict[str, Value]:
    """Return what an event says by itself; what is absent is left out."""
    said = ((name, _plain(getattr(event, field))) for field, name in TABLE[type(event)].items())
    found = {name: value for name, value in said if value is not None}
    if isinstance(event, events.ProviderUsage):
        found[names.COST_TOTAL] = whole(event.input_tokens + event.output_tokens)
    return found


def of_event(told: RunEvent) -> dict[str, Value]:
    """Return what an event says, with its type and place in the run."""
    return {names.EVENT_TYPE: told.type, names.EVENT_SEQ: told.sequence, **own(told.event)}


def nanoseconds(timestamp: str) -> int | None:
    """Return an event's time as OpenTelemetry counts it, or None where it is none."""
    try:
        at = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    since = (at if at.tzinfo else at.replace(tzinfo=UTC)) - _EPOCH
    return since // timedelta(microseconds=1) * 1000 if since >= timedelta() else None


def whole(number: int) -> int:
    """Return a number as every exporter can write it."""
    return min(number, _LARGEST)


def _plain(value: object) -> Value | None:
    match value:
        case None:
            return None
        case Enum():
            return _plain(value.value)
        case str():
            return names.word(value)
        case int():
            return whole(value)
        case float():
            return value
        case _:
            raise TypeError(f"an attribute cannot be a {type(value).__name__}")
