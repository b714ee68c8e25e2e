"""Recall an answer from the OpenWOP host of an emission, reserve room for it, and submit it.

Each function is an operation of steps, so that an event loop does not wait for the host's store. The host's sink and
observer are called in the task of the emission, unless they are blocking.
"""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import ValidationError

from emitter.attempts import Verdict
from emitter.client.settings import DEFAULT_HOST
from emitter.core.effects import AcceptedAnswer, EmissionFailure, HostRefusal, Recall, Submit
from emitter.errors import EmitterError
from emitter.host import Accepted, Gated, InvalidEnvelope, OutcomeCode, RefusalMode, outcomes
from emitter.host.acceptor import add_accepted, reserve_count
from emitter.host.config import InFlightEnvelope
from emitter.host.validation import check_limits, check_shape
from emitter.interpreter import BlockingStep
from emitter.models import AIEnvelope, EnvelopeSource, Trust

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from emitter.client.prepared import PreparedEmission
    from emitter.core.effects import Reserve
    from emitter.host import Acceptance, Acceptor, EnvelopeOutcome
    from emitter.interpreter import Step, Steps
    from emitter.messages import Json
    from emitter.stores import Entry


HostConnection: TypeAlias = (
    "Callable[[Recall | Reserve | Submit], Generator[Step, Any, AcceptedAnswer | HostRefusal | None]]"
)
"""Performs an effect of an emission towards its host."""


def ask_host(
    models: tuple[PreparedEmission, ...], effect: Recall | Reserve | Submit
) -> Steps[AcceptedAnswer | HostRefusal | None]:
    """Perform an effect of an emission towards its host. ``models`` are indexed by route."""
    if isinstance(effect, Submit):
        return _submit(models[effect.route], effect)
    return _recall(models[0]) if isinstance(effect, Recall) else _reserve(models[0])


def _recall(prepared: PreparedEmission) -> Steps[AcceptedAnswer | None]:
    """Return the answer that this or another process accepted for this emission before, if there is one."""
    host = prepared.settings.host
    if host.store is None:
        return None
    find = partial(host.store.find, prepared.context.run_id, prepared.correlation_id)
    entry: Entry | None = yield from _use_store(host, find)
    recorded = None if entry is None else outcomes.load_envelope(entry, host.config.secrets)
    allowed = recorded is not None and prepared.context.contract.allows(recorded.type)
    return _reuse(prepared, recorded) if recorded is not None and allowed else None


def _reserve(prepared: PreparedEmission) -> Steps[HostRefusal | None]:
    """Return the host's refusal if it can accept no further envelope in this turn."""
    host = prepared.settings.host
    if host is DEFAULT_HOST:
        return None
    refused: Acceptance | None = yield from _use_store(host, partial(_check_capacity, prepared))
    if refused is None:
        return None
    yield from host.notify(refused)
    return HostRefusal(_refusal_failure(refused.outcome), refused.events)


def _submit(prepared: PreparedEmission, effect: Submit) -> Steps[AcceptedAnswer | HostRefusal]:
    """Submit a valid answer, without registered secrets."""
    host, answer = prepared.settings.host, (effect.value, effect.document)
    if effect.is_grounded:
        prepared = replace(prepared, context=replace(prepared.context, inputs=Trust.UNTRUSTED))
    if host.config.secrets.ids:
        redacted = _redact(prepared, effect)
        if redacted is None:
            return HostRefusal(_INVALID_WITHOUT_SECRETS)
        answer = redacted
    kind, payload = prepared.codec.to_payload(*answer)
    try:
        acceptance: Acceptance = yield from _use_store(host, partial(_decide, prepared, kind, payload))
        yield from host.notify(acceptance)
    except EmitterError:
        raise
    except Exception as error:  # noqa: BLE001  the host's own code may raise anything, and the trace must survive it
        return HostRefusal(_host_error(error))
    if acceptance.envelope is None:
        return (yield from _handle_refusal(prepared, acceptance))
    if acceptance.cached:
        return _reuse(prepared, acceptance.envelope) or HostRefusal(_CONFLICT)
    return AcceptedAnswer(*answer, acceptance.envelope, acceptance.events)


def _redact(prepared: PreparedEmission, effect: Submit) -> tuple[Any, Json] | None:
    """Return the value and document without registered secrets, or None if they are no longer valid."""
    clean = prepared.settings.host.config.secrets.redact_json(effect.document)
    if not clean.count:
        return effect.value, effect.document
    result = prepared.contract.check(clean.value)
    return None if result.violations or result.failure is not None else (result.value, clean.value)


