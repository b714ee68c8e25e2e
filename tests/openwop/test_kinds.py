"""``aiEnvelope.universalKinds`` and ``.schemaDrift``: the four that every host knows, and their versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter.host import Acceptor, EnvelopeContext, HostConfig
from emitter.host.capabilities import CapabilitySettings, build_capabilities
from tests.openwop.asking import UNIVERSAL, envelope, to_run, types

if TYPE_CHECKING:
    from tests.openwop.asking import Seam
every_universal = pytest.mark.parametrize("kind", UNIVERSAL)


@every_universal
def test_ai_envelope_universal_kinds__each_is_accepted(seam: Seam, kind: str) -> None:
    """With a payload that holds."""
    assert seam.accept(envelope(kind))["status"] == "accepted"


@every_universal
def test_ai_envelope_universal_kinds__each_is_advertised(kind: str) -> None:
    """A host that takes envelopes lists all four."""
    reported = build_capabilities(CapabilitySettings())

    assert kind in reported["supportedEnvelopes"]
    assert reported["schemaVersions"][kind] == 1


def test_ai_envelope_universal_kinds__missing_questions_are_invalid(seam: Seam) -> None:
    """The details are a list, and say where."""
    reported = seam.accept(envelope(payload={"contextType": "a-form"}))

    assert reported["status"] == "invalid"
    assert [(each["instancePath"], each["keyword"]) for each in reported["details"]] == [("/payload", "required")]
    assert "questions" in reported["details"][0]["message"]


def test_ai_envelope_universal_kinds__a_clarification_is_lifted_to_an_interrupt(seam: Seam) -> None:
    """One interrupt of kind ``clarification``, with the questions in it."""
    to, asked = to_run("clarified"), envelope()

    assert seam.accept(asked, projectTo=to)["status"] == "accepted"

    reported = seam.events(to["runId"])
    (interrupt,) = seam.events(to["runId"], type="interrupt.requested")
    assert types(reported) == ["clarification.requested", "interrupt.requested"]
    assert interrupt["payload"]["kind"] == "clarification"
    assert interrupt["payload"]["data"]["questions"] == asked["payload"]["questions"]
    assert reported[0]["payload"]["interruptId"] == interrupt["payload"]["interruptId"]


def test_ai_envelope_universal_kinds__an_error_is_logged_and_fails_no_node(seam: Seam) -> None:
    """One line of level ``error``; the turn has succeeded."""
    to = to_run("reported")

    assert seam.accept(envelope("error"), projectTo=to)["status"] == "accepted"

    (line,) = seam.events(to["runId"])
    assert (line["type"], line["payload"]["level"]) == ("log.appended", "error")
    assert seam.events(to["runId"], type="node.failed") == []


@pytest.mark.parametrize("kind", ["schema.request", "schema.response"])
def test_ai_envelope_universal_kinds__what_is_said_of_schemas_is_logged(seam: Seam, kind: str) -> None:
    """At level ``debug``, as the specification has it."""
    to = to_run("asked")
    seam.accept(envelope(kind), projectTo=to)

    (line,) = seam.events(to["runId"])
    assert (line["type"], line["payload"]["level"]) == ("log.appended", "debug")


@pytest.mark.parametrize(
    ("envelopes", "reported"),
    [(True, {"schemaResponseCounterPolicy": "counted"}), (False, None)],
    ids=["takes", "takes-none"],
)
def test_ai_envelope_universal_kinds__the_counter_policy_is_what_a_turn_does(envelopes: bool, reported: Any) -> None:
    """An acknowledgement is one of the turn's envelopes; a host that takes none says nothing of it."""
    turn = Acceptor().turn(EnvelopeContext("r", "n"))
    turn.accept(envelope("schema.response"))

    assert turn.context.counters.envelopes == 1
    assert build_capabilities(CapabilitySettings(HostConfig(accepts_envelopes=envelopes))).get("aiEnvelope") == reported


FLOOR = {"clarification.request": 1}


def test_ai_envelope_schema_drift__a_lower_version_is_accepted_and_marked(seam: Seam) -> None:
    """A host that warns goes on; its span and its log say so."""
    to, lower = to_run("drift"), envelope(schemaVersion=0)

    reported = seam.accept(lower, schemaVersionFloor=FLOOR, envelopeStrictness="warn", projectTo=to)

    (span,) = seam.spans(to["runId"])
    assert reported["status"] == "accepted"
    assert span["attributes"]["envelope_schema_version_drift"] is True
    assert span["attributes"]["envelope_schema_version_floor"] == 1
    assert span["attributes"]["envelope_schema_version"] == 0
    lines = seam.events(to["runId"], type="log.appended")
    assert [each["payload"]["message"] for each in lines] == ["envelope_schema_version_drift"]


def test_ai_envelope_schema_drift__an_absent_version_is_zero(seam: Seam) -> None:
    """So it is below what is advertised."""
    to, unversioned = to_run("drift"), envelope()
    del unversioned["schemaVersion"]

    assert seam.accept(unversioned, schemaVersionFloor=FLOOR, projectTo=to)["status"] == "accepted"
    assert seam.spans(to["runId"])[0]["attributes"]["envelope_schema_version_drift"] is True


def test_ai_envelope_schema_drift__the_advertised_version_is_none(seam: Seam) -> None:
    """What is as advertised has no mark."""
    to = to_run("drift")
    seam.accept(envelope(), schemaVersionFloor=FLOOR, projectTo=to)

    assert seam.spans(to["runId"])[0]["attributes"]["envelope_schema_version_drift"] is False
    assert seam.events(to["runId"], type="log.appended") == []


def test_ai_envelope_schema_drift__a_strict_host_refuses_a_lower_version(seam: Seam) -> None:
    """With the code that says so."""
    reported = seam.accept(envelope(schemaVersion=0), schemaVersionFloor=FLOOR, envelopeStrictness="strict")

    assert reported["status"] == "invalid"
    assert "unknown_schema_version" in reported["reason"]


@pytest.mark.parametrize("strictness", ["warn", "strict"])
@pytest.mark.parametrize("version", [5, 99])
def test_ai_envelope_schema_drift__a_higher_version_is_refused(seam: Seam, strictness: str, version: int) -> None:
    """By every host; the details name the member."""
    reported = seam.accept(envelope(schemaVersion=version), schemaVersionFloor=FLOOR, envelopeStrictness=strictness)

    assert reported["status"] == "invalid"
    assert "unknown_schema_version" in reported["reason"]
    assert [each["instancePath"] for each in reported["details"]] == ["/schemaVersion"]


FOO, BAR = "vendor.acme.draft", "vendor.acme.final"
