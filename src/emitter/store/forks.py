"""What a store must do in a process that was forked: begin anew what it cannot share with its parent."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable


class Forked(Protocol):
    """What holds locks or connections that a forked child must leave to its parent."""

    def forked(self) -> None:
        """Drop them, in the child, as its first act."""
        ...


_held: weakref.WeakSet[Forked] = weakref.WeakSet()

hold: Callable[[Forked], None] = _held.add
"""Have something told of forks for as long as it lives."""


def _tell() -> None:
    for each in tuple(_held):
        each.forked()


if hasattr(os, "register_at_fork"):  # Windows forks nothing
    os.register_at_fork(after_in_child=_tell)
