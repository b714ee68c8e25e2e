"""What a journal keeps of an emission comes back as it was."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.attempts import Attempt, Verdict
from emitter.bulk import journal
from emitter.bulk.journal import JournalEntry, decode_line
from emitter.core.effects import EmissionFailure, EmissionOutcome
from emitter.events import (
    CapBreached,
    EnvelopeRefusal,
    EnvelopeTruncated,
    Event,
    Level,
    LogAppended,
    NodeFailed,
    ProviderUsage,
    Reason,
    RecoveryApplied,
    RetryAttempted,
    RetryExhausted,
    RunEvent,
)
from emitter.messages import Fault, FaultKind, Usage
from emitter.schema import Violation

counts = st.integers(0, 10**12)
usages = st.builds(Usage, counts, counts, counts, counts, counts, st.booleans())
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
seconds = st.none() | st.floats(0, 1e6)
faults = st.builds(
    Fault,
    st.sampled_from(FaultKind),
    texts,
    st.none() | st.integers(100, 599),
    st.none() | texts,
    seconds,
    st.none() | usages,
)
attempts = st.builds(
    Attempt,
    number=st.integers(1, 40),
    verdict=st.sampled_from(Verdict),
    budget=counts,
    corrected=st.booleans(),
    stop=texts,
    usage=st.none() | usages,
    violations=st.lists(st.builds(Violation, texts, texts, texts), max_size=3).map(tuple),
    fault=st.none() | faults,
    request_id=st.none() | texts,
)
events = st.one_of(
    st.builds(RetryAttempted, counts, st.sampled_from(Reason), st.none() | texts),
    st.builds(RetryExhausted, counts, st.sampled_from(Reason), st.none() | texts),
    st.builds(EnvelopeRefusal, texts, texts, st.none() | texts),
    st.builds(EnvelopeTruncated, texts, texts, texts, st.booleans(), st.none() | counts),
    st.builds(RecoveryApplied, texts, st.none() | counts),
    st.builds(CapBreached, texts, counts, counts),
    st.builds(NodeFailed, texts, texts, counts),
    st.builds(ProviderUsage, texts, texts, counts, counts, counts, counts),
    st.builds(LogAppended, st.sampled_from(Level), texts, st.dictionaries(texts, counts | texts | st.none())),
)
documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
failures = st.builds(EmissionFailure, st.sampled_from(Verdict), texts, texts)
outcomes = st.one_of(
    st.builds(
        lambda made, document: EmissionOutcome(made, document=document), st.lists(attempts).map(tuple), documents
    ),
    st.builds(lambda made, failure: EmissionOutcome(made, failure=failure), st.lists(attempts).map(tuple), failures),
)


def reported(made: list[Event]) -> tuple[RunEvent, ...]:
    """Return the events as one emission tells them."""
    return tuple(RunEvent(each, f"e{at}", "run", "node", "now", at, "cause") for at, each in enumerate(made))


@given(texts, outcomes, st.lists(events, max_size=5).map(reported))
def test_a_record_comes_back_as_it_was(key: str, outcome: EmissionOutcome, made: tuple[RunEvent, ...]) -> None:
    """One line, whatever is in it, and equal once it is read."""
    record = JournalEntry(key, outcome, made, None if outcome.failure else {"nodeId": "node"})
    written = journal.encode_entry(record)

    assert written.count(b"\n") == 1
    assert written.endswith(b"\n")
    assert journal.decode_entry(decode_line(written)) == record


@given(documents)
def test_what_is_no_record_is_a_value_error(anything: Any) -> None:
    """Any JSON that was not written by a journal is refused, and with the one error that stands for it."""
    with pytest.raises(ValueError, match=r".*"):
        journal.decode_entry(decode_line(json.dumps(anything).encode()))


@pytest.mark.parametrize("kind", get_args(Event), ids=lambda kind: kind.type)
def test_every_kind_of_event_is_known(kind: Any) -> None:
    """A kind that comes to the vocabulary is kept without a further word here."""
    members = {"attempts": [], "key": "k", "failure": {"verdict": "refused"}}
    events = {"run_id": "r", "node_id": "n", "causation_id": "c", "events": [["e", "now", kind.type, []]]}

    with pytest.raises(ValueError, match=f"validation errors? for {kind.__name__}"):
        journal.decode_entry({**members, "events": events})
