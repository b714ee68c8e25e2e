"""Exports that EMILIA's own verifier takes: valid for what was decided, authority for an approval alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import emilia_verify
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.decisions.canonical_json import digest, digest_of
from emitter.decisions.ep_resolution import NO_ACTION_DIGEST, build_ep_context, build_ep_resolution
from emitter.decisions.resolution import (
    Dialogue,
    FreeText,
    Selected,
    Unresolved,
    UnresolvedReason,
    answer_in_words,
    open_dialogue,
    select_option,
)
from emitter.errors import BadResolution, HatchClosed, InputError, NoSuchOption, WrongDigest
from emitter.visible_text import is_blank
from tests.decisions.ep_resolution.authenticator import Authenticator
from tests.decisions.ep_resolution.ceremonies import CEREMONY, HOLD, KEY, MOMENT, RELEASE, expected, exported
from tests.decisions.resolution.moments import moment
from tests.work import examples

PINS = ("expectedSelectedOption", "expectedNonce", "expectedInitiator", "evaluationTime")


VERDICTS: dict[str, tuple[Any, str, bool, bool]] = {
    "a vote": (select_option(MOMENT, 0), "approved", True, False),
    "an amendment": (answer_in_words(MOMENT, "Release half of it."), "amended", False, True),
    "a veto": (open_dialogue(MOMENT, "Whose payment is it?"), "rejected", False, True),
    "a bare veto": (open_dialogue(MOMENT), "rejected", False, True),
}


@pytest.mark.parametrize(("resolution", "outcome", "authorizes", "requires"), VERDICTS.values(), ids=VERDICTS.keys())
def test_the_verifier_takes_it(resolution: Any, outcome: str, authorizes: bool, requires: bool) -> None:
    """Each of the three is valid evidence; only a vote authorizes, and the vetoes ask for a successor."""
    found = emilia_verify.verify_resolution_receipt(exported(resolution), expected())

    assert found["valid"], found
    assert found["outcome"] == outcome
    assert found["authorizes_action"] is authorizes
    assert found["requires_successor"] is requires


@pytest.mark.parametrize("pin", PINS)
def test_a_vote_authorizes_only_under_every_pin(pin: str) -> None:
    """Without a pin the record stays evidence, and is no authority."""
    pins = expected()
    del pins[pin]
    found = emilia_verify.verify_resolution_receipt(exported(select_option(MOMENT, 0)), pins)

    assert found["valid"]
    assert not found["authorizes_action"]


def test_a_vote_for_one_thing_authorizes_no_other() -> None:
    """The action is the chosen option's: a signature over Hold is none over Release, whichever option is pinned."""
    hold = exported(select_option(MOMENT, 1))

    assert emilia_verify.verify_resolution_receipt(hold, expected(HOLD, 1))["authorizes_action"]
    for option in (0, 1):
        found = emilia_verify.verify_resolution_receipt(hold, expected(RELEASE, option))
        assert (found["valid"], found["reason"]) == (False, "action_binding_mismatch")
    assert not emilia_verify.verify_resolution_receipt(hold, expected(HOLD, 0))["authorizes_action"]


def test_an_option_that_does_nothing_has_no_action() -> None:
    """A vote for it is named by the digest of null, which no action has."""
    idle = replace(CEREMONY, actions=(RELEASE, None))
    signed = build_ep_resolution(select_option(MOMENT, 1), MOMENT, ceremony=idle, authenticator=KEY)

    assert digest_of(None) == NO_ACTION_DIGEST
    assert signed["signoff"]["context"]["action_hash"] == NO_ACTION_DIGEST
    assert emilia_verify.verify_resolution_receipt(signed, expected(NO_ACTION_DIGEST, 1))["valid"]
    assert not emilia_verify.verify_resolution_receipt(signed, expected(RELEASE, 1))["valid"]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "another envelope": ({"bindingMoment": moment("Hold it.").to_json()}, "envelope_binding_mismatch"),
    "another nonce": ({"expectedNonce": "res_2"}, "nonce_binding_mismatch"),
    "another agent": ({"expectedInitiator": "spiffe://operator.example/agent/8"}, "initiator_binding_mismatch"),
    "too late": ({"evaluationTime": "2026-11-20T12:10:00.001Z"}, "resolution_outside_validity_window"),
    "too early": ({"evaluationTime": "2026-11-20T11:59:59.999Z"}, "resolution_outside_validity_window"),
    "another site": ({"allowedOrigins": ["https://other.example"]}, "webauthn_origin_not_allowed"),
    "another relying party": ({"rpId": "other.example"}, "webauthn_verification_failed"),
    "nobody's key": ({"principalKeys": {}}, "principal_key_not_pinned_for_role"),
    "another key": (
        {
            "principalKeys": {
                CEREMONY.principal_key_id: {
                    "principal": CEREMONY.principal,
                    "public_key": Authenticator().public_key,
                }
            }
        },
        "webauthn_verification_failed",
    ),
}


