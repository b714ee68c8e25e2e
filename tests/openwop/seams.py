"""The seams that make one event, one prompt or one decision: each a few words around what the library does."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from emitter import profiles as profile
from emitter.core.capability_gate import (
    CandidateModel,
    NoCapableModel,
    UseFallbackModel,
    UseNamedModel,
    choose_model,
    model_capabilities,
)
from emitter.errors import UnknownModel
from emitter.events import (
    EnvelopeRefusal,
    EnvelopeTruncated,
    NlToFormatEngaged,
    ProviderUsage,
    Reason,
    RecoveryApplied,
    RetryAttempted,
    RetryExhausted,
)
from emitter.host import AIEnvelope, Secrets, Trust, render_for_model
from emitter.profiles.tables import Capability
from emitter.recover import RecoveryPath
from emitter.telemetry.sinks import EventRecorder, generate_id, utc_timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.sdk.trace import ReadableSpan

    from emitter.events import Event
    from emitter.stores.protocol import Store

NODES: Final = [
    {
        "typeId": "core.ai.structuredOutput",
        "source": "local",
        "requiredModelCapabilities": [Capability.STRUCTURED_OUTPUT.value],
    },
    {
        "typeId": "conformance.modelCapability.insufficient",
        "source": "local",
        "requiredModelCapabilities": ["x-host-conformance-nonexistent"],
    },
]
"""The node types that this host runs."""

RELIABILITY: Final[dict[str, type[Event]]] = {
    each.type: each
    for each in (
        RetryAttempted,
        RetryExhausted,
        EnvelopeRefusal,
        EnvelopeTruncated,
        NlToFormatEngaged,
        RecoveryApplied,
    )
}
_PATHS = {each.value for each in RecoveryPath}
_TOLERATED = {"nodeId", "refusalText"}
_USAGE_TOLERATED = {"nodeId", "totalTokens", "costEstimateUsd", "currency", "cacheHit", "traceId"}
_CREDENTIALS = Secrets.of({"credential": ("credentialRef", "secret-canary-", "secret:tenant:")})


class Unreadable(Exception):
    """The body is none that the seam knows."""


class Leak(Exception):
    """The payload holds what must never be reported."""

    def __init__(self, code: str) -> None:
        super().__init__("The payload holds what must not be told.")
        self.code = code


def reliability(body: Mapping[str, Any], store: Store) -> dict[str, Any]:
    """Tell one of the six reliability events; the library's record of it has no place for a refusal's words."""
    kind, given = body["type"], body["payload"]
    if kind not in RELIABILITY or not isinstance(given, dict):
        raise Unreadable("type and payload must be those of a reliability event.")
    if _CREDENTIALS.found_in(json.dumps(given)):
        raise Leak("envelope_reliability_credential_leak")
    if kind == RecoveryApplied.type and (set(given) - {"nodeId", "path", "byteOffset"}):
        raise Leak("envelope_recovery_content_leak")
    if given.get("path", RecoveryPath.DIRECT.value) not in _PATHS:
        raise Unreadable("path is none that the library reads on.")
    return _reported(body, _record(RELIABILITY[kind], given, _TOLERATED), store)


def usage(body: Mapping[str, Any], store: Store) -> dict[str, Any]:
    """Tell what one call cost."""
    given = body["payload"]
    if not isinstance(given, dict):
        raise Unreadable("payload must be an object.")
    if _CREDENTIALS.found_in(json.dumps(given)):
        raise Leak("provider_usage_credential_leak")
    return _reported(body, _record(ProviderUsage, given, _USAGE_TOLERATED), store)


def _record(kind: type[Event], given: Mapping[str, Any], tolerated: set[str]) -> Event:
    """Return the library's record of a payload."""
    known = {_camel(each.name): each for each in fields(kind)}
    needed = {name for name, each in known.items() if each.default is MISSING and each.default_factory is MISSING}
    if needed - set(given) or ("nodeId" not in given and kind is not ProviderUsage):
        raise Unreadable("payload lacks what the event requires.")
    if set(given) - set(known) - tolerated:
        raise Unreadable("payload holds what the event has no place for.")
    members = {known[name].name: _read(name, value) for name, value in given.items() if name in known}
    return kind(**members)


