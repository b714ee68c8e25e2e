"""A decision is opened: it is one by its id, for every process, and nothing that does not hold is taken."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import pytest

from emitter.decisions import digest, open_dialogue, select_option
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import PendingDecision
from emitter.errors import StoreFailed, UnknownDecision, WrongDigest
from emitter.stores import MemoryStore
from tests.decisions.ledger.asking import START, Hand, Told, moment

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.models import BindingMoment

ASKED = moment()
NAMED = digest(ASKED)


def test_a_decision_is_opened(ledger: Ledger) -> None:
    """With its digest and the time; its id is of those that nobody can guess."""
    first, second = (ledger.open(ASKED, agent="ada", expires_in=60) for _ in range(2))
    assert first == PendingDecision(first.decision_id, NAMED, ASKED, "ada", START, START + 60)
    assert first.decision_id != second.decision_id
    assert len(bytes.fromhex(first.decision_id)) == 16
    assert ledger.find(first.decision_id) == first
    assert ledger.pending() == (first, second)


def test_another_process_finds_what_was_opened(again: Callable[..., Ledger]) -> None:
    """The envelope is there whole, with what its options would do, and can be resolved."""
    opened = again().open(ASKED, decision_id="d", actions=["sha256:a", None])
    found = again().find("d")
    assert found == opened == pickle.loads(pickle.dumps(opened))
    assert again().resolve("d", select_option(ASKED, 0)).action == "sha256:a"
    assert again().pending() == ()


def test_opening_again_is_the_same_decision(ledger: Ledger, clock: Hand, reported: Told) -> None:
    """Whoever repeats it, later and resolved or not, finds it as it was, and nothing more is reported."""
    first = ledger.open(ASKED, agent="ada", decision_id="d", actions=("x", None), expires_in=60)
    clock.now += 5
    for span in (60, 60.0):
        assert ledger.open(ASKED, agent="ada", decision_id="d", actions=["x", None], expires_in=span) == first
    assert reported.messages() == ["decision.opened"]
    ledger.resolve("d", open_dialogue(ASKED))
    assert ledger.open(ASKED, agent="ada", decision_id="d", actions=["x", None], expires_in=60) == first


@pytest.mark.parametrize(("span", "other"), [(60, 9), (60, None), (None, 60), (0.1, 0.2)])
def test_an_id_is_open_for_one_time(ledger: Ledger, clock: Hand, span: float | None, other: float | None) -> None:
    """Whoever asks for another learns that they do not have it; at no round hour either."""
    clock.now += 0.123456
    first = ledger.open(ASKED, decision_id="d", expires_in=span)
    clock.now += 0.01
    with pytest.raises(WrongDigest, match="another expires_in"):
        ledger.open(ASKED, decision_id="d", expires_in=other)
    assert ledger.open(ASKED, decision_id="d", expires_in=span) == first


@pytest.mark.parametrize(
    ("envelope", "settings"),
    [
        pytest.param(moment("Another?"), {}, id="another envelope"),
        pytest.param(ASKED, {"actions": ("y", None)}, id="other actions"),
        pytest.param(ASKED, {"actions": ()}, id="no actions"),
        pytest.param(ASKED, {"agent": "eve"}, id="another agent"),
    ],
)
def test_an_id_is_one_decisions(ledger: Ledger, envelope: BindingMoment, settings: Any) -> None:
    """Under it nothing else can be opened, whether it is open or resolved."""
    known = {"agent": "ada", "decision_id": "d", "actions": ("x", None)}
    opened = ledger.open(ASKED, **known)
    with pytest.raises(WrongDigest, match="another id"):
        ledger.open(envelope, **{**known, **settings})
    assert ledger.find("d") == opened
    ledger.resolve("d", select_option(ASKED, 0))
    with pytest.raises(WrongDigest):
        ledger.open(envelope, **{**known, **settings})
    assert ledger.open(ASKED, **known) == opened


def test_without_a_store_it_is_this_processs_own() -> None:
    """In memory, by the system's time, and told to nobody."""
    ledger = Ledger()
    opened = ledger.open(ASKED, expires_in=1000)
    assert ledger.resolve(opened.decision_id, select_option(ASKED, 0)).pending == opened
    with pytest.raises(UnknownDecision):
        Ledger().find(opened.decision_id)


def test_a_sink_may_ask_the_ledger() -> None:
    """It is told when nothing is held."""
    seen: list[Any] = []
    ledger = Ledger(on_event=lambda _: seen.append((ledger.rates().opened, len(ledger.pending()))))
    ledger.resolve(ledger.open(ASKED).decision_id, select_option(ASKED, 0))
    assert seen == [(1, 1), (1, 0)]


def test_what_somebody_else_changed_is_no_decision() -> None:
    """An envelope in the store that is not the one of the digest beside it is not shown to anybody."""
    store: Any = MemoryStore()
    ledger = Ledger(store)
    key = ("emitter.ledger", f"opened:{ledger.open(ASKED, decision_id='d').reference}")
    for changed in ("It is not to be done.", ""):
        store._entries[key] = store._entries[key].replace("It is to be done.", changed)
        with pytest.raises(StoreFailed, match="not the envelope"):
            ledger.find("d")
        with pytest.raises(StoreFailed, match="not the envelope"):
            ledger.resolve("d", select_option(ASKED, 0))
