"""Batches over a store: one process has them at a time, and the next one goes on with them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from emitter.bulk import Job, emit_many
from emitter.errors import BadJournal, JournalFailed, Refused
from emitter.stores.jobs import JobTable
from tests.bulk.asking import Numbered, asked_of, task
from tests.bulk.batches.asking import MODELS, POLICY, Time, vendor
from tests.stores.conftest import home, postgres  # noqa: F401  fixtures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.stores.conftest import Home

JOBS = [Job(text, key=f"key {n}") for n, text in enumerate([task(0, "cut"), task(1), task(2, "refuse")])]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Serve a vendor that the environment leads to, and its desk."""
    with vendor() as (running, desk):
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        yield running, desk


def run_of(store: Any, **more: Any) -> Any:
    """Begin a run of batches over a store."""
    options = {"model": MODELS["responses"], "batch": True, "policy": POLICY, "clock": Time().clock(), **more}
    return emit_many(Numbered, JOBS, store=store, **options)


def test_a_second_run_reads_the_store(home: Home, served: Any) -> None:  # noqa: F811
    """Nothing that was answered or refused is submitted again."""
    running, _ = served
    first = run_of(home.again()).results()
    again = run_of(home.again()).results()

    assert [item.value.n for item in first[:2]] == [0, 1]
    assert [item.replayed for item in again] == [True] * 3
    assert again[0].result.envelope == first[0].result.envelope
    assert isinstance(again[2].error, Refused)
    assert asked_of(running) == {0: 2, 1: 1, 2: 1}
    assert home.again().jobs.orphans() == []


def test_a_run_takes_the_batches_of_a_dead_process_over(
    home: Home,  # noqa: F811
    served: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not while its lease lasts; and then it collects the batches that were submitted."""
    running, desk = served
    with monkeypatch.context() as patch:
        for name in ("leave", "release"):
            patch.setattr(JobTable, name, lambda *_: None)  # what a killed process does not do
        with run_of(home.again(), lease=2, ordered=False) as run:
            next(run)
        with pytest.raises(BadJournal, match="another process"):
            run_of(home.again()).results()
    deadline = time.monotonic() + 60
    while "owner" not in {orphan.key for orphan in home.again().jobs.orphans()}:
        assert time.monotonic() < deadline
        time.sleep(0.05)

    items = run_of(home.again()).results()
    assert [item.value.n for item in items[:2]] == [0, 1]
    assert asked_of(running) == {0: 2, 1: 1, 2: 1}
    assert desk.batches.submitted == 4


def test_a_process_that_lost_its_lease_submits_nothing(
    home: Home,  # noqa: F811
    served: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another one has the batches."""
    running, _ = served
    store, claim = home.again(), JobTable.claim
    other = home.again().jobs
    other.renew("another", 3600)

    def lose(table: JobTable, run: str, keys: Any, holder: str, **options: Any) -> Any:
        if run.endswith("journal") and not options:
            other.leave(holder)
            claim(other, run, keys, "another", resend=True)
        return claim(table, run, keys, holder, **options)

    monkeypatch.setattr(JobTable, "claim", lose)
    with pytest.raises(JournalFailed, match="taken over"):
        run_of(store).results()
    assert not asked_of(running)
