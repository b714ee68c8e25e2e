"""Measuring work by the calls it makes, not by the clock."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


class TooMuch(AssertionError):
    """The block made more calls than it may."""


@contextmanager
def at_most(calls: int, *, of: object = None) -> Iterator[None]:
    """Let the block make so many calls of Python functions, or of one built-in function, and stop it there."""
    left = calls

    def count(_frame: Any, event: str, argument: Any) -> None:
        nonlocal left
        left -= event == "call" if of is None else argument is of
        if left < 0:
            sys.setprofile(None)
            raise TooMuch(calls)

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)
