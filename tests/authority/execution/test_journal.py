"""The chain under it all: its time, its one order, what it refuses to hold, and what is reported it."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emitter.authority import Authority, Scope, StopRequest, chain, execution
from emitter.authority.records import parse_timestamp
from emitter.errors import AuthorityError, InputError, Tampered
from emitter.events import format_timestamp
from emitter.stores import MemoryStore
from tests.authority.execution.driving import Drive
from tests.authority.execution.making import act, approved, asked, granted, types, work
from tests.decisions.ledger.asking import Hand
from tests.work import count_lines, examples

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.events import RunEvent
    from tests.decisions.ledger.asking import Told

_THREADS = 16


@given(st.floats(0, 4e9, allow_nan=False))
@example(1.001)
@example(2**31 + 0.001)
@example(2_190_000_000.002)
@settings(max_examples=examples(300))
def test_a_time_is_read_as_it_was_written(at: float) -> None:
    """So a time that was read is never written as an earlier one: on that a line may follow."""
    reported = format_timestamp(at)
    assert format_timestamp(parse_timestamp(reported)) == reported
    assert abs(parse_timestamp(reported) - at) <= 0.001001


@pytest.mark.parametrize("start", [0.001, 1_800_000_000.123, 2**31 + 0.002, 2_190_000_000.009])
def test_a_clock_that_goes_back_does_not_stop_the_chain(clock: Hand, start: float) -> None:
    """No line is earlier than the one before it; what is added holds, and can be followed on."""
    clock.now = start
    authority = Authority(clock=clock)
    for number in range(20):
        clock.now = start + (number % 3) * 0.007 - (number % 5) * 0.0001
        authority.stop(StopRequest("w", step_id=f"s{number}"))
    times = [each.at for each in chain.verify_chain(authority.lines("w"))]
    assert (times, len(times)) == (sorted(times), 20)


def test_an_act_looks_at_the_chains_time(clock: Hand) -> None:
    """Once the chain is past the end of a confirm, a clock that goes back does not bring it to life."""
    authority = Authority(clock=clock)
    confirm_id = granted(authority, ttl_seconds=10).confirm_id

    def tool() -> bool:
        from emitter.authority import current_action  # noqa: PLC0415  what a tool would write

        clock.now += 20
        authority.stop(StopRequest("w", step_id="other"))
        clock.now -= 20
        return current_action().is_stopped

    assert authority.execute(confirm_id, work(tool=tool)) is True


def test_what_could_not_be_read_again_is_not_written(authority: Authority) -> None:
    """A record that was made past its model would end the chain for everybody."""
    request = asked().model_copy(update={"scope": Scope.model_construct(workflow_id="w", targets=("x" * 600,))})
    with pytest.raises(InputError):
        authority.confirm(approved(authority, request), request)
    for wrong in (5, None, "\ud800"):
        with pytest.raises(InputError, match="sign="):
            granted(Authority(sign=lambda _, wrong=wrong: wrong))  # type: ignore[misc]
    assert list(authority.lines("w")) == []
    assert granted(authority).scope.workflow_id == "w"


@pytest.mark.parametrize("number", range(3))
def test_a_chain_that_was_changed_serves_nobody(number: int) -> None:
    """Wherever: whoever reads it anew is told where."""
    store = MemoryStore()
    confirm_id = granted(first := Authority(store)).confirm_id
    first.execute(confirm_id, work())
    key = ("emitter.authority:w", str(number))
    store._entries[key] = store._entries[key].replace("mom", "ceo").replace("agent", "other").replace("web", "")
    store._entries[key] = store._entries[key].replace('"ttl_seconds":600', '"ttl_seconds":601')
    second = Authority(store)
    for use in (
        lambda: second.execute(confirm_id, work("j", pytest.fail)),
        lambda: second.stop("w"),
        second.receipts,
    ):
        with pytest.raises(Tampered) as found:
            use()
        assert found.value.place == f"line {number} of workflow w"


def test_what_came_to_nothing_is_no_workflow(authority: Authority, reported: Told) -> None:
    """Those that have a record are reported in their order, each once."""
    for come_to_nothing in (
        lambda: authority.resume("a", "x"),
        lambda: authority.confirm(approved(authority, asked()), asked(scope={"workflow_id": "b"})),
        lambda: authority.stop(""),
    ):
        with pytest.raises(Exception, match=r"\w"):
            come_to_nothing()
    for flow in ("w", "v", "w"):
        authority.stop(flow)
    assert authority.workflows() == ("w", "v")
    assert [each for each in reported.messages() if each.startswith("authority")] == ["authority.stopped"] * 3


def test_each_line_is_reported_once_and_without_its_content(again: Callable[..., Authority], reported: Told) -> None:
    """By the process that added it; ids and hashes are in it, and nothing of what was asked, done or said."""
    first, second = again(), again()
    secret = {"scope": {"workflow_id": "w", "targets": ("SECRET",), "step_ids": ("SECRET",)}}
    confirm_id = granted(first, limits={"budget_usd": 73100000731}, **secret).confirm_id
    request = act(action="SECRET", target="SECRET", step_id="SECRET", spends={"budget_usd": 73100000731})
    second.execute(confirm_id, work(request, lambda: "SECRET"))
    first.execute(confirm_id, work(request))
    first.revoke(confirm_id, reason="SECRET")
    stop = StopRequest("w", takeover_mode="human", reason="SECRET", request_id="r")
    assert second.stop(stop) == first.stop(stop)
    first.resume("w", "r")
    lines = [each for each in reported.lines() if "hash" in each]
    chained = list(chain.verify_chain(again().lines("w")))
    assert [(each["sequence"], each["hash"]) for each in lines] == [(each.seq, each.hash) for each in chained]
    named = ("confirmed", "intended", "receipted", "revoked", "stopped", "resumed")
    assert [each for each in reported.messages() if each.startswith("authority.")] == [f"authority.{n}" for n in named]
    assert "SECRET" not in repr([each.to_json() for each in reported.events])
    assert "73100000731" not in repr([line for line in reported.lines() if "hash" not in line])


def test_a_sink_that_fails_costs_nothing(clock: Hand) -> None:
    """What was recorded stands, and is returned."""

    def broken(_: RunEvent) -> None:
        raise LookupError("the secret")

    authority = Authority(clock=clock)
    decision = approved(authority, asked())
    failing = Authority(authority._context.journal._store, clock=clock, on_event=broken)
    with pytest.warns(RuntimeWarning, match="^A sink raised LookupError; the records are unaffected.$"):
        confirm_id = failing.confirm(decision, asked()).confirm_id
    with pytest.warns(RuntimeWarning):
        assert failing.execute(confirm_id, work()) == "done"
    assert types(authority) == ["CONFIRM", "INTENT", "RECEIPT"]


def test_a_sink_that_fails_where_warnings_are_errors_costs_no_act(clock: Hand) -> None:
    """Raised between an intent and its act, the warning would leave an act that nobody ever begins."""

    def broken(_: RunEvent) -> None:
        raise LookupError

    authority = Authority(clock=clock)
    failing = Authority(authority._context.journal._store, clock=clock, on_event=broken)
    confirm_id = granted(authority).confirm_id
    assert failing.execute(confirm_id, work()) == "done"  # as all tests here are run
    assert types(authority) == ["CONFIRM", "INTENT", "RECEIPT"]


@pytest.mark.parametrize("limit", [{"max_side_effects": 5}, {"budget_usd": 50, "max_side_effects": 99}], ids=repr)
def test_of_many_threads_so_many_act_as_may(again: Callable[..., Authority], limit: dict[str, int]) -> None:
    """Of one process and of others; each id is one act, and each act is done once."""
    everybody = [again(), *(again() for _ in range(3))]
    confirm_id = granted(everybody[0], limits=limit).confirm_id
    barrier, done = threading.Barrier(_THREADS), list[str]()

    def use(number: int) -> str:
        barrier.wait(20)
        name = f"i{number % 12}"
        spends = {each: 10 for each in limit if each == "budget_usd"}
        try:
            everybody[number % 4].execute(confirm_id, work(act(name, spends=spends), lambda: done.append(name)))
        except AuthorityError as error:
            return error.code
        return "done"

    with ThreadPoolExecutor(_THREADS) as pool:
        found = Counter(pool.map(use, range(_THREADS)))
    assert (len(done), len(set(done))) == (5, 5)
    assert found["done"] >= 5
    assert found.keys() <= {"done", "limit_exceeded", "unfinished"}
    assert types(everybody[0]).count("INTENT") == types(everybody[0]).count("RECEIPT") == 5


def test_who_comes_late_is_given_what_was_returned(again: Callable[..., Authority]) -> None:
    """Two do one act: whoever finds it ended meanwhile has its result, and does not call it unfinished."""
    confirm_id = granted(again()).confirm_id
    late = Drive(execution.execute_confirmed(again()._context, confirm_id, work(tool=pytest.fail)))
    late.take()
    assert again().execute(confirm_id, work(tool=lambda: "first")) == "first"
    assert late.end() == "first"


def test_an_act_that_is_left_is_left_as_it_was(authority: Authority) -> None:
    """Nothing of it is written by whoever clears it away, and nothing of the act stays behind."""
    confirm_id = granted(authority).confirm_id
    for steps in range(5):
        drive = Drive(execution.execute_confirmed(authority._context, confirm_id, work(act(f"i{steps}"))))
        for _ in range(min(steps, 4)):
            drive.take()
        before = types(authority)
        drive.leave()
        assert types(authority) == before
    assert not authority._context.active_actions._actions
    found = types(authority)
    assert len(authority.unfinished_actions()) == found.count("INTENT") - found.count("RECEIPT") > 0


def lines_at(counted: tuple[int, int], call: Callable[[int], None]) -> list[int]:
    """Call with 0, 1, 2, ... to the last of two numbers, and return how much work these two took."""
    found: list[int] = []
    for number in range(counted[-1] + 1):
        if number in counted:
            found.append(count_lines(partial(call, number)))
        else:
            call(number)
    return found


def test_adding_stays_as_fast(clock: Hand) -> None:
    """However long a chain is: its end is all that is read."""
    authority = Authority(clock=clock)

    def stop(number: int) -> None:
        authority.stop(StopRequest("w", step_id=f"s{number % 4}", takeover_mode="pause", request_id=f"r{number}"))

    work = {
        number: count_lines(partial(stop, number)) if number in {100, 1_999} else stop(number)
        for number in range(2_000)
    }
    assert (work[1_999] or 0) < 2 * (work[100] or 0)
    assert Authority(authority._context.journal._store).unfinished_actions("w") == ()


def test_a_workflow_more_costs_no_more_than_the_first(clock: Hand) -> None:
    """However many there are: whoever adds one does not read the list from its beginning."""
    authority = Authority(clock=clock)

    def stop(number: int) -> None:
        authority.stop(f"w{number}")

    work = {
        number: count_lines(partial(stop, number)) if number in {50, 899} else stop(number) for number in range(900)
    }
    assert (work[899] or 0) < 2 * (work[50] or 0)
    assert len(Authority(authority._context.journal._store).workflows()) == 900


def test_who_reads_need_not_know_how_wrong_clocks_were(clock: Hand) -> None:
    """What was added by the rules of whoever added it is no forgery to those whose clocks are better."""
    store = MemoryStore()
    ahead, behind = (Authority(store, clock=Hand(clock.now + by), max_skew=10) for by in (5, -5))
    request = asked()
    confirm_id = behind.confirm(approved(ahead, request), request).confirm_id
    clock.now += 30
    assert Authority(store, clock=clock).execute(confirm_id, work()) == "done"
