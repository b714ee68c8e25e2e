"""Whatever several processes do at once, and however they end: nothing happens that was not granted, and all is told.

What ought to be so is reckoned by ``reckoning``; here it is done, one step of one generator at a time.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from emitter.authority import Effects, StopRequest, Work, acting, granting
from emitter.errors import Unfinished
from emitter.store import MemoryStore, SqliteStore
from tests.authority.core.drawing import DONE, FIRST
from tests.authority.core.driving import Drive
from tests.authority.core.judging import take, tool
from tests.authority.core.making import act, approved, asked
from tests.authority.core.reckoning import Approval, Flow, Reckoning, Why
from tests.authority.core.world import FLOWS, Doing, Process, World

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from emitter.authority import ActionRequest, Result


@dataclass(frozen=True)
class Setting:
    """How wrong clocks may be, and what the library is told of it."""

    offsets: tuple[float, ...]
    skew: float


HONEST = Setting((-2.0, 0.0, 0.125, 2.0), 4.0)
BROKEN = Setting((-50.0, -0.125, 0.0, 0.5, 50.0), 0.0)


class Interleaved(RuleBasedStateMachine):
    """Three processes; ``setting`` says how wrong their clocks are.

    There is one rule, so that in each example everything may happen: of several, hypothesis leaves some out.
    """

    def __init__(self, again: Callable[[], Any], setting: Setting) -> None:
        super().__init__()
        book = Reckoning(setting.skew, flows={name: Flow() for name in FLOWS})
        self.setting, self.book, self.world = setting, book, World(again, book)
        self.numbers = count()
        self.approvals: list[Approval] = []
        self.works: list[tuple[Approval, ActionRequest, str]] = []
        self.stops: list[tuple[str, str]] = []
        for flow, terms in zip(FLOWS, FIRST, strict=True):
            self.approve(0, flow, terms, 9)

    @rule(done=DONE)
    def do(self, done: tuple[str, dict[str, Any]]) -> None:
        """Do one thing."""
        how, arguments = done
        getattr(self, how)(**arguments)

    @invariant()
    def every_process_knows_what_is_so(self) -> None:
        """Each in its turn."""
        self.world.compare(self.world.processes[next(self.numbers) % 3])

    def teardown(self) -> None:
        """Leave what is under way."""
        self.world.end()

    def wait(self, who: int, by: float, which: int) -> None:
        """Let time pass, or have a clock jump, forward or back."""
        self.world.truly += by
        if not by:
            self.world.processes[who].offset = self.setting.offsets[which % len(self.setting.offsets)]

    def approve(self, who: int, flow: str, terms: dict[str, Any], steps: int) -> None:
        """Have a principal approve something, and begin to confirm it, or what was approved before."""
        process = self.world.processes[who]
        request = asked(**{**terms, "scope": {"workflow_id": flow, **terms["scope"]}})
        decision = approved(process.authority, request)
        approval = Approval(decision, request, process.clock(), self.world.truly)
        self.book.approvals[decision.pending.reference] = approval
        self.approvals.append(approval)
        for each in (approval, self.approvals[steps % len(self.approvals)]):
            taken = granting.confirm(process.authority._parts, each.decision, each.terms)
            self._begun(Doing(process, Drive(taken), each), steps)

    def begin(self, who: int, which: int, members: dict[str, Any], ends: str, steps: int) -> None:
        """Begin an act that a confirm covers, or that differs in a member."""
        approval = self._confirmed(which)
        terms = approval.terms
        spends = {name: 30 for name in terms.limits if name != "max_side_effects"}
        fitting = {"workflow_id": terms.scope.workflow_id, "call": terms.call, "spends": spends}
        request = act(f"i{next(self.numbers)}", **{**fitting, **members})
        self.works.append((approval, request, ends))
        self.again(who, -1, steps)

    def again(self, who: int, which: int, steps: int) -> None:
        """Begin an act, in whichever process, under the id that it has."""
        if not self.works:
            return
        process, (approval, request, ends) = self.world.processes[who], self.works[which % len(self.works)]
        work = Work(request, lambda: tool(self.world, doing, ends))
        taken = acting.execute(process.authority._parts, str(approval.confirm_id), work)
        doing = Doing(process, Drive(taken), approval, request)
        self._begun(doing, steps)

    def go_on(self, which: int, steps: int) -> None:
        """Take a step, or some, of what is under way."""
        under_way = self.world.doing()
        if under_way:
            self._take(under_way[which % len(under_way)], steps)

    def stop(self, who: int, flow: str, stopped: dict[str, Any]) -> None:
        """Stop a step or a workflow."""
        found = self.world.processes[who].authority.stop(StopRequest(flow, **stopped))
        self.stops.append((flow, found.stop.request_id))
        self.world.observe()
        assert [each.intent_id for each in found.running] == self.book.flows[flow].left(stopped["step_id"])

    def resume(self, who: int, which: int) -> None:
        """Lift a stop."""
        if self.stops:
            stop = self.stops[which % len(self.stops)]
            self._try(partial(self.world.processes[who].authority.resume, *stop), self.book.no_resume(*stop))

    def revoke(self, who: int, which: int) -> None:
        """Take a confirm back."""
        approval = self._confirmed(which)
        revoking = partial(self.world.processes[who].authority.revoke, str(approval.confirm_id))
        self._try(revoking, self.book.no_revoke(approval))

    def settle(self, who: int, which: int, result: Result) -> None:
        """Tell what became of an act that nobody saw end, or that runs elsewhere."""
        process = self.world.processes[who]
        left = process.authority.unfinished()
        if not left:
            return
        chosen = left[which % len(left)]
        why: Why = {Unfinished} if process.runs(chosen.workflow_id, chosen.intent_id) else set()
        self._try(lambda: process.authority.settle(chosen.workflow_id, chosen.intent_id, Effects(result)), why)

    def crash(self, who: int) -> None:
        """Have a process die amid what it does, and begin anew."""
        self.world.crash(self.world.processes[who])

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

    def _try(self, do: Callable[[], object], why: Why) -> None:
        if why:
            with pytest.raises(tuple(why)):
                do()
        else:
            do()
        assert len(self.world.observe()) == (not why)


_SETTINGS = settings(max_examples=50, stateful_step_count=50, deadline=None, derandomize=True)


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

        run_state_machine_as_test(machine, settings=settings(_SETTINGS, max_examples=8, phases=[Phase.generate]))
