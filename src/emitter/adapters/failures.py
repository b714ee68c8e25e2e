"""Decide whose failure an exception is, and convert it to a ``Fault``.

The body of an error response is preferred to the exception that an SDK made of it.
"""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from emitter.adapters.http_response import parse_response
from emitter.adapters.response_decoding import with_cause
from emitter.adapters.transport import ResponseRejected
from emitter.errors import EmitterError
from emitter.messages import Fault, FaultKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.adapters.transport import HttpTransfer
    from emitter.messages import CallResult
    from emitter.profiles.model import ProviderProfile, WireFormat

ExceptionT = TypeVar("ExceptionT", bound=BaseException)

_FAULT_KINDS: Mapping[tuple[str, str], FaultKind] = MappingProxyType(
    {
        ("openai", "APITimeoutError"): FaultKind.TIMEOUT,
        ("openai", "APIConnectionError"): FaultKind.CONNECTION,
        ("anthropic", "APITimeoutError"): FaultKind.TIMEOUT,
        ("anthropic", "APIConnectionError"): FaultKind.CONNECTION,
        ("httpx2", "TimeoutException"): FaultKind.TIMEOUT,
        ("httpx2", "DecodingError"): FaultKind.PROTOCOL,
        ("httpx2", "TransportError"): FaultKind.CONNECTION,
        ("httpx", "TimeoutException"): FaultKind.TIMEOUT,
        ("httpx", "DecodingError"): FaultKind.PROTOCOL,
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
        ("json", "JSONDecodeError"): FaultKind.PROTOCOL,
        ("builtins", "TimeoutError"): FaultKind.TIMEOUT,
    }
)
_WRAPPING_SDKS = ("openai", "anthropic")
_FAULT_MESSAGES: Mapping[FaultKind, str] = MappingProxyType(
    {
        FaultKind.TIMEOUT: "The vendor did not answer in time.",
        FaultKind.CONNECTION: "The connection to the vendor could not be made or was cut.",
        FaultKind.PROTOCOL: "The vendor's response cannot be read.",
        FaultKind.AUTHENTICATION: "The client found no valid credentials.",
    }
)


def parse_failure(profile: ProviderProfile, wire: WireFormat, error: Exception, transfer: HttpTransfer) -> CallResult:
    """Return the result of a call that raised an exception; emitter's own errors are raised again.

    The body of an error response is preferred to the exception. An unknown exception is a fault of the request if
    nothing was sent, and otherwise a fault of the response.
    """
    own_error = _find_cause(error, EmitterError)
    if own_error is not None:
        raise own_error
    rejected = _find_cause(error, ResponseRejected)
    try:
        result = _parse_transfer(profile, wire, transfer) or (rejected and rejected.fault)
        result = result or parse_exception(profile, wire, error)
    except Exception:  # noqa: BLE001  an odd error body may break its decoding
        result = None
    return with_cause(result or make_unexpected_fault(error, transfer.status, was_sent=transfer.is_sent), error)


def _parse_transfer(profile: ProviderProfile, wire: WireFormat, transfer: HttpTransfer) -> CallResult | None:
    """Return the result of an error response, as far as its body arrived."""
    if transfer.status is None or not transfer.is_error:
        return None
    text = transfer.error_body.decode("utf-8", "replace")
    return parse_response(profile, wire, transfer.status, transfer.headers, text)


def parse_exception(profile: ProviderProfile, wire: WireFormat, error: Exception) -> CallResult | None:
    """Return the result of an SDK's exception, or None if it did not come from the SDK."""
    result = _parse_exception(profile, wire, error)
    return None if result is None else with_cause(result, error)


def _parse_exception(profile: ProviderProfile, wire: WireFormat, error: Exception) -> CallResult | None:
    own_error = _find_cause(error, EmitterError)
    if own_error is not None:
        raise own_error
    raw = cast("Any", error)
    response = getattr(raw, "response", None)
    codes = (getattr(response, "status_code", None), getattr(raw, "status_code", None), getattr(raw, "code", None))
    status = next((code for code in codes if isinstance(code, int)), None)
    if status is not None and (response is not None or hasattr(raw, "details")):
        return parse_response(
            profile, wire, status, getattr(response, "headers", None) or {}, _error_text(response, raw)
        )
    return classify_exception(error)


def _find_cause(error: BaseException | None, kind: type[ExceptionT]) -> ExceptionT | None:
    """Return the exception of type ``kind`` that an exception is or wraps."""
    while error is not None and not isinstance(error, kind):
        error = error.__cause__
    return error


def _error_text(response: Any, error: Any) -> str:
    """Return the body of an error; google's exceptions keep it even if the response was not read."""
    details = getattr(error, "details", None)
    if isinstance(details, str):
        return details
    # The details of anthropic's exceptions are an SDK object with a part of the body only.
    return json.dumps(details) if isinstance(details, dict | list) else str(getattr(response, "text", ""))


def classify_exception(error: BaseException) -> Fault | None:
    """Return the fault that an exception without a response stands for, or None for an exception of other code."""
    kind = _fault_kind(error)
    if type(error).__module__.startswith(_WRAPPING_SDKS) and error.__cause__ is not None:
        kind = _fault_kind_of_cause(error.__cause__)
    return Fault(kind, _FAULT_MESSAGES[kind] + _where_and_why(error)) if kind else None


def make_unexpected_fault(error: BaseException, status: int | None, *, was_sent: bool) -> Fault:
    """Return the fault of an unknown exception, named by the class of its root cause.

    The exception's message is left out, because it may contain anything.
    """
    while error.__cause__ is not None:
        error = error.__cause__
    kind = FaultKind.PROTOCOL if was_sent else FaultKind.BAD_REQUEST
    message = _FAULT_MESSAGES[kind] if was_sent else "The request could not be sent."
    return Fault(kind, f"{message.removesuffix('.')} ({type(error).__name__}).", status)


def _where_and_why(error: BaseException) -> str:
    """Return the address and the operating system's message, such as "Connection refused", in brackets."""
    address = _address_of(error)
    root: BaseException | None = error
    while root is not None and not (isinstance(root, OSError) and root.strerror):
        root = root.__cause__ or (None if root.__suppress_context__ else root.__context__)
    reason = root.strerror if isinstance(root, OSError) else None
    detail = ": ".join(filter(None, (address, reason)))
    return f" ({detail})" if detail else ""


def _address_of(error: BaseException) -> str | None:
    """Return the scheme, host and port of an exception's request, without its path and credentials."""
    try:
        url = cast("Any", error).request.url
        return f"{url.scheme}://{url.netloc.decode('ascii')}"
    except (AttributeError, RuntimeError, UnicodeDecodeError):  # httpx raises RuntimeError if there is no request
        return None


def _fault_kind(error: BaseException) -> FaultKind | None:
    names = ((cls.__module__.partition(".")[0], cls.__name__) for cls in type(error).__mro__)
    return next((_FAULT_KINDS[name] for name in names if name in _FAULT_KINDS), None)


def _fault_kind_of_cause(cause: BaseException) -> FaultKind | None:
    """Return the kind of a wrapped exception: the SDKs report errors in their own code as connection errors, too."""
    return _fault_kind(cause) or (FaultKind.CONNECTION if isinstance(cause, OSError) else None)
