"""Reading what a command works on: a file, or standard input."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from emitter.errors import InputError

if TYPE_CHECKING:
    from emitter.wire import Json


def read_text(name: str) -> str:
    """Return the text of the file ``name``, or of standard input for ``-``."""
    try:
        if name == "-":
            return _standard_input().decode("utf-8-sig")
        return Path(name).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{'standard input' if name == '-' else name} is not UTF-8 text.") from error
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}.") from error


def read_json(name: str) -> Json:
    """Return the JSON in the file ``name``, or on standard input for ``-``."""
    text = read_text(name)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{'standard input' if name == '-' else name} is not JSON ({error}).") from error


def _standard_input() -> bytes:
    if not sys.stdin:
        raise InputError("Standard input is closed.", hint="Name a file.")
    if sys.stdin.isatty():
        sys.stderr.write("emitter: reading standard input; end it with Ctrl-D.\n")
    return sys.stdin.buffer.read()
