"""Driving an emission by hand, from a script of answers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from emitter.client.execution import EmissionRun, adrive, drive
from emitter.core.effects import EmissionOutcome, EmissionRequest, Restart, Sleep
from emitter.core.emission import run_emission
from emitter.messages import ModelRequest
from emitter.policy import Policy
from tests.core.asks import ask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.attempts import Verdict
    from emitter.events import Event
    from emitter.messages import CallResult


def driven(world: str, run: EmissionRun, send: Any) -> EmissionOutcome:
    """Drive a run to its outcome, in either world."""

    async def drive_in_loop() -> None:
        async for _ in adrive(run, send):
            pass

    if world == "async":
        asyncio.run(drive_in_loop())
    else:
        list(drive(run, send))
    return run.result()


@dataclass
class Ran:
    """What an emission did."""

    outcome: EmissionOutcome
    events: list[Event]
    requests: list[ModelRequest]
    waits: list[float]

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdict of every call."""
        return [each.verdict for each in self.outcome.attempts]


def by_hand(script: Sequence[CallResult], policy: Policy | None = None, asked: EmissionRequest | None = None) -> Ran:
    """Drive an emission without a driver; a script that runs out is an error of the test."""
    ran = Ran(EmissionOutcome(()), [], [], [])
    steps, left, answer = run_emission(asked or ask(), policy or Policy()), iter(script), None
    while True:
        try:
            step = steps.send(answer)
        except StopIteration as end:
            ran.outcome = end.value
            return ran
        answer = None
        match step:
            case ModelRequest():
                ran.requests.append(step)
                answer = next(left)
            case Sleep(min_seconds=seconds):
                ran.waits.append(seconds)
            case Restart():
                pass
            case _:
                ran.events.append(step)
