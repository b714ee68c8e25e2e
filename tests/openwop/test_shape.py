"""The envelope's shape, and what becomes of the first envelopes that the suite sends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter.host import AIEnvelope, HttpError
from tests.models.openwop import errors, needs_schemas
from tests.openwop.asking import META, envelope

if TYPE_CHECKING:
    from tests.openwop.asking import Seam

POSITIVE: dict[str, Any] = {
    "type": "clarification.request",
    "schemaVersion": 1,
    "envelopeId": "env-test-positive-1",
    "correlationId": "run-1:node-2:turn-0:abc123",
    "payload": {"questions": [{"id": "q1", "question": "Which region?"}]},
    "meta": {**META, "contentTrust": "trusted"},
}
WITHOUT_META = {name: each for name, each in POSITIVE.items() if name != "meta"}
WITH_MORE = {**POSITIVE, "surplus": "x"}


@needs_schemas
def test_ai_envelope_shape__the_positive_fixture_holds_for_both_schemas() -> None:
    """OpenWOP's schema and the library's type agree, in both directions."""
    read = AIEnvelope.model_validate(POSITIVE, by_name=False)

    assert errors(POSITIVE, "ai-envelope.schema.json") == []
    assert read.to_json() == POSITIVE


@needs_schemas
@pytest.mark.parametrize("broken", [WITHOUT_META, WITH_MORE], ids=["no-meta", "one-member-more"])
def test_ai_envelope_shape__both_schemas_refuse_what_is_closed_or_required(broken: dict[str, Any]) -> None:
    """What OpenWOP's schema refuses the library refuses."""
    assert errors(broken, "ai-envelope.schema.json")
    with pytest.raises(ValueError, match=r"meta|surplus"):
        AIEnvelope.model_validate(broken, by_name=False)


def test_ai_envelope_shape__a_whole_envelope_is_accepted(seam: Seam) -> None:
    """Its status is ``accepted``."""
    assert seam.accept(POSITIVE)["status"] == "accepted"


@pytest.mark.parametrize("broken", [WITHOUT_META, WITH_MORE], ids=["no-meta", "one-member-more"])
def test_ai_envelope_shape__a_broken_envelope_is_invalid_with_details(seam: Seam, broken: dict[str, Any]) -> None:
    """The details are a list."""
    told = seam.accept(broken)

    assert told["status"] == "invalid"
    assert isinstance(told["details"], list)
    assert told["details"]


def test_ai_envelope_shape__a_kind_that_is_not_advertised_is_gated(seam: Seam) -> None:
    """The answer lists what would have been taken."""
    stranger = envelope("vendor.acme.stranger")

    told = seam.accept(stranger, hostSupportedEnvelopes=["vendor.acme.plan"])

    assert told["status"] == "gated"
    assert "vendor.acme.plan" in told["allowedKinds"]
    assert told["gate"]["acceptedTypes"] == told["allowedKinds"]


def test_ai_envelope_shape__an_envelope_at_the_cap_is_breached(seam: Seam) -> None:
    """Of 32 allowed the turn has 32."""
    told = seam.accept(envelope("error"), counters={"envelopesPerTurn": {"current": 32, "cap": 32}})

    assert (told["status"], told["capKind"]) == ("breached", "envelopes")


def test_ai_envelope_shape__the_runs_trust_holds_where_the_envelope_says_nothing(seam: Seam) -> None:
    """An untrusted run makes the envelope untrusted."""
    told = seam.accept(envelope(), runTrustBoundary="untrusted")

    assert told["normalizedMeta"]["contentTrust"] == "untrusted"


def test_ai_envelope_shape__the_envelopes_own_trust_wins(seam: Seam) -> None:
    """The run's is what holds where nothing is said."""
    told = seam.accept(envelope(meta={**META, "contentTrust": "trusted"}), runTrustBoundary="untrusted")

    assert told["normalizedMeta"]["contentTrust"] == "trusted"


def test_ai_envelope_shape__a_time_that_is_none_is_invalid(seam: Seam) -> None:
    """The reason names the form that is wanted."""
    told = seam.accept(envelope("error", meta={**META, "ts": "tomorrow"}))

    assert told["status"] == "invalid"
    assert "ISO 8601" in told["reason"]


def test_ai_envelope_shape__a_universal_kind_passes_every_node(seam: Seam) -> None:
    """Though the node does not name it."""
    assert seam.accept(envelope(), nodeAllowedKinds=["vendor.acme.plan"])["status"] == "accepted"


@needs_schemas
def test_spec_corpus_validity__outcomes_never_stand_in_for_an_error_of_http(seam: Seam) -> None:
    """What HTTP refuses is the error document; what a model reports as an error is an accepted envelope."""
    refused = seam.post("/v1/host/sample/envelope/accept", {})
    reported = seam.accept(envelope("error"))

    assert refused.status == 400
    assert errors(refused.body, "error-envelope.schema.json") == []
    assert reported["status"] == "accepted"
    assert errors(reported, "error-envelope.schema.json")


@needs_schemas
@pytest.mark.parametrize(
    ("body", "holds"),
    [
        (HttpError("busy", "Come again.", {"again": True}).to_json(), True),
        ({"error": {"code": "busy", "again": True}}, False),
        ({"error": "x", "message": "y", "again": True}, False),
        ({"error": "x"}, False),
    ],
    ids=["flat", "nested", "one-member-more", "no-message"],
)
def test_error_envelope_canonical_shape__is_flat_and_closed(body: Any, holds: bool) -> None:
    """The library's is OpenWOP's; the nested form is not."""
    assert (errors(body, "error-envelope.schema.json") == []) is holds


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/host/sample/envelope/accept", {"envelope": {}, "schemaVersionFloor": {"error": 7}}, 400),
        ("/v1/host/sample/envelope/accept", {"envelope": {}, "runTrustBoundary": "perhaps"}, 400),
        ("/v1/host/sample/envelope/accept", {"envelope": {}, "counters": {"schemaRounds": 3}}, 400),
        ("/v1/host/sample/envelope/accept", [], 400),
        ("/v1/runs", {"workflowId": "nobody-knows-it"}, 404),
        ("emit-provider-usage", {"runId": "r", "payload": {}}, 400),
        ("nowhere", {}, 404),
    ],
    ids=["unsayable", "no-trust", "no-counter", "no-object", "no-workflow", "no-payload", "no-path"],
)
@needs_schemas
def test_error_envelope_canonical_shape__of_every_refusal_of_http(
    seam: Seam, path: str, body: Any, status: int
) -> None:
    """Whatever is refused over HTTP is refused in that form."""
    answer = seam.post(path, body)

    assert answer.status == status
    assert errors(answer.body, "error-envelope.schema.json") == []
