"""The emission after a substitution or a refusal: its budget, its plan, its place in a run of many."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import pytest

from emitter import EmissionError, Policy, emit, emit_binding_moment, emit_many, stream
from emitter.bulk import Batch
from emitter.errors import CapabilityNotProvided, PromptTooLong
from emitter.host import Acceptor
from emitter.testing import Malformed
from tests.core.capability_gate.functions import LONG, SCHEMA, SHORT, SITUATION, SUBSTITUTED, types

if TYPE_CHECKING:
    from pathlib import Path

    from emitter.events import RunEvent
    from emitter.testing import Simulator


def test_the_substitution_uses_up_no_attempt_and_gives_none(vendor: Simulator) -> None:
    """``max_attempts`` bounds the calls of the emission, whoever is asked."""
    vendor.script(*[Malformed()] * 8)
    more: Any = {"requires": ["long-context"], "fallback": [LONG], "policy": Policy(max_attempts=3)}
    with pytest.raises(EmissionError) as caught:
        emit(SCHEMA, SITUATION, model=SHORT, **more)
    assert len(vendor.calls) == 3
    reported = caught.value.trace.events
    assert [each.event.attempt for each in reported if each.type == "envelope.retry.attempted"] == [2, 3]
    assert types(reported).count(SUBSTITUTED.type) == 1


def test_a_substituted_model_is_asked_in_its_own_form(vendor: Simulator) -> None:
    """The request is planned for the fallback: its wire, its budget, and the schema as it takes it."""
    emit_binding_moment(SITUATION, model="openai/gpt-4-0613", requires=["long-context"], fallback=[LONG])
    body = vendor.calls[0].body
    assert body["max_tokens"] > 4096
    assert "output_config" in body


def test_each_of_many_is_reported_its_substitution(vendor: Simulator, tmp_path: Path) -> None:
    """Every item has it first, under its own node, and a journal gives it back."""
    more: Any = {"requires": ["long-context"], "fallback": [LONG], "journal": tmp_path / "run.jsonl"}
    first = emit_many(SCHEMA, ["a", "b"], model=SHORT, progress=False, **more).results()
    again = emit_many(SCHEMA, ["a", "b"], model=SHORT, progress=False, **more).results()
    assert [each.result.events[0].event for each in first] == [SUBSTITUTED, SUBSTITUTED]
    assert [each.result.events[0].node_id for each in first] == ["emit.0", "emit.1"]
    assert [each.replayed for each in again] == [True, True]
    assert [each.result.events for each in again] == [each.result.events for each in first]
    assert len(vendor.calls) == 2


def test_many_are_refused_at_once(vendor: Simulator) -> None:
    """What no item could be asked for is reported once, before the first of them."""
    seen: list[RunEvent] = []
    with pytest.raises(CapabilityNotProvided):
        emit_many(SCHEMA, ["a", "b"], model=SHORT, requires=["long-context"], on_event=seen.append, progress=False)
    assert types(seen) == ["model.capability.insufficient", "node.failed"]
    assert vendor.calls == ()


def test_a_stream_that_nobody_reads_tells_nothing(vendor: Simulator) -> None:
    """The substitution belongs to an emission, and none was begun."""
    seen: list[RunEvent] = []
    streaming = stream(SCHEMA, SITUATION, model=SHORT, requires=["long-context"], fallback=[LONG], on_event=seen.append)
    streaming.close()
    assert seen == []
    assert vendor.calls == ()


def test_an_emission_that_is_known_tells_no_substitution(vendor: Simulator) -> None:
    """What was accepted before is handed out without an event, and without a call."""
    more: Any = {"requires": ["long-context"], "fallback": [LONG], "host": Acceptor(), "run_id": "r"}
    first = emit(SCHEMA, SITUATION, model=SHORT, **more)
    again = emit(SCHEMA, SITUATION, model=SHORT, **more)

    assert types(first.events)[0] == SUBSTITUTED.type
    assert (again.events, again.envelope, len(vendor.calls)) == ((), first.envelope, 1)


def test_a_refusal_crosses_a_process(vendor: Simulator) -> None:  # noqa: ARG001
    """The error can be pickled, trace and all."""
    with pytest.raises(CapabilityNotProvided) as caught:
        emit(SCHEMA, SITUATION, model=SHORT, requires=["long-context"])
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (type(copy), copy.code, str(copy)) == (CapabilityNotProvided, caught.value.code, str(caught.value))
    assert copy.trace.events == caught.value.trace.events


def test_a_batch_is_made_at_the_vendor_of_the_fallback(vendor: Simulator) -> None:
    """The batch interface is that of the model that is asked, and its emissions tell the same."""
    more: Any = {"requires": ["long-context"], "fallback": [LONG], "batch": Batch(poll=0.01, max_poll=0.01)}
    items = emit_many(SCHEMA, ["a", "b"], model=SHORT, progress=False, **more).results()
    assert [each.result.events[0].event for each in items] == [SUBSTITUTED, SUBSTITUTED]
    assert {call.model for call in vendor.calls} <= {"claude-sonnet-5-5"}


def test_what_was_accepted_before_needs_no_model(vendor: Simulator) -> None:
    """A host that remembers the emission hands it out again, whoever could be asked today; another is refused."""
    reported: list[RunEvent] = []
    more: Any = {"host": Acceptor(), "run_id": "r", "node_id": "n", "requires": ["long-context"]}
    first = emit(SCHEMA, SITUATION, model=SHORT, fallback=[LONG], **more)
    again = emit(SCHEMA, SITUATION, model=SHORT, on_event=reported.append, **more)
    assert again.envelope == first.envelope
    assert (again.events, reported) == ((), [])
    with pytest.raises(CapabilityNotProvided):
        emit(SCHEMA, SITUATION, model=SHORT, turn=1, **more)
    assert len(vendor.calls) == 1


def test_the_check_comes_before_the_window_is_measured(vendor: Simulator) -> None:
    """A prompt that only the fallback can hold is sent to it, and without one what lacks is the capability."""
    situation = "word " * 20_000
    more: Any = {"model": "openai/gpt-4-0613", "requires": ["long-context"]}
    with pytest.raises(PromptTooLong):
        emit(SCHEMA, situation, model="openai/gpt-4-0613")
    with pytest.raises(CapabilityNotProvided):
        emit(SCHEMA, situation, **more)
    emit(SCHEMA, situation, fallback=[LONG], **more)
    assert [call.model for call in vendor.calls] == ["claude-sonnet-5-5"]
