"""Holding an envelope to its workflow, whoever made it: what may not be used is replaced by a refusal."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.authority.envelopes import OracleReading, dump_authorization, enforce_workflow, read_authorization
from emitter.authority.envelopes.enforcement import release_envelope
from emitter.authority.envelopes.oracles import REFUSAL_MESSAGES
from emitter.authority.narrative import scrub_measurements
from emitter.errors import InputError
from emitter.models.authorization import (
    Action,
    Classification,
    DisputeSummary,
    GrammarMode,
    Measurement,
    Narrative,
    Refusal,
    RefusalCode,
    RefusalReason,
    Specificity,
)
from tests.authority.envelopes.parts import (
    ASYNC,
    CLAIMS,
    DOSED,
    EHR,
    ENVELOPES,
    HEARSAY,
    INLINE,
    LAB,
    LOOSE,
    MADE,
    ORDERED,
    OTHER_SODIUM,
    POTASSIUM,
    READINGS,
    RUMOUR,
    SAID,
    SCRUBBING,
    SODIUM,
    STATUS,
    STRICT,
    TERMS,
    WITHOUT,
    WORKFLOWS,
    conflict,
    provenance,
    record,
    value,
    workflow,
)

ALL_WITHOUT = {
    "never": WITHOUT,
    "inline": workflow("non_authoritative"),
    "async": workflow("non_authoritative", "ASYNC"),
}


def refused(found: object, code: RefusalCode, audit_id: str | None = None) -> None:
    """See that an envelope is this library's own refusal, and says nothing beside the code."""
    assert isinstance(found, Refusal)
    assert found.reason.code is code
    assert (found.reason.user_message, found.reason.recovery_hint) == (REFUSAL_MESSAGES[code], None)
    assert audit_id in (None, found.reason.audit_id)


@pytest.mark.parametrize("kind", ENVELOPES)
@pytest.mark.parametrize("declared", WORKFLOWS.values(), ids=WORKFLOWS.keys())
def test_what_the_workflow_allows_stays_what_it_is(kind: str, declared: Any) -> None:
    """With readings that carry it, and a function that verifies it; without authority no claim is left."""
    found = enforce_workflow(ENVELOPES[kind], declared, oracles=READINGS, verify=lambda _: True)

    if kind in CLAIMS and declared is WITHOUT:
        refused(found, RefusalCode.POLICY_VIOLATION, "env-1")
    else:
        assert found == ENVELOPES[kind]


@pytest.mark.parametrize("kind", CLAIMS)
@pytest.mark.parametrize("declared", ALL_WITHOUT.values(), ids=ALL_WITHOUT.keys())
def test_no_claim_comes_out_of_a_workflow_without_authority(kind: str, declared: Any) -> None:
    """Whatever its mode, whatever the oracles say, and whatever wire it came over."""
    came = read_authorization(dump_authorization(ENVELOPES[kind]))

    refused(enforce_workflow(came, declared, oracles=READINGS, verify=lambda _: True), RefusalCode.POLICY_VIOLATION)
    refused(enforce_workflow(came, declared), RefusalCode.POLICY_VIOLATION)


RESTS_ON: dict[str, tuple[Any, tuple[OracleReading, ...]]] = {
    "no readings": (Measurement(value=4.2, provenance=provenance(LAB)), ()),
    "another value": (Measurement(value=4.3, provenance=provenance(LAB)), READINGS),
    "truth for a number": (Measurement(value=1, provenance=provenance(LAB)), (OracleReading(LAB, "a", True),)),
    "another label": (Classification(label="unstable", provenance=provenance(EHR)), READINGS),
    "a part of a label": (Classification(label="stab", provenance=provenance(EHR)), READINGS),
    "another oracle's value": (Measurement(value=4.2, provenance=provenance(EHR)), READINGS),
    "an unknown oracle": (Action(action="a", provenance=provenance(record("x"))), READINGS),
    "an unknown oracle beside a known one": (Action(action="a", provenance=provenance(LAB, record("x"))), READINGS),
    "a record that was improved": (
        Action(action="a", provenance=provenance(EHR.model_copy(update={"tier": LAB.tier}))),
        READINGS,
    ),
    "a record of another time": (
        Action(action="a", provenance=provenance(LAB.model_copy(update={"verified_at": "2027-01-01T00:00:00Z"}))),
        READINGS,
    ),
    "hearsay": (Measurement(value=80, provenance=provenance(HEARSAY)), (RUMOUR,)),
    "a disputed value": (Measurement(value=140, provenance=provenance(LAB)), (SODIUM, OTHER_SODIUM)),
    "an action on what is disputed": (Action(action="a", provenance=provenance(LAB)), (SODIUM, OTHER_SODIUM)),
}


