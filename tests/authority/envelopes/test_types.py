"""The types of an authorization envelope: what they take, what they write, and that none becomes text by accident."""

from __future__ import annotations

import copy
import json
import logging
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from emitter.models.authorization import (
    Action,
    AuthorizationEnvelope,
    DisputeSummary,
    Measurement,
    NarrativePolicy,
    OracleConflict,
    OracleVerificationRecord,
    Provenance,
    RefusalReason,
    WorkflowDeclaration,
)
from tests.authority.envelopes.parts import CLAIM, ENVELOPES, LAB, LOOSE, SODIUM, conflict, provenance, record, value

if TYPE_CHECKING:
    from collections.abc import Callable

every_kind = pytest.mark.parametrize("kind", ENVELOPES)

AS_TEXT: dict[str, Callable[[Any], object]] = {
    "str": str,
    "format": format,
    "f-string": lambda it: f"{it}",
    "f-string with a width": lambda it: f"{it:>3}",
    "f-string with !s": lambda it: f"{it!s}",
    "str.format": "{}".format,
    "percent s": lambda it: "%s" % it,  # noqa: UP031  likewise
    "join": lambda it: ", ".join(each for each in [it]),
    "join of its parts": "".join,
    "print": print,
    "print of its parts": lambda it: print(*it),  # noqa: T201  it must not come to that
    "added": lambda it: "" + it,
    "bytes": bytes,
    "list": list,
    "dict": dict,
    "json.dumps": json.dumps,
    "json.dumps with str": lambda it: json.dumps(it, default=str),
    "iter": iter,
}
"""Every way in which a value becomes text where nobody thought of it."""


@every_kind
@pytest.mark.parametrize("way", AS_TEXT.values(), ids=AS_TEXT.keys())
def test_an_envelope_never_becomes_text_by_accident(kind: str, way: Callable[[Any], object]) -> None:
    """RFC-0010 allows no ``.toString()``: each way raises."""
    with pytest.raises(TypeError):
        way(ENVELOPES[kind])


@pytest.mark.parametrize("way", [str, lambda it: f"{it}", lambda it: f"{it:>3}", iter], ids=range(4))
def test_the_error_says_what_to_do_instead(way: Callable[[Any], object]) -> None:
    """Whatever the format asks for."""
    with pytest.raises(TypeError, match="no text form"):
        way(ENVELOPES["narrative"])


@every_kind
@pytest.mark.parametrize("show", [repr, lambda it: f"{it!r}", lambda it: "%r" % (it,), ascii], ids=range(4))  # noqa: UP031  another way to repr
def test_its_repr_shows_kind_and_ids_and_no_claim(kind: str, show: Callable[[Any], str]) -> None:
    """What a debugger or a log shows by accident states nothing."""
    shown = show(ENVELOPES[kind])

    assert f"kind='{kind}'" in shown
    assert "env-1" in shown or "audit-1" in shown or kind in ("narrative", "dispute_summary")
    for said in (CLAIM, "4.2", "manual", "sodium", "140", "Nothing can", "lab-7"):
        assert said not in shown


def test_a_log_record_that_names_it_tells_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """``%s`` in a log message raises inside logging, which tells of it apart; ``%r`` is harmless."""
    logging.getLogger("test").warning("made %r", ENVELOPES["classification"])

    assert CLAIM not in caplog.text


@every_kind
def test_it_survives_copying_and_pickling(kind: str) -> None:
    """It is a value like others, and equal to its copies."""
    envelope = ENVELOPES[kind]

    assert pickle.loads(pickle.dumps(envelope)) == envelope
    assert copy.deepcopy(envelope) == envelope


@every_kind
def test_it_is_frozen(kind: str) -> None:
    """No member is changed, and none is added."""
    with pytest.raises(ValidationError):
        ENVELOPES[kind].kind = "narrative"
    with pytest.raises(ValidationError):
        ENVELOPES[kind].more = 1


ADAPTER: TypeAdapter[Any] = TypeAdapter(AuthorizationEnvelope)


@every_kind
@pytest.mark.parametrize("write", ["model_dump", "model_dump_json", "adapter"])
def test_what_is_absent_is_left_out_and_never_null(kind: str, write: str) -> None:
    """Whichever way it is written: an optional member that was not given is not there."""
    envelope: Any = ENVELOPES[kind]
    written = {
        "model_dump": lambda: envelope.model_dump(mode="json"),
        "model_dump_json": lambda: json.loads(envelope.model_dump_json()),
        "adapter": lambda: json.loads(ADAPTER.dump_json(envelope)),
    }[write]()

    assert written["kind"] == kind
    assert "null" not in json.dumps(written)
    assert ADAPTER.validate_json(json.dumps(written)) == envelope


def test_null_inside_what_somebody_said_is_kept() -> None:
    """Only members of ours are left out: a parameter, or what an oracle said, may be null."""
    action = Action(action="notify", params={"who": None, "also": [{"a": None}]}, provenance=provenance())
    said = value(SODIUM).model_copy(update={"value": None})
    dispute = DisputeSummary(sources=(conflict(said, value(SODIUM)),))

    assert action.model_dump(mode="json")["params"] == {"who": None, "also": [{"a": None}]}
    assert dispute.model_dump(mode="json")["sources"][0]["oracles"][0]["value"] is None


def test_what_was_handed_over_is_copied() -> None:
    """A parameter that is changed afterwards is not changed in the envelope."""
    params = {"to": ["mum"]}
    action = Action(action="mail", params=params, provenance=provenance())
    params["to"][0] = "the board"

    assert action.params == {"to": ["mum"]}


