"""Driving an emission by hand, from a script of answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.emission import emission
from emitter.policy import Policy
from emitter.steps import Ask, Call, Outcome, Tell, Wait
from tests.core.asks import ask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.events import Event
    from emitter.judge import Verdict
    from emitter.wire import Answer, Request


@dataclass
class Ran:
    """What an emission did."""

    outcome: Outcome
    events: list[Event]
    requests: list[Request]
    waits: list[float]

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdict of every call."""
        return [each.verdict for each in self.outcome.attempts]


def by_hand(script: Sequence[Answer], policy: Policy | None = None, asked: Ask | None = None) -> Ran:
    """Drive an emission without a driver; a script that runs out is an error of the test."""
    ran = Ran(Outcome(()), [], [], [])
    steps, left, answer = emission(asked or ask(), policy or Policy()), iter(script), None
    while True:
        try:
            step = steps.send(answer)
        except StopIteration as end:
            ran.outcome = end.value
            return ran
        answer = None
        match step:
            case Call(request):
                ran.requests.append(request)
                answer = next(left)
            case Wait(at_least=seconds):
                ran.waits.append(seconds)
            case Tell(event):
                ran.events.append(event)
