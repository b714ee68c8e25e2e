"""What comes back: a binding moment, or an honest "not yet"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from emitter.door.result import Emission, Trace, Traced
from emitter.kinds import AIEnvelope, BindingMoment, ClarificationRequest, Deliberation, ErrorReport, turn
from emitter.moment.acting import NO_ACTIONS, of_options

if TYPE_CHECKING:
    from emitter.door.result import Done
    from emitter.moment.acting import Actions


@dataclass(frozen=True)
class Withheld(Traced):
    """The agent's veto: it did not bind. A success of the turn, not a failure.

    ``reason`` says why: deliberation (it asks leave to go on), a clarification request, or an error report.
    """

    reason: Deliberation | ClarificationRequest | ErrorReport
    envelope: AIEnvelope
    trace: Trace

    @property
    def actions(self) -> tuple[str | None, ...]:
        """Empty: nothing is offered, so nothing can be done."""
        return ()


Decision: TypeAlias = Emission[BindingMoment] | Withheld
"""What comes back."""


def decision(done: Done, actions: Actions = NO_ACTIONS) -> Decision:
    """Return the model's choice in its envelope, with what its options would do."""
    chosen: turn.Outcome = done.value
    if isinstance(chosen, BindingMoment):
        return Emission(chosen, done.envelope, done.trace, of_options(actions, chosen))
    return Withheld(chosen, done.envelope, done.trace)
