"""Runs of the mock-model fixtures through the host's seams."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.models.openwop import errors, needs_schemas
from tests.openwop.asking import types
from tests.openwop.programs import (
    COERCED,
    COMPLETED,
    CUT,
    ENGAGED,
    FENCED,
    HALF,
    INVALID,
    NODE,
    PROSE,
    REFUSED,
    RETRY,
    ROWS,
    VALID,
    of,
    ran,
)
from tests.openwop.running import needs_fixtures
from tests.openwop.serving import POLICY, advertised

if TYPE_CHECKING:
    from tests.openwop.asking import Seam
pytestmark = needs_fixtures


def test_envelope_retry_attempted__once_before_the_second_call(seam: Seam) -> None:
    """With its number and a reason of the vocabulary; no word of the answer."""
    stands, reported = ran(seam, "retry-attempted", [INVALID, VALID])

    (retried,) = of(reported, RETRY)
    assert stands["status"] == "completed"
    assert (retried["attempt"], retried["reason"]) == (2, "parse-error")
    assert "quillious" not in json.dumps(reported)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [('{"valid":"yes"}', "type-mismatch"), ("{}", "schema-violation"), ("nothing", "parse-error")],
    ids=["type", "missing", "no-json"],
)
def test_envelope_retry_attempted__the_reason_is_of_the_vocabulary(seam: Seam, answer: str, reason: str) -> None:
    """The nearest that there is for what was wrong."""
    _, reported = ran(seam, "retry-attempted", [{"content": answer}, VALID])

    assert [each["reason"] for each in of(reported, RETRY)] == [reason]


def test_envelope_retry_exhausted__once_and_before_the_failure(seam: Seam) -> None:
    """After all attempts; the code is that of a document that does not hold."""
    stands, reported = ran(seam, "retry-exhausted", [INVALID] * 4)

    (exhausted,), (failed,) = of(reported, "envelope.retry.exhausted"), of(reported, "node.failed")
    kinds = types(reported)
    assert failed["error"]["details"] == {"nodeId": NODE, "totalAttempts": exhausted["totalAttempts"]}
    assert (stands["status"], stands["error"]["code"]) == ("failed", "envelope_invalid")
    assert exhausted["totalAttempts"] >= 1
    assert exhausted["finalReason"] == "parse-error"
    assert kinds.index("envelope.retry.exhausted") < kinds.index("cap.breached") < kinds.index("node.failed")
    assert "quillious" not in json.dumps([stands, reported])


def test_envelope_truncated__once_with_what_is_known_of_it(seam: Seam) -> None:
    """The stop's word, and whether there is a part; the next call has more room, and completes."""
    stands, reported = ran(seam, "truncated", [CUT, VALID])

    (cut,) = of(reported, "envelope.truncated")
    budget = seam.get("mock-ai/last-dispatch-budget", nodeId=NODE).body["maxTokens"]
    assert stands["status"] == "completed"
    assert (cut["stopReason"], cut["partialPayloadAvailable"], cut["nodeId"]) == ("max_tokens", True, NODE)
    assert cut["model"] == "mock-mini"
    assert budget > 50


def test_envelope_truncated__names_the_hosts_own_provider(seam: Seam) -> None:
    """The suite wants ``mock``, which is how the fixture names it."""
    _, reported = ran(seam, "truncated", [CUT, VALID])

    assert of(reported, "envelope.truncated")[0]["provider"] == "mock"


def test_envelope_truncation_cap_exhaustion__ends_with_its_own_code(seam: Seam) -> None:
    """No more calls than attempts, one exhaustion, one breach; both before the failure."""
    stands, reported = ran(seam, "truncation-cap-exhaustion", [HALF] * 16)

    (exhausted,) = of(reported, "envelope.retry.exhausted")
    (breached,), (failed,) = of(reported, "cap.breached"), of(reported, "node.failed")
    kinds, cuts = types(reported), of(reported, "envelope.truncated")
    budgets = [each["maxTokens"] for each in seam.get("mock-ai/dispatch-budgets", nodeId=NODE).body["attempts"]]
    assert stands["error"]["code"] == "envelope_truncation_unrecoverable"
    assert failed["error"]["details"] == {"nodeId": NODE, "totalAttempts": 3}
    assert (exhausted["finalReason"], exhausted["totalAttempts"], breached["kind"]) == ("truncation", 3, "schema")
    assert 0 < len(cuts) <= POLICY.max_attempts
    assert budgets == [50, 100, 200]
    assert kinds.index("envelope.retry.exhausted") < kinds.index("node.failed")


