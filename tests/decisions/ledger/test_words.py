"""How long, in which form and for whom a ledger keeps what the principal wrote."""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from joserfc.jwk import ECKey, OctKey, OKPKey

from emitter.decisions import Incorporate, Reopen, answer_in_words, open_dialogue, select_option
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import ResolvedDecision, UnreadableAnswer
from emitter.decisions.ledger_words import KeepWords, MissingWordsReason
from emitter.errors import BadResolution, InputError, StoreAltered
from emitter.stores import Entry, MemoryStore, NewEntry, SqliteStore, SqlStore
from tests.decisions.ledger.asking import Hand, Told, moment
from tests.launching import launch
from tests.stores.postgres import running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

WORDS = "Ask Zebedee \N{GRINNING FACE}\nfirst."
ASKED = moment()
WEEK = 7 * 86_400.0
X25519 = OKPKey.generate_key("X25519")
P256 = ECKey.generate_key("P-256")
SECRET = OctKey.generate_key(256)


@contextmanager
def place(kind: str, folder: Path) -> Iterator[tuple[str, Any]]:
    """Lend the address of a store that processes share, and the store."""
    if kind == "postgres":
        with running() as server:
            address = server.empty()
            with SqlStore(address, timeout=20) as store:
                yield address, store
    else:
        address = str(folder / "ledger.db")
        with SqliteStore(address, timeout=20) as store:
            yield address, store


def agent(kind: str, address: str, decision_id: str) -> list[Any]:
    """Return what an agent in a process of its own reads of a decision."""
    command = launch("tests.decisions.ledger.process", "reading", kind, address, decision_id)
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_an_agent_in_another_process_reads_the_words(kind: str, tmp_path: Path) -> None:
    """The objection, to the letter; and the topic of a request for detail, which the agent answers from there."""
    with place(kind, tmp_path) as (address, store):
        ledger = Ledger(store)
        ledger.open(ASKED, decision_id="d")
        ledger.ask_detail("d", "the second finding")
        assert agent(kind, address, "d") == [["detail", 1, "the second finding"]]
        assert ledger.detail_requests("d")[0].answer == {"asked": "the second finding"}
        ledger.resolve("d", open_dialogue(ASKED, WORDS))
        assert agent(kind, address, "d")[-1] == ["Reopen", WORDS]


def test_the_words_are_those_of_the_resolution(again: Callable[..., Ledger]) -> None:
    """A ledger that is opened anew has them, and what follows on them."""
    asked = {name: moment(name) for name in "def"}
    answers = {
        "d": open_dialogue(asked["d"], WORDS),
        "e": answer_in_words(asked["e"], WORDS),
        "f": open_dialogue(asked["f"]),
    }
    for name, answer in answers.items():
        again().open(asked[name], decision_id=name)
        again().resolve(name, answer)
        found = again().find(name)
        assert isinstance(found, ResolvedDecision)
        assert found.resolution == answer
    assert again().find("d").continuation == Reopen(asked["d"], WORDS)  # type: ignore[union-attr]
    assert again().find("e").continuation == Incorporate(asked["e"], WORDS)  # type: ignore[union-attr]
    assert again().find("f").continuation == Reopen(asked["f"], "")  # type: ignore[union-attr]


KEYS = {
    "a symmetric key": (SECRET, SECRET),
    "32 bytes": (SECRET.raw_value, SECRET.as_dict(private=True)),
    "an X25519 pair": (X25519.as_dict(private=False), X25519),
    "a P-256 pair": (P256.as_dict(private=False), P256.as_dict(private=True)),
    "PEM files": (X25519.as_pem(private=False), X25519.as_pem(private=True)),
    "PEM files of P-256": (P256.as_pem(private=False).decode(), P256.as_pem(private=True).decode()),
}


@pytest.mark.parametrize("name", KEYS)
def test_encrypted_words_are_for_those_with_the_key(tmp_path: Path, reported: Told, name: str) -> None:
    """In no file and no event they stand in the open; with another key, or none, the ledger says so."""
    write, read = KEYS[name]
    with SqliteStore(tmp_path / "ledger.db") as store:
        ledger = Ledger(store, words=KeepWords(key=write), on_event=reported)
        ledger.open(ASKED, decision_id="d")
        ledger.ask_detail("d", "Zebedee's part")
        ledger.resolve("d", open_dialogue(ASKED, WORDS))
        assert not any(b"Zebedee" in each.read_bytes() for each in tmp_path.iterdir())
        assert "Zebedee" not in json.dumps([each.to_json() for each in reported.events])
        reader = Ledger(store, words=KeepWords(key=read))
        assert reader.find("d").continuation == Reopen(ASKED, WORDS)  # type: ignore[union-attr]
        assert reader.detail_requests("d")[0].topic == "Zebedee's part"
        for settings in ({}, {"words": None}, {"words": KeepWords(key=OctKey.generate_key(256))}):
            found = Ledger(store, **settings).find("d")
            assert isinstance(found, ResolvedDecision)
            assert isinstance(found.resolution, UnreadableAnswer)
            assert found.resolution.reason is MissingWordsReason.ENCRYPTED
            with pytest.raises(BadResolution, match=r"encrypted.*KeepWords\(key=\.\.\.\)"):
                _ = found.continuation
        assert Ledger(store).detail_requests("d")[0].topic is MissingWordsReason.ENCRYPTED


