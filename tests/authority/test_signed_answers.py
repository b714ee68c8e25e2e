"""Where answers are checked, an unsigned one authorizes nothing, and the receipt says whose answer an act is."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority, StopRequest
from emitter.authority.audit import report_chain
from emitter.authority.chain import compute_genesis_hash, make_line
from emitter.authority.records import Confirm
from emitter.authority.signing import make_signer, make_verifier, new_key, public_jwk, save_key
from emitter.cli import main
from emitter.decisions import Selected, answer_in_words, ledger_entries, open_dialogue, select_option
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision
from emitter.errors import InputError, NotConsent, StoreAltered, Tampered, UnsignedAnswer
from emitter.stores import Entry, MemoryStore, NewEntry, SqliteStore
from tests.authority.execution.making import approved, asked, granted, work
from tests.authority.guard.parts import MOM, Post, approve, resolved, waiting
from tests.decisions.ledger.asking import START, Hand, moment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from emitter.stores import Store

ALICE, BOB, AGENT = new_key(), new_key(), new_key()
RUN = "emitter.ledger"
NOTHING = f"sha256:{'0' * 64}"
"""A digest of nothing that there is."""


def forge(store: Store, pending: PendingDecision, **more: Any) -> None:
    """Insert the row that a choice of the first option leaves, past the library."""
    entry = ledger_entries.make_resolved_entry(Selected(pending.digest, 0), START, "")
    forged = replace(entry, outcome={**entry.outcome, **more})
    assert store.get_or_create(RUN, f"closed:{pending.reference}", lambda: NewEntry(forged)).created


def signature(pending: PendingDecision, key: Any, **other: Any) -> str:
    """Return the signature of the first option's choice, by a key, or of another answer."""
    entry = ledger_entries.make_resolved_entry(
        Selected(pending.digest, other.pop("index", 0)), other.pop("at", START), ""
    )
    return str(ledger_entries.sign_entry(entry, replace(pending, **other), make_signer(key)).outcome["signature"])


def pending_of(authority: Authority, decision_id: str) -> PendingDecision:
    """Return a decision that nobody has answered."""
    found = authority.ledger.find(decision_id)
    assert isinstance(found, PendingDecision)
    return found


def test_without_keys_a_forged_row_is_an_answer(any_store: Store) -> None:
    """Whoever can write into the store can give any answer: the documentation says so."""
    clock, post = Hand(), Post()
    authority = Authority(any_store, clock=clock)
    guard = authority.guard(post.send_email, workflow_id="w")
    pending = pending_of(authority, waiting(guard))
    forge(any_store, pending)

    assert guard.call("c1", MOM) == 1
    records: list[Any] = [each["record"] for each in authority.lines("w")]
    assert "signature" not in records[0]["granted_by"]


FORGED: dict[str, Callable[[PendingDecision], dict[str, Any]]] = {
    "without a signature": lambda _: {},
    "with none that is one": lambda _: {"signature": "x..y"},
    "with a number for one": lambda _: {"signature": 1},
    "signed by the agent": lambda pending: {"signature": signature(pending, AGENT)},
    "signed for another decision": lambda pending: {"signature": signature(pending, ALICE, decision_id="other")},
    "signed for another option": lambda pending: {"signature": signature(pending, ALICE, index=1)},
    "signed for another action": lambda pending: {"signature": signature(pending, ALICE, actions=(NOTHING, None))},
    "signed for another envelope": lambda pending: {
        "signature": signature(pending, ALICE, digest=f"sha256:{'0' * 64}")
    },
    "signed for another time": lambda pending: {"signature": signature(pending, ALICE, at=START - 5)},
    "of another time than was signed": lambda pending: {
        "signature": signature(pending, ALICE),
        "resolvedAt": START + 5,
    },
    "of another channel than was signed": lambda pending: {"signature": signature(pending, ALICE), "channel": "page"},
}
KEYS: dict[str, dict[str, Any]] = {
    "principals": {"principals": [public_jwk(ALICE), public_jwk(BOB)]},
    "principals, and a signed chain": {
        "principals": [public_jwk(ALICE)],
        "sign": make_signer(AGENT),
        "check": make_verifier(public_jwk(AGENT)),
    },
}


