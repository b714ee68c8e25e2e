"""Of many that resolve a decision one does, among threads and among processes, however these end."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emitter.decisions import answer_in_words, open_dialogue, select_option
from emitter.decisions.decision_rates import RateThresholds
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision
from emitter.errors import AlreadyResolved, DecisionExpired
from emitter.stores import SqliteStore
from tests.decisions.ledger.asking import START, Hand, Told, moment
from tests.decisions.ledger.process import ASKED
from tests.launching import launch

if TYPE_CHECKING:
    from collections.abc import Callable

_THREADS = 8
_ROUNDS = 15
ROOT = Path(__file__).parents[3]


def told_by(*arguments: object) -> list[list[Any]]:
    """Run ``tests.decisions.ledger.process``, and return what its processes reported."""
    command = launch("tests.decisions.ledger.process", *map(str, arguments))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_of_many_threads_one_resolves(again: Callable[..., Ledger], reported: Told) -> None:
    """Those that say the same are told that it stands so, the others that they come too late."""
    ledger = again()
    ledger.open(ASKED, decision_id="d")
    barrier = threading.Barrier(_THREADS)
    answers = (
        select_option(ASKED, 0),
        select_option(ASKED, 1),
        answer_in_words(ASKED, "My own."),
        open_dialogue(ASKED),
    )

    def resolve(number: int) -> Any:
        barrier.wait(20)
        try:
            return ledger.resolve("d", answers[number % len(answers)])
        except AlreadyResolved:
            return None

    with ThreadPoolExecutor(_THREADS) as pool:
        found = list(pool.map(resolve, range(_THREADS)))
    first = next(each for each in found if each is not None and not each.already_resolved)
    won = answers.index(first.resolution)
    repeated = [None if each is None else each.already_resolved for each in found]
    assert Counter(repeated) == {False: 1, True: 1, None: _THREADS - 2}
    assert all(repeated[number] is not None for number in (won, won + len(answers)))
    assert reported.messages() == ["decision.opened", "decision.resolved"]


def test_of_many_threads_one_opens_and_one_warns(again: Callable[..., Ledger], reported: Told) -> None:
    """What they open under one id is one decision, and a threshold that they reach together is reported once."""
    ledger = again(thresholds=RateThresholds(_THREADS, 0.5, None, None, None))
    barrier = threading.Barrier(_THREADS)

    def decide(number: int) -> PendingDecision:
        barrier.wait(20)
        same = ledger.open(ASKED, decision_id="same")
        asked = moment(f"Number {number}?")
        ledger.open(asked, decision_id=f"d{number}")
        barrier.wait(20)  # a question that resembles a refused one would be reported as well
        ledger.resolve(f"d{number}", open_dialogue(asked))
        return same

    with ThreadPoolExecutor(_THREADS) as pool:
        assert len(set(pool.map(decide, range(_THREADS)))) == 1
    assert Counter(reported.messages()) == {
        "decision.opened": _THREADS + 1,
        "decision.resolved": _THREADS,
        "decision.rate_exceeded": 1,
    }
    assert sorted(each.sequence for each in reported.events) == list(range(2 * _THREADS + 2))


def test_time_runs_out_amid_a_resolution(again: Callable[..., Ledger], clock: Hand) -> None:
    """The resolution and the end of its time shut each other out, whoever comes first."""
    ledger = again()
    for number in range(_THREADS):
        ledger.open(ASKED, decision_id=f"d{number}", expires_in=60)
    barrier = threading.Barrier(_THREADS + 1)

    def resolve(number: int) -> bool:
        barrier.wait(20)
        try:
            return not ledger.resolve(f"d{number}", select_option(ASKED, 0)).already_resolved
        except DecisionExpired:
            return False

    with ThreadPoolExecutor(_THREADS) as pool:
        running = [pool.submit(resolve, number) for number in range(_THREADS)]
        barrier.wait(20)
        clock.now += 60
        left = again().pending()
        won = [each.result() for each in running]
    assert left == ()
    found = [ledger.find(f"d{number}") for number in range(_THREADS)]
    assert [isinstance(each, ResolvedDecision) for each in found] == won
    rates = again().rates()
    assert (rates.resolved, rates.unanswered) == (sum(won), _THREADS - sum(won))


def test_of_many_processes_one_resolves(tmp_path: Path) -> None:
    """From a file that is not there yet on; what each is reported is what the ledger says afterwards."""
    *reported, (_, statuses) = told_by("racing", tmp_path, _ROUNDS)
    assert statuses == [0] * 4
    with SqliteStore(tmp_path / "ledger.db") as store:
        ledger = Ledger(store)
        for number in range(_ROUNDS):
            assert Counter(found for round_, found in reported if round_ == number) == {False: 1, "late": 3}
            assert isinstance(ledger.find(f"d{number}"), ResolvedDecision)
        assert (ledger.rates().opened, ledger.rates().resolved) == (_ROUNDS, _ROUNDS)


def test_a_process_that_is_killed_amid_a_call_leaves_all_of_it_or_none(tmp_path: Path) -> None:
    """Wherever it dies, nobody waits for it: the decision is open as before, or resolved as it was reported."""
    reported = told_by("dying", tmp_path, 20)
    statuses = {at: word for at, word in reported if isinstance(word, int)}
    for at in statuses:
        with SqliteStore(tmp_path / f"{at}.db", timeout=5) as store:
            ledger = Ledger(store, clock=Hand(START))
            ledger.open(ASKED, decision_id="d", expires_in=60)
            stood = isinstance(ledger.find("d"), ResolvedDecision)
            assert stood or [at, "resolved"] not in reported
            if stood:
                with pytest.raises(AlreadyResolved):
                    ledger.resolve("d", select_option(ASKED, 3))
            else:
                assert not ledger.resolve("d", select_option(ASKED, 3)).already_resolved
            messages = [each["payload"]["message"] for each in store.events("emitter.ledger")]
            assert messages == ["decision.opened", "decision.resolved"]
    assert list(statuses.values()) == [-signal.SIGKILL] * (len(statuses) - 1) + [0]
    assert len(statuses) > 3


def test_a_forked_process_goes_on(tmp_path: Path) -> None:
    """It does not wait for a thread of its parent that it has not."""
    assert told_by("forking", tmp_path) == [["child", 1], ["ended", 0], ["parent", 1]]
