"""Code of the caller that the SDK client runs, such as a hook, and that raises: shown as it is, after one call."""

from __future__ import annotations

import asyncio
import inspect
import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import anthropic
import httpx2
import openai
import pytest
from pydantic import BaseModel

from emitter import (
    EmissionError,
    InputError,
    Policy,
    RateLimit,
    RateLimited,
    Unreachable,
    aemit,
    astream,
    emit,
    emit_many,
    stream,
    testing,
)
from emitter.attempts import Verdict
from emitter.client.rate_limits import Ticket
from emitter.clock import Clock
from emitter.errors import ClientFailed, StoreFailed
from emitter.messages import FaultKind
from emitter.testing import Text, simulator
from tests.work import covering

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Generator, Iterator

    from emitter.testing import Simulator

MODELS = {
    "openai": "openai/gpt-6-sol",
    "chat": "openai/gpt-6-sol",
    "anthropic": "anthropic/claude-sonnet-5-5",
    "google": "google/gemini-3.8-flash",
}
BEDROCK = "bedrock/eu.anthropic.claude-sonnet-5-5-v1:0"
MORE: dict[str, dict[str, Any]] = {"chat": {"wire": "openai-chat"}}
PATIENT = Policy(max_faults=5, max_attempts=5)


class Invoice(BaseModel):
    """What is asked for."""

    vendor: str


class BrokenCodeError(Exception):
    """What the caller's own code raises."""


@pytest.fixture(scope="module")
def server() -> Iterator[Simulator]:
    """Run a simulated vendor."""
    with simulator(answers=Text({"vendor": "Acme"})) as made:
        yield made


@pytest.fixture
def vendor(server: Simulator) -> Simulator:
    """Return the simulated vendor as if it were new."""
    server.reset()
    return server


async def _close(client: Any) -> None:
    http = getattr(getattr(client, "_api_client", None), "_async_httpx_client", None)  # google's leaves it open
    for each in filter(None, (client, http)):
        closing = (getattr(each, "aclose", None) or each.close)()
        if inspect.isawaitable(closing):
            await closing


async def _aemit(client: Any, **options: Any) -> object:
    try:
        return (await aemit(Invoice, "From Acme.", client=client, **options)).value
    finally:
        await _close(client)


async def _astream(client: Any, **options: Any) -> object:
    try:
        async with astream(Invoice, "From Acme.", client=client, **options) as events:
            async for _ in events:
                pass
            return (await events.result()).value
    finally:
        await _close(client)


def _emit(client: Any, **options: Any) -> object:
    with closing(client):
        return emit(Invoice, "From Acme.", client=client, **options).value


def _stream(client: Any, **options: Any) -> object:
    with closing(client), stream(Invoice, "From Acme.", client=client, **options) as events:
        for _ in events:
            pass
        return events.result().value


FACES: dict[str, Callable[..., object]] = {
    "emit": _emit,
    "stream": _stream,
    "aemit": lambda client, **options: asyncio.run(_aemit(client, **options)),
    "astream": lambda client, **options: asyncio.run(_astream(client, **options)),
}


def is_async(face: str) -> bool:
    """Return whether a face needs an async client."""
    return face.startswith("a")


def failure(sdk: str, face: str, client: object, policy: Policy = PATIENT) -> EmissionError:
    """Ask through a client, and return the error."""

    async def pause(_seconds: float) -> None:
        pass

    clock = Clock(sleep=lambda _: None, async_sleep=pause)
    with pytest.raises(EmissionError) as caught:
        FACES[face](model=MODELS.get(sdk, BEDROCK), client=client, policy=policy, clock=clock, **MORE.get(sdk, {}))
    return caught.value


def hooks(kind: str, raises: Callable[..., None]) -> Callable[[bool], dict[str, Any]]:
    """Return the options of an HTTP client with a hook."""

    async def hook(*arguments: object) -> None:
        raises(*arguments)

    return lambda asynchronous: {"event_hooks": {kind: [hook if asynchronous else raises]}}


class _Auth(httpx2.Auth):
    """An auth flow that raises before the request is sent, or after the response."""

    def __init__(self, error: Exception, *, late: bool) -> None:
        self._error, self._late = error, late

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        """Send the request and raise."""
        if self._late:
            yield request
        raise self._error


