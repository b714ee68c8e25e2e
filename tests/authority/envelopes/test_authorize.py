"""From a draft to an envelope: only under the terms, and what it rests on comes from the host."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.authority.envelopes import (
    AuthorizationConstraints,
    EnvelopeStamp,
    OracleReading,
    ProposedAction,
    ProposedClassification,
    ProposedDispute,
    ProposedMeasurement,
    ProposedNarrative,
    ProposedRefusal,
    UnverifiedClaim,
    authorize_draft,
    dump_authorization,
    read_authorization,
)
from emitter.authority.envelopes.drafts import find_violations
from emitter.authority.narrative import scrub_measurements
from emitter.errors import InputError
from emitter.models.authorization import Measurement, OracleVerificationRecord, Refusal, RefusalCode
from tests.authority.envelopes.parts import (
    ASYNC,
    CLAIM,
    CLAIMS,
    DOSED,
    DRAFTS,
    EHR,
    ENVELOPES,
    HEARSAY,
    INLINE,
    LAB,
    LOOSE,
    MADE,
    MOMENT,
    ORDERED,
    POTASSIUM,
    READINGS,
    SAID,
    SCRUBBING,
    SODIUM,
    STAMP,
    STATUS,
    STRICT,
    TERMS,
    WITHOUT,
    document,
    record,
)

if TYPE_CHECKING:
    from collections.abc import Callable

every_kind = pytest.mark.parametrize("kind", DRAFTS)


@every_kind
def test_a_draft_becomes_its_envelope(kind: str) -> None:
    """With the provenance, the policy and the ids that the host has."""
    assert find_violations(DRAFTS[kind], TERMS) == ()
    assert authorize_draft(DRAFTS[kind], TERMS, STAMP) == ENVELOPES[kind]


@every_kind
def test_it_can_be_written_and_read(kind: str) -> None:
    """Whatever comes out is an envelope to every client."""
    made: Any = authorize_draft(DRAFTS[kind], TERMS, STAMP)

    assert read_authorization(dump_authorization(made)) == made


OBJECTED: dict[str, tuple[Any, str, str]] = {
    "another value": (ProposedMeasurement("potassium", 4.3, ("lab-7",)), "/proposal/value", "value"),
    "a rounded value": (ProposedMeasurement("potassium", 4, ("lab-7",)), "/proposal/value", "value"),
    "a truth value for a number": (ProposedMeasurement("flag", True, ("lab-7",)), "/proposal/value", "value"),
    "no value at all": (ProposedMeasurement("potassium", float("nan"), ("lab-7",)), "/proposal/value", "value"),
    "an unknown axis": (ProposedMeasurement("weight", 80, ("lab-7",)), "/proposal/cites", "cites"),
    "an unknown oracle": (ProposedMeasurement("potassium", 4.2, ("lab-7", "lab-8")), "/proposal/cites", "cites"),
    "an oracle on another axis": (ProposedMeasurement("potassium", 4.2, ("ehr-2",)), "/proposal/cites", "cites"),
    "nobody cited": (ProposedMeasurement("potassium", 4.2, ()), "/proposal/cites", "unverified"),
    "hearsay alone": (ProposedMeasurement("weight", 80, ("forum-9",)), "/proposal/cites", "unverified"),
    "a disputed axis": (ProposedMeasurement("sodium", 140, ("lab-7",)), "/proposal/axis", "disputed"),
    "another label": (ProposedClassification("status", "unstable", ("ehr-2",)), "/proposal/label", "label"),
    "a part of a label": (ProposedClassification("status", "stab", ("ehr-2",)), "/proposal/label", "label"),
    "a label in capitals": (ProposedClassification("status", "Stable", ("ehr-2",)), "/proposal/label", "label"),
    "an empty label": (ProposedClassification("status", "", ("ehr-2",)), "/proposal/label", "label"),
    "a label of a disputed axis": (ProposedClassification("sodium", "x", ("ehr-2",)), "/proposal/axis", "disputed"),
    "an action that is none": (ProposedAction("discharge", ("status",), ("ehr-2",)), "/proposal/action", "action"),
    "an action on no axis": (ProposedAction("notify", (), ("ehr-2",)), "/proposal/cites", "cites"),
    "an action on nothing": (ProposedAction("notify", (), ()), "/proposal/cites", "unverified"),
    "an action on hearsay": (
        ProposedAction("notify", ("status", "weight"), ("ehr-2", "forum-9")),
        "/proposal/cites",
        "unverified",
    ),
    "an axis that nobody cited speaks about": (
        ProposedAction("notify", ("status", "potassium"), ("ehr-2",)),
        "/proposal/cites",
        "unverified",
    ),
    "an action on a disputed axis": (
        ProposedAction("notify", ("status", "sodium"), ("ehr-2",)),
        "/proposal/axes",
        "disputed",
    ),
    "parameters that readers differ on": (
        ProposedAction("notify", ("status",), ("ehr-2",), {"a": 2**53}),
        "/proposal/params",
        "params",
    ),
    "a dispute where there is none": (ProposedDispute(("sodium", "potassium")), "/proposal/axes", "agreed"),
    "a dispute about nothing": (ProposedDispute(()), "/proposal/axes", "agreed"),
    "words that are none": (ProposedNarrative(" \u200b"), "/proposal/text", "empty"),
    "a measurement in words": (ProposedNarrative(DOSED), "/proposal/text", "measurement"),
    "an order in words": (ProposedNarrative(ORDERED), "/proposal/text", "imperative"),
    "a refusal that says nothing": (
        ProposedRefusal(RefusalCode.BLOCKED, "\u200b"),
        "/proposal/user_message",
        "blank",
    ),
    "a refusal that states": (
        ProposedRefusal(RefusalCode.BLOCKED, "It is above 5 mg."),
        "/proposal/user_message",
        "measurement",
    ),
    "a refusal that pronounces a verdict": (
        ProposedRefusal(RefusalCode.BLOCKED, "Your lesion is benign."),
        "/proposal/user_message",
        "classification",
    ),
    "a hint that pronounces a verdict": (
        ProposedRefusal(RefusalCode.BLOCKED, "No.", "Ask again: the mole is harmless."),
        "/proposal/recovery_hint",
        "classification",
    ),
    "a hint that states": (
        ProposedRefusal(RefusalCode.BLOCKED, "No.", "Ask again below 5 mg."),
        "/proposal/recovery_hint",
        "measurement",
    ),
}
READ = AuthorizationConstraints.from_arguments(
    INLINE, [*READINGS, OracleReading(LAB, "flag", 1)], LOOSE, ["notify", "escalate"]
)


@pytest.mark.parametrize(("draft", "pointer", "rule"), OBJECTED.values(), ids=OBJECTED.keys())
def test_what_the_oracles_or_the_policy_do_not_carry_is_objected_to(draft: Any, pointer: str, rule: str) -> None:
    """The place and the rule are reported, without a word of the draft; and no authority comes of it."""
    found = find_violations(draft, READ)

    assert (pointer, rule) in [(each.pointer, each.rule) for each in found]
    assert len(set(found)) == len(found)
    refused = authorize_draft(draft, READ, STAMP)
    assert isinstance(refused, Refusal)
    assert refused.reason.code is RefusalCode.POLICY_VIOLATION
    assert refused.reason.audit_id == "audit-1"


NAMES = ("lab-7", "Central Laboratory", "ehr-2", "forum-9")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("member", ["user_message", "recovery_hint"])
def test_a_refusal_names_no_oracle(name: str, member: str) -> None:
    """Neither by its id nor by its name, in no part of it; the finding does not name it either."""
    said = {"user_message": "No.", "recovery_hint": "Ask for something else."}
    draft = ProposedRefusal(RefusalCode.UNRESOLVABLE, **{**said, member: f"It was {name} that could not say."})
    found = find_violations(draft, TERMS)

    assert found
    assert {each.pointer for each in found} == {f"/proposal/{member}"}
    assert name not in str(found)
    assert isinstance(authorize_draft(draft, TERMS, STAMP), Refusal)


@pytest.mark.parametrize("kind", CLAIMS)
def test_a_workflow_without_authority_makes_no_claim(kind: str) -> None:
    """Even where somebody hands it a draft of one, and readings that would carry it."""
    terms = AuthorizationConstraints.from_arguments(WITHOUT, READINGS, LOOSE)
    found = find_violations(DRAFTS[kind], terms)

    assert [(each.pointer, each.rule) for each in found] == [("/proposal/proposes", "authority")]
    assert authorize_draft(DRAFTS[kind], terms, STAMP) == Refusal.model_validate(
        {
            "kind": "refusal",
            "reason": {
                "code": "POLICY_VIOLATION",
                "user_message": "This may not be stated here.",
                "audit_id": "audit-1",
            },
        }
    )


def test_a_workflow_without_authority_may_tell() -> None:
    """A narrative, a refusal and a dispute have none."""
    terms = AuthorizationConstraints.from_arguments(WITHOUT, READINGS, LOOSE)

    for kind in ("narrative", "refusal", "dispute_summary"):
        assert authorize_draft(DRAFTS[kind], terms, STAMP) == ENVELOPES[kind]


def test_provenance_is_that_of_the_cited_readings() -> None:
    """In the host's order, each record once, with the host's ids and time; nothing of it is the model's."""
    twice = OracleReading(EHR, "potassium", 4.2)
    terms = AuthorizationConstraints.from_arguments(INLINE, [POTASSIUM, STATUS, twice, OracleReading(LAB, "flag", 1)])
    made = authorize_draft(ProposedAction("x", ("flag", "potassium"), ("ehr-2", "lab-7", "lab-7")), terms, STAMP)
    assert not isinstance(made, UnverifiedClaim)

    assert dump_authorization(made)["provenance"] == {
        "oracle_records": [LAB.model_dump(mode="json"), EHR.model_dump(mode="json")],
        "generated_at": MADE,
        "envelope_id": "env-1",
    }


