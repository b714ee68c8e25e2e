"""Send through a boto3 client of Amazon Bedrock, without its retries and with a limit on response size.

boto3 blocks, so async calls send from threads. The type of an error is written into its body, and an event stream is
converted to server-sent events, so that both can be parsed like the responses of other providers.

Source: botocore 1.44.5 (``client.py``, ``endpoint.py``, ``httpsession.py``, ``eventstream.py``); urllib3 2.8.0.
"""

from __future__ import annotations

import asyncio
import contextvars
import importlib
import json
import os
import threading
import time
from contextlib import suppress
from email.utils import formatdate
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from emitter.adapters.environment import check_boto3_proxy, check_key_log
from emitter.adapters.proxies import find_hop, proxy_address
from emitter.adapters.response_decoding import make_protocol_fault
from emitter.adapters.transport import AsyncBedrockClient, RequestView, ResponseRejected, SignedRequest, make_view
from emitter.adapters.watchdog import Watch
from emitter.deadline import Deadline
from emitter.errors import InputError, MissingKey
from emitter.messages import Fault, FaultKind, as_mapping
from emitter.outside_values import parse_http_date, parse_int

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping

    from emitter.adapters.transport import HttpTransfer
    from emitter.messages import Json

ResultT = TypeVar("ResultT")
_FIRST_SUCCESS, _FIRST_REDIRECT, _FIRST_ERROR = 200, 300, 400
_ERROR_TYPE = "x-amzn-errortype"
EVENT_STREAM = "application/vnd.amazon.eventstream"


_CONNECTIONS = 100
"""Connections that a client keeps open, as many as threads may send at once without opening new ones."""
_ANY_REGION = "us-east-1"
"""The region of a client with a base URL, which needs none but has to sign with one."""


def create_bedrock_client(service: str, api_key: str | None, url: str | None, http_client: object) -> object:
    """Return a boto3 client, which finds its region and credentials as boto3 does.

    Args:
        service: The name of the service.
        api_key: A Bedrock API key, sent as a bearer token instead of a signature. Without TLS, where botocore sends no
            tokens, requests are signed with it.
        url: The address of the service, if it is not that of the region.
        http_client: An ``httpx2.Client`` to send through instead of urllib3.

    Raises:
        MissingKey: There are no credentials, or there is no region.
    """
    check_key_log()
    session = _botocore("session").Session()
    session.register_component("data_loader", _data_loader(session.get_config_variable("data_path")))
    region = session.get_config_variable("region") or os.environ.get("AWS_REGION") or (_ANY_REGION if url else None)
    if region is None:
        raise MissingKey("No region for Amazon Bedrock was found.", hint="Set AWS_REGION, or pass client=.")
    is_bearer = api_key is not None and not (url or "").startswith("http:")
    if is_bearer:
        token = _botocore("tokens").FrozenAuthToken(api_key)
        session.get_auth_token, session.get_credentials = partial(_constant, token), partial(_constant, None)
    elif api_key is not None:
        session.set_credentials(api_key, api_key)
    elif not os.environ.get("AWS_BEARER_TOKEN_BEDROCK") and session.get_credentials() is None:
        hint = "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE or AWS_BEARER_TOKEN_BEDROCK."
        raise MissingKey("No credentials for Amazon Bedrock were found.", hint=hint)
    config = _botocore("config").Config(
        retries={"total_max_attempts": 1},
        max_pool_connections=_CONNECTIONS,
        **({"signature_version": "bearer"} if is_bearer else {}),
    )
    client = session.create_client(service, region_name=region, endpoint_url=url, config=config)
    if http_client is None:
        check_boto3_proxy(client.meta.endpoint_url)
    else:
        client._endpoint.http_session = HttpxSession(http_client)  # noqa: SLF001  botocore has no argument for it
    return client


@lru_cache(maxsize=4)
def _data_loader(path: str | None) -> Any:
    """Return a loader of botocore's descriptions of services. All clients share it, because reading them is slow."""
    return _botocore("loaders").create_loader(path)


def _constant(value: ResultT, **_options: object) -> ResultT:
    return value


