"""A proxy that fails is named, with the variable that names it: every fault, SDK and way to call.

Each proxy here is a real server that fails in one way. No vendor exists behind it.
"""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import threading
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx2
import pytest

from emitter import EmissionError, Policy, aemit, astream, emit, stream
from emitter.clock import Clock
from emitter.errors import ClientFailed, DeadlineReached, Unreachable
from emitter.messages import FaultKind
from tests.work import covering

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

openai = pytest.importorskip("openai")
pytest.importorskip("anthropic")
pytest.importorskip("google.genai")
pytest.importorskip("boto3")
# httpcore2 2.16.2 leaves the socket of a failed SOCKS handshake to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

FORM = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
MODELS = {
    "openai": "openai/gpt-6-sol",
    "anthropic": "anthropic/claude-sonnet-5-5",
    "google": "google/gemini-3.8-flash",
    "bedrock": "bedrock/eu.anthropic.claude-sonnet-5-5-v1:0",
}
KEYS = {
    "OPENAI_API_KEY": "sk-a",
    "ANTHROPIC_API_KEY": "sk-b",
    "GEMINI_API_KEY": "k",
    "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY",
    "AWS_REGION": "eu-west-1",
}
ADDRESSES = {
    "openai": "OPENAI_BASE_URL",
    "anthropic": "ANTHROPIC_BASE_URL",
    "google": "GOOGLE_GEMINI_BASE_URL",
    "bedrock": "AWS_ENDPOINT_URL",
}
USER, PASSWORD = "a-user", "pa55word-of-the-proxy"
RETRIES = 2


class Proxy(NamedTuple):
    """A proxy that fails: its scheme, what it answers to each thing that it receives, and what must be said.

    Attributes:
        answers: What it sends each time that it has received something; then it ends the connection. None hangs.
        kind: The fault of each call.
        what: A part of the message.
        cure: A part of the hint.
    """

    scheme: str
    answers: tuple[bytes | None, ...]
    kind: FaultKind
    what: str
    cure: str


def _status(status: int, reason: str) -> tuple[bytes, ...]:
    return (f"HTTP/1.1 {status} {reason}\r\nconnection: close\r\ncontent-length: 6\r\n\r\n<html>".encode(),)


CREDENTIALS = "://USER:PASSWORD@"
CONNECT: dict[str, Proxy] = {
    "hangs": Proxy("http", (None,), FaultKind.TIMEOUT, "did not answer in time", "NO_PROXY"),
    "closes": Proxy("http", (), FaultKind.CONNECTION, "closed the connection", "NO_PROXY"),
    "closes-socks": Proxy("socks5", (), FaultKind.CONNECTION, "closed the connection", "NO_PROXY"),
    "hangs-socks": Proxy("socks5h", (None,), FaultKind.TIMEOUT, "did not answer in time", "NO_PROXY"),
    "407": Proxy("http", _status(407, "Who?"), FaultKind.CLIENT, "answered 407", CREDENTIALS),
    "403": Proxy("http", _status(403, "No"), FaultKind.CLIENT, "answered 403", "Let the proxy allow vendor.test"),
    "502": Proxy("http", _status(502, "Bad Gateway"), FaultKind.CONNECTION, "answered 502", "Try again later"),
    "503": Proxy("http", _status(503, "Busy"), FaultKind.CONNECTION, "answered 503", "Try again later"),
    "ssh": Proxy("http", (b"SSH-2.0-OpenSSH\r\n\r\n",), FaultKind.CONNECTION, "cannot be read", "NO_PROXY"),
    "no-tls": Proxy("https", _status(400, "Bad"), FaultKind.CONNECTION, "with TLS", "write http://"),
    "http-not-socks": Proxy("socks5", _status(400, "Bad"), FaultKind.CLIENT, "SOCKS5", "write http://"),
    "asks-credentials": Proxy("socks5", (b"\x05\xff",), FaultKind.CLIENT, "credentials", CREDENTIALS),
    "general-failure": Proxy(
        "socks5",
        (b"\x05\x02", b"\x01\x00", b"\x05\x01\x00\x01\0\0\0\0\0\0"),
        FaultKind.CONNECTION,
        "general",
        "NO_PROXY",
    ),
    "not-allowed": Proxy(
        "socks5",
        (b"\x05\x02", b"\x01\x00", b"\x05\x02\x00\x01\0\0\0\0\0\0"),
        FaultKind.CLIENT,
        "not allowed",
        "NO_PROXY",
    ),
    "wrong-password": Proxy("socks5h", (b"\x05\x02", b"\x01\x01"), FaultKind.CLIENT, "credentials", CREDENTIALS),
}


class Served(NamedTuple):
    """A running proxy: its host and port, and a list with one entry for each connection."""

    place: str
    connections: list[bytes]


def _talk(connection: socket.socket, answers: tuple[bytes | None, ...], ended: threading.Event) -> None:
    for nth, answer in enumerate(answers):
        if nth:
            connection.recv(1 << 16)
        if answer is None:
            ended.wait()
            return
        connection.sendall(answer)
    connection.shutdown(socket.SHUT_WR)
    while connection.recv(1 << 16):  # closing a connection with unread bytes would reset it
        pass


