"""Hooks that note what they are called with, and fail where they are told to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from emitter.authority.configuration import HOOK_NAMES

CALLED = {
    "before_confirm": "ConfirmRequest",
    "after_confirm": "Confirm",
    "before_execute": "ActionRequest",
    "after_execute": "ActionOutcome",
    "emit_receipt": "Receipt",
    "on_stop": "Stop",
    "on_takeover": "Stop",
}
"""The names of the seed, in the order in which a workflow comes to them, and what each is called with."""
assert sorted(CALLED) == sorted(HOOK_NAMES)


class Objects(Exception):
    """What a hook raises."""


@dataclass
class Watching:
    """All seven hooks; those in ``failing`` raise, and where ``is_async`` each is a coroutine function."""

    failing: frozenset[str] = frozenset()
    is_async: bool = False
    called: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])

    def names(self) -> list[str]:
        """Return what was called."""
        return [name for name, _ in self.called]

    def __getattr__(self, name: str) -> Any:
        if name not in CALLED:
            raise AttributeError(name)

        def hook(about: object, /) -> None:
            self.called.append((name, about))
            if name in self.failing:
                raise Objects

        async def waited_for(about: object, /) -> None:
            hook(about)

        return waited_for if self.is_async else hook
