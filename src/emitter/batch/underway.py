"""One emission on its way from call to call, each of which may lie in another batch."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from emitter.door.perform import recorder
from emitter.emission import emission
from emitter.judge import Verdict
from emitter.steps import Call, Outcome, Tell, Wait
from emitter.wire import Fault, FaultKind

if TYPE_CHECKING:
    from emitter.door.plan import Plan
    from emitter.door.settings import Settings
    from emitter.events import RunEvent
    from emitter.wire import Answer

_LATE = "The deadline of {:g} seconds passed before the batch was answered; the batch goes on at the vendor."


@dataclass(frozen=True, slots=True)
class Asked:
    """An emission that is asked for, and the ``key`` that a journal knows it by; no other has the same."""

    key: str
    plan: Plan
    settings: Settings


@dataclass(frozen=True, slots=True)
class Ended:
    """An emission that is over: its outcome or what was raised on the way, and what was told of it.

    ``calls`` were submitted in this run; without any, the answers stood in the journal.
    """

    key: str
    outcome: Outcome | Exception
    events: tuple[RunEvent, ...]
    calls: int


class Underway:
    """An emission under way: it is ``due`` a call, or waits before one, or is over.

    ``began`` is the clock's time at which it began.
    """

    def __init__(self, asked: Asked, began: float) -> None:
        request = asked.plan.ask.request
        # Thousands of emissions have the same system prompt, each a copy of its own.
        ask = replace(asked.plan.ask, request=replace(request, system=sys.intern(request.system)))
        self.key = asked.key
        self.due: Call | None = None
        self.wait: Wait | None = None
        self.over: Outcome | Exception | None = None
        self.calls = 0
        self.answered = True
        """Whether the last answer was the vendor's own, and not that there was none."""
        self._policy, self._began = asked.settings.policy, began
        self._tell = recorder(asked.plan, asked.settings)
        self._steps = emission(ask, self._policy)
        self.go(None)

    def go(self, answer: Answer | None, *, answered: bool = True) -> None:
        """Go on with an answer, up to the next call, wait, or end."""
        self.due, self.wait, self.answered = None, None, answered
        try:
            self._go(answer)
        except Exception as error:  # noqa: BLE001  a sink or a check of the caller's; one failure never loses the others
            self.over = error

    def _go(self, answer: Answer | None) -> None:
        while True:
            try:
                step = self._steps.send(answer)
            except StopIteration as end:
                self.over = end.value
                return
            match step:
                case Call():
                    self.due = step
                    return
                case Wait():
                    self.wait = step
                    return
                case Tell(event):
                    self._tell(event)
                    answer = None
                case _:
                    assert_never(step)

    def replay(self, answers: list[Answer]) -> None:
        """Go on with what is known already; there is nothing to wait for."""
        for each in answers:
            if self.over is None:
                self.go(each)
            self.resume()

    def resume(self) -> None:
        """Go on after a wait."""
        if self.wait is not None:
            self.go(None)

    def left(self, now: float, run: float | None) -> float | None:
        """Return the seconds that are left to it, of its own deadline and of the run's."""
        own = None if self._policy.deadline is None else self._began + self._policy.deadline - now
        return min((each for each in (own, run) if each is not None), default=None)

    def expire(self, now: float) -> None:
        """End it because its time is up."""
        self.go(Fault(FaultKind.DEADLINE, _LATE.format(now - self._began)), answered=False)

    @property
    def failed_for_good(self) -> bool:
        """Whether it ended in a failure that the vendor's own answers came to, and that is no refusal."""
        outcome = self.over
        if not isinstance(outcome, Outcome) or outcome.failure is None or not self.answered:
            return False
        return outcome.failure.verdict is not Verdict.REFUSED

    def ended(self) -> Ended:
        """Return what it came to."""
        if self.over is None:
            raise RuntimeError("The emission is not over.")
        return Ended(self.key, self.over, tuple(self._tell.told), self.calls)
