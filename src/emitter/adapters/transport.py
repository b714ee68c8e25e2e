"""HTTP as an emission sends it: redirects are not followed, and a response has a largest size.

``bounded`` returns a view of a vendor's client for one request. The view shares all state of the client
(credentials, base URL, connections) and sends through a view of its HTTP client that enforces both rules, so
they hold for clients that the caller made, too. The client itself is not changed.

Sources: ``_client`` and its ``send`` in openai 3.52.0 and anthropic 2.11.0 (``_base_client.py``), and
``_httpx_client``, ``_async_httpx_client`` in google-genai 3.4.0 (``_api_client.py``).
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from email.utils import formatdate, parsedate
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from emitter.errors import InputError
from emitter.wire import Fault, FaultKind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

_FIRST_ERROR = 400
_TRANSFER = "emitter.transfer"
_MAX_ERROR_BYTES = 1 << 20
"""The largest error body that is read. Nothing but its code and message is used."""


@dataclass(slots=True)
class Transfer:
    """What one request has come to so far, and how many bytes its response may have.

    ``request`` is the HTTP request as it was sent, with its credentials; None where none was. ``received``
    counts the bytes of the body, decompressed; ``error`` holds them where ``status`` is an error.
    """

    max_bytes: int
    request: Any = None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    received: int = 0
    error: bytearray = field(default_factory=bytearray)

    @property
    def sent(self) -> bool:
        """Whether a request was sent."""
        return self.request is not None

    @property
    def failed(self) -> bool:
        """Whether the response has the status of an error."""
        return self.status is not None and self.status >= _FIRST_ERROR

    def begin(self) -> None:
        """Count from the beginning of the body."""
        self.received = 0
        self.error.clear()

    def hold(self, content: bytes) -> None:
        """Count a body that was read, where it was there from the beginning; raises ``ResponseRejected``."""
        if not self.received:
            self.count(content)

    def count(self, piece: bytes) -> None:
        """Count a piece of the body; raises ``ResponseRejected`` where it is too much."""
        self.received += len(piece)
        if self.failed:
            self.error += piece
        if self.received > (min(self.max_bytes, _MAX_ERROR_BYTES) if self.failed else self.max_bytes):
            what = f"The response is larger than Policy.max_response_bytes ({self.max_bytes} bytes)."
            raise ResponseRejected(Fault(FaultKind.RESPONSE_TOO_LARGE, what, self.status))


class ResponseRejected(Exception):
    """The response was refused before it was read to its end."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def bounded(client: object, transfer: Transfer) -> object:
    """Return a view of a vendor's client that sends one request and records it in ``transfer``.

    A client without an HTTP client of a known kind is returned as it is. Raises ``InputError`` for a Google
    client that sends through ``aiohttp`` or ``requests``, where redirects and sizes cannot be controlled.
    """
    if "_client" in getattr(client, "__dict__", ()):
        return _view(client, _SdkView, transfer)
    models: Any = getattr(client, "models", None)
    api = getattr(models, "_api_client", None)
    if api is None:
        return client
    view = _view(api, _GoogleView, transfer)
    return GoogleClient(models.__class__(view), view)


class GoogleClient:
    """A view of a ``google.genai`` client, which hands over responses as they came."""

    def __init__(self, models: Any, api: Any) -> None:
        self._models, self._api = models, api
        self._asynchronous = type(models).__name__.startswith("Async")

    def post(self, *, stream: bool, **arguments: Any) -> Any:
        """Send ``generate_content``; return the response, or an awaitable of it from an async client.

        The response is read unless ``stream`` is true.
        """
        self._api.check(asynchronous=self._asynchronous)
        self._api.streams = stream
        made = self._models.generate_content(**arguments)
        return self._aopened(made, stream=stream) if self._asynchronous else self._opened(stream=stream)

    def _opened(self, *, stream: bool) -> Any:
        response = self._api.opened
        if not stream:
            response.read()
        return response

    async def _aopened(self, made: Any, *, stream: bool) -> Any:
        await made
        response = self._api.opened
        if not stream:
            await response.aread()
        return response


def _view(original: Any, mixin: type, transfer: Transfer) -> Any:
    """Return an object of the original's type and state with the mixin's methods before its own."""
    view: Any = object.__new__(_view_type(mixin, original.__class__))
    view.__dict__ = original.__dict__
    view.transfer = transfer
    return view


@lru_cache(maxsize=64)
def _view_type(mixin: type, original: type) -> Any:
    return type(original.__name__, (mixin, original), {"__module__": original.__module__})


class _View:
    """What all views share: they own nothing, so nothing is closed with them."""

    __slots__ = ("transfer",)
    transfer: Transfer

    def __del__(self) -> None:
        """Leave the original's resources open."""


class _SdkView(_View):
    """A view of an ``openai`` or ``anthropic`` client."""

    __slots__ = ()

    @property
    def _client(self) -> Any:
        return _http_view(self.__dict__["_client"], self.transfer)

    @property
    def _middleware_chain(self) -> Any:
        """Build the chain of anthropic's middleware anew: the client's own sends through the client itself."""
        view: Any = self
        return view._build_middleware_chain()  # noqa: SLF001  the SDK's


