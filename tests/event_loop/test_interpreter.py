"""Operations of steps: the same results in a thread and in a task, and nothing lost that had begun."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from contextlib import aclosing, closing, suppress
from contextvars import ContextVar
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from emitter.clock import Clock, sleep_step
from emitter.errors import InputError
from emitter.fairness import MAX_PER_ITERATION
from emitter.interpreter import (
    BlockingStep,
    CallStep,
    Closed,
    ProgressStep,
    UserCodeStep,
    aiterate_steps,
    arun_steps,
    iterate_steps,
    run_steps,
)
from emitter.threads import MAX_THREADS, blocking_context, run_blocking

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.interpreter import Steps


def _fail(error: BaseException) -> None:
    raise error


def run(world: str, steps: Steps[Any]) -> Any:
    """Run an operation in either world."""
    return run_steps(steps) if world == "thread" else asyncio.run(arun_steps(steps))


both_worlds = pytest.mark.parametrize("world", ["thread", "task"])
KINDS: dict[str, Callable[[Callable[[], Any]], Any]] = {
    "blocking": BlockingStep,
    "blocking, must finish": partial(BlockingStep, must_finish=True),
    "blocking, quick": partial(BlockingStep, is_quick=True),
    "user code": UserCodeStep,
}


@both_worlds
@pytest.mark.parametrize("kind", KINDS)
def test_a_step_has_the_result_of_its_function(world: str, kind: str) -> None:
    """And the operation's own result is returned."""

    def operation() -> Steps[list[Any]]:
        return [(yield KINDS[kind](lambda: 1)), (yield KINDS[kind](lambda: None))]

    assert run(world, operation()) == [1, None]


@both_worlds
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("error", [ValueError("a bug"), KeyError(), asyncio.CancelledError()], ids=type)
def test_what_a_step_raises_is_raised_in_the_operation(world: str, kind: str, error: BaseException) -> None:
    """It decides what follows."""

    def operation() -> Steps[object]:
        try:
            yield KINDS[kind](partial(_fail, error))
        except type(error) as raised:
            return raised
        return None

    assert run(world, operation()) is error


@both_worlds
@pytest.mark.parametrize("kind", KINDS)
def test_a_stop_iteration_of_a_step_ends_nothing(world: str, kind: str) -> None:
    """Neither the operation in silence, nor a wait for ever."""

    def operation() -> Steps[None]:
        yield KINDS[kind](partial(_fail, StopIteration("a bug")))

    with pytest.raises(RuntimeError):
        run(world, operation())


@both_worlds
def test_what_an_operation_raises_is_raised(world: str) -> None:
    """With its cause."""

    def operation() -> Steps[None]:
        try:
            yield BlockingStep(partial(_fail, ValueError("first")))
        except ValueError as error:
            raise KeyError("second") from error

    with pytest.raises(KeyError) as caught:
        run(world, operation())
    assert isinstance(caught.value.__cause__, ValueError)


@both_worlds
def test_a_wait_is_the_clocks(world: str) -> None:
    """In a thread it is slept, in a task it is awaited."""
    slept: list[tuple[str, float]] = []

    async def asleep(seconds: float) -> None:
        slept.append(("task", seconds))

    clock = Clock(sleep=lambda seconds: slept.append(("thread", seconds)), async_sleep=asleep)

    def operation() -> Steps[None]:
        yield sleep_step(clock, 2.0)

    run(world, operation())
    assert slept == [(world, 2.0)]


def test_user_code_stays_in_its_thread_and_is_awaited_in_a_task_only() -> None:
    """A coroutine in a thread is an error that says so."""

    async def answer() -> int:
        await asyncio.sleep(0)
        return threading.get_ident()

    def operation() -> Steps[int]:
        return (yield UserCodeStep(answer))

    assert run("task", operation()) == threading.get_ident()
    with pytest.raises(InputError, match="is async, but the call is not"):
        run("thread", operation())


