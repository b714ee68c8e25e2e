"""Driving an emission by hand, from a script of answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.core.effects import EmissionOutcome, EmissionRequest, EmitEvent, SendRequest, Sleep
from emitter.core.emission import run_emission
from emitter.policy import Policy
from tests.core.asks import ask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.core.verdicts import Verdict
    from emitter.events import Event
    from emitter.messages import CallResult, ModelRequest


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
            case SendRequest(request):
                ran.requests.append(request)
                answer = next(left)
            case Sleep(min_seconds=seconds):
                ran.waits.append(seconds)
            case EmitEvent(event):
                ran.events.append(event)
