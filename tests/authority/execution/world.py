"""Processes that share a store, each with a clock of its own, and what each of them has under way."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from emitter.authority import Authority
from emitter.authority.audit import report_chain
from emitter.authority.chain import verify_chain
from tests.decisions.ledger.asking import START, Told

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.authority import ActionRequest
    from tests.authority.execution.driving import Drive
    from tests.authority.execution.reckoning import Approval, Reckoning

FLOWS = "abc"


@dataclass
class Doing:
    """An act or a confirmation that is under way in a process."""

    process: Process
    drive: Drive
    approval: Approval
    request: ActionRequest | None = None
    began: bool = False
    called: bool = False


class Looking:
    """A hook, so that there is a step before an act's intent."""

    def before_execute(self, _: ActionRequest) -> None:
        """Look on."""


@dataclass
class Process:
    """A process: ``offset`` is by how many seconds its clock is ahead of the right time."""

    world: World
    actor: str
    offset: float = 0.0
    doing: list[Doing] = field(default_factory=list[Doing])

    def __post_init__(self) -> None:
        self.start()

    def clock(self) -> float:
        """Return the time, as this process has it."""
        return self.world.truly + self.offset

    def runs(self, workflow_id: str, intent_id: str) -> bool:
        """Tell whether an act is under way here, and was begun here."""
        began = [each.request for each in self.doing if each.began and each.request is not None]
        return any((each.workflow_id, each.intent_id) == (workflow_id, intent_id) for each in began)

    def start(self) -> None:
        """Begin anew on what is in the store."""
        self.doing = []
        world = self.world
        self.authority = Authority(
            world.again(),
            actor=self.actor,
            hooks=[Looking()],
            max_skew=world.book.skew,
            clock=self.clock,
            on_event=world.reported,
        )


@dataclass
class World:
    """The right time, the processes, and what ought to be so: ``again`` opens the store as another process would."""

    again: Callable[[], Any]
    book: Reckoning
    truly: float = START
    reported: Told = field(default_factory=Told)
    gone: list[Doing] = field(default_factory=list[Doing])
    compared: int = 0

    def __post_init__(self) -> None:
        self.processes = [Process(self, name) for name in ("north", "south", "agent")]

    def doing(self) -> list[Doing]:
        """Return all that is under way."""
        return [each for process in self.processes for each in process.doing]

    def observe(self) -> list[dict[str, Any]]:
        """See that every chain verifies, and reckon with the lines that are new, which are returned."""
        added: list[dict[str, Any]] = []
        for name in FLOWS:
            flow, lines = self.book.flows[name], [dict(each) for each in self.processes[0].authority.lines(name)]
            assert lines[: len(flow.lines)] == flow.lines
            if len(lines) > len(flow.lines):
                assert len(list(verify_chain(lines))) == len(lines)
                added += lines[len(flow.lines) :]
        for each in added:
            self.book.add(each, self.truly)
        return added

    def crash(self, process: Process) -> None:
        """Have a process die amid what it does: nothing of that goes on."""
        self.gone += process.doing
        process.start()

    def compare(self, process: Process) -> None:
        """See that what a process knows of each workflow is what ought to be so, where anything was added."""
        lines = sum(len(flow.lines) for flow in self.book.flows.values())
        if lines == self.compared:
            return
        self.compared = lines
        for name, flow in self.book.flows.items():
            assert [each.intent_id for each in process.authority.unfinished_actions(name)] == flow.left()
            assert [each.to_json() for each in process.authority.receipts(name)] == list(flow.receipts.values())
        for approval in self.book.approvals.values():
            if approval.confirm_id is not None:
                found = process.authority.get_grant(approval.confirm_id)
                assert ({name: each for name, each in found.spent.items() if each}, found.uses) == (
                    +approval.spent,
                    approval.uses,
                )
                assert (found.end is None) == (approval.dead is None)
        reported = Counter(each["hash"] for each in self.reported.lines() if "hash" in each)
        assert reported == Counter(each["hash"] for flow in self.book.flows.values() for each in flow.lines)
        began = {(name, each) for name, flow in self.book.flows.items() for each in flow.intents}
        assert set(self.book.called.values()) <= {1}
        assert self.book.called.keys() <= began

    def end(self) -> None:
        """Leave all that is under way; whoever is handed the chains finds them as they ought to be."""
        for name, flow in self.book.flows.items():
            if flow.lines:
                found = report_chain(self.processes[0].authority.lines(name), workflow_id=name, max_skew=self.book.skew)
                assert [each.intent_id for each in found.unfinished] == flow.left()
        for each in [*self.gone, *self.doing()]:
            each.drive.leave()
