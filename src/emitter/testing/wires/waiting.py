"""Saying how long to wait, the way HTTP says it."""

from __future__ import annotations

import time
from email.utils import formatdate

DATE_AHEAD = 2.0
"""How far a date lies ahead, in seconds."""
_UNTOLD = 20.0


def seconds(retry_after: float | str | None) -> float:
    """Return the wait in seconds; a usual one where none is told."""
    if retry_after is None:
        return _UNTOLD
    return DATE_AHEAD if isinstance(retry_after, str) else float(retry_after)


def waiting(retry_after: float | str | None) -> dict[str, str]:
    """Return the headers that ask for a wait, if one is asked for; a date comes with the one it is counted from."""
    if retry_after is None:
        return {}
    if isinstance(retry_after, str):
        now = time.time()
        return {"date": formatdate(now, usegmt=True), "retry-after": formatdate(now + DATE_AHEAD, usegmt=True)}
    return {"retry-after": f"{retry_after:g}"}
