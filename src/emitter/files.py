"""Create and open files that only their owner can read."""

from __future__ import annotations

import os
import stat

PRIVATE_MODE = 0o600
"""Read and write permission for the owner only."""


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