@pytest.mark.parametrize("written", [4, 4.0], ids=["integer", "float"])
def test_equal_numbers_are_one_number(written: float) -> None:
    """JSON does not tell 4 from 4.0."""
    terms = AuthorizationConstraints.from_arguments(INLINE, [OracleReading(LAB, "count", 4.0)])

    assert isinstance(authorize_draft(ProposedMeasurement("count", written, ("lab-7",)), terms, STAMP), Measurement)


def test_a_dispute_is_reported_by_what_the_oracles_said() -> None:
    """Every reading on the axis, each axis once; nothing is resolved, and somebody has to."""
    third = OracleReading(HEARSAY, "sodium", {"about": 150})
    terms = AuthorizationConstraints.from_arguments(INLINE, [*READINGS, third])
    made = authorize_draft(ProposedDispute(("sodium", "sodium")), terms, STAMP)
    assert not isinstance(made, UnverifiedClaim)
    (source,) = dump_authorization(made)["sources"]

    assert (source["axis"], source["resolution_attempted"], source["escalation_required"]) == ("sodium", False, True)
    assert [(each["oracle_id"], each["tier"], each["value"]) for each in source["oracles"]] == [
        ("lab-7", "primary", 140),
        ("ehr-2", "secondary", 141),
        ("forum-9", "unverified", {"about": 150}),
    ]


