"""Keeping others out of a file: by an advisory lock, which the system drops with the process that holds it."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import msvcrt
    import os

    _FAR = 1 << 40
    """The byte that is locked: far from any that is read, since Windows lets nobody read a locked one."""

    def lock(file: int) -> None:
        """Lock an open file; raises ``OSError`` where another holds it."""
        at = os.lseek(file, 0, os.SEEK_CUR)
        os.lseek(file, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        finally:
            os.lseek(file, at, os.SEEK_SET)

else:
    import fcntl

    def lock(file: int) -> None:
        """Lock an open file; raises ``OSError`` where another holds it."""
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