def _read(name: str, value: Any) -> Any:
    try:
        return Reason(value) if name in {"reason", "finalReason"} else value
    except ValueError as error:
        raise Unreadable("reason is none of the vocabulary.") from error


def _reported(body: Mapping[str, Any], event: Event, store: Store) -> dict[str, Any]:
    node_id = body.get("nodeId") or body["payload"].get("nodeId") or "node-sample"
    tell = EventRecorder(body["runId"], node_id, body.get("correlationId") or f"{body['runId']}:{node_id}", store=store)
    tell(event)
    return tell.events[-1].to_json()


def gated(body: Mapping[str, Any], facts: Mapping[str, frozenset[str]]) -> dict[str, Any]:
    """Return who is asked, and the event that says so; ``facts`` are the host's own, before the library's."""
    module, supported = body["module"], body.get("supportedProviders") or []
    required = module.get("requiredModelCapabilities") or []
    declared = module.get("fallbackModel")
    named = _candidate(body["activeProvider"], body["activeModel"], supported, facts)
    fallback = None if declared is None else _candidate(declared["provider"], declared["model"], supported, facts)
    found = choose_model(required, named, fallback, substitution=body.get("substitutionSupported") is True)
    return _decided(found, body.get("nodeId") or "node-sample")


def _candidate(provider: str, model: str, supported: list[str], own: Mapping[str, frozenset[str]]) -> CandidateModel:
    """Return a model with what the host's or the library's facts say it provides; of a stranger they say nothing."""
    reported = own.get(f"{provider}/{model}", own.get(provider))
    if reported is not None:
        return CandidateModel(provider, model, reported, authenticated=provider in supported)
    try:
        facts, name = profile.find_profile(f"{provider}/{model}")
    except UnknownModel:
        return CandidateModel(provider, model, frozenset(), authenticated=provider in supported)
    provides = model_capabilities(facts, next(iter(facts.wires)), name)
    return CandidateModel(provider, model, provides, authenticated=provider in supported)


def _decided(found: Any, node_id: str) -> dict[str, Any]:
    if isinstance(found, UseNamedModel):
        return {"outcome": {"route": "dispatch"}, "event": None}
    route = "substitute" if isinstance(found, UseFallbackModel) else "refuse"
    members = {_camel(each.name): _plain(getattr(found.event, each.name)) for each in fields(found.event)}
    event = {"type": found.event.type, "payload": {"nodeId": node_id, **members}}
    code = {"code": found.events[-1].code} if isinstance(found, NoCapableModel) else {}
    return {"outcome": {"route": route, **members, **code}, "event": event}


def wrapped(body: Mapping[str, Any]) -> str:
    """Return an event's payload as a model may read it."""
    given = {
        "type": body.get("eventType") or "log.appended",
        "envelopeId": generate_id(),
        "correlationId": generate_id(),
        "payload": body["payload"],
        "meta": {
            "source": "system",
            "ts": utc_timestamp(),
            "contentTrust": body.get("contentTrust") or Trust.TRUSTED.value,
        },
    }
    attributes = {name: str(each) for name, each in (body.get("attributes") or {}).items() if _is_plain(name, each)}
    source = {"source": body["source"]} if isinstance(body.get("source"), str) else {}
    return render_for_model(AIEnvelope.model_validate(given, by_name=False), attributes=attributes, **source)


def _is_plain(name: str, value: Any) -> bool:
    return name.isidentifier() and name not in {"type", "source"} and isinstance(value, str | int | float)


def span(reported: ReadableSpan) -> dict[str, Any]:
    """Return a span, with all that is on it."""
    return {
        "name": reported.name,
        "attributes": dict(reported.attributes or {}),
        "status": {"code": reported.status.status_code.name, "description": reported.status.description},
        "events": [{"name": each.name, "attributes": dict(each.attributes or {})} for each in reported.events],
    }


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(each.capitalize() for each in tail)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return value.value if isinstance(value, Enum) else value
