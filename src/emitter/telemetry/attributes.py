"""The span names and attributes that events are exported with.

Only numbers, ids and words from fixed vocabularies become attributes: no messages, no validator output and no
log fields. Names are pinned here and do not change with a package upgrade. This module does not import
OpenTelemetry.

Sources: observability.md of OpenWOP v1 for ``openwop.*``; the OpenTelemetry semantic conventions 1.37.0 for
``gen_ai.*``. ``emitter.*`` names are this library's own.
"""

from __future__ import annotations

import logging
import re
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

from emitter import events
from emitter.outside_values import parse_date

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from emitter.events import Event, RunEvent

SCOPE: Final = "emitter"
SCHEMA_URL: Final = "https://opentelemetry.io/schemas/1.37.0"
NODE_SPAN: Final = "openwop.node"
ACTIVITY_SPAN: Final = "openwop.activity"
RUN_ID: Final = "openwop.run_id"
NODE_ID: Final = "openwop.node_id"
NODE_TYPE: Final = "openwop.node_type"
EVENT_TYPE: Final = "openwop.event_type"
EVENT_SEQ: Final = "openwop.event_seq"
ENVELOPE_KIND: Final = "openwop.envelope_kind"
ENVELOPE_ID: Final = "openwop.envelope_id"
CAP_KIND: Final = "openwop.cap_kind"
CAP_LIMIT: Final = "openwop.cap_limit"
CAP_OBSERVED: Final = "openwop.cap_observed"
COST_INPUT: Final = "openwop.cost.tokens.input"
COST_OUTPUT: Final = "openwop.cost.tokens.output"
COST_TOTAL: Final = "openwop.cost.tokens.total"
COST_TOKENS: Final = (COST_INPUT, COST_OUTPUT, COST_TOTAL)
COST_PROVIDER: Final = "openwop.cost.provider"
ERROR_TYPE: Final = "error.type"
UNFINISHED: Final = "emitter.unfinished"
"""True on the span of an emission whose last event never came."""
REDACTIONS: Final = "emitter.redactions"
CACHED: Final = "emitter.cached"
TOKEN_USAGE: Final = "gen_ai.client.token.usage"  # noqa: S105  tokens of a model
OPERATION_DURATION: Final = "gen_ai.client.operation.duration"
OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
MODEL: Final = "gen_ai.request.model"
TOKEN_TYPE: Final = "gen_ai.token.type"  # noqa: S105  tokens of a model
USAGE_INPUT: Final = "gen_ai.usage.input_tokens"
USAGE_OUTPUT: Final = "gen_ai.usage.output_tokens"
TOKEN_BUCKETS: Final = (
    *(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536),
    *(262144, 1048576, 4194304, 16777216, 67108864),
)
SECOND_BUCKETS: Final = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
OTHER: Final = "_OTHER"
"""Replacement for values outside a vocabulary, as in the conventions."""
_PROVIDERS = {
    "google": "gcp.gen_ai",
    "gemini": "gcp.gen_ai",
    "azure-openai": "azure.ai.openai",
    "mistral": "mistral_ai",
    "bedrock": "aws.bedrock",
}
"""Providers whose id differs in the conventions. A Google client may use Vertex AI, so only the common id is sure."""
_OPERATIONS = {"google": "generate_content", "gemini": "generate_content"}
_VOCABULARY = re.compile(r"[\w.:/-]{1,64}(?: [\w.:/-]{1,64}){0,2}", re.ASCII)


def get_provider_name(provider: str) -> str:
    """Return the id of a provider in the conventions."""
    return _PROVIDERS.get(provider, provider)


def get_operation_name(provider: str | None) -> str:
    """Return the operation name of a call to a provider."""
    return _OPERATIONS.get(provider or "", "chat")


def limit_to_vocabulary(text: str) -> str:
    """Return ``text`` if it looks like up to three words of a vocabulary, else ``OTHER``: it may be a sentence."""
    return text if _VOCABULARY.fullmatch(text) else OTHER


def replace_surrogates(text: str) -> str:
    """Return an id without lone surrogates, which cannot be encoded: an exporter would lose a whole batch of spans."""
    return text.encode(errors="replace").decode()


AttributeValue: TypeAlias = str | int | float | bool
EVENT_ATTRIBUTES: Mapping[type[Event], Mapping[str, str]] = {
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
        "kind": CAP_KIND,
        "limit": CAP_LIMIT,
        "observed": CAP_OBSERVED,
    },
    events.ProviderUsage: {
        "input_tokens": COST_INPUT,
        "output_tokens": COST_OUTPUT,
        "provider": COST_PROVIDER,
    },
    events.NodeFailed: {"code": ERROR_TYPE},
    events.NodeCompleted: {},
    events.ClarificationRequested: {},
    events.InterruptRequested: {},
    events.ModelCapabilitySubstituted: {},
    events.ModelCapabilityInsufficient: {},
    events.ReplayDiverged: {},
    events.ReplayDivergedAtRefusal: {},
    events.LogAppended: {},
}
"""The attributes of each event by field name. Total over ``Event``."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_INTEGER = 2**63 - 1
"""The largest integer that exporters can write."""


def get_payload_attributes(event: Event) -> dict[str, AttributeValue]:
    """Return the attributes of an event's fields, without absent ones."""
    values = ((name, _to_attribute(getattr(event, field))) for field, name in EVENT_ATTRIBUTES[type(event)].items())
    attributes = {name: value for name, value in values if value is not None}
    if isinstance(event, events.ProviderUsage):
        attributes[COST_TOTAL] = clamp_integer(event.input_tokens + event.output_tokens)
    return attributes


def get_event_attributes(event: RunEvent) -> dict[str, AttributeValue]:
    """Return the attributes of an event, with its type and sequence."""
    return {EVENT_TYPE: event.type, EVENT_SEQ: event.sequence, **get_payload_attributes(event.event)}


def to_nanoseconds(timestamp: str) -> int | None:
    """Return an ISO 8601 time in nanoseconds since the epoch, or None if it is invalid."""
    time = parse_date(timestamp)
    if time is None:
        return None
    elapsed = time - _EPOCH
    return elapsed // timedelta(microseconds=1) * 1000 if elapsed >= timedelta() else None


def clamp_integer(number: int) -> int:
    """Return ``number``, or the largest integer that every exporter can write."""
    return min(number, _MAX_INTEGER)


def _to_attribute(value: object) -> AttributeValue | None:
    match value:
        case None:
            return None
        case Enum():
            return _to_attribute(value.value)
        case str():
            return limit_to_vocabulary(value)
        case int():
            return clamp_integer(value)
        case float():
            return value
        case _:
            raise TypeError(f"an attribute cannot be a {type(value).__name__}")


@dataclass(frozen=True, slots=True)
class CompletedSpan:
    """A span that is ready for export.

    ``traceparent`` names its parent (W3C trace context); ``error`` is the code of its failure.
    """

    name: str
    attributes: Mapping[str, AttributeValue]
    events: tuple[RunEvent, ...] = ()
    traceparent: str | None = None
    error: str | None = None


_LOGGER = logging.getLogger("emitter.otel")


@contextmanager
def log_export_errors(subject: str) -> Generator[None]:
    """Log the type of an exception of a span processor or exporter, without its words, and continue."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  processors are other people's code
        _LOGGER.warning("OpenTelemetry could not export %s: %s", subject, type(error).__name__)
