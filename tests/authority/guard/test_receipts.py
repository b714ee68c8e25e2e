"""Every act has its receipt, whatever it did, and whoever fails after it."""

from __future__ import annotations

import asyncio
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import ActionOutcome, Authority, Effects, Result
from emitter.errors import AlreadyUsed, InputError, PartiallyDone, Unfinished
from tests.authority.guard.parts import MOM, Post, approve, guarded, proven
from tests.decisions.ledger.asking import Told

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_tool_that_raises_is_not_called_again() -> None:
    """What it raised is raised, its type is in the receipt, and none of its words are."""
    authority, call = guarded(lambda: int("the PIN is PLUGH"))

    with pytest.raises(ValueError, match="PLUGH"):
        call()
    for _ in range(2):
        with pytest.raises(AlreadyUsed):
            call()
    (receipt,) = authority.receipts()
    assert (receipt.result, receipt.error) == (Result.FAILURE, "ValueError")
    assert "PLUGH" not in str([*authority.lines(receipt.workflow_id)])
    proven(authority)


def _sent_in_part(cause: Exception | None = None) -> None:
    raise PartiallyDone(
        "Two of three, and the PIN is PLUGH.", side_effects={"sent": 2, "of": 3}, evidence_refs=["mail:1", "mail:2"]
    ) from cause


def _in_a_group() -> None:
    try:
        _sent_in_part(TimeoutError("PLUGH"))
    except PartiallyDone as error:
        raise ExceptionGroup("tasks", [ValueError("PLUGH"), ExceptionGroup("more", [error])]) from None


class _Mine(PartiallyDone):
    """An exception of an application's own."""


def _mine() -> None:
    raise _Mine("PLUGH", side_effects={"sent": 2, "of": 3}, evidence_refs=["mail:1", "mail:2"])


PARTS: dict[str, tuple[Callable[[], None], type[Exception], str]] = {
    "by itself": (_sent_in_part, PartiallyDone, "PartiallyDone"),
    "from what stopped it": (lambda: _sent_in_part(TimeoutError("PLUGH")), PartiallyDone, "TimeoutError"),
    "in a group of tasks": (_in_a_group, ExceptionGroup, "TimeoutError"),
    "of a class of its own": (_mine, _Mine, "_Mine"),
}


@pytest.mark.parametrize(("tool", "error", "name"), PARTS.values(), ids=PARTS)
def test_a_tool_that_raises_can_say_what_it_did_in_part(
    tool: Callable[[], None], error: type[Exception], name: str
) -> None:
    """The receipt says so, and has no word of the exception; the same call is not made again."""
    authority, call = guarded(tool)

    with pytest.raises(error):
        call()
    for _ in range(2):
        with pytest.raises(AlreadyUsed):
            call()
    (receipt,) = authority.receipts()
    assert (receipt.result, receipt.error) == (Result.PARTIAL, name)
    assert (receipt.side_effects, receipt.evidence_refs) == ({"sent": 2, "of": 3}, ("mail:1", "mail:2"))
    assert "PLUGH" not in str([*authority.lines(receipt.workflow_id)])
    proven(authority)


def test_an_async_tool_can_say_it_too() -> None:
    """As any other."""
    authority = Authority()

    async def send() -> None:
        await asyncio.sleep(0)
        _sent_in_part()

    with pytest.raises(PartiallyDone):
        asyncio.run(authority.guard(send, ask=approve)())  # type: ignore[arg-type]
    assert authority.receipts()[0].result is Result.PARTIAL


UNFIT_PARTS: dict[str, dict[str, Any]] = {
    "side effects that are no object": {"side_effects": ["a"]},
    "side effects that are no JSON": {"side_effects": {"a": object()}},
    "evidence as one text": {"evidence_refs": "mail:1"},
    "evidence that is no list": {"evidence_refs": 5},
}


@pytest.mark.parametrize("reported", UNFIT_PARTS.values(), ids=UNFIT_PARTS)
def test_what_fits_no_receipt_leaves_the_act_done_in_part(reported: dict[str, Any]) -> None:
    """It is warned of, and left out."""

    def tool() -> None:
        raise PartiallyDone("in part", **reported)

    authority, call = guarded(tool)
    with pytest.warns(RuntimeWarning, match="PartiallyDone"), pytest.raises(PartiallyDone):
        call()
    (receipt,) = authority.receipts()
    assert (receipt.result, receipt.side_effects, receipt.evidence_refs) == (Result.PARTIAL, None, None)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_a_tool_that_is_broken_off_is_unfinished(error: type[BaseException]) -> None:
    """Nobody knows what it did: it is listed, not repeated, and settled by whoever finds out."""

    def broken() -> None:
        raise error

    authority, call = guarded(broken)
    with pytest.raises(error):
        call()
    with pytest.raises(Unfinished) as raised:
        call()
    (intent,) = authority.unfinished_actions()
    assert raised.value.intent_id == intent.intent_id == "c1"

    authority.resolve_unfinished(intent.workflow_id, "c1", Effects(Result.PARTIAL, error="It was sent to one of two."))
    with pytest.raises(AlreadyUsed):
        call()
    proven(authority)


