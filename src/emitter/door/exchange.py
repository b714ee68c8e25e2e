"""One request on its way through a client: whole, or as a stream, in either world."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing, closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from emitter import tokens
from emitter.adapters.adapter import ADAPTERS
from emitter.adapters.answer import ERROR_STOP
from emitter.adapters.incoming import Incoming, apieces, headers_of, pieces
from emitter.adapters.response import of_exception, of_sdk_response
from emitter.wire import Fault, Reply, Usage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Generator, Iterator

    from emitter.clock import Clock
    from emitter.door.plan import Plan
    from emitter.progress import Progress
    from emitter.progress.slots import Reader, Slots
    from emitter.wire import Answer, Request

_FIRST_ERROR = 400
_SLOW = "The vendor did not finish its answer in time."


@dataclass(frozen=True, slots=True)
class Line:
    """What every request of one emission is sent through; ``slots`` are told of its streams."""

    plan: Plan
    client: object
    clock: Clock
    slots: Slots | None = None

    def answer_of(self, error: Exception) -> Answer:
        """Return the answer an exception stands for; what is not the vendor's rises as it is."""
        answer = of_exception(self.plan.profile, self.plan.wire, error)
        if answer is None:
            raise error
        return answer

    def call(self, request: Request, timeout: float) -> object:
        """Send for a whole answer."""
        adapter = ADAPTERS[self.plan.wire]
        return adapter.call(self.client, adapter.encode(request, self.plan.profile.wires[self.plan.wire]), timeout)

    def stream(self, request: Request, timeout: float) -> object:
        """Send for a stream."""
        adapter, facts = ADAPTERS[self.plan.wire], self.plan.profile.wires[self.plan.wire]
        return adapter.stream(self.client, adapter.streamed(adapter.encode(request, facts), facts), timeout)


class Whole:
    """A request whose answer comes whole."""

    answer: Answer

    def __init__(self, line: Line, request: Request, timeout: float) -> None:
        self._line, self._request, self._timeout = line, request, timeout

    def __iter__(self) -> Iterator[Progress]:
        """Send; there is nothing to tell on the way."""
        plan = self._line.plan
        try:
            self.answer = of_sdk_response(plan.profile, plan.wire, self._line.call(self._request, self._timeout))
        except Exception as error:  # noqa: BLE001  each SDK has its own tree; what is not the vendor's rises again
            self.answer = self._line.answer_of(error)
        return iter(())

    async def __aiter__(self) -> AsyncGenerator[Progress]:
        """Send; there is nothing to tell on the way."""
        plan = self._line.plan
        try:
            async with asyncio.timeout(self._timeout):
                response = await cast("Awaitable[object]", self._line.call(self._request, self._timeout))
            self.answer = of_sdk_response(plan.profile, plan.wire, response)
        except Exception as error:  # noqa: BLE001  each SDK has its own tree; what is not the vendor's rises again
            self.answer = self._line.answer_of(error)
        nothing: tuple[Progress, ...] = ()
        for each in nothing:
            yield each

    def so_far(self) -> Usage | None:
        """Return nothing: a vendor that was not heard out has not said what it bills."""
        return None


def _document(reply: Reply) -> str:
    """Return what the judge will read, where it came in another way than was asked for."""
    first = next(iter(reply.arguments), reply.text)
    return first if isinstance(first, str) else json.dumps(first)


class Streamed:
    """A request whose answer is told while it comes."""

    answer: Answer

    def __init__(self, line: Line, request: Request, timeout: float) -> None:
        self._line, self._request, self._left = line, request, timeout
        self._incoming: Incoming | None = None
        self._reader: Reader | None = line.slots.reader() if line.slots else None
        self._fed = 0

    def __iter__(self) -> Generator[Progress]:
        """Send, and tell what there is to tell."""
        try:
            opened = self._line.stream(self._request, self._left)
            incoming = self._begun()
            with closing(cast("Any", opened)):
                for piece in self._in_time(pieces(opened)):
                    yield from self._told(incoming.feed(piece))
            answer = incoming.answer(headers_of(opened))
        except Exception as error:  # noqa: BLE001  as above
            answer = self._line.answer_of(error)
        self.answer = self._accounted(answer)
        yield from self._rest(self.answer)

    async def __aiter__(self) -> AsyncGenerator[Progress]:
        """Send, and tell what there is to tell."""
        try:
            async with asyncio.timeout(self._left):
                opened = await cast("Awaitable[object]", self._line.stream(self._request, self._left))
            incoming = self._begun()
            async with aclosing(cast("Any", opened)):
                async for piece in self._ain_time(apieces(opened)):
                    for each in self._told(incoming.feed(piece)):
                        yield each
            answer = incoming.answer(headers_of(opened))
        except Exception as error:  # noqa: BLE001  as above
            answer = self._line.answer_of(error)
        self.answer = self._accounted(answer)
        for each in self._rest(self.answer):
            yield each

    def _begun(self) -> Incoming:
        plan = self._line.plan
        self._incoming = Incoming(plan.profile, plan.wire, self._request.output.mode)
        return self._incoming

    def _in_time(self, coming: Iterator[object]) -> Iterator[object]:
        """Yield what comes, while the waiting for it takes no longer than allowed; the consumer's time is its own."""
        while True:
            began = self._line.clock.monotonic()
            piece = next(coming, None)
            self._left -= self._line.clock.monotonic() - began
            if piece is None:
                return
            if self._left <= 0:
                raise TimeoutError(_SLOW)
            yield piece

    async def _ain_time(self, coming: AsyncIterator[object]) -> AsyncGenerator[object]:
        while True:
            began = self._line.clock.monotonic()
            async with asyncio.timeout(max(self._left, 0)):
                piece = await anext(coming, None)
            self._left -= self._line.clock.monotonic() - began
            if piece is None:
                return
            if self._left <= 0:
                raise TimeoutError(_SLOW)
            yield piece

    def _told(self, text: str) -> list[Any]:
        self._fed += len(text)
        return list(self._reader.feed(text)) if self._reader and text else []

    def _rest(self, answer: Answer) -> list[Any]:
        """Return what is to be told of an answer of which only the end of the stream, or no stream at all, told."""
        if self._incoming is None or not isinstance(answer, Reply):
            return []
        text = "".join(self._incoming.text)
        return self._told(text[self._fed :] if text else _document(answer))

    def _accounted(self, answer: Answer) -> Answer:
        """Return the answer with what it cost, where it broke off before the vendor said so."""
        if isinstance(answer, Fault):
            refused = (answer.status or 0) >= _FIRST_ERROR
            return answer if refused else replace(answer, usage=self.so_far())
        return replace(answer, usage=self.so_far()) if answer.raw_stop.startswith(ERROR_STOP) else answer

    def so_far(self) -> Usage | None:
        """Return what the answer has cost so far: what the vendor said, and what was counted here besides."""
        if self._incoming is None or not self._incoming.begun:
            return None
        billed = self._incoming.bill()
        if billed is not None:
            return billed
        said = self._incoming.usage() or Usage()
        encoding = self._line.plan.profile.encoding(self._request.model)
        written = tokens.count("".join(self._incoming.text), encoding)
        asked = said.input or tokens.of_request(self._request, encoding)
        if said.input == asked and said.output >= written:
            return said
        return replace(said, input=asked, output=max(said.output, written), estimated=True)
