"""What was recorded stands, and is at hand, whatever a sink, the store or another process does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from emitter.decisions import answer_in_words, open_dialogue, select_option
from emitter.decisions.decision_rates import DecisionRates
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import ResolvedDecision, UnreadableAnswer
from emitter.errors import BadResolution, StoreFailed
from emitter.events import Level, LogAppended, RunEvent
from emitter.stores import MemoryStore
from tests.decisions.ledger.asking import Reading, Told, moment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.messages import Json

ASKED = moment()
CLOSED = moment(dialogue=False)


def broken(_: object) -> None:
    """Be a sink that fails."""
    raise ZeroDivisionError("WORDS")


class Leaving(MemoryStore):
    """A store whose log cannot be read once ``is_left`` is set."""

    __slots__ = ("is_left",)
    is_left: bool

    def events(self, run_id: str, after: int = -1, *, node_id: str | None = None) -> tuple[Mapping[str, Json], ...]:
        """Return the log."""
        if getattr(self, "is_left", False):
            raise StoreFailed("WORDS")
        return super().events(run_id, after, node_id=node_id)


@pytest.mark.parametrize(
    "answer", [answer_in_words(ASKED, "Mine."), open_dialogue(ASKED, "Why?"), select_option(ASKED, 1)], ids=repr
)
def test_a_sink_that_raises_takes_nothing_away(again: Callable[..., Ledger], answer: Any) -> None:
    """The decision is returned with its id, the resolution with its words, as the first; a retry knows them too."""
    ledger = again(on_event=broken)
    with pytest.warns(RuntimeWarning, match="sink raised ZeroDivisionError") as warned:
        pending = ledger.open(ASKED)
    assert "WORDS" not in str(warned[0].message)
    assert again().pending() == (pending,)
    with pytest.warns(RuntimeWarning, match="sink raised ZeroDivisionError"):
        done = ledger.resolve(pending.decision_id, answer)
    assert (done.resolution, done.already_resolved) == (answer, False)
    assert ledger.find(pending.decision_id) == replace(done, already_resolved=True)


def test_each_line_is_reported_although_one_before_raised() -> None:
    """A sink that fails once misses one line."""
    reported = Told()
    failing = iter([broken])

    def on_event(event: RunEvent) -> None:
        next(failing, reported)(event)

    with pytest.warns(RuntimeWarning):
        Ledger(on_event=on_event).open(CLOSED)
    assert reported.messages() == ["decision.hatch_suppressed"]


def test_words_are_remembered_before_they_are_reported() -> None:
    """A sink that asks for the decision finds what was said, and one that ends the process by Ctrl-C loses nothing."""
    seen: list[Any] = []

    def on_event(event: RunEvent) -> None:
        if isinstance(event.event, LogAppended) and event.event.message == "decision.resolved":
            seen.append(ledger.find("d"))
            raise KeyboardInterrupt

    ledger = Ledger(on_event=on_event)
    ledger.open(ASKED, decision_id="d")
    with pytest.raises(KeyboardInterrupt):
        ledger.resolve("d", open_dialogue(ASKED, "Why?"))
    assert [each.resolution for each in (*seen, ledger.find("d"))] == [open_dialogue(ASKED, "Why?")] * 2


def test_a_store_that_fails_afterwards_takes_nothing_away() -> None:
    """Once the resolution is kept, whoever resolved the decision is reported so, although the log cannot be read."""
    store = Leaving()
    ledger = Ledger(store)
    ledger.open(ASKED, decision_id="d")
    Ledger(store).open(CLOSED)  # so that the log has lines of another process before the resolution's
    store.is_left = True
    with pytest.warns(RuntimeWarning, match="store raised StoreFailed"):
        assert not ledger.resolve("d", select_option(ASKED, 0)).already_resolved
    with pytest.raises(StoreFailed):
        ledger.rates()


def test_an_entry_that_cannot_be_read_is_left_out(reported: Told) -> None:
    """It is reported once among all processes; the other decisions, and how many there are, stay at hand."""
    store: Any = MemoryStore()
    first, bad, last = (Ledger(store).open(moment(f"Number {each}?"), decision_id=f"d{each}") for each in range(3))
    key = ("emitter.ledger", f"opened:{bad.reference}")
    kept = store._entries[key]
    for old, new in (("Number 1?", "Number 9?"), ('"decisionId":"d1"', '"decisionId":1'), ('"openedAt"', '"at"')):
        store._entries[key] = kept.replace(old, new)
        assert store._entries[key] != kept
        for _ in range(2):
            assert Ledger(store, on_event=reported).pending() == (first, last)
        with pytest.raises(StoreFailed):
            Ledger(store).find("d1")
    assert reported.messages() == ["decision.unreadable"]
    (event,) = reported.events
    assert (event.event.level, event.causation_id) == (Level.WARN, bad.reference)  # type: ignore[union-attr]
    assert reported.lines() == [{"reference": bad.reference}]


@pytest.mark.parametrize("message", ["opened", "resolved", "unresolved", "rate_exceeded", "unreadable"])
@pytest.mark.parametrize(
    "fields", [{}, {"digest": 1, "agent": "a", "decisionClass": "c", "expiresAt": "soon"}], ids=len
)
def test_a_line_that_cannot_be_read_is_left_out(reported: Told, message: str, fields: Any) -> None:
    """It counts for nothing, and is reported once among all processes."""
    store = Reading()
    pending = Ledger(store).open(ASKED)
    line = LogAppended(Level.INFO, f"decision.{message}", fields)
    store.append("emitter.ledger", [RunEvent(line, "e", "emitter.ledger", "n", "t", 0, "c")])
    for _ in range(3):
        ledger = Ledger(store, on_event=reported)
        assert (ledger.pending(), ledger.rates()) == ((pending,), DecisionRates(opened=1))
    assert reported.messages() == ["decision.unreadable"]
    assert reported.lines() == [{"reference": "c", "line": 1}]
    store.asked.clear()
    assert Ledger(store).pending() == (pending,)
    assert store.asked == []


def test_what_is_not_at_hand_is_no_lack_of_words(again: Callable[..., Ledger]) -> None:
    """An objection without words reopens without them where it was said, and elsewhere says that it does not know."""
    here = again(words=None)
    here.open(ASKED, decision_id="d")
    assert here.resolve("d", open_dialogue(ASKED)).continuation.objection == ""  # type: ignore[union-attr]
    there = again().find("d")
    assert isinstance(there, ResolvedDecision)
    assert isinstance(there.resolution, UnreadableAnswer)
    with pytest.raises(BadResolution, match="not kept"):
        _ = there.continuation