def _botocore(module: str) -> Any:
    """Return a module of botocore, which is optional and has no type stubs."""
    return importlib.import_module(f"botocore.{module}")


class HttpxSession:
    """Sends what botocore signed through an ``httpx2`` client, in the place of botocore's own HTTP session."""

    timeout: float | None = None

    def __init__(self, client: Any) -> None:
        self.client = client

    def send(self, request: Any) -> Any:
        """Send a request and return its response unread."""
        headers = {
            name: value.decode() if isinstance(value, bytes) else value for name, value in request.headers.items()
        }
        built = self.client.build_request(
            request.method, request.url, headers=headers, content=request.body, timeout=self.timeout
        )
        response = self.client.send(built, stream=True, follow_redirects=False)
        return _botocore("awsrequest").AWSResponse(
            request.url, response.status_code, response.headers, _HttpxBody(response)
        )

    def close(self) -> None:
        """Leave the client open, which belongs to the caller."""


class _HttpxBody:
    """The body of an ``httpx2`` response with the methods of urllib3."""

    def __init__(self, response: Any) -> None:
        self.close = response.close
        self.stream = response.iter_bytes
        self.history = response.history


class BedrockView:
    """A view of a boto3 client that sends one request and returns its unparsed HTTP response."""

    def __init__(self, client: Any, transfer: HttpTransfer) -> None:
        self._is_async = isinstance(client, AsyncBedrockClient)
        self._client = client.client if isinstance(client, AsyncBedrockClient) else client
        self._transfer = transfer

    def post(self, operation: str, arguments: Mapping[str, Json], timeout: float) -> object:
        """Call an operation and return the response, or an awaitable of it from an async client.

        The body of a stream is left unread. boto3 raises its own exception for a response with the status of an error.
        """
        send = partial(self._send, operation, dict(arguments), timeout)
        return run_in_thread(send) if self._is_async else send()

    def _send(self, operation: str, arguments: dict[str, Json], timeout: float) -> BedrockResponse:
        view = make_view(self._client, _ClientView, self._transfer)
        view._endpoint = endpoint = make_view(self._client._endpoint, _EndpointView, self._transfer)  # noqa: SLF001
        endpoint.timeout, endpoint.response = timeout, None
        try:
            view._make_api_call(operation, arguments)  # noqa: SLF001  what every method of a client calls
        except _botocore("exceptions").ParamValidationError as error:
            raise InputError(f"boto3 does not accept the request: {error}") from None
        response: BedrockResponse | None = endpoint.response
        if response is None:
            raise InputError("client= answered without sending a request.", hint="Remove its event handlers.")
        return response


class _ClientView(RequestView):
    """A view of a boto3 client."""

    __slots__ = ("_endpoint",)
    _endpoint: Any


class _EndpointView(RequestView):
    """A view of the endpoint inside a boto3 client, which signs and sends requests."""

    __slots__ = ("response", "timeout")
    timeout: float
    response: BedrockResponse | None

    def _needs_retry(self, *_arguments: object, **_options: object) -> bool:
        """Switch off the retries of the client's configuration."""
        return False

    def _send(self, request: Any) -> Any:
        """Send a signed request; keep the response and return an empty one for botocore to parse.

        A response with the status of an error is returned as it is.
        """
        is_stream, request.stream_output = request.stream_output, True  # botocore would read the body without a limit
        self.transfer.request = SignedRequest(dict(request.headers))
        original: Any = self
        session = make_view(original.http_session, _SessionView, self.transfer)
        session.timeout = self.timeout
        self.transfer.is_uploaded, self.transfer.proxy = True, _find_proxy(session, request.url)
        try:
            raw = session.send(request)
        except Exception as error:
            self.transfer.is_uploaded = not _is_unconnected(error, self.transfer)
            raise
        response = BedrockResponse(raw, self.transfer)
        try:
            if not is_stream or response.status_code >= _FIRST_REDIRECT:
                response.read()
        except BaseException:
            response.close()
            raise
        if response.status_code >= _FIRST_REDIRECT:
            return response.raw
        self.response = response
        return _empty_response(request.url)


