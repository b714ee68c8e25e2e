"""Decide whose failure an exception of a call is, once and from where it came.

- The vendor: an HTTP response with the status of an error, or one that cannot be read.
- The transport: the exceptions by which the SDKs and their HTTP libraries report connections, TLS and timeouts.
- The caller: any other exception whose traceback passes through code that belongs to none of them, such as a hook, an
  auth flow, a transport, a middleware or a token provider of the client, and whatever prevents a request from being
  sent.
- The store and emitter itself: their own exceptions, which are raised again.

The first two become the ``Fault`` that the profile or the tables here name. A failure of the caller's is a fault of the
kind ``CLIENT``, which is never sent again. Its exception is the cause.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from emitter.adapters.clients import remove_credentials
from emitter.adapters.http_response import ResponseHead, parse_response
from emitter.adapters.proxies import describe_way, find_hop, make_proxy_fault
from emitter.adapters.transport import ResponseRejected
from emitter.adapters.watchdog import package_of
from emitter.errors import EmitterError, StoreFailed, UnexpectedRequest
from emitter.messages import ExpectedAnswer, Fault, FaultKind, ProviderErrorDetails

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import FrameType

    from emitter.adapters.transport import HttpTransfer
    from emitter.messages import CallResult
    from emitter.profiles.model import Profile, WireFormat

_SDKS = frozenset({"openai", "anthropic", "google", "boto3", "botocore"})
_HTTP_LIBRARIES = frozenset(
    {"httpx2", "httpcore2", "httpx", "httpcore", "h11", "h2", "hpack", "hyperframe", "socksio", "truststore", "certifi"}
    | {"urllib3", "aiohttp", "idna", "brotli", "brotlicffi", "backports", "zstandard"}
)
_EVENT_LOOPS = frozenset({"asyncio", "anyio", "sniffio", "trio", "uvloop"})
_SDK_DEPENDENCIES = frozenset(
    {"tenacity", "pydantic", "pydantic_core", "typing_extensions", "distro", "jiter", "docstring_parser", "requests"}
    | {"websockets", "jmespath", "dateutil", "s3transfer", "cryptography", "OpenSSL"}
)
_OTHER_CODE = _SDKS | _SDK_DEPENDENCIES | _HTTP_LIBRARIES | _EVENT_LOOPS | sys.stdlib_module_names | {"emitter"}
"""The packages whose frames do not belong to the caller."""

_TRANSPORT_FAULTS: Mapping[tuple[str, str], FaultKind] = MappingProxyType(
    {
        ("openai", "APITimeoutError"): FaultKind.TIMEOUT,
        ("openai", "APIConnectionError"): FaultKind.CONNECTION,
        ("anthropic", "APITimeoutError"): FaultKind.TIMEOUT,
        ("anthropic", "APIConnectionError"): FaultKind.CONNECTION,
        ("httpx2", "TimeoutException"): FaultKind.TIMEOUT,
        ("httpx2", "DecodingError"): FaultKind.PROTOCOL,
        ("httpx2", "UnsupportedProtocol"): FaultKind.CLIENT,
        ("httpx2", "TransportError"): FaultKind.CONNECTION,
        ("httpx", "TimeoutException"): FaultKind.TIMEOUT,
        ("httpx", "DecodingError"): FaultKind.PROTOCOL,
        ("httpx", "UnsupportedProtocol"): FaultKind.CLIENT,
        ("httpx", "TransportError"): FaultKind.CONNECTION,
        ("botocore", "ConnectTimeoutError"): FaultKind.TIMEOUT,
        ("botocore", "ReadTimeoutError"): FaultKind.TIMEOUT,
        ("botocore", "ConnectionError"): FaultKind.CONNECTION,
        ("botocore", "HTTPClientError"): FaultKind.CONNECTION,
        ("botocore", "IncompleteReadError"): FaultKind.CONNECTION,
        ("botocore", "ParserError"): FaultKind.PROTOCOL,
        ("botocore", "NoCredentialsError"): FaultKind.AUTHENTICATION,
        ("botocore", "PartialCredentialsError"): FaultKind.AUTHENTICATION,
        ("botocore", "CredentialRetrievalError"): FaultKind.AUTHENTICATION,
        ("botocore", "NoAuthTokenError"): FaultKind.AUTHENTICATION,
        ("botocore", "TokenRetrievalError"): FaultKind.AUTHENTICATION,
        ("botocore", "SSOError"): FaultKind.AUTHENTICATION,
        ("urllib3", "TimeoutError"): FaultKind.TIMEOUT,
        ("urllib3", "HTTPError"): FaultKind.CONNECTION,
        ("aiohttp", "ServerTimeoutError"): FaultKind.TIMEOUT,
        ("aiohttp", "ClientError"): FaultKind.CONNECTION,
        ("google", "UnknownApiResponseError"): FaultKind.PROTOCOL,
        ("google", "TransportError"): FaultKind.CONNECTION,
        ("google", "GoogleAuthError"): FaultKind.AUTHENTICATION,
    }
)
"""The exceptions that report a failure of the transport, wherever they are raised: a transport of the caller's reports
its own failures by those of httpx2."""
_BUILTIN_FAULTS: Mapping[tuple[str, str], FaultKind] = MappingProxyType(
    {
        ("json", "JSONDecodeError"): FaultKind.PROTOCOL,
        ("builtins", "TimeoutError"): FaultKind.TIMEOUT,
        ("builtins", "FileNotFoundError"): FaultKind.CLIENT,
        ("builtins", "PermissionError"): FaultKind.CLIENT,
        ("builtins", "IsADirectoryError"): FaultKind.CLIENT,
        ("builtins", "NotADirectoryError"): FaultKind.CLIENT,
        ("builtins", "OSError"): FaultKind.CONNECTION,
        ("anyio", "EndOfStream"): FaultKind.CONNECTION,
    }
)
"""Exceptions that mean this only if no code of the caller's raised them."""
_WRAPPERS = frozenset({("openai", "APIConnectionError"), ("anthropic", "APIConnectionError")})
"""The SDKs raise these from any exception of their HTTP client, also from one that the caller's code raised."""
_INVALID_REQUEST = ("h11", "LocalProtocolError")
"""The request has a part that HTTP does not allow, such as a line break in a header."""
_PROXY_STATUS = 407
"""Only proxies answer so."""
_OWN_ERRORS = (StoreFailed, UnexpectedRequest)
"""Errors of emitter that say whose failure it is, wherever they are raised."""
_MESSAGES: Mapping[FaultKind, str] = MappingProxyType(
    {
        FaultKind.TIMEOUT: "The vendor did not answer in time.",
        FaultKind.CONNECTION: "The connection to the vendor could not be made or was cut.",
        FaultKind.PROTOCOL: "The vendor's response cannot be read.",
        FaultKind.AUTHENTICATION: "The client found no valid credentials.",
        FaultKind.CLIENT: "The client could not send the request.",
    }
)


