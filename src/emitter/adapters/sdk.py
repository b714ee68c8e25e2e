"""Sending through the vendors' own clients, and what their exceptions mean.

Nothing of an SDK is imported here unless a client of it is already in use.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from pydantic_core import to_json

from emitter.wire import Fault, FaultKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.wire import Json

_KINDS: Mapping[tuple[str, str], FaultKind] = MappingProxyType(
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
        ("aiohttp", "ServerTimeoutError"): FaultKind.TIMEOUT,
        ("aiohttp", "ClientError"): FaultKind.CONNECTION,
        ("google", "UnknownApiResponseError"): FaultKind.PROTOCOL,
        ("json", "JSONDecodeError"): FaultKind.PROTOCOL,
        ("builtins", "TimeoutError"): FaultKind.TIMEOUT,
    }
)

_PLAIN = frozenset({"OpenAI", "AsyncOpenAI", "Anthropic", "AsyncAnthropic"})
_WRAPPING = ("openai", "anthropic")

_SENTENCES: Mapping[FaultKind, str] = MappingProxyType(
    {
        FaultKind.TIMEOUT: "The vendor did not answer in time.",
        FaultKind.CONNECTION: "The connection to the vendor could not be made or was cut.",
        FaultKind.PROTOCOL: "The vendor's response cannot be read.",
    }
)


def post(client: object, path: str, body: Mapping[str, Json], timeout: float) -> object:
    """Post through the low-level method that openai's and anthropic's clients share.

    Credentials, base URL and the rewriting of Azure, Bedrock and Vertex clients stay theirs; their retries
    are switched off, since the policy owns them.
    """
    import httpx2  # noqa: PLC0415  the SDK has loaded it; the core must not

    options = {"timeout": timeout, "max_retries": 0, "follow_redirects": False}
    return cast("Any", client).post(path, cast_to=httpx2.Response, options=options, **_carried(client, body))


def post_for_stream(client: object, path: str, body: Mapping[str, Json], timeout: float) -> object:
    """Post as ``post`` does, and return the response as soon as its headers are there, its body unread.

    The header is the SDKs' own switch for it (``_constants.RAW_RESPONSE_HEADER``, openai 3.52.0, anthropic 2.11.0).
    """
    import httpx2  # noqa: PLC0415  as above

    headers = {"X-Stainless-Raw-Response": "stream"}
    options = {"timeout": timeout, "max_retries": 0, "follow_redirects": False, "headers": headers}
    return cast("Any", client).post(path, cast_to=httpx2.Response, options=options, **_carried(client, body))


def _carried(client: object, body: Mapping[str, Json]) -> dict[str, Any]:
    """Return the body as the client is given it: ready bytes where it is sent as it is.

    The SDKs take several times as long to write it, and the clients of other clouds read and change it first.
    """
    if type(client).__name__ in _PLAIN:
        return {"content": to_json(body)}
    return {"body": body}


def fault(error: BaseException) -> Fault | None:
    """Return the fault that an exception without a response stands for; None: not ours, let it rise."""
    kind = _kind(error)
    if type(error).__module__.startswith(_WRAPPING) and error.__cause__ is not None:
        kind = _kind_of_cause(error.__cause__)
    return Fault(kind, _SENTENCES[kind] + _system_reason(error)) if kind else None


def unexpected(error: BaseException, status: int | None, *, sent: bool) -> Fault:
    """Return the fault of an exception that no table knows, named by the class of what an SDK may have wrapped.

    Its words are not repeated, for they may be anybody's.
    """
    while error.__cause__ is not None:
        error = error.__cause__
    kind = FaultKind.PROTOCOL if sent else FaultKind.BAD_REQUEST
    what = _SENTENCES[kind] if sent else "The request could not be sent."
    return Fault(kind, f"{what.removesuffix('.')} ({type(error).__name__}).", status)


def _system_reason(error: BaseException | None) -> str:
    """Return what the operating system said of it, such as a refused connection; nothing else of the error."""
    while error is not None and not (isinstance(error, OSError) and error.strerror):
        error = error.__cause__ or error.__context__
    return f" ({error.strerror})" if isinstance(error, OSError) else ""


def _kind(error: BaseException) -> FaultKind | None:
    names = ((each.__module__.partition(".")[0], each.__name__) for each in type(error).__mro__)
    return next((_KINDS[name] for name in names if name in _KINDS), None)


def _kind_of_cause(cause: BaseException) -> FaultKind | None:
    """Return what a wrapped exception is: these SDKs call a programmer's error a failed connection, too."""
    return _kind(cause) or (FaultKind.CONNECTION if isinstance(cause, OSError) else None)
