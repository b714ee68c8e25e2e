"""Whatever several processes do at once, and however they end: nothing happens that was not granted, all is reported.

What ought to be so is reckoned by ``reckoning``; here it is done, one step of one generator at a time.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from emitter.authority import BoundCall, Effects, Execution, Result, StopRequest, execution, grants
from emitter.errors import Unfinished
from emitter.stores import MemoryStore, SqliteStore
from tests.authority.execution.driving import Drive
from tests.authority.execution.judging import take, tool
from tests.authority.execution.making import S256, act, approved, asked
from tests.authority.execution.reckoning import Approval, Flow, Reckoning, Why
from tests.authority.execution.world import FLOWS, Doing, Process, World
from tests.work import examples

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from emitter.authority import ActionRequest

_CALL = BoundCall(r3_s256=S256, call_id="call")
_NUMBERS, _WHO, _STEPS = st.integers(0, 20), st.integers(0, 2), st.sampled_from([1, 2, 3, 9, 9])
_SCOPE = {"step_ids": [None, None, ("s1",), ()], "targets": [None, None, ("mom",)], "capabilities": [None, ("send",)]}
_TERMS = st.fixed_dictionaries(
    {
        "scope": st.fixed_dictionaries({name: st.sampled_from(each) for name, each in _SCOPE.items()}),
        "limits": st.sampled_from([{}, {"max_side_effects": 1}, {"max_side_effects": 3, "budget_usd": 100}]),
        "ttl_seconds": st.sampled_from([20, 60, 600]),
        "revocable": st.sampled_from([True, True, False]),
        "risk_level": st.sampled_from(["low", "high"]),
        "call": st.sampled_from([None, None, _CALL]),
    }
)
_FIRST: list[dict[str, Any]] = [
    {"scope": {"targets": ("mom",)}, "limits": {"max_side_effects": 3, "budget_usd": 100}},
    {"scope": {"step_ids": ()}, "call": _CALL},
    {"scope": {"step_ids": ("s1",), "capabilities": ("send",)}, "call": _CALL},
]
_OTHER: dict[str, Any] = {
    "step_id": "s2",
    "target": "ceo",
    "action": "pay",
    "risk_level": "high",
    "spends": {"budget_usd": 90},
}
_OTHER["call"] = BoundCall(r3_s256=S256, call_id="other")
_FITS = st.tuples(st.sampled_from(["s1", "s1", None]), st.booleans(), _STEPS)
_CHANGES = st.sampled_from([(), (), (), *((name,) for name in _OTHER)])
_ENDS = st.sampled_from(["returns", "returns", "raises", "dies"])
_DELEGATED = "delegate_to_other_agent"
_MODES = [{"takeover_mode": "pause"}, {"takeover_mode": "human"}, {}]
_MODES += [{"takeover_mode": _DELEGATED, "delegate_to": name} for name in ("north", "agent")]
_STOPS = st.builds(
    lambda mode, step: {**mode, "step_id": step}, st.sampled_from(_MODES), st.sampled_from(["s1", "s1", "s2", None])
)


@dataclass(frozen=True)
class Setting:
    """How wrong clocks may be, and what the library is reported it."""

    offsets: tuple[float, ...]
    skew: float


HONEST = Setting((-2.0, 0.0, 0.125, 2.0), 4.0)
BROKEN = Setting((-50.0, -0.125, 0.0, 0.5, 50.0), 0.0)


class Interleaved(RuleBasedStateMachine):
    """Three processes; ``setting`` says how wrong their clocks are."""

    def __init__(self, again: Callable[[], Any], setting: Setting) -> None:
        super().__init__()
        book = Reckoning(setting.skew, flows={name: Flow() for name in FLOWS})
        self.setting, self.book, self.world = setting, book, World(again, book)
        self.numbers = count()
        self.approvals: list[Approval] = []
        self.works: list[tuple[Approval, ActionRequest, str]] = []
        self.stops: list[tuple[str, str]] = []
        for flow, terms in zip(FLOWS, _FIRST, strict=True):
            self.approve(0, flow, terms, 9)

    @rule(who=_WHO, by=st.sampled_from([0.0, 0.125, 1.0, 7.0, 30.0]), which=_NUMBERS)
    def wait(self, who: int, by: float, which: int) -> None:
        """Let time pass, or have a clock jump, forward or back."""
        self.world.truly += by
        if not by:
            self.world.processes[who].offset = self.setting.offsets[which % len(self.setting.offsets)]

    @rule(who=_WHO, flow=st.sampled_from(FLOWS), terms=_TERMS, steps=_STEPS)
    def approve(self, who: int, flow: str, terms: dict[str, Any], steps: int) -> None:
        """Have a principal approve something, and begin to confirm it, or what was approved before."""
        process = self.world.processes[who]
        request = asked(**{**terms, "scope": {"workflow_id": flow, **terms["scope"]}})
        decision = approved(process.authority, request)
        approval = Approval(decision, request, process.clock(), self.world.truly)
        self.book.approvals[decision.pending.reference] = approval
        self.approvals.append(approval)
        for each in (approval, self.approvals[steps % len(self.approvals)]):
            taken = grants.grant_confirm(process.authority._context, each.decision, each.terms)
            self._begun(Doing(process, Drive(taken), each), steps)

    @rule(who=_WHO, which=_NUMBERS, fits=_FITS, changes=_CHANGES, ends=_ENDS)
    def begin(
        self, who: int, which: int, fits: tuple[str | None, bool, int], changes: dict[str, Any], ends: str
    ) -> None:
        """Begin an act that a confirm covers, or that differs in a member."""
        approval = self._confirmed(which)
        step, is_pure, steps = fits
        terms, changed = approval.terms, {name: _OTHER[name] for name in changes}
        spends = {name: 40 for name in terms.limits if name != "max_side_effects"}
        fitting = {"workflow_id": terms.scope.workflow_id, "call": terms.call, "spends": spends, "is_pure": is_pure}
        request = act(f"i{next(self.numbers)}", **{**fitting, "step_id": step, **changed})
        self.works.append((approval, request, ends))
        self.again(who, -1, steps)

    @precondition(lambda self: self.works)
    @rule(who=_WHO, which=_NUMBERS, steps=_STEPS)
    def again(self, who: int, which: int, steps: int) -> None:
        """Begin an act, in whichever process, under the id that it has."""
        process, (approval, request, ends) = self.world.processes[who], self.works[which % len(self.works)]
        assert approval.confirm_id is not None
        work = Execution(request, lambda: tool(self.world, doing, ends))
        doing = Doing(
            process,
            Drive(execution.execute_confirmed(process.authority._context, approval.confirm_id, work)),
            approval,
            request,
        )
        self._begun(doing, steps)

    @precondition(lambda self: self.world.doing())
    @rule(which=_NUMBERS, steps=_STEPS)
    def go_on(self, which: int, steps: int) -> None:
        """Take a step, or some, of what is under way."""
        under_way = self.world.doing()
        self._take(under_way[which % len(under_way)], steps)

    @rule(who=_WHO, which=_NUMBERS, flow=st.sampled_from(FLOWS), stopped=_STOPS)
    def intervene(self, who: int, which: int, flow: str, stopped: dict[str, Any]) -> None:
        """Take a confirm back, stop or resume, settle, or die."""
        ways = (self._revoke, self._resume, self._settle, self._crash)
        if which % 6 < len(ways):
            ways[which % 6](self.world.processes[who], which)
        else:
            self._stop(self.world.processes[who], StopRequest(flow, **stopped))

    @invariant()
    def every_process_knows_what_is_so(self) -> None:
        """Each in its turn."""
        self.world.compare(self.world.processes[next(self.numbers) % 3])

    def teardown(self) -> None:
        """Leave what is under way."""
        self.world.end()

    def _confirmed(self, which: int) -> Approval:
        confirmed = [each for each in self.approvals if each.confirm_id]
        return confirmed[which % len(confirmed)]

    def _begun(self, doing: Doing, steps: int) -> None:
        doing.process.doing.append(doing)
        self._take(doing, steps)

    def _take(self, doing: Doing, steps: int) -> None:
        for _ in range(steps):
            if not doing.drive.is_over:
                take(self.world, doing)
        if doing.drive.is_over:
            doing.process.doing.remove(doing)

    def _revoke(self, process: Process, which: int) -> None:
        approval = self._confirmed(which)
        self._try(lambda: process.authority.revoke(str(approval.confirm_id)), self.book.no_revoke(approval))

    def _stop(self, process: Process, wanted: StopRequest) -> None:
        found = process.authority.stop(wanted)
        self.stops.append((wanted.workflow_id, found.stop.request_id))
        self.world.observe()
        running = [each.intent_id for each in found.unfinished_intents]
        assert running == self.book.flows[wanted.workflow_id].left(wanted.step_id)

    def _resume(self, process: Process, which: int) -> None:
        if self.stops:
            stop = self.stops[which % len(self.stops)]
            self._try(lambda: process.authority.resume(*stop), self.book.no_resume(*stop))

    def _settle(self, process: Process, which: int) -> None:
        left = process.authority.unfinished_actions()
        if left:
            chosen, effects = left[which % len(left)], Effects(list(Result)[which % 3])
            try:
                receipt = process.authority.resolve_unfinished(chosen.workflow_id, chosen.intent_id, effects)
            except Unfinished:
                assert process.runs(chosen.workflow_id, chosen.intent_id)
            else:
                assert (receipt.intent_ref, receipt.retained) == (chosen.intent_id, None)
                self.world.observe()

    def _crash(self, process: Process, _: int) -> None:
        self.world.crash(process)

    def _try(self, do: Callable[[], object], why: Why) -> None:
        if why:
            with pytest.raises(tuple(why)):
                do()
        else:
            do()
        assert len(self.world.observe()) == (not why)


_SETTINGS = settings(max_examples=examples(50), stateful_step_count=50)


@pytest.mark.parametrize("setting", [HONEST, BROKEN], ids=["clocks differ", "clocks are broken"])
def test_in_memory(setting: Setting) -> None:
    """A restart is another authority on the same store."""

    def machine() -> Interleaved:
        store = MemoryStore()
        return Interleaved(lambda: store, setting)

    run_state_machine_as_test(machine, settings=_SETTINGS)


def test_in_a_file(tmp_path: Path) -> None:
    """A restart opens the file again."""
    files = count()
    with ExitStack() as closing:

        def machine() -> Interleaved:
            file = tmp_path / f"{next(files)}.db"
            return Interleaved(lambda: closing.enter_context(SqliteStore(file)), HONEST)

        run_state_machine_as_test(
            machine, settings=settings(_SETTINGS, max_examples=examples(8), phases=[Phase.generate])
        )
