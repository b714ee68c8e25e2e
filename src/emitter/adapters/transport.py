"""Send requests through the providers' own clients, without following redirects and with a limit on response size.

A request is sent through a view of its client, which ``clients.limit_client`` creates. The view shares all state of the
client (credentials, base URL, connections) and does not change it. No SDK is imported unless one of its clients is in
use.

Sources: ``_client`` and its ``send`` in openai 3.52.0 and anthropic 2.11.0 (``_base_client.py``), and
``_httpx_client``, ``_async_httpx_client`` in google-genai 3.4.0 (``_api_client.py``).
"""

from __future__ import annotations

import importlib
import re
import sys
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, NewType, cast
from urllib.parse import urlencode

from pydantic_core import to_json

from emitter.errors import InputError
from emitter.messages import NO_FIELDS, Fault, FaultKind
from emitter.outside_values import parse_http_date

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

    import httpx2

    from emitter.messages import Json

_FIRST_REDIRECT, _FIRST_ERROR_STATUS = 300, 400
_NO_INLINE_BATCHES = "client= has no batches with inline requests."
TRANSFER_KEY = "emitter.transfer"
_MAX_ERROR_BYTES = 1 << 20
"""The largest error body that is read. Only its code and message are used."""


@dataclass(slots=True)
class HttpTransfer:
    """The state of one HTTP request and the size limit of its response.

    Attributes:
        max_bytes: The largest decompressed body that is accepted.
        may_repeat: The request may be sent again if its connection was closed before. A request that creates something
            may not, because the server may have received it.
        request: The address and headers of the request as it was sent, with its credentials; None before that.
        is_uploaded: True once the HTTP library began to read the body of the request.
        received: The bytes of the body read so far, after decompression.
        error_body: The body read so far, if ``status`` is an error.
        proxy: The address of the proxy that the request was sent to, and the request's URL, if they are known.
    """

    max_bytes: int
    may_repeat: bool = False
    request: SentRequest | SignedRequest | None = None
    is_uploaded: bool = False
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    received: int = 0
    error_body: bytearray = field(default_factory=bytearray)
    proxy: tuple[str, str] | None = None

    @property
    def is_sent(self) -> bool:
        """True once the vendor may have received the request."""
        return self.is_uploaded or self.status is not None

    @property
    def is_error(self) -> bool:
        """True if the response has the status of an error."""
        return self.status is not None and self.status >= _FIRST_ERROR_STATUS

    def count_piece(self, piece: bytes) -> None:
        """Count a piece of the body; raise ``ResponseRejected`` if the body is too large."""
        self.received += len(piece)
        is_error = self.is_error
        if is_error:
            self.error_body += piece
        if self.received > (min(self.max_bytes, _MAX_ERROR_BYTES) if is_error else self.max_bytes):
            message = f"The response is larger than Policy.max_response_bytes allows ({self.max_bytes} bytes)."
            raise ResponseRejected(Fault(FaultKind.RESPONSE_TOO_LARGE, message, self.status))


class SentRequest(NamedTuple):
    """The parts of an HTTP request that may hold credentials."""

    url: httpx2.URL
    headers: httpx2.Headers


class SignedRequest(NamedTuple):
    """The headers of a request that boto3 signed."""

    headers: Mapping[str, str | bytes]


class ResponseRejected(Exception):
    """The response was rejected before its body was read to the end."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class AsyncBedrockClient:
    """The async half of a boto3 client, which sends from threads."""

    def __init__(self, client: Any) -> None:
        self.client = client

    async def close(self) -> None:
        """Close the client's connections."""
        self.client.close()


def is_boto3_client(client: object) -> bool:
    """Return whether a client is one of boto3."""
    return hasattr(type(client), "_make_api_call")


def async_half(client: object) -> object:
    """Return the object through which async calls send: Google's ``aio``, threads for boto3, or the client itself."""
    return AsyncBedrockClient(client) if is_boto3_client(client) else getattr(client, "aio", client)