def parse_failure(profile: Profile, wire: WireFormat, error: Exception, transfer: HttpTransfer) -> CallResult:
    """Return the result of a call that raised an exception. The module says whose failure it is.

    Errors of a store and of emitter itself are raised again.
    """
    raised = _unwrap(error)
    frame = _find_caller_frame(raised)
    if isinstance(raised, EmitterError) and (frame is None or isinstance(raised, _OWN_ERRORS)):
        raise raised
    if frame is not None and not _is_report(raised, transfer):
        return caller_fault(raised, transfer.status)
    hop = find_hop(error, transfer)
    if hop is not None and (not hop.has_passed or hop.status == _PROXY_STATUS):
        return _with_cause(make_proxy_fault(hop, error), error)
    rejected = raised.fault if isinstance(raised, ResponseRejected) else None
    try:
        result = _parse_transfer(profile, wire, transfer) or rejected or parse_exception(profile, wire, error)
    except Exception:  # noqa: BLE001  an odd error body may break its decoding
        result = None
    result = result or _make_unexpected_fault(raised, transfer)
    if hop is not None and isinstance(result, Fault) and not _is_of_vendor(result):
        result = replace(result, message=result.message + describe_way(hop))
    return _with_cause(result, error)


def _is_of_vendor(fault: Fault) -> bool:
    """Return whether an error has the vendor's own words, so that no proxy has made it."""
    return fault.status is not None and fault.report is not None and bool(fault.code or fault.report.code)


