"""The validation steps of the pipeline: shape, kind, payload, contract, limits, redaction, trust and deduplication.

Each step takes the envelope's state and returns the next state, or an outcome that ends the pipeline.

Source: ai-envelope.md, "Production flow" and the sections that the steps name.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from emitter.host.config import CachedOutcome, InFlightEnvelope, Strictness
from emitter.host.outcomes import Breached, CapKind, Gated, InvalidEnvelope, OutcomeCode
from emitter.messages import Trust, as_mapping
from emitter.models.envelope import (
    BAD_TIMESTAMP,
    MAX_ID_LENGTH,
    AIEnvelope,
    EnvelopeMeta,
    EnvelopeSource,
    PartialInfo,
    RenderingHint,
)
from emitter.models.standard_kinds import CLARIFICATION_REQUEST, SCHEMA_REQUEST, UNIVERSAL_SCHEMAS
from emitter.schema import Violation
from emitter.schema.validator import redact_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import ErrorDetails

    from emitter.host.config import ReceivedEnvelope
    from emitter.host.outcomes import EnvelopeOutcome
    from emitter.messages import Json
    from emitter.stores.protocol import Entry

MAX_DEPTH: Final = 64
"""The deepest envelope that is read: the limit of a binding moment's digest, far beyond any kind."""
MAX_VALUES: Final = 1_000_000
"""The most values in an envelope. A list that contains itself twice has more than can be counted."""
_SCALAR_TYPES = frozenset({bool, type(None)})
_MAX_INT_BITS = 14_000
"""The most bits of an integer. Python neither writes nor reads longer ones."""


def join_strings(value: Json) -> str | None:
    """Return all strings in ``value``, including names, joined by NUL.

    Returns None if ``value`` is not JSON or exceeds the bounds. Numbers that are not finite or too long to write, names
    that are not strings, and lone surrogates are not JSON.
    """
    strings: list[str] = []
    level: list[Any] = [value]
    count = 0
    for _ in range(MAX_DEPTH + 1):
        children: list[Any] = []
        for item in level:
            kind = item.__class__
            if kind is str:
                strings.append(item)
            elif kind is dict:
                strings.extend(item)
                children.extend(item.values())
            elif kind is list:
                children.extend(item)
            elif kind not in _SCALAR_TYPES and not _is_number(item):
                return None
        count += len(children)
        if not children or count > MAX_VALUES:
            return None if children else _join(strings)
        level = children
    return None


def is_small(document: Json) -> bool:
    """Return whether a valid document has too few containers and values to exceed the bounds."""
    try:
        text = to_json(document)
    except PydanticSerializationError:  # too deep for this writer
        return False
    containers = text.count(b"[") + text.count(b"{")
    return containers < MAX_DEPTH and containers + text.count(b",") <= MAX_VALUES


def _is_number(value: object) -> bool:
    if value.__class__ is int:
        return cast("int", value).bit_length() <= _MAX_INT_BITS
    return value.__class__ is float and isfinite(cast("float", value))


def _join(strings: list[str]) -> str | None:
    try:
        joined = "\0".join(strings)
        joined.encode()
    except (TypeError, UnicodeEncodeError):
        return None
    return joined


SOURCE_MISSING = "meta.source is absent; taken as ai-generation"
CORRELATION_MISSING = "correlationId is absent; made from run, node and envelope, so that a repetition may not be known"
_KNOWN_NAMES = frozenset(
    field.alias or name
    for model in (AIEnvelope, EnvelopeMeta, PartialInfo, RenderingHint)
    for name, field in model.model_fields.items()
)
_NOT_JSON = Violation("", "json", f"one JSON document of plain text, finite numbers and at most {MAX_DEPTH} levels")
_NOT_AN_OBJECT = Violation("", "type", "one complete JSON object")
_IS_A_CHUNK = Violation("/partial", "partial", "a whole envelope; pass chunks to an EnvelopeReassembler")
_OTHER_NODE = Violation("/nodeId", "node", "the id of the node that emitted it, or no nodeId")
_MAX_VIOLATIONS = 12


def check_shape(received: ReceivedEnvelope) -> InFlightEnvelope | InvalidEnvelope:
    """Parse a whole envelope, or return the errors in the document around its payload."""
    state = parse_document(received)
    partial = None if isinstance(state, InvalidEnvelope) else state.envelope.partial
    if partial is None or (not partial.is_partial and partial.index == 0):
        return state
    return _invalid_shape((_IS_A_CHUNK,))


def parse_document(received: ReceivedEnvelope) -> InFlightEnvelope | InvalidEnvelope:
    """Parse an envelope, or a chunk of one."""
    if not received.config.accepts_envelopes:
        return InvalidEnvelope(OutcomeCode.CAPABILITY, OutcomeCode.CAPABILITY.value)
    if received.document.__class__ is not dict:
        return _invalid_shape((_NOT_AN_OBJECT,))
    document, warnings = _fill_defaults(received)
    joined_text = join_strings(document)
    if joined_text is None:
        return _invalid_shape((_NOT_JSON,))
    try:
        envelope = AIEnvelope.model_validate(document, by_name=False)
    except ValidationError as error:
        return _invalid_shape(_to_violations(error))
    if envelope.node_id != received.context.node_id:
        return _invalid_shape((_OTHER_NODE,))
    return InFlightEnvelope(received, envelope, joined_text, warnings)


