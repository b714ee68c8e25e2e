"""A server whose one tool asks before it acts, and what was done with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from emitter.decisions import Unresolved, digest
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision
from emitter.mcp import DecisionAsker, Suspended, WithMoment, add_resolve_tool, sdk, tool
from emitter.testing.sample_moments import VALID_MOMENT

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.messages import Json
    from emitter.models import BindingMoment

ASK = "release"
"""The tool that asks."""
RESOLVE = "resolve_binding_moment"

SELECTED = {"outcome": "selected", "digest": digest(VALID_MOMENT), "index": 1}
"""A resolution in its wire form."""

_BY_FORM = "mcp-elicitation"
ANSWERS: dict[str, tuple[Json, Json, list[int]]] = {
    "option": (
        {"action": "accept", "content": {"choice": "option:2"}},
        {"status": "Selected", "channel": _BY_FORM},
        [2],
    ),
    "words": (
        {"action": "accept", "content": {"choice": "free_text", "answer": "Half of it."}},
        {"status": "FreeText", "channel": _BY_FORM},
        [-1],
    ),
    "objection": (
        {"action": "accept", "content": {"choice": "dialogue", "objection": "Why now?"}},
        {"status": "Dialogue", "channel": _BY_FORM},
        [-1],
    ),
    "decline": ({"action": "decline"}, {"status": "Unresolved", "reason": "declined"}, []),
    "cancel": ({"action": "cancel"}, {"status": "Unresolved", "reason": "cancelled"}, []),
}
"""What a person answers to the form, what the tool tells then, and what it did."""


@dataclass
class Releasing:
    """The server; ``made`` counts how often the decision was made, ``done`` holds what was carried out."""

    asking: DecisionAsker
    make: Callable[[], Any] = lambda: VALID_MOMENT
    made: int = 0
    done: list[int] = field(default_factory=list[int])

    def server(self) -> Any:
        """Return a server of the SDK's line."""
        server = sdk.Server("releases", log_level="CRITICAL")
        tool(server)(self.release)
        add_resolve_tool(server, self.asking)
        return server

    async def release(self, context: sdk.Context) -> dict[str, Any] | WithMoment[dict[str, Any]]:
        """Ask, and carry out the option."""
        found = await self.asking.ask(context, self._make)
        match found:
            case Suspended(result=result):
                return result  # type: ignore[no-any-return]  the protocol's own
            case PendingDecision(decision_id=decision_id):
                return WithMoment({"status": "pending", "decision_id": decision_id}, found.moment)
            case ResolvedDecision(resolution=resolution, channel=channel):
                self.done.append(getattr(resolution, "index", -1))
                return {"status": type(resolution).__name__, "channel": channel}
            case Unresolved(reason=reason):
                return {"status": "Unresolved", "reason": reason.value}
            case _:
                return {"status": "not posed"}

    def _make(self) -> BindingMoment:
        self.made += 1
        made: BindingMoment = self.make()
        return made