def _handle_refusal(prepared: PreparedEmission, refused: Acceptance) -> Steps[AcceptedAnswer | HostRefusal]:
    outcome = refused.outcome
    if isinstance(outcome, InvalidEnvelope) and outcome.code is OutcomeCode.CONFLICT:
        # Another process has accepted an answer since the emission was recalled.
        accepted = yield from _recall(prepared)
        if accepted is not None:
            return accepted
    discarded = isinstance(outcome, Gated) and outcome.refusal_mode is RefusalMode.DISCARD_AND_WARN
    return HostRefusal(_refusal_failure(outcome), refused.events, discarded)


def _use_store(host: Acceptor, function: Callable[[], Any]) -> Steps[Any]:
    """Call a function that uses the host's store, if it has one."""
    if host.store is None:
        return function()
    from emitter.stores.memory import works_in_memory  # noqa: PLC0415  most emissions have no store

    return (yield BlockingStep(function, must_finish=True, is_quick=works_in_memory(host.store)))


def _reuse(prepared: PreparedEmission, recorded: AIEnvelope) -> AcceptedAnswer | None:
    """Return the answer in a recorded envelope, if it satisfies the current form."""
    answer = prepared.codec.from_envelope(prepared.contract, recorded)
    return None if answer is None else AcceptedAnswer(*answer, recorded)


def _check_capacity(prepared: PreparedEmission) -> Acceptance | None:
    """Return the recorded refusal if the host can accept no further envelope in this turn."""
    host, kind = prepared.settings.host, prepared.emission.kind
    counting = reserve_count(host, prepared.context, prepared.settings.turn, kind, prepared.correlation_id)
    with counting as context:
        counted = context.counters.envelopes
    if counted < host.config.limits.envelopes_per_turn:
        return None
    case = check_shape(host.receive(_build_envelope(prepared, kind, None), context))
    outcome = check_limits(case) if isinstance(case, InFlightEnvelope) else case
    if isinstance(outcome, InFlightEnvelope) or not isinstance(case, InFlightEnvelope):
        return None
    return host.record_refusal(outcome, case)


def _decide(prepared: PreparedEmission, kind: str, payload: Json) -> Acceptance:
    """Have the host decide about an answer, within the limits of its turn, and record that."""
    host, document = prepared.settings.host, _build_envelope(prepared, kind, payload)
    known, envelope = host.config.registry.get(kind), None
    if known is not None and known.is_own:
        # The contract has validated the payload of the library's own kinds, so the host need not do it again.
        with suppress(ValidationError):  # an id or time of the host is not valid, which the pipeline reports
            envelope = AIEnvelope.model_validate(document)
    turn, ids = prepared.settings.turn, (kind, prepared.correlation_id)
    is_counted = host is not DEFAULT_HOST
    counting = reserve_count(host, prepared.context, turn, *ids) if is_counted else nullcontext(prepared.context)
    with counting as context:
        acceptance = host.decide(document, context) if envelope is None else host.decide_emission(envelope, context)
        if is_counted:
            add_accepted(host, turn, acceptance)
    return acceptance


def _build_envelope(prepared: PreparedEmission, kind: str, payload: Json) -> Json:
    context, host = prepared.context, prepared.settings.host
    version = host.config.registry.versions.get(kind, 1)
    return {
        "type": kind,
        "schemaVersion": version,
        "envelopeId": host.new_id(),
        "correlationId": prepared.correlation_id,
        "nodeId": context.node_id,
        "payload": payload,
        "meta": {
            "source": EnvelopeSource.AI_GENERATION.value,
            "ts": host.now(),
            "contentTrust": context.inputs.value,
        },
    }


def _host_error(error: Exception) -> EmissionFailure:
    return EmissionFailure(
        Verdict.UNCHECKED, OutcomeCode.PAYLOAD.value, f"The host raised {type(error).__name__}.", error
    )


def _refusal_failure(outcome: EnvelopeOutcome) -> EmissionFailure:
    code = OutcomeCode.PAYLOAD if isinstance(outcome, Accepted) else outcome.code
    reason = "" if isinstance(outcome, Accepted) else f": {outcome.reason}"
    return EmissionFailure(Verdict.VIOLATED, code.value, f"The host rejected the envelope{reason}.")


_CONFLICT = EmissionFailure(
    Verdict.VIOLATED,
    "envelope_correlation_conflict",
    "A different answer was accepted before for this run, node and turn.",
)
_INVALID_WITHOUT_SECRETS = EmissionFailure(
    Verdict.VIOLATED, "envelope_invalid", "With its secrets removed, the answer does not satisfy the schema."
)