@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("forgery", FORGED)
def test_a_forged_answer_authorizes_nothing(forgery: str, keys: str) -> None:
    """Neither a guarded call nor a confirm, nor does the ledger hand it to anybody."""
    clock, post, store = Hand(), Post(), MemoryStore()
    authority = Authority(store, clock=clock, **KEYS[keys])
    guard = authority.guard(post.send_email, workflow_id="w")
    pending = pending_of(authority, waiting(guard))
    forge(store, pending, **FORGED[forgery](pending))

    for _ in range(2):
        with pytest.raises(UnsignedAnswer):
            guard.call("c1", MOM)
    with pytest.raises(UnsignedAnswer):
        authority.ledger.find(pending.decision_id)
    assert post.sent == []
    assert authority.workflows() == ()


@pytest.mark.parametrize("keys", [*KEYS, "a signed chain alone"])
def test_a_forged_row_authorizes_nothing_in_any_store(any_store: Store, keys: str) -> None:
    """A chain that is signed and checked takes only answers that are signed, too."""
    settings = KEYS.get(keys, {"sign": make_signer(AGENT), "check": make_verifier(public_jwk(AGENT))})
    clock, post = Hand(), Post()
    guard = Authority(any_store, clock=clock, **settings).guard(post.send_email)
    pending = pending_of(Authority(any_store, clock=clock), waiting(guard))
    forge(any_store, pending)

    with pytest.raises(UnsignedAnswer):
        guard.call("c1", MOM)
    assert post.sent == []


def test_a_signed_answer_authorizes_and_tells_whose_it_is(any_store: Store) -> None:
    """In another process, by one of the principals; the confirm has the signature, and the chain is read again."""
    clock, post = Hand(), Post()
    keys = {"principals": [public_jwk(ALICE), public_jwk(BOB)]}
    guard = Authority(any_store, clock=clock, **keys).guard(post.send_email, workflow_id="w")
    decision_id = waiting(guard)
    ledger = Ledger(any_store, clock=clock, sign=make_signer(BOB))
    done = ledger.resolve(decision_id, approve(pending_of(Authority(any_store), decision_id)))
    assert done.signature is not None

    assert guard.call("c1", MOM) == 1
    again = Authority(any_store, clock=clock, **keys)
    assert again.guard(post.send_email, workflow_id="w").call("c1", MOM) == 1
    found = report_chain(again.lines("w"), check_answer=make_verifier(public_jwk(ALICE), public_jwk(BOB)).verify_answer)
    assert list(found.answered_by.values()) == [BOB.thumbprint()]
    with pytest.raises(Tampered, match="has no valid answer"):
        report_chain(again.lines("w"), check_answer=make_verifier(public_jwk(ALICE)).verify_answer)


def test_a_signed_chain_signs_the_answers_that_it_is_handed() -> None:
    """By ``ask=`` and by its own ledger, so that only what comes from elsewhere has to be signed elsewhere."""
    settings = {"sign": make_signer(AGENT), "check": make_verifier(public_jwk(AGENT))}
    authority, post = Authority(**settings), Post()
    guard = authority.guard(post.send_email, workflow_id="w")
    resolved(authority, waiting(guard))

    assert guard.call("c1", MOM) == 1
    assert authority.guard(post.send_email, ask=approve, workflow_id="w")(MOM) == 2
    found = report_chain(authority.lines("w"), settings["check"], check_answer=settings["check"].verify_answer)
    assert set(found.answered_by.values()) == {AGENT.thumbprint()}


def test_an_answer_in_this_process_needs_a_signature_too() -> None:
    """Where principals are named the agent cannot answer for them; the decision stays open."""
    authority, post = Authority(sign=make_signer(AGENT), principals=[public_jwk(ALICE)]), Post()
    guard = authority.guard(post.send_email, ask=approve)

    with pytest.raises(UnsignedAnswer):
        guard.call("c1", MOM)
    (pending,) = authority.ledger.pending()
    assert post.sent == []

    store = authority._context.journal._store
    assert isinstance(
        Ledger(store, sign=make_signer(ALICE)).resolve(pending.decision_id, approve(pending)), ResolvedDecision
    )
    assert guard.call("c1", MOM) == 1


def test_whoever_is_asked_may_return_what_a_signing_ledger_resolved() -> None:
    """As an application does that has the principal's key."""
    store, post = MemoryStore(), Post()
    ledger = Ledger(store, sign=make_signer(ALICE), check=make_verifier(public_jwk(ALICE)).verify_answer)

    def ask(pending: PendingDecision) -> ResolvedDecision:
        return ledger.resolve(pending.decision_id, approve(pending))

    authority = Authority(store, principals=[public_jwk(ALICE)])
    assert authority.guard(post.send_email, ask=ask)(MOM) == 1
    given = Authority(store, ledger=ledger, principals=[public_jwk(ALICE)])
    assert given.guard(post.send_email, ask=approve)(MOM) == 2