def _find_proxy(session: Any, url: str) -> tuple[str, str] | None:
    """Return the address of the proxy that a session of botocore sends a request through, and the request's URL."""
    config = getattr(session, "_proxy_config", None)
    proxy = None if config is None else config.proxy_url_for(url)
    address = None if proxy is None else proxy_address(proxy)
    return None if address is None else (address, url)


def _is_unconnected(error: Exception, transfer: HttpTransfer) -> bool:
    """Return whether there was no connection to send through. ``HttpxSession`` raises the exceptions of httpx2."""
    is_boto = isinstance(error, _botocore("exceptions").ConnectionError)
    if is_boto or type(error).__name__ in {"ConnectError", "ConnectTimeout", "PoolTimeout"}:
        return True
    hop = None if transfer.proxy is None else find_hop(error, transfer)
    return hop is not None and not hop.has_passed


class _SessionView(RequestView):
    """A view of botocore's HTTP session with a timeout of its own for one request."""

    __slots__ = ("timeout",)
    timeout: float

    def _get_request_timeout(self, _request: object) -> object:
        from urllib3 import Timeout  # noqa: PLC0415  botocore has loaded it

        return Timeout(connect=self.timeout, read=self.timeout)


def _empty_response(url: str) -> Any:
    response = _botocore("awsrequest").AWSResponse(url, 200, {}, None)
    response._content = b""  # noqa: SLF001
    return response


class BedrockResponse:
    """An HTTP response of Bedrock, whose body is counted while it is read."""

    def __init__(self, raw: Any, transfer: HttpTransfer) -> None:
        self.raw = raw
        self.status_code: int = raw.status_code
        self.headers = {name.lower(): value for name, value in raw.headers.items()}
        if "retry-after" in self.headers and parse_http_date(self.headers.get("date")) is None:
            self.headers["date"] = formatdate(usegmt=True)  # RFC 9110, section 6.6.1: the time of receipt
        self.content = b""
        self._transfer = transfer
        transfer.status, transfer.headers = self.status_code, self.headers
        if self.status_code < _FIRST_SUCCESS:
            # http.client skips 100 only. The answer to this request would be read as the answer to the next one.
            self.close()
            problem = f"its status is that of an informational response ({self.status_code})"
            raise ResponseRejected(make_protocol_fault(problem))
        if _FIRST_REDIRECT <= self.status_code < _FIRST_ERROR or getattr(raw.raw, "history", ()):
            self.close()
            message = f"The server answered with a redirect ({self.status_code}), which is not followed."
            hint = "Set base_url to the address that serves the API."
            raise ResponseRejected(Fault(FaultKind.BAD_REQUEST, f"{message} {hint}", self.status_code))

    def read(self) -> None:
        """Read the body. Raises ``ResponseRejected`` if it is too large."""
        content = self.raw._content = b"".join(self._iter_body())  # noqa: SLF001
        is_error = self.status_code >= _FIRST_ERROR or _ERROR_TYPE in self.headers
        self.content = with_error_type(content, self.headers) if is_error else content
        if self.status_code >= _FIRST_ERROR:
            self._transfer.error_body = bytearray(self.content)

    def _iter_body(self) -> Iterator[bytes]:
        for piece in self.raw.raw.stream():
            self._transfer.count_piece(piece)
            yield piece
        self._check_length(self._transfer.received)

    def _check_length(self, received: int) -> None:
        """Raise botocore's exception for a body that was cut short, which botocore itself does not check."""
        expected = parse_int(self.headers.get("content-length"))
        if expected is not None and received < expected:
            raise _botocore("exceptions").IncompleteReadError(actual_bytes=received, expected_bytes=expected)

    def iter_bytes(self) -> Iterator[bytes]:
        """Yield the events as server-sent events. Any other body is yielded unchanged."""
        if not self.headers.get("content-type", "").startswith(EVENT_STREAM):
            yield from self._iter_body()
            return
        yield from filter(None, as_server_sent_events(self._iter_body()))

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        """Yield the events as ``iter_bytes`` does, and read each piece in a thread."""
        pieces = self.iter_bytes()
        while (piece := await run_in_thread(partial(next, pieces, None))) is not None:
            yield piece

    def close(self) -> None:
        """Close the connection, unless the body was read to its end. A thread that reads from it is woken."""
        with suppress(AttributeError, OSError, RuntimeError, ValueError):  # it is closed or back in its pool
            self.raw.raw.shutdown()
        with suppress(AttributeError, OSError):
            self.raw.raw.close()

    async def aclose(self) -> None:
        """Close the connection."""
        self.close()


