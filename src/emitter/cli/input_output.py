"""Read the commands' input files, print JSON, and report progress and events on standard error."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from emitter.errors import InputError
from emitter.events import CALLING, LogAppended
from emitter.files import check_path
from emitter.media.parts import detect_media_type, is_text, make_part, media_type_of_name, medium_of
from emitter.messages import as_list, as_mapping
from emitter.models import Trust
from emitter.prompts import Material, Media
from emitter.render.safe_text import to_single_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.events import RunEvent
    from emitter.messages import Json

_MESSAGES_START = re.compile(r"\s*(\[\s*[\]{]|\{\s*\")")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_text(name: str) -> str:
    """Return the text of a file, or of standard input for ``-``."""
    try:
        return _read_bytes(name).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{source_name(name)} is not UTF-8 text.") from error


def _read_bytes(name: str) -> bytes:
    if name == "-":
        return _read_standard_input()
    try:
        return check_path("FILE", name).read_bytes()
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}.") from error


def read_content(name: str, trust: Trust = Trust.TRUSTED) -> Material | Media:
    """Return the text, image, PDF document or recording in a file, or on standard input for ``-``.

    The medium follows from the name's suffix, or else from the content.
    """
    data, source, declared = _read_bytes(name), source_name(name), media_type_of_name(Path(name).suffix)
    if not declared and is_text(data):
        return Material(data.decode("utf-8-sig"), source, trust)
    if not declared and data.startswith(_UTF16_MARKS):
        raise InputError(f"{source} is not UTF-8 text but UTF-16.", hint="Save it as UTF-8.")
    medium = medium_of(declared or detect_media_type(data))
    if medium is None:
        raise InputError(f"{source} is neither UTF-8 text nor an image, a PDF document or audio.")
    file_name = None if name == "-" else Path(name).name
    try:
        part = make_part(medium, data, "" if is_text(data) else declared, name=file_name)
    except InputError as error:
        raise InputError(str(error.args[0]), hint="Pass a file whose content matches its suffix.") from error
    return Media(part, source, trust)


def parse_prompt(text: str, source: str) -> Any:
    """Return the messages if the text is JSON, or the text itself.

    Broken JSON is rejected: as a text, it would be trusted with the tool results in it. ``source`` names the text.
    """
    if not text.strip():
        raise InputError(f"The prompt is empty ({source}).", hint="Describe the task.")
    if not _MESSAGES_START.match(text):
        return text
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"The prompt ({source}) starts like JSON messages but is not JSON ({error}).", hint="Correct the JSON."
        ) from error
    return as_mapping(document).get("messages", document)


def source_name(name: str) -> str:
    """Return the name of an input for messages."""
    return "standard input" if name == "-" else name


def read_json(name: str) -> Json:
    """Return the JSON in a file, or on standard input for ``-``."""
    text = read_text(name)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source_name(name)} is not JSON ({error}).") from error


def _read_standard_input() -> bytes:
    if not sys.stdin:
        raise InputError("Standard input is closed.", hint="Pass a file instead.")
    if sys.stdin.isatty():
        sys.stderr.write("emitter: reading standard input; end it with Ctrl-D.\n")
    return sys.stdin.buffer.read()


def read_schema(name: str) -> Json:
    """Return the JSON Schema in a file, or on standard input for ``-``."""
    schema = read_json(name)
    if schema.__class__ not in (dict, bool):
        raise InputError(f"A JSON Schema must be an object or a boolean, not {type(schema).__name__}.")
    return schema


def print_json(document: object, *, indent: int | None = 2) -> None:
    """Print a document as JSON, on one line if ``indent`` is None."""
    sys.stdout.write(json.dumps(document, indent=indent) + "\n")


_SHOW_AFTER_SECONDS = 1.0
_UPDATE_SECONDS = 0.1


class ProgressCounter:
    """A counter on standard error that appears after a second."""

    def __init__(self, total: int, unit: str) -> None:
        self._total, self._unit, self._count = total, unit, 0
        self._shown = False
        self._next = time.monotonic() + _SHOW_AFTER_SECONDS

    def step(self) -> None:
        """Count one more."""
        self._count += 1
        if time.monotonic() >= self._next and sys.stderr.isatty() and not sys.stdout.isatty():
            self._next = time.monotonic() + _UPDATE_SECONDS
            self._shown = True
            sys.stderr.write(f"\r{self._count} of {self._total} {self._unit}")
            sys.stderr.flush()

    def write_message(self, sentence: str) -> None:
        """Write a message on a separate line."""
        self.end()
        sys.stderr.write(f"emitter: {sentence}\n")

    def end(self) -> None:
        """Clear the counter."""
        if self._shown:
            sys.stderr.write("\r\033[K")
            self._shown = False


_TONE_COLOURS = {"good": "32", "odd": "33", "bad": "31", "quiet": "2"}
_EVENT_LINES: dict[str, tuple[str, str, str]] = {
    "provider.usage": ("quiet", "tokens", "{inputTokens} in, {outputTokens} out"),
    "envelope.truncated": ("odd", "truncated", "cut at the budget ({stopReason})"),
    "envelope.retry.attempted": ("odd", "retry", "call {attempt} follows, because of {reason}"),
    "envelope.retry.exhausted": ("bad", "exhausted", "after {totalAttempts} calls: {finalReason}"),
    "envelope.refusal": ("bad", "refused", "the request is not sent again"),
    "envelope.recovery.applied": ("odd", "recovered", "the document was recovered by {path}"),
    "envelope.nlToFormat.engaged": ("odd", "two steps", "free text first, then the form: {fallbackCalls} more calls"),
    "cap.breached": ("bad", "limit", "{kind}: {limit} reached"),
    "node.completed": ("good", "accepted", "{outputs}"),
    "clarification.requested": ("odd", "asked", "the model asks {questions}"),
    "interrupt.requested": ("odd", "waiting", "for a {kind}"),
    "model.capability.substituted": (
        "odd",
        "fallback",
        "{fallbackProvider}/{fallbackModel} is asked in place of {originalProvider}/{originalModel}",
    ),
    "model.capability.insufficient": ("bad", "unable", "{provider}/{model} lacks {missingCapabilities}"),
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
        self._out.write(f"{self._clock() - self._began:7.2f} s  {label} {to_single_line(sentence)}\n")
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
