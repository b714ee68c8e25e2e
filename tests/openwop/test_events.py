"""What the suite asks of single events, of interrupts, and of what a host says of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter.host import Acceptor, EnvelopeContext, HostConfig, build_follow_up
from tests.models.openwop import errors, needs_schemas
from tests.openwop.asking import UNIVERSAL, envelope, to_run, types
from tests.openwop.seams import RELIABILITY
from tests.openwop.serving import advertised

if TYPE_CHECKING:
    from tests.openwop.asking import Answer, Seam
REFUSAL = {"nodeId": "scribe", "provider": "anthropic", "model": "claude-sonnet-5-5"}
PAYLOADS: dict[str, dict[str, Any]] = {
    "envelope.retry.attempted": {"nodeId": "scribe", "attempt": 2, "reason": "parse-error"},
    "envelope.retry.exhausted": {"nodeId": "scribe", "totalAttempts": 3, "finalReason": "schema-violation"},
    "envelope.refusal": {**REFUSAL, "refusalText": "Not this one.", "safetyCategory": "harmful-content"},
    "envelope.truncated": {**REFUSAL, "stopReason": "max_tokens", "partialPayloadAvailable": True},
    "envelope.nlToFormat.engaged": {"nodeId": "scribe", "originalEnvelopeType": "x", "fallbackCalls": 1},
    "envelope.recovery.applied": {"nodeId": "scribe", "path": "markdown-fence", "byteOffset": 42},
}


def emitted(seam: Seam, kind: str, payload: dict[str, Any]) -> Answer:
    """Ask the host to tell an event."""
    body = {"runId": to_run("emitted")["runId"], "type": kind, "payload": payload, "nodeId": "scribe"}
    return seam.post("emit-envelope-reliability", body)


@needs_schemas
@pytest.mark.parametrize("kind", RELIABILITY)
def test_envelope_refusal_shape__every_reliability_event_can_be_reported(seam: Seam, kind: str) -> None:
    """As its schema wants it."""
    answer = emitted(seam, kind, PAYLOADS[kind])

    event = answer.body["event"]
    head, *tail = kind.split(".")
    name = head + "".join(each[0].upper() + each[1:] for each in tail)
    assert answer.status == 200
    assert (event["type"], event["payload"]["nodeId"]) == (kind, "scribe")
    assert errors(event["payload"], f"run-event-payloads.schema.json#/$defs/{name}") == []


def test_envelope_refusal_shape__a_refusals_words_are_not_recorded(seam: Seam) -> None:
    """The library's record has no place for them; a reader must do without."""
    event = emitted(seam, "envelope.refusal", PAYLOADS["envelope.refusal"]).body["event"]

    assert event["payload"] == {**REFUSAL, "safetyCategory": "harmful-content"}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"refusalText": "No: secret-canary-77 is in it."}, "envelope_reliability_credential_leak"),
        ({"credentialRef": "key-77"}, "envelope_reliability_credential_leak"),
        ({"provider": None}, "invalid_argument"),
    ],
    ids=["canary", "credential", "no-provider"],
)
def test_envelope_refusal_shape__what_must_not_be_reported_is_refused(seam: Seam, change: Any, code: str) -> None:
    """Before it stands in any log."""
    payload = {name: each for name, each in {**REFUSAL, **change}.items() if each is not None}
    answer = emitted(seam, "envelope.refusal", payload)

    assert (answer.status, answer.body["error"]) == (400, code)


def test_envelope_refusal_shape__the_two_that_must_be_reported_are_advertised() -> None:
    """Of the six, those two always."""
    reported = advertised()["envelopes"]["reliability"]

    assert reported["supported"] is True
    assert {"envelope.refusal", "envelope.retry.exhausted"} <= set(reported["events"]) <= set(RELIABILITY)


@pytest.mark.parametrize("path", ["direct", "jsonrepair", "markdown-fence", "brace-walker", "custom"])
def test_envelope_recovery_applied__every_path_of_the_vocabulary_is_taken(seam: Seam, path: str) -> None:
    """The library's own paths are these five."""
    answer = emitted(seam, "envelope.recovery.applied", {"nodeId": "scribe", "path": path})

    assert (answer.status, answer.body["event"]["payload"]["path"]) == (200, path)


@pytest.mark.parametrize("name", ["recoveredContent", "sourceSnippet"])
def test_envelope_recovery_applied__no_content_is_taken(seam: Seam, name: str) -> None:
    """The event has two members, and there is no third."""
    answer = emitted(seam, "envelope.recovery.applied", {"nodeId": "scribe", "path": "custom", name: "text"})

    assert (answer.status, answer.body["error"]) == (400, "envelope_recovery_content_leak")


USAGE = {"provider": "anthropic", "model": "claude-sonnet-5-5", "inputTokens": 200, "outputTokens": 80}


@needs_schemas
def test_provider_usage__one_event_with_what_the_call_cost(seam: Seam) -> None:
    """Caused by the envelope, reported the node."""
    to = to_run("usage")
    body = {"payload": {**USAGE, "totalTokens": 280, "nodeId": "node-1"}, "correlationId": f"{to['runId']}:node-1:0:pu"}

    assert seam.post("emit-provider-usage", {**to, **body, "nodeId": "node-1"}).status == 200

    (event,) = seam.events(to["runId"], type="provider.usage")
    assert {name: event["payload"][name] for name in USAGE} == USAGE
    assert (event["causationId"], event["nodeId"]) == (body["correlationId"], "node-1")


