"""What a guarded act is made of: steps of the library's own, and calls of somebody else's code; and who takes them.

An act is a generator of steps, so that there is one order of things for threads and for tasks. ``run`` and ``arun``
are the two that take them.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, cast

from emitter.errors import InputError

T = TypeVar("T")


@dataclass(slots=True)
class Ours:
    """Reading or writing a store: it may block, and is never broken off.

    What is ``due`` is done although the task was cancelled: the receipt of an act.
    """

    act: Callable[[], Any]
    due: bool = False


@dataclass(slots=True)
class Theirs:
    """A tool, a hook, or whoever is asked; ``begun`` says whether the call was made at all."""

    act: Callable[[], Any]
    begun: bool = False


Step: TypeAlias = Ours | Theirs
Steps: TypeAlias = Generator[Step, Any, T]


def run(steps: Steps[T]) -> T:
    """Take the steps in this thread."""
    answer: Any = None
    error: BaseException | None = None
    while True:
        try:
            step = steps.send(answer) if error is None else steps.throw(error)
        except StopIteration as end:
            return cast("T", end.value)
        answer, error = None, None
        try:
            answer = _call(step)
        except BaseException as raised:  # noqa: BLE001  it is the act's to say what becomes of it
            error = raised


def _call(step: Step) -> Any:
    if isinstance(step, Theirs):
        step.begun = True
    answer = step.act()
    if inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()
        raise InputError("A tool, a hook or whoever is asked is async.", hint="Guard an async tool, or make it sync.")
    return answer


async def arun(steps: Steps[T]) -> T:
    """Take the steps in this task: the library's own in a thread, somebody else's here, waited for where they wait.

    A task that is cancelled while a store is written lets that come to its end, and calls nothing after it.
    """
    answer: Any = None
    error: BaseException | None = None
    while True:
        try:
            step = steps.send(answer) if error is None else steps.throw(error)
        except StopIteration as end:
            return cast("T", end.value)
        answer, error = None, None
        try:
            answer = await _acall(step)
        except BaseException as raised:  # noqa: BLE001  it is the act's to say what becomes of it
            error = raised


async def _acall(step: Step) -> Any:
    if isinstance(step, Ours) and step.due:
        return await _whole(step.act)
    await asyncio.sleep(0)  # where the task was cancelled meanwhile, nothing is begun
    if isinstance(step, Ours):
        return await _whole(step.act)
    step.begun = True
    answer = step.act()
    return await answer if inspect.isawaitable(answer) else answer


async def _whole(act: Callable[[], T]) -> T:
    """Return what a thread made of it, even where the task is cancelled: that is raised at the next step."""
    work = asyncio.ensure_future(asyncio.to_thread(act))
    cancelled = False
    while not work.done():
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            cancelled = True
        except BaseException:  # noqa: BLE001  it is raised below, from the work itself
            break
    task = asyncio.current_task()
    if cancelled and task is not None:
        task.uncancel()  # it is the same cancellation, not one more: asyncio.timeout() counts them
        task.cancel()
    return work.result()