@pytest.mark.parametrize(("claim", "readings"), RESTS_ON.values(), ids=RESTS_ON.keys())
def test_a_claim_for_which_the_oracles_do_not_vouch_is_refused(claim: Any, readings: Any) -> None:
    """A provenance is worth what the host's own readings say; a verify of the caller's does not make up for it."""
    refused(enforce_workflow(claim, INLINE, oracles=readings), RefusalCode.UNRESOLVABLE, "env-1")
    refused(enforce_workflow(claim, INLINE, oracles=readings, verify=lambda _: True), RefusalCode.UNRESOLVABLE)


def test_a_value_that_was_changed_on_the_way_is_refused() -> None:
    """The provenance is as it was, and the value is not."""
    claim = ENVELOPES["measurement"]

    assert enforce_workflow(claim, INLINE, oracles=READINGS) == claim
    changed = claim.model_copy(update={"value": 42})
    refused(enforce_workflow(changed, INLINE, oracles=READINGS), RefusalCode.UNRESOLVABLE)


@pytest.mark.parametrize("kind", CLAIMS)
def test_an_async_workflow_needs_its_oracles_asked(kind: str) -> None:
    """Until somebody verifies the records, a claim of it is refused."""
    claim = ENVELOPES[kind]

    refused(enforce_workflow(claim, ASYNC, oracles=READINGS), RefusalCode.UNRESOLVABLE, "env-1")
    refused(enforce_workflow(claim, ASYNC, oracles=READINGS, verify=lambda _: False), RefusalCode.UNRESOLVABLE, "env-1")
    assert enforce_workflow(claim, ASYNC, oracles=READINGS, verify=lambda _: True) == claim


MARKED = {
    "a measurement": (DOSED, LOOSE),
    "an order": (ORDERED, LOOSE),
    "a forbidden marker": ("According to the manual, it is a miracle.", STRICT),
    "an order beside what is scrubbed": (f"{DOSED} {ORDERED}", SCRUBBING),
    "nothing after scrubbing": ("5 mg", SCRUBBING),
    "nothing to be seen": ("\u200b", LOOSE),
    "a policy whose marker nobody can see": (SAID, LOOSE.model_copy(update={"forbidden_markers": (" ",)})),
}


@pytest.mark.parametrize("declared", WORKFLOWS.values(), ids=WORKFLOWS.keys())
@pytest.mark.parametrize(("text", "policy"), MARKED.values(), ids=MARKED.keys())
def test_a_narrative_is_scanned_in_every_workflow(declared: Any, text: str, policy: Any) -> None:
    """Soft authority is refused where there is none, and where there could be."""
    narrative = Narrative(text=text, policy=policy)
    found = enforce_workflow(narrative, declared, oracles=READINGS)

    refused(found, RefusalCode.POLICY_VIOLATION)
    assert found == enforce_workflow(narrative, declared)
    assert text not in str(dump_authorization(found))