class GoogleClientView:
    """A view of a ``google.genai`` client that returns unparsed HTTP responses."""

    def __init__(self, models: Any, api: Any) -> None:
        self._models, self._api = models, api
        self._asynchronous = type(models).__name__.startswith("Async")

    def post(self, *, stream: bool, **arguments: Any) -> Any:
        """Send ``generate_content`` and return the response, or an awaitable of it from an async client.

        The body is read unless ``stream`` is true.
        """
        self._api.check(asynchronous=self._asynchronous)
        self._api.is_streaming = stream
        pending = self._models.generate_content(**arguments)
        return self._read(pending, stream=stream)

    def send(self, request: HttpRequest, timeout: float) -> Any:
        """Send a request with a JSON body and return the response, or an awaitable of it from an async client."""
        self._api.check(asynchronous=self._asynchronous)
        self._api.is_streaming = False  # the path says it
        path = f"{request.path}?{urlencode(request.params)}" if request.params else request.path
        body = dict(cast("Mapping[str, Json]", request.body or NO_FIELDS))
        send = self._api.async_request if self._asynchronous else self._api.request
        pending = send(request.method, path, body, google_options(timeout, request.headers))
        return self._read(pending, stream=request.is_streamed)

    def create_batch(self, arguments: Mapping[str, Any]) -> Any:
        """Create a batch of inline requests, which the SDK encodes as those of single calls.

        Returns:
            The response, or an awaitable of it from an async client.

        Raises:
            InputError: The client is one of Vertex AI, which has no batches with inline requests.
        """
        self._api.check(asynchronous=self._asynchronous)
        if self._api.vertexai:
            raise InputError(_NO_INLINE_BATCHES, hint="Pass a client of the Gemini Developer API.")
        self._api.is_streaming = False
        sdk = importlib.import_module("google.genai.batches")
        batches = (sdk.AsyncBatches if self._asynchronous else sdk.Batches)(self._api)
        return self._read(batches.create(**arguments), stream=False)

    def _read(self, pending: Any, *, stream: bool) -> Any:
        """Return the response that was received, with its body read unless ``stream`` is true."""
        if self._asynchronous:
            return self._aread(pending, stream=stream)
        if not stream:
            self._api.response.read()
        return self._api.response

    async def _aread(self, pending: Any, *, stream: bool) -> Any:
        await pending
        if not stream:
            await self._api.response.aread()
        return self._api.response


def make_view(original: Any, mixin: type, transfer: HttpTransfer) -> Any:
    """Return an object with the original's state whose class puts ``mixin`` before the original's class."""
    view: Any = object.__new__(_view_type(mixin, original.__class__))
    view.__dict__ = original.__dict__
    view.transfer = transfer
    return view


@lru_cache(maxsize=64)
def _view_type(mixin: type, original: type) -> Any:
    return type(original.__name__, (mixin, original), {"__module__": original.__module__})


class RequestView:
    """The base of all views. They own no resources, so nothing is closed with them."""

    __slots__ = ("transfer",)
    transfer: HttpTransfer

    def __del__(self) -> None:
        """Leave the original's resources open."""


_PLAIN_CLIENTS = frozenset({"OpenAI", "AsyncOpenAI", "Anthropic", "AsyncAnthropic"})
_PLAIN_URL = re.compile(r"https?://[^?#@]+")
"""A whole URL without parts that may be secret."""
_MAX_URLS = 64
_URLS: dict[object, tuple[object, object]] = {}
"""URL objects that were made lately, with the base URL that they were joined to."""


def _keep_url(key: object, base_url: object, make: Callable[[], object]) -> Any:
    """Return the URL object of a key, made at most once for a base URL. Making one takes longer than sending it."""
    kept_base, kept = _URLS.get(key, (None, None))
    if kept is None or kept_base is not base_url:
        if len(_URLS) >= _MAX_URLS:
            _URLS.clear()
        kept = make()
        _URLS[key] = (base_url, kept)
    return kept