def test_measurements_are_scrubbed_where_the_policy_says_so() -> None:
    """Numbers with units are stripped; other markers are objected to all the same."""
    terms = AuthorizationConstraints.from_arguments(INLINE, (), SCRUBBING)
    made: Any = authorize_draft(ProposedNarrative(DOSED), terms, STAMP)

    assert made.kind == "narrative"
    assert made.text == scrub_measurements(DOSED) != DOSED
    assert made.policy == SCRUBBING
    assert isinstance(authorize_draft(ProposedNarrative(f"{DOSED} {ORDERED}"), terms, STAMP), Refusal)
    assert isinstance(authorize_draft(ProposedNarrative("5 mg"), terms, STAMP), Refusal)


def test_forbidden_markers_are_the_callers_own() -> None:
    """They are reported as a rule, and not by their words."""
    draft = ProposedNarrative("According to the manual, it is a miracle.")
    found = find_violations(draft, AuthorizationConstraints.from_arguments(INLINE, (), STRICT))

    assert [each.pointer for each in found] == ["/proposal/text"]
    assert "miracle" not in str(found)
    assert find_violations(ProposedNarrative(SAID), AuthorizationConstraints.from_arguments(INLINE, (), STRICT)) == ()


@pytest.mark.parametrize("member", ["user_message", "recovery_hint"])
def test_forbidden_markers_are_in_no_refusal_either(member: str) -> None:
    """What a narrative may not say, a refusal does not say in its place."""
    said = {"user_message": "No.", "recovery_hint": "Ask again.", member: "It would be a mir\u200bacle."}
    draft = ProposedRefusal(RefusalCode.BLOCKED, **said)
    found = find_violations(draft, AuthorizationConstraints.from_arguments(INLINE, (), STRICT))

    assert [(each.pointer, each.rule) for each in found] == [(f"/proposal/{member}", "forbidden")]
    assert "miracle" not in str(found)
    assert find_violations(draft, AuthorizationConstraints.from_arguments(INLINE, (), LOOSE)) == ()


