"""A generator of steps, taken by hand: so that others come between any two of them, and it can be left amid them."""

from __future__ import annotations

from contextvars import copy_context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from emitter.authority.context import UserCodeStep

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import Context

    from emitter.authority.context import Step, Steps


class Died(BaseException):
    """The process of a tool came to its end."""


def die() -> None:
    """Be a tool whose process dies."""
    raise Died


@dataclass
class Drive:
    """Steps that are under way; ``context`` is their own, as a thread's or a task's is."""

    steps: Steps[Any]
    context: Context = field(default_factory=copy_context)
    step: Step | None = None
    value: Any = None
    error: BaseException | None = None

    def __post_init__(self) -> None:
        self._go(self.steps.send, None)

    @property
    def is_over(self) -> bool:
        """Whether all steps were taken."""
        return self.step is None

    def take(self) -> None:
        """Take one step."""
        step = self.step
        assert step is not None
        if isinstance(step, UserCodeStep):
            step.started = True
        try:
            answer = self.context.run(step.function)
        except BaseException as error:  # noqa: BLE001  it is the steps' to say what becomes of it
            self._go(self.steps.throw, error)
        else:
            self._go(self.steps.send, answer)

    def until(self, is_there: Callable[[], bool]) -> None:
        """Take steps until something is so."""
        while not is_there():
            self.take()

    def end(self) -> Any:
        """Take the steps that are left, and return or raise what comes of them."""
        self.until(lambda: self.is_over)
        if self.error is not None:
            raise self.error
        return self.value

    def leave(self) -> None:
        """Take no more steps."""
        self.context.run(self.steps.close)

    def _go(self, go: Callable[[Any], Step], given: Any) -> None:
        try:
            self.step = self.context.run(go, given)
        except StopIteration as end:
            self.step, self.value = None, end.value
        except BaseException as error:  # noqa: BLE001  it is looked at by whoever drives
            self.step, self.error = None, error