@pytest.mark.parametrize("declared", WORKFLOWS.values(), ids=WORKFLOWS.keys())
def test_a_narrative_is_scrubbed_where_its_policy_says_so(declared: Any) -> None:
    """Measurements alone are stripped; the policy stays, and what was scrubbed is not scrubbed again."""
    found = enforce_workflow(Narrative(text=DOSED, policy=SCRUBBING), declared)

    assert isinstance(found, Narrative)
    assert "5 mg" not in found.text
    assert found.policy == SCRUBBING
    assert enforce_workflow(found, declared) == found


TOLD = {
    "an oracle": "The reading of lab-7 was not good enough.",
    "an oracle's name": "The Central Laboratory could not say.",
    "a threshold": "It is below 5 mg.",
    "a verdict": "The device is safe, so nothing more is said of it.",
}


@pytest.mark.parametrize("code", RefusalCode)
@pytest.mark.parametrize("member", ["user_message", "recovery_hint"])
@pytest.mark.parametrize("said", TOLD.values(), ids=TOLD.keys())
def test_a_refusal_that_tells_too_much_is_said_in_our_words(code: RefusalCode, member: str, said: str) -> None:
    """Its code and its id stay: an emergency is one all the same."""
    reason = {"code": code, "user_message": "No.", "recovery_hint": "Ask again.", "audit_id": "audit-9", member: said}
    found = enforce_workflow(Refusal(reason=RefusalReason.model_validate(reason)), INLINE, oracles=READINGS)

    refused(found, code, "audit-9")


GENERAL = LOOSE.model_copy(update={"max_specificity": Specificity.GENERAL})
HELD_TO = {
    "a marker": (SAID, LOOSE, LOOSE.model_copy(update={"forbidden_markers": ("pump",)})),
    "a mode": ("In general, a pump may fail.", LOOSE.model_copy(update={"grammar_mode": GrammarMode.HEDGED}), LOOSE),
    "a level": ("According to the manual of 2019, it pumps.", LOOSE, GENERAL),
}


@pytest.mark.parametrize("declared", WORKFLOWS.values(), ids=WORKFLOWS.keys())
@pytest.mark.parametrize(("text", "its", "ours"), HELD_TO.values(), ids=HELD_TO.keys())
def test_a_narrative_is_held_to_the_workflow_s_policy_too(declared: Any, text: str, its: Any, ours: Any) -> None:
    """Whoever made it wrote the policy that it names: what the workflow forbids it need not forbid."""
    narrative = Narrative(text=text, policy=its)

    assert enforce_workflow(narrative, declared) is narrative
    refused(enforce_workflow(narrative, declared, narrative=ours), RefusalCode.POLICY_VIOLATION)


def test_a_narrative_is_scrubbed_where_the_workflow_says_so() -> None:
    """Whatever the policy says that it came with."""
    found = enforce_workflow(Narrative(text=DOSED, policy=LOOSE), WITHOUT, narrative=SCRUBBING)

    assert found == Narrative(text=scrub_measurements(DOSED), policy=LOOSE)


def test_a_refusal_is_held_to_the_workflow_s_markers() -> None:
    """They are forbidden in whatever text is shown."""
    said = RefusalReason(code=RefusalCode.BLOCKED, user_message="No miracle.", audit_id="audit-9")

    assert enforce_workflow(Refusal(reason=said), WITHOUT) == Refusal(reason=said)
    refused(enforce_workflow(Refusal(reason=said), WITHOUT, narrative=STRICT), RefusalCode.BLOCKED, "audit-9")


A, B, C = value(SODIUM), value(OTHER_SODIUM), value(POTASSIUM)
MADE_UP = {
    "another value": conflict(A, B.model_copy(update={"value": 500})),
    "another oracle": conflict(A, B.model_copy(update={"oracle_id": "lab-8"})),
    "a better tier": conflict(A, B.model_copy(update={"tier": LAB.tier})),
    "another time": conflict(A, B.model_copy(update={"verified_at": MADE})),
    "one side alone": conflict(A, A),
    "a further side": conflict(A, B, B.model_copy(update={"value": "Take two."})),
    "an axis without a dispute": conflict(C, C).model_copy(update={"axis": "potassium"}),
    "an axis that nobody read": conflict(A, B).model_copy(update={"axis": "chloride"}),
}