def with_error_type(content: bytes, headers: Mapping[str, str]) -> bytes:
    """Return the body of an error with the type that its header names."""
    kind = headers.get(_ERROR_TYPE, "").partition(":")[0]
    try:
        body = as_mapping(json.loads(content))
    except (ValueError, RecursionError):
        return content
    kind = kind or str(body.get("__type", "")).rpartition("#")[2]
    return json.dumps({"error": {**body, "message": _message(body), "type": kind}} if kind else body).encode()


def _message(body: Mapping[str, Json]) -> Json:
    return body.get("message") or body.get("Message")


def as_server_sent_events(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the events that each piece of an event stream completes, as server-sent events.

    Raises botocore's exceptions for a frame that is damaged, cut off, or not an event.
    """
    eventstream = _botocore("eventstream")
    buffer, unread = eventstream.EventStreamBuffer(), 0
    for piece in pieces:
        buffer.add_data(piece)
        unread += len(piece)
        events: list[bytes] = []
        try:
            for message in buffer:
                unread -= message.prelude.total_length
                events.append(_as_server_sent_event(message))
        finally:  # what came before a damaged frame counts, too
            if events:
                yield b"".join(events)
    if unread:
        raise eventstream.ParserError("The stream ends inside a frame.")


def _as_server_sent_event(message: Any) -> bytes:
    """Return an event in the form in which boto3 yields it, ``{"messageStop": {…}}``, and an exception as an error."""
    headers, payload = message.headers, message.payload or b"{}"
    match headers.get(":message-type"):
        case "event":
            _check_object(payload)
            name = json.dumps(headers.get(":event-type")).encode()
            # JSON has line breaks between its tokens only.
            return b"data: {%b: %b}\n\n" % (name, payload.replace(b"\n", b" ").replace(b"\r", b" "))
        case "exception":
            error = _parse_exception(headers.get(":exception-type", ""), payload)
        case _:
            error = {"type": headers.get(":error-code"), "message": headers.get(":error-message")}
    return b"event: error\ndata: %b\n\n" % json.dumps({"error": error}).encode()


def _check_object(payload: bytes) -> None:
    """Raise botocore's exception unless a payload is one JSON object, which can then be written into another."""
    try:
        is_object = isinstance(json.loads(payload), dict)
    except (ValueError, RecursionError):
        is_object = False
    if not is_object:
        raise _botocore("eventstream").ParserError("The payload of an event is not a JSON object.")


def _parse_exception(name: str, payload: bytes) -> dict[str, Json]:
    """Return an exception of a stream, whose name differs from that of an error response in its first letter."""
    try:
        body = as_mapping(json.loads(payload))
    except (ValueError, RecursionError):
        body = as_mapping(None)
    return {**body, "message": _message(body), "type": f"{name[:1].upper()}{name[1:]}"}


async def run_in_thread(function: Callable[[], ResultT]) -> ResultT:
    """Run a function that blocks for a request in a daemon thread.

    If the caller is cancelled, for example at its deadline, the request ends, and the thread with it.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[ResultT] = loop.create_future()
    watch = Watch(Deadline(None, time.monotonic))

    def run() -> None:
        result: ResultT | None = None
        try:
            with watch:
                result = function()
            settle = partial(future.set_result, result)
        except BaseException as error:  # noqa: BLE001  raised where the function is awaited
            settle = partial(future.set_exception, error)

        def settle_if_awaited() -> None:
            if not future.done():
                settle()
            elif isinstance(result, BedrockResponse):
                result.close()

        with suppress(RuntimeError):  # the loop is closed, so nothing awaits the future
            loop.call_soon_threadsafe(settle_if_awaited)

    threading.Thread(target=contextvars.copy_context().run, args=(run,), name="emitter-bedrock", daemon=True).start()
    try:
        return await future
    except asyncio.CancelledError:
        watch.end()
        raise
