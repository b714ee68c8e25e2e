"""The timeline of an emission: a line for each event, as it happens."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any, TextIO

from emitter.events import CALLING, LogAppended
from emitter.render.line import line as safe
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.events import RunEvent
    from emitter.wire import Json

_COLOURS = {"good": "32", "odd": "33", "bad": "31", "quiet": "2"}

_LINES: dict[str, tuple[str, str, str]] = {
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
        "{fallbackProvider}/{fallbackModel} is asked, since {originalModel} lacks {missingCapabilities}",
    ),
    "model.capability.insufficient": ("bad", "lacking", "{provider}/{model} lacks {missingCapabilities}"),
    "replay.diverged": ("bad", "diverged", "{divergenceKind} at {divergencePoint}"),
    "replay.divergedAtRefusal": ("bad", "diverged", "{originalEnvelopeKind} before, {replayEnvelopeKind} now"),
}
"""How an event is drawn: its tone, a word, and a sentence made from its payload."""


class Timeline:
    """A sink that writes one line for each event, with the seconds since it was made."""

    def __init__(self, out: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = out or sys.stderr
        self._clock = clock
        self._began = clock()
        self._coloured = self._out.isatty() and "NO_COLOR" not in os.environ

    def __call__(self, event: RunEvent) -> None:
        """Draw ``event``."""
        tone, word, sentence = _drawn(event)
        self.line(tone, word, sentence)

    def line(self, tone: str, word: str, sentence: str) -> None:
        """Write one line."""
        shown = f"\033[{_COLOURS[tone]}m{word:<10}\033[0m" if self._coloured else f"{word:<10}"
        self._out.write(f"{self._clock() - self._began:7.2f} s  {shown} {safe(sentence)}\n")
        self._out.flush()


def _drawn(event: RunEvent) -> tuple[str, str, str]:
    payload: dict[str, Any] = event.to_json()["payload"]
    if isinstance(event.event, LogAppended):
        return _log(event.event)
    if event.type == "node.failed":
        return "bad", "failed", f"{payload['error']['code']}: {payload['error']['message']}"
    tone, word, sentence = _LINES[event.type]
    return tone, word, sentence.format(**{name: _short(each) for name, each in payload.items()})


def _short(value: Json) -> Json:
    """Return what stands on a line: how many there are of what is longer than a name."""
    if isinstance(value, dict):
        return mapping(value).get("envelopeType", "the node is done")
    if isinstance(value, list):
        names = [each for each in sequence(value) if isinstance(each, str)]
        return ", ".join(names) if names else f"{len(sequence(value))} questions"
    return value


def _log(event: LogAppended) -> tuple[str, str, str]:
    if event.message == CALLING:
        return "good", "call", f"{event.fields['attempt']}, with a budget of {event.fields['budget']} tokens"
    return "odd", event.level.value, event.message
