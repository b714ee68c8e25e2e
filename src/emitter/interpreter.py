"""Run operations that are written once, in a thread or in an event loop.

An operation is a generator of steps: it yields what must be done, and is sent the result, or the exception that was
raised. ``run_steps`` and ``iterate_steps`` execute the steps in the current thread, and ``arun_steps`` and
``aiterate_steps`` in an asyncio task. These are the only functions of the library that exist twice.

In a task, a ``BlockingStep`` runs in another thread, so that the event loop is free. It always completes: if the task
is cancelled meanwhile, the cancellation is raised at the next step that can be interrupted, or at the end.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from emitter.errors import InputError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncGenerator, Awaitable, Callable

T = TypeVar("T")


@dataclass(slots=True)
class BlockingStep:
    """A call that may wait for a store, a file or a network.

    Attributes:
        function: The call.
        must_finish: Also begin it if the task was cancelled before.
        is_quick: It only works in memory, so it runs in the event loop.
    """

    function: Callable[[], Any]
    must_finish: bool = False
    is_quick: bool = False


@dataclass(slots=True)
class UserCodeStep:
    """A call in the caller's own thread or task. Its result is awaited if it is awaitable.

    ``started`` becomes True when the call is made.
    """

    function: Callable[[], Any]
    started: bool = False


@dataclass(slots=True)
class CallStep:
    """A call that waits for a vendor or a clock. A thread calls ``function``, and a task awaits ``async_function``."""

    function: Callable[[], Any]
    async_function: Callable[[], Awaitable[Any]]


@dataclass(slots=True)
class ProgressStep:
    """Pass a value to the consumer of ``iterate_steps``."""

    value: Any


Step: TypeAlias = BlockingStep | UserCodeStep | CallStep | ProgressStep
Steps: TypeAlias = Generator[Step, Any, T]
"""An operation that returns ``T``."""


class Closed(BaseException):
    """The consumer stopped iterating, or the task was destroyed. Raised in an operation, which may clean up.

    ``GeneratorExit`` cannot be used: after it, an operation could not yield any further steps.
    """


def is_dropped() -> bool:
    """Return whether the operation is collected because nobody executes it any more.

    It must not yield further steps then, for example while it cleans up.
    """
    return isinstance(sys.exception(), GeneratorExit)


def run_steps(steps: Steps[T]) -> T:
    """Execute the steps in this thread. Their progress is dropped."""
    running = iterate_steps(steps)
    while True:
        try:
            next(running)
        except StopIteration as end:
            return cast("T", end.value)


def iterate_steps(steps: Steps[T]) -> Generator[Any, None, T]:
    """Execute the steps in this thread, and yield their progress."""
    resume: Callable[[], Step] = partial(steps.send, None)
    closed: BaseException = GeneratorExit()
    while True:
        try:
            step = resume()
        except StopIteration as end:
            return cast("T", end.value)
        except Closed:
            raise closed from None
        try:
            if isinstance(step, ProgressStep):
                yield step.value
            resume = partial(steps.send, _perform(step))
        except GeneratorExit as error:
            closed, resume = error, partial(steps.throw, Closed())
        except BaseException as error:  # noqa: BLE001  the operation decides how to handle it
            resume = partial(steps.throw, error)


def _perform(step: Step) -> Any:
    """Execute one step in this thread, and return its result."""
    if isinstance(step, BlockingStep | CallStep):
        return step.function()
    return _call_user_code(step) if isinstance(step, UserCodeStep) else None


def _call_user_code(step: UserCodeStep) -> Any:
    step.started = True
    answer = step.function()
    if inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()
        raise InputError(
            "A tool, hook or callback is async, but the call is not.", hint="Make it sync, or guard an async tool."
        )
    return answer


async def arun_steps(steps: Steps[T]) -> T:
    """Execute the steps in this task. Their progress is dropped."""
    task = _TaskSteps(steps)
    while await task.advance() is not None:
        pass
    return cast("T", task.value)


async def aiterate_steps(steps: Steps[Any]) -> AsyncGenerator[Any]:
    """Execute the steps in this task, and yield their progress."""
    task = _TaskSteps(steps)
    while (step := await task.advance()) is not None:
        try:
            yield step.value
        except BaseException as error:  # noqa: BLE001  the operation decides how to handle it
            task.interrupt(error)


class _TaskSteps:
    """The steps of one operation in a task, and what has interrupted it from outside."""

    def __init__(self, steps: Steps[Any]) -> None:
        self.value: Any = None
        """The result of an operation that has ended."""
        self._steps = steps
        self._resume: Callable[[], Step] = partial(steps.send, None)
        self._cancelled: asyncio.CancelledError | None = None
        """The cancellation that came during a step that had to complete."""
        self._closed: GeneratorExit | None = None
        self._is_destroyed = False

    async def advance(self) -> ProgressStep | None:
        """Execute the steps up to the next one that has progress, and return that, or None at the end."""
        while True:
            try:
                step = self._resume()
            except StopIteration as end:
                self.value = end.value
                self._finish()
                return None
            except BaseException:
                self._finish()
                raise
            self._resume = partial(self._steps.send, None)
            try:
                if isinstance(step, ProgressStep):
                    self._check_cancelled()
                    return step
                self._resume = partial(self._steps.send, await self._perform(step))
            except GeneratorExit as error:  # the task is destroyed, so nothing can be awaited any more
                self._is_destroyed = True
                self.interrupt(error)
            except BaseException as error:  # noqa: BLE001  the operation decides how to handle it
                self.interrupt(error)

    def interrupt(self, error: BaseException) -> None:
        """Raise an exception in the operation."""
        if isinstance(error, GeneratorExit):
            self._closed, error = error, Closed()
        self._resume = partial(self._steps.throw, error)

    def _finish(self) -> None:
        """Raise what ended the operation from outside, if anything."""
        if self._closed is not None:
            raise self._closed
        self._check_cancelled()

    def _check_cancelled(self) -> None:
        """Raise the cancellation that came during a step that had to complete."""
        if self._cancelled is not None:
            error, self._cancelled = self._cancelled, None
            raise error

    async def _perform(self, step: BlockingStep | UserCodeStep | CallStep) -> Any:
        """Execute one step, and return its result."""
        if isinstance(step, BlockingStep):
            return await self._run_blocking(step)
        if self._is_destroyed:
            return None
        self._check_cancelled()
        if isinstance(step, CallStep):
            from emitter.fairness import take_turn  # noqa: PLC0415  only event loops need it

            await take_turn()
            result = await step.async_function()
            await take_turn()
            return result
        await _checkpoint()  # begin nothing if the task was cancelled meanwhile
        step.started = True
        answer = step.function()
        return await answer if inspect.isawaitable(answer) else answer

    async def _run_blocking(self, step: BlockingStep) -> Any:
        if not step.must_finish:
            self._check_cancelled()
            await _checkpoint()
        if step.is_quick or self._is_destroyed:
            return step.function()
        from emitter.threads import BlockingCall  # noqa: PLC0415  only event loops need it

        call = BlockingCall(step.function)
        self._cancelled = await call.complete() or self._cancelled
        return call.result()


async def _checkpoint() -> None:
    """Let a cancellation of the task be raised."""
    import asyncio  # noqa: PLC0415  light commands load this module without it

    await asyncio.sleep(0)
