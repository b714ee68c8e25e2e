"""Check the paths that callers pass, and create and open files that only their owner can read."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import cast

from emitter.errors import InputError

PRIVATE_MODE = 0o600
"""Read and write permission for the owner only."""


def check_path(name: str, path: object) -> Path:
    """Return the path in an argument.

    Raises:
        InputError: It is not text, or no file can have this name. ``open`` would raise ``ValueError`` or ``TypeError``.
    """
    text = os.fspath(cast("str", path)) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str):
        kind = type(cast("object", path)).__name__
        raise InputError(f"{name} is of type {kind}; it must be a path.", hint="Pass a str or a Path.")
    try:
        is_name = text != "" and b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        is_name = False
    if not is_name:
        raise InputError(f"{name} is {text!r}, which no file can be named.", hint="Pass the path of a file.")
    return Path(text)


def is_folder(path: Path) -> bool:
    """Return whether a path is a folder. Other than ``Path.is_dir``, it raises nothing for a long name."""
    return os.path.isdir(path)  # noqa: PTH112


def is_file(path: Path) -> bool:
    """Return whether a path is a regular file, as ``is_folder``."""
    return os.path.isfile(path)  # noqa: PTH113


def private_opener(path: str, flags: int) -> int:
    """Open a file with ``open(..., opener=private_opener)``, so that a new file is readable by its owner alone.

    The mode of an existing file does not change.
    """
    return os.open(path, flags, PRIVATE_MODE)


def open_private(path: str | os.PathLike[str], flags: int) -> int:
    """Open a regular file and return its descriptor. A new file is readable by its owner alone.

    Raises:
        OSError: The file cannot be opened, or is a device, a pipe or a socket, whose reads may never end.
    """
    file = os.open(path, flags | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0), PRIVATE_MODE)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(None, "it is not a regular file")
    return file


def create_private(path: str | os.PathLike[str]) -> None:
    """Create an empty file that only its owner can read, unless it exists."""
    if not os.path.exists(path):  # noqa: PTH110  avoids building a Path
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE_MODE))
