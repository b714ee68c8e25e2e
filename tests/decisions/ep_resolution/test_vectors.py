"""EP-RESOLUTION-v1's own vectors: the verifier we are held to, and our records beside the suite's."""

from __future__ import annotations

import base64
import json
from datetime import datetime
from typing import Any

import emilia_verify
import pytest

from emitter.decisions.envelope_parsing import parse_moment
from emitter.decisions.ep_resolution import (
    Ceremony,
    WebAuthnAssertion,
    build_ep_context,
    build_ep_receipt,
    compute_ep_challenge,
)
from emitter.decisions.resolution import answer_in_words, open_dialogue, select_option
from emitter.errors import BadToken
from emitter.models import BindingMoment
from tests.decisions.canonical_json.vectors import Vector, cases, vectors

RESOLUTION = "emilia_resolution.v1.json"
ALL = vectors(RESOLUTION)
PINS = {
    "bindingMoment": "binding_moment",
    "expectedActionHash": "expected_action_hash",
    "expectedSelectedOption": "expected_selected_option",
    "expectedNonce": "expected_nonce",
    "expectedInitiator": "expected_initiator",
    "evaluationTime": "evaluation_time",
    "rpId": "rp_id",
    "allowedOrigins": "allowed_origins",
    "principalKeys": "principal_keys",
}


def receipt(vector: Vector) -> dict[str, Any]:
    """Return the vector's record, which may be shown as evidence or as authority."""
    return vector.get("resolution_receipt", vector.get("resolution_authorization", {}))


def signed(vector: Vector) -> dict[str, Any]:
    """Return what the vector's principal signed."""
    return receipt(vector).get("signoff", {}).get("context", {})


def assertion(vector: Vector) -> WebAuthnAssertion:
    """Return the vector's signature."""
    webauthn = receipt(vector)["signoff"]["webauthn"]
    return WebAuthnAssertion(
        *(
            base64.urlsafe_b64decode(webauthn[name] + "==")
            for name in ("authenticator_data", "client_data_json", "signature")
        )
    )


def known(outcome: str) -> list[Vector]:
    """Return the vectors with that outcome whose record is sound in itself."""
    return [each for each in ALL if each["id"] == f"accept_{outcome}"]


@pytest.mark.parametrize("vector", cases(ALL, RESOLUTION))
def test_the_verifier_says_what_the_suite_says(vector: Vector) -> None:
    """All of the suite passes, so that what the verifier says of our records counts."""
    pins = {pin: vector[name] for pin, name in PINS.items() if name in vector}
    found = emilia_verify.verify_resolution_receipt(receipt(vector), pins)
    said = found["authorizes_action"] if "resolution_authorization" in vector else found["valid"]

    assert said is vector["expect"]["valid"]


def ceremony(vector: Vector) -> Ceremony:
    """Return the vector's ceremony, as ours."""
    context = signed(vector)
    return Ceremony(
        principal=context["principal"],
        principal_key_id=context["principal_key_id"],
        initiator=context["initiator"],
        nonce=context["nonce"],
        issued_at=datetime.fromisoformat(context["issued_at"]),
        expires_at=datetime.fromisoformat(context["expires_at"]),
        actions=(context["action_hash"], None),
    )


@pytest.mark.parametrize("vector", cases(known("approved"), RESOLUTION))
def test_an_approval_is_the_suites_to_the_letter(vector: Vector) -> None:
    """The same vote in the same ceremony gives the same context, challenge and record."""
    moment = BindingMoment.model_validate(vector["binding_moment"])
    context = build_ep_context(select_option(moment, 0), moment, ceremony=ceremony(vector))

    assert context == signed(vector)
    assert build_ep_receipt(context, assertion(vector)) == receipt(vector)


@pytest.mark.parametrize("vector", cases([*known("amended"), *known("rejected")], RESOLUTION))
def test_a_veto_is_the_suites_but_for_the_words(vector: Vector) -> None:
    """The suite does not tell what its principals wrote: all but the two digests is the same."""
    moment = parse_moment(vector["binding_moment"])
    assert isinstance(moment, BindingMoment)
    outcome = signed(vector)["resolution"]["outcome"]
    resolution = answer_in_words(moment, "x") if outcome == "amended" else open_dialogue(moment, "x")
    context = build_ep_context(resolution, moment, ceremony=ceremony(vector))

    assert {**context, "resolution": {}} == {**signed(vector), "resolution": {}}
    assert context["resolution"].keys() == signed(vector)["resolution"].keys() - {"successor_envelope_hash"}
    assert context["resolution"]["outcome"] == outcome


SOUND = [each for each in ALL if each["expect"]["valid"] or "resolution_authorization" in each]


@pytest.mark.parametrize("vector", cases(SOUND, RESOLUTION))
def test_the_challenge_is_the_one_that_was_signed(vector: Vector) -> None:
    """What the suite's authenticators signed is what we would have shown them."""
    found = assertion(vector)

    assert (
        base64.urlsafe_b64encode(compute_ep_challenge(signed(vector))).decode().rstrip("=")
        == (json.loads(found.client_data_json)["challenge"])
    )
    assert build_ep_receipt(signed(vector), found) == receipt(vector)


@pytest.mark.parametrize("vector", cases([each for each in ALL if each["id"] == "reject_outcome_relabel"], RESOLUTION))
def test_a_relabelled_outcome_is_no_answer(vector: Vector) -> None:
    """A decline that was made an approval afterwards was never signed."""
    with pytest.raises(BadToken):
        build_ep_receipt(signed(vector), assertion(vector))