def _parse_transfer(profile: Profile, wire: WireFormat, transfer: HttpTransfer) -> CallResult | None:
    """Return the result of an error response, as far as its body arrived.

    It is preferred to the exception that an SDK made of the response.
    """
    if transfer.status is None or not transfer.is_error:
        return None
    text = transfer.error_body.decode("utf-8", "replace")
    return parse_response(
        profile, wire, ResponseHead(transfer.status, transfer.headers), text, expected=ExpectedAnswer()
    )


def parse_exception(profile: Profile, wire: WireFormat, error: Exception) -> CallResult | None:
    """Return the result of an exception of an SDK or HTTP library, or None for one of other code."""
    raised = _unwrap(error)
    if isinstance(raised, EmitterError):
        raise raised
    status, response = _answered_status(raised), getattr(raised, "response", None)
    if status is not None:
        headers: Mapping[str, str] = getattr(response, "headers", None) or {}
        head, text = ResponseHead(status, headers), _error_text(response, raised)
        return _with_cause(parse_response(profile, wire, head, text, expected=ExpectedAnswer()), error)
    kind = _find_kind(raised, _TRANSPORT_FAULTS) or _find_kind(raised, _BUILTIN_FAULTS)
    return None if kind is None else _with_cause(Fault(kind, _MESSAGES[kind] + _where_and_why(error)), error)


R = TypeVar("R", Fault, "CallResult")


def _with_cause(result: R, error: Exception) -> R:
    """Return the result with the exception, which callers get without the credentials of its request."""
    cause: Exception | None = error
    try:
        remove_credentials(error)
    except Exception:  # noqa: BLE001  an odd request of a client of another kind
        cause = None
    return replace(result, report=replace(result.report or ProviderErrorDetails(), cause=cause))


def _unwrap(error: Exception) -> Exception:
    """Return the exception that an SDK reported as a connection error."""
    while _names(error) & _WRAPPERS and isinstance(error.__cause__, Exception):
        error = error.__cause__
    return error


def _names(error: BaseException) -> set[tuple[str, str]]:
    return {(cls.__module__.partition(".")[0], cls.__name__) for cls in type(error).__mro__}


def _find_kind(error: BaseException, kinds: Mapping[tuple[str, str], FaultKind]) -> FaultKind | None:
    names = ((cls.__module__.partition(".")[0], cls.__name__) for cls in type(error).__mro__)
    kind = next((kinds[name] for name in names if name in kinds), None)
    is_invalid = kind is FaultKind.CONNECTION and any(_INVALID_REQUEST in _names(each) for each in _iter_causes(error))
    return FaultKind.CLIENT if is_invalid else kind