def test_a_public_key_only_writes(tmp_path: Path) -> None:
    """Who serves the page with the agent's public key cannot read what others were reported there."""
    with SqliteStore(tmp_path / "ledger.db") as store:
        public = KeepWords(key=X25519.as_dict(private=False))
        writer = Ledger(store, words=public)
        writer.open(ASKED, decision_id="d")
        writer.resolve("d", open_dialogue(ASKED, WORDS))
        found = Ledger(store, words=public).find("d")
        assert isinstance(found, ResolvedDecision)
        assert isinstance(found.resolution, UnreadableAnswer)


@pytest.mark.parametrize(
    "given",
    [
        b"short",
        "no key",
        17,
        {"kty": "oct", "k": "c2hvcnQ"},
        {"kty": "oct"},
        OKPKey.generate_key("Ed25519"),
        ECKey.generate_key("P-384"),
        OctKey.generate_key(128),
    ],
    ids=["bytes", "text", "number", "short JWK", "half a JWK", "a signing key", "another curve", "128 bits"],
)
def test_what_is_no_key_is_refused(given: object) -> None:
    """Before anything is kept, and without a word of it."""
    with pytest.raises(InputError, match="key cannot encrypt words") as raised:
        KeepWords(key=given)
    assert "c2hvcnQ" not in str(raised.value)


def test_a_key_is_not_shown() -> None:
    """Whoever prints the setting prints no key."""
    assert repr(KeepWords(key=SECRET)) == f"KeepWords(seconds={WEEK})"


def test_a_key_in_a_file(tmp_path: Path) -> None:
    """As a JWK or as PEM; a file that is not there, or holds no key, says which it is."""
    (tmp_path / "jwk").write_text(json.dumps(SECRET.as_dict(private=True)))
    (tmp_path / "pem").write_bytes(X25519.as_pem(private=True))
    (tmp_path / "no").write_text("no key")
    assert KeepWords.with_key_file(tmp_path / "jwk").key.raw_value == SECRET.raw_value
    assert KeepWords.with_key_file(tmp_path / "pem", seconds=60).key.curve_name == "X25519"
    for name, reported in {"no": "has no key that can", "nothing": "cannot be read"}.items():
        with pytest.raises(InputError, match=f"{name} {reported}"):
            KeepWords.with_key_file(tmp_path / name)


@pytest.mark.parametrize("given", [0, -1, float("nan"), float("inf"), True, "60"])
def test_what_is_no_time_is_refused(given: Any) -> None:
    """It is more than no time, and less than a century."""
    with pytest.raises(InputError, match="seconds must be a number"):
        KeepWords(given)


def test_a_setting_is_a_setting() -> None:
    """Anything else than a KeepWords is refused, and a store that cannot delete takes no words."""
    with pytest.raises(InputError, match="must be a KeepWords"):
        Ledger(words=True)  # type: ignore[arg-type]

    class Keeping(MemoryStore):
        forget = None  # type: ignore[assignment]

    with pytest.raises(InputError, match=r"cannot delete words\. .* forget\(\) method, or pass words=None"):
        Ledger(Keeping())
    Ledger(Keeping(), words=None)


def test_words_are_deleted_when_their_time_is_over(
    tmp_path: Path, clock: Hand, reported: Told, again: Callable[..., Ledger]
) -> None:
    """From the store by any ledger that looks, from memory as well; that they were is reported, once."""
    here = again(words=KeepWords(60))
    here.open(ASKED, decision_id="d")
    here.ask_detail("d", WORDS)
    here.resolve("d", answer_in_words(ASKED, WORDS))
    assert again().detail_requests("d")[0].topic == WORDS
    clock.now += 59
    assert again().find("d").resolution == answer_in_words(ASKED, WORDS)  # type: ignore[union-attr]
    clock.now += 1
    for ledger in (here, again(), again()):
        ledger.pending()
        found = ledger.find("d")
        assert isinstance(found, ResolvedDecision)
        assert isinstance(found.resolution, UnreadableAnswer)
        assert found.resolution.reason is MissingWordsReason.DELETED
        with pytest.raises(BadResolution, match="kept for a limited time, and are deleted"):
            _ = found.continuation
        assert ledger.detail_requests("d")[0].topic is MissingWordsReason.DELETED
    assert not any(b"Zebedee" in each.read_bytes() for each in tmp_path.iterdir())
    assert len(reported.lines("decision.words_deleted")) == 2
    clock.now -= 60
    assert again().find("d").resolution.reason is MissingWordsReason.DELETED  # type: ignore[union-attr]