def test_envelope_completion_distinguishes_truncation__of_a_cut_answer(seam: Seam) -> None:
    """It is reported as cut, retried as cut, with a larger budget."""
    _, reported = ran(seam, "truncated", [HALF, VALID])

    assert len(of(reported, "envelope.truncated")) == 1
    assert [each["reason"] for each in of(reported, RETRY)] == ["truncation"]
    assert seam.get("mock-ai/last-dispatch-budget", nodeId=NODE).body["maxTokens"] > 50


def test_envelope_completion_distinguishes_truncation__of_a_broken_one(seam: Seam) -> None:
    """It is not reported as cut, and has the same budget again."""
    _, reported = ran(seam, "retry-attempted", [INVALID, VALID])

    budgets = [each["maxTokens"] for each in seam.get("mock-ai/dispatch-budgets", nodeId=NODE).body["attempts"]]
    assert of(reported, "envelope.truncated") == []
    assert {each["reason"] for each in of(reported, RETRY)} <= {"schema-violation", "parse-error"}
    assert budgets[0] == budgets[1] < 20_000


def test_envelope_completion_distinguishes_truncation__a_cut_answer_that_holds_is_cut(seam: Seam) -> None:
    """The stop comes first: it is not parsed into success, however whole it looks."""
    _, reported = ran(seam, "truncated", [{"stopReason": "max_tokens", "content": '{"valid":true}'}, VALID])

    assert len(of(reported, "envelope.truncated")) == 1
    assert len(of(reported, "provider.usage")) == 2


def test_envelope_completion_distinguishes_truncation__is_advertised_with_its_multiplier() -> None:
    """Between 1 and 8."""
    reported = advertised()["envelopes"]["reliability"]["completion"]

    assert reported["distinguishesTruncation"] is True
    assert 1 <= reported["truncationBudgetMultiplier"] <= 8


def test_envelope_refusal_shape__a_refusal_is_reported_once_and_never_retried(seam: Seam) -> None:
    """With its own code; nowhere is what the model said."""
    stands, reported = ran(seam, "refusal", [REFUSED, VALID])

    assert len(of(reported, "envelope.refusal")) == 1
    assert of(reported, RETRY) == []
    assert stands["error"]["code"] == "envelope_refusal"
    assert "quillious" not in json.dumps([stands, reported])


def test_envelope_recovery_applied__a_fence_is_no_reason_to_ask_again(seam: Seam) -> None:
    """Told once, by its path; what was in it reaches ``node.completed``."""
    stands, reported = ran(seam, "recovery-applied", [FENCED])

    (recovered,) = of(reported, "envelope.recovery.applied")
    assert stands["status"] == "completed"
    assert (recovered["path"], recovered["byteOffset"]) == ("markdown-fence", 8)
    assert set(recovered) == {"nodeId", "path", "byteOffset"}
    assert of(reported, RETRY) == []
    assert '"ok"' in json.dumps(of(reported, COMPLETED))


def test_envelope_nl_to_format_engaged__once_after_the_attempts(seam: Seam) -> None:
    """With the kind that was sought and how many calls; what they came to reaches ``node.completed``."""
    stands, reported = ran(seam, "nl-to-format-engaged", [*PROSE, COERCED])

    (engaged,) = of(reported, ENGAGED)
    assert stands["status"] == "completed"
    assert engaged["originalEnvelopeType"]
    assert engaged["fallbackCalls"] >= 1
    assert "coerced-ok" in json.dumps(of(reported, COMPLETED))
    assert len(of(reported, "provider.usage")) == 4


@pytest.mark.parametrize(("first", "second"), [(VALID, REFUSED), (REFUSED, VALID)], ids=["refused", "refused-before"])
def test_replay_divergence_at_refusal__a_flip_fails_the_replay(seam: Seam, first: Any, second: Any) -> None:
    """It is reported with both kinds, and the run ends with its code: nothing is put in the place of the other."""
    source, _ = ran(seam, "refusal", [first])
    seam.post("mock-ai/program", {"nodeId": NODE, "program": [second]})

    forked = seam.post(f"/v1/runs/{source['runId']}:fork", {"fromSeq": 0, "mode": "replay"})

    replay = seam.get(f"/v1/runs/{forked.body['runId']}").body
    reported = seam.get(f"/v1/runs/{forked.body['runId']}/events").body["events"]
    (flipped,) = of(reported, "replay.divergedAtRefusal")
    assert forked.status == 201
    assert (replay["status"], replay["error"]["code"]) == ("failed", "replay_diverged_at_refusal")
    assert (flipped["sourceRunId"], flipped["nodeId"]) == (source["runId"], NODE)
    assert flipped["originalEnvelopeKind"] == ("valid" if first is VALID else "refusal")
    assert flipped["replayEnvelopeKind"] == ("refusal" if first is VALID else "valid")
    assert types(reported)[-2:] == ["node.failed", "run.failed"]