@pytest.mark.parametrize(
    "change", [{"nodeId": "secret:tenant:acme:v1"}, {"credentialRef": "x"}], ids=["value", "member"]
)
def test_provider_usage__a_credential_is_refused(seam: Seam, change: dict[str, str]) -> None:
    """With its own code; nothing is reported."""
    to = to_run("usage")
    answer = seam.post("emit-provider-usage", {**to, "payload": {**USAGE, **change}})

    assert (answer.status, answer.body["error"]) == (400, "provider_usage_credential_leak")
    assert seam.events(to["runId"]) == []


@pytest.mark.parametrize("missing", USAGE)
def test_provider_usage__what_is_required_is_required(seam: Seam, missing: str) -> None:
    """Each of the four."""
    payload = {name: each for name, each in USAGE.items() if name != missing}

    assert seam.post("emit-provider-usage", {"runId": "r", "payload": payload}).status == 400


def test_provider_usage__is_advertised_without_prices() -> None:
    """Tokens are reported, and no cost."""
    assert advertised()["providerUsage"] == {"supported": True}


ANSWERED = {"questions": [{"id": "q1", "question": "Which shade?", "schema": {"type": "string"}}]}


def test_interrupt_clarification__a_persons_answer_completes_the_run(seam: Seam) -> None:
    """The run waits at the node that asks, and goes on with an answer to its question."""
    created = seam.post("/v1/runs", {"workflowId": "conformance-clarification"})
    path = f"/v1/runs/{created.body['runId']}"
    waiting, early = seam.get(path).body, types(seam.get(f"{path}/events").body["events"])
    wrong = seam.post(f"{path}/interrupts/ask", {"resumeValue": {"answers": {}}})
    elsewhere = seam.post(f"{path}/interrupts/other", {"resumeValue": {"answers": {"q1": "blue"}}})
    resolved = seam.post(f"{path}/interrupts/ask", {"resumeValue": {"answers": {"q1": "blue"}}})
    again = seam.post(f"{path}/interrupts/ask", {"resumeValue": {"answers": {"q1": "blue"}}})

    assert (waiting["status"], waiting["currentNodeId"]) == ("waiting-input", "ask")
    assert early == ["run.started", "clarification.requested", "interrupt.requested"]
    assert [each.status for each in (created, wrong, elsewhere, resolved, again)] == [201, 409, 409, 200, 409]
    assert seam.get(path).body["status"] == "completed"
    assert types(seam.get(f"{path}/events").body["events"])[-2:] == ["node.completed", "run.completed"]


def test_interrupt_clarification__the_node_waits_with_the_questions(seam: Seam) -> None:
    """They are in the interrupt as the model asked them, with the schema of an answer."""
    to = to_run("waits")
    seam.accept(envelope(payload={**ANSWERED, "contextType": "a-form"}), projectTo=to)

    (interrupt,) = seam.events(to["runId"], type="interrupt.requested")
    assert interrupt["payload"]["kind"] == "clarification"
    assert interrupt["payload"]["data"]["questions"] == ANSWERED["questions"]
    assert interrupt["nodeId"] == to["nodeId"]


def test_interrupt_clarification__is_openwops_interrupt_payload(seam: Seam) -> None:
    """``key`` makes it known again after a restart, and the hint to a surface is the clarification's own."""
    to = to_run("waits")
    seam.accept(envelope(payload={**ANSWERED, "contextType": "a-form"}), projectTo=to)

    (interrupt,) = seam.events(to["runId"], type="interrupt.requested")
    assert interrupt["payload"]["key"]
    assert interrupt["payload"]["data"]["contextType"] == "a-form"


def test_interrupt_clarification__a_host_that_can_ask_nobody_refuses() -> None:
    """With the reason that the specification gives."""
    host = Acceptor(HostConfig(allows_clarifications=False))
    found = host.accept(envelope(payload=ANSWERED), EnvelopeContext("r", "n"))

    assert found.status == "invalid"
    assert found.outcome.to_json()["reason"] == "not-applicable"
    assert [each.type for each in found.events] == ["node.failed"]


def test_interrupt_clarification__is_no_matter_of_the_next_turn() -> None:
    """A person answers it; to the model there is nothing to say yet. A schema that was asked for is said."""
    host, where = Acceptor(), EnvelopeContext("r", "n")
    wanted = {"envelopeType": "error"}

    assert build_follow_up(host.accept(envelope(payload=ANSWERED), where)) is None
    assert '"code"' in (build_follow_up(host.accept(envelope("schema.request", payload=wanted), where)) or "")


@needs_schemas
def test_spec_corpus_validity__the_capability_document_holds(seam: Seam) -> None:
    """What is served is what is advertised."""
    reported = advertised()

    assert errors(reported, "capabilities.schema.json") == []
    assert set(UNIVERSAL) <= set(reported["supportedEnvelopes"])
    assert seam.get(f"runs/{to_run('probe')['runId']}/events").body == {"events": []}
