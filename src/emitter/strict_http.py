"""Send one HTTP request to an address that is no vendor's: a medium's URL, or the endpoint of webhooks.

The time limit covers the whole exchange: the name's resolution, the connection, TLS, the head and the body. The
connection goes to an address that was judged, not to a name that would be resolved a second time (DNS rebinding). No
redirect is followed, no proxy is used, and the body is counted before and after its decompression. Requests to vendors
go through ``adapters/transport.py``.
"""

from __future__ import annotations

import queue
import socket
import threading
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from emitter.deadline import Deadline

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Generator, Iterable

_WRITE_SIZE = 16 * 1024
_ENCODINGS = frozenset({"", "identity", "gzip", "deflate", "br", "zstd"})


class ExchangeFailed(Exception):
    """There is no answer, or it is not taken. The text is a phrase that says why, without the URL."""


class Answer(NamedTuple):
    """The answer to a request. ``body`` is empty if it was not asked for."""

    status: int
    content_type: str
    body: bytes


def resolve_host(host: str, port: int) -> list[str]:
    """Return the addresses of a host."""
    return [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


@dataclass(frozen=True, slots=True)
class Network:
    """The way to a host.

    Attributes:
        is_allowed: Judges each address of the host. One that is not allowed ends the exchange.
        resolve: Returns the addresses of a host and port.
        backend: The ``httpcore2.NetworkBackend`` that connects to an address. Defaults to sockets.
    """

    is_allowed: Callable[[str], bool] = bool
    resolve: Callable[[str, int], list[str]] = resolve_host
    backend: Any = None


_ANY_NETWORK = Network()


def exchange(
    request: Any, *, seconds: float, max_bytes: int | None, network: Network = _ANY_NETWORK, transport: Any = None
) -> Answer:
    """Send a request and return its answer.

    Args:
        request: An ``httpx2.Request`` whose body is in memory.
        seconds: The time limit of the whole exchange.
        max_bytes: The largest body. None reads no body.
        network: How the host is reached.
        transport: An ``httpx2`` transport in place of the network, for tests.

    Raises:
        ExchangeFailed: There is no complete answer, or it is a redirect or too large.
    """
    import httpcore2  # noqa: PLC0415  only who sends such a request needs a client
    import httpx2  # noqa: PLC0415

    deadline = Deadline(seconds, time.monotonic)
    failures = (httpx2.HTTPError, httpx2.StreamError, httpcore2.NetworkError, httpcore2.ProtocolError)
    try:
        with (
            closing(transport.handle_request(request))
            if transport
            else _send(request, network, deadline, max_bytes or 0) as response
        ):
            _check_head(response)
            body = b"" if max_bytes is None else b"".join(_count(response.iter_bytes(), max_bytes))
            return Answer(response.status_code, response.headers.get("content-type", ""), body)
    except (*failures, httpcore2.TimeoutException, OSError, ValueError, OverflowError) as error:
        is_late = deadline.has_passed or isinstance(error, TimeoutError)
        reason = f"no complete answer within {seconds:g} seconds" if is_late else type(error).__name__
        raise ExchangeFailed(reason) from error


@contextmanager
def _send(request: Any, network: Network, deadline: Deadline, max_bytes: int) -> Generator[Any]:
    """Send a request, yield the response with an unread body, and close the connection."""
    import httpcore2  # noqa: PLC0415
    import httpx2  # noqa: PLC0415

    url, backend = request.url, cast("Any", _TimedBackend(network, deadline))
    target = httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
    raw = httpcore2.Request(request.method, target, headers=request.headers.raw, content=request.stream)
    with (
        httpcore2.ConnectionPool(ssl_context=_tls_context(), network_backend=backend) as pool,
        closing(pool.handle_request(raw)) as answer,
    ):
        pieces = _count(cast("Iterable[bytes]", answer.stream), max_bytes)
        yield httpx2.Response(answer.status, headers=answer.headers, content=pieces)


@cache
def _tls_context() -> ssl.SSLContext:
    """Return the certificates to trust, which take a tenth of a second to load. The environment cannot add any."""
    import httpx2  # noqa: PLC0415

    return httpx2.create_ssl_context(trust_env=False)


def _check_head(response: Any) -> None:
    if response.is_redirect or response.has_redirect_location:
        raise ExchangeFailed(f"a redirect ({response.status_code}), which is not followed")
    if response.headers.get("content-encoding", "").strip().lower() not in _ENCODINGS:
        raise ExchangeFailed("a body in an unknown encoding")


def _count(pieces: Iterable[bytes], max_bytes: int) -> Generator[bytes]:
    """Yield the pieces, or raise ``ExchangeFailed`` if they are too large together."""
    received = 0
    for piece in pieces:
        received += len(piece)
        if received > max_bytes:
            raise ExchangeFailed(f"more than {max_bytes:,} bytes")
        yield piece


class _TimedBackend:
    """Connects to the addresses that were judged. Each wait ends at the deadline."""

    def __init__(self, network: Network, deadline: Deadline) -> None:
        self._network, self._deadline = network, deadline

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> _TimedStream:
        """Return a stream to the first address that accepts a connection."""
        import httpcore2  # noqa: PLC0415

        del timeout
        backend: Any = self._network.backend or httpcore2.SyncBackend()
        failure: Exception | None = None
        addresses = self._judge(host, port)
        for number, address in enumerate(addresses):
            seconds = _seconds_left(self._deadline) / (len(addresses) - number)
            try:
                return _TimedStream(backend.connect_tcp(address, port, timeout=seconds, **options), self._deadline)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout, OSError) as error:
                failure = error
        raise failure or TimeoutError

    def _judge(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host, or raise ``ExchangeFailed`` if one of them is not allowed."""
        addresses = [address.partition("%")[0] for address in self._resolve(host, port)]
        if not addresses or not all(map(self._network.is_allowed, addresses)):
            raise ExchangeFailed(f"the host {host} has no public address")
        return addresses

    def _resolve(self, host: str, port: int) -> list[str]:
        """Resolve a name in a thread, because the system's resolver has no time limit."""
        found: queue.SimpleQueue[list[str] | Exception] = queue.SimpleQueue()

        def resolve() -> None:
            try:
                found.put(self._network.resolve(host, port))
            except Exception as error:  # noqa: BLE001  it is raised in the thread that waits
                found.put(error)

        threading.Thread(target=resolve, daemon=True).start()
        try:
            result = found.get(timeout=_seconds_left(self._deadline))
        except queue.Empty:
            raise TimeoutError from None
        if isinstance(result, Exception):
            raise ExchangeFailed(f"the host {host} cannot be resolved") from result
        return result


class _TimedStream:
    """A network stream whose waits end at the deadline."""

    def __init__(self, stream: Any, deadline: Deadline) -> None:
        self._stream, self._deadline = stream, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read what has arrived."""
        del timeout
        data: bytes = self._stream.read(max_bytes, timeout=_seconds_left(self._deadline))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write in pieces, because the stream's own timeout begins again with each piece that the peer takes."""
        del timeout
        for start in range(0, len(buffer), _WRITE_SIZE):
            self._stream.write(buffer[start : start + _WRITE_SIZE], timeout=_seconds_left(self._deadline))

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> Any:
        """Return the stream inside TLS."""
        del timeout
        seconds = _seconds_left(self._deadline)
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, seconds), self._deadline)

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        """Return what the stream knows of itself."""
        return self._stream.get_extra_info(info)


def _seconds_left(deadline: Deadline) -> float:
    seconds = deadline.remaining()
    if seconds <= 0:
        raise TimeoutError
    return seconds