class SdkView(RequestView):
    """A view of an ``openai`` or ``anthropic`` client. The SDKs read ``_client`` several times for one request."""

    __slots__ = ("http",)
    http: Any

    @property
    def _client(self) -> Any:
        if not hasattr(self, "http"):
            self.http = _http_view(self.__dict__["_client"], self.transfer)
        return self.http

    def _prepare_url(self, url: str) -> Any:
        """Return the whole URL of a path. The SDKs parse and join it again for each request, to the same URL."""
        view: Any = self
        parent: Any = super()
        if type(self).__name__ not in _PLAIN_CLIENTS:  # those of other clouds may join it in their own way
            return parent._prepare_url(url)  # noqa: SLF001  the SDK's
        return _keep_url((type(self), url), view.base_url, partial(parent._prepare_url, url))  # noqa: SLF001

    @property
    def _middleware_chain(self) -> Any:
        """Rebuild anthropic's middleware chain, because the existing one sends through the original client."""
        view: Any = self
        return view._build_middleware_chain()  # noqa: SLF001  the SDK's


class GoogleView(RequestView):
    """A view of the API client inside a ``google.genai`` client."""

    __slots__ = ("is_streaming", "response")
    response: Any
    is_streaming: bool

    @property
    def _httpx_client(self) -> Any:
        return _http_view(self.__dict__["_httpx_client"], self.transfer)

    @property
    def _async_httpx_client(self) -> Any:
        return _http_view(self.__dict__["_async_httpx_client"], self.transfer)

    def _use_aiohttp(self) -> bool:
        """Use the ``httpx2`` client even if ``aiohttp`` is installed."""
        return False

    def check(self, *, asynchronous: bool) -> None:
        """Raise ``InputError`` if the client would not send through ``httpx2``."""
        client: Any = self
        if asynchronous:
            other_transport = getattr(client._http_options, "aiohttp_client", None) or client._use_google_auth_async()  # noqa: SLF001
        else:
            other_transport = client._use_google_auth_sync()  # noqa: SLF001
        if other_transport:
            name, option = ("aiohttp", "httpx_async_client") if asynchronous else ("requests", "httpx_client")
            raise InputError(
                f"client= sends through {name}, where emitter cannot refuse redirects or limit sizes.",
                hint=f"Pass a google.genai.Client with HttpOptions({option}=…).",
            )

    def request(self, http_method: str, path: str, request_dict: dict[str, object], http_options: Any = None) -> Any:
        """Send the request, keep the unread response in ``response`` and return an empty one for the SDK to wrap."""
        client: Any = self
        request = client._build_request(http_method, self._path(path), request_dict, http_options)  # noqa: SLF001
        self.response = client._request(request, http_options, stream=True).response_stream  # noqa: SLF001
        return _empty_response()

    async def async_request(
        self, http_method: str, path: str, request_dict: dict[str, object], http_options: Any = None
    ) -> Any:
        """Send a request of an async client as ``request`` does."""
        client: Any = self
        request = client._build_request(http_method, self._path(path), request_dict, http_options)  # noqa: SLF001
        self.response = (await client._async_request(request, http_options, stream=True)).response_stream  # noqa: SLF001
        return _empty_response()

    def _path(self, path: str) -> str:
        if not self.is_streaming:
            return path
        method, _, query = path.partition("?")
        return f"{method.removesuffix(':generateContent')}:streamGenerateContent?alt=sse{'&' * bool(query)}{query}"


def _empty_response() -> Any:
    return importlib.import_module("google.genai.types").HttpResponse(headers={}, body="")


def google_options(timeout: float, headers: Mapping[str, str] = NO_FIELDS) -> Any:
    """Return the SDK's options of one request: its timeout, its headers, and no retries."""
    types = importlib.import_module("google.genai.types")
    # In milliseconds. The SDK takes 0 for no limit.
    own: dict[str, Any] = {"headers": dict(headers)} if headers else {}
    return types.HttpOptions(timeout=max(1, int(timeout * 1000)), retry_options={"attempts": 1}, **own)


def _http_view(http: Any, transfer: HttpTransfer) -> Any:
    return make_view(http, _AsyncHttpView if hasattr(http, "aclose") else _HttpView, transfer)


class _BaseHttpView(RequestView):
    """The part of a view of an HTTP client that does not depend on its kind."""

    __slots__ = ()

    def _merge_url(self, url: Any) -> Any:
        """Return the URL object of a request. The SDKs pass whole URLs as text, mostly the same one."""
        parent: Any = super()
        if url.__class__ is not str or not _PLAIN_URL.fullmatch(url):
            return parent._merge_url(url)  # noqa: SLF001  the client's
        return _keep_url((type(self), url), None, partial(parent._merge_url, url))  # noqa: SLF001


