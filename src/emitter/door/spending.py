"""What the first call may write, of what the model, the caller and the schema say."""

from __future__ import annotations

import inspect
import warnings
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

from emitter import tokens
from emitter.budget.first import Allowed, first_budget
from emitter.budget.measured import Measured, measured
from emitter.budget.window import Spending, Window, fitted
from emitter.errors import UnknownModelWarning

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from emitter.door.plan import Plan
    from emitter.policy import Policy
    from emitter.profile import Profile, WireName
    from emitter.schema import Compiled
    from emitter.wire import Request


class _Known(NamedTuple):
    """What holds for every request of one schema to one model.

    ``thinking`` is what is set aside where the caller's options say nothing; no prompt is held against the
    window where that is None.
    """

    cost: Measured
    largest: int
    minimum: int
    thinking: int
    window: Window | None


def spending(request: Request, compiled: Compiled, reached: tuple[Profile, WireName], policy: Policy) -> Spending:
    """Return the first budget of ``request``, whatever it has, and the ceiling to which it may be raised.

    Raises ``NoRoomError`` where no answer can fit beside the prompt.
    """
    profile, wire = reached
    known = _known(compiled, reached, request.model)
    options = request.options
    thinking = profile.thinking(wire, request.model, options) if options else known.thinking
    ceiling = min(known.largest, policy.max_output_tokens or known.largest)
    budget = first_budget(known.cost.answer, thinking, Allowed(known.minimum, ceiling), asked=policy.output_tokens)
    wished = Spending(budget, ceiling, firm=policy.output_tokens is not None)
    if known.window is None:
        return wished
    return fitted(wished, tokens.texts(request, known.cost.text), known.window)


@lru_cache(maxsize=256)
def _known(compiled: Compiled, reached: tuple[Profile, WireName], model: str) -> _Known:
    profile, wire = reached
    cost, limits, minimum = measured(compiled), profile.limits(model), profile.wires[wire].tokens.minimum
    window = Window(
        model=f"{profile.name}/{model}",
        context=limits.context,
        typical=max(cost.answer.typical, minimum),
        exact=partial(_exact, profile.encoding(model)),
    )
    unasked = profile.thinking(wire, model, {})
    return _Known(cost, limits.max_output, minimum, unasked, None if limits.elastic else window)


def _exact(encoding: str | None) -> Callable[[str], int] | None:
    return tokens.counter(encoding) if tokens.at_hand(encoding) else None


def warn_of_assumptions(planned: Plan) -> None:
    """Warn, where the caller stands, of the limits that are assumed for a model that no table knows."""
    facts, request = planned.profile, planned.ask.request
    if facts.knows(request.model):
        return
    limits, mode = facts.limits(request.model), request.output.mode.value
    thinking = "that it thinks" if facts.thinking(planned.wire, request.model, {}) else "that it does not think"
    warnings.warn(
        f"{facts.name}/{request.model} is in no table. Assumed are a context window of {limits.context:,} tokens, "
        f"at most {limits.max_output:,} output tokens, the output mode {mode} and {thinking}; "
        f"the first call may write {request.budget:,} tokens. Set output_tokens and max_output_tokens of Policy "
        "where that is wrong.",
        UnknownModelWarning,
        stacklevel=_levels(),
    )


def _levels() -> int:
    """Return how many frames above the caller of ``warnings.warn`` the first is that is not of this library."""
    frame: FrameType | None = inspect.currentframe()
    levels = 0
    while frame is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] == _LIBRARY:
        frame, levels = frame.f_back, levels + 1
    return levels


_LIBRARY = __name__.partition(".")[0]
