"""A blocking request ends at its deadline while it still connects, too, and the watchdog touches nothing else.

The servers would be slow for ever, so what ends a call is the watchdog. No test depends on how long that takes.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from emitter import EmissionError, Policy, emit
from emitter.adapters import watchdog
from emitter.adapters.watchdog import Watch, iter_in_time, send_in_time
from emitter.deadline import Deadline
from emitter.errors import DeadlineReached, Unreachable
from emitter.messages import FaultKind
from tests.launching import launch

if TYPE_CHECKING:
    from collections.abc import Iterator

openai = pytest.importorskip("openai")
pytest.importorskip("httpcore2")

FORM = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
HANG = 60.0
HEAD = b"HTTP/1.1 200 OK\r\n"
SERVER_HELLO = b"\x16\x03\x03\x3f\xff\x02\x00\x3f\x00"
"""The beginning of a TLS record of 16 kB that never ends."""


@contextmanager
def slow_server(*answers: bytes) -> Iterator[str]:
    """Yield the address of a server that answers what it receives, and then drips bytes for ever."""
    listener, ended = socket.create_server(("127.0.0.1", 0)), threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            for answer in answers:
                connection.recv(1 << 16)
                connection.sendall(answer)
            while not ended.wait(0.02):
                connection.sendall(b"x")

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        ended.set()
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def timed_out(url: str, **http: Any) -> EmissionError:
    """Return the error of a call that ends at its deadline, which is later if a busy machine did not begin the call."""
    for seconds in (0.3, 2, 12):
        error = call(url, Policy(deadline=seconds), **http)
        if error.attempts[0].fault and error.attempts[0].fault.kind is not FaultKind.DEADLINE:
            break
    return error


def call(url: str, policy: Policy, **http: Any) -> EmissionError:
    """Return the error of a call that does not come through. A call that does not end fails the test."""
    errors: list[EmissionError] = []

    def run() -> None:
        with httpx2.Client(**http) as client:
            sdk = openai.OpenAI(api_key="a-key-to-send", base_url=url, http_client=client)
            try:
                emit(FORM, "Now?", model="openai/gpt-6-sol", client=sdk, policy=policy)
            except EmissionError as error:
                errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(HANG)
    assert not thread.is_alive(), "the call does not end"
    return errors[0]


def assert_timeout(error: EmissionError) -> None:
    """Check that the only call of an emission ended at the deadline."""
    assert isinstance(error, DeadlineReached)
    assert [attempt.fault and attempt.fault.kind for attempt in error.attempts] == [FaultKind.TIMEOUT]


ROUTES: dict[str, tuple[bytes, ...]] = {
    "https://{server}/v1": (SERVER_HELLO,),
    "https://vendor.test/v1 by http://{server}, whose answer drips": (HEAD,),
    "https://vendor.test/v1 by http://{server}, then TLS": (HEAD + b"\r\n", SERVER_HELLO),
    "http://vendor.test/v1 by http://{server}": (HEAD,),
    "https://vendor.test/v1 by https://{server}": (SERVER_HELLO,),
}
"""The ways to a vendor, and what the server on the way says before it drips."""


@pytest.mark.parametrize("route", ROUTES)
def test_a_slow_connection_ends(route: str) -> None:
    """A request that is not sent yet ends as well: in TLS, at a proxy, and in TLS behind a proxy."""
    with slow_server(*ROUTES[route]) as server:
        url, _, proxy = route.partition(",")[0].format(server=server).partition(" by ")
        assert_timeout(timed_out(url, **({"proxy": proxy} if proxy else {})))


@pytest.mark.skipif(sys.platform != "linux", reason="another system refuses what does not fit into a backlog")
def test_several_addresses_do_not_multiply_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each address of a name has the whole time to itself, so only the first of them uses it up."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(3)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(full.getsockname())
        entry = (socket.AF_INET, socket.SOCK_STREAM, 6, "", full.getsockname())
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_options: [entry] * 4)
        looked: list[bool] = []
        check = watchdog._find_socket
        monkeypatch.setattr(watchdog, "_find_socket", lambda frame: _note(looked, check(frame)))

        assert_timeout(timed_out("http://vendor.test/v1"))
        assert any(looked)
        for each in waiting:
            each.close()


def _note(looked: list[bool], found: Any) -> Any:
    looked.append(found is not None)
    return found


def test_a_transport_around_another_is_no_exception() -> None:
    """Such as one that logs."""

    class Wrapper(httpx2.BaseTransport):
        def __init__(self) -> None:
            self._inner = httpx2.HTTPTransport()

        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            return self._inner.handle_request(request)

    with slow_server(HEAD) as server:
        assert_timeout(timed_out(f"http://{server}/v1", transport=Wrapper()))


def test_the_sockets_of_other_code_stay_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook of the caller's that waits for its own socket past the deadline gets what it waits for."""
    looked: list[Any] = []
    check = watchdog._find_socket
    monkeypatch.setattr(watchdog, "_find_socket", lambda frame: _note(looked, check(frame)))
    ours, theirs = socket.socketpair()
    received: list[bytes] = []

    def write() -> None:
        while len(looked) < 3:
            time.sleep(0.001)
        theirs.sendall(b"an answer to the hook")

    def hook(_: httpx2.Request) -> None:
        with ours.makefile("rb", buffering=0) as file:
            received.append(file.read(64))

    threading.Thread(target=write, daemon=True).start()
    with slow_server(HEAD) as server, ours, theirs:
        assert_timeout(timed_out(f"http://{server}/v1", event_hooks={"request": [hook]}))
        assert theirs.send(b"still open") == 10
    assert received == [b"an answer to the hook"]
    assert not any(looked[:3])


