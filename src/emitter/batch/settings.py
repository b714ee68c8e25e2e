"""How a run uses the vendor's batch interface."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

from emitter.errors import InputError

_WHOLE = frozenset({"max_requests", "max_bytes"})


@dataclass(frozen=True, slots=True)
class Batch:
    """How many calls are made through the vendor's batch interface.

    ``poll`` is how many seconds pass before the vendor is asked how its batches stand; while nothing changes that
    grows by half each time, up to ``slowest``. ``timeout`` is how many seconds the run may take (None for no
    limit): what is not answered by then ends in ``DeadlineReached``, while its batch goes on at the vendor, so that
    another run with the same journal can collect it. ``cancel`` cancels the batches of a run that is left; without
    it they go on. ``max_requests`` and ``max_bytes`` bound one batch where the vendor's own limits are larger;
    a batch that is being put together is held in memory.
    """

    poll: float = 30.0
    slowest: float = 300.0
    timeout: float | None = None
    cancel: bool = False
    max_requests: int | None = None
    max_bytes: int = 50_000_000

    def __post_init__(self) -> None:
        for each in fields(self):
            _check(each.name, getattr(self, each.name))
        if self.slowest < self.poll:
            raise InputError(f"Batch.slowest is {self.slowest!r}; it must be no less than poll, {self.poll!r}.")


def _check(name: str, value: Any) -> None:
    if name == "cancel":
        if not isinstance(value, bool):
            raise InputError(f"Batch.cancel is {value!r}; it must be True or False.")
        return
    if value is None and name in ("timeout", "max_requests"):
        return
    kinds = int if name in _WHOLE else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not 0 < value < math.inf:
        kind = "whole number" if name in _WHOLE else "number"
        raise InputError(f"Batch.{name} is {value!r}; it must be a {kind} above 0.")
