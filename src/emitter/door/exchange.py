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
from emitter.adapters.credentials import of_error, of_request
from emitter.adapters.incoming import Incoming
from emitter.adapters.response import of_failure, of_sdk_response
from emitter.adapters.transport import Transfer, bounded
from emitter.door.hushed import without_credentials
from emitter.policy import DEFAULT_MAX_RESPONSE_BYTES
from emitter.wire import Fault, Reply, Usage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Generator, Iterator

    from emitter.clock import Clock
    from emitter.door.plan import Plan
    from emitter.progress import Progress
    from emitter.progress.slots import Reader, Slots
    from emitter.wire import Answer, Json, Request

_FIRST_ERROR = 400
_SLOW = "The vendor did not finish its answer in time."


@dataclass(frozen=True, slots=True)
class Line:
    """What every request of one emission is sent through; ``slots`` are told of its streams."""

    plan: Plan
    client: object
    clock: Clock
    slots: Slots | None = None
    max_bytes: int = DEFAULT_MAX_RESPONSE_BYTES

    def transfer(self) -> Transfer:
        """Return the record of a request that is about to be sent."""
        return Transfer(self.max_bytes)

    def answer_of(self, error: Exception, transfer: Transfer) -> Answer:
        """Return the answer an exception stands for. Whatever a call raises ends here, but our own errors rise."""
        found = of_failure(self.plan.profile, self.plan.wire, error, transfer)
        return self.clean(found, transfer) if transfer.sent else without_credentials(found, of_error(error))

    def clean(self, answer: Answer, transfer: Transfer) -> Answer:
        """Return the answer without the credentials of the request that was sent, should the vendor repeat them."""
        return without_credentials(answer, of_request(transfer.request)) if transfer.sent else answer

    def call(self, request: Request, timeout: float, transfer: Transfer) -> object:
        """Send for a whole answer."""
        adapter, facts = ADAPTERS[self.plan.wire], self.plan.profile.wires[self.plan.wire]
        return adapter.call(bounded(self.client, transfer), adapter.encode(request, facts), timeout)

    def stream(self, request: Request, timeout: float, transfer: Transfer) -> object:
        """Send for a stream."""
        adapter, facts = ADAPTERS[self.plan.wire], self.plan.profile.wires[self.plan.wire]
        body = adapter.streamed(adapter.encode(request, facts), facts)
        return adapter.stream(bounded(self.client, transfer), body, timeout)

    def estimated(self, request: Request, said: Usage | None, written: str) -> Usage:
        """Return what a call has cost, counted here as far as the vendor has not said it."""
        said, encoding = said or Usage(), self.plan.profile.encoding(request.model)
        asked = said.input or tokens.of_request(request, encoding)
        answered = said.output or tokens.count(written, encoding)
        if said.input == asked and said.output == answered:
            return said
        return replace(said, input=asked, output=answered, estimated=True)


class Whole:
    """A request whose answer comes whole."""

    answer: Answer

    def __init__(self, line: Line, request: Request, timeout: float) -> None:
        self._line, self._request, self._timeout = line, request, timeout
        self._transfer = line.transfer()

    def __iter__(self) -> Iterator[Progress]:
        """Send; there is nothing to tell on the way."""
        try:
            self._read(self._line.call(self._request, self._timeout, self._transfer))
        except Exception as error:  # noqa: BLE001  whatever a call raises is a fault
            self.answer = self._line.answer_of(error, self._transfer)
        return iter(())

    async def __aiter__(self) -> AsyncGenerator[Progress]:
        """Send; there is nothing to tell on the way."""
        try:
            async with asyncio.timeout(self._timeout):
                called = self._line.call(self._request, self._timeout, self._transfer)
                response = await cast("Awaitable[object]", called)
            self._read(response)
        except Exception as error:  # noqa: BLE001  whatever a call raises is a fault
            self.answer = self._line.answer_of(error, self._transfer)
        nothing: tuple[Progress, ...] = ()
        for each in nothing:
            yield each

    def _read(self, response: object) -> None:
        plan = self._line.plan
        answer = of_sdk_response(plan.profile, plan.wire, response)
        if isinstance(answer, Reply) and not _billed(answer.usage):
            written = answer.text + "".join(map(_text, answer.arguments))
            answer = replace(answer, usage=self._line.estimated(self._request, answer.usage, written))
        self.answer = self._line.clean(answer, self._transfer)

    def so_far(self) -> Usage | None:
        """Return nothing: a vendor that was not heard out has not said what it bills."""
        return None


