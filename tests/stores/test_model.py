"""Whatever is done to a store, in any order, it does as two dicts do, and no opening of it makes a difference."""

from __future__ import annotations

from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from emitter.stores import MemoryStore
from tests.stores.making import event, fresh
from tests.stores.making import events as made
from tests.work import examples

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.stores import NewEntry
    from tests.stores.conftest import Home

_RUNS = st.sampled_from(["r", "R", "r:1", "\x00", "\ud800"])
_NODES = st.sampled_from(["node", "NODE", "n\x00", "\ud800"])
_ENVELOPES = st.sampled_from(["c", "d", "e\n", "\N{GRINNING FACE}"])
_NOTES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
_examples = count()


class _Failed(Exception):
    """What a handler raises."""


class Against(RuleBasedStateMachine):
    """A store, and what it ought to hold."""

    def __init__(self, again: Callable[[], Any]) -> None:
        super().__init__()
        self.again = again
        self.store = again()
        self.example = next(_examples)
        self.entries: dict[tuple[str, str], Any] = {}
        self.logs: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)

    def name(self, run: str) -> str:
        """Return the run's name in this example: the examples share a place."""
        return f"{self.example}/{run}"

    @rule(run=_RUNS, envelope=_ENVELOPES, note=_NOTES, reported=st.integers(0, 3), failing=st.booleans())
    def get_or_create(self, run: str, envelope: str, note: Any, reported: int, *, failing: bool) -> None:
        """Handle an envelope."""
        called: list[int] = []

        def handle() -> NewEntry:
            called.append(1)
            if failing:
                raise _Failed
            return fresh(note, *(f"{n}" for n in range(reported)))

        known = self.entries.get((run, envelope))
        if known is None and failing:
            with pytest.raises(_Failed):
                self.store.get_or_create(self.name(run), envelope, handle)
            return
        kept = self.store.get_or_create(self.name(run), envelope, handle)
        assert bool(called) == kept.created == (known is None)
        if kept.created:
            self.entries[run, envelope] = fresh(note).entry
            self.add(run, kept.events, made(*(f"{n}" for n in range(reported))))
        else:
            assert kept.events == ()
        assert kept.entry == self.entries[run, envelope]

    @rule(run=_RUNS, notes=st.lists(_NOTES, max_size=3), node=_NODES)
    def append(self, run: str, notes: list[Any], node: str) -> None:
        """Add to a log."""
        reported = [event(f"{n}", node=node, note=note) for n, note in enumerate(notes)]
        self.add(run, self.store.append(self.name(run), reported), reported)

    def add(self, run: str, added: Any, reported: Any) -> None:
        """Add to the log that ought to be there what ought to have been added."""
        first = len(self.logs[run])
        self.logs[run] += [{**each.to_json(), "sequence": n} for n, each in enumerate(reported, first)]
        assert [each.to_json() for each in added] == self.logs[run][first:]

    @rule(run=_RUNS, envelope=_ENVELOPES)
    def find(self, run: str, envelope: str) -> None:
        """Look an envelope up."""
        assert self.store.find(self.name(run), envelope) == self.entries.get((run, envelope))

    @rule(run=_RUNS, after=st.integers(-3, 12))
    def read(self, run: str, after: int) -> None:
        """Read a log."""
        assert list(self.store.events(self.name(run), after)) == self.logs[run][max(after + 1, 0) :]

    @rule(run=_RUNS, after=st.integers(-3, 12), node=_NODES)
    def read_node(self, run: str, after: int, node: str) -> None:
        """Read the part of a log that is one node's."""
        log = self.logs[run][max(after + 1, 0) :]
        assert list(self.store.events(self.name(run), after, node_id=node)) == [x for x in log if x["nodeId"] == node]

    @rule(closed=st.booleans())
    def reopen(self, *, closed: bool) -> None:
        """Open the store again, beside the open one or after it."""
        if closed:
            self.teardown()
        self.store = self.again()

    def teardown(self) -> None:
        """Close the store."""
        close: Callable[[], None] = getattr(self.store, "close", lambda: None)
        close()


_SETTINGS = settings(max_examples=examples(12), stateful_step_count=25)


def test_in_memory() -> None:
    """There is nothing to open again."""

    def machine() -> Against:
        store = MemoryStore()
        return Against(lambda: store)

    run_state_machine_as_test(machine, settings=settings(_SETTINGS, max_examples=examples(50)))


def test_with_a_place(home: Home) -> None:
    """What a process leaves, the next finds."""
    run_state_machine_as_test(lambda: Against(home.again), settings=_SETTINGS)
