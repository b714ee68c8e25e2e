"""``aiEnvelope.contractRefusal`` and ``.capBreached``: what a node may emit, and how much."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from emitter.host.capabilities import CapabilitySettings, build_capabilities
from tests.openwop.asking import UNIVERSAL, envelope, to_run, types

if TYPE_CHECKING:
    from tests.openwop.asking import Seam
FOO, BAR = "vendor.acme.draft", "vendor.acme.final"
every_universal = pytest.mark.parametrize("kind", UNIVERSAL)


def test_ai_envelope_contract_refusal__a_kind_outside_the_contract_is_gated(seam: Seam) -> None:
    """What would have been taken are the universal four and what the node declares."""
    reported = seam.accept(envelope(BAR), hostSupportedEnvelopes=[BAR, FOO], nodeAllowedKinds=[FOO])

    assert reported["status"] == "gated"
    assert set(reported["allowedKinds"]) >= {*UNIVERSAL, FOO}
    assert BAR not in reported["allowedKinds"]


@every_universal
def test_ai_envelope_contract_refusal__a_universal_kind_passes_every_contract(seam: Seam, kind: str) -> None:
    """Whatever the node declares."""
    assert seam.accept(envelope(kind), nodeAllowedKinds=[FOO])["status"] == "accepted"


def test_ai_envelope_contract_refusal__the_hosts_gate_comes_before_the_nodes(seam: Seam) -> None:
    """The node would have taken what the host does not know."""
    reported = seam.accept(
        envelope("vendor.acme.stranger"),
        hostSupportedEnvelopes=["vendor.acme.known"],
        nodeAllowedKinds=["vendor.acme.stranger"],
    )

    assert reported["status"] == "gated"
    assert "unknown_envelope_kind" in reported["reason"]


@pytest.mark.parametrize("mode", [{}, {"refusalMode": "fail-node"}], ids=["default", "fail-node"])
def test_ai_envelope_contract_refusal__fails_the_node_with_what_was_refused(seam: Seam, mode: dict[str, str]) -> None:
    """The error names the kind, and those that are taken."""
    to = {**to_run("refused"), **mode}
    seam.accept(envelope(BAR), hostSupportedEnvelopes=[BAR, FOO], nodeAllowedKinds=[FOO], projectTo=to)

    (failed,) = seam.events(to["runId"])
    error = failed["payload"]["error"]
    assert (failed["type"], error["code"]) == ("node.failed", "envelope_contract_violation")
    assert (error["details"]["nodeId"], error["details"]["refusedType"]) == (to["nodeId"], BAR)
    assert set(error["details"]["acceptedTypes"]) == {*UNIVERSAL, FOO}


def test_ai_envelope_contract_refusal__a_lenient_node_warns_and_goes_on(seam: Seam) -> None:
    """Nothing fails."""
    to = {**to_run("discarded"), "refusalMode": "discard-and-warn"}
    seam.accept(envelope(BAR), hostSupportedEnvelopes=[BAR], nodeAllowedKinds=[FOO], projectTo=to)

    (line,) = seam.events(to["runId"])
    assert (line["type"], line["payload"]["level"]) == ("log.appended", "warn")


def test_ai_envelope_contract_refusal__a_host_without_envelopes_refuses_before_all_else(seam: Seam) -> None:
    """The reason is that and nothing more; a host that has them again goes on to its gates."""
    stranger = {"hostSupportedEnvelopes": [FOO], "nodeAllowedKinds": [FOO]}
    seam.post("capability-toggle", {"name": "host.aiEnvelope.supported", "value": False})
    without = [seam.accept(envelope(kind), **stranger) for kind in (FOO, BAR, "error")]
    seam.post("capability-toggle", {"name": "host.aiEnvelope.supported", "value": True})

    assert [each["status"] for each in without] == ["invalid"] * 3
    assert {each["reason"] for each in without} == {"capability_required"}
    assert seam.accept(envelope(BAR), **stranger)["status"] == "gated"


CAPS: dict[str, tuple[str, str, int]] = {
    "envelopesPerTurn": ("error", "envelopes", 32),
    "clarificationRounds": ("clarification.request", "clarification", 5),
    "schemaRounds": ("schema.request", "schema", 3),
}
every_cap = pytest.mark.parametrize("limit", CAPS)


@every_cap
def test_ai_envelope_cap_breached__at_the_cap_it_is_breached(seam: Seam, limit: str) -> None:
    """As many as are allowed were counted before."""
    kind, told_as, cap = CAPS[limit]
    reported = seam.accept(envelope(kind), counters={limit: {"current": cap, "cap": cap}})

    assert (reported["status"], reported["capKind"]) == ("breached", told_as)
    assert str(cap) in reported["reason"]


@every_cap
def test_ai_envelope_cap_breached__the_reason_names_the_limit(seam: Seam, limit: str) -> None:
    """As the capability document names it."""
    kind, _, cap = CAPS[limit]

    assert limit in seam.accept(envelope(kind), counters={limit: {"current": cap, "cap": cap}})["reason"]


@every_cap
def test_ai_envelope_cap_breached__below_the_cap_it_is_accepted(seam: Seam, limit: str) -> None:
    """The last that is allowed is allowed."""
    kind, _, cap = CAPS[limit]

    assert seam.accept(envelope(kind), counters={limit: {"current": cap - 1, "cap": cap}})["status"] == "accepted"


@every_cap
def test_ai_envelope_cap_breached__is_reported_once_and_fails_the_node(seam: Seam, limit: str) -> None:
    """The breach with its limit and its node, then the failure; both of this envelope."""
    to = to_run("capped")
    kind, told_as, cap = CAPS[limit]
    given = envelope(kind)
    seam.accept(given, counters={limit: {"current": cap, "cap": cap}}, projectTo=to)

    breached, failed = seam.events(to["runId"])
    node = {} if told_as == "envelopes" else {"nodeId": "n"}
    assert breached["payload"] == {**node, "kind": told_as, "limit": cap, "observed": cap + 1}
    assert breached["nodeId"] == "n"
    assert (breached["type"], failed["type"]) == ("cap.breached", "node.failed")
    assert failed["payload"]["error"]["code"] == "cap_breached"
    assert {breached["causationId"], failed["causationId"]} == {given["correlationId"]}


@pytest.mark.parametrize("member", ["clarificationRounds", "schemaRounds", "envelopesPerTurn"])
def test_ai_envelope_cap_breached__the_limits_are_advertised(member: str) -> None:
    """Whole numbers, none below zero."""
    limit = build_capabilities(CapabilitySettings())["limits"][member]

    assert isinstance(limit, int)
    assert limit >= 0


def test_cap_breach__a_run_fails_before_a_node_beyond_its_limit(seam: Seam) -> None:
    """The breach is reported once, with its node and before the run's failure; no node beyond the limit begins."""
    made = seam.post("/v1/runs", {"workflowId": "conformance-cap-breach", "configurable": {"recursionLimit": 3}})
    path = f"/v1/runs/{made.body['runId']}"
    run, reported = seam.get(path).body, seam.get(f"{path}/events/poll", lastSequence="0", timeout="1").body["events"]
    (breach,) = [each for each in reported if each["type"] == "cap.breached"]

    assert made.status == 201
    assert (run["status"], run["error"]["code"]) == ("failed", "recursion_limit_exceeded")
    assert breach["payload"] == {"kind": "node-executions", "limit": 3, "observed": 4, "nodeId": "n4"}
    assert types(reported).count("node.started") == 3
    assert types(reported)[-2:] == ["cap.breached", "run.failed"]


def test_cap_breach__within_the_limit_the_run_completes(seam: Seam) -> None:
    """All six nodes are run where nothing bounds them."""
    made = seam.post("/v1/runs", {"workflowId": "conformance-cap-breach"})
    reported = seam.get(f"/v1/runs/{made.body['runId']}/events").body["events"]

    assert made.body["status"] == "completed"
    assert types(reported).count("node.started") == 6