@pytest.mark.parametrize("effects", [Effects(), Effects(side_effects={"sent": 1})], ids=["bare", "reported"])
def test_an_act_that_was_settled_as_done_is_not_answered_with_nothing(effects: Effects) -> None:
    """Nobody knows what it returned."""

    def broken() -> None:
        raise KeyboardInterrupt

    authority, call = guarded(broken)
    with pytest.raises(KeyboardInterrupt):
        call()
    (intent,) = authority.unfinished_actions()
    authority.resolve_unfinished(intent.workflow_id, "c1", effects)

    with pytest.raises(AlreadyUsed):
        call()


DESCRIBED: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda _: None,
    "an object": lambda _: {"sent": 1},
    "what is no JSON": lambda _: Effects(side_effects={"at": object()}),
    "an error with success": lambda _: Effects(error="x"),
    "proofs that are no texts": lambda _: Effects(evidence_refs=(5,)),  # type: ignore[arg-type]
    "an error": lambda value: value / 0,
}


@pytest.mark.parametrize("strict", [False, True], ids=["warned", "warnings are errors"])
@pytest.mark.parametrize("describe", DESCRIBED.values(), ids=DESCRIBED)
def test_what_cannot_be_described_costs_no_receipt(describe: Callable[[Any], Any], strict: bool) -> None:
    """It is warned of, and reported as an event without a word of it; the result of the act is answered again."""
    reported = Told()
    authority = Authority(on_event=reported)
    guard = authority.guard(Post().send_email, ask=approve, describe=describe)

    with warnings.catch_warnings():
        warnings.simplefilter("error" if strict else "always")
        if strict:
            assert guard.call("c1", MOM) == 1
        else:
            with pytest.warns(RuntimeWarning, match="the records are unaffected"):
                assert guard.call("c1", MOM) == 1

    assert guard.call("c1", MOM) == 1
    (receipt,) = authority.receipts()
    assert (receipt.result, receipt.side_effects) == (Result.SUCCESS, None)
    assert reported.lines("authority.hook_failed")[0]["hook"] == "describe"
    proven(authority)


@pytest.mark.parametrize("result", [Result.FAILURE, Result.PARTIAL])
def test_a_result_that_was_described_as_no_success_is_not_answered_again(result: Result) -> None:
    """The caller has it; the receipt says what it was."""
    authority, call = guarded({"code": 500}, describe=lambda value: Effects(result, error=f"code {value['code']}"))

    assert call() == {"code": 500}
    with pytest.raises(AlreadyUsed):
        call()
    (receipt,) = authority.receipts()
    assert (receipt.result, receipt.error, receipt.retained) == (result, "code 500", None)


class After:
    """Hooks after an act, which raise."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def after_execute(self, result: ActionOutcome) -> None:
        """See what came of it."""
        self.seen.append(result)
        raise RuntimeError("the PIN is PLUGH")

    def emit_receipt(self, receipt: Any) -> None:
        """See its receipt."""
        self.seen.append(receipt)
        raise RuntimeError


@pytest.mark.parametrize("strict", [False, True], ids=["warned", "warnings are errors"])
def test_a_hook_that_raises_after_the_act_costs_no_receipt(strict: bool) -> None:
    """Nor the result, which is answered again; each hook is called once for the act."""
    reported, hooks = Told(), After()
    authority = Authority(hooks=[hooks], on_event=reported)
    guard = authority.guard(Post().send_email, ask=approve)

    with warnings.catch_warnings(record=not strict):
        warnings.simplefilter("error" if strict else "always")
        assert guard.call("c1", MOM) == 1

    assert guard.call("c1", MOM) == 1
    assert isinstance(hooks.seen[0], ActionOutcome)
    assert hooks.seen[0].value == 1
    assert "PLUGH" not in str(reported.lines())
    proven(authority)


def test_a_tool_that_turns_out_to_be_async_is_not_left_waiting() -> None:
    """Its coroutine is closed before it does anything, and the receipt says that the act failed."""
    post = Post()

    async def send() -> None:
        post.send_email(MOM)

    authority, call = guarded(lambda: send())  # noqa: PLW0108  it is no coroutine function
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match="async"):
            call()
    assert post.sent == []
    assert [each.result for each in authority.receipts()] == [Result.FAILURE]
