"""Two principals approve what needs four eyes; one alone refuses it, in any process and in any order."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority.signing import make_signer, make_verifier, new_key, public_jwk
from emitter.decisions import Selected, answer_in_words, open_dialogue, select_option
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision, approval_key
from emitter.decisions.principals import Principal
from emitter.errors import (
    AlreadyResolved,
    BadResolution,
    DecisionExpired,
    InputError,
    StoreAltered,
    UnsignedAnswer,
    WrongDigest,
)
from emitter.stores import MemoryStore, NewEntry
from tests.decisions.ledger.asking import START, Hand, Told, moment

if TYPE_CHECKING:
    from collections.abc import Callable

ASKED = moment(options=3)
DO, OTHER, NOTHING = (select_option(ASKED, each) for each in range(3))
ALICE, BOB, MALLORY = new_key(), new_key(), new_key()
RUN = "emitter.ledger"


def opened(ledger: Ledger, **changes: Any) -> PendingDecision:
    """Open a decision with two options that do something, and one that does nothing."""
    return ledger.open(ASKED, **{"decision_id": "d", "actions": ("a", "b", None), "four_eyes": True, **changes})


def test_the_second_principal_resolves(again: Callable[..., Ledger], reported: Told) -> None:
    """The first approval is on record and resolves nothing; each ledger sees it."""
    one, other = again(), again()
    pending = opened(one)
    first = one.approve("d", DO, principal="alice", channel="web")
    waiting = other.find("d"), [each.principal for each in other.first_approvals("d")]
    resolved = other.approve("d", DO, principal="bob")
    found = one.find("d")

    assert first == pending == waiting[0]
    assert waiting[1] == ["alice"]
    assert isinstance(resolved, ResolvedDecision)
    assert isinstance(found, ResolvedDecision)
    assert (resolved.action, resolved.principal, resolved.already_resolved) == ("a", "bob", False)
    assert found.first_approval is not None
    assert found.first_approval.principal == "alice"
    assert reported.messages() == ["decision.opened", "decision.approved", "decision.resolved"]


def test_one_principal_is_not_two(ledger: Ledger) -> None:
    """However often, and by whichever channel."""
    opened(ledger)
    for channel in ("web", "slack", "web"):
        assert isinstance(ledger.approve("d", DO, principal="alice", channel=channel), PendingDecision)
    with pytest.raises(BadResolution, match="Two principals"):
        ledger.resolve("d", DO, principal="bob")

    assert isinstance(ledger.find("d"), PendingDecision)


@pytest.mark.parametrize("other", ["Ada", "ADA", "ada ", " ada", "\uff41da"])
def test_one_name_written_otherwise_is_one_principal(ledger: Ledger, other: str) -> None:
    """Case, outer spaces and compatible characters make no second person."""
    opened(ledger)
    ledger.approve("d", DO, principal="ada")
    assert isinstance(ledger.approve("d", DO, principal=other), PendingDecision)
    assert isinstance(ledger.approve("d", DO, principal="adam"), ResolvedDecision)


HIDDEN = ["ada\u200b", "a\u00adda", "ada\ufe0f", "ada\u3164", "ada\u034f", "ada\u00a0", "ada\n", "\u202eada", "  "]


@pytest.mark.parametrize("other", HIDDEN, ids=ascii)
def test_a_name_with_invisible_characters_is_nobodys(ledger: Ledger, other: str) -> None:
    """It would make a second person of one; every method that takes a principal refuses it, as the pages do."""
    pending = opened(ledger)
    ledger.approve("d", DO, principal="ada")
    for record in (
        lambda: ledger.approve("d", DO, principal=other),
        lambda: ledger.resolve("d", NOTHING, principal=other),
        lambda: ledger.assign("d", "bob", principal=other),
        lambda: ledger.assign("d", other, principal="bob"),
        lambda: Principal(other),
    ):
        with pytest.raises(InputError, match="none of them invisible"):
            record()

    assert ledger.find("d") == pending


def test_different_options_are_no_agreement(ledger: Ledger) -> None:
    """Two approvals of different options resolve nothing; a third principal agrees with one of them."""
    opened(ledger)
    ledger.approve("d", DO, principal="alice")
    assert isinstance(ledger.approve("d", OTHER, principal="bob"), PendingDecision)
    resolved = ledger.approve("d", OTHER, principal="carol")

    assert isinstance(resolved, ResolvedDecision)
    assert (resolved.action, resolved.principal) == ("b", "carol")


REFUSALS = {
    "an option that does nothing": NOTHING,
    "own words": answer_in_words(ASKED, "Later."),
    "an objection": open_dialogue(ASKED, "Why?"),
}


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS.keys())
def test_any_of_them_refuses_alone(ledger: Ledger, refusal: Any) -> None:
    """Before or after the first approval; what comes after is too late."""
    opened(ledger)
    ledger.approve("d", DO, principal="alice")
    resolved = ledger.resolve("d", refusal, principal="bob")

    assert (resolved.resolution, resolved.principal, resolved.first_approval) == (refusal, "bob", None)
    with pytest.raises(AlreadyResolved):
        ledger.approve("d", DO, principal="carol")


def test_a_decision_without_actions_needs_two_for_every_option(ledger: Ledger) -> None:
    """There is no option that is known to do nothing."""
    opened(ledger, actions=())

    with pytest.raises(BadResolution, match="Two principals"):
        ledger.resolve("d", NOTHING, principal="alice")


MISUSED: dict[str, tuple[type[Exception], Callable[[Ledger], object]]] = {
    "nobody's name": (InputError, lambda ledger: ledger.approve("d", DO, principal="")),
    "an answer that needs one": (BadResolution, lambda ledger: ledger.approve("d", NOTHING, principal="alice")),
    "another envelope": (
        WrongDigest,
        lambda ledger: ledger.approve("d", replace(DO, digest=f"sha256:{'0' * 64}"), principal="alice"),
    ),
    "opened anew for one": (WrongDigest, lambda ledger: opened(ledger, four_eyes=False)),
}


@pytest.mark.parametrize(("error", "act"), MISUSED.values(), ids=MISUSED.keys())
def test_misuse_records_nothing(
    ledger: Ledger, reported: Told, error: type[Exception], act: Callable[[Ledger], object]
) -> None:
    """Each is a typed error."""
    opened(ledger)
    with pytest.raises(error):
        act(ledger)

    assert reported.messages() == ["decision.opened"]


def test_a_late_approval_is_no_approval(clock: Hand, ledger: Ledger) -> None:
    """Neither the first nor the second."""
    opened(ledger, expires_in=60)
    ledger.approve("d", DO, principal="alice")
    clock.now += 60
    for principal in ("alice", "bob"):
        with pytest.raises(DecisionExpired):
            ledger.approve("d", DO, principal=principal)


def test_many_at_once_resolve_once() -> None:
    """Of eight principals who approve at the same time one is the first and one the second."""
    store, results = MemoryStore(), list[PendingDecision | ResolvedDecision]()
    opened(Ledger(store))
    barrier = threading.Barrier(8)

    def approve(name: str) -> None:
        ledger = Ledger(store)
        barrier.wait(20)
        results.append(ledger.approve("d", DO, principal=name))

    threads = [threading.Thread(target=approve, args=(f"p{each}",)) for each in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    resolved = [each for each in results if isinstance(each, ResolvedDecision)]

    assert len(results) - len(resolved) == 1
    assert [each.already_resolved for each in resolved].count(False) == 1
    assert len({each.principal for each in resolved}) == 1


def test_both_approvals_are_signed() -> None:
    """Each by its principal's key; a ledger that verifies them finds the decision resolved."""
    store = MemoryStore()
    ledger = Ledger(store, check=make_verifier(public_jwk(ALICE), public_jwk(BOB)).verify_answer)
    opened(ledger)
    with pytest.raises(UnsignedAnswer):
        ledger.approve("d", DO, principal="alice")
    with pytest.raises(UnsignedAnswer):
        ledger.approve("d", DO, principal="alice", sign=make_signer(MALLORY))
    ledger.approve("d", DO, principal="alice", sign=make_signer(ALICE))
    resolved = ledger.approve("d", DO, principal="bob", sign=make_signer(BOB))

    assert isinstance(resolved, ResolvedDecision)
    assert ledger.find("d") == replace(resolved, already_resolved=True)