@pytest.mark.parametrize("given", [0, -3, 2.5, 2**53 - 1, -(2**53) + 1, 1e300])
def test_a_number_that_every_reader_understands_is_a_measurement(given: float) -> None:
    """It is kept as it was given."""
    assert Measurement(value=given, provenance=provenance()).value == given


NO_NUMBERS = [True, False, "4.2", None, [4], float("nan"), float("inf"), -float("inf"), 2**53, -(2**53), 10**400]


@pytest.mark.parametrize("given", NO_NUMBERS, ids=[str(each)[:12] for each in NO_NUMBERS])
def test_what_is_no_number_of_json_is_no_measurement(given: Any) -> None:
    """A truth value, a text, what is not finite, and an integer that a double would round."""
    with pytest.raises(ValidationError):
        Measurement(value=given, provenance=provenance())


TIMES = {
    "2026-03-19T08:12:00Z": True,
    "2026-03-19t08:12:00.123456789z": True,
    "2026-03-19T08:12:00+05:30": True,
    "2016-12-31T23:59:60Z": True,
    "2026-02-30T08:12:00Z": False,
    "2026-03-19T24:00:00Z": False,
    "2026-03-19T08:12:00": False,
    "2026-03-19 08:12:00Z": False,
    "2026-03-19T08:12Z": False,
    "2026-03-19": False,
    "2026-03-19T08:12:00Z\n": False,
    "٢٠٢٦-03-19T08:12:00Z": False,
    "": False,
}


@pytest.mark.parametrize(("timestamp", "holds"), TIMES.items(), ids=map(repr, TIMES))
def test_a_timestamp_is_that_of_rfc_3339(timestamp: str, *, holds: bool) -> None:
    """Any offset, any fraction, a leap second; and only what is on a calendar."""
    try:
        found = OracleVerificationRecord(oracle_id="a", tier="primary", verified_at=timestamp)  # type: ignore[arg-type]
    except ValidationError:
        assert not holds
    else:
        assert holds
        assert found.verified_at == timestamp


WRONG: dict[str, Callable[[], object]] = {
    "no oracle record": lambda: Provenance(oracle_records=(), generated_at=LAB.verified_at, envelope_id="e"),
    "an empty envelope_id": lambda: Provenance(oracle_records=(LAB,), generated_at=LAB.verified_at, envelope_id=""),
    "an unknown tier": lambda: record("a", "gold"),  # type: ignore[arg-type]
    "one oracle in a conflict": lambda: conflict(value(SODIUM)),
    "a dispute about nothing": lambda: DisputeSummary(sources=()),
    "a text for a truth value": lambda: OracleConflict(
        axis="a",
        oracles=(value(SODIUM), value(SODIUM)),
        resolution_attempted="no",  # type: ignore[arg-type]
        escalation_required=False,
    ),
    "an unknown member": lambda: Measurement(value=1, provenance=provenance(), unit="mg"),  # type: ignore[call-arg]
    "null for an absent member": lambda: Action(action="a", params=None, provenance=provenance()),
    "null for a hint": lambda: RefusalReason(code="BLOCKED", user_message="No.", recovery_hint=None, audit_id="a"),  # type: ignore[arg-type]
    "an unknown code": lambda: RefusalReason(code="NO", user_message="No.", audit_id="a"),  # type: ignore[arg-type]
    "parameters that are no JSON": lambda: Action(action="a", params={"a": {1, 2}}, provenance=provenance()),
    "parameters that are not finite": lambda: Action(action="a", params={"a": [float("nan")]}, provenance=provenance()),
    "parameters that readers differ on": lambda: Action(action="a", params={"a": [2**53]}, provenance=provenance()),
    "a name that is no text": lambda: Action(action="a", params={"a": {1: 2}}, provenance=provenance()),
    "half a character": lambda: Action(action="a", params={"a": "\ud800"}, provenance=provenance()),
    "another kind": lambda: Measurement(kind="action", value=1, provenance=provenance()),  # type: ignore[arg-type]
    "markers in one text": lambda: NarrativePolicy(**{**LOOSE.model_dump(), "forbidden_markers": "miracle"}),
}


@pytest.mark.parametrize("make", WRONG.values(), ids=WRONG.keys())
def test_what_is_malformed_cannot_be_made(make: Callable[[], object]) -> None:
    """The types refuse it where it is built, too."""
    with pytest.raises(ValidationError):
        make()


def cyclic() -> dict[str, Any]:
    """Return an object that holds itself."""
    made: dict[str, Any] = {}
    made["a"] = made
    return made


def test_parameters_that_hold_themselves_are_refused() -> None:
    """A validator that ran out of stack is an error like others."""
    with pytest.raises(ValidationError):
        Action(action="a", params=cyclic(), provenance=provenance())


DECLARED = {
    ("authoritative", "INLINE"): True,
    ("authoritative", "ASYNC"): True,
    ("authoritative", "NON_AUTHORITATIVE_ONLY"): False,
    ("non_authoritative", "INLINE"): True,
    ("non_authoritative", "ASYNC"): True,
    ("non_authoritative", "NON_AUTHORITATIVE_ONLY"): True,
}


@pytest.mark.parametrize(("declared", "holds"), DECLARED.items(), ids=map(" ".join, DECLARED))
def test_a_declaration_does_not_contradict_itself(declared: tuple[str, str], *, holds: bool) -> None:
    """A workflow that never has authority cannot intend it; what else is configured there is not looked at."""
    intent, mode = declared
    given = {"workflow_id": "w", "authoritative_intent": intent, "enforcement_mode": mode, "retries": 3}
    try:
        found = WorkflowDeclaration.model_validate(given)
    except ValidationError:
        assert not holds
    else:
        assert holds
        assert found.authoritative is (intent == "authoritative")
        assert "retries" not in found.model_dump()