@pytest.mark.parametrize("declared", WORKFLOWS.values(), ids=WORKFLOWS.keys())
@pytest.mark.parametrize("source", MADE_UP.values(), ids=MADE_UP.keys())
def test_a_dispute_that_the_oracles_do_not_have_is_refused(declared: Any, source: Any) -> None:
    """What is said to be an oracle's word is shown only if it is: no claim comes in as one side of a dispute."""
    made_up = DisputeSummary(sources=(conflict(A, B), source))

    refused(enforce_workflow(made_up, declared, oracles=READINGS, verify=lambda _: True), RefusalCode.UNRESOLVABLE)
    refused(enforce_workflow(ENVELOPES["dispute_summary"], declared), RefusalCode.UNRESOLVABLE)


def test_the_sides_of_a_dispute_stand_in_any_order() -> None:
    """And 140 is 140.0."""
    reported = DisputeSummary(sources=(conflict(B, A.model_copy(update={"value": 140.0})),))

    assert enforce_workflow(reported, WITHOUT, oracles=READINGS) == reported


NOT_ON_OUR_TERMS = {
    "an action": ENVELOPES["action"].model_copy(update={"action": "discharge"}),
    "a narrative under a policy of its own": Narrative(
        text="It is a miracle.", policy=LOOSE.model_copy(update={"grammar_mode": GrammarMode.EDUCATIONAL})
    ),
}


@pytest.mark.parametrize("kept", NOT_ON_OUR_TERMS.values(), ids=NOT_ON_OUR_TERMS.keys())
def test_what_was_kept_is_held_to_the_terms_as_what_is_new(kept: Any) -> None:
    """Whoever can write into a store cannot have an action handed out that is not allowed, nor a policy waived."""
    refused(release_envelope(kept, TERMS, None), RefusalCode.POLICY_VIOLATION)


@pytest.mark.parametrize(
    "odd", [{"oracles": POTASSIUM}, {"narrative": STRICT.model_dump()}, {"oracles": [LAB]}, {"verify": 1}], ids=str
)
def test_what_cannot_be_enforced_with_is_refused(odd: Any) -> None:
    """A mistake of the program's is reported as one."""
    with pytest.raises(InputError):
        enforce_workflow(ENVELOPES["measurement"], INLINE, **{"oracles": READINGS, **odd})
    with pytest.raises(InputError):
        enforce_workflow(ENVELOPES["measurement"], None, oracles=READINGS)  # type: ignore[arg-type]


READING = st.sampled_from([POTASSIUM, STATUS, SODIUM, OTHER_SODIUM, RUMOUR])


@given(
    st.sampled_from(sorted(ENVELOPES)),
    st.lists(READING, max_size=5, unique_by=lambda each: (each.axis, each.record.oracle_id)),
    st.sampled_from(sorted(WORKFLOWS)),
    st.none() | st.booleans(),
)
def test_enforcing_twice_is_enforcing_once(kind: str, readings: Any, declared: str, says: Any) -> None:
    """And no claim comes out that did not go in."""
    verify = None if says is None else (lambda _: says)
    once = enforce_workflow(ENVELOPES[kind], WORKFLOWS[declared], oracles=readings, verify=verify)
    again = enforce_workflow(once, WORKFLOWS[declared], oracles=readings, verify=verify)

    assert again == once
    assert once == ENVELOPES[kind] or isinstance(once, Refusal)
    if once.kind in CLAIMS:
        assert WORKFLOWS[declared].authoritative
        assert says is not False


def test_a_clean_narrative_stays_as_it_is() -> None:
    """It is the same object, and so is a refusal that tells nothing."""
    narrative = Narrative(text=SAID, policy=STRICT)

    assert enforce_workflow(narrative, WITHOUT) is narrative
    assert enforce_workflow(ENVELOPES["refusal"], WITHOUT) is ENVELOPES["refusal"]