@contextmanager
def serve(answers: tuple[bytes | None, ...]) -> Iterator[Served]:
    """Run a proxy."""
    listener, ended, received = socket.create_server(("127.0.0.1", 0)), threading.Event(), list[bytes]()

    def talk(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            received.append(connection.recv(1 << 16))
            _talk(connection, answers, ended)

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=talk, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield Served(f"127.0.0.1:{listener.getsockname()[1]}", received)
    finally:
        ended.set()
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()


@contextmanager
def closed_port() -> Iterator[Served]:
    """Reserve a port on which nothing listens."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        yield Served(f"127.0.0.1:{reserved.getsockname()[1]}", [])


async def _astream(**options: Any) -> None:
    async with astream(FORM, "How many?", **options) as events:
        async for _ in events:
            pass


def _stream(**options: Any) -> None:
    with stream(FORM, "How many?", **options) as events:
        for _ in events:
            pass


FACES: dict[str, Callable[..., object]] = {
    "emit": lambda **options: emit(FORM, "How many?", **options),
    "stream": _stream,
    "aemit": lambda **options: asyncio.run(aemit(FORM, "How many?", **options)),
    "astream": lambda **options: asyncio.run(_astream(**options)),
}


async def _no_wait(_: float) -> None:
    await asyncio.sleep(0)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no proxy in the environment."""
    for name in list(os.environ):
        if name.upper().endswith("_PROXY") or name.startswith(("AWS_", "OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_")):
            monkeypatch.delenv(name)
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module", autouse=True)
def sockets() -> Iterator[None]:
    """Leave no socket to the tests after these."""
    yield
    gc.collect()


CLOCK = Clock(sleep=lambda _: None, async_sleep=_no_wait)


def fail(sdk: str, face: str, client: object = None, seconds: float = 30) -> EmissionError:
    """Ask a vendor, and return the error."""
    policy = Policy(max_faults=RETRIES, timeout=seconds)
    with pytest.raises(EmissionError) as caught:
        FACES[face](model=MODELS[sdk], client=client, policy=policy, clock=CLOCK)
    return caught.value


def check(error: EmissionError, address: str, setting: str, fault: Proxy, attempts: int) -> None:
    """Check that an error names the proxy, its setting and the cure, and shows no credentials."""
    text = str(error)
    assert f"The proxy {address} of {setting}" in text
    assert fault.what in text
    assert fault.cure in text
    assert PASSWORD not in text
    assert USER not in text
    assert len(error.trace.attempts) == attempts
    assert {each.fault and each.fault.kind for each in error.trace.attempts} == {fault.kind}
    assert isinstance(error, ClientFailed if fault.kind is FaultKind.CLIENT else Unreachable)
    assert not error.usage.total, "nothing has reached a vendor"


def skip_without_socks(fault: Proxy, sdk: str) -> None:
    """Skip what cannot be set up."""
    if fault.scheme.startswith("socks"):
        if sdk == "bedrock":
            pytest.skip("botocore has no SOCKS proxies")
        if find_spec("socksio") is None:
            pytest.skip("socksio is not installed")


@pytest.mark.parametrize(("name", "sdk", "face"), covering(CONNECT, MODELS, FACES))
def test_a_proxy_that_does_not_connect(name: str, sdk: str, face: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it did is said, and repeated unless it will not change."""
    fault = CONNECT[name]
    skip_without_socks(fault, sdk)
    variable = "HTTPS_PROXY" if fault.scheme.startswith("http") else "ALL_PROXY"
    monkeypatch.setenv(ADDRESSES[sdk], "https://vendor.test/v1")
    with serve(fault.answers) as proxy:
        monkeypatch.setenv(variable, f"{fault.scheme}://{USER}:{PASSWORD}@{proxy.place}")
        error = fail(sdk, face, seconds=0.3 if None in fault.answers else 30)
        calls = 1 if fault.kind is FaultKind.CLIENT else RETRIES + 1
        if fault.kind is FaultKind.TIMEOUT and sdk == "bedrock" and face.startswith("a"):
            assert f"went through the proxy http://{proxy.place} of {variable}" in str(error)
            return  # the thread that waits for the proxy is not waited for
        check(error, f"{fault.scheme}://{proxy.place}", variable, fault, calls)
        assert len(proxy.connections) == calls


REFUSED = Proxy("http", (), FaultKind.CONNECTION, "refused the connection", "NO_PROXY")


@pytest.mark.parametrize(
    ("variable", "scheme", "sdk", "face"),
    covering(("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"), ("", "http://", "socks5://"), MODELS, FACES),
)
def test_a_proxy_that_refuses(variable: str, scheme: str, sdk: str, face: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every variable is named as it is written."""
    skip_without_socks(Proxy(scheme or "http", (), FaultKind.CONNECTION, "", ""), sdk)
    if sdk == "bedrock" and variable.lower() == "all_proxy":
        pytest.skip("botocore does not read it")
    monkeypatch.setenv(ADDRESSES[sdk], "https://vendor.test/v1")
    with closed_port() as proxy:
        monkeypatch.setenv(variable, f"{scheme}{proxy.place}")
        error = fail(sdk, face)
    check(error, f"{scheme or 'http://'}{proxy.place}", variable, REFUSED, RETRIES + 1)
    assert "remove it, or add vendor.test to NO_PROXY" in str(error)


FORWARD: dict[str, Proxy] = {
    "407": Proxy("http", _status(407, "Who?"), FaultKind.CLIENT, "answered 407", CREDENTIALS),
    "403": Proxy("http", _status(403, "No"), FaultKind.PERMISSION, "403", ""),
    "502": Proxy("http", _status(502, "Bad Gateway"), FaultKind.SERVER, "502", ""),
    "hangs": Proxy("http", (None,), FaultKind.TIMEOUT, "", ""),
    "closes": Proxy("http", (), FaultKind.CONNECTION, "", ""),
}


@pytest.mark.parametrize(("name", "sdk", "face"), covering(FORWARD, MODELS, FACES))
def test_a_proxy_for_an_address_without_tls(name: str, sdk: str, face: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy answers in the vendor's place. Only 407 is certainly its own; in any other case it is named."""
    fault = FORWARD[name]
    monkeypatch.setenv(ADDRESSES[sdk], "http://vendor.test/v1")
    with serve(fault.answers) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://{USER}:{PASSWORD}@{proxy.place}")
        error = fail(sdk, face, seconds=0.3 if None in fault.answers else 30)
    if fault.kind is FaultKind.CLIENT:
        check(error, f"http://{proxy.place}", "HTTP_PROXY", fault, 1)
        return
    assert f"went through the proxy http://{proxy.place} of HTTP_PROXY." in str(error)
    assert PASSWORD not in str(error)
    assert {each.fault and each.fault.kind for each in error.trace.attempts} == {fault.kind}


@pytest.mark.parametrize(("sdk", "face"), covering(MODELS, FACES))
def test_a_vendor_behind_a_proxy_that_fails(sdk: str, face: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the proxy has connected, it is not blamed; it is named, because it may have broken the encryption."""
    monkeypatch.setenv(ADDRESSES[sdk], "https://vendor.test/v1")
    with serve((b"HTTP/1.1 200 Connected\r\n\r\n", b"SSH-2.0-OpenSSH\r\n\r\n")) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{USER}:{PASSWORD}@{proxy.place}")
        error = fail(sdk, face)
    assert "The connection to the vendor could not be made or was cut" in str(error)
    assert f"went through the proxy http://{proxy.place} of HTTPS_PROXY." in str(error)
    assert PASSWORD not in str(error)
    assert error.trace.attempts[-1].fault is not None
    assert error.trace.attempts[-1].fault.kind is FaultKind.CONNECTION


@pytest.mark.parametrize("face", ["emit", "aemit"])
@pytest.mark.parametrize("variable", ["HTTPS_PROXY", ""])
def test_the_proxy_of_a_client_of_the_callers(face: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that no variable names is one of the client, also if a variable names another one."""
    with closed_port() as proxy:
        if variable:
            monkeypatch.setenv(variable, "http://127.0.0.1:9")
        kind: Any = httpx2.AsyncClient if face == "aemit" else httpx2.Client
        http = kind(proxy=f"http://{USER}:{PASSWORD}@{proxy.place}")
        sdk: Any = openai.AsyncOpenAI if face == "aemit" else openai.OpenAI
        error = fail("openai", face, sdk(api_key="k", base_url="https://vendor.test/v1", http_client=http))
    assert f"The proxy http://{proxy.place} of the HTTP client refused the connection." in str(error)
    assert "Correct the proxy that the HTTP client was created with." in str(error)


@pytest.mark.parametrize("face", FACES)
def test_a_deadline_at_a_proxy(face: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of the deadline says why there was no answer."""
    monkeypatch.setenv("OPENAI_BASE_URL", "https://vendor.test/v1")
    with serve((None,)) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{proxy.place}")
        with pytest.raises(DeadlineReached, match=rf"The proxy http://{proxy.place} of HTTPS_PROXY did not answer"):
            FACES[face](model=MODELS["openai"], policy=Policy(deadline=0.3))


@pytest.mark.parametrize("sdk", MODELS)
@pytest.mark.parametrize("face", FACES)
def test_an_error_that_is_being_handled(sdk: str, face: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request without a proxy is not blamed on the proxy of the error that is handled while it is sent."""
    with closed_port() as proxy, closed_port() as vendor:
        monkeypatch.setenv(ADDRESSES[sdk], "https://vendor.test/v1")
        monkeypatch.setenv("HTTPS_PROXY", f"http://{proxy.place}")
        try:
            FACES[face](model=MODELS[sdk], policy=Policy(max_faults=0), clock=CLOCK)
        except EmissionError as error:  # handled while the next request is sent
            monkeypatch.delenv("HTTPS_PROXY")
            monkeypatch.setenv(ADDRESSES[sdk], f"http://{vendor.place}/v1")
            texts = [str(error), str(fail(sdk, face))]
        else:
            texts = []
    assert [proxy.place in text for text in texts] == [True, False]
    assert ["proxy" in text for text in texts] == [True, False]