@pytest.mark.parametrize("checks", [True, False])
def test_one_key_is_not_two_principals(checks: bool) -> None:
    """Whatever names it signs, in a ledger that verifies and in one that only signs; the decision stays open."""
    store, check = MemoryStore(), make_verifier(public_jwk(ALICE), public_jwk(BOB)).verify_answer
    opened(Ledger(store, check=check))
    ledger = Ledger(store, check=check if checks else None)
    ledger.approve("d", DO, principal="alice", sign=make_signer(ALICE))
    with pytest.raises(UnsignedAnswer, match="one key"):
        ledger.approve("d", DO, principal="bob", sign=make_signer(ALICE))

    assert isinstance(ledger.approve("d", DO, principal="bob", sign=make_signer(BOB)), ResolvedDecision)


def test_one_key_that_wrote_two_names_past_the_library_is_found() -> None:
    """A ledger that verifies nothing writes them, and the one that verifies refuses both."""
    store = MemoryStore()
    opened(Ledger(store))
    for name in ("alice", "bob"):
        Ledger(store, sign=make_signer(ALICE)).approve("d", DO, principal=name)

    with pytest.raises(UnsignedAnswer, match="one key"):
        Ledger(store, check=make_verifier(public_jwk(ALICE), public_jwk(BOB)).verify_answer).find("d")


