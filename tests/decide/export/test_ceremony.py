"""What is settled before the principal is asked, and what comes back: neither is taken where no verifier would."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import emilia_verify
import pytest

from emitter.decide.ep_resolution import Assertion, ep_challenge, ep_context, ep_receipt, ep_resolution
from emitter.decide.resolution import selected
from emitter.errors import BadToken, InputError
from tests.decide.export.authenticator import Authenticator
from tests.decide.export.ceremonies import CEREMONY, HOLD, KEY, MOMENT, NOW, RELEASE, expected

AHEAD, BEHIND = timezone(timedelta(hours=9)), timezone(timedelta(hours=-9))
CEREMONIES: dict[str, tuple[dict[str, Any], str]] = {
    "no principal": ({"principal": ""}, "names its principal"),
    "no key": ({"principal_key_id": ""}, "names its principal"),
    "no initiator": ({"initiator": ""}, "names its principal"),
    "no nonce": ({"nonce": ""}, "names its principal"),
    "a principal that nobody can see": ({"principal": " "}, "names its principal"),
    "an initiator that nobody can see": ({"initiator": "\u200b"}, "names its principal"),
    "a nonce that is a number": ({"nonce": 5}, "names its principal"),
    "half a character": ({"nonce": "n\ud800"}, "names its principal"),
    "issued in words": ({"issued_at": "x"}, "know their time zone"),
    "issued on a day": ({"issued_at": NOW.date()}, "know their time zone"),
    "expires in words": ({"expires_at": "2026-11-20T12:10:00Z"}, "know their time zone"),
    "issued before the first year": ({"issued_at": datetime(1, 1, 1, tzinfo=AHEAD)}, "years 1 to 9999"),
    "expires after the last year": ({"expires_at": datetime(9999, 12, 31, 23, tzinfo=BEHIND)}, "years 1 to 9999"),
    "no actions": ({"actions": None}, "named by a digest"),
    "actions in words": ({"actions": ""}, "named by a digest"),
    "issued nowhere": ({"issued_at": datetime(2026, 11, 20, 12)}, "know their time zone"),  # noqa: DTZ001
    "expires nowhere": ({"expires_at": datetime(2026, 11, 20, 13)}, "know their time zone"),  # noqa: DTZ001
    "expired when issued": ({"expires_at": NOW}, "expires after"),
    "open for less than a millisecond": ({"expires_at": NOW + timedelta(microseconds=999)}, "expires after"),
    "an action in words": ({"actions": (RELEASE, "hold")}, "named by a digest"),
}


@pytest.mark.parametrize(("changes", "said"), CEREMONIES.values(), ids=CEREMONIES.keys())
def test_a_ceremony_that_no_verifier_would_take(changes: dict[str, Any], said: str) -> None:
    """It is refused before the principal is bothered."""
    with pytest.raises(InputError, match=said):
        replace(CEREMONY, **changes)


@pytest.mark.parametrize("actions", [(), (RELEASE,), (RELEASE, HOLD, None)], ids=len)
def test_every_option_has_its_action(actions: tuple[str | None, ...]) -> None:
    """One too few or too many would put an action to the wrong option."""
    with pytest.raises(InputError, match="one action for each option"):
        ep_context(selected(MOMENT, 0), MOMENT, ceremony=replace(CEREMONY, actions=actions))


def test_times_are_told_in_utc() -> None:
    """Whatever the zone, the instant is the same, to the millisecond."""
    tokyo = timezone(timedelta(hours=9))
    context = ep_context(
        selected(MOMENT, 0), MOMENT, ceremony=replace(CEREMONY, issued_at=datetime(2026, 11, 20, 9, 0, 1, 999, tokyo))
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
        pytest.param(lambda _: Assertion(b"", b"{}", b""), id="nothing"),
        pytest.param(lambda _: Assertion(b"", b"\xff", b""), id="no text"),
        pytest.param(lambda _: Assertion(b"", b"[]", b""), id="no object"),
        pytest.param(lambda asked: replace(KEY(asked), authenticator_data=b"\x05" * 36), id="too short"),
    ],
)
def test_an_assertion_that_is_no_answer(authenticator: Any) -> None:
    """What can be seen without the key is seen at once: the record would never verify."""
    with pytest.raises(BadToken):
        ep_resolution(selected(MOMENT, 0), MOMENT, ceremony=CEREMONY, authenticator=authenticator)


def test_the_steps_are_the_whole() -> None:
    """A page that asks now and is answered later gets the same record, one step at a time."""
    context = ep_context(selected(MOMENT, 0), MOMENT, ceremony=CEREMONY)
    assertion = KEY(ep_challenge(context))
    signed = ep_receipt(context, assertion)

    assert len(ep_challenge(context)) == 32
    assert emilia_verify.verify_resolution_receipt(signed, expected())["authorizes_action"]
    with pytest.raises(BadToken):
        ep_receipt(ep_context(selected(MOMENT, 1), MOMENT, ceremony=CEREMONY), assertion)