def test_words_that_are_over_are_not_read_before_they_are_deleted(again: Callable[..., Ledger], clock: Hand) -> None:
    """Nobody need have looked for them to be over."""
    again(words=KeepWords(60)).open(ASKED, decision_id="d")
    again(words=KeepWords(60)).resolve("d", open_dialogue(ASKED, WORDS))
    clock.now += 60
    assert again().find("d").resolution.reason is MissingWordsReason.DELETED  # type: ignore[union-attr]


def test_words_can_be_kept_as_long_as_the_store(again: Callable[..., Ledger], clock: Hand, reported: Told) -> None:
    """Without a time, nothing of the kind is reported."""
    again(words=KeepWords(None)).open(ASKED, decision_id="d")
    again(words=KeepWords(None)).resolve("d", open_dialogue(ASKED, WORDS))
    clock.now += 50 * 365 * 86_400
    assert again().find("d").continuation == Reopen(ASKED, WORDS)  # type: ignore[union-attr]
    assert "wordsUntil" not in reported.lines("decision.resolved")[0]


def test_words_can_be_deleted_at_once(tmp_path: Path, again: Callable[..., Ledger]) -> None:
    """Whatever was to be kept; which answer it was stays, and the same answer is known again."""
    here = again()
    here.open(ASKED, decision_id="d")
    here.ask_detail("d", WORDS)
    here.resolve("d", open_dialogue(ASKED, WORDS))
    here.delete_words("d")
    here.delete_words("d")
    assert not any(b"Zebedee" in each.read_bytes() for each in tmp_path.iterdir())
    for ledger in (here, again()):
        assert ledger.find("d").resolution.reason is MissingWordsReason.DELETED  # type: ignore[union-attr]
        assert ledger.detail_requests("d")[0].topic is MissingWordsReason.DELETED
    assert again().resolve("d", open_dialogue(ASKED, WORDS)).already_resolved


def test_words_of_an_answer_that_was_broken_off_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that dies between the words and the resolution leaves nobody's words in another's mouth."""
    store = MemoryStore()
    ledger = Ledger(store)
    ledger.open(ASKED, decision_id="d")
    with monkeypatch.context() as dying:
        dying.setattr("emitter.decisions.ledger_entries.make_resolved_entry", _dies)
        with pytest.raises(KeyboardInterrupt):
            ledger.resolve("d", open_dialogue(ASKED, "Mine."))
    assert Ledger(store).pending()
    Ledger(store).resolve("d", open_dialogue(ASKED, "Another's."))
    assert Ledger(store).find("d").continuation == Reopen(ASKED, "Another's.")  # type: ignore[union-attr]


def _dies(*_: object) -> None:
    raise KeyboardInterrupt


ALTERED = {
    "other words": {"words": "Yes, by all means."},
    "no words": {},
    "a number": {"words": 1},
}


@pytest.mark.parametrize("name", ALTERED)
def test_words_that_somebody_else_wrote_are_not_the_principals(name: str) -> None:
    """They are held to the hash beside the resolution."""
    store = MemoryStore()
    pending = Ledger(store).open(ASKED, decision_id="d")
    Ledger(store).resolve("d", open_dialogue(ASKED, WORDS))
    entry = Entry("emitter.decision.words", {"keptUntil": None}, ALTERED[name])
    store.forget("emitter.ledger", f"words:{pending.reference}")
    store.get_or_create("emitter.ledger", f"words:{pending.reference}", lambda: NewEntry(entry))
    with pytest.raises(StoreAltered):
        Ledger(store).find("d")


def test_encrypted_words_are_of_one_decision() -> None:
    """Nobody moves them below another, also where no hash would tell."""
    store, words = MemoryStore(), KeepWords(key=SECRET)
    ledger = Ledger(store, words=words)
    first, second = (ledger.open(moment(name), decision_id=name) for name in "de")
    ledger.ask_detail("d", "the price")
    ledger.ask_detail("e", "the date")
    moved = store.find("emitter.ledger", f"words:{first.reference}:1")
    assert moved is not None
    store.forget("emitter.ledger", f"words:{second.reference}:1")
    store.get_or_create("emitter.ledger", f"words:{second.reference}:1", lambda: NewEntry(moved))
    with pytest.raises(StoreAltered):
        Ledger(store, words=words).detail_requests("e")


def test_an_option_has_no_words(reported: Told) -> None:
    """Nothing is kept beside it."""
    store = MemoryStore()
    pending = Ledger(store, on_event=reported).open(ASKED, decision_id="d")
    Ledger(store, on_event=reported).resolve("d", select_option(ASKED, 0))
    assert store.find("emitter.ledger", f"words:{pending.reference}") is None
    assert "wordsUntil" not in reported.lines("decision.resolved")[0]
