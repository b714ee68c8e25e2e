"""What a guarded call costs: reads of the store whatever its history, calls of functions, canonical forms.

``python -m tests.authority.guard.test_cost`` prints the reads by the size of the history.
"""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority
from emitter.decisions import canonical_json, select_option
from emitter.errors import ApprovalPending
from emitter.stores import MemoryStore, SqliteStore, SqlStore
from tests.work import examples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.authority.guard.calls import GuardedTool
    from emitter.decisions.ledger_entries import PendingDecision

MAX_READS = 6
MAX_CALLS = 2_500
READS = ("find", "events", "entries")


class Counting:
    """A store that counts what it is asked for."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.asked: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        def ask(*args: Any, **kwargs: Any) -> Any:
            self.asked[name] += 1
            return method(*args, **kwargs)

        return ask

    @property
    def reads(self) -> int:
        """How often the store was read."""
        return sum(self.asked[name] for name in READS)


def approve(pending: PendingDecision) -> Any:
    """Approve a call."""
    return select_option(pending.moment, 0)


def refund(order: str) -> str:
    """Refund an order."""
    return order


def guarded(store: Any, **options: Any) -> GuardedTool[..., str]:
    """Return a guarded tool of a process that begins."""
    return Authority(store).guard(refund, **{"ask": approve, **options})


def fill(store: Any, workflows: int, **options: Any) -> None:
    """Let calls be made, in as many workflows, or in one."""
    guard = guarded(store, **options)
    for number in range(workflows):
        (guard if options else guarded(store))(f"order {number}")


def first_reads(store: Any, make: Callable[[Any], object]) -> int:
    """Return how often a process reads the store for its first call."""
    counting = Counting(store)
    make(counting)
    return counting.reads


FIRST: dict[str, Callable[[Any], object]] = {
    "asked at once": lambda store: guarded(store)("new"),
    "under its own id": lambda store: guarded(store).call("id", "new"),
    "in a shared workflow": lambda store: guarded(store, workflow_id="one")("new"),
}


@pytest.mark.parametrize("shared", [False, True], ids=["a workflow each", "one workflow"])
def test_the_first_call_of_a_process_reads_the_store_as_often_whatever_it_holds(store: Any, *, shared: bool) -> None:
    """At most six times."""
    reads: list[dict[str, int]] = []
    for more in (0, 10, examples(300)):
        fill(store, more, **({"workflow_id": "one"} if shared else {}))
        calls = FIRST if more else {}
        reads += [{name: first_reads(store, _under(make, more)) for name, make in calls.items()}]
    assert all(count <= MAX_READS for each in reads for count in each.values()), reads
    assert reads[1] == reads[2]


def _under(make: Callable[[Any], object], number: int) -> Callable[[Any], object]:
    """Return a first call whose own id is new."""
    if make is FIRST["under its own id"]:
        return lambda store: guarded(store).call(f"id {number}", "new")
    return make


def test_a_process_that_goes_on_with_an_approved_call_reads_as_often_whatever_the_store_holds(store: Any) -> None:
    """The question is opened by one process, answered in a second, and the call made in a third."""
    reads: list[list[int]] = []
    for more in (0, 20):
        fill(store, more, workflow_id="one")

        def ask(counting: Any, number: int = more) -> None:
            with pytest.raises(ApprovalPending):
                guarded(counting, ask=None, workflow_id="one").call(f"id {number}", "new")

        def make(counting: Any, number: int = more) -> None:
            assert guarded(counting, ask=None, workflow_id="one").call(f"id {number}", "new") == "new"

        asked = first_reads(store, ask)
        (pending,) = Authority(store).ledger.pending()
        Authority(store).ledger.resolve(pending.decision_id, approve(pending))
        reads.append([asked, first_reads(store, make)])
    assert reads[0] == reads[1]
    assert max(reads[0]) <= MAX_READS + 2  # it also reads the proposal and the answer


def _calls_of(make: Callable[[], object]) -> int:
    """Return how many functions of Python something calls."""
    calls = 0

    def count(_: Any, event: str, __: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        make()
    finally:
        sys.setprofile(None)
    return calls


def test_a_warm_call_enters_a_bounded_number_of_functions() -> None:
    """Python 3.11 counts comprehensions, too."""
    guard = guarded(MemoryStore())
    guard("first")
    assert _calls_of(lambda: guard("second")) <= MAX_CALLS


def test_each_value_is_canonicalized_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a call from its proposal to its receipt."""
    seen: Counter[bytes] = Counter()
    canonicalize = canonical_json.canonicalize

    def counting(*args: Any) -> bytes:
        seen[found := canonicalize(*args)] += 1
        return found

    guard = guarded(MemoryStore())
    guard("first")
    monkeypatch.setattr(canonical_json, "canonicalize", counting)
    guard("second")
    assert len(seen) > 5
    assert set(seen.values()) == {1}, seen


@contextmanager
def _stores() -> Iterator[dict[str, Callable[[], Any]]]:
    from tests.stores.postgres import running  # noqa: PLC0415  needs the driver

    with TemporaryDirectory() as folder, ExitStack() as stack:
        names = iter(range(1_000))
        places: dict[str, Callable[[], Any]] = {
            "memory": MemoryStore,
            "sqlite": lambda: SqliteStore(Path(folder) / f"{next(names)}.db"),
        }
        try:
            server = stack.enter_context(running())
        except BaseException as error:  # noqa: BLE001  pytest's skip is one
            print(f"without PostgreSQL: {error}")  # noqa: T201
        else:
            places["postgres"] = lambda: SqlStore(server.empty())
        yield places


def print_reads(sizes: list[int]) -> None:
    """Print how often the first call of a process reads the store, by the size of its history."""
    print(f"{'store':10}{'history':>20}" + "".join(f"{size:>10,}" for size in sizes))  # noqa: T201
    with _stores() as places:
        for kind, make in places.items():
            for shared in ({}, {"workflow_id": "one"}):
                store, row, there = make(), [], 0
                for size in sizes:
                    fill(store, size - there, **shared)
                    row.append(first_reads(store, lambda each, options=shared: guarded(each, **options)("new")))
                    there = size
                history = "one workflow" if shared else "a workflow each"
                print(f"{kind:10}{history:>20}" + "".join(f"{reads:>10,}" for reads in row))  # noqa: T201


if __name__ == "__main__":
    print_reads([int(each) for each in sys.argv[1:]] or [0, 100, 1_000])
