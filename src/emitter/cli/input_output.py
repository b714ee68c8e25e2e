"""Read the commands' input files, print JSON, and show progress."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emitter.errors import InputError
from emitter.media.parts import detect_media_type, is_text, make_part, media_type_of_name, medium_of
from emitter.messages import as_mapping
from emitter.models import Trust
from emitter.prompts import Material, Media

if TYPE_CHECKING:
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
    try:
        return _read_standard_input() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}.") from error


def read_content(name: str, trust: Trust = Trust.TRUSTED) -> Material | Media:
    """Return the text, image, PDF document or recording in a file, or on standard input for ``-``.

    The ending of the name decides the medium, if it has one of a medium.
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
        raise InputError(str(error.args[0]), hint="Pass a file that is what its ending says.") from error
    return Media(part, source, trust)


def parse_prompt(text: str, source: str) -> Any:
    """Return the messages if the text is JSON, or the text itself.

    Broken JSON is rejected: as trusted text, its tool results would lose their fence. ``source`` names the text.
    """
    if not text.strip():
        raise InputError(f"The prompt is empty ({source}).", hint="Describe the task or the decision.")
    if not _MESSAGES_START.match(text):
        return text
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError("The prompt starts like JSON messages but is not JSON.", hint="Fix the JSON.") from error
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
        """Write a message on a line of its own."""
        self.end()
        sys.stderr.write(f"emitter: {sentence}\n")

    def end(self) -> None:
        """Clear the counter."""
        if self._shown:
            sys.stderr.write("\r\033[K")
            self._shown = False
