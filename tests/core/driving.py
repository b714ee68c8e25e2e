"""Driving an emission by hand, from a script of answers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from emitter.client.execution import EmissionRun
from emitter.core.effects import (
    AcceptedAnswer,
    EmissionOutcome,
    EmissionRequest,
    Recall,
    Reserve,
    Restart,
    Sleep,
    Submit,
)
from emitter.core.emission import run_emission
from emitter.interpreter import aiterate_steps, iterate_steps
from emitter.messages import ModelRequest
from emitter.policy import Policy
from tests.core.asks import ask

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from emitter.attempts import Verdict
    from emitter.client.execution import Channel
    from emitter.clock import Clock
    from emitter.events import Event
    from emitter.messages import CallResult


def driven(world: str, run: EmissionRun, channel: Channel) -> EmissionOutcome:
    """Drive a run to its outcome, in either world."""

    async def drive_in_loop() -> None:
        async for _ in aiterate_steps(run.perform(channel)):
            pass

    if world == "async":
        asyncio.run(drive_in_loop())
    else:
        list(iterate_steps(run.perform(channel)))
    return run.result()


class Recorder:
    """Keeps the events of an emission as they come."""

    def __init__(self, events: list[Event]) -> None:
        self.events = events

    def record(self, event: Event) -> Iterator[Any]:
        """Keep an event."""
        self.events.append(event)
        yield from ()


def run_of(steps: Any, policy: Policy, clock: Clock, events: list[Event] | None = None) -> EmissionRun:
    """Return a run of an emission without a host, which keeps its events."""
    run = EmissionRun(steps, cast("Any", Recorder([] if events is None else events)), policy, clock)
    run.ask_host = accept
    return run


def accept(effect: Recall | Reserve | Submit) -> Generator[Any, Any, AcceptedAnswer | None]:
    """Accept every answer, and know of none."""
    yield from ()
    return AcceptedAnswer(effect.value, effect.document) if isinstance(effect, Submit) else None


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
            case Submit(value, document):
                answer = AcceptedAnswer(value, document)
            case Restart() | Recall() | Reserve():
                pass
            case _:
                ran.events.append(step)