def test_one_key_that_signs_for_a_whole_service_is_enough() -> None:
    """Where a single key counts, the service that holds it vouches for the names."""
    ledger = Ledger(MemoryStore(), sign=make_signer(ALICE), check=make_verifier(public_jwk(ALICE)).verify_answer)
    opened(ledger)
    ledger.approve("d", DO, principal="alice")

    assert isinstance(ledger.approve("d", DO, principal="bob"), ResolvedDecision)


def changed(store: MemoryStore, key: str, **members: object) -> None:
    """Change a row of the store, past the library."""
    entry = store.find(RUN, key)
    assert entry is not None
    store.forget(RUN, key)
    store.get_or_create(RUN, key, lambda: NewEntry(replace(entry, outcome={**entry.outcome, **members})))


FORGERIES: dict[str, tuple[type[Exception], Callable[[MemoryStore, PendingDecision], object]]] = {
    "the first approval is gone": (
        StoreAltered,
        lambda store, pending: store.forget(RUN, approval_key(pending.reference, 0)),
    ),
    "the first is somebody else's": (
        UnsignedAnswer,
        lambda store, pending: changed(store, approval_key(pending.reference, 0), principal="carol"),
    ),
    "the first is of another option": (
        StoreAltered,
        lambda store, pending: changed(store, approval_key(pending.reference, 0), index=1),
    ),
    "the first is at another time": (
        UnsignedAnswer,
        lambda store, pending: changed(store, approval_key(pending.reference, 0), approvedAt=START + 1),
    ),
    "the second is somebody else's": (
        UnsignedAnswer,
        lambda store, pending: changed(store, f"closed:{pending.reference}", principal="carol"),
    ),
    "the second is the first's": (
        UnsignedAnswer,
        lambda store, pending: changed(store, f"closed:{pending.reference}", principal="alice"),
    ),
    "the second follows another approval": (
        UnsignedAnswer,
        lambda store, pending: changed(store, f"closed:{pending.reference}", firstApproval=f"sha256:{'0' * 64}"),
    ),
    "the second is no name": (
        StoreAltered,
        lambda store, pending: changed(store, f"closed:{pending.reference}", principal=1),
    ),
}


@pytest.mark.parametrize(("error", "forge"), FORGERIES.values(), ids=FORGERIES.keys())
def test_a_forged_approval_is_found(
    error: type[Exception], forge: Callable[[MemoryStore, PendingDecision], object]
) -> None:
    """Whatever is changed in the store after both approved."""
    store = MemoryStore()
    settings: dict[str, Any] = {
        "clock": Hand(),
        "check": make_verifier(public_jwk(ALICE), public_jwk(BOB)).verify_answer,
    }
    ledger = Ledger(store, **settings)
    pending = opened(ledger)
    ledger.approve("d", DO, principal="alice", sign=make_signer(ALICE))
    ledger.approve("d", DO, principal="bob", sign=make_signer(BOB))
    forge(store, pending)

    with pytest.raises(error):
        Ledger(store, **settings).find("d")


UNSIGNED: dict[str, dict[str, object]] = {
    "the first's name": {"principal": "alice"},
    "nobody's name": {"principal": ""},
    "another approval": {"firstApproval": f"sha256:{'0' * 64}"},
}


@pytest.mark.parametrize("members", UNSIGNED.values(), ids=UNSIGNED.keys())
def test_an_end_that_does_not_fit_is_found_without_signatures(members: dict[str, object]) -> None:
    """Two names and the approval before it are always compared."""
    store = MemoryStore()
    ledger = Ledger(store)
    pending = opened(ledger)
    ledger.approve("d", DO, principal="alice")
    ledger.approve("d", DO, principal="bob")
    changed(store, f"closed:{pending.reference}", **members)

    with pytest.raises(StoreAltered):
        Ledger(store).find("d")


def test_a_first_approval_is_no_answer() -> None:
    """Its signature does not fit a choice, so one approval cannot be written as the decision's end."""
    store = MemoryStore()
    ledger = Ledger(store, clock=Hand(), check=make_verifier(public_jwk(ALICE)).verify_answer)
    pending = opened(ledger)
    ledger.approve("d", DO, principal="alice", sign=make_signer(ALICE))
    (approval,) = ledger.first_approvals("d")
    one = Ledger(MemoryStore(), clock=Hand(), sign=lambda _: str(approval.signature))
    one.open(ASKED, decision_id="d", actions=pending.actions)
    one.resolve("d", Selected(DO.digest, 0), principal="alice")
    end = one.store.find(RUN, f"closed:{pending.reference}")
    assert end is not None
    store.get_or_create(RUN, f"closed:{pending.reference}", lambda: NewEntry(end))

    with pytest.raises(UnsignedAnswer):
        Ledger(store, clock=Hand(), check=make_verifier(public_jwk(ALICE)).verify_answer).find("d")
