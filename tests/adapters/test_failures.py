"""What each SDK raises, and the fault it stands for."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from emitter import profiles as profile
from emitter.adapters.clients import create_client
from emitter.errors import InputError, UnexpectedRequest
from emitter.messages import Fault, FaultKind, ModelResponse
from emitter.profiles import WireFormat
from tests.adapters.bodies import VENDORS, text
from tests.adapters.sending import URL, Line, Vendor, fault, http_kind, request, saying, send
from tests.work import covering

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

pytest.importorskip("openai")
pytest.importorskip("anthropic")
pytest.importorskip("google.genai")
pytest.importorskip("boto3")

WORLDS = pytest.mark.parametrize("world", ["sync", "async"])
WIRES = pytest.mark.parametrize("wire", WireFormat)


def _raising(error: type[BaseException], message: str = "x") -> Vendor:
    def reply(_: httpx2.Request) -> httpx2.Response:
        raise error(message)

    return Vendor(reply)


class Cut(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A body of which only the beginning arrives."""

    def __iter__(self) -> Iterator[bytes]:
        yield b'{"choices": ['
        raise httpx2.RemoteProtocolError("peer closed connection")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b'{"choices": ['
        raise httpx2.RemoteProtocolError("peer closed connection")


TRANSPORT = {
    "connect": (_raising(httpx2.ConnectError), FaultKind.CONNECTION),
    "read": (_raising(httpx2.ReadError), FaultKind.CONNECTION),
    "connect-timeout": (_raising(httpx2.ConnectTimeout), FaultKind.TIMEOUT),
    "read-timeout": (_raising(httpx2.ReadTimeout), FaultKind.TIMEOUT),
    "pool-timeout": (_raising(httpx2.PoolTimeout), FaultKind.TIMEOUT),
    "cut-body": (Vendor(lambda _: httpx2.Response(200, stream=Cut())), FaultKind.CONNECTION),
    "not-gzip": (
        Vendor(lambda _: httpx2.Response(200, content=b"no", headers={"content-encoding": "gzip"})),
        FaultKind.PROTOCOL,
    ),
}


@pytest.mark.parametrize(("name", "wire", "world"), covering(TRANSPORT, WireFormat, ("sync", "async")))
def test_transport(name: str, wire: WireFormat, world: str) -> None:
    """A connection that fails is a fault without a status, and never an exception."""
    server, kind = TRANSPORT[name]
    found = fault(wire, world, Vendor(server.reply))
    assert (found.kind, found.status) == (kind, None)


BODIES = {"html": "<html>hello</html>", "empty": "", "cut": '{"choices": [', "text": "upstream said no", "list": "[]"}


@pytest.mark.parametrize(("name", "wire", "world"), covering(BODIES, WireFormat, ("sync", "async")))
def test_a_good_status_with_a_bad_body(name: str, wire: WireFormat, world: str) -> None:
    """What is no answer under 200 is a fault of the protocol, whatever its content type says."""
    for kind in ("application/json", "text/html"):
        found = fault(wire, world, saying(BODIES[name], content_type=kind))
        assert (found.kind, found.status) == (FaultKind.PROTOCOL, 200)


STATUSES = {
    401: FaultKind.AUTHENTICATION,
    403: FaultKind.PERMISSION,
    404: FaultKind.NOT_FOUND,
    408: FaultKind.TIMEOUT,
    413: FaultKind.TOO_LARGE,
    422: FaultKind.BAD_REQUEST,
    429: FaultKind.RATE_LIMIT,
    500: FaultKind.SERVER,
    502: FaultKind.SERVER,
    503: FaultKind.OVERLOADED,
    529: FaultKind.OVERLOADED,
}
ERRORS = {
    "json": json.dumps({"error": {"message": "x"}}),
    "string": json.dumps({"error": "no"}),
    "html": "<html>no</html>",
    "empty": "",
    "stream": 'event: error\ndata: {"error": {"message": "x"}}\n\n',
    "colon": ": no",
}


@pytest.mark.parametrize(("status", "wire", "world"), covering(STATUSES, WireFormat, ("sync", "async")))
def test_an_error_status(status: int, wire: WireFormat, world: str) -> None:
    """The status decides where the body says nothing, and the request was sent once."""
    for body in ERRORS.values():
        found = fault(wire, world, saying(body, status))
        assert (found.kind, found.status) == (STATUSES[status], status)


