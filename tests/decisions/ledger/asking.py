"""What the tests of the ledger ask, and the time that it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from emitter.models import BindingMoment
from emitter.stores import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.events import RunEvent
    from emitter.messages import Json
    from emitter.stores import NewEntry, StoredEntry

START = 1_800_000_000.0
"""In January 2027."""


@dataclass
class Hand:
    """A clock whose hand the test turns; it tells seconds since 1970."""

    now: float = START

    def __call__(self) -> float:
        """Return the time."""
        return self.now


@dataclass
class Told:
    """A sink that keeps what it is reported."""

    events: list[RunEvent] = field(default_factory=list)

    def __call__(self, event: RunEvent) -> None:
        """Keep an event."""
        self.events.append(event)

    def lines(self, message: str = "") -> list[dict[str, Any]]:
        """Return the fields of the lines with a message, or of all of them."""
        return [fields for each, fields in self._payloads() if message in {"", each}]

    def messages(self) -> list[str]:
        """Return the messages of all lines."""
        return [each for each, _ in self._payloads()]

    def _payloads(self) -> list[tuple[str, dict[str, Any]]]:
        payloads = [each.to_json()["payload"] for each in self.events]
        return [(each["message"], each["fields"]) for each in payloads]


class Reading(MemoryStore):
    """A store that notes how much of its log is read, and what is asked to be kept."""

    __slots__ = ("asked", "read")

    def __init__(self) -> None:
        super().__init__()
        self.read: list[int] = []
        self.asked: list[str] = []

    def get_or_create(self, run_id: str, correlation_id: str, make: Callable[[], NewEntry]) -> StoredEntry:
        """Keep something."""
        self.asked.append(correlation_id)
        return super().get_or_create(run_id, correlation_id, make)

    def events(self, run_id: str, after: int = -1, *, node_id: str | None = None) -> tuple[Mapping[str, Json], ...]:
        """Return the log."""
        found = super().events(run_id, after, node_id=node_id)
        self.read.append(len(found))
        return found


def moment(stem: str = "Should it be done?", **changes: Any) -> BindingMoment:
    """Return an envelope; ``free_text`` and ``dialogue`` say which hatches are open, ``options`` how many there are."""
    hatches = {name: changes.pop(name, True) for name in ("free_text", "dialogue")}
    count = changes.pop("options", 2)
    question = {
        "stem": stem,
        "options": [{"label": f"Do {each}", "reasoning": f"It is {each}."} for each in range(count)],
        "recommended_idx": 0,
        "hatches": hatches,
    }
    document = {
        "synopsis": "It is to be done.",
        "findings": ["A finding.", "A second finding.", "A third finding."],
        "recommendations": ["Do it.", "Tell those concerned."],
        "offer": "Ask for detail on any item.",
        "question": question,
    }
    return BindingMoment.model_validate({**document, **changes})