def test_verify_is_asked_of_each_record_before_a_claim_is_handed_out() -> None:
    """Once each, in order; of what has no authority nothing is asked."""
    asked: list[OracleVerificationRecord] = []

    def verify(given: OracleVerificationRecord) -> bool:
        asked.append(given)
        return True

    for kind in DRAFTS:
        assert authorize_draft(DRAFTS[kind], TERMS, STAMP, verify) == ENVELOPES[kind]
    assert asked == [LAB, EHR, LAB, EHR]


def raising(_: object) -> bool:
    """Fail."""
    raise RuntimeError(CLAIM)


NOES: dict[str, Callable[[Any], Any]] = {
    "no": lambda _: False,
    "nothing": lambda _: None,
    "one": lambda _: 1,
    "a text": lambda _: "yes",
    "an error": raising,
    "no to the second": lambda given: given != EHR,
}


@pytest.mark.parametrize("verify", NOES.values(), ids=NOES.keys())
def test_a_record_that_does_not_hold_leaves_nothing(verify: Callable[[Any], Any]) -> None:
    """Anything but yes is a no, and so is an error; the refusal does not say which oracle it was."""
    found = authorize_draft(DRAFTS["action"], TERMS, STAMP, verify)
    assert not isinstance(found, UnverifiedClaim)

    assert dump_authorization(found) == {
        "kind": "refusal",
        "reason": {
            "code": "UNRESOLVABLE",
            "user_message": "This could not be verified, so it is not shown.",
            "audit_id": "env-1",
        },
    }


async def later(_: object) -> bool:
    """Answer when nobody waits for it."""
    return True


@pytest.mark.parametrize("verify", [later, "yes"], ids=["async", "no function"])
def test_a_verify_that_cannot_answer_at_once_is_refused(verify: Any) -> None:
    """A coroutine is true, and says nothing."""
    with pytest.raises(InputError, match="verify must"):
        authorize_draft(DRAFTS["measurement"], TERMS, STAMP, verify)
    with pytest.raises(InputError, match="verify must"):
        UnverifiedClaim(ENVELOPES["measurement"]).verify(verify)


AT_LATER = AuthorizationConstraints.from_arguments(ASYNC, READINGS, LOOSE, ["notify"])


@every_kind
def test_an_async_workflow_hands_out_no_claim_before_it_is_settled(kind: str) -> None:
    """A claim comes as something that nobody can show; what has no authority comes as it is."""
    made = authorize_draft(DRAFTS[kind], AT_LATER, STAMP)
    if kind not in CLAIMS:
        assert made == ENVELOPES[kind]
        return
    assert isinstance(made, UnverifiedClaim)
    assert made.verify(lambda _: True) == ENVELOPES[kind]
    for verify in NOES.values():
        refused = made.verify(verify) if kind == "action" else made.verify(lambda _: False)
        assert isinstance(refused, Refusal)
        assert refused.reason.code is RefusalCode.UNRESOLVABLE


@pytest.mark.parametrize("way", [str, format, lambda it: f"{it}", lambda it: "%s" % it], ids=range(4))  # noqa: UP031
@pytest.mark.parametrize("odd", [UnverifiedClaim(ENVELOPES["classification"]), *DRAFTS.values()], ids=repr)
def test_neither_a_draft_nor_what_is_unverified_becomes_text(odd: Any, way: Callable[[Any], str]) -> None:
    """They say less than an envelope does, and so does what is shown of them."""
    with pytest.raises(TypeError):
        way(odd)
    assert CLAIM not in repr(odd)
    assert "manual" not in repr(odd)


@every_kind
def test_a_draft_has_nothing_of_an_envelope(kind: str) -> None:
    """Its parts, taken out one by one, are no envelope either."""
    parts = {each.name: getattr(DRAFTS[kind], each.name) for each in dataclasses.fields(DRAFTS[kind])}
    found = read_authorization({"kind": kind, **parts})

    assert isinstance(found, Refusal)
    assert found.reason.code is RefusalCode.BLOCKED


