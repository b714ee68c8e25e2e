"""Run a simulated vendor: start the server, create SDK clients, script responses and read the calls it received.

Each server runs in its own thread, so a process can run several.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_never, cast

from emitter.adapters.clients import create_client
from emitter.errors import InputError, MissingExtra
from emitter.profiles import find_profile
from emitter.profiles.model import Sdk
from emitter.testing.behaviours import DECODED
from emitter.testing.handler import SimulatorHandler
from emitter.testing.plans import TransmissionOutcome
from emitter.testing.responses import CallLog, RawRequest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, MutableMapping
    from types import TracebackType
    from typing import Self

    from emitter.messages import Usage
    from emitter.testing.batches import BatchStore
    from emitter.testing.handler import AnswerSource
    from emitter.testing.plans import Behaviour
    from emitter.testing.prompt_caches import PromptCaches
    from emitter.testing.responses import SimulatedCall, SimulatedResponse
    from emitter.testing.uvicorn_server import SimulatorServer

    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]

_SLICE_BYTES = 1 << 16
_TRICKLE_SECONDS = 0.02
"""Seconds between two keepalives of a trickling response."""


@dataclass(frozen=True, slots=True)
class ResponseSpeed:
    """The speed of the vendor: seconds before the first byte, then tokens per second (None: no delay)."""

    latency: float
    tokens_per_second: float | None

    def get_seconds(self, tokens: float) -> float:
        """Return the time in which the vendor writes this many tokens."""
        return tokens / self.tokens_per_second if self.tokens_per_second else 0.0


class SimulatorApp:
    """Serves all requests. An exception in a behaviour is kept in ``errors`` and answered with a 500."""

    def __init__(self, handler: SimulatorHandler, call_log: CallLog, speed: ResponseSpeed) -> None:
        self._handler = handler
        self._call_log = call_log
        self._speed = speed
        self.errors: list[Exception] = []

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        body = await _read_body(receive)
        if body is None:
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        query = scope["query_string"].decode("latin-1")
        path = f"{scope['path']}?{query}" if query else scope["path"]
        try:
            response, call = self._handler.handle(RawRequest(scope["method"], path, headers, body))
        except Exception as error:  # noqa: BLE001  raised again when the simulator closes
            self.errors.append(error)
            await _send_error(send, error)
            return
        usage = await _Delivery(response, self._speed, receive, send, scope["state"]["transport"]).run()
        if usage is not None:
            self._call_log.update_usage(call, usage)


async def _read_body(receive: Receive) -> bytes | None:
    """Return the body, or None if the client disconnects before its end."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


async def _send_error(send: Send, error: Exception) -> None:
    body = f"The simulator's behaviour raised {type(error).__name__}: {error}".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 500, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@dataclass(slots=True)
class _Delivery:
    """Sends one response to a client, as planned."""

    response: SimulatedResponse
    speed: ResponseSpeed
    receive: Receive
    send: Send
    transport: asyncio.Transport
    sent: int = 0

    async def run(self) -> Usage | None:
        """Send the response. Returns the changed usage if the client disconnects before the end."""
        response, outcome = self.response, self.response.transmission.outcome
        delay = self.speed.latency + (0.0 if response.is_stream else self.speed.get_seconds(response.usage.output))
        if delay and await self._wait_for_disconnect(delay):
            return response.compute_usage(None)
        limit = response.delivered_bytes
        if limit is not None:
            # A stream has no length. A trickling response must have none, because it never ends.
            await self._start(with_length=not response.is_stream and outcome is not TransmissionOutcome.TRICKLED)
            if not await self._send_body(limit):
                return response.compute_usage(self.sent)
        await self._end(outcome)
        return None

    async def _start(self, *, with_length: bool) -> None:
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in self.response.headers.items()]
        if with_length:
            headers.append((b"content-length", str(len(self.response.body)).encode()))
        await self.send({"type": "http.response.start", "status": self.response.status, "headers": headers})

    async def _send_body(self, limit: int) -> bool:
        """Send the body up to ``limit`` bytes. Returns False if the client disconnected."""
        is_complete = self.response.transmission.outcome is TransmissionOutcome.DELIVERED
        for data, delay in self._iter_slices(limit):
            if (delay and await self._wait_for_disconnect(delay)) or self.transport.is_closing():
                return False
            is_last = self.sent + len(data) >= limit
            await self._write(data, more=not (is_complete and is_last))
            self.sent += len(data)
        return True

    def _iter_slices(self, limit: int) -> Iterator[tuple[bytes, float]]:
        """Yield parts of the body and the wait before each: events if there is a token rate, else slices of 64 KiB."""
        body, output = self.response.body, self.response.usage.output
        if not (self.speed.tokens_per_second and self.response.is_stream):
            for start in range(0, max(1, limit), _SLICE_BYTES):
                yield body[start : min(start + _SLICE_BYTES, limit)], 0.0
            return
        event_start, text_start, length = 0, 0, max(1, len(self.response.text))
        for event_end, text_end in zip(self.response.event_offsets, self.response.text_offsets, strict=True):
            seconds = self.speed.get_seconds(output * (text_end - text_start) / length)
            yield body[event_start : min(event_end, limit)], seconds
            event_start, text_start = event_end, text_end
            if event_end >= limit:
                return

    async def _end(self, outcome: TransmissionOutcome) -> None:
        """Fail in the planned way after the last byte."""
        match outcome:
            case TransmissionOutcome.DELIVERED:
                pass
            case TransmissionOutcome.DISCONNECTED:
                self.transport.close()  # ASGI has no message for it
                await self._wait_for_disconnect(None)
            case TransmissionOutcome.STALLED:
                await self._wait_for_disconnect(None)
            case TransmissionOutcome.TRICKLED:
                while not await self._wait_for_disconnect(_TRICKLE_SECONDS):
                    await self._write(self.response.keepalive, more=True)
            case _ as never:
                assert_never(never)

    async def _write(self, data: bytes, *, more: bool) -> None:
        await self.send({"type": "http.response.body", "body": data, "more_body": more})

    async def _wait_for_disconnect(self, seconds: float | None) -> bool:
        """Wait at most ``seconds`` (None: for ever). Returns True if the client disconnected."""
        try:
            async with asyncio.timeout(seconds):
                while (await self.receive())["type"] != "http.disconnect":
                    pass
        except TimeoutError:
            return False
        return True