VARIABLE: ContextVar[str] = ContextVar("variable", default="unset")


def test_a_blocking_step_leaves_the_loop_and_keeps_the_context() -> None:
    """Another thread has the context variables of the task; a quick one needs none."""

    def operation() -> Steps[list[tuple[int, str]]]:
        here = lambda: (threading.get_ident(), VARIABLE.get())  # noqa: E731
        return [(yield BlockingStep(here)), (yield BlockingStep(here, is_quick=True))]

    VARIABLE.set("mine")
    (elsewhere, found), (quick, _) = run("task", operation())

    assert elsewhere != threading.get_ident() == quick
    assert found == "mine"


def test_many_blocking_calls_run_at_once() -> None:
    """More than the loop's default pool has threads for: each waits until all of them run."""
    together = threading.Barrier(MAX_THREADS)

    async def main() -> None:
        await asyncio.gather(*(run_blocking(together.wait, 60.0) for _ in range(MAX_THREADS)))

    asyncio.run(main())


class Writing:
    """A write that goes on until it is let go, and is counted when it is done."""

    def __init__(self) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.done = 0

    def __call__(self) -> str:
        """Write."""
        self.begun.set()
        assert self.may_end.wait(60)
        self.done += 1
        return "written"

    async def interrupted(self, call: Any, interrupt: Callable[[asyncio.Task[Any]], object]) -> BaseException | Any:
        """Interrupt a task while it writes, and return how it ended."""
        task = asyncio.create_task(call)
        await asyncio.to_thread(self.begun.wait, 60)
        interrupt(task)
        await asyncio.sleep(0.02)  # the cancellation has arrived, and the write goes on
        assert not task.done()
        self.may_end.set()
        (ended,) = await asyncio.gather(task, return_exceptions=True)
        return ended


@pytest.mark.parametrize("times", [1, 3])
def test_a_write_completes_before_the_cancellation_goes_on(times: int) -> None:
    """However often the task is cancelled; what must finish follows, and nothing else begins."""
    writing, followed = Writing(), list[str]()

    def operation() -> Steps[None]:
        assert (yield BlockingStep(writing)) == "written"
        yield BlockingStep(lambda: followed.append("must finish"), must_finish=True)
        try:
            yield UserCodeStep(lambda: followed.append("user code"))
        except asyncio.CancelledError:
            yield BlockingStep(lambda: followed.append("cleaned up"), must_finish=True)
            raise

    def interrupt(task: asyncio.Task[Any]) -> None:
        for _ in range(times):
            task.cancel()

    ended = asyncio.run(writing.interrupted(arun_steps(operation()), interrupt))

    assert isinstance(ended, asyncio.CancelledError)
    assert (writing.done, followed) == (1, ["must finish", "cleaned up"])


def test_a_cancellation_in_the_last_write_is_raised_at_the_end() -> None:
    """The task does not end as if nobody had cancelled it."""
    writing = Writing()

    def operation() -> Steps[str]:
        return (yield BlockingStep(writing, must_finish=True))

    ended = asyncio.run(writing.interrupted(arun_steps(operation()), lambda task: task.cancel()))
    assert isinstance(ended, asyncio.CancelledError)
    assert writing.done == 1


def test_a_timeout_in_a_write_is_a_timeout() -> None:
    """``asyncio.timeout`` counts the cancellation as its own."""
    writing = Writing()

    async def main() -> None:
        async with asyncio.timeout(0.05):
            await run_blocking(writing)

    async def let_go() -> None:
        await asyncio.to_thread(writing.begun.wait, 60)
        await asyncio.sleep(0.1)
        writing.may_end.set()

    async def both() -> None:
        letting = asyncio.create_task(let_go())
        with pytest.raises(TimeoutError):
            await main()
        await letting
        await asyncio.sleep(0)  # no cancellation is left over

    asyncio.run(both())
    assert writing.done == 1