@pytest.mark.parametrize("name", ROWS)
def test_replay_divergence_at_refusal__the_same_answers_diverge_nowhere(seam: Seam, name: str) -> None:
    """A replay of every fixture tells what its run reported."""
    program = ROWS[name].program
    source, _ = ran(seam, name, program)
    seam.post("mock-ai/program", {"nodeId": NODE, "program": program})

    forked = seam.post(f"/v1/runs/{source['runId']}:fork", {"mode": "replay"}).body

    reported = seam.get(f"/v1/runs/{forked['runId']}/events").body["events"]
    assert forked["status"] == source["status"]
    assert [each for each in types(reported) if each.startswith("replay.")] == []


def test_provider_usage__each_call_costs_once_and_before_the_node_is_done(seam: Seam) -> None:
    """One event a call, with whole numbers."""
    _, reported = ran(seam, "nl-to-format-engaged", [*PROSE, COERCED])

    kinds, costs = types(reported), of(reported, "provider.usage")
    calls = [each for each in of(reported, "log.appended") if each["level"] == "debug"]
    assert len(costs) == len(calls) == 4
    assert all(isinstance(each["inputTokens"], int) and each["inputTokens"] > 0 for each in costs)
    assert max(index for index, kind in enumerate(kinds) if kind == "provider.usage") < kinds.index(COMPLETED)


def test_provider_usage__what_the_model_wrote_is_what_is_reported(seam: Seam) -> None:
    """The count that the program bills."""
    _, reported = ran(seam, "retry-attempted", [{**INVALID, "outputTokens": 41}, {**VALID, "outputTokens": 7}])

    assert [each["outputTokens"] for each in of(reported, "provider.usage")] == [41, 7]


@needs_schemas
def test_model_capability_insufficient__a_run_is_refused_before_it_asks(seam: Seam) -> None:
    """The cause before its effect, the code that says so, and nothing of an emission."""
    created = seam.post("/v1/runs", {"workflowId": "conformance-model-capability-insufficient"}).body

    stands = seam.get(f"/v1/runs/{created['runId']}").body
    reported = seam.get(f"/v1/runs/{created['runId']}/events").body["events"]
    assert (stands["status"], stands["error"]["code"]) == ("failed", "capability_not_provided")
    assert types(reported) == ["run.started", "model.capability.insufficient", "node.failed", "run.failed"]
    assert reported[1]["payload"]["missingCapabilities"] == ["nonexistent-capability-9b3f"]
    assert errors(reported[1]["payload"], "run-event-payloads.schema.json#/$defs/modelCapabilityInsufficient") == []


@pytest.mark.parametrize(
    ("name", "program", "node"),
    [
        ("truncated", [CUT, VALID], "truncated-structured-call"),
        ("retry-attempted", [INVALID, VALID], "retry-attempted-structured-call"),
        ("truncated", [CUT, VALID], NODE),
    ],
)
def test_envelope_truncated__a_fixture_has_the_node_that_it_was_programmed_by(
    seam: Seam, name: str, program: list[Any], node: str
) -> None:
    """Newer releases of the suite give each fixture a node of its own; its events and budgets are that node's."""
    seam.post("mock-ai/program", {"nodeId": node, "program": program})
    created = seam.post("/v1/runs", {"workflowId": f"conformance-envelope-{name}"})
    reported = seam.get(f"/v1/runs/{created.body['runId']}/events").body["events"]
    budgets = seam.get("mock-ai/dispatch-budgets", nodeId=node).body["attempts"]

    assert created.body["status"] == "completed"
    assert {each["payload"]["nodeId"] for each in reported if each["type"].startswith("envelope.")} == {node}
    assert len(budgets) == 2
    assert (types(reported)[0], types(reported)[-1]) == ("run.started", "run.completed")


def test_envelope_retry_exhausted__a_failed_run_says_so(seam: Seam) -> None:
    """The run's failure is the last that is reported, with the node's code."""
    _, reported = ran(seam, "retry-exhausted", [INVALID] * 4)

    assert types(reported)[-2:] == ["node.failed", "run.failed"]
    assert reported[-1]["payload"]["error"]["code"] == "envelope_invalid"
