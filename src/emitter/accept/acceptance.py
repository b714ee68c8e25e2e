"""What ``accept`` returns: the outcome, and all that can be known of how it came about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from emitter.events import NodeFailed

if TYPE_CHECKING:
    from emitter.accept.case import Rules
    from emitter.accept.context import Context
    from emitter.accept.outcome import Outcome
    from emitter.events import RunEvent
    from emitter.kinds.envelope import AIEnvelope


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What became of one envelope.

    ``envelope`` is what was accepted, redacted and with its trust stated: the recorded one where ``cached`` says
    that it was accepted before. None where it was refused: nobody has struck secrets out of it.
    ``events`` are those that were told now; none for a cached one. ``warnings`` say what was amiss and taken all
    the same, ``drift`` the advertised schema version where the envelope's was lower, ``redactions`` how many
    secrets were struck out. ``requested`` is the kind whose schema the model asked for.
    """

    outcome: Outcome
    context: Context
    rules: Rules = field(repr=False)
    envelope: AIEnvelope | None = None
    events: tuple[RunEvent, ...] = ()
    warnings: tuple[str, ...] = ()
    drift: int | None = None
    redactions: int = 0
    requested: str | None = None
    cached: bool = False

    @property
    def status(self) -> str:
        """One of ``accepted``, ``gated``, ``invalid``, ``breached``."""
        return self.outcome.status

    @property
    def failed(self) -> bool:
        """Whether the node has failed on it, so that nothing of it is to follow."""
        return any(isinstance(each.event, NodeFailed) for each in self.events)
