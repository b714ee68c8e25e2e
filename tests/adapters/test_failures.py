"""What each SDK raises, and the fault it stands for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx2
import pytest

from emitter.errors import UnexpectedRequest
from emitter.profile import WireName
from emitter.wire import FaultKind, Reply
from tests.adapters.bodies import VENDORS, text
from tests.adapters.sending import Line, Vendor, fault, request, saying, send

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

pytest.importorskip("openai")
pytest.importorskip("anthropic")
pytest.importorskip("google.genai")

WORLDS = pytest.mark.parametrize("world", ["sync", "async"])
WIRES = pytest.mark.parametrize("wire", WireName)


def _raising(error: type[Exception], message: str = "x") -> Vendor:
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


@WORLDS
@WIRES
@pytest.mark.parametrize("name", TRANSPORT)
def test_transport(wire: WireName, world: str, name: str) -> None:
    """A connection that fails is a fault without a status, and never an exception."""
    server, kind = TRANSPORT[name]
    found = fault(wire, world, Vendor(server.reply))
    assert (found.kind, found.status) == (kind, None)


BODIES = {"html": "<html>hello</html>", "empty": "", "cut": '{"choices": [', "text": "upstream said no", "list": "[]"}


@WORLDS
@WIRES
@pytest.mark.parametrize("name", BODIES)
def test_a_good_status_with_a_bad_body(wire: WireName, world: str, name: str) -> None:
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


@WORLDS
@WIRES
@pytest.mark.parametrize("status", STATUSES)
def test_an_error_status(wire: WireName, world: str, status: int) -> None:
    """The status decides where the body says nothing, and the request was sent once."""
    for body in ERRORS.values():
        found = fault(wire, world, saying(body, status))
        assert (found.kind, found.status) == (STATUSES[status], status)


@WORLDS
@WIRES
def test_a_request_id_is_kept(wire: WireName, world: str) -> None:
    """The vendor's own id of the request stands in the reply."""
    server = saying(json.dumps(text(wire, "{}")), x_request_id="req-1")
    found = send(Line(VENDORS[wire], wire, world), server, request())
    assert isinstance(found, Reply)
    assert found.request_id == "req-1"


@WORLDS
@WIRES
def test_our_own_error_is_nofault(wire: WireName, world: str) -> None:
    """A replay that does not know the request is told as it is, not sent again as a failed connection."""
    with pytest.raises(UnexpectedRequest):
        send(Line(VENDORS[wire], wire, world), _raising(UnexpectedRequest), request())


@WORLDS
@WIRES
def test_a_programmers_error_rises(wire: WireName, world: str) -> None:
    """What is neither the vendor's nor the network's is nobody's to hide."""
    with pytest.raises(Exception) as caught:  # noqa: PT011  an SDK may wrap it
        send(Line(VENDORS[wire], wire, world), _raising(ZeroDivisionError), request())
    assert ZeroDivisionError in (caught.type, type(caught.value.__cause__))
