"""The seam ``envelope/accept``: from its body to what the library is asked, and from its answer to the wire."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from emitter.host import (
    STANDARD,
    Counters,
    EnvelopeContext,
    EnvelopeContract,
    HostConfig,
    HostLimits,
    KindRegistry,
    RefusalMode,
    Secrets,
    Strictness,
    Trust,
    register_kind,
)
from emitter.host.kinds import A2UI_KIND, UNIVERSAL_KINDS, media_kinds
from emitter.stores.protocol import Entry, NewEntry
from tests.openwop.seams import Unreadable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.host import Acceptance
    from emitter.stores.protocol import Store

EVERYTHING = STANDARD.with_kinds(*media_kinds(), A2UI_KIND)
"""What the host takes where the caller does not say."""

_UNIVERSAL = {each.id: each.version for each in UNIVERSAL_KINDS}
_RUN, _NODE = "run-sample", "node-sample"


@dataclass(frozen=True)
class Wanted:
    """What a body asks for: an envelope, where it comes from, and what the host is to take."""

    envelope: Any
    context: EnvelopeContext
    rules: HostConfig


def wanted(body: Mapping[str, Any], *, envelopes: bool) -> Wanted:
    """Read a body; raises ``Unreadable`` for one that asks for what this host cannot be."""
    try:
        return Wanted(body["envelope"], context(body), rules(body, envelopes=envelopes))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise Unreadable("The body asks for what this host cannot be.") from error


def rules(body: Mapping[str, Any], *, envelopes: bool) -> HostConfig:
    """Return what the host takes for this call."""
    caps = {name: each["cap"] for name, each in _counters(body).items()}
    named = {
        "envelopes_per_turn": caps.get("envelopesPerTurn"),
        "schema_rounds": caps.get("schemaRounds"),
        "clarification_rounds": caps.get("clarificationRounds"),
    }
    return HostConfig(
        registry=catalogue(body.get("hostSupportedEnvelopes"), body.get("schemaVersionFloor") or {}),
        limits=HostLimits(**{name: cap for name, cap in named.items() if cap is not None}),
        strictness=Strictness(body.get("envelopeStrictness", "warn")),
        secrets=_secrets(body),
        accepts_envelopes=envelopes,
    )


def catalogue(supported: list[str] | None, floors: Mapping[str, int]) -> KindRegistry:
    """Return the kinds that are named, each in the version that is advertised for it."""
    for name, floor in floors.items():
        if name in _UNIVERSAL and floor != _UNIVERSAL[name]:
            raise Unreadable(f"The host advertises {name} in version {_UNIVERSAL[name]}.")
    ids = EVERYTHING.ids if supported is None else supported
    kinds = [_kind(each, floors) for each in ids if each not in _UNIVERSAL]
    return KindRegistry(kinds)


def _kind(name: str, floors: Mapping[str, int]) -> Any:
    """Return a kind as the host knows it; a stranger's payload may be any object, and has no version but the floor."""
    known = EVERYTHING.get(name)
    if known is None:
        known = register_kind(name, {"type": "object"}, version=None, legacy=True)[name]
    return replace(known, version=floors.get(name, known.version))


def context(body: Mapping[str, Any]) -> EnvelopeContext:
    """Return where the envelope comes from; who does not say is reported by the correlation id, as recommended.

    ``nodeInputTrust`` is this host's own: the trust of what the node consumed, which OpenWOP's seam has no word for.
    """
    to, counted = body.get("projectTo") or {}, _counters(body)
    current = {name: each["current"] for name, each in counted.items()}
    run_id, node_id = _whose(body)
    allowed = body.get("nodeAllowedKinds")
    return EnvelopeContext(
        to.get("runId") or (body.get("persistedDedup") or {}).get("runId") or run_id,
        to.get("nodeId") or node_id,
        contract=EnvelopeContract(
            None if allowed is None else frozenset(allowed), RefusalMode(to.get("refusalMode", "fail-node"))
        ),
        inputs=Trust(body.get("nodeInputTrust", "trusted")),
        boundary=Trust(body.get("runTrustBoundary", "trusted")),
        approving=bool(body.get("approvalGateContext")) or body.get("boundInterruptKind") == "approval",
        counters=Counters(
            current.get("envelopesPerTurn", 0), current.get("schemaRounds", 0), current.get("clarificationRounds", 0)
        ),
    )


def remember(body: Mapping[str, Any], store: Store, run_id: str) -> None:
    """Keep what the caller says became of earlier envelopes, as a store would have kept it."""
    for each in body.get("priorCorrelations") or ():
        entry = Entry(each["envelopeType"], each["outcome"], {})
        store.get_or_create(run_id, each["correlationId"], lambda entry=entry: NewEntry(entry))


def answer(found: Acceptance) -> dict[str, Any]:
    """Return the outcome's wire form, and beside it what was recorded."""
    reported = dict(found.outcome.to_json())
    if found.envelope is None:
        return reported
    recorded = found.envelope.to_json()
    reported |= {"normalizedMeta": recorded["meta"], "redactedPayload": recorded["payload"]}
    return reported if found.cached else {**reported, "redactionCount": found.redactions}


def _counters(body: Mapping[str, Any]) -> dict[str, Any]:
    return body.get("counters") or {}


def _secrets(body: Mapping[str, Any]) -> Secrets:
    values: dict[str, list[str]] = {}
    for each in body.get("byokCanaries") or ():
        values.setdefault(each["secretId"], []).append(each["value"])
    return Secrets.of(values)


def _whose(body: Mapping[str, Any]) -> tuple[str, str]:
    envelope = body.get("envelope")
    named = envelope.get("correlationId") if isinstance(envelope, dict) else None
    parts = named.split(":") if isinstance(named, str) else []
    return (parts[0] or _RUN, parts[1] or _NODE) if len(parts) > 1 else (_RUN, _NODE)
