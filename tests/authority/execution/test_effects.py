"""What an act did, as its host tells it: it is in the receipt, and what cannot be reported costs none."""

from __future__ import annotations

from collections import UserDict
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Effects, Result
from emitter.errors import AlreadyUsed, InputError
from tests.authority.execution.driving import Died, die
from tests.authority.execution.making import granted, nested, refused, shared, types, work

if TYPE_CHECKING:
    from emitter.authority import Authority

TOLD = [
    Effects(side_effects={"charged_cents": 742, "codes": ["A"]}, evidence_refs=("txn:A", "log:b")),
    Effects(Result.PARTIAL, error="Half of it."),
    Effects(Result.FAILURE, side_effects={}, error="It was refused."),
    Effects(side_effects={"deep": nested(60)}),
]


@pytest.mark.parametrize("effects", TOLD, ids=["all", "in part", "not done", "deep"])
def test_what_an_act_did_is_in_its_receipt(authority: Authority, effects: Effects) -> None:
    """As the host tells it; reported by an act or by whoever settles it."""
    confirm_id = granted(authority).confirm_id
    authority.execute(confirm_id, work("reported", describe=lambda _: effects))
    with pytest.raises(Died):
        authority.execute(confirm_id, work("settled", die))
    authority.resolve_unfinished("w", "settled", effects)
    for receipt in authority.receipts():
        reported = receipt.to_json()
        assert receipt.result is effects.result
        assert reported.get("side_effects") == effects.side_effects
        assert reported.get("evidence_refs", []) == list(effects.evidence_refs)
        assert reported.get("error") == effects.error
    assert [each.intent_ref for each in authority.receipts()] == ["reported", "settled"]


NO_EFFECTS: dict[str, Any] = {
    "nothing": None,
    "a dict": {"result": "success"},
    "an object among side effects": Effects(side_effects={"at": object()}),  # type: ignore[dict-item]
    "a list of side effects": Effects(side_effects=[1]),  # type: ignore[arg-type]
    "an error of a success": Effects(error="with a success"),
    "an empty reference": Effects(evidence_refs=("",)),
    "a number that is none": Effects(side_effects={"n": float("nan")}),
    "no result": Effects("done"),  # type: ignore[arg-type]
    **{f"{depth} deep": Effects(side_effects={"deep": nested(depth)}) for depth in (62, 63, 64, 500)},
}


@pytest.mark.parametrize("effects", NO_EFFECTS.values(), ids=NO_EFFECTS.keys())
def test_what_cannot_be_reported_costs_no_receipt(authority: Authority, effects: Any) -> None:
    """The act was done: it has its receipt, and its value is returned; whoever settles one is reported at once."""
    confirm_id = granted(authority).confirm_id
    with pytest.warns(RuntimeWarning, match="^describe raised InputError; the records are unaffected.$"):
        assert authority.execute(confirm_id, work(describe=lambda _: effects)) == "done"
    assert [each.result for each in authority.receipts()] == [Result.SUCCESS]
    with pytest.raises(Died):
        authority.execute(confirm_id, work("j", die))
    with refused(authority, InputError):
        authority.resolve_unfinished("w", "j", effects)
    assert [each.intent_id for each in authority.unfinished_actions()] == ["j"]


def test_a_warning_that_is_an_error_costs_no_receipt(authority: Authority, caplog: pytest.LogCaptureFixture) -> None:
    """Nor the result: it is logged in its place."""
    confirm_id = granted(authority).confirm_id
    authority.execute(confirm_id, work(describe=lambda _: 1 // 0))  # warnings are errors in all tests here
    assert "describe raised ZeroDivisionError" in caplog.text
    assert types(authority) == ["CONFIRM", "INTENT", "RECEIPT"]


UNFIT = {
    "an error that is no text": Effects(Result.FAILURE, error="\ud800"),
    "a value that is no JSON": Effects(Result.FAILURE, side_effects={"at": object()}),  # type: ignore[dict-item]
    "a part": Effects(Result.PARTIAL, evidence_refs=("",)),
    "a name of it": Effects("failure", evidence_refs=("",)),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("effects", UNFIT.values(), ids=UNFIT)
def test_an_act_that_failed_is_none_that_succeeded(authority: Authority, effects: Effects) -> None:
    """What cannot be reported it is left out, and how it ended is reported."""
    confirm_id = granted(authority).confirm_id
    with pytest.warns(RuntimeWarning, match="^describe raised InputError; the records are unaffected.$"):
        authority.execute(confirm_id, work(describe=lambda _: effects))
    (receipt,) = authority.receipts()
    assert receipt.result.value == effects.result
    with refused(authority, AlreadyUsed):
        authority.execute(confirm_id, work(tool=pytest.fail))


@pytest.mark.parametrize("result", list(Result))
def test_a_result_may_be_reported_by_its_name(authority: Authority, result: Result) -> None:
    """It is the same, and so is what is kept."""
    confirm_id = granted(authority).confirm_id
    named: Any = result.value
    authority.execute(confirm_id, work(describe=lambda _: Effects(named)))
    (receipt,) = authority.receipts()
    assert (receipt.result, receipt.retained is None) == (result, result is not Result.SUCCESS)


class Unreadable(UserDict[str, Any]):
    """An object whose names cannot be reported."""

    def __iter__(self) -> Any:
        raise LookupError


@pytest.mark.parametrize("side_effects", [Unreadable(a=1), {"a": shared(50)}], ids=["unreadable", "shared 50 deep"])
def test_side_effects_that_cannot_be_written_are_refused(authority: Authority, side_effects: Any) -> None:
    """In time, and with an error of ours."""
    confirm_id = granted(authority).confirm_id
    with pytest.raises(Died):
        authority.execute(confirm_id, work(tool=die))
    with refused(authority, InputError):
        authority.resolve_unfinished("w", "i", Effects(side_effects=side_effects))
