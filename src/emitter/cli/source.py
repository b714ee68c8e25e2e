"""Reading what a command works on: a file, or standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from emitter.errors import InputError


def read_text(name: str) -> str:
    """Return the text of the file ``name``, or of standard input for ``-``."""
    try:
        if name == "-":
            return sys.stdin.buffer.read().decode("utf-8")
        return Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{'standard input' if name == '-' else name} is not UTF-8 text.") from error
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}.") from error