def test_a_scope_of_anyio_is_cancelled_once() -> None:
    """It cancels its tasks again in every cycle of the loop, which would keep the loop busy during the write."""
    writing, cycles = Writing(), 0

    async def main() -> None:
        nonlocal cycles
        with anyio.CancelScope() as scope:
            asyncio.get_running_loop().call_later(0.02, scope.cancel)
            counting = asyncio.create_task(count())
            asyncio.get_running_loop().call_later(0.3, writing.may_end.set)
            await run_blocking(writing)
        assert scope.cancelled_caught
        counting.cancel()

    async def count() -> None:
        nonlocal cycles
        while True:
            await asyncio.sleep(0.01)
            cycles += 1

    asyncio.run(main())
    assert writing.done == 1
    assert cycles


def _watched(steps: list[str]) -> Steps[None]:
    try:
        yield ProgressStep(1)
        yield ProgressStep(2)
    except Closed:
        steps.append("closed")
        yield BlockingStep(lambda: steps.append("recorded"), must_finish=True)
        raise


def test_a_consumer_that_stops_lets_the_operation_clean_up() -> None:
    """With further steps, in either world."""
    in_thread, in_task = list[str](), list[str]()
    with closing(iterate_steps(_watched(in_thread))) as progress:
        assert next(progress) == 1

    async def read() -> None:
        async with aclosing(aiterate_steps(_watched(in_task))) as events:
            assert await anext(events) == 1

    asyncio.run(read())
    assert in_thread == in_task == ["closed", "recorded"]


def test_a_task_that_is_destroyed_cleans_up_at_once() -> None:
    """Its event loop is gone, so nothing is awaited any more."""
    steps: list[str] = []

    def operation() -> Steps[None]:
        try:
            yield UserCodeStep(lambda: asyncio.sleep(60))
        except Closed:
            yield BlockingStep(lambda: steps.append("recorded"), must_finish=True)
            raise

    running: Any = arun_steps(operation())

    async def begin() -> None:
        with suppress(StopIteration):
            running.send(None)
            running.send(None)

    asyncio.run(begin())
    running.close()
    assert steps == ["recorded"]


def test_a_context_is_entered_and_left_in_threads() -> None:
    """Also if the task is cancelled while it is entered."""
    writing, threads = Writing(), list[tuple[str, int]]()

    class Context:
        def __enter__(self) -> str:
            threads.append(("in", threading.get_ident()))
            return writing()

        def __exit__(self, *error: object) -> None:
            threads.append(("out", threading.get_ident()))

    async def use() -> None:
        async with blocking_context(Context()):
            pytest.fail("it was cancelled before")

    ended = asyncio.run(writing.interrupted(use(), lambda task: task.cancel()))

    assert isinstance(ended, asyncio.CancelledError)
    assert [name for name, _ in threads] == ["in", "out"]
    assert threading.get_ident() not in {ident for _, ident in threads}


def test_few_operations_begin_in_one_iteration_of_the_loop() -> None:
    """In their order. One whose task was cancelled while it waited takes no turn."""

    async def run_all() -> list[tuple[int, int]]:
        iteration = count()
        current = 0

        async def count_iterations() -> None:
            nonlocal current
            for current in iteration:  # noqa: B007  the operations read it
                await asyncio.sleep(0)

        begun: list[tuple[int, int]] = []

        def operation(number: int) -> Steps[None]:
            async def begin() -> None:
                begun.append((current, number))

            yield CallStep(partial(_fail, RuntimeError()), begin)

        counting = asyncio.create_task(count_iterations())
        tasks = [asyncio.create_task(arun_steps(operation(number))) for number in range(50)]
        await asyncio.sleep(0)
        tasks[-1].cancel()
        await asyncio.wait(tasks)
        counting.cancel()
        return begun

    begun = asyncio.run(run_all())
    assert [number for _, number in begun] == list(range(49))
    assert max(Counter(iteration for iteration, _ in begun).values()) <= MAX_PER_ITERATION