def _billed(usage: Usage | None) -> bool:
    """Tell whether a vendor has said what a call cost: no call is without input."""
    return usage is not None and usage.input > 0 and usage.output > 0


def _document(reply: Reply) -> str:
    """Return what the judge will read, where it came in another way than was asked for."""
    return _text(next(iter(reply.arguments), reply.text))


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value)


class Streamed:
    """A request whose answer is told while it comes."""

    answer: Answer

    def __init__(self, line: Line, request: Request, timeout: float) -> None:
        self._line, self._request, self._left = line, request, timeout
        self._transfer = line.transfer()
        self._incoming: Incoming | None = None
        self._reader: Reader | None = line.slots.reader() if line.slots else None
        self._fed = 0

    def __iter__(self) -> Generator[Progress]:
        """Send, and tell what there is to tell."""
        try:
            opened = cast("Any", self._line.stream(self._request, self._left, self._transfer))
            incoming = self._begun()
            with closing(opened):
                for piece in self._in_time(opened.iter_bytes()):
                    yield from self._told(incoming.feed(piece))
            yield from self._ended(incoming.answer(opened.headers))
        except Exception as error:  # noqa: BLE001  whatever a call raises is a fault
            self.answer = self._accounted(self._line.answer_of(error, self._transfer))

    async def __aiter__(self) -> AsyncGenerator[Progress]:
        """Send, and tell what there is to tell."""
        try:
            async with asyncio.timeout(self._left):
                called = self._line.stream(self._request, self._left, self._transfer)
                opened = cast("Any", await cast("Awaitable[object]", called))
            incoming = self._begun()
            async with aclosing(opened):
                async for piece in self._ain_time(opened.aiter_bytes()):
                    for each in self._told(incoming.feed(piece)):
                        yield each
            for each in self._ended(incoming.answer(opened.headers)):
                yield each
        except Exception as error:  # noqa: BLE001  whatever a call raises is a fault
            self.answer = self._accounted(self._line.answer_of(error, self._transfer))

    def _begun(self) -> Incoming:
        plan = self._line.plan
        self._incoming = Incoming(plan.profile, plan.wire, self._request.output.mode)
        return self._incoming

    def _in_time(self, coming: Iterator[bytes]) -> Iterator[bytes]:
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

    async def _ain_time(self, coming: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
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

    def _ended(self, answer: Answer) -> list[Any]:
        """Keep the answer, and return what is left to be told of it."""
        rest = self._rest(answer)
        self.answer = self._line.clean(self._accounted(answer), self._transfer)
        return rest

    def _rest(self, answer: Answer) -> list[Any]:
        """Return what is to be told of an answer of which only the end of the stream, or no stream at all, told."""
        if self._incoming is None or not isinstance(answer, Reply):
            return []
        text = "".join(self._incoming.text)
        return self._told(text[self._fed :] if text else _document(answer))

    def _accounted(self, answer: Answer) -> Answer:
        """Return the answer with what it cost, where the vendor did not say so."""
        if isinstance(answer, Fault):
            refused = (answer.status or 0) >= _FIRST_ERROR and not (self._incoming and self._incoming.begun)
            return answer if refused else replace(answer, usage=self.so_far() or answer.usage)
        if answer.raw_stop.startswith(ERROR_STOP):
            return replace(answer, usage=self.so_far())
        if _billed(answer.usage):
            return answer
        written = "".join(self._incoming.text) if self._incoming else ""
        return replace(answer, usage=self._line.estimated(self._request, answer.usage, written or _document(answer)))

    def so_far(self) -> Usage | None:
        """Return what the answer has cost so far: what the vendor said, and what was counted here besides."""
        if self._incoming is None or not self._incoming.begun:
            return None
        said, ended = self._incoming.said()
        if ended and _billed(said):
            return said
        written = "".join(self._incoming.text)
        least = self._line.estimated(self._request, replace(said, output=0) if said else None, written)
        if said and said.input == least.input and said.output >= least.output:
            return said
        return replace(least, output=max(least.output, said.output if said else 0))
