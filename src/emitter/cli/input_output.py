"""Declare shared arguments, read the commands' input files, print JSON, and show progress."""

from __future__ import annotations

import json
import math
import sys
import time
from argparse import ArgumentTypeError
from pathlib import Path
from typing import TYPE_CHECKING

from emitter.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from emitter.messages import Json


def add_file_argument(
    parser: argparse.ArgumentParser, description: str = "the envelope", *, metavar: str = "FILE"
) -> None:
    """Add the optional input file."""
    help_text = f"{description} (default: standard input, or -)"
    parser.add_argument("file", nargs="?", default="-", metavar=metavar, help=help_text)


def add_json_argument(parser: argparse.ArgumentParser, description: str = "print JSON") -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help=description)


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say how a model is reached."""
    parser.epilog = "The API key is read from the vendor's usual environment variable: see `emitter providers`."
    parser.add_argument("--wire", metavar="W", help="which of the vendor's APIs to use, if it has several")
    parser.add_argument("--base-url", metavar="URL", help="the address of the vendor's server")
    parser.add_argument("--deadline", type=float, metavar="S", help="seconds for all calls of a decision")


def parse_number(text: str, is_valid: Callable[[float], bool], requirement: str) -> float:
    """Return a number for argparse, which reports the ``ArgumentTypeError`` of an invalid one."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not is_valid(number):
        raise ArgumentTypeError(f"{text!r} is not {requirement}")
    return number


def read_text(name: str) -> str:
    """Return the text of a file, or of standard input for ``-``."""
    try:
        if name == "-":
            return _read_standard_input().decode("utf-8-sig")
        return Path(name).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{source_name(name)} is not UTF-8 text.") from error
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}.") from error


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
