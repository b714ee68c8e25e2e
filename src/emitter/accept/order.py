"""The order of the steps, in one place: it is normative (ai-envelope.md, "Production flow")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from emitter.accept.case import Remembered
from emitter.accept.gates.content import redaction, trust
from emitter.accept.gates.dedup import dedup
from emitter.accept.gates.kind import kind, payload
from emitter.accept.gates.permission import contract, limits
from emitter.accept.gates.shape import shape
from emitter.accept.outcome import Breached, Gated, Invalid
from emitter.accept.route import route
from emitter.accept.telling import events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

STEPS: Final[tuple[Callable[[Any], Any], ...]] = (
    shape,
    kind,
    payload,
    contract,
    limits,
    redaction,
    trust,
    dedup,
    route,
    events,
)
"""From what was received to what is recorded; any step may end it with an outcome."""

_ONCE: Final = STEPS.index(dedup) + 1
ALWAYS, ONCE = STEPS[:_ONCE], STEPS[_ONCE:]
"""What every envelope passes, and what is done once for each correlation id, with the store's door closed."""
STORED: Final = ALWAYS[ALWAYS.index(contract) :]
"""What content passes that the host stores although it does not know its kind, and so cannot check its payload."""

_ENDS: Final = (Gated, Invalid, Breached, Remembered)


def walk(state: Any, steps: Iterable[Callable[[Any], Any]]) -> tuple[Any, Any]:
    """Return what the steps come to, and the state before it: what it can be told of."""
    before = state
    for step in steps:
        before, state = state, step(state)
        if isinstance(state, _ENDS):
            break
    return state, before