class _HttpView(_BaseHttpView):
    """A view of an ``httpx2.Client``."""

    __slots__ = ()

    def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        """Send a request without following redirects; may raise ``ResponseRejected``."""
        _start_transfer(request, self.transfer)
        client: Any = super()
        response = client.send(request, **{**options, "stream": True, "follow_redirects": False})
        try:
            if response.history or response.extensions.get(TRANSFER_KEY) is not self.transfer:
                _check_response(response, self.transfer, _ResponseView)  # a client of another kind
            if not stream or self.transfer.is_error:
                content = response.read()
                if not self.transfer.received:  # its pieces were not counted
                    self.transfer.count_piece(content)
        except BaseException:
            response.close()
            raise
        return response

    def _send_single_request(self, request: Any) -> Any:
        """Check each response, and read an error, before a hook or an auth flow of the caller's gets it."""
        client: Any = super()
        try:
            response = client._send_single_request(request)  # noqa: SLF001
        except Exception as error:
            from emitter.adapters.stale_connections import was_closed_before  # noqa: PLC0415  few requests fail

            if not self.transfer.may_repeat or not was_closed_before(error):
                raise
            response = client._send_single_request(request)  # noqa: SLF001
        try:
            _check_response(response, self.transfer, _ResponseView)
            if self.transfer.is_error:
                _note_proxy(request, client, self.transfer)
                response.read()
        except BaseException:
            response.close()
            raise
        return response


class _AsyncHttpView(_BaseHttpView):
    """A view of an ``httpx2.AsyncClient``."""

    __slots__ = ()

    async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        """Send a request without following redirects; may raise ``ResponseRejected``."""
        _start_transfer(request, self.transfer)
        client: Any = super()
        response = await client.send(request, **{**options, "stream": True, "follow_redirects": False})
        try:
            if response.history or response.extensions.get(TRANSFER_KEY) is not self.transfer:
                _check_response(response, self.transfer, _AsyncResponseView)  # a client of another kind
            if not stream or self.transfer.is_error:
                content = await response.aread()
                if not self.transfer.received:  # its pieces were not counted
                    self.transfer.count_piece(content)
        except BaseException:
            await response.aclose()
            raise
        return response

    async def _send_single_request(self, request: Any) -> Any:
        """Check each response, and read an error, before a hook or an auth flow of the caller's gets it."""
        client: Any = super()
        try:
            response = await client._send_single_request(request)  # noqa: SLF001
        except Exception as error:
            from emitter.adapters.stale_connections import was_closed_before  # noqa: PLC0415  few requests fail

            if not self.transfer.may_repeat or not was_closed_before(error):
                raise
            response = await client._send_single_request(request)  # noqa: SLF001
        try:
            _check_response(response, self.transfer, _AsyncResponseView)
            if self.transfer.is_error:
                _note_proxy(request, client, self.transfer)
                await response.aread()
        except BaseException:
            await response.aclose()
            raise
        return response

    def _transport_for_url(self, url: Any) -> Any:
        from emitter.adapters.event_loops import transport_for_loop  # noqa: PLC0415  only async clients need it

        client: Any = super()
        return transport_for_loop(client._transport_for_url(url))  # noqa: SLF001

    def _client_for_running_loop(self) -> Any:
        """Return a view of the client that google's keeps for the running loop."""
        from emitter.adapters.event_loops import (  # noqa: PLC0415  only async clients need it
            drop_connections_of_closed_loops,
        )

        drop_connections_of_closed_loops()
        client: Any = super()
        return _http_view(client._client_for_running_loop(), self.transfer)  # noqa: SLF001


def _start_transfer(request: Any, transfer: HttpTransfer) -> None:
    transfer.request = SentRequest(request.url, request.headers)  # its body refers to the transfer
    if not isinstance(request.stream, _UploadView):
        request.stream = make_view(request.stream, _UploadView, transfer)


def _note_proxy(request: Any, client: Any, transfer: HttpTransfer) -> None:
    """Keep the address of the proxy that may have answered a request itself, as it can if nothing is encrypted."""
    if request.url.scheme == "http":
        from emitter.adapters.proxies import forwarding_proxy  # noqa: PLC0415  few requests fail

        address = forwarding_proxy(client._transport_for_url(request.url))  # noqa: SLF001
        transfer.proxy = None if address is None else (address, str(request.url))


