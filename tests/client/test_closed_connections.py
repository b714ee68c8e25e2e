"""A server that closes the connection which it promised to keep: the request is sent again, once, before any answer."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

import openai
import pytest

from emitter import Policy, aemit, astream, emit, stream
from emitter.errors import EmissionError, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_MODEL: Final = "llama-cpp/small"
_DOCUMENT: Final = {"role": "assistant", "content": '{"value": true}'}
_CHOICE: Final = {"index": 0, "finish_reason": "stop"}
_HEAD: Final = {"id": "1", "created": 1, "model": "small"}
_USAGE: Final = {"prompt_tokens": 3, "completion_tokens": 3, "total_tokens": 6}
_WHOLE: Final = {**_HEAD, "object": "chat.completion", "choices": [{**_CHOICE, "message": _DOCUMENT}], "usage": _USAGE}
_CHUNK: Final = {
    **_HEAD, "object": "chat.completion.chunk", "choices": [{**_CHOICE, "delta": _DOCUMENT}], "usage": _USAGE,
}  # fmt: skip
_ANSWER: Final = None
"""Stands for an answer, after which the connection stays open."""


def _answer(request: bytes) -> bytes:
    if b'"stream":true' in request.replace(b" ", b""):
        kind, body = b"text/event-stream", f"data: {json.dumps(_CHUNK)}\n\ndata: [DONE]\n\n".encode()
    else:
        kind, body = b"application/json", json.dumps(_WHOLE).encode()
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


def _serve(connection: socket.socket, script: Sequence[bytes | None], requests: list[bytes]) -> None:
    """Answer each request of a connection as the script says. Bytes are written, and the connection is closed."""
    with connection, suppress(OSError):
        for part in script:
            request = _read_request(connection)
            if not request:
                return
            requests.append(request)
            connection.sendall(_answer(request) if part is _ANSWER else part)
            if part is not _ANSWER:
                return


@contextmanager
def _server(scripts: Sequence[Sequence[bytes | None]]) -> Iterator[tuple[str, list[bytes]]]:
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
                threading.Thread(target=_serve, args=(connection, script, requests), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1", requests
        listener.shutdown(socket.SHUT_RDWR)


def _emit(client: openai.OpenAI) -> int:
    return len(emit(bool, "?", model=_MODEL, client=client, policy=_POLICY).attempts)


def _stream(client: openai.OpenAI) -> int:
    return len(stream(bool, "?", model=_MODEL, client=client, policy=_POLICY).result().attempts)


async def _aemit(client: openai.AsyncOpenAI) -> int:
    return len((await aemit(bool, "?", model=_MODEL, client=client, policy=_POLICY)).attempts)


async def _astream(client: openai.AsyncOpenAI) -> int:
    return len((await astream(bool, "?", model=_MODEL, client=client, policy=_POLICY).result()).attempts)


_POLICY: Final = Policy(max_faults=0)
WAYS: Final = {"emit": _emit, "stream": _stream, "aemit": _aemit, "astream": _astream}


def _ask_twice(way: str, url: str) -> list[int | str]:
    """Return the calls of two emissions over one client, or the error of the second one."""
    function: Callable[..., object] = WAYS[way]

    async def ask_async() -> list[object]:
        async with openai.AsyncOpenAI(base_url=url, api_key="x") as client:
            first = await _aemit(client)  # a stream that is read to its end would keep the connection as well
            return [first, await function(client)]  # type: ignore[misc]

    try:
        if way.startswith("a"):
            return asyncio.run(ask_async())  # type: ignore[return-value]
        with openai.OpenAI(base_url=url, api_key="x") as client:
            return [_emit(client), function(client)]  # type: ignore[list-item]
    except EmissionError as error:
        return [type(error).__name__]


@pytest.mark.parametrize("way", WAYS)
def test_a_request_on_a_closed_connection_is_sent_again(way: str) -> None:
    """The server has read it, and closed the connection without a byte of an answer."""
    with _server([[_ANSWER, b""]]) as (url, requests):
        assert _ask_twice(way, url) == [1, 1]
    assert len(requests) == 3


FAILURES: Final = {
    "the answer has begun": [[_ANSWER, b"HTTP/1.1 2"]],
    "the server has said that it works": [[_ANSWER, b"HTTP/1.1 103 Early Hints\r\n\r\n"]],
    "the next connection is closed, too": [[_ANSWER, b""], [b""]],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", FAILURES)
def test_any_other_end_is_a_fault(case: str, way: str) -> None:
    """Nothing is sent again in silence."""
    with _server(FAILURES[case]) as (url, requests):
        assert _ask_twice(way, url) == ["Unreachable"]
    assert len(requests) == 1 + len(FAILURES[case])


@pytest.mark.parametrize("way", WAYS)
def test_a_new_connection_that_is_closed_is_a_fault(way: str) -> None:
    """The server may have done the work of a request that it never answered."""
    with _server([[b""]]) as (url, requests):
        assert _ask_twice(way, url) == ["Unreachable"]
    assert len(requests) == 1


def test_a_request_that_creates_an_answer_is_not_sent_again() -> None:
    """The server may have begun to write it in the background, and two would be paid for."""
    with _server([[_ANSWER, b""]]) as (url, requests), openai.OpenAI(base_url=url, api_key="x") as client:
        _emit(client)
        with pytest.raises(Unreachable):
            emit(bool, "?", model="openai/gpt-6-sol", client=client, background=True, policy=_POLICY)
    assert len(requests) == 2