def test_a_ledger_that_would_record_any_answer_is_refused() -> None:
    """It would end the question with an answer that does not count, and the principal could not answer any more."""
    store = MemoryStore()
    with pytest.raises(InputError, match="ledger= does not verify answers"):
        Authority(store, ledger=Ledger(store), principals=[public_jwk(ALICE)])
    with pytest.raises(InputError, match="ledger= does not verify answers"):
        Authority(store, ledger=Ledger(store), sign=make_signer(ALICE), check=make_verifier(public_jwk(ALICE)))


def test_the_answers_of_another_ledger_are_checked_all_the_same() -> None:
    """They are held to the principals by whoever grants authority by them."""
    store = MemoryStore()
    authority = Authority(store, principals=[public_jwk(ALICE)])
    decision = approved(Authority(store), request := asked())

    with pytest.raises(UnsignedAnswer):
        authority.confirm(decision, request)
    assert authority.workflows() == ()


def _confirmed(authority: Authority, **changes: Any) -> list[Any]:
    """Return a chain with a CONFIRM that somebody wrote there, with hashes that hold."""
    made = granted(authority)
    forged = Confirm.from_members(**{**{name: getattr(made, name) for name in Confirm.model_fields}, **changes})
    return [make_line(0, made.timestamp, compute_genesis_hash("w"), forged)[0]]


def test_a_forged_confirm_authorizes_nothing(any_store: Store) -> None:
    """Written into the chain itself, with hashes that hold."""
    clock = Hand()
    (forged,) = _confirmed(Authority(clock=clock))
    Authority(any_store, clock=clock).stop(StopRequest("other"))
    any_store.get_or_create("emitter.authority:w", "0", lambda: NewEntry(Entry("CONFIRM", forged, {})))
    confirm_id = forged["record"]["confirm_id"]
    any_store.get_or_create(
        "emitter.authority", f"confirm:{confirm_id}", lambda: NewEntry(Entry("once", {"value": "w"}, {}))
    )

    assert Authority(any_store, clock=clock).execute(confirm_id, work("unchecked")) == "done"
    with pytest.raises(Tampered, match="The answer is not signed"):
        Authority(any_store, clock=clock, principals=[public_jwk(ALICE)]).execute(confirm_id, work("checked"))


WORDS: dict[str, Callable[[Any], Any]] = {
    "words": lambda asked: answer_in_words(asked, "Call her instead."),
    "an objection": lambda asked: open_dialogue(asked, "Why today?"),
}


@pytest.mark.parametrize("says", WORDS)
def test_words_are_signed_by_their_hash(says: str) -> None:
    """Others in their place are not what was signed."""
    store, envelope = MemoryStore(), moment("Number 1?")
    ledger = Ledger(store, sign=make_signer(ALICE), check=make_verifier(public_jwk(ALICE)).verify_answer)
    pending = ledger.open(envelope)
    answer = WORDS[says](envelope)
    assert ledger.resolve(pending.decision_id, answer).signature
    assert ledger.resolve(pending.decision_id, answer).already_resolved
    assert isinstance(ledger.find(pending.decision_id), ResolvedDecision)

    other, forged = MemoryStore(), ledger_entries.make_resolved_entry(WORDS[says](envelope), START, "")
    first = store.find(RUN, f"closed:{pending.reference}")
    assert first is not None
    entry = replace(forged, outcome={**forged.outcome, "signature": first.outcome["signature"]})
    reader = Ledger(other, check=make_verifier(public_jwk(ALICE)).verify_answer)
    reader.open(envelope, decision_id=pending.decision_id)
    other.get_or_create(RUN, f"closed:{pending.reference}", lambda: NewEntry(entry))
    with pytest.raises((UnsignedAnswer, StoreAltered)):
        reader.find(pending.decision_id)


def test_an_unsigned_answer_is_not_recorded_where_signatures_are_checked() -> None:
    """So that the principal can still answer."""
    ledger = Ledger(check=make_verifier(public_jwk(ALICE)).verify_answer)
    pending = ledger.open(moment("Number 2?"))

    with pytest.raises(UnsignedAnswer):
        ledger.resolve(pending.decision_id, select_option(pending.moment, 0))
    assert ledger.pending() == (pending,)


