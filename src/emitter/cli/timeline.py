"""The timeline of an emission on standard error: one line for each event."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any, TextIO

from emitter.events import CALLING, LogAppended
from emitter.messages import as_list, as_mapping
from emitter.render.safe_text import to_single_line as safe

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.events import RunEvent
    from emitter.messages import Json

_TONE_COLOURS = {"good": "32", "odd": "33", "bad": "31", "quiet": "2"}
_EVENT_LINES: dict[str, tuple[str, str, str]] = {
    "provider.usage": ("quiet", "tokens", "{inputTokens} in, {outputTokens} out"),
    "envelope.truncated": ("odd", "truncated", "cut at the budget ({stopReason})"),
    "envelope.retry.attempted": ("odd", "again", "call {attempt} follows, because of {reason}"),
    "envelope.retry.exhausted": ("bad", "exhausted", "after {totalAttempts} calls: {finalReason}"),
    "envelope.refusal": ("bad", "refused", "it is not sent again"),
    "envelope.recovery.applied": ("odd", "recovered", "the document was read by {path}"),
    "envelope.nlToFormat.engaged": ("odd", "in words", "plain words first, then the form: {fallbackCalls} more calls"),
    "cap.breached": ("bad", "limit", "{kind}: {limit} reached"),
    "node.completed": ("good", "accepted", "{outputs}"),
    "clarification.requested": ("odd", "asked", "{questions} to be answered"),
    "interrupt.requested": ("odd", "waiting", "for a {kind}"),
    "model.capability.substituted": (
        "odd",
        "other",
        "{fallbackProvider}/{fallbackModel} is asked in place of {originalProvider}/{originalModel}",
    ),
    "model.capability.insufficient": ("bad", "lacking", "{provider}/{model} lacks {missingCapabilities}"),
    "replay.diverged": ("bad", "diverged", "{divergenceKind} at {divergencePoint}"),
    "replay.divergedAtRefusal": ("bad", "diverged", "{originalEnvelopeKind} before, {replayEnvelopeKind} now"),
}
"""The tone, label and sentence of each event. The sentence is filled from the event's payload."""


class Timeline:
    """A sink that writes one line for each event, with the seconds since its creation."""

    def __init__(self, out: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = out or sys.stderr
        self._clock = clock
        self._began = clock()
        self._coloured = self._out.isatty() and "NO_COLOR" not in os.environ

    def __call__(self, event: RunEvent) -> None:
        """Write a line for ``event``."""
        tone, word, sentence = _describe_event(event)
        self.write_line(tone, word, sentence)

    def write_line(self, tone: str, word: str, sentence: str) -> None:
        """Write one line."""
        label = f"\033[{_TONE_COLOURS[tone]}m{word:<10}\033[0m" if self._coloured else f"{word:<10}"
        self._out.write(f"{self._clock() - self._began:7.2f} s  {label} {safe(sentence)}\n")
        self._out.flush()


def _describe_event(event: RunEvent) -> tuple[str, str, str]:
    payload: dict[str, Any] = event.to_json()["payload"]
    if isinstance(event.event, LogAppended):
        return _describe_log(event.event)
    if event.type == "node.failed":
        return "bad", "failed", f"{payload['error']['code']}: {payload['error']['message']}"
    tone, word, sentence = _EVENT_LINES[event.type]
    return tone, word, sentence.format(**{name: _shorten(value) for name, value in payload.items()})


def _shorten(value: Json) -> Json:
    """Return a short form of a value: names joined, other lists and objects summarized."""
    if isinstance(value, dict):
        return as_mapping(value).get("envelopeType", "the node is done")
    if isinstance(value, list):
        names = [name for name in as_list(value) if isinstance(name, str)]
        return ", ".join(names) if names else f"{len(as_list(value))} questions"
    return value


def _describe_log(event: LogAppended) -> tuple[str, str, str]:
    if event.message == CALLING:
        return "good", "call", f"{event.fields['attempt']}, with a budget of {event.fields['budget']} tokens"
    return "odd", event.level.value, event.message
