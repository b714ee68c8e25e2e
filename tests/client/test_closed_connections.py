"""A server that closes the connection which it promised to keep: the request is sent again, once, before any answer."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import pytest

from emitter import Policy, aemit, astream, emit, stream
from emitter.adapters.clients import create_client
from emitter.adapters.transport import async_half
from emitter.errors import EmissionError, Unreachable
from emitter.profiles import find_profile
from emitter.testing.scenarios import SCENARIO_MODELS
from tests.hostile.wires import FORM, SSE_WIRES, events, stream_kind, unary, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

pytest.importorskip("openai")
pytest.importorskip("anthropic")
pytest.importorskip("google.genai")

_ANSWER: Final = None
"""Stands for an answer, after which the connection stays open."""


def _answer(wire: str, request: bytes) -> bytes:
    if b'"stream":true' in request.replace(b" ", b"") or b":streamGenerateContent" in request:
        kind, body = stream_kind(wire).encode(), written(events(wire), wire)
    else:
        kind, body = b"application/json", json.dumps(unary(wire)).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s" % (kind, len(body), body)


def _read_request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return b""
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
    )
    while len(body) < length:
        body += connection.recv(65536)
    return head + body


def _serve(wire: str, connection: socket.socket, script: Sequence[bytes | None], requests: list[bytes]) -> None:
    """Answer each request of a connection as the script says. Bytes are written, and the connection is closed."""
    with connection, suppress(OSError):
        for part in script:
            request = _read_request(connection)
            if not request:
                return
            requests.append(request)
            connection.sendall(_answer(wire, request) if part is _ANSWER else part)
            if part is not _ANSWER:
                return


@contextmanager
def _server(wire: str, scripts: Sequence[Sequence[bytes | None]]) -> Iterator[tuple[str, list[bytes]]]:
    """Run a server whose first connections follow the scripts. Further ones answer everything."""
    requests: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            for number in range(100):
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                script = scripts[number] if number < len(scripts) else [_ANSWER] * 100
                threading.Thread(target=_serve, args=(wire, connection, script, requests), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", requests
        listener.shutdown(socket.SHUT_RDWR)


def _emit(**settings: Any) -> int:
    return len(emit(FORM, "?", **settings).attempts)


def _stream(**settings: Any) -> int:
    return len(stream(FORM, "?", **settings).result().attempts)


async def _aemit(**settings: Any) -> int:
    return len((await aemit(FORM, "?", **settings)).attempts)


async def _astream(**settings: Any) -> int:
    return len((await astream(FORM, "?", **settings).result()).attempts)


WAYS: Final[dict[str, Callable[..., Any]]] = {"emit": _emit, "stream": _stream, "aemit": _aemit, "astream": _astream}
every_way = pytest.mark.parametrize(("wire", "way"), [(wire, way) for wire in SSE_WIRES for way in WAYS])
"""The wires that are sent through the clients of openai, anthropic and google."""


def _settings(wire: str, url: str, *, asynchronous: bool) -> dict[str, Any]:
    """Return the settings of an emission with a client of the vendor's SDK."""
    profile, _ = find_profile(SCENARIO_MODELS[wire])
    base = f"{url}/v1" if profile.name == "openai" else url
    client = create_client(profile, asynchronous=asynchronous, base_url=base, api_key="x")
    return {"model": SCENARIO_MODELS[wire], "wire": wire, "client": client, "policy": Policy(max_faults=0)}


def _ask_twice(wire: str, way: str, url: str) -> list[int | str]:
    """Return the calls of two emissions over one client, or the error of the second one."""
    asynchronous = way.startswith("a")
    settings = _settings(wire, url, asynchronous=asynchronous)

    async def ask_async() -> list[int | str]:
        try:
            # A stream that is read to its end would keep the connection as well.
            return [await _aemit(**settings), await WAYS[way](**settings)]
        finally:
            client: Any = async_half(settings["client"])
            await (client.aclose if hasattr(client, "aclose") else client.close)()

    try:
        if asynchronous:
            return asyncio.run(ask_async())
        try:
            return [_emit(**settings), WAYS[way](**settings)]
        finally:
            settings["client"].close()
    except EmissionError as error:
        return [type(error).__name__]


@every_way
def test_a_request_on_a_closed_connection_is_sent_again(wire: str, way: str) -> None:
    """The server has read it, and closed the connection without a byte of an answer."""
    with _server(wire, [[_ANSWER, b""]]) as (url, requests):
        assert _ask_twice(wire, way, url) == [1, 1]
    assert len(requests) == 3


FAILURES: Final = {
    "the answer has begun": [[_ANSWER, b"HTTP/1.1 2"]],
    "the server has said that it works": [[_ANSWER, b"HTTP/1.1 103 Early Hints\r\n\r\n"]],
    "the next connection is closed, too": [[_ANSWER, b""], [b""]],
}


@every_way
@pytest.mark.parametrize("case", FAILURES)
def test_any_other_end_is_a_fault(case: str, wire: str, way: str) -> None:
    """Nothing is sent again in silence."""
    with _server(wire, FAILURES[case]) as (url, requests):
        assert _ask_twice(wire, way, url) == ["Unreachable"]
    assert len(requests) == 1 + len(FAILURES[case])


@every_way
def test_a_new_connection_that_is_closed_is_a_fault(wire: str, way: str) -> None:
    """The server may have done the work of a request that it never answered."""
    with _server(wire, [[b""]]) as (url, requests):
        assert _ask_twice(wire, way, url) == ["Unreachable"]
    assert len(requests) == 1


def test_a_request_that_creates_an_answer_is_not_sent_again() -> None:
    """The server may have begun to write it in the background, and two would be paid for."""
    wire = "openai-responses"
    with _server(wire, [[_ANSWER, b""]]) as (url, requests):
        settings = _settings(wire, url, asynchronous=False)
        with settings["client"]:
            _emit(**settings)
            with pytest.raises(Unreachable):
                emit(FORM, "?", background=True, **settings)
    assert len(requests) == 2