def _fill_defaults(received: ReceivedEnvelope) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Return the document with defaults for members that v1 lets be absent, and the warnings about them."""
    filled, warnings = dict(as_mapping(received.document)), list[str]()
    filled.setdefault("nodeId", received.context.node_id)
    if "envelopeId" not in filled:
        filled["envelopeId"] = received.services.new_id()
    if "correlationId" not in filled:
        filled["correlationId"] = _make_correlation_id(received, filled)
        warnings.append(CORRELATION_MISSING)
    meta: Json = filled.get("meta")
    if isinstance(meta, dict) and "source" not in meta:
        filled["meta"] = {**as_mapping(meta), "source": EnvelopeSource.AI_GENERATION.value}
        warnings.append(SOURCE_MISSING)
    return filled, tuple(warnings)


def _make_correlation_id(received: ReceivedEnvelope, document: Mapping[str, Json]) -> str:
    context, envelope_id = received.context, document["envelopeId"]
    if not isinstance(envelope_id, str):
        envelope_id = received.services.new_id()
    name = f"{context.run_id}:{context.node_id}:{envelope_id}"
    return name if len(name) <= MAX_ID_LENGTH else hashlib.sha256(name.encode(errors="replace")).hexdigest()


def _invalid_shape(violations: tuple[Violation, ...]) -> InvalidEnvelope:
    return InvalidEnvelope(OutcomeCode.SHAPE, f"{OutcomeCode.SHAPE.value}: {violations[0]}", violations)


def _to_violations(error: ValidationError) -> tuple[Violation, ...]:
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    return tuple(map(_to_violation, errors[:_MAX_VIOLATIONS]))


def _to_violation(error: ErrorDetails) -> Violation:
    """Return an error of pydantic in JSON Schema terms."""
    pointer = "".join(f"/{redact_name(str(step), _KNOWN_NAMES)}" for step in error["loc"])
    rule, message = error["type"], error["msg"]
    if rule == "value_error":
        return Violation(pointer, "format" if BAD_TIMESTAMP in message else rule, message.removeprefix("Value error, "))
    return Violation(pointer, _KEYWORDS.get(rule, rule), _EXPECTED.get(rule, message))


_KEYWORDS = {
    "missing": "required",
    "extra_forbidden": "additionalProperties",
    "string_too_short": "minLength",
    "string_too_long": "maxLength",
    "greater_than_equal": "minimum",
    **dict.fromkeys(("string_type", "int_type", "bool_type", "model_type"), "type"),
}
"""JSON Schema keywords by pydantic's error types."""
_EXPECTED = {
    "missing": "this property, which is missing",
    "extra_forbidden": "no property that the schema does not name",
    "string_type": "a text",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "model_type": "an object",
}
_VERSION_NOT_ADVERTISED = "the payload does not match the schema, whose version the host does not advertise"


def check_kind(state: InFlightEnvelope) -> InFlightEnvelope | EnvelopeOutcome:
    """Check that the kind and version are known; an older version is drift."""
    kind = state.received.config.registry.get(state.envelope.type)
    if kind is None:
        reason = f"{OutcomeCode.KIND.value}: the host accepts {', '.join(state.received.config.registry.ids)}"
        return Gated(OutcomeCode.KIND, reason, state.envelope.type, state.received.config.registry.ids)
    emitted, advertised = state.envelope.schema_version, kind.version
    if advertised is None or emitted == advertised:
        return state
    if emitted > advertised or state.received.config.strictness is Strictness.STRICT:
        return _reject_version(Violation("/schemaVersion", "version", f"version {advertised}, as advertised"))
    return replace(state, drift=advertised)


def check_payload(state: InFlightEnvelope) -> InFlightEnvelope | EnvelopeOutcome:
    """Check the payload. If the kind advertises no version, a host that is not strict only warns."""
    kind, payload = state.received.config.registry[state.envelope.type], state.envelope.payload
    wrong_version = kind.check_version(payload)
    if wrong_version is not None:
        return _reject_version(_prefix_pointer(wrong_version))
    violations = tuple(map(_prefix_pointer, kind.find_violations(payload)))
    if not violations:
        warnings = tuple([str(_prefix_pointer(warning)) for warning in kind.find_warnings(payload)])
        return replace(state, warnings=(*state.warnings, *warnings)) if warnings else state
    if kind.version is None and state.received.config.strictness is Strictness.WARN:
        return replace(state, warnings=(*state.warnings, _VERSION_NOT_ADVERTISED))
    return InvalidEnvelope(OutcomeCode.PAYLOAD, f"{OutcomeCode.PAYLOAD.value}: {violations[0]}", violations)


def _prefix_pointer(violation: Violation) -> Violation:
    """Return a payload's violation with its pointer in the envelope."""
    return Violation(f"/payload{violation.pointer}", violation.rule, violation.expected)


