"""How an act ends: its receipt, what is retained of it, what is reported it, and what becomes of one nobody saw end."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority, Effects, Result, execution
from emitter.errors import AlreadyUsed, InputError, OtherCall, Tampered, Unfinished
from emitter.stores import MemoryStore
from tests.authority.execution.driving import Died, Drive, die
from tests.authority.execution.making import act, granted, nested, refused, shared, types, work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.stores import Entry
    from tests.decisions.ledger.asking import Told


def _numbers() -> Iterator[int]:
    yield from (1, 2)


class Odd:
    """An iterator that fails."""

    def __iter__(self) -> Odd:
        return self

    def __next__(self) -> int:
        raise LookupError


@dataclass
class Broken:
    """What cannot be looked at."""

    number: int

    def __getattribute__(self, name: str) -> Any:
        if name == "number":
            raise LookupError
        return super().__getattribute__(name)


KEPT: list[Any] = [None, True, 0, -1.5, "", "text \N{GRINNING FACE}", [], [1, [2]], {"a": {"b": [None]}}, 2**53 - 1]
NOT_KEPT: dict[str, Callable[[], Any]] = {
    "an object": object,
    "a number that is none": lambda: float("nan"),
    "too large a number": lambda: 2**53,
    "half a pair": lambda: "\ud800",
    "too deep": lambda: nested(70),
    "a generator": _numbers,
    "an iterator": lambda: iter([1, 2]),
    "an iterator that fails": Odd,
    "what cannot be looked at": lambda: Broken.__new__(Broken),
    "a function": lambda: print,
    "what is shared 50 deep": lambda: shared(50),
    "more than a store shall hold": lambda: [0] * 1_000_000,
}


@pytest.mark.parametrize("value", KEPT, ids=repr)
def test_what_was_returned_is_returned_again(again: Callable[..., Authority], value: Any) -> None:
    """By whichever process, after a restart, and whatever became of the confirm; the tool is called once."""
    confirm_id = granted(again()).confirm_id
    assert again().execute(confirm_id, work(tool=lambda: value)) == value
    again().revoke(confirm_id)
    for _ in range(2):
        assert again().execute(confirm_id, work(tool=pytest.fail)) == value
    assert types(again()) == ["CONFIRM", "INTENT", "RECEIPT", "REVOKE"]
    (receipt,) = again().receipts()
    assert (receipt.result, receipt.retained is not None) == (Result.SUCCESS, True)


@pytest.mark.parametrize("tool", NOT_KEPT.values(), ids=NOT_KEPT.keys())
def test_what_is_no_json_is_not_kept(authority: Authority, tool: Callable[[], Any]) -> None:
    """It is returned as it is, and the act has its receipt; asked for again, there is none to be returned."""
    confirm_id = granted(authority).confirm_id
    found = authority.execute(confirm_id, work(tool=tool))
    assert type(found) is type(tool())
    if tool is _numbers:
        assert list(found) == [1, 2]
    (receipt,) = authority.receipts()
    assert (receipt.result, receipt.retained) == (Result.SUCCESS, None)
    with refused(authority, AlreadyUsed) as known:
        authority.execute(confirm_id, work(tool=pytest.fail))
    assert known.value.receipt_id == receipt.receipt_id


@dataclass
class Page:
    """What a tool may return, with rows that are read one by one."""

    rows: Iterator[int]


def test_what_is_read_one_by_one_is_not_used_up(authority: Authority) -> None:
    """Wherever in a result it stands, whoever called gets all of it."""
    confirm_id = granted(authority, limits={}).confirm_id
    made = {"row": [Page(_numbers())]}
    found = authority.execute(confirm_id, work(tool=lambda: made))
    assert list(found["row"][0].rows) == [1, 2]
    assert [each.retained for each in authority.receipts()] == [None]


@pytest.mark.parametrize("value", [None, "secret"])
def test_what_shall_not_be_kept_is_not(authority: Authority, value: Any) -> None:
    """Nowhere in the store; that nothing was kept is not that nothing was returned."""
    confirm_id = granted(authority).confirm_id
    assert authority.execute(confirm_id, work(tool=lambda: value, retain=False)) is value
    with refused(authority, AlreadyUsed):
        authority.execute(confirm_id, work(tool=pytest.fail, retain=False))
    assert "secret" not in repr(authority._context.journal._store._entries)


def test_what_failed_stays_so(authority: Authority) -> None:
    """What the tool raises is raised, and in the receipt by its name alone; the act is not done again."""
    confirm_id = granted(authority).confirm_id

    def tool() -> None:
        raise LookupError("the secret")

    with pytest.raises(LookupError, match="the secret"):
        authority.execute(confirm_id, work(tool=tool))
    with refused(authority, AlreadyUsed) as known:
        authority.execute(confirm_id, work(tool=pytest.fail))
    (receipt,) = authority.receipts()
    assert known.value.receipt_id == receipt.receipt_id
    assert (receipt.result, receipt.error, receipt.retained) == (Result.FAILURE, "LookupError", None)
    assert "secret" not in repr(list(authority.lines("w")))


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit, Died])
def test_what_is_broken_off_is_unfinished(authority: Authority, error: type[BaseException]) -> None:
    """It is listed, and neither repeated nor forgotten; what it may have spent is spent."""
    confirm_id = granted(authority, limits={"max_side_effects": 1}).confirm_id

    def tool() -> None:
        raise error

    with pytest.raises(error):
        authority.execute(confirm_id, work(tool=tool))
    assert [each.intent_id for each in authority.unfinished_actions()] == ["i"]
    with refused(authority, Unfinished) as found:
        authority.execute(confirm_id, work(tool=pytest.fail))
    assert found.value.intent_id == "i"
    assert authority.get_grant(confirm_id).spent == {"max_side_effects": 1}


@pytest.mark.parametrize(
    "changed",
    [
        {"action": "pay"},
        {"target": "ceo"},
        {"step_id": "s"},
        {"spends": {"budget_usd": 2}},
        {"is_pure": True},
        {"call": {"r3_s256": "A" * 43, "call_id": "c"}},
    ],
    ids=repr,
)
@pytest.mark.parametrize("is_ended", [True, False], ids=["ended", "unfinished"])
def test_another_act_cannot_pass_for_one(authority: Authority, changed: dict[str, Any], *, is_ended: bool) -> None:
    """Under its id, to be given what that returned, or to be told that it was begun."""
    confirm_id = granted(authority, limits={"budget_usd": 9}).confirm_id
    other, request = granted(authority, limits={"budget_usd": 9}).confirm_id, act(spends={"budget_usd": 1})

    def tool() -> None:
        if not is_ended:
            raise Died

    with nullcontext() if is_ended else pytest.raises(Died):
        authority.execute(confirm_id, work(request, tool))
    with refused(authority, OtherCall):
        authority.execute(confirm_id, work(act(**{"spends": {"budget_usd": 1}, **changed}), pytest.fail))
    with refused(authority, OtherCall):
        authority.execute(other, work(request, pytest.fail))


def test_what_is_settled_is_settled_once(authority: Authority, reported: Told) -> None:
    """Of what was begun and did not end; what it returned nobody knows, so none is returned."""
    confirm_id = granted(authority).confirm_id
    with pytest.raises(Died):
        authority.execute(confirm_id, work(tool=die))
    receipt = authority.resolve_unfinished("w", "i", Effects())
    assert (receipt.intent_ref, receipt.authorization_ref, receipt.retained) == ("i", confirm_id, None)
    with refused(authority, AlreadyUsed) as known:
        authority.resolve_unfinished("w", "i", Effects())
    assert known.value.receipt_id == receipt.receipt_id
    for error, flow, name in ((InputError, "w", "j"), (InputError, "v", "i")):
        with refused(authority, error):
            authority.resolve_unfinished(flow, name, Effects())
    with refused(authority, AlreadyUsed):
        authority.execute(confirm_id, work(tool=pytest.fail))
    assert reported.messages()[-1] == "authority.receipted"


def test_what_runs_here_is_not_settled(authority: Authority) -> None:
    """Until its own receipt is there; another workflow's act of the same id is none of it."""
    confirm_id = granted(authority).confirm_id
    other = granted(authority, scope={"workflow_id": "v"}).confirm_id
    with pytest.raises(Died):
        authority.execute(other, work(act(workflow_id="v"), die))
    drive, steps = Drive(execution.execute_confirmed(authority._context, confirm_id, work())), list[str]()
    while not drive.is_over:
        if types(authority)[-1] == "INTENT":
            steps.append("running")
            with refused(authority, Unfinished):
                authority.resolve_unfinished("w", "i", Effects(Result.FAILURE))
        if len(steps) == 1 and authority.unfinished_actions("v"):
            assert authority.resolve_unfinished("v", "i", Effects()).workflow_id == "v"
        drive.take()
    assert len(steps) > 1
    assert [each.result for each in authority.receipts("w")] == [Result.SUCCESS]
    assert authority.execute(confirm_id, work(tool=pytest.fail)) == "done"


def test_what_was_cleared_away_runs_no_more(authority: Authority) -> None:
    """Wherever that is done: what a task left behind, a loop that ends or nobody at all clears away."""
    confirm_id = granted(authority).confirm_id
    drive = Drive(execution.execute_confirmed(authority._context, confirm_id, work(tool=pytest.fail)))
    drive.until(lambda: types(authority)[-1] == "INTENT")
    drive.steps.close()
    assert authority.resolve_unfinished("w", "i", Effects(Result.FAILURE)).intent_ref == "i"


def test_what_was_kept_is_what_was_returned() -> None:
    """What somebody put in its place is not given out."""

    class Forging(MemoryStore):
        __slots__ = ()

        def find(self, run_id: str, correlation_id: str) -> Entry | None:
            """Return what is remembered, with another result."""
            found = super().find(run_id, correlation_id)
            if found is not None and "kept" in found.envelope:
                return type(found)(found.type, found.outcome, {"kept": {"value": "forged"}})
            return found

    authority = Authority(Forging())
    confirm_id = granted(authority).confirm_id
    assert authority.execute(confirm_id, work()) == "done"
    with refused(authority, Tampered):
        authority.execute(confirm_id, work(tool=pytest.fail))
