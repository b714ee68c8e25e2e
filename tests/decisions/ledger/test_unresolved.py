"""That nobody decided is reported, decides nothing, and is no consent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter.decisions import Unresolved, UnresolvedReason, digest, select_option
from emitter.errors import AlreadyResolved, BadResolution, InputError
from tests.decisions.ledger.asking import START, Hand, Told, moment

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.decisions.ledger import Ledger


ASKED = moment()
NAMED = digest(ASKED)


def test_a_decision_whose_time_is_over_is_no_longer_listed(
    again: Callable[..., Ledger], clock: Hand, reported: Told
) -> None:
    """And that nobody decided it is reported once, by whoever asks first; those without a time stay."""
    ledger = again()
    late, stays = ledger.open(ASKED, expires_in=60), ledger.open(ASKED)
    assert (late.is_expired(START + 59), late.is_expired(START + 60), stays.is_expired(START * 2)) == (
        False,
        True,
        False,
    )
    clock.now += 60
    assert again().pending() == ledger.pending() == (stays,)
    (line,) = reported.lines("decision.unresolved")
    assert (line["reason"], line["expired"]) == ("timeout", True)
    assert reported.events[-1].causation_id == late.reference


def test_that_nobody_decided_is_no_consent(again: Callable[..., Ledger], reported: Told) -> None:
    """It is reported, the decision stays open, and a later resolution is taken."""
    pending = again().open(ASKED, decision_id="d")
    for reason in UnresolvedReason:
        assert again().record_unresolved("d", reason, channel="mcp") == Unresolved(NAMED, reason)
    assert again().find("d") == pending
    assert again().pending() == (pending,)
    assert [(each["reason"], each["channel"]) for each in reported.lines("decision.unresolved")] == [
        (each.value, "mcp") for each in UnresolvedReason
    ]
    assert not again().resolve("d", select_option(ASKED, 0)).already_resolved


def test_that_nobody_decided_is_reported_once_a_reason_and_channel(ledger: Ledger, reported: Told) -> None:
    """A call that is repeated tells nothing more; by another channel it is something else."""
    ledger.open(ASKED, decision_id="d")
    for channel in ("mcp", "mcp", "web", ""):
        ledger.record_unresolved("d", UnresolvedReason.CANCELLED, channel=channel)
    assert [each["channel"] for each in reported.lines("decision.unresolved")] == ["mcp", "web", ""]


def test_that_nobody_decided_is_not_said_of_what_was_decided(ledger: Ledger, reported: Told) -> None:
    """A surface that gives up after another one was answered learns that."""
    ledger.open(ASKED, decision_id="d")
    ledger.resolve("d", select_option(ASKED, 0))
    with pytest.raises(AlreadyResolved):
        ledger.record_unresolved("d", UnresolvedReason.CANCELLED)
    assert reported.messages() == ["decision.opened", "decision.resolved"]


def test_after_its_time_a_decision_timed_out(ledger: Ledger, clock: Hand, reported: Told) -> None:
    """Whatever else is said of it then."""
    ledger.open(ASKED, decision_id="d", expires_in=1)
    clock.now += 1
    assert ledger.record_unresolved("d", UnresolvedReason.CANCELLED) == Unresolved(NAMED, UnresolvedReason.TIMEOUT)
    assert [each["reason"] for each in reported.lines("decision.unresolved")] == ["timeout"]


@pytest.mark.parametrize("reason", ["", "yes", None, 0])
def test_what_is_no_reason(ledger: Ledger, reason: Any) -> None:
    """Nothing is recorded."""
    ledger.open(ASKED, decision_id="d")
    with pytest.raises(BadResolution, match="declined"):
        ledger.record_unresolved("d", reason)
    assert ledger.record_unresolved("d", "declined").reason is UnresolvedReason.DECLINED  # type: ignore[arg-type]


@pytest.mark.parametrize("channel", [None, "c" * 129, 7])
def test_what_is_no_channel(ledger: Ledger, channel: Any) -> None:
    """It is a short text."""
    ledger.open(ASKED, decision_id="d")
    with pytest.raises(InputError):
        ledger.resolve("d", select_option(ASKED, 0), channel=channel)
    with pytest.raises(InputError):
        ledger.record_unresolved("d", UnresolvedReason.DROPPED, channel=channel)
