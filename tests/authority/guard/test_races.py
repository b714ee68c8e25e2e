"""Of many that make the same call at once one makes it; the others have its result, or are told why not."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority
from emitter.errors import AuthorityError, OtherCall, Unfinished
from emitter.stores import SqliteStore, SqlStore
from tests.authority.guard.dying import read
from tests.authority.guard.parts import CEO, MOM, Person, Post, approve, kept, moment, proven
from tests.authority.guard.racing import PROCESSES, THREADS
from tests.launching import launch
from tests.stores.postgres import running
from tests.work import FULL

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.authority import ApprovalRequest
    from emitter.models import BindingMoment
    from emitter.stores import Store

ROOT = Path(__file__).parents[3]
ROUNDS = 8 if FULL else 4


def together(calls: list[Callable[[], Any]]) -> list[Any]:
    """Make calls in as many threads at once, and return what each returned or raised."""
    barrier = threading.Barrier(len(calls))

    def one(call: Callable[[], Any]) -> Any:
        barrier.wait(20)
        try:
            return call()
        except AuthorityError as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(one, calls))


@pytest.mark.parametrize("apart", [False, True], ids=["one guard", "a guard each"])
def test_of_many_threads_one_makes_the_call(store: Store, apart: bool) -> None:
    """The others have its result, or are told that it runs; and all of them have the result when they ask again."""
    post, person = Post(), Person()
    one = Authority(store).guard(post.send_email, ask=person)
    guards = [Authority(store).guard(post.send_email, ask=person) if apart else one for _ in range(THREADS)]

    found = together([lambda guard=each: guard.call("c1", MOM) for each in guards])

    assert {type(each) for each in found} <= {int, Unfinished}
    assert {each for each in found if isinstance(each, int)} == {1}
    assert post.sent == [(MOM, "hi")]
    assert [each.call("c1", MOM) for each in guards] == [1] * THREADS
    assert len({each.decision_id for each in person.asked}) == 1
    proven(Authority(store))


def test_of_two_calls_under_one_id_one_is_made(store: Store) -> None:
    """Whichever was proposed first: who comes with other arguments is reported so, whatever was approved."""
    post, person = Post(), Person()
    guard = Authority(store).guard(post.send_email, ask=person)
    recipients = [MOM, CEO] * (THREADS // 2)

    found = together([lambda to=to: guard.call("c1", to) for to in recipients])

    (sent,) = post.sent
    for to, each in zip(recipients, found, strict=True):
        assert isinstance(each, (int, Unfinished) if to == sent[0] else OtherCall)
    assert all(each.moment.findings[0] == f'to: "{sent[0]}"' for each in person.asked)


def test_of_two_envelopes_of_one_call_one_is_put(store: Store) -> None:
    """Written at once, by two who found none: nobody is asked by the other, and one answer is for both."""
    post, person, barrier = Post(), Person(), threading.Barrier(2)

    def brief(asked: ApprovalRequest) -> BindingMoment:
        offer = f"Ask me, number {barrier.wait(20)}."
        return moment(asked).model_copy(update={"offer": offer})

    guard = Authority(store).guard(post.send_email, ask=person, brief=brief)

    found = together([lambda: guard.call("c1", MOM)] * 2)

    assert {type(each) for each in found} <= {int, Unfinished}
    assert len({each.moment.offer for each in person.asked}) == 1
    assert guard.call("c1", MOM) == 1
    assert len(post.sent) == 1


def test_different_calls_do_not_wait_for_each_other(store: Store) -> None:
    """Each is asked about, approved and made, all at once."""
    post = Post()
    barrier = threading.Barrier(4)

    def ask(pending: Any) -> Any:
        barrier.wait(20)
        return approve(pending)

    guard = Authority(store).guard(post.send_email, ask=ask)

    found = together([lambda number=number: guard.call(f"c{number}", MOM) for number in range(4)])

    assert sorted(found) == [1, 2, 3, 4]
    assert len(post.sent) == 4
    proven(Authority(store))


def raced(folder: Path, kind: str, address: str) -> None:
    """Let processes race, and see that each call was made once, and that all of them have its result."""
    command = launch("tests.authority.guard.racing", str(folder), kind, address, str(ROUNDS))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=True)
    *reported, (_, statuses) = [json.loads(line) for line in done.stdout.splitlines()]

    assert statuses == [0] * PROCESSES
    for number in range(ROUNDS):
        found = [(how, value) for call_id, how, value, _ in reported if call_id == f"c{number}"]
        assert found == [("returned", "sent to mom")] * PROCESSES
        assert read(folder, f"effects-c{number}") == ["to mom"]
        assert len(set(read(folder, f"asked-c{number}"))) == 1
    assert Counter(each for *_, raised in reported for each in raised).keys() <= {"Unfinished"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no processes")
def test_of_many_processes_one_makes_the_call(tmp_path: Path) -> None:
    """Each with a guard of its own, from a file that is not there yet on; nobody is told that it is another call."""
    raced(tmp_path, "sqlite", str(tmp_path / "store.db"))

    with SqliteStore(tmp_path / "store.db") as store:
        authority = Authority(store)
        proven(authority)
        assert len(authority.receipts()) == ROUNDS
        assert {kept(authority, f"c{number}")["workflow_id"] for number in range(ROUNDS)} == set(authority.workflows())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no processes")
def test_of_many_processes_one_makes_the_call_on_postgres(tmp_path: Path) -> None:
    """As among several machines."""
    with running() as server:
        address = server.empty()
        raced(tmp_path, "postgres", address)
        with SqlStore(address, timeout=20) as store:
            proven(Authority(store))
            assert len(Authority(store).receipts()) == ROUNDS
