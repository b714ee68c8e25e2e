"""Ask once more with less reasoning effort, if an answer was cut at the largest output budget while the model thought.

Only with ``Policy(lower_effort=True)``: the caller may want the effort, and the answer rather from another model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from emitter.core.verdicts import ONLY_THINKING
from emitter.events import EFFORT_LOWERED, Level, LogAppended
from emitter.messages import with_output_budget

if TYPE_CHECKING:
    from collections.abc import Generator

    from emitter.attempts import Attempt
    from emitter.core.effects import Effect, EffectResult
    from emitter.core.state import EmissionState
    from emitter.messages import ModelRequest


def lower_effort(
    state: EmissionState, cut: Attempt, request: ModelRequest
) -> Generator[Effect, EffectResult, ModelRequest | None]:
    """Return the request of a cut answer with less effort and the same budget, or None if that cannot help.

    The effort is lowered once for each model.
    """
    is_lowered = any(attempt.lowered_effort is not None for attempt in state.model_attempts)
    if is_lowered or not _has_thought(cut, state.emission_request.smallest_answer):
        return None
    lowered = state.emission_request.writer.lower_effort(replace(request, correction=None))
    if lowered is None:
        return None
    yield LogAppended(Level.WARN, EFFORT_LOWERED, {"effort": lowered.lowered_effort, "budget": cut.budget})
    return with_output_budget(lowered, cut.budget)


def _has_thought(cut: Attempt, smallest_answer: int) -> bool:
    """Return whether less thinking would have left room for an answer."""
    is_only_thinking = any(violation.rule == ONLY_THINKING.rule for violation in cut.violations)
    return is_only_thinking or (cut.usage is not None and cut.usage.thinking >= smallest_answer)
