"""Send a request again in another form, if the server refuses an output mode or an answer that is not streamed.

A schema steps down to a JSON object, and a JSON object to the prompt alone. The schema is then a part of the prompt,
and the local check decides as before. Each step is a call that counts, and no form is tried twice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from emitter.events import MODE_REFUSED, STREAM_REQUIRED, Level, LogAppended
from emitter.messages import FaultKind

if TYPE_CHECKING:
    from collections.abc import Collection, Generator

    from emitter.core.effects import Effect, EffectResult
    from emitter.core.state import EmissionState
    from emitter.messages import Fault, ModelRequest, OutputMode


def adapt_request(
    state: EmissionState, fault: Fault, request: ModelRequest
) -> Generator[Effect, EffectResult, ModelRequest | None]:
    """Return a request whose form the server refused in another form, or None if there is none."""
    adapted = state.emission_request.writer.adapt(request, fault.kind)
    if adapted is None:
        return None
    following, writer = adapted
    first = replace(
        state.emission_request.request,
        system=following.system,
        messages=following.messages,
        output=following.output,
        cache=following.cache,
        is_streamed=following.is_streamed,
    )
    state.emission_request = replace(state.emission_request, request=first, writer=writer)
    if fault.kind is FaultKind.STREAM_REQUIRED:
        yield stream_event(Level.WARN)
    else:
        yield mode_event((request.output.mode,), following.output.mode, Level.WARN)
    return following


def mode_event(refused: Collection[OutputMode], mode: OutputMode, level: Level) -> LogAppended:
    """Return the event that reports the output mode in use instead of refused ones."""
    return LogAppended(level, MODE_REFUSED, {"refused": sorted(each.value for each in refused), "mode": mode.value})


def stream_event(level: Level) -> LogAppended:
    """Return the event that reports that answers are streamed because the server requires it."""
    return LogAppended(level, STREAM_REQUIRED, {})