def _reject_version(violation: Violation) -> InvalidEnvelope:
    return InvalidEnvelope(OutcomeCode.SCHEMA_VERSION, f"{OutcomeCode.SCHEMA_VERSION.value}: {violation}", (violation,))


def check_contract(state: InFlightEnvelope) -> InFlightEnvelope | Gated:
    """Check that the node may emit this kind."""
    contract = state.received.context.contract
    if contract.accepts is None or contract.allows(state.envelope.type):
        return state
    allowed = (*UNIVERSAL_SCHEMAS, *sorted(contract.accepts - set(UNIVERSAL_SCHEMAS)))
    reason = f"{OutcomeCode.CONTRACT.value}: the node may emit {', '.join(allowed)}"
    return Gated(OutcomeCode.CONTRACT, reason, state.envelope.type, allowed, contract.refusal_mode)


def check_limits(state: InFlightEnvelope) -> InFlightEnvelope | Breached:
    """Check the counts before this envelope against each limit."""
    counters, limits = state.received.context.counters, state.received.config.limits
    if counters.envelopes >= limits.envelopes_per_turn:
        return Breached(CapKind.ENVELOPES, limits.envelopes_per_turn, counters.envelopes + 1)
    if state.envelope.type == CLARIFICATION_REQUEST and counters.clarification >= limits.clarification_rounds:
        return Breached(CapKind.CLARIFICATION, limits.clarification_rounds, counters.clarification + 1)
    if state.envelope.type == SCHEMA_REQUEST and counters.schema >= limits.schema_rounds:
        return Breached(CapKind.SCHEMA, limits.schema_rounds, counters.schema + 1)
    return state


_SECRET_IN_ID = Violation("", "redaction", "ids without secrets, because an id cannot be redacted")


def redact_secrets(state: InFlightEnvelope) -> InFlightEnvelope | InvalidEnvelope:
    """Remove every secret from the envelope, or refuse it if an id contains one."""
    # Before deduplicate(), the handler and the store: none of them may see a secret.
    secrets = state.received.config.secrets
    if not secrets.ids or not secrets.found_in(state.joined_text):
        return state
    clean = secrets.redact_json(state.envelope.to_json())
    if not clean.count:
        return state
    try:
        envelope = AIEnvelope.model_validate(clean.value, by_name=False)
    except ValidationError:
        return _invalid_shape((_SECRET_IN_ID,))
    if _get_ids(envelope) != _get_ids(state.envelope):
        return _invalid_shape((_SECRET_IN_ID,))
    return replace(state, envelope=envelope, joined_text="", redactions=clean.count)


def _get_ids(envelope: AIEnvelope) -> tuple[str | None, ...]:
    return envelope.type, envelope.envelope_id, envelope.correlation_id, envelope.node_id


def apply_trust(state: InFlightEnvelope) -> InFlightEnvelope | InvalidEnvelope:
    """Set the trust of the envelope. One untrusted input makes it untrusted, whatever it states."""
    trust = get_effective_trust(state)
    if state.received.context.approving and trust is Trust.UNTRUSTED:
        return InvalidEnvelope(OutcomeCode.APPROVAL, OutcomeCode.APPROVAL.value)
    if trust is state.envelope.meta.content_trust:
        return state
    meta = state.envelope.meta.model_copy(update={"content_trust": trust})
    return replace(state, envelope=state.envelope.model_copy(update={"meta": meta}))


def get_effective_trust(state: InFlightEnvelope) -> Trust:
    """Return the lower of the trust of the node's inputs and the trust that the envelope states."""
    if state.received.context.inputs is Trust.UNTRUSTED:
        return Trust.UNTRUSTED
    return state.envelope.meta.content_trust or state.received.context.boundary


_KIND_CONFLICT = Violation("/type", "correlation", "the kind that was accepted under this correlationId before")


def deduplicate(state: InFlightEnvelope) -> InFlightEnvelope | CachedOutcome | InvalidEnvelope:
    """End the pipeline if the correlation id was accepted before."""
    store = state.received.services.store
    if store is None:
        return state
    entry = store.find(state.received.context.run_id, state.envelope.correlation_id)
    return state if entry is None else reuse_outcome(state, entry)


def reuse_outcome(state: InFlightEnvelope, entry: Entry) -> CachedOutcome | InvalidEnvelope:
    """Return the stored outcome, or a refusal if its kind differs or it must not advance the approval."""
    # An id names one envelope. Otherwise a model could get the outcome of an approved kind for another one.
    if entry.type != state.envelope.type:
        reason = f"{OutcomeCode.CONFLICT.value}: {_KIND_CONFLICT}"
        return InvalidEnvelope(OutcomeCode.CONFLICT, reason, (_KIND_CONFLICT,))
    trust = as_mapping(as_mapping(entry.envelope).get("meta")).get("contentTrust")
    if state.received.context.approving and trust == Trust.UNTRUSTED.value:
        return InvalidEnvelope(OutcomeCode.APPROVAL, OutcomeCode.APPROVAL.value)
    return CachedOutcome(entry)
