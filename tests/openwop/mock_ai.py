"""The mock model: what a program says it answers, as the simulator's behaviours, and the budgets it was given."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from emitter.testing import EndReason, PlannedResponse
from tests.openwop.seams import Unreadable

if TYPE_CHECKING:
    from emitter.testing import ReceivedRequest

ENDINGS: Final[dict[str, EndReason | str]] = {
    "end_turn": EndReason.COMPLETE,
    "max_tokens": EndReason.TRUNCATED,
    "length": EndReason.TRUNCATED,
    "safety": EndReason.FILTERED,
    "stop_sequence": "stop_sequence",
}
"""The program's stop reasons. The last is none that a vendor ends a structured answer with: it is reported as it is."""


@dataclass(frozen=True)
class Entry:
    """One answer of the program. ``inputTokens`` are the simulator's own to count, so a program's are not used."""

    stop_reason: str
    content: str
    refusal_text: str | None
    output_tokens: int | None

    @classmethod
    def of(cls, given: Any) -> Entry:
        """Read an entry; raises ``Unreadable`` for a stop reason that no program has."""
        stop = given.get("stopReason") or "end_turn"
        if stop not in ENDINGS:
            raise Unreadable("stopReason is none of a program's.")
        return cls(stop, given.get("content") or "", given.get("refusalText"), given.get("outputTokens"))

    def plan(self, asked: ReceivedRequest) -> PlannedResponse:  # noqa: ARG002  the same for everybody
        """Return the answer; where there is a text of refusal the model itself refuses."""
        if self.stop_reason == "safety" and self.refusal_text is not None:
            return PlannedResponse(self.refusal_text, EndReason.REFUSED, output_tokens=self.output_tokens)
        return PlannedResponse(self.content, ENDINGS[self.stop_reason], output_tokens=self.output_tokens)


@dataclass
class Programs:
    """What is programmed for each node, and the budgets with which its model was asked."""

    queued: dict[str, tuple[Entry, ...]] = field(default_factory=dict[str, tuple[Entry, ...]])
    asked: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def queue(self, node_id: str, program: list[Any]) -> int:
        """Program the next run of a node; what was programmed, and asked, before is forgotten."""
        self.asked[node_id] = []
        self.queued[node_id] = tuple(map(Entry.of, program))
        return len(self.queued[node_id])

    def take(self, node_id: str) -> tuple[Entry, ...]:
        """Return the program of a node, once."""
        return self.queued.pop(node_id, ())

    def budgets(self, node_id: str) -> list[int]:
        """Return the budgets of the last run's calls, in order."""
        return self.asked[node_id]

    def clear(self) -> None:
        """Forget everything."""
        self.queued.clear()
        self.asked.clear()