API_KEY = "simulated-key"
_ENVIRONMENT = {
    "OPENAI_BASE_URL": "{url}/v1",
    "OPENAI_API_KEY": API_KEY,
    "AZURE_OPENAI_ENDPOINT": "{url}",
    "AZURE_OPENAI_API_KEY": API_KEY,
    "ANTHROPIC_BASE_URL": "{url}",
    "ANTHROPIC_API_KEY": API_KEY,
    "GOOGLE_GEMINI_BASE_URL": "{url}",
    "GEMINI_API_KEY": API_KEY,
    "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "{url}",
    "AWS_ACCESS_KEY_ID": API_KEY,
    "AWS_SECRET_ACCESS_KEY": API_KEY,
    "AWS_REGION": "us-east-1",
}


class Simulator:
    """A simulated vendor. It runs inside its ``with`` or ``async with`` block; ``simulator`` creates it."""

    def __init__(
        self, handler: SimulatorHandler, call_log: CallLog, speed: ResponseSpeed, host: str, port: int
    ) -> None:
        self._handler = handler
        self._call_log = call_log
        self._application = SimulatorApp(handler, call_log, speed)
        self._host, self._port = host, port
        self._server: SimulatorServer | None = None
        self._clients: list[Any] = []

    def __enter__(self) -> Self:
        if self._server is not None:
            raise InputError("This simulator is already running.", hint="Create another one with simulator().")
        try:
            from emitter.testing.uvicorn_server import SimulatorServer  # noqa: PLC0415  uvicorn is optional
        except ImportError as error:
            raise MissingExtra("The simulator needs uvicorn.", extra="testing") from error
        self._server = SimulatorServer(self._application, self._host, self._port)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for close in self._get_close_callbacks():
            if not inspect.iscoroutinefunction(close):
                close()
        self._stop(error)

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for close in self._get_close_callbacks():
            result = close()
            if inspect.isawaitable(result):
                await result
        await asyncio.to_thread(self._stop, error)

    def _get_close_callbacks(self) -> list[Callable[[], Any]]:
        return [close for client in self._clients for close in _get_client_close_callbacks(client)]

    def _stop(self, error: BaseException | None) -> None:
        self._clients.clear()
        if self._server is not None:
            self._server.stop()
            self._server = None
        errors = self._application.errors
        if errors and error is None:
            raise errors[0]

    @property
    def url(self) -> str:
        """The address of the server."""
        if self._server is None:
            raise InputError("The simulator is not running.", hint="Use it inside its `with` block.")
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._server.port}"

    def base_url(self, model: str) -> str:
        """Return the base URL for a client of the model's vendor. Raises ``UnknownModel``."""
        profile, _ = find_profile(model)
        is_root = profile.client.sdk is not Sdk.OPENAI or profile.client.flavour.startswith("Azure")
        return self.url if is_root else f"{self.url}/v1"

    def environment(self) -> dict[str, str]:
        """Return the environment variables that point every vendor's SDK to this server."""
        return {name: value.format(url=self.url) for name, value in _ENVIRONMENT.items()}

    def client(self, model: str, *, asynchronous: bool = False, **http: Any) -> Any:
        """Return a client of the vendor's own SDK that is connected to this server.

        The block closes it; an asynchronous client is closed by ``async with`` only.

        Args:
            model: ``vendor/model``.
            asynchronous: Return the asynchronous client.
            http: Options of the ``httpx2`` client that the SDK client sends through.

        Raises:
            UnknownModel: No profile has the model.
            MissingExtra: The vendor's SDK is not installed.
        """
        profile, _ = find_profile(model)
        http_client = None
        if http:
            import httpx2  # noqa: PLC0415  slow to import

            is_async = asynchronous and not profile.client.is_blocking
            http_client = (httpx2.AsyncClient if is_async else httpx2.Client)(**http)
            self._clients.append(http_client)
        client = create_client(
            profile, asynchronous=asynchronous, base_url=self.base_url(model), api_key=API_KEY, http_client=http_client
        )
        self._clients.append(client)
        return getattr(client, "aio", client) if asynchronous else client

    def script(self, *behaviours: Behaviour) -> None:
        """Answer the next requests with these behaviours, in order of arrival.

        An invalid request gets an error and does not use a behaviour up. Raises ``InputError`` for other values.
        """
        for behaviour in behaviours:
            _check_behaviour(behaviour)
        self._handler.script.extend(behaviours)

    @property
    def batches(self) -> BatchStore:
        """The batches that arrived, and the script for the next ones."""
        return self._handler.batches

    @property
    def calls(self) -> tuple[SimulatedCall, ...]:
        """The requests that arrived, in order."""
        return self._call_log.calls

    @property
    def billed(self) -> Usage:
        """The usage that the vendor would bill for all calls."""
        return self._call_log.billed

    def reset(self) -> None:
        """Clear the calls, the script and the repetition counts."""
        self._handler.reset()
        self._call_log.clear()