def _iter_causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and those that caused it."""
    while error is not None:
        yield error
        error = error.__cause__


def _is_report(error: Exception, transfer: HttpTransfer) -> bool:
    """Return whether an exception that passed the caller's code reports a failure of the vendor or the transport.

    A transport of the caller's raises httpx2's exceptions, and a hook may raise that of the response's status. Those of
    another request, such as one that a hook sends, say nothing about this one.
    """
    if isinstance(error, ResponseRejected):
        return True
    if _find_kind(error, _TRANSPORT_FAULTS) is not None:
        return not transfer.is_sent or _is_about(error, transfer)
    if _answered_status(error) is not None:
        return _is_about(error, transfer)
    frames = _frames(error)
    return type(error).__module__.partition(".")[0] in _SDKS and package_of(frames[-1]) in _OTHER_CODE


def _is_about(error: Exception, transfer: HttpTransfer) -> bool:
    """Return whether an exception is about the request of a transfer. One without a request is."""
    url = getattr(_request_of(error) or _request_of(getattr(error, "response", None)), "url", None)
    return url is None or url == getattr(transfer.request, "url", url)


def _request_of(holder: object) -> object:
    try:
        return getattr(holder, "request", None)
    except RuntimeError:  # raised by httpx2 if the request is not set
        return None


def _answered_status(error: Any) -> int | None:
    """Return the HTTP status of the response that an exception of an SDK or HTTP library reports."""
    if type(error).__module__.partition(".")[0] not in _SDKS | _HTTP_LIBRARIES:
        return None
    response = getattr(error, "response", None)
    codes = (getattr(response, "status_code", None), getattr(error, "status_code", None), getattr(error, "code", None))
    status = next((code for code in codes if isinstance(code, int)), None)
    return status if response is not None or hasattr(error, "details") else None


def _find_caller_frame(error: BaseException) -> FrameType | None:
    """Return the innermost frame of the caller's code in a traceback."""
    return next((frame for frame in reversed(_frames(error)) if package_of(frame) not in _OTHER_CODE), None)


def _frames(error: BaseException) -> list[FrameType]:
    frames: list[FrameType] = []
    traceback = error.__traceback__
    while traceback is not None:
        frames.append(traceback.tb_frame)
        traceback = traceback.tb_next
    return frames


def caller_fault(error: Exception, status: int | None = None) -> Fault:
    """Return the fault of an exception that the caller's code raised.

    It names the function. The exception's message is left out, because it may contain anything.
    """
    frame = _find_caller_frame(error)
    code = "Code of yours" if frame is None else f"{frame.f_globals.get('__name__')}.{frame.f_code.co_qualname}"
    fault = Fault(FaultKind.CLIENT, f"{code} raised {type(error).__name__} during the call.", status)
    return _with_cause(fault, error)


def _make_unexpected_fault(error: Exception, transfer: HttpTransfer) -> Fault:
    """Return the fault of an unknown exception of an SDK or HTTP library, named by the class of its root cause.

    After the request was sent, the response is what they cannot handle, unless an event loop raised the exception.
    """
    *_, root = _iter_causes(error)
    frames = _frames(root)
    is_loop = bool(frames) and package_of(frames[-1]) in _EVENT_LOOPS
    kind = FaultKind.PROTOCOL if transfer.is_sent and not is_loop else FaultKind.CLIENT
    message = f"{_MESSAGES[kind].removesuffix('.')} ({type(root).__name__})."
    if isinstance(root, UnicodeEncodeError) and not transfer.is_sent:
        character = f"U+{ord(root.object[root.start]):04X}"
        message = f"{message} A header, such as that of the key, has the character {character}."
    return Fault(kind, message, transfer.status)


def _error_text(response: Any, error: Any) -> str:
    """Return the body of an error; google's exceptions keep it even if the response was not read."""
    details = getattr(error, "details", None)
    if isinstance(details, str):
        return details
    if isinstance(details, dict | list):  # those of anthropic are an SDK object with a part of the body only
        return json.dumps(details)
    try:
        return str(getattr(response, "text", ""))
    except RuntimeError:  # raised by httpx2 if the body was not read
        return ""


def _where_and_why(error: BaseException) -> str:
    """Return the address and the operating system's message, such as "Connection refused", in brackets."""
    address = _address_of(error)
    is_own = isinstance(error, TimeoutError)  # raised at the deadline, whatever the ended request says of its end
    root: BaseException | None = None if is_own else error
    while root is not None and not (isinstance(root, OSError) and root.strerror):
        root = root.__cause__ or root.__context__
    reason = root.strerror if isinstance(root, OSError) else None
    detail = ": ".join(filter(None, (address, reason)))
    return f" ({detail})" if detail else ""


def _address_of(error: BaseException) -> str | None:
    """Return the scheme, host and port of an exception's request, without its path and credentials."""
    url: Any = getattr(_request_of(error), "url", None)
    try:
        return f"{url.scheme}://{url.netloc.decode('ascii')}"
    except (AttributeError, UnicodeDecodeError):
        return None