class _UploadView(RequestView):
    """The body of a request. Reading it means that the vendor may receive the request."""

    __slots__ = ()

    def __iter__(self) -> Iterator[bytes]:
        self.transfer.is_uploaded = True
        stream: Any = super()
        return cast("Iterator[bytes]", stream.__iter__())

    def __aiter__(self) -> AsyncIterator[bytes]:
        self.transfer.is_uploaded = True
        stream: Any = super()
        return cast("AsyncIterator[bytes]", stream.__aiter__())


def _check_response(response: Any, transfer: HttpTransfer, mixin: type) -> None:
    """Start counting the response's body; raise ``ResponseRejected`` for a redirect."""
    transfer.status, transfer.headers = response.status_code, response.headers
    if _FIRST_REDIRECT <= response.status_code < _FIRST_ERROR_STATUS or response.history:
        message = f"The server answered with a redirect ({response.status_code}), which is not followed."
        hint = "Set base_url to the address that serves the API."
        raise ResponseRejected(Fault(FaultKind.BAD_REQUEST, f"{message} {hint}", response.status_code))
    if "content-encoding" in response.headers:
        _check_codings(response)
    # RFC 9110, section 6.6.1: the recipient of a response without a Date header records the time of receipt.
    if "retry-after" in response.headers and parse_http_date(response.headers.get("date")) is None:
        response.headers["date"] = formatdate(usegmt=True)
    transfer.received = 0
    response.extensions[TRANSFER_KEY] = transfer
    response.__class__ = _view_type(mixin, response.__class__)


_COMPRESSIONS = frozenset({"br", "compress", "dcb", "dcz", "deflate", "gzip", "x-compress", "x-gzip", "zstd"})
"""The compressions that IANA registers. Some servers name other things in this header, such as a charset."""


def _check_codings(response: Any) -> None:
    """Raise ``ResponseRejected`` for a compression that the HTTP library does not read and would pass on as the body.

    Source: ``SUPPORTED_DECODERS`` in httpx2 2.16.2 (``_decoders.py``), which has br and zstd only with their packages.
    """
    codings = {each.strip().lower() for each in response.headers["content-encoding"].split(",")}
    unread = codings & _COMPRESSIONS - importlib.import_module("httpx2._decoders").SUPPORTED_DECODERS.keys()
    if unread:
        message = f"The response is compressed with {', '.join(sorted(unread))}, which httpx2 cannot read here."
        hint = "Install httpx2[brotli,zstd], or set the client's header Accept-Encoding to gzip."
        raise ResponseRejected(Fault(FaultKind.PROTOCOL, f"{message} {hint}", response.status_code))


