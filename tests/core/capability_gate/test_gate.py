"""The gate itself: who is asked, and what is reported it. Named after OpenWOP's model-capability scenarios."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.core.capability_gate import (
    CAPABILITY_NOT_PROVIDED,
    USE_NAMED_MODEL,
    CandidateModel,
    NoCapableModel,
    RefusalCause,
    UseFallbackModel,
    UseNamedModel,
    choose_model,
)
from emitter.events import ModelCapabilitySubstituted, NodeFailed, build_payload
from tests.models.openwop import errors, needs_schemas

HELD = frozenset({"structured-output", "discriminator-enum", "function-calling"})
NAMED = CandidateModel("openai", "gpt-4o", HELD)
LARGE = CandidateModel("anthropic", "claude-opus-4-7", HELD | {"long-context", "reasoning"})
NOBODY = CandidateModel("unknown-vendor", "unknown-model", frozenset())
LONG = ("structured-output", "long-context")


@dataclass(frozen=True)
class Row:
    """What a node asks for, and who is asked: ``to`` is the model, None where nobody is."""

    required: tuple[str, ...]
    named: CandidateModel
    fallback: CandidateModel | None
    to: CandidateModel | None
    why: RefusalCause | None = None
    substitution: bool = True


MATRIX = {
    "dispatch: nothing is required": Row((), NOBODY, None, NOBODY),
    "dispatch: all of it is provided": Row(("structured-output", "function-calling"), NAMED, None, NAMED),
    "dispatch: a fallback that is not needed is not looked at": Row(("structured-output",), NAMED, NOBODY, NAMED),
    "dispatch: nor are its credentials": Row(("reasoning",), LARGE, replace(NAMED, authenticated=False), LARGE),
    "substitute: the fallback provides all of it": Row(LONG, NAMED, LARGE, LARGE),
    "substitute: for a vendor of which nothing is known": Row(LONG, NOBODY, LARGE, LARGE),
    "refuse: no fallback is declared": Row(LONG, NAMED, None, None, RefusalCause.NO_FALLBACK),
    "refuse: the host substitutes none": Row(LONG, NAMED, LARGE, None, RefusalCause.NO_FALLBACK, substitution=False),
    "refuse: no credentials for the fallback": Row(
        LONG, NAMED, replace(LARGE, authenticated=False), None, RefusalCause.UNAUTHENTICATED
    ),
    "refuse: the fallback lacks something too": Row((*LONG, "vision-input"), NAMED, LARGE, None, RefusalCause.LACKING),
    "refuse: the fallback lacks what the model has": Row(LONG, NAMED, NOBODY, None, RefusalCause.LACKING),
    "refuse: the fallback is the model itself": Row(LONG, NAMED, NAMED, None, RefusalCause.LACKING),
    "refuse: nobody knows the capability": Row(
        ("nonexistent-capability-9b3f",), LARGE, None, None, RefusalCause.NO_FALLBACK
    ),
}
rows = pytest.mark.parametrize("row", MATRIX.values(), ids=MATRIX)


def missing(row: Row) -> tuple[str, ...]:
    """Return what the model that is named lacks."""
    return tuple(sorted(each for each in row.required if each not in row.named.provides))


@rows
def test_the_matrix_of_decisions(row: Row) -> None:
    """``model-capability-substituted``, ``model-capability-insufficient``: dispatch, substitute or refuse."""
    found = choose_model(row.required, row.named, row.fallback, substitution=row.substitution)
    if row.to is row.named:
        assert found == USE_NAMED_MODEL
    elif row.to is not None:
        assert row.fallback is not None
        expected = (row.named.provider, row.named.model, row.fallback.provider, row.fallback.model, missing(row))
        assert found == UseFallbackModel(ModelCapabilitySubstituted(*expected))
    else:
        assert isinstance(found, NoCapableModel)
        reported = found.event
        assert (reported.provider, reported.model, reported.missing_capabilities) == (
            row.named.provider,
            row.named.model,
            missing(row),
        )
        assert found.cause is row.why
        assert reported.fallback_attempted is (row.why is not RefusalCause.NO_FALLBACK)


@needs_schemas
@rows
def test_what_is_reported_satisfies_its_schema(row: Row) -> None:
    """Each payload is one of ``run-event-payloads.schema.json``, which is closed: nothing else is said."""
    found = choose_model(row.required, row.named, row.fallback, substitution=row.substitution)
    reported = {
        UseNamedModel: (),
        UseFallbackModel: (getattr(found, "event", None),),
        NoCapableModel: getattr(found, "events", ()),
    }[type(found)]
    schemas = {
        "model.capability.substituted": "modelCapabilitySubstituted",
        "model.capability.insufficient": "modelCapabilityInsufficient",
        "node.failed": "nodeFailed",
    }
    for each in reported:
        where = f"run-event-payloads.schema.json#/$defs/{schemas[each.type]}"
        assert errors(build_payload(each, "editor-node"), where) == []


@rows
def test_the_cause_is_reported_before_its_effect(row: Row) -> None:
    """A refusal is two events: what was lacking, then that the node failed, with the terminal code."""
    found = choose_model(row.required, row.named, row.fallback, substitution=row.substitution)
    if not isinstance(found, NoCapableModel):
        return
    first, last = found.events
    assert first == found.event
    assert isinstance(last, NodeFailed)
    assert (last.code, last.attempts) == (CAPABILITY_NOT_PROVIDED, None)
    assert last.details == {"missingCapabilities": list(found.event.missing_capabilities)}


def test_no_event_says_whether_there_are_credentials() -> None:
    """A fallback without a key and one that lacks something are reported in the same words."""
    unknown = choose_model(LONG, NAMED, replace(LARGE, authenticated=False))
    lacking = choose_model(LONG, NAMED, NOBODY)
    assert isinstance(unknown, NoCapableModel)
    assert isinstance(lacking, NoCapableModel)
    assert unknown.cause is not lacking.cause
    assert unknown.events == lacking.events


ids = st.sampled_from(["structured-output", "long-context", "reasoning", "x-host-acme-legal", "nobody-knows"])
sets = st.frozensets(ids)


@given(
    required=sets,
    named=sets,
    fallback=st.none() | st.tuples(sets, st.booleans()),
    substitution=st.booleans(),
)
def test_laws_of_the_gate(
    required: frozenset[str],
    named: frozenset[str],
    fallback: tuple[frozenset[str], bool] | None,
    *,
    substitution: bool,
) -> None:
    """Who is asked provides all that is required, and only a model that lacks something is replaced."""
    other = None if fallback is None else CandidateModel("b", "2", fallback[0], authenticated=fallback[1])
    found = choose_model(required, CandidateModel("a", "1", named), other, substitution=substitution)
    match found:
        case UseNamedModel():
            assert required <= named
        case UseFallbackModel(event):
            assert other is not None
            assert substitution
            assert other.authenticated
            assert required <= other.provides
            assert set(event.missing_capabilities) == required - named != set()
        case NoCapableModel(event):
            usable = other is not None and substitution and other.authenticated and required <= other.provides
            assert not usable
            assert set(event.missing_capabilities) == required - named != set()
            assert event.fallback_attempted is (other is not None and substitution)
