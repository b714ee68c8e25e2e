"""Sending for the length of one emission: the caller's client, or one that is made and closed here."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, cast

from emitter.adapters.adapter import ADAPTERS
from emitter.adapters.client import check, make
from emitter.adapters.response import of_exception, of_sdk_response

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Generator

    from emitter.door.plan import Plan
    from emitter.drive import AsyncSend, Send
    from emitter.wire import Answer, Request


@contextmanager
def session(plan: Plan, client: object, base_url: str | None) -> Generator[Send]:
    """Yield the function that sends a request and returns its answer."""
    used = client or make(plan.profile, asynchronous=False, base_url=base_url)
    check(used, plan.profile, asynchronous=False)

    def send(request: Request, timeout: float) -> Answer:
        try:
            return of_sdk_response(plan.profile, plan.wire, _call(plan, used, request, timeout))
        except Exception as error:  # noqa: BLE001  each SDK has its own tree; what is not the vendor's rises again
            return _answer(plan, error)

    try:
        yield send
    finally:
        if client is None:
            cast("Any", used).close()


@asynccontextmanager
async def asession(plan: Plan, client: object, base_url: str | None) -> AsyncGenerator[AsyncSend]:
    """Yield the coroutine function that sends a request and returns its answer."""
    made = client or make(plan.profile, asynchronous=True, base_url=base_url)
    used = getattr(made, "aio", made)
    check(used, plan.profile, asynchronous=True)

    async def send(request: Request, timeout: float) -> Answer:  # noqa: ASYNC109  the SDK's own timeout is set by it
        try:
            async with asyncio.timeout(timeout):
                response = await cast("Awaitable[object]", _call(plan, used, request, timeout))
            return of_sdk_response(plan.profile, plan.wire, response)
        except Exception as error:  # noqa: BLE001  each SDK has its own tree; what is not the vendor's rises again
            return _answer(plan, error)

    try:
        yield send
    finally:
        if client is None:
            await _aclose(used)


def _call(plan: Plan, client: object, request: Request, timeout: float) -> object:
    adapter = ADAPTERS[plan.wire]
    return adapter.call(client, adapter.encode(request, plan.profile.wires[plan.wire]), timeout)


def _answer(plan: Plan, error: Exception) -> Answer:
    """Return the answer an exception stands for; what is not the vendor's rises as it is."""
    answer = of_exception(plan.profile, plan.wire, error)
    if answer is None:
        raise error
    return answer


async def _aclose(client: object) -> None:
    closing = getattr(client, "aclose", None) or cast("Any", client).close
    await closing()