class _ResponseView:
    """A response whose body is counted while it is read.

    It has no slots, so that ``__class__`` of an existing response can be set to it. httpx2 decompresses at most 1 MiB
    at a time (``httpx2._decoders.MAX_DECODE_CHUNK_SIZE``).
    """

    extensions: dict[str, Any]

    def iter_bytes(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """Yield the pieces of the body; may raise ``ResponseRejected``."""
        response: Any = super()
        transfer: HttpTransfer = self.extensions[TRANSFER_KEY]
        transfer.received = 0
        transfer.error_body.clear()
        for piece in response.iter_bytes(chunk_size):
            transfer.count_piece(piece)
            yield piece


class _AsyncResponseView:
    """The async counterpart of ``_ResponseView``."""

    extensions: dict[str, Any]

    async def aiter_bytes(self, chunk_size: int | None = None) -> AsyncIterator[bytes]:
        """Yield the pieces of the body; may raise ``ResponseRejected``."""
        response: Any = super()
        transfer: HttpTransfer = self.extensions[TRANSFER_KEY]
        transfer.received = 0
        transfer.error_body.clear()
        async for piece in response.aiter_bytes(chunk_size):
            transfer.count_piece(piece)
            yield piece


LimitedClient = NewType("LimitedClient", object)
"""A view of an SDK client that ``limit_client`` returned. It refuses redirects and limits sizes."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that is sent as a form.

    Attributes:
        name: The name of the file.
        content: The bytes of the file.
        media_type: The type of the file.
        fields: The other fields of the form.
    """

    name: str
    content: bytes
    media_type: str
    fields: Mapping[str, str] = NO_FIELDS


class HttpRequest(NamedTuple):
    """One request to a vendor's API.

    Attributes:
        method: ``"get"`` or ``"post"``.
        path: The path below the base URL of the client.
        body: A JSON object, JSON that is encoded already, a file, or None.
        headers: Headers in addition to those of the client.
        params: Query parameters.
        is_streamed: Return the response as soon as its headers arrive, with its body unread.
    """

    method: str
    path: str
    body: Mapping[str, Json] | bytes | Upload | None = None
    headers: Mapping[str, str] = NO_FIELDS
    params: Mapping[str, str | int] = NO_FIELDS
    is_streamed: bool = False


_STREAMED = {"X-Stainless-Raw-Response": "stream"}
"""Returns the response as soon as its headers arrive (``RAW_RESPONSE_HEADER``, openai 3.52.0, anthropic 2.11.0)."""


def send_request(client: LimitedClient, request: HttpRequest, timeout: float) -> Any:
    """Send a request.

    All requests to vendors' APIs are sent here. The client keeps control of credentials, base URL and the rewriting for
    Azure, Bedrock and Vertex. Its retries are switched off, because the policy owns retries.

    Returns:
        The ``httpx2`` response, or an awaitable of it from an async client. ``parse_sdk_response`` and ``read_object``
        read it strictly.
    """
    if isinstance(view := cast("object", client), GoogleClientView):
        return view.send(request, timeout)
    import httpx2  # noqa: PLC0415  the SDK has loaded it; the core must not

    sdk: Any = client
    options = {**_default_options(sdk.__class__), "timeout": timeout, "max_retries": 0, "follow_redirects": False}
    headers = dict(request.headers)
    if request.is_streamed:
        headers |= _STREAMED
    if isinstance(request.body, Upload):
        headers["Content-Type"] = "multipart/form-data"  # the SDK adds the boundary
    if headers:
        options["headers"] = headers
    if request.params:
        options["params"] = dict(request.params)
    send = sdk.post if request.method == "post" else sdk.get
    return send(request.path, cast_to=httpx2.Response, options=options, **_encode_body(client, request.body))


@lru_cache(maxsize=64)
def _default_options(client: type) -> dict[str, Any]:
    """Return the defaults of an SDK's request options that it copies deeply for each request, unless they are passed.

    Source: ``FinalRequestOptions`` in openai 3.57.0 and anthropic 2.14.0 (``_models.py``).
    """
    modules = [sys.modules[each.__module__] for each in client.__mro__ if each.__name__ == "BaseClient"]
    options = [module.FinalRequestOptions for module in modules if hasattr(module, "FinalRequestOptions")]
    defaults = {name: each.default for model in options for name, each in model.model_fields.items()}
    return {
        name: value for name, value in defaults.items() if isinstance(value, dict) or type(value).__name__ == "NotGiven"
    }


def _encode_body(client: object, body: Mapping[str, Json] | bytes | Upload | None) -> dict[str, Any]:
    """Return the SDK's arguments for a body.

    The SDKs take several times as long to serialize JSON, but the clients of other clouds change it first.
    """
    if body is None:
        return {}
    if isinstance(body, bytes):
        return {"content": body}
    if isinstance(body, Upload):
        return {"body": dict(body.fields), "files": [("file", (body.name, body.content, body.media_type))]}
    return {"content": to_json(body)} if type(client).__name__ in _PLAIN_CLIENTS else {"body": body}


def post(
    path: str, client: LimitedClient, body: Mapping[str, Json], timeout: float, headers: Mapping[str, str] = NO_FIELDS
) -> object:
    """Post JSON to a path, and return the response with its body read."""
    return send_request(client, HttpRequest("post", path, body, headers), timeout)


def post_streamed(
    path: str, client: LimitedClient, body: Mapping[str, Json], timeout: float, headers: Mapping[str, str] = NO_FIELDS
) -> object:
    """Post JSON to a path, and return the unread response."""
    return send_request(client, HttpRequest("post", path, body, headers, is_streamed=True), timeout)
