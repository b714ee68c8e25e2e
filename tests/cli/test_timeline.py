"""What a person sees while it happens."""

from __future__ import annotations

import io
import sys
from typing import get_args

import pytest

from emitter.cli import input_output
from emitter.cli.input_output import ProgressCounter, Timeline
from emitter.events import (
    CapBreached,
    ClarificationRequested,
    EnvelopeRefusal,
    EnvelopeTruncated,
    Event,
    InterruptRequested,
    Level,
    LogAppended,
    ModelCapabilityInsufficient,
    ModelCapabilitySubstituted,
    NlToFormatEngaged,
    NodeCompleted,
    NodeFailed,
    ProviderUsage,
    Reason,
    RecoveryApplied,
    ReplayDiverged,
    ReplayDivergedAtRefusal,
    RetryAttempted,
    RetryExhausted,
    RunEvent,
)

DRAWN: dict[str, tuple[Event, str]] = {
    "call": (
        LogAppended(Level.DEBUG, "calling", {"attempt": 2, "budget": 99}),
        "call       2, with a budget of 99 tokens",
    ),
    "warning": (LogAppended(Level.WARN, "again soon", {}), "warn       again soon"),
    "usage": (ProviderUsage("v", "m", 10, 3), "tokens     10 in, 3 out"),
    "truncated": (EnvelopeTruncated("v", "m", "max_tokens", True), "truncated  cut at the budget (max_tokens)"),
    "again": (RetryAttempted(2, Reason.TRUNCATION), "retry      call 2 follows, because of truncation"),
    "exhausted": (RetryExhausted(3, Reason.PARSE_ERROR), "exhausted  after 3 calls: parse-error"),
    "refusal": (EnvelopeRefusal("v", "m", "harm"), "refused    the request is not sent again"),
    "recovered": (RecoveryApplied("custom", 3), "recovered  the document was recovered by custom"),
    "in-words": (NlToFormatEngaged("k", 2), "two steps  free text first, then the form: 2 more calls"),
    "limit": (CapBreached("schema", 3, 4), "limit      schema: 3 reached"),
    "accepted": (
        NodeCompleted({"envelopeId": "e", "envelopeType": "vendor.acme.note"}),
        "accepted   vendor.acme.note",
    ),
    "completed": (NodeCompleted({"answer": 1}), "accepted   the node is done"),
    "asked": (ClarificationRequested("i", ({"id": "a", "question": "b"},)), "asked      the model asks 1 questions"),
    "waiting": (InterruptRequested("i", "clarification", "r:n:0:k"), "waiting    for a clarification"),
    "other": (
        ModelCapabilitySubstituted("v", "m", "w", "n", ("reasoning", "long-context")),
        "fallback   w/n is asked in place of v/m",
    ),
    "lacking": (ModelCapabilityInsufficient("v", "m", ("reasoning",)), "unable     v/m lacks reasoning"),
    "diverged": (ReplayDiverged("r", 3, "output", "envelope.truncated"), "diverged   output at envelope.truncated"),
    "diverged-at-refusal": (
        ReplayDivergedAtRefusal("r", 3, "valid", "refusal"),
        "diverged   valid before, refusal now",
    ),
    "failed": (NodeFailed("code", "A sentence.", 3), "failed     code: A sentence."),
    "hostile": (NodeFailed("c", "\x1b[2J\nfoo", 1), "failed     c: \ufffd[2J foo"),
}


class Terminal(io.StringIO):
    """A stream on which somebody looks."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def drawn(event: Event, out: io.StringIO) -> str:
    """Return the line that the event is drawn as."""
    ticks = iter([100.0, 101.5])
    Timeline(out, lambda: next(ticks))(RunEvent(event, "e", "r", "n", "2026-01-31T12:00:00Z", 0, "c"))
    return out.getvalue()


@pytest.mark.parametrize(("event", "line"), DRAWN.values(), ids=DRAWN.keys())
def test_every_event_has_its_line(event: Event, line: str) -> None:
    """One line: seconds, a word, a sentence; nothing in it drives the terminal."""
    assert drawn(event, io.StringIO()) == f"   1.50 s  {line}\n"


def test_no_event_is_without_a_line() -> None:
    """The table is total over the events."""
    assert {type(event) for event, _ in DRAWN.values()} == set(get_args(Event))


def test_colour_is_for_those_who_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal gets colours, unless NO_COLOR asks for none."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\033[31mfailed    \033[0m" in drawn(NodeFailed("c", "m", 1), Terminal())

    monkeypatch.setenv("NO_COLOR", "1")
    assert "\033" not in drawn(NodeFailed("c", "m", 1), Terminal())


def test_progress_appears_after_a_second_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A counter for a person who waits: not at once, not in a pipe, and not left behind."""
    err, times = Terminal(), iter([0.0, 0.5, 1.2, 1.2, 1.25, 1.4, 1.4])
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setattr(input_output.time, "monotonic", lambda: next(times))
    counter = ProgressCounter(9, "files")
    for _ in range(4):
        counter.step()

    assert err.getvalue() == "\r2 of 9 files\r4 of 9 files"
    counter.write_message("one is bad")
    counter.end()
    assert err.getvalue().endswith("\r4 of 9 files\r\033[Kemitter: one is bad\n")