@WORLDS
@WIRES
def test_a_request_id_is_kept(wire: WireFormat, world: str) -> None:
    """The vendor's own id of the request stands in the reply."""
    server = saying(json.dumps(text(wire, "{}")), x_request_id="req-1")
    found = send(Line(VENDORS[wire], wire, world), server, request())
    assert isinstance(found, ModelResponse)
    assert found.request_id == "req-1"


@WORLDS
@WIRES
def test_our_own_error_is_nofault(wire: WireFormat, world: str) -> None:
    """A replay that does not know the request is reported as it is, not sent again as a failed connection."""
    with pytest.raises(UnexpectedRequest):
        send(Line(VENDORS[wire], wire, world), _raising(UnexpectedRequest), request())


@WORLDS
@WIRES
@pytest.mark.parametrize("error", [ZeroDivisionError, RecursionError, OverflowError, AssertionError, MemoryError])
def test_whatever_a_call_raises_is_a_fault(wire: WireFormat, world: str, error: type[Exception]) -> None:
    """An exception that no table knows is that of the code that raised it; both are named, and its words are not."""
    found = fault(wire, world, _raising(error, "secret words"))
    assert (found.kind, found.status) == (FaultKind.CLIENT, None)
    assert f"tests.adapters.test_failures._raising.<locals>.reply raised {error.__name__}" in found.message
    assert "secret" not in found.message


@WORLDS
@WIRES
def test_a_request_that_cannot_be_built_is_not_sent(wire: WireFormat, world: str) -> None:
    """An option that is no JSON is the caller's failure, which another attempt does not cure."""
    server = saying("{}")
    if wire in (WireFormat.GOOGLE, WireFormat.BEDROCK_CONVERSE):  # its SDK's own model of the options says so
        with pytest.raises(InputError, match="temperature"):
            send(Line(VENDORS[wire], wire, world), server, request(options={"temperature": object()}))
        return
    found = send(Line(VENDORS[wire], wire, world), server, request(options={"temperature": object()}))
    assert isinstance(found, Fault)
    assert found.kind is FaultKind.CLIENT
    assert server.seen == []


@WORLDS
@WIRES
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interruption_rises(wire: WireFormat, world: str, error: type[BaseException]) -> None:
    """What is no ``Exception`` is nobody's answer."""
    with pytest.raises(error):
        send(Line(VENDORS[wire], wire, world), _raising(error), request())


REDIRECTS = {
    "same-origin": "http://vendor.test/elsewhere",
    "another-host": "http://other.test/base",
    "another-port": "http://vendor.test:8443/base",
    "another-scheme": "https://vendor.test/base",
    "relative": "/again",
    "itself": "",
}


@pytest.mark.parametrize(
    ("to", "status", "wire", "world"), covering(REDIRECTS, (301, 302, 303, 307, 308), WireFormat, ("sync", "async"))
)
def test_a_redirect_is_not_followed(to: str, status: int, wire: WireFormat, world: str) -> None:
    """Neither the prompt nor a key goes to another address; asking again would change nothing."""
    found = fault(
        wire, world, Vendor(lambda sent: httpx2.Response(status, headers={"location": REDIRECTS[to] or str(sent.url)}))
    )
    assert (found.kind, found.status) == (FaultKind.BAD_REQUEST, status)
    assert "redirect" in found.message
    assert "base_url" in found.message


@WORLDS
@WIRES
def test_a_client_that_follows_redirects_is_kept_from_it(wire: WireFormat, world: str) -> None:
    """A client that the caller made does not follow a redirect either, and is as it was afterwards."""
    server = Vendor(lambda _: httpx2.Response(307, headers={"location": "http://other.test/"}))
    http = http_kind(world, wire)(transport=httpx2.MockTransport(server), follow_redirects=True)
    facts = profile.load_profile(VENDORS[wire])
    client = create_client(facts, asynchronous=world == "async", base_url=URL, api_key="key", http_client=http)
    found = send(Line(VENDORS[wire], wire, world), server, request(), client)
    assert isinstance(found, Fault)
    assert len(server.seen) == 1
    assert http.follow_redirects is True
    assert not http.is_closed


