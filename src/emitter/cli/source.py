"""Reading what a command works on: a file, or standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from emitter.errors import InputError


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


def _standard_input() -> bytes:
    if not sys.stdin:
        raise InputError("Standard input is closed.", hint="Name a file.")
    if sys.stdin.isatty():
        sys.stderr.write("emitter: reading standard input; end it with Ctrl-D.\n")
    return sys.stdin.buffer.read()