class _GoogleView(_View):
    """A view of the API client inside a ``google.genai`` client."""

    __slots__ = ("opened", "streams")
    opened: Any
    streams: bool

    @property
    def _httpx_client(self) -> Any:
        return _http_view(self.__dict__["_httpx_client"], self.transfer)

    @property
    def _async_httpx_client(self) -> Any:
        return _http_view(self.__dict__["_async_httpx_client"], self.transfer)

    def _use_aiohttp(self) -> bool:
        """Use the HTTP client even where ``aiohttp`` happens to be installed."""
        return False

    def check(self, *, asynchronous: bool) -> None:
        """Raise ``InputError`` where the client would send through another library."""
        api: Any = self
        if asynchronous:
            other = getattr(api._http_options, "aiohttp_client", None) or api._use_google_auth_async()  # noqa: SLF001
        else:
            other = api._use_google_auth_sync()  # noqa: SLF001
        if other:
            name, option = ("aiohttp", "httpx_async_client") if asynchronous else ("requests", "httpx_client")
            raise InputError(
                f"client= sends through {name}, where emitter cannot refuse redirects or limit sizes.",
                hint=f"Pass a google.genai.Client with HttpOptions({option}=…).",
            )

    def request(self, http_method: str, path: str, request_dict: dict[str, object], http_options: Any = None) -> Any:
        """Send, keep the response unread in ``opened``, and return an empty one for the SDK to wrap."""
        api: Any = self
        request = api._build_request(http_method, self._path(path), request_dict, http_options)  # noqa: SLF001
        self.opened = api._request(request, http_options, stream=True).response_stream  # noqa: SLF001
        return _empty_response()

    async def async_request(
        self, http_method: str, path: str, request_dict: dict[str, object], http_options: Any = None
    ) -> Any:
        """Do as ``request`` does, without blocking."""
        api: Any = self
        request = api._build_request(http_method, self._path(path), request_dict, http_options)  # noqa: SLF001
        self.opened = (await api._async_request(request, http_options, stream=True)).response_stream  # noqa: SLF001
        return _empty_response()

    def _path(self, path: str) -> str:
        if not self.streams:
            return path
        method, _, query = path.partition("?")
        return f"{method.removesuffix(':generateContent')}:streamGenerateContent?alt=sse{'&' * bool(query)}{query}"


def _empty_response() -> Any:
    return importlib.import_module("google.genai.types").HttpResponse(headers={}, body="")


def _http_view(http: Any, transfer: Transfer) -> Any:
    return _view(http, _AsyncHttpView if hasattr(http, "aclose") else _HttpView, transfer)


class _HttpView(_View):
    """A view of an ``httpx2.Client``."""

    __slots__ = ()

    def send(self, request: Any, *, stream: bool = False, **more: Any) -> Any:
        """Send a request; raises ``ResponseRejected``."""
        self.transfer.request = request
        http: Any = super()
        response = http.send(request, **{**more, "stream": True, "follow_redirects": False})
        try:
            _admit(response, self.transfer, _ResponseView)
            if self.transfer.failed or not stream:
                self.transfer.hold(response.read())
        except BaseException:
            response.close()
            raise
        return response


class _AsyncHttpView(_View):
    """A view of an ``httpx2.AsyncClient``."""

    __slots__ = ()

    async def send(self, request: Any, *, stream: bool = False, **more: Any) -> Any:
        """Send a request; raises ``ResponseRejected``."""
        self.transfer.request = request
        http: Any = super()
        response = await http.send(request, **{**more, "stream": True, "follow_redirects": False})
        try:
            _admit(response, self.transfer, _AsyncResponseView)
            if self.transfer.failed or not stream:
                self.transfer.hold(await response.aread())
        except BaseException:
            await response.aclose()
            raise
        return response


def _admit(response: Any, transfer: Transfer, mixin: type) -> None:
    """Count what is read of a response from now on; raises ``ResponseRejected`` for a redirect."""
    transfer.status, transfer.headers = response.status_code, response.headers
    if response.has_redirect_location or response.history:
        what = f"The server answered with a redirect ({response.status_code}), which is not followed."
        hint = "Set base_url to the address that serves the API."
        raise ResponseRejected(Fault(FaultKind.BAD_REQUEST, f"{what} {hint}", response.status_code))
    # RFC 9110, section 6.6.1: who receives a response without a date notes when it came.
    if "retry-after" in response.headers and parsedate(response.headers.get("date", "")) is None:
        response.headers["date"] = formatdate(usegmt=True)
    response.extensions[_TRANSFER] = transfer
    response.__class__ = _view_type(mixin, response.__class__)


class _ResponseView:
    """A response whose body is counted while it is read; without slots, so that a response can become one.

    httpx2 decompresses at most 1 MiB at a time (``httpx2._decoders.MAX_DECODE_CHUNK_SIZE``).
    """

    extensions: dict[str, Any]

    def iter_bytes(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """Yield the pieces of the body; raises ``ResponseRejected``."""
        response: Any = super()
        transfer: Transfer = self.extensions[_TRANSFER]
        transfer.begin()
        for piece in response.iter_bytes(chunk_size):
            transfer.count(piece)
            yield piece


class _AsyncResponseView:
    """Does as ``_ResponseView`` does, without blocking."""

    extensions: dict[str, Any]

    async def aiter_bytes(self, chunk_size: int | None = None) -> AsyncIterator[bytes]:
        """Yield the pieces of the body; raises ``ResponseRejected``."""
        response: Any = super()
        transfer: Transfer = self.extensions[_TRANSFER]
        transfer.begin()
        async for piece in response.aiter_bytes(chunk_size):
            transfer.count(piece)
            yield piece
