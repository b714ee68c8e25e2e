"""Shape: whether it is an AIEnvelope. What v1 lets be absent is made up, with a warning.

Source: ai-envelope.md, "AIEnvelope wire shape" and "Migration" (points 2 and 3).
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from pydantic import ValidationError

from emitter.accept import json
from emitter.accept.case import Case
from emitter.accept.outcome import Code, Invalid
from emitter.kinds.envelope import LONGEST_ID, NO_MOMENT, AIEnvelope, EnvelopeMeta, PartialInfo, RenderingHint, Source
from emitter.schema import Violation
from emitter.schema.violation import told
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import ErrorDetails

    from emitter.accept.case import Received
    from emitter.wire import Json

NO_SOURCE = "meta.source is absent; taken as ai-generation"
NO_CORRELATION = "correlationId is absent; made from run, node and envelope, so that a repetition may not be known"

_NAMES = frozenset(
    field.alias or name
    for model in (AIEnvelope, EnvelopeMeta, PartialInfo, RenderingHint)
    for name, field in model.model_fields.items()
)
_NO_JSON = Violation("", "json", f"one JSON document of plain text, finite numbers and at most {json.MAX_DEPTH} levels")
_NO_OBJECT = Violation("", "type", "one JSON object that is whole: what came is none, or is cut")
_CHUNK = Violation("/partial", "partial", "a whole envelope: hand its chunks to a Reassembly")
_ANOTHER = Violation("/nodeId", "node", "the node that emitted it, or none: nobody speaks for another node")
_SHOWN = 12


def shape(received: Received) -> Case | Invalid:
    """Return the case of a whole envelope, or what is wrong with the document around the payload."""
    case = document(received)
    partial = None if isinstance(case, Invalid) else case.envelope.partial
    return case if partial is None or (not partial.is_partial and partial.index == 0) else _invalid((_CHUNK,))


def document(received: Received) -> Case | Invalid:
    """Return the case of an envelope or of a chunk of one."""
    if not received.rules.envelopes:
        return Invalid(Code.CAPABILITY, Code.CAPABILITY.value)
    given, warnings = _completed(received)
    if given.__class__ is not dict:
        return _invalid((_NO_OBJECT,))
    found = json.texts(given)
    if found is None:
        return _invalid((_NO_JSON,))
    try:
        envelope = AIEnvelope.model_validate(given, by_name=False)
    except ValidationError as error:
        return _invalid(_violations(error))
    if envelope.node_id != received.context.node_id:
        return _invalid((_ANOTHER,))
    return Case(received, envelope, found, warnings)


def _completed(received: Received) -> tuple[Json, tuple[str, ...]]:
    """Return the document with what v1 lets be absent, and what to say of it."""
    given: Json = received.given
    if given.__class__ is not dict:
        return given, ()
    filled, warnings = dict(mapping(given)), list[str]()
    filled.setdefault("nodeId", received.context.node_id)
    if "envelopeId" not in filled:
        filled["envelopeId"] = received.world.mint()
    if "correlationId" not in filled:
        filled["correlationId"] = _fallback_id(received, filled)
        warnings.append(NO_CORRELATION)
    meta: Json = filled.get("meta")
    if isinstance(meta, dict) and "source" not in meta:
        filled["meta"] = {**mapping(meta), "source": Source.AI_GENERATION.value}
        warnings.append(NO_SOURCE)
    return filled, tuple(warnings)


def _fallback_id(received: Received, filled: Mapping[str, Json]) -> str:
    context, envelope_id = received.context, filled["envelopeId"]
    if not isinstance(envelope_id, str):
        envelope_id = received.world.mint()
    made = f"{context.run_id}:{context.node_id}:{envelope_id}"
    return made if len(made) <= LONGEST_ID else hashlib.sha256(made.encode(errors="replace")).hexdigest()


def _invalid(violations: tuple[Violation, ...]) -> Invalid:
    return Invalid(Code.SHAPE, f"{Code.SHAPE.value}: {violations[0]}", violations)


def _violations(error: ValidationError) -> tuple[Violation, ...]:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return tuple(map(_violation, found[:_SHOWN]))


def _violation(error: ErrorDetails) -> Violation:
    """Return what pydantic found, from the schema's side."""
    pointer = "".join(f"/{told(str(each), _NAMES)}" for each in error["loc"])
    rule, message = error["type"], error["msg"]
    if rule == "value_error":
        return Violation(pointer, "format" if NO_MOMENT in message else rule, message.removeprefix("Value error, "))
    return Violation(pointer, _RULES.get(rule, rule), _EXPECTED.get(rule, message))


_RULES = {
    "missing": "required",
    "extra_forbidden": "additionalProperties",
    "string_too_short": "minLength",
    "string_too_long": "maxLength",
    "greater_than_equal": "minimum",
    **dict.fromkeys(("string_type", "int_type", "bool_type", "model_type"), "type"),
}
"""JSON Schema's word for what pydantic found."""

_EXPECTED = {
    "missing": "this property",
    "extra_forbidden": "no property that the schema does not name",
    "string_type": "a value of type string",
    "int_type": "a value of type integer",
    "bool_type": "a value of type boolean",
    "model_type": "a value of type object",
}