def _get_client_close_callbacks(client: Any) -> list[Callable[[], Any]]:
    """Return the close methods. google-genai has one for each half, and httpx2's async client calls it ``aclose``."""
    halves = [getattr(client, "aio", None), client]
    return [getattr(half, "aclose", None) or half.close for half in halves if half is not None]


def _check_behaviour(behaviour: object) -> None:
    kind = behaviour if isinstance(behaviour, type) else type(behaviour)
    if issubclass(kind, BaseException):
        # emitter.Refused and emitter.testing.Refused have the same name.
        raise InputError(
            f"{kind.__name__} is an exception, not a behaviour.",
            hint="Pass a behaviour of emitter.testing, such as emitter.testing.Refused().",
        )
    if isinstance(behaviour, type) or not callable(getattr(behaviour, "plan", None)):
        raise InputError(
            f"{reprlib.repr(behaviour)} is not a behaviour.",
            hint="Pass an instance of one, such as Text('...'). For several in turn, call the simulator's script().",
        )


def _check_answers(answers: object) -> None:
    if isinstance(answers, Mapping):
        mixture = cast("Mapping[object, float]", answers)
        for behaviour in mixture:
            _check_behaviour(behaviour)
        if not mixture or min(mixture.values()) < 0 or not 0 < sum(mixture.values()) < math.inf:
            raise InputError("The weights of a mixture must be 0 or more, and at least one above 0.")
    elif isinstance(answers, type) or not callable(answers):
        _check_behaviour(answers)


def simulator(  # noqa: PLR0913  independent options
    *,
    seed: int = 0,
    answers: AnswerSource = DECODED,
    latency: float = 0.0,
    tokens_per_second: float | None = None,
    check_schemas: bool = True,
    prompt_caches: PromptCaches | None = None,
    keep: int | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
) -> Simulator:
    """Return a simulated vendor, to be used in a ``with`` or ``async with`` block.

    An exception in a behaviour is answered with a 500, and raised again at the end of the block.

    Args:
        seed: Seed of everything that is random: drawn documents, ids and the choice in a mixture.
        answers: The answer to every request outside the script: a behaviour, a function of the request, or a mixture
            ``{behaviour: weight}``, which is drawn by seed, body and repetition and never by the order of arrival.
        latency: Seconds before the first byte.
        tokens_per_second: The speed of writing. None: no delay.
        check_schemas: Reject schemas that the vendor would reject.
        prompt_caches: The vendors' prompt caches. Without them no prompt is cached, so that the usage of a request does
            not depend on those before it.
        keep: Number of calls to remember. None: all.
        host: The address to listen at.
        port: The port to listen at. 0: any free port.

    Raises:
        InputError: An argument is invalid.
        MissingExtra: uvicorn is not installed; raised at the start of the block.
    """
    _check_answers(answers)
    if latency < 0 or (tokens_per_second is not None and tokens_per_second <= 0):
        raise InputError("latency must be 0 or more seconds, and tokens_per_second above 0.")
    call_log = CallLog(keep)
    handler = SimulatorHandler(answers, call_log, seed=seed, check_schemas=check_schemas, prompt_caches=prompt_caches)
    return Simulator(handler, call_log, ResponseSpeed(latency, tokens_per_second), host, port)