class _Transport(httpx2.HTTPTransport):
    """A transport that raises before the request is sent, or after the response."""

    def __init__(self, error: Exception, *, late: bool) -> None:
        super().__init__()
        self._error, self._late = error, late

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request and raise."""
        if self._late:
            super().handle_request(request).close()
        raise self._error


class _AsyncTransport(httpx2.AsyncHTTPTransport):
    """The async counterpart."""

    def __init__(self, error: Exception, *, late: bool) -> None:
        super().__init__()
        self._error, self._late = error, late

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request and raise."""
        if self._late:
            await (await super().handle_async_request(request)).aclose()
        raise self._error


class _Body(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A body that raises after its first piece."""

    def __init__(self, response: httpx2.Response, error: Exception) -> None:
        self._response, self._error = response, error

    def __iter__(self) -> Iterator[bytes]:
        yield next(iter(self._response.iter_raw()))
        raise self._error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield await anext(self._response.aiter_raw())
        raise self._error

    def close(self) -> None:
        """Close the connection."""
        self._response.close()

    async def aclose(self) -> None:
        """Close the connection."""
        await self._response.aclose()


class _Cutting(httpx2.HTTPTransport):
    """A transport whose bodies raise."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request."""
        response = super().handle_request(request)
        return httpx2.Response(response.status_code, headers=response.headers, stream=_Body(response, self._error))


class _AsyncCutting(httpx2.AsyncHTTPTransport):
    """The async counterpart."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request."""
        response = await super().handle_async_request(request)
        return httpx2.Response(response.status_code, headers=response.headers, stream=_Body(response, self._error))


def _raise(error: Exception) -> Callable[..., None]:
    def hook(*_: object) -> None:
        raise error

    return hook


PLACES: dict[str, tuple[Callable[[Exception], Callable[[bool], dict[str, Any]]], bool]] = {
    "request-hook": (lambda error: hooks("request", _raise(error)), False),
    "response-hook": (lambda error: hooks("response", _raise(error)), True),
    "auth-before": (lambda error: lambda _: {"auth": _Auth(error, late=False)}, False),
    "auth-after": (lambda error: lambda _: {"auth": _Auth(error, late=True)}, True),
    "transport-before": (
        lambda error: (
            lambda asynchronous: {"transport": (_AsyncTransport if asynchronous else _Transport)(error, late=False)}
        ),
        False,
    ),
    "transport-after": (
        lambda error: (
            lambda asynchronous: {"transport": (_AsyncTransport if asynchronous else _Transport)(error, late=True)}
        ),
        True,
    ),
    "body": (
        lambda error: lambda asynchronous: {"transport": (_AsyncCutting if asynchronous else _Cutting)(error)},
        True,
    ),
}
"""Where the caller's code runs, and whether the vendor has the request by then."""
ERRORS: dict[str, Callable[[], Exception]] = {
    "own": BrokenCodeError,
    "builtin": lambda: KeyError("usage"),
    "file": lambda: FileNotFoundError(2, "No such file", "/var/log/calls"),
    "timeout": lambda: TimeoutError("the audit log is slow"),
    "connection": lambda: ConnectionRefusedError(111, "the audit log is down"),
    "value": lambda: json.JSONDecodeError("no JSON", "", 0),
    "runtime": lambda: RuntimeError("Event loop is closed"),
    "status": lambda: httpx2.HTTPStatusError(
        "403",
        request=httpx2.Request("GET", "http://tokens.test"),
        response=httpx2.Response(403, request=httpx2.Request("GET", "http://tokens.test")),
    ),
    "sdk": lambda: openai.OpenAIError("no key for this tenant"),
    "nested": lambda: InputError("another call of emitter failed"),
}


@pytest.mark.parametrize(("place", "sdk", "face", "kind"), covering(PLACES, MODELS, FACES, ERRORS), ids=str)
def test_code_that_the_client_runs(vendor: Simulator, place: str, sdk: str, face: str, kind: str) -> None:
    """Wherever it raises, whatever it raises: one call, its own exception, and the tokens of what was sent."""
    make_options, is_sent = PLACES[place]
    error = ERRORS[kind]()
    client = vendor.client(MODELS[sdk], asynchronous=is_async(face), **make_options(error)(is_async(face)))

    found = failure(sdk, face, client)

    assert isinstance(found, ClientFailed), found
    assert found.__cause__ is error
    assert type(error).__name__ in str(found)
    assert __name__ in str(found)
    assert [(attempt.verdict, attempt.fault and attempt.fault.kind) for attempt in found.attempts] == [
        (Verdict.FAULTED, FaultKind.CLIENT)
    ]
    assert len(vendor.calls) == int(is_sent)
    assert (found.usage.input > 0) is is_sent


def _raise_for_status(response: httpx2.Response) -> None:
    response.raise_for_status()


def _read_unread(response: httpx2.Response) -> None:
    response.json()


@pytest.mark.parametrize(("sdk", "face"), covering(MODELS, FACES))
def test_a_hook_that_raises_for_the_status(vendor: Simulator, sdk: str, face: str) -> None:
    """The exception of a response's status is the vendor's failure: it is retried, and the vendor's words are kept."""
    client = vendor.client(
        MODELS[sdk], asynchronous=is_async(face), **hooks("response", _raise_for_status)(is_async(face))
    )

    vendor.script(*[testing.RateLimited(requests=0)] * 3)

    found = failure(sdk, face, client, Policy(max_faults=2))

    assert isinstance(found, RateLimited)
    assert found.vendor_message
    assert len(vendor.calls) == 3


@pytest.mark.parametrize(("sdk", "face"), covering(MODELS, FACES))
def test_a_hook_that_reads_an_unread_response(vendor: Simulator, sdk: str, face: str) -> None:
    """The HTTP library raises, but the hook is what has to be changed."""
    client = vendor.client(MODELS[sdk], asynchronous=is_async(face), **hooks("response", _read_unread)(is_async(face)))

    found = failure(sdk, face, client)

    assert isinstance(found, ClientFailed)
    assert isinstance(found.__cause__, httpx2.ResponseNotRead)
    assert "_read_unread" in str(found)
    assert len(vendor.calls) == 1


@pytest.mark.parametrize("kind", ["request", "response"])
@pytest.mark.parametrize("sdk", MODELS)
def test_a_request_of_a_hook(vendor: Simulator, sdk: str, kind: str) -> None:
    """A connection that a hook makes fails: that is tried again while nothing was sent, and never paid for twice."""

    def hook(_: object) -> None:
        with httpx2.Client(trust_env=False) as other:
            other.post("http://127.0.0.1:9/audit")

    found = failure(sdk, "emit", vendor.client(MODELS[sdk], **hooks(kind, hook)(False)), Policy(max_faults=2))

    assert isinstance(found, Unreachable if kind == "request" else ClientFailed)
    assert len(found.attempts) == (3 if kind == "request" else 1)
    assert len(vendor.calls) == (0 if kind == "request" else 1)


@pytest.mark.parametrize(("sdk", "face"), covering(MODELS, FACES))
def test_a_store_that_fails_in_a_hook(vendor: Simulator, sdk: str, face: str) -> None:
    """What a store raises stays what it is."""
    error = StoreFailed("the store is away")
    client = vendor.client(MODELS[sdk], asynchronous=is_async(face), **hooks("response", _raise(error))(is_async(face)))
    with pytest.raises(StoreFailed) as caught:
        FACES[face](model=MODELS[sdk], client=client, **MORE.get(sdk, {}))
    assert caught.value is error


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("face", FACES)
def test_middleware(vendor: Simulator, face: str, *, late: bool) -> None:
    """Anthropic's middleware runs around a call."""
    error = BrokenCodeError()

    def around(request: Any, call_next: Callable[[Any], Any]) -> Any:
        if late:
            call_next(request)
        raise error

    async def aaround(request: Any, call_next: Callable[[Any], Any]) -> Any:
        if late:
            await call_next(request)
        raise error

    kind: Any = anthropic.AsyncAnthropic if is_async(face) else anthropic.Anthropic
    client = kind(api_key="k", base_url=vendor.url, middleware=[aaround if is_async(face) else around])

    found = failure("anthropic", face, client)

    assert isinstance(found, ClientFailed)
    assert found.__cause__ is error
    assert len(vendor.calls) == int(late)
    assert (found.usage.input > 0) is late


@pytest.mark.parametrize("face", FACES)
def test_a_token_provider(vendor: Simulator, face: str) -> None:
    """OpenAI's clients take a function that returns the key."""
    error = BrokenCodeError()

    def provide() -> str:
        raise error

    async def aprovide() -> str:
        raise error

    kind: Any = openai.AsyncOpenAI if is_async(face) else openai.OpenAI
    client = kind(api_key=aprovide if is_async(face) else provide, base_url=f"{vendor.url}/v1")

    found = failure("openai", face, client)

    assert isinstance(found, ClientFailed)
    assert found.__cause__ is error
    assert not vendor.calls
    assert found.usage.total == 0


EVENTS = {"before-call": False, "before-send": False, "after-call": True}


@pytest.mark.parametrize(("event", "face"), covering(EVENTS, FACES))
def test_event_handlers_of_boto3(vendor: Simulator, event: str, face: str) -> None:
    """boto3 calls handlers by the name of an event."""
    error = BrokenCodeError()
    client = vendor.client(BEDROCK)
    client.meta.events.register(f"{event}.bedrock-runtime", lambda **_: _raise(error)())

    found = failure("bedrock", face, client)

    assert isinstance(found, ClientFailed)
    assert found.__cause__ is error
    assert len(vendor.calls) == int(EVENTS[event])
    assert (found.usage.input > 0) is EVENTS[event]


class _Limiter:
    """A rate limiter whose method of a name raises."""

    def __init__(self, broken: str, error: Exception) -> None:
        self._broken, self._error = broken, error

    def _raise(self, name: str) -> None:
        if name == self._broken:
            raise self._error

    def reserve(self, input_tokens: int, max_output_tokens: int) -> Ticket:
        """Put a call into the queue."""
        self._raise("reserve")
        return Ticket(input_tokens, max_output_tokens)

    async def areserve(self, input_tokens: int, max_output_tokens: int) -> Ticket:
        """Put a call into the queue."""
        return self.reserve(input_tokens, max_output_tokens)

    def delay(self, _ticket: Ticket) -> float:
        """Let every call start."""
        self._raise("delay")
        return 0.0

    def release(self, ticket: Ticket) -> None:
        """Do nothing."""

    def observe(self, *_: object) -> None:
        """Do nothing."""
        self._raise("observe")


@pytest.mark.parametrize("broken", ["reserve", "delay"])
@pytest.mark.parametrize("face", FACES)
def test_a_rate_limiter(vendor: Simulator, broken: str, face: str) -> None:
    """It is called before the request is sent."""
    error = BrokenCodeError()
    client = vendor.client(MODELS["openai"], asynchronous=is_async(face))
    with pytest.raises(ClientFailed) as caught:
        FACES[face](model=MODELS["openai"], client=client, rate_limit=RateLimit(limiter=_Limiter(broken, error)))
    assert caught.value.__cause__ is error
    assert not vendor.calls


@pytest.mark.parametrize("face", FACES)
def test_a_rate_limiter_that_fails_after_the_answer(vendor: Simulator, face: str) -> None:
    """The answer was paid for, so the failure is a warning."""
    client = vendor.client(MODELS["openai"], asynchronous=is_async(face))
    limit = RateLimit(limiter=_Limiter("observe", BrokenCodeError()))
    with pytest.warns(RuntimeWarning, match="observe raised BrokenCodeError"):
        assert FACES[face](model=MODELS["openai"], client=client, rate_limit=limit) == Invoice(vendor="Acme")


def test_a_run_of_many_emissions_ends(vendor: Simulator) -> None:
    """A hook that always raises would let every job be paid for, and lose every answer."""
    error = BrokenCodeError()
    client = vendor.client(MODELS["openai"], asynchronous=True, **hooks("response", _raise(error))(True))
    run = emit_many(Invoice, map(str, range(100)), model=MODELS["openai"], client=client, in_flight=4)
    found = [result.error for result in run.results()]
    assert all(isinstance(each, ClientFailed) and each.__cause__ is error for each in found)
    assert 8 <= len(vendor.calls) < 8 + 4
    assert run.usage.input > 0
