"""What the events say: of an accepted envelope, and of one that was not.

Source: ai-envelope.md, "Run event log integration", "Refusal contract" and "Validation outcomes".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from emitter.accept.case import Case, Recorded
from emitter.accept.gates.content import trust_of
from emitter.accept.outcome import Accepted, Breached, CapKind, Code, Gated, Invalid, RefusalMode
from emitter.events import CapBreached, Level, LogAppended, NodeFailed, RunEvent
from emitter.kinds.envelope import LONGEST_ID, Trust
from emitter.redact.event import struck as struck_out

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.accept.case import Received, Routed, Rules, World
    from emitter.accept.context import Counters
    from emitter.accept.outcome import Outcome
    from emitter.events import Event

DRIFT = "envelope_schema_version_drift"

REPAIRABLE = frozenset({Code.SHAPE, Code.KIND, Code.PAYLOAD, Code.SCHEMA_VERSION})
"""What the model may mend in a further round, within ``limits.schemaRounds``."""

_CONTENT = ("media.", "ui.")
"""OpenWOP's own families of content: a host that does not know one goes on without it."""

_NOT_THE_NODES = frozenset({Code.APPROVAL})
"""What is refused while the node goes on: the gate stays where it was."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom events are about."""

    run_id: str
    node_id: str
    correlation_id: str
    trust: Trust | None


def subject(last: Received | Case) -> Subject:
    """Return whom the events about a case are about; what is not yet known to hold is not repeated."""
    context = last.context
    if isinstance(last, Case):
        envelope = last.envelope
        about = envelope.node_id or context.node_id, envelope.correlation_id
        struck = about if last.redactions else tuple(last.rules.secrets.text(each).value for each in about)
        return Subject(context.run_id, struck[0], struck[1][:LONGEST_ID], trust_of(last))
    trust = Trust.UNTRUSTED if context.inputs is Trust.UNTRUSTED else None
    return Subject(context.run_id, context.node_id, f"{context.run_id}:{context.node_id}"[:LONGEST_ID], trust)


def events(routed: Routed) -> Recorded:
    """Return the case with all that is recorded of it."""
    case = routed.case
    envelope, context = case.envelope, case.context
    node_id = envelope.node_id or context.node_id
    about = Subject(context.run_id, node_id, envelope.correlation_id, envelope.meta.content_trust)
    told = routed.told if case.drift is None and not case.warnings else (*_warned(case), *routed.told)
    secrets = case.rules.secrets
    clean = [struck_out(each, secrets) for each in told] if secrets else told
    return Recorded(routed, stamped(clean, about, case.received.world))


def stamped(told: Iterable[Event], about: Subject, world: World) -> tuple[RunEvent, ...]:
    """Return the events as they are recorded, numbered from 0."""
    return tuple(
        RunEvent(
            event,
            world.mint(),
            about.run_id,
            about.node_id,
            world.stamp(),
            number,
            about.correlation_id,
            about.trust,
        )
        for number, event in enumerate(told)
    )


def _warned(case: Case) -> Iterable[Event]:
    for each in case.warnings:
        yield LogAppended(Level.WARN, each)
    if case.drift is not None:
        versions = {"emitted": case.envelope.schema_version, "advertised": case.drift}
        yield LogAppended(Level.WARN, DRIFT, versions)


def refusal(outcome: Outcome, rules: Rules, counters: Counters) -> tuple[Event, ...]:
    """Return what is told of an envelope that was not accepted."""
    match outcome:
        case Accepted():
            return ()
        case Gated():
            return _gated(outcome, rules, counters)
        case Invalid():
            return _invalid(outcome, rules, counters)
        case Breached():
            breach = CapBreached(outcome.cap_kind.value, outcome.limit, outcome.observed)
            return breach, NodeFailed(Code.CAP.value, outcome.reason)
        case _:
            assert_never(outcome)


def _gated(outcome: Gated, rules: Rules, counters: Counters) -> tuple[Event, ...]:
    details = {"refusedType": outcome.refused_type, "acceptedTypes": list(outcome.allowed_kinds)}
    if outcome.code is Code.KIND and counts_as_round(outcome):
        return _round(outcome.code, outcome.reason, rules, counters)
    if outcome.code is Code.KIND or outcome.refusal_mode is RefusalMode.DISCARD_AND_WARN:
        return (LogAppended(Level.WARN, outcome.code.value, details),)
    return (NodeFailed(outcome.code.value, outcome.reason, details=details),)


def is_unshown(outcome: Outcome) -> bool:
    """Tell whether it is content of OpenWOP's own families that the host does not know, and so does not show."""
    if not isinstance(outcome, Gated) or outcome.code is not Code.KIND:
        return False
    return outcome.refused_type.startswith(_CONTENT)


def counts_as_round(outcome: Outcome) -> bool:
    """Tell whether the model used up a round; content that a host does not render is no fault of its (RFC 0102)."""
    if isinstance(outcome, Gated) and outcome.code is Code.KIND:
        return not is_unshown(outcome)
    return isinstance(outcome, Gated | Invalid) and outcome.code in REPAIRABLE


def _invalid(outcome: Invalid, rules: Rules, counters: Counters) -> tuple[Event, ...]:
    if outcome.code in REPAIRABLE:
        return _round(outcome.code, outcome.reason, rules, counters)
    if outcome.code in _NOT_THE_NODES:
        return (LogAppended(Level.WARN, outcome.code.value),)
    return (NodeFailed(outcome.code.value, outcome.reason),)


def _round(code: Code, reason: str, rules: Rules, counters: Counters) -> tuple[Event, ...]:
    """Return what is told of what the model may mend: a warning, until the rounds for that are used up."""
    used, allowed = counters.schema + 1, rules.limits.schema_rounds
    if used <= allowed:
        return (LogAppended(Level.WARN, code.value, {"round": used, "schemaRounds": allowed}),)
    return CapBreached(CapKind.SCHEMA.value, allowed, used), NodeFailed(code.value, reason)
