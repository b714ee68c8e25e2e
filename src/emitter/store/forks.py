"""What a store must do where its process forks: let go before it of what cannot be shared, and begin anew after it."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Protocol


class Forked(Protocol):
    """What holds locks or connections."""

    def forking(self) -> None:
        """Make ready for a fork, in the thread that forks."""
        ...

    def forked(self, *, child: bool) -> None:
        """Go on after it, in the parent and in the child, where of all threads only this one is left."""
        ...


_held: weakref.WeakSet[Forked] = weakref.WeakSet()
_forking: list[Forked] = []
_guard = threading.RLock()
"""Held over a fork as well, so that nobody joins amid it."""


def hold(each: Forked) -> None:
    """Have something told of forks for as long as it lives."""
    with _guard:
        _held.add(each)


def _before() -> None:
    _guard.acquire()
    _forking[:] = _held
    for each in _forking:
        each.forking()


def _after(*, child: bool) -> None:
    for each in _forking:
        each.forked(child=child)
    _forking.clear()
    _guard.release()


if hasattr(os, "register_at_fork"):  # Windows forks nothing
    os.register_at_fork(
        before=_before, after_in_parent=lambda: _after(child=False), after_in_child=lambda: _after(child=True)
    )
