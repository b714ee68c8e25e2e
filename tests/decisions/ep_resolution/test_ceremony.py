"""What is settled before the principal is asked, and what comes back: neither is taken where no verifier would."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import emilia_verify
import pytest

from emitter.decisions.ep_resolution import (
    WebAuthnAssertion,
    build_ep_context,
    build_ep_receipt,
    build_ep_resolution,
    compute_ep_challenge,
)
from emitter.decisions.resolution import select_option
from emitter.errors import BadToken, InputError
from tests.decisions.ep_resolution.authenticator import Authenticator
from tests.decisions.ep_resolution.ceremonies import CEREMONY, HOLD, KEY, MOMENT, NOW, RELEASE, expected

AHEAD, BEHIND = timezone(timedelta(hours=9)), timezone(timedelta(hours=-9))
CEREMONIES: dict[str, tuple[dict[str, Any], str]] = {
    "no principal": ({"principal": ""}, "strings with visible text"),
    "no key": ({"principal_key_id": ""}, "strings with visible text"),
    "no initiator": ({"initiator": ""}, "strings with visible text"),
    "no nonce": ({"nonce": ""}, "strings with visible text"),
    "a principal that nobody can see": ({"principal": " "}, "strings with visible text"),
    "an initiator that nobody can see": ({"initiator": "\u200b"}, "strings with visible text"),
    "a nonce that is a number": ({"nonce": 5}, "strings with visible text"),
    "half a character": ({"nonce": "n\ud800"}, "strings with visible text"),
    "issued in words": ({"issued_at": "x"}, "must have a time zone"),
    "issued on a day": ({"issued_at": NOW.date()}, "must have a time zone"),
    "expires in words": ({"expires_at": "2026-11-20T12:10:00Z"}, "must have a time zone"),
    "issued before the first year": ({"issued_at": datetime(1, 1, 1, tzinfo=AHEAD)}, "years 1 to 9999"),
    "expires after the last year": ({"expires_at": datetime(9999, 12, 31, 23, tzinfo=BEHIND)}, "years 1 to 9999"),
    "no actions": ({"actions": None}, "must be a digest"),
    "actions in words": ({"actions": ""}, "must be a digest"),
    "issued nowhere": ({"issued_at": datetime(2026, 11, 20, 12)}, "must have a time zone"),  # noqa: DTZ001
    "expires nowhere": ({"expires_at": datetime(2026, 11, 20, 13)}, "must have a time zone"),  # noqa: DTZ001
    "expired when issued": ({"expires_at": NOW}, "later than issued_at"),
    "open for less than a millisecond": ({"expires_at": NOW + timedelta(microseconds=999)}, "later than issued_at"),
    "an action in words": ({"actions": (RELEASE, "hold")}, "must be a digest"),
}


@pytest.mark.parametrize(("changes", "said"), CEREMONIES.values(), ids=CEREMONIES.keys())
def test_a_ceremony_that_no_verifier_would_take(changes: dict[str, Any], said: str) -> None:
    """It is refused before the principal is bothered."""
    with pytest.raises(InputError, match=said):
        replace(CEREMONY, **changes)


@pytest.mark.parametrize("actions", [(), (RELEASE,), (RELEASE, HOLD, None)], ids=len)
def test_every_option_has_its_action(actions: tuple[str | None, ...]) -> None:
    """One too few or too many would put an action to the wrong option."""
    with pytest.raises(InputError, match=r"entries for \d options"):
        build_ep_context(select_option(MOMENT, 0), MOMENT, ceremony=replace(CEREMONY, actions=actions))


def test_times_are_reported_in_utc() -> None:
    """Whatever the zone, the instant is the same, to the millisecond."""
    tokyo = timezone(timedelta(hours=9))
    context = build_ep_context(
        select_option(MOMENT, 0),
        MOMENT,
        ceremony=replace(CEREMONY, issued_at=datetime(2026, 11, 20, 9, 0, 1, 999, tokyo)),
    )

    assert context["issued_at"] == "2026-11-20T00:00:01.000Z"
    assert context["expires_at"] == "2026-11-20T12:10:00.000Z"


@pytest.mark.parametrize(
    "authenticator",
    [
        pytest.param(Authenticator(flags=0x01), id="not verified"),
        pytest.param(Authenticator(flags=0x04), id="not present"),
        pytest.param(Authenticator(kind="webauthn.create"), id="another kind"),
        pytest.param(lambda _: KEY(b"another challenge"), id="another challenge"),
        pytest.param(lambda _: WebAuthnAssertion(b"", b"{}", b""), id="nothing"),
        pytest.param(lambda _: WebAuthnAssertion(b"", b"\xff", b""), id="no text"),
        pytest.param(lambda _: WebAuthnAssertion(b"", b"[]", b""), id="no object"),
        pytest.param(lambda asked: replace(KEY(asked), authenticator_data=b"\x05" * 36), id="too short"),
    ],
)
def test_an_assertion_that_is_no_answer(authenticator: Any) -> None:
    """What can be seen without the key is seen at once: the record would never verify."""
    with pytest.raises(BadToken):
        build_ep_resolution(select_option(MOMENT, 0), MOMENT, ceremony=CEREMONY, authenticator=authenticator)


def test_the_steps_are_the_whole() -> None:
    """A page that asks now and is answered later gets the same record, one step at a time."""
    context = build_ep_context(select_option(MOMENT, 0), MOMENT, ceremony=CEREMONY)
    assertion = KEY(compute_ep_challenge(context))
    signed = build_ep_receipt(context, assertion)

    assert len(compute_ep_challenge(context)) == 32
    assert emilia_verify.verify_resolution_receipt(signed, expected())["authorizes_action"]
    with pytest.raises(BadToken):
        build_ep_receipt(build_ep_context(select_option(MOMENT, 1), MOMENT, ceremony=CEREMONY), assertion)
