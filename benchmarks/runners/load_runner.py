"""Many emissions at once: ``aemit_many``, ``aemit``, and ``httpx2`` alone with the same bound."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any

import httpx2
import openai
import psutil

from benchmarks.runners.sdk_clients import KEY
from benchmarks.runners.talk import talk
from benchmarks.runners.task import BUDGET, MODELS, PROMPT, WHOLE, Moment
from emitter import Policy, aemit
from emitter.bulk import aemit_many

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping

_SAMPLES = 25
_MEGA = 1e6


class Load:
    """Something that yields True for each right answer."""

    def __init__(self, answers: Callable[[Mapping[str, Any]], AsyncIterator[bool]]) -> None:
        self._answers = answers

    def caller(self, job: Mapping[str, Any]) -> Callable[[], Any]:
        """Return one run of ``total`` requests with ``flight`` of them under way."""
        return lambda: asyncio.run(_run(self._answers(job), job["total"]))


async def _run(answers: AsyncIterator[bool], total: int) -> dict[str, Any]:
    """Return the seconds by the clock and by the processor, the right answers, and the memory in MB over time."""
    process, memory, right, count = psutil.Process(), list[float](), 0, 0
    started, spent = time.perf_counter(), time.process_time()
    async for good in answers:
        right += good
        count += 1
        if count % max(1, total // _SAMPLES) == 0:
            memory.append(round(process.memory_info().rss / _MEGA, 1))
    return {
        "seconds": time.perf_counter() - started,
        "cpu": time.process_time() - spent,
        "answered": count,
        "right": right,
        "memory": memory,
    }


def _situations(total: int) -> Iterator[str]:
    return (f"{PROMPT} This is case {index}." for index in range(total))


def _client(job: Mapping[str, Any]) -> openai.AsyncOpenAI:
    http = openai.DefaultAsyncHttpxClient(limits=_limits(job))
    return openai.AsyncOpenAI(base_url=f"{job['url']}/v1", api_key=KEY, http_client=http)


async def _single(job: Mapping[str, Any]) -> AsyncIterator[bool]:
    """Await single emissions, by as many workers as may be in flight."""
    async with _client(job) as client:
        model, policy = f"openai/{MODELS['openai-responses']}", Policy(output_tokens=BUDGET)

        async def ask(situation: str) -> bool:
            emission = await aemit(Moment, situation, model=model, client=client, policy=policy)
            return emission.value.model_dump() == WHOLE

        async for each in _bounded((ask(each) for each in _situations(job["total"])), job["flight"]):
            yield each


async def _ours(job: Mapping[str, Any]) -> AsyncIterator[bool]:
    async with _client(job) as client:
        run = aemit_many(
            Moment,
            list(_situations(job["total"])),
            model=f"openai/{MODELS['openai-responses']}",
            client=client,
            in_flight=job["flight"],
            ordered=False,
            progress=False,
            policy=Policy(output_tokens=BUDGET),
        )
        async for each in run:
            yield each.error is None and each.value.model_dump() == WHOLE


def _limits(job: Mapping[str, Any]) -> httpx2.Limits:
    """Return room for as many connections as requests; the SDK's own client keeps only a hundred of them open."""
    return httpx2.Limits(max_connections=job["flight"], max_keepalive_connections=job["flight"])


async def _floor(job: Mapping[str, Any]) -> AsyncIterator[bool]:
    """Post the body that this library sends, by as many workers as may be in flight."""
    body: dict[str, Any] = job["body"]
    async with httpx2.AsyncClient(limits=_limits(job), timeout=120) as http:

        async def post(situation: str) -> bool:
            asked = {**body, "input": [{"role": "user", "content": situation}]}
            response = await http.post(f"{job['url']}/v1/responses", json=asked, headers={"authorization": KEY})
            return json.loads(response.content)["status"] == "completed"

        async for each in _bounded((post(each) for each in _situations(job["total"])), job["flight"]):
            yield each


async def _bounded(waiting: Iterator[Coroutine[Any, Any, bool]], bound: int) -> AsyncIterator[bool]:
    done: asyncio.Queue[bool | None] = asyncio.Queue()

    async def work() -> None:
        for each in waiting:
            done.put_nowait(await each)
        done.put_nowait(None)

    workers, over = [asyncio.create_task(work()) for _ in range(bound)], 0
    while over < len(workers):
        each = await done.get()
        if each is None:
            over += 1
        else:
            yield each


if __name__ == "__main__":
    talk({"aemit_many": Load(_ours), "aemit": Load(_single), "httpx2": Load(_floor)})
