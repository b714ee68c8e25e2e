"""Opening the files that hold answers, so that only their owner can read what is created."""

from __future__ import annotations

import os
import stat

PRIVATE = 0o600
"""Read and write for the owner, nothing for anybody else."""


def private_opener(path: str, flags: int) -> int:
    """Open a file for ``open(..., opener=private_opener)``; a file that is created belongs to its owner alone.

    The mode of a file that exists already is left as it is.
    """
    return os.open(path, flags, PRIVATE)


def open_private(path: str | os.PathLike[str], flags: int) -> int:
    """Return the descriptor of a regular file, created for its owner alone where ``flags`` allow that.

    Raises ``OSError`` where the file cannot be opened, or is a device, a pipe or a socket: reading one of those
    may never end.
    """
    file = os.open(path, flags | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0), PRIVATE)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(None, "it is not a regular file")
    return file


def create_private(path: str | os.PathLike[str]) -> None:
    """Create an empty file for its owner alone, where there is none."""
    if not os.path.exists(path):  # noqa: PTH110  a Path would be made of a text just to ask
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE))
