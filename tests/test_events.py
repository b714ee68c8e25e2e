"""Events: every record is OpenWOP's document, whatever stands in its fields."""

from __future__ import annotations

import json
import typing
from dataclasses import FrozenInstanceError
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter import events
from emitter.events import Event, Level, LogAppended, NodeFailed, Reason, RunEvent
from tests.models.openwop import errors, needs_schemas

COUNTS = st.integers(0, 10**9)
NAMES = st.text(min_size=1, max_size=20)
MAYBE = st.none() | st.text(max_size=20)
JSON = st.recursive(st.none() | st.booleans() | COUNTS | st.text(max_size=8), lambda inner: st.lists(inner, max_size=3))
FIELDS = st.dictionaries(st.text(max_size=8), JSON, max_size=3)

RECORDS: dict[type, st.SearchStrategy[Any]] = {
    events.RetryAttempted: st.builds(
        events.RetryAttempted, attempt=st.integers(2, 16), reason=st.sampled_from(Reason), previous_error=MAYBE
    ),
    events.RetryExhausted: st.builds(
        events.RetryExhausted,
        total_attempts=st.integers(1, 16),
        final_reason=st.sampled_from(Reason),
        final_error=MAYBE,
    ),
    events.EnvelopeRefusal: st.builds(events.EnvelopeRefusal, provider=NAMES, model=NAMES, safety_category=MAYBE),
    events.EnvelopeTruncated: st.builds(
        events.EnvelopeTruncated,
        provider=NAMES,
        model=NAMES,
        stop_reason=st.sampled_from(["max_tokens", "length", "stop_sequence", "unknown"]),
        partial_payload_available=st.booleans(),
        output_token_count=st.none() | COUNTS,
    ),
    events.RecoveryApplied: st.builds(
        events.RecoveryApplied,
        path=st.sampled_from(["direct", "jsonrepair", "markdown-fence", "brace-walker", "custom"]),
        byte_offset=st.none() | COUNTS,
    ),
    events.CapBreached: st.builds(events.CapBreached, kind=st.just("schema"), limit=COUNTS, observed=COUNTS),
    events.NodeFailed: st.builds(
        events.NodeFailed, code=NAMES, message=NAMES, attempts=st.none() | st.integers(1, 99), details=FIELDS
    ),
    events.NodeCompleted: st.builds(events.NodeCompleted, outputs=FIELDS),
    events.ClarificationRequested: st.builds(
        events.ClarificationRequested,
        interrupt_id=NAMES,
        questions=st.lists(st.fixed_dictionaries({"id": NAMES, "question": NAMES}), max_size=3).map(tuple),
    ),
    events.InterruptRequested: st.builds(
        events.InterruptRequested, interrupt_id=NAMES, kind=st.just("clarification"), key=NAMES, data=FIELDS
    ),
    events.ModelCapabilitySubstituted: st.builds(
        events.ModelCapabilitySubstituted,
        original_provider=NAMES,
        original_model=NAMES,
        fallback_provider=NAMES,
        fallback_model=NAMES,
        missing_capabilities=st.lists(NAMES, unique=True).map(tuple),
    ),
    events.ModelCapabilityInsufficient: st.builds(
        events.ModelCapabilityInsufficient,
        provider=NAMES,
        model=NAMES,
        missing_capabilities=st.lists(NAMES, unique=True).map(tuple),
        fallback_attempted=st.booleans(),
    ),
    events.ReplayDiverged: st.builds(
        events.ReplayDiverged,
        source_run_id=NAMES,
        at_sequence=COUNTS,
        divergence_kind=st.sampled_from(["output", "missing", "extra", "type-mismatch"]),
        divergence_point=NAMES,
        original_event_id=MAYBE,
    ),
    events.ReplayDivergedAtRefusal: st.builds(
        events.ReplayDivergedAtRefusal,
        source_run_id=NAMES,
        at_sequence=COUNTS,
        original_envelope_kind=st.sampled_from(["valid", "refusal"]),
        replay_envelope_kind=st.sampled_from(["valid", "refusal"]),
        original_event_id=MAYBE,
    ),
    events.ProviderUsage: st.builds(
        events.ProviderUsage,
        provider=NAMES,
        model=NAMES,
        input_tokens=COUNTS,
        output_tokens=COUNTS,
        cache_read_tokens=COUNTS,
        cache_write_tokens=COUNTS,
    ),
    events.NlToFormatEngaged: st.builds(
        events.NlToFormatEngaged,
        original_envelope_type=st.text(min_size=1, max_size=20),
        fallback_calls=st.integers(1, 9),
    ),
    events.LogAppended: st.builds(
        events.LogAppended,
        level=st.sampled_from(Level),
        message=st.text(max_size=20),
        fields=FIELDS | FIELDS.map(MappingProxyType),
    ),
}


def make_run_event(event: Event) -> RunEvent:
    """Return the recorded event with fixed ids."""
    return RunEvent(event, "e-1", "r-1", "n-1", "2026-01-31T12:00:00.000Z", 0, "r-1:n-1:0:abc")


def definition(kind: str) -> str:
    """Return where OpenWOP defines the payload of an event type."""
    head, *tail = kind.split(".")
    return f"run-event-payloads.schema.json#/$defs/{head}{''.join(each[0].upper() + each[1:] for each in tail)}"


def test_every_kind_of_event_is_tried() -> None:
    """No event of the union is without a strategy here."""
    assert set(RECORDS) == set(typing.get_args(Event))


@needs_schemas
@given(st.one_of(*RECORDS.values()))
def test_every_event_is_openwops(event: Event) -> None:
    """The document and its payload satisfy their schemas, and cross the wire unharmed."""
    document = make_run_event(event).to_json()

    assert json.loads(json.dumps(document)) == document
    assert errors(document, "run-event.schema.json") == []
    if not isinstance(event, events.InterruptRequested):  # its schema refers to one that is not at hand
        assert errors(document["payload"], definition(event.type)) == []
    assert document["type"] in events_of_the_catalogue()
    assert document["payload"]["nodeId"] == document["nodeId"] == "n-1"


def events_of_the_catalogue() -> set[str]:
    """Return the types that are OpenWOP's own."""
    (message,) = errors("no.such", "run-event.schema.json#/$defs/RunEventType")
    return set(message.rpartition("is not one of [")[2].rstrip("]").replace("'", "").split(", "))


@needs_schemas
def test_the_schemas_can_refuse() -> None:
    """The comparison is no empty ceremony: a wrong payload and a wrong document are found."""
    document = make_run_event(NodeFailed("code", "message", 1)).to_json()

    assert errors({**document, "timestamp": "now"}, "run-event.schema.json")
    assert errors({"nodeId": "n", "attempt": 17, "reason": "bored"}, definition("envelope.retry.attempted"))


def test_what_is_not_known_is_left_out() -> None:
    """An absent value is absent on the wire, and zero is not absent."""
    assert events.build_payload(events.EnvelopeRefusal("v", "m"), "n") == {"nodeId": "n", "provider": "v", "model": "m"}
    assert events.build_payload(events.RecoveryApplied("custom", 0), "n")["byteOffset"] == 0
    assert events.build_payload(NodeFailed("c", "m", 2), "n") == {
        "nodeId": "n",
        "error": {"code": "c", "message": "m"},
        "attempts": 2,
    }


def test_an_event_cannot_be_changed() -> None:
    """What was reported stays what it was."""
    event = LogAppended(Level.INFO, "x")

    with pytest.raises(FrozenInstanceError):
        event.message = "y"  # type: ignore[misc]