def test_nothing_but_an_option_is_consent_however_it_is_signed() -> None:
    """An objection with a signature grants nothing."""
    store = MemoryStore()
    ledger = Ledger(store, sign=make_signer(ALICE), check=make_verifier(public_jwk(ALICE)).verify_answer)
    authority = Authority(store, ledger=ledger, principals=[public_jwk(ALICE)])
    request = asked()
    pending = ledger.open(moment("Number 3?"), actions=(request.digest, None))
    ledger.resolve(pending.decision_id, open_dialogue(pending.moment, "No."))

    with pytest.raises(NotConsent):
        authority.confirm(pending.decision_id, request)


@pytest.mark.parametrize("given", ["key", b"key", {"kty": "OKP"}, 1, [{"kty": "EC"}]], ids=str)
def test_what_is_no_list_of_keys_is_refused(given: Any) -> None:
    """Before anything is asked."""
    with pytest.raises(InputError):
        Authority(principals=given)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with Alice's keys and a store in which a call waits."""
    monkeypatch.chdir(tmp_path)
    save_key(ALICE, "alice.jwk")
    for name, key in {"alice": ALICE, "bob": BOB}.items():
        (tmp_path / f"{name}.pub.jwk").write_text(json.dumps(public_jwk(key)), "utf-8")
    with SqliteStore(tmp_path / "agent.db") as store:
        waiting(_guard(store, Post()))
    return tmp_path


def _guard(store: Store, post: Post) -> Any:
    return Authority(store, principals=[public_jwk(ALICE)]).guard(post.send_email, workflow_id="w")


def _verified(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    capsys.readouterr()
    return main(["receipts", "verify", "agent.db", *arguments]), capsys.readouterr().out


def test_a_signed_answer_on_the_command_line(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`emitter resolve --sign` answers, and `emitter receipts verify --principal` tells whose answer it was."""
    assert main(["resolve", "--store", "agent.db", "--answer", "1", "--sign", "alice.jwk"]) == 0
    with SqliteStore(place / "agent.db") as store:
        assert _guard(store, Post()).call("c1", MOM) == 1

    status, reported = _verified(capsys, "--principal", "bob.pub.jwk", "--principal", "alice.pub.jwk")
    assert status == 0
    assert f'answer    signed by "alice.pub.jwk" (key {ALICE.thumbprint()})' in reported
    assert _verified(capsys, "--principal", "bob.pub.jwk")[0] == 1
    assert "answer    signed, not checked: pass a public key" in _verified(capsys)[1]
    (chain,) = json.loads(_verified(capsys, "--principal", "alice.pub.jwk", "--json")[1])["chains"]
    answer = chain["confirms"][0]["answer"]
    assert (answer["signed"], answer["key"], answer["file"]) == (True, ALICE.thumbprint(), "alice.pub.jwk")


def test_an_unsigned_answer_is_refused_before_it_stands(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The decision says that only a signed answer counts, so nothing is burned: a signed one is still taken."""
    assert main(["resolve", "--store", "agent.db", "--answer", "1"]) != 0
    assert "Only a signed answer counts" in capsys.readouterr().err
    assert main(["resolve", "--store", "agent.db", "--answer", "1", "--sign", "alice.jwk"]) == 0
    post = Post()
    with SqliteStore(place / "agent.db") as store:
        assert _guard(store, post).call("c1", MOM) == 1


def test_an_answer_by_an_unknown_key_is_refused_before_it_stands(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The decision names the keys that count, so a stranger does not close it for the principal."""
    save_key(BOB, "bob.jwk")
    assert main(["resolve", "--store", "agent.db", "--answer", "1", "--sign", "bob.jwk"]) != 0
    assert "does not know the key" in capsys.readouterr().err
    assert main(["resolve", "--store", "agent.db", "--answer", "1", "--sign", "alice.jwk"]) == 0
    with SqliteStore(place / "agent.db") as store:
        assert _guard(store, Post()).call("c1", MOM) == 1


WRONG: dict[str, list[str]] = {
    "a public key": ["--store", "agent.db", "--answer", "1", "--sign", "alice.pub.jwk"],
    "a file that is not there": ["--store", "agent.db", "--answer", "1", "--sign", "nobody.jwk"],
    "without a store": ["--answer", "1", "--sign", "alice.jwk"],
}


@pytest.mark.parametrize("arguments", WRONG.values(), ids=WRONG)
@pytest.mark.usefixtures("place")
def test_what_cannot_sign_is_bad_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """And answers nothing."""
    assert main(["resolve", *arguments]) == 2
    assert "Traceback" not in capsys.readouterr().err
    with SqliteStore("agent.db") as store:
        assert len(Ledger(store).pending()) == 1