@WORLDS
@WIRES
def test_a_client_that_followed_one_all_the_same_is_not_believed(wire: WireFormat, world: str) -> None:
    """An HTTP client that cannot be kept from following redirects is noticed by the response's history."""
    server = saying(json.dumps(text(wire, "{}")))
    client = create_client(
        profile.load_profile(VENDORS[wire]),
        asynchronous=world == "async",
        base_url=URL,
        api_key="key",
        http_client=(_Stubborn if http_kind(world, wire) is httpx2.Client else _AsyncStubborn)(
            transport=httpx2.MockTransport(server)
        ),
    )
    found = send(Line(VENDORS[wire], wire, world), server, request(), client)
    assert isinstance(found, Fault)
    assert found.kind is FaultKind.BAD_REQUEST


class _Stubborn(httpx2.Client):
    """A client that follows redirects whatever it is asked for."""

    def send(self, request: httpx2.Request, **more: Any) -> httpx2.Response:
        response = super().send(request, **more)
        response.history = [httpx2.Response(302, request=request)]
        return response


class _AsyncStubborn(httpx2.AsyncClient):
    """A client that follows redirects whatever it is asked for."""

    async def send(self, request: httpx2.Request, **more: Any) -> httpx2.Response:
        response = await super().send(request, **more)
        response.history = [httpx2.Response(302, request=request)]
        return response


class Sized(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A body of so many pieces; ``given`` says how many were asked for."""

    def __init__(self, piece: bytes, pieces: int) -> None:
        self._piece, self._pieces, self.given = piece, pieces, 0

    def __iter__(self) -> Iterator[bytes]:
        for _ in range(self._pieces):
            self.given += 1
            yield self._piece

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for each in self:
            yield each


LARGE = {
    "plain": (b" " * (1 << 16), {}),
    "event": (b'data: {"x": "' + b"y" * (1 << 16) + b'"}\n\n', {"content-type": "text/event-stream"}),
    "gzip": (gzip.compress(b" " * (1 << 21)), {"content-encoding": "gzip"}),
    "deflate": (zlib.compress(b" " * (1 << 21)), {"content-encoding": "deflate"}),
    "twice": (gzip.compress(gzip.compress(b" " * (1 << 22))), {"content-encoding": "gzip, gzip"}),
}


@WORLDS
@WIRES
@pytest.mark.parametrize("name", LARGE)
def test_a_response_that_is_too_large_is_not_read(wire: WireFormat, world: str, name: str) -> None:
    """Reading stops at the limit, which counts the bytes after decompression."""
    piece, headers = LARGE[name]
    sent = [Sized(piece, 1000)]
    found = fault(wire, world, Vendor(lambda _: httpx2.Response(200, headers=headers, stream=sent[0])))
    assert (found.kind, found.status) == (FaultKind.RESPONSE_TOO_LARGE, 200)
    assert "Policy.max_response_bytes" in found.message
    assert sent[0].given < 1000


@WORLDS
@WIRES
def test_an_error_body_that_is_too_large_is_cut(wire: WireFormat, world: str) -> None:
    """The status says what happened, however long the error's body is."""
    sent = Sized(b" " * (1 << 16), 1000)
    found = fault(wire, world, Vendor(lambda _: httpx2.Response(429, headers={"retry-after": "7"}, stream=sent)))
    assert (found.kind, found.status, found.retry_after) == (FaultKind.RATE_LIMIT, 429, 7.0)
    assert sent.given < 1000


@WORLDS
@WIRES
@pytest.mark.parametrize("charset", ["", "; charset=latin-1", "; charset=utf-8"])
def test_a_body_that_is_not_utf8_is_a_fault(wire: WireFormat, world: str, charset: str) -> None:
    """JSON is UTF-8: no character is made up for bytes that are none, whatever the headers say."""
    body = json.dumps(text(wire, '{"n": "MARK"}')).encode().replace(b"MARK", b"M\xfcller")
    headers = {"content-type": f"application/json{charset}"}
    found = fault(wire, world, Vendor(lambda _: httpx2.Response(200, content=body, headers=headers)))
    assert (found.kind, found.status) == (FaultKind.PROTOCOL, 200)
    assert found.usage is not None
    assert found.usage.input == 7


@WORLDS
@WIRES
def test_a_byte_order_mark_is_ignored(wire: WireFormat, world: str) -> None:
    """RFC 8259, section 8.1 allows to ignore one."""
    server = saying("\ufeff" + json.dumps(text(wire, '{"n": 1}')))
    found = send(Line(VENDORS[wire], wire, world), server, request())
    assert isinstance(found, ModelResponse)
    assert found.text == '{"n": 1}'