@pytest.mark.parametrize(("changes", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_the_verifier_refuses_it_elsewhere(changes: dict[str, Any], reason: str) -> None:
    """The record holds for one envelope, ceremony, agent, time, site and key."""
    found = emilia_verify.verify_resolution_receipt(exported(select_option(MOMENT, 0)), expected(**changes))

    assert (found["valid"], found["reason"]) == (False, reason)


def test_the_context_holds_no_words() -> None:
    """What the principal wrote is there as a digest, EMILIA's own; an objection that is none is left out."""
    answer, objection = " Release half of it.\n", "Whose payment is it?"
    contexts = [
        build_ep_context(each, MOMENT, ceremony=CEREMONY)
        for each in (answer_in_words(MOMENT, answer), open_dialogue(MOMENT, objection), open_dialogue(MOMENT))
    ]

    assert [each["resolution"] for each in contexts] == [
        {"outcome": "amended", "response_hash": emilia_verify.compute_resolution_response_hash(answer)},
        {"outcome": "rejected", "objection_hash": emilia_verify.compute_resolution_response_hash(objection)},
        {"outcome": "rejected"},
    ]
    assert {each["action_hash"] for each in contexts} == {RELEASE}
    assert not any(words.strip() in str(contexts) for words in (answer, objection))


def test_a_successor_is_named() -> None:
    """The envelope that came of an amendment or a rejection can be reported, and the record still verifies."""
    later = moment("Release half of the payment.")
    for resolution in (answer_in_words(MOMENT, "Half."), open_dialogue(MOMENT)):
        signed = exported(resolution, successor=later)
        found = emilia_verify.verify_resolution_receipt(signed, expected())

        assert signed["signoff"]["context"]["resolution"]["successor_envelope_hash"] == digest(later)
        assert found["valid"]
        assert found["requires_successor"]


def test_a_successor_that_is_none() -> None:
    """A vote has no successor, and no envelope is its own."""
    with pytest.raises(InputError, match="after an option was selected"):
        exported(select_option(MOMENT, 0), successor=moment("Hold."))
    with pytest.raises(InputError, match="it must be a BindingMoment"):
        exported(open_dialogue(MOMENT), successor=MOMENT.to_json())
    with pytest.raises(InputError, match="is the envelope itself"):
        exported(open_dialogue(MOMENT), successor=moment())


@pytest.mark.parametrize("reason", UnresolvedReason)
def test_what_is_unresolved_is_not_recorded(reason: UnresolvedReason) -> None:
    """Silence is no consent and no refusal: there is nothing to sign, and nobody is asked to."""
    untouched = Authenticator()
    with pytest.raises(BadResolution, match="unresolved"):
        build_ep_resolution(Unresolved(digest(MOMENT), reason), MOMENT, ceremony=CEREMONY, authenticator=untouched)

    assert untouched.challenges == []


CLOSED = moment(hatches=(False, False))
UNFIT: dict[str, tuple[Any, Any, type[Exception]]] = {
    "another envelope": (select_option(moment("Hold."), 0), MOMENT, WrongDigest),
    "no such option": (Selected(digest(MOMENT), 2), MOMENT, NoSuchOption),
    "a closed free text": (FreeText(digest(CLOSED), "Half."), CLOSED, HatchClosed),
    "a closed dialogue": (Dialogue(digest(CLOSED), ""), CLOSED, HatchClosed),
    "no words": (FreeText(digest(MOMENT), " "), MOMENT, BadResolution),
}


@pytest.mark.parametrize(("resolution", "asked", "error"), UNFIT.values(), ids=UNFIT.keys())
def test_what_the_envelope_does_not_take_is_not_recorded(resolution: Any, asked: Any, error: type[Exception]) -> None:
    """A record is made only of what the agent could go on with."""
    untouched = Authenticator()
    with pytest.raises(error):
        build_ep_resolution(resolution, asked, ceremony=CEREMONY, authenticator=untouched)

    assert untouched.challenges == []


def _says(text: str) -> bool:
    return not is_blank(text)


@settings(max_examples=examples(60))
@given(st.text().filter(_says), st.text().filter(_says), st.integers(0, 1))
def test_whatever_was_said_verifies(words: str, nonce: str, index: int) -> None:
    """Any words, any nonce, any option: the record is valid, and its nonce the ceremony's."""
    ceremony = replace(CEREMONY, nonce=nonce)
    for resolution in (select_option(MOMENT, index), answer_in_words(MOMENT, words), open_dialogue(MOMENT, words)):
        signed = build_ep_resolution(resolution, MOMENT, ceremony=ceremony, authenticator=KEY)
        action = signed["signoff"]["context"]["action_hash"]
        found = emilia_verify.verify_resolution_receipt(signed, expected(action, index, expectedNonce=nonce))

        assert found["valid"]
        assert found["authorizes_action"] is isinstance(resolution, Selected)
