"""A channel whose requests are answered from a script, in either world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.interpreter import UserCodeStep

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.deadline import Deadline
    from emitter.interpreter import Steps
    from emitter.messages import CallResult, ModelRequest


@dataclass
class Scripted:
    """A channel that needs no client."""

    answer: Callable[[ModelRequest, Deadline], CallResult]
    must_open: bool = False
    must_close: bool = False

    def open(self) -> None:
        """Open nothing."""

    async def aopen(self) -> None:
        """Open nothing."""

    def send(self, request: ModelRequest, deadline: Deadline) -> Steps[CallResult]:
        """Return the answer that is made for a request."""
        answer: CallResult = yield UserCodeStep(lambda: self.answer(request, deadline))
        return answer

    def close(self) -> None:
        """Close nothing."""

    async def aclose(self) -> None:
        """Close nothing."""