def test_a_transport_that_cannot_be_woken_has_the_rest_of_the_time() -> None:
    """It gets the timeout of the SDK, and its late answer counts."""
    timeouts: list[float] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        timeouts.append(request.extensions["timeout"]["read"])
        return httpx2.Response(500)

    error = call("http://vendor.test/v1", Policy(timeout=9, max_faults=0), transport=httpx2.MockTransport(answer))
    assert isinstance(error, Unreachable)
    assert 0 < timeouts[0] <= 9


class Response:
    """A response that knows whether it was closed."""

    def __init__(self) -> None:
        self.closed = False

    def close(self) -> None:
        """Close it."""
        self.closed = True


class Waiting:
    """A deadline that passes while a socket is waited for, and which the watchdog finds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._ours, self._theirs = socket.socketpair()
        self._now = 0.0
        self.deadline = Deadline(0.05, lambda: self._now)
        monkeypatch.setattr(watchdog, "_find_socket", lambda _: self._ours)

    def wait(self) -> None:
        """Wait for the socket until it is shut down."""
        self._now = 1.0
        assert self._theirs.recv(1) == b""
        self._ours.close()
        self._theirs.close()


def test_a_response_that_looks_complete_is_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a client returns after its socket was shut down is closed, and never read."""
    response, waiting = Response(), Waiting(monkeypatch)

    def send(seconds: float) -> Response:
        assert seconds == 0.05
        waiting.wait()
        return response

    with pytest.raises(TimeoutError):
        send_in_time(send, waiting.deadline)
    assert response.closed


def test_a_body_that_looks_complete_is_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a body without a length is the end of its connection, whoever ended that."""
    waiting, read = Waiting(monkeypatch), list[bytes]()

    def pieces() -> Iterator[bytes]:
        yield b"a document"
        waiting.wait()

    with pytest.raises(TimeoutError):
        read.extend(iter_in_time(pieces(), waiting.deadline))
    assert read == [b"a document"]


def test_the_time_between_two_pieces_counts() -> None:
    """Whoever needs it: a consumer that may take its time pauses the deadline itself."""
    consumed: list[bytes] = []
    pieces = iter_in_time([b"x"] * 5, Deadline(250, lambda: 100.0 * len(consumed)))
    with pytest.raises(TimeoutError):
        consumed.extend(iter(lambda: next(pieces), None))
    assert len(consumed) == 3


def test_requests_in_time_wake_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread sleeps until the first deadline, and nothing is kept of a request that has ended."""
    wakes: list[float] = []
    monkeypatch.setattr(watchdog, "_WATCHDOG", sleeping := watchdog._Watchdog())
    monkeypatch.setattr(sleeping, "_changed", SimpleNamespace(notify=lambda: wakes.append(sleeping.looks_at)))
    monkeypatch.setattr(sleeping, "_thread", threading.current_thread())
    deadline = Deadline(HANG, time.monotonic)
    for _ in range(1000):
        with Watch(deadline.narrow(HANG)):
            assert len(sleeping.watches) == 1
    assert len(wakes) == 1
    assert not sleeping.watches


_COLLECTING = """
import gc, threading
from emitter.adapters import watchdog

class Client:
    def __init__(self):
        self.itself, self.local = self, threading.local()
        self.local.value = 1

gc.set_threshold(1)
for _ in range(1000):
    Client()
    assert threading.get_ident() in watchdog._current_frames()
assert gc.isenabled()
gc.disable()
watchdog._current_frames()
assert not gc.isenabled()
"""


def test_looking_for_a_socket_does_not_stop_the_interpreter() -> None:
    """Before Python 3.11.9, a garbage collection while the frames are read waits for ever for its own lock."""
    subprocess.run([sys.executable, "-c", _COLLECTING], check=True, timeout=HANG)


WAITING_PACKAGES = ("adapters", "bulk", "client", "core")
LIMIT = re.compile(r"asyncio\.(?:timeout|timeout_at|wait_for)\(.*")
OF_A_DEADLINE = re.compile(r"asyncio\.timeout\((self\._)?deadline\.timeout\(\)\):?")


def test_every_limit_of_a_wait_is_a_deadline() -> None:
    """No code that waits for a vendor has a time limit of its own."""
    source = Path(watchdog.__file__).parents[1]
    files = [file for package in WAITING_PACKAGES for file in (source / package).rglob("*.py")]
    limits = [(file.name, limit) for file in files for limit in LIMIT.findall(file.read_text("utf-8"))]
    assert len(limits) >= 5
    assert [each for each in limits if not OF_A_DEADLINE.fullmatch(each[1])] == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_has_a_watchdog_and_no_process_is_kept_alive() -> None:
    """A child that was forked amid a call ends its own calls; a process ends amid its calls."""
    with slow_server(HEAD) as server:
        command = launch("tests.adapters.forking", f"http://{server}/v1")
        ended = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=False)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("parent DeadlineReached\nchild DeadlineReached\n", "", 0)
