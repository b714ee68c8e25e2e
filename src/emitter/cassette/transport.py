"""Recording and replaying: two transports at the SDKs' own seam."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from emitter.adapters.credentials import HARMLESS_QUERY, of_request, searched
from emitter.cassette.file import Cassette, Interaction, Provenance, RecordedRequest, RecordedResponse
from emitter.cassette.secrets import strike
from emitter.errors import MissingExtra, UnexpectedRequest

try:
    import httpx2
except ImportError as missing:
    raise MissingExtra(
        "Cassettes need httpx2, which comes with every vendor's SDK.", hint="Run: pip install 'emitter[openai]'"
    ) from missing

if TYPE_CHECKING:
    from emitter.wire import Json

_KEPT_HEADERS = frozenset({"content-type", "retry-after", "retry-after-ms", "x-request-id", "request-id", "date"})
_FRAMING = frozenset({"content-encoding", "content-length", "transfer-encoding"})


def http_client(transport: Any, *, asynchronous: bool = False) -> httpx2.Client | httpx2.AsyncClient:
    """Return an HTTP client that sends through ``transport``, for a vendor's SDK to be given."""
    return httpx2.AsyncClient(transport=transport) if asynchronous else httpx2.Client(transport=transport)


class _Transport(httpx2.BaseTransport, httpx2.AsyncBaseTransport):
    """A transport for both worlds; a half that is not used costs nothing."""

    def close(self) -> None:
        """Nothing to close."""

    async def aclose(self) -> None:
        """Nothing to close."""


@dataclass
class Replay(_Transport):
    """Answers from a cassette: the first interaction not yet used whose request is the same."""

    cassette: Cassette
    _left: list[Interaction] = field(init=False)

    def __post_init__(self) -> None:
        self._left = list(self.cassette.interactions)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request."""
        request.read()
        return _response(self._take(request).response)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request."""
        await request.aread()
        return _response(self._take(request).response)

    def unused(self) -> tuple[Interaction, ...]:
        """Return the interactions that nothing asked for."""
        return tuple(self._left)

    def _take(self, sent: httpx2.Request) -> Interaction:
        request = _to_interaction(sent, RecordedResponse(status=200)).request
        for index, each in enumerate(self._left):
            if each.request == request:
                return self._left.pop(index)
        raise UnexpectedRequest(_difference(request, self._left))


def _difference(request: RecordedRequest, left: list[Interaction]) -> str:
    if not left:
        return f"The cassette holds no further request; this one came: {request.method} {request.path}."
    expected, came = (_lines(each) for each in (left[0].request, request))
    shown = "\n".join(difflib.unified_diff(expected, came, "cassette", "request", lineterm="", n=2))
    return f"A request came that the cassette does not hold. Its next one differs so:\n{shown}"


def _lines(request: RecordedRequest) -> list[str]:
    body = json.dumps(request.body, indent=1, ensure_ascii=False, sort_keys=True)
    return [f"{request.method} {request.path}", *body.replace("\\n", "\n").splitlines()]


@dataclass
class Record(_Transport):
    """Passes requests on to the ``inner`` transports and keeps what happened."""

    inner: httpx2.BaseTransport | None = None
    async_inner: httpx2.AsyncBaseTransport | None = None
    interactions: list[Interaction] = field(default_factory=list[Interaction])

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Pass a request on."""
        request.read()
        self.inner = self.inner or httpx2.HTTPTransport()
        response = self.inner.handle_request(request)
        response.read()
        return self._keep(request, response)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Pass a request on."""
        await request.aread()
        self.async_inner = self.async_inner or httpx2.AsyncHTTPTransport()
        response = await self.async_inner.handle_async_request(request)
        await response.aread()
        return self._keep(request, response)

    def close(self) -> None:
        """Close the connections that were passed on through."""
        if self.inner is not None:
            self.inner.close()

    async def aclose(self) -> None:
        """Close the connections that were passed on through."""
        if self.async_inner is not None:
            await self.async_inner.aclose()

    def _keep(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        kept = RecordedResponse(
            status=response.status_code,
            headers={name: value for name, value in response.headers.items() if name.lower() in _KEPT_HEADERS},
            body=_body(response.text),
        )
        self.interactions.append(_to_interaction(request, kept))
        return _again(response)

    def cassette(self, provenance: Provenance = Provenance.RECORDED, note: str = "") -> Cassette:
        """Return what was kept so far."""
        return Cassette(provenance=provenance, note=note, interactions=tuple(self.interactions))


def _to_interaction(request: httpx2.Request, response: RecordedResponse) -> Interaction:
    """Return what may be written down of an exchange."""
    return strike(Interaction(request=_recorded(request), response=response), searched(of_request(request)))


def _recorded(request: httpx2.Request) -> RecordedRequest:
    parts = urlsplit(str(request.url))
    query = [(name, value) for name, value in parse_qsl(parts.query) if name.lower() in HARMLESS_QUERY]
    path = f"{parts.path}?{urlencode(query)}" if query else parts.path
    return RecordedRequest(method=request.method, path=path, body=_body(request.content.decode("utf-8", "replace")))


def _body(text: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text or None


def _response(recorded: RecordedResponse) -> httpx2.Response:
    body = recorded.body
    text = body if isinstance(body, str) else "" if body is None else json.dumps(body, ensure_ascii=False)
    kind = "text/event-stream" if text.startswith(("data:", "event:")) else "application/json"
    headers = {"content-type": kind, **recorded.headers}
    return httpx2.Response(recorded.status, headers=headers, content=text.encode())


def _again(response: httpx2.Response) -> httpx2.Response:
    """Return a response that was read, to be read again by whoever called."""
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in _FRAMING]
    return httpx2.Response(response.status_code, headers=headers, content=response.content)