@pytest.mark.parametrize("odd", [MOMENT, document(), None, *ENVELOPES.values()], ids=lambda each: type(each).__name__)
def test_only_a_draft_is_authorized(odd: Any) -> None:
    """Neither a decision, nor a model's document, nor an envelope that is made already."""
    with pytest.raises(InputError, match="must be an authorization draft"):
        authorize_draft(odd, TERMS, STAMP)


BY_HAND = {
    "an action of no words": ProposedAction("", ("status",), ("ehr-2",)),
    "half a character": ProposedNarrative(f"{SAID} \ud800"),
    "a hint of no words": ProposedRefusal(RefusalCode.BLOCKED, "No.", ""),
}


@pytest.mark.parametrize("draft", BY_HAND.values(), ids=BY_HAND.keys())
def test_a_draft_that_no_envelope_can_hold_is_refused(draft: Any) -> None:
    """A draft that was made by hand never went through the form."""
    found: Any = authorize_draft(draft, AuthorizationConstraints.from_arguments(INLINE, READINGS, LOOSE), STAMP)

    assert found.reason.code is RefusalCode.POLICY_VIOLATION


VALUES = st.sampled_from([1, 2.5, True, None, "x", ["x", "y"], {"a": 1}])
ORACLES = st.sampled_from([LAB, EHR, HEARSAY])
AXES = st.sampled_from(["a", "b"])
READING = st.builds(OracleReading, ORACLES, AXES, VALUES)
CITES = st.lists(st.sampled_from(["lab-7", "ehr-2", "forum-9", "nobody"]), max_size=3).map(tuple)
PROPOSED: st.SearchStrategy[Any] = (
    st.builds(ProposedMeasurement, AXES, st.sampled_from([1, 1.0, 2.5, 3]), CITES)
    | st.builds(ProposedClassification, AXES, st.sampled_from(["x", "y", "z"]), CITES)
    | st.builds(ProposedAction, st.sampled_from(["p", "q"]), st.lists(AXES, max_size=2).map(tuple), CITES)
)


@given(PROPOSED, st.lists(READING, max_size=5), st.none() | st.just(["p"]))
def test_no_claim_goes_beyond_what_the_oracles_said(draft: Any, readings: list[OracleReading], actions: Any) -> None:
    """For any readings and any draft: a claim has records that were given, on agreed axes, and their value."""
    terms = AuthorizationConstraints.from_arguments(INLINE, readings, LOOSE, actions)
    made: Any = authorize_draft(draft, terms, EnvelopeStamp("e", "a", MADE))
    if made.kind == "refusal":
        return
    said = [each for each in readings if each.record in made.provenance.oracle_records]
    axes = draft.axes if isinstance(draft, ProposedAction) else (draft.axis,)

    assert made.provenance.oracle_records
    for axis in axes:
        on_it = [each for each in said if each.axis == axis]
        assert len({each.value_key for each in readings if each.axis == axis}) == 1
        assert any(each.is_verified for each in on_it)
        if made.kind == "measurement":
            assert on_it[0].value == made.value
            assert on_it[0].value is not True
        if made.kind == "classification":
            assert made.label in on_it[0].labels
    if made.kind == "action" and actions is not None:
        assert made.action in actions


def test_an_oracle_whose_record_does_not_name_it_twice() -> None:
    """Two records of one oracle are two: both are cited, and both must hold."""
    first, second = record("lab-7"), record("lab-7", method="again")
    terms = AuthorizationConstraints.from_arguments(
        INLINE, [OracleReading(first, "a", 1), OracleReading(second, "a", 1)]
    )
    made: Any = authorize_draft(ProposedMeasurement("a", 1, ("lab-7",)), terms, STAMP, lambda given: given == first)

    assert made.reason.code is RefusalCode.UNRESOLVABLE


def test_sodium_is_disputed_whichever_oracle_is_cited() -> None:
    """A claim cannot pick the oracle that suits it."""
    for cites in (("lab-7",), ("ehr-2",), ("lab-7", "ehr-2")):
        found = find_violations(ProposedMeasurement("sodium", SODIUM.value, cites), TERMS)
        assert ("/proposal/axis", "disputed") in [(each.pointer, each.rule) for each in found]
