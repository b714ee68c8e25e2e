"""Nothing that was stopped begins, in whichever process; what was handed over is another's, what was paused goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority, StopRequest, current_action, execution, grants
from emitter.errors import InputError, WorkflowStopped
from tests.authority.execution.driving import Drive
from tests.authority.execution.making import act, approved, asked, granted, refused, types, work

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.decisions.ledger.asking import Hand

_TO_NORTH = {"takeover_mode": "delegate_to_other_agent", "delegate_to": "north"}
_TO_SOUTH = {"takeover_mode": "delegate_to_other_agent", "delegate_to": "south"}
_PAUSE, _HUMAN, _FINAL = {"takeover_mode": "pause"}, {"takeover_mode": "human"}, dict[str, str]()
_STEP = {"step_id": "s"}


def _begins(authority: Authority, step_id: str | None) -> bool:
    """Tell whether an act begins, under a confirm that is granted for it now."""
    try:
        confirm_id = granted(authority).confirm_id
        authority.execute(confirm_id, work(act(f"{confirm_id}{step_id}", step_id=step_id)))
    except WorkflowStopped:
        return False
    return True


HELD: list[tuple[list[dict[str, Any]], str, str | None, bool]] = [
    ([_FINAL], "agent", None, False),
    ([_FINAL], "agent", "s", False),
    ([_PAUSE], "agent", "s", False),
    ([_HUMAN], "agent", "s", False),
    ([_STEP], "agent", "s", False),
    ([_STEP], "agent", "t", True),
    ([_STEP], "agent", None, True),
    ([_STEP | _PAUSE], "agent", "s", False),
    ([_TO_NORTH], "agent", "s", False),
    ([_TO_NORTH], "north", "s", True),
    ([_TO_NORTH], "north", None, True),
    ([_STEP | _TO_NORTH], "agent", "s", False),
    ([_STEP | _TO_NORTH], "north", "s", True),
    ([_STEP | _TO_NORTH], "agent", "t", True),
    ([_TO_NORTH, _STEP], "north", "s", False),
    ([_TO_NORTH, _STEP], "north", "t", True),
    ([_STEP, _TO_NORTH], "north", "s", False),
    ([_TO_NORTH, _FINAL], "north", "s", False),
    ([_FINAL, _TO_NORTH], "north", "s", False),
    ([_PAUSE, _TO_NORTH], "north", "s", False),
    ([_TO_NORTH, _TO_SOUTH], "north", "s", False),
    ([_TO_NORTH, _TO_SOUTH], "south", "s", False),
    ([_TO_NORTH, _STEP | _TO_SOUTH], "north", "s", False),
    ([_TO_NORTH, _STEP | _TO_SOUTH], "north", "t", True),
    ([_TO_NORTH, _STEP | _TO_SOUTH], "south", "s", False),
]


@pytest.mark.parametrize(("stops", "actor", "step_id", "begins"), HELD, ids=[f"{s}-{a}-{i}" for s, a, i, _ in HELD])
def test_a_stop_holds(
    stops: list[dict[str, Any]], actor: str, step_id: str | None, *, begins: bool, clock: Hand
) -> None:
    """Each of them by itself, whatever follows on it, for everybody but the agent to whom it hands the control."""
    authority = Authority(actor=actor, clock=clock)
    for stop in stops:
        authority.stop(StopRequest("w", **stop))
    clock.now += 1
    assert _begins(authority, step_id) is begins


@pytest.mark.parametrize("mode", [_PAUSE, _HUMAN])
def test_a_pause_is_lifted(again: Callable[..., Authority], clock: Hand, mode: dict[str, str]) -> None:
    """By whichever process; what was confirmed before a chain was stopped stays dead, what is approved since is not."""
    first, second = again(), again()
    confirm_id = granted(first).confirm_id
    request_id = second.stop(StopRequest("w", **mode)).stop.request_id
    clock.now += 1
    with refused(first, WorkflowStopped):
        first.execute(confirm_id, work(tool=pytest.fail))
    assert first.resume("w", request_id).request_id == request_id
    with refused(first, WorkflowStopped):
        first.execute(confirm_id, work(tool=pytest.fail))
    assert _begins(second, "s")
    assert types(again()) == ["CONFIRM", "STOP", "RESUME", "CONFIRM", "INTENT", "RECEIPT"]
    with refused(second, InputError):
        second.resume("w", request_id)


def test_a_step_goes_on_as_it_was_confirmed(authority: Authority) -> None:
    """The stop of a step ends no confirm: lifted, the step may begin."""
    confirm_id = granted(authority).confirm_id
    request_id = authority.stop(StopRequest("w", step_id="s", takeover_mode="pause")).stop.request_id
    assert authority.execute(confirm_id, work(act("other", step_id="t"))) == "done"
    with refused(authority, WorkflowStopped):
        authority.execute(confirm_id, work(act(step_id="s"), pytest.fail))
    authority.resume("w", request_id)
    assert authority.execute(confirm_id, work(act(step_id="s"))) == "done"


@pytest.mark.parametrize("last", [_FINAL, _PAUSE, _STEP, _TO_NORTH])
def test_a_stop_is_lifted_alone(authority: Authority, clock: Hand, last: dict[str, str]) -> None:
    """Whoever paused a workflow after others had stopped it does not lift their stops with their own."""
    for first in (last, last | {"request_id": "again"}):
        authority.stop(StopRequest("w", **first))
    pause = authority.stop(StopRequest("w", **last, **({} if "takeover_mode" in last else _PAUSE), request_id="p"))
    clock.now += 1
    if pause.stop.delegate_to is None:
        authority.resume("w", "p")
    assert not _begins(authority, "s")


@pytest.mark.parametrize("stop", [_FINAL, _STEP, _TO_NORTH, _STEP | _TO_NORTH], ids=repr)
def test_what_is_final_or_anothers_is_not_lifted(authority: Authority, stop: dict[str, str]) -> None:
    """A new workflow can be begun."""
    request_id = authority.stop(StopRequest("w", **stop)).stop.request_id
    with refused(authority, WorkflowStopped):
        authority.resume("w", request_id)
    for unknown in (("w", "x"), ("v", request_id)):
        with refused(authority, InputError):
            authority.resume(*unknown)
    assert authority.workflows() == ("w",)


@pytest.mark.parametrize(
    "wrong",
    [
        {"takeover_mode": "wait"},
        {"delegate_to": "north"},
        {"takeover_mode": "delegate_to_other_agent"},
        {"takeover_mode": "pause", "delegate_to": "north"},
        {"workflow_id": ""},
        {"step_id": ""},
        {"reason": "x" * 10_001},
        {"reason": "\ud800"},
        {"request_id": ""},
    ],
    ids=repr,
)
def test_what_is_no_stop_is_refused(authority: Authority, wrong: dict[str, Any]) -> None:
    """It says what is wrong, and nothing is recorded."""
    with refused(authority, InputError):
        authority.stop(StopRequest(**{"workflow_id": "w", **wrong}))
    assert authority.workflows() == ()


def test_one_request_is_one_stop(again: Callable[..., Authority]) -> None:
    """The same again, from whichever process, changes nothing; another under its id is refused."""
    wanted = StopRequest("w", step_id="s", reason="Enough.", request_id="r")
    stopped = again().stop(wanted)
    assert again().stop(wanted) == stopped
    assert types(again()) == ["STOP"]
    with refused(again(), InputError):
        again().stop(StopRequest("w", reason="Enough.", request_id="r"))
    assert again().stop("v").stop.request_id != again().stop("u").stop.request_id


def test_a_stop_comes_between_any_two_steps_of_a_confirmation(again: Callable[..., Authority]) -> None:
    """Recorded before it is granted, the stop keeps it from that; after it, the confirm is dead."""
    for steps in range(4):
        first, second, flow = again(), again(), f"w{steps}"
        request = asked(scope={"workflow_id": flow})
        drive = Drive(grants.grant_confirm(first._context, approved(first, request), request))
        for _ in range(min(steps, 3)):
            drive.take()
        second.stop(flow)
        if steps < 3:
            with pytest.raises(WorkflowStopped):
                drive.end()
            assert types(first, flow) == ["STOP"]
        else:
            with refused(first, WorkflowStopped, flow):
                first.execute(drive.end().confirm_id, work(act(workflow_id=flow), pytest.fail))


def test_a_stop_comes_between_any_two_steps_of_an_act(again: Callable[..., Authority]) -> None:
    """Recorded before the intent it keeps the act from beginning, and before the tool from being done."""
    ends = [["STOP"], ["STOP"], ["INTENT", "STOP", "RECEIPT"]]
    for steps, end in enumerate(ends):
        first, second, flow = again(), again(), f"w{steps}"
        confirm_id = granted(first, scope={"workflow_id": flow}).confirm_id
        drive = Drive(execution.execute_confirmed(first._context, confirm_id, work(act(workflow_id=flow), pytest.fail)))
        for _ in range(steps):
            drive.take()
        stopped = second.stop(flow)
        assert len(stopped.unfinished_intents) == end.count("INTENT")
        with pytest.raises(WorkflowStopped):
            drive.end()
        assert types(first, flow) == ["CONFIRM", *end]
        reported = [(each.result.value, each.error) for each in first.receipts(flow)]
        never_called = ("failure", "It was broken off before it began: WorkflowStopped.")
        assert reported == [never_called] * end.count("INTENT")


def test_what_runs_is_reported(again: Callable[..., Authority]) -> None:
    """Here by a call, elsewhere when it looks, and once; its own step's stop is its own, another's is not."""
    here, there = again(), again()
    confirm_id = granted(here).confirm_id
    reported: list[str | None] = []

    def tool() -> str:
        running = current_action()
        running.on_stop(lambda stop: reported.append(stop.request_id))
        running.on_stop(lambda _: 1 // 0)
        there.stop(StopRequest("w", step_id="t", request_id="another's"))
        here.stop(StopRequest("v", request_id="another workflow's"))
        assert not running.is_stopped
        stopped = there.stop(StopRequest("w", step_id="s", request_id="its own"))
        assert (stopped.unfinished_intents, reported, running.is_stopped) == ((running.intent,), [], True)
        with pytest.raises(WorkflowStopped):
            running.check()
        for _ in range(2):
            here.stop(StopRequest("w", step_id="s", request_id="its own"))
        running.on_stop(lambda stop: reported.append(f"late: {stop.request_id}"))
        return "done"

    assert here.execute(confirm_id, work(act(step_id="s"), tool)) == "done"
    assert reported == ["its own", "late: its own"]
    with pytest.raises(InputError):
        current_action()


def test_acts_of_one_id_are_reported_each_of_its_own_stop(authority: Authority) -> None:
    """In two workflows an id is of two acts."""
    outer, inner = (granted(authority, scope={"workflow_id": flow}).confirm_id for flow in "vw")
    reported: list[str] = []

    def tool() -> None:
        current_action().on_stop(lambda stop: reported.append(stop.workflow_id))
        authority.execute(inner, work(act(workflow_id="w")))
        authority.stop("v")

    authority.execute(outer, work(act(workflow_id="v"), tool))
    assert reported == ["v"]


def test_what_cannot_be_reported_is_refused(authority: Authority) -> None:
    """Else the stop would come, and nobody be told of it."""

    def tool() -> None:
        with pytest.raises(InputError, match="must be a function"):
            current_action().on_stop("stop")  # type: ignore[arg-type]

    authority.execute(granted(authority).confirm_id, work(tool=tool))
