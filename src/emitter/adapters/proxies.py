"""Find the proxy at which a request failed, and say what it did.

The SDKs report a proxy that refuses, hangs or answers with an error like a failure of the vendor's connection. Which
proxy it was, and whether it had passed the request on, stands in the frames of the exception, which are read only after
a failure.

Sources: ``_sync`` and ``_async`` in httpcore2 2.16.2 and httpcore 1.0.9; ``httpsession.py`` in botocore 1.44.5;
``connection.py`` in urllib3 2.8.0; ``http/client.py`` in Python 3.11 to 3.14; RFC 9110, sections 9.3.6 and 15.5.8;
RFC 1928, section 6.
"""

from __future__ import annotations

import errno
import traceback
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from emitter.adapters.environment import find_proxy_setting
from emitter.adapters.watchdog import package_of
from emitter.messages import Fault, FaultKind, ProviderErrorDetails

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import FrameType

    from emitter.adapters.transport import HttpTransfer

_CREDENTIALS_STATUS = 407
_TRANSIENT_STATUSES = frozenset({408, 425, 429})
_FIRST_SERVER_STATUS = 500
_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
_HTTP_SCHEMES = ("http", "https")
_FORBIDDEN = b"\x02"
"""The SOCKS reply to a connection that the proxy's rules forbid."""
_CONNECTIONS = frozenset({"ForwardHTTPConnection", "TunnelHTTPConnection", "Socks5Connection"})
_ASYNC_CONNECTIONS = frozenset(f"Async{name}" for name in _CONNECTIONS)
_BEFORE_PASSING = frozenset({"_new_conn", "_connect_tls_proxy", "_tunnel"})
"""The methods of urllib3 and ``http.client`` that run before a proxy passes a request on."""
_INNER_PACKAGES = frozenset(
    {"httpx2", "httpcore2", "httpx", "httpcore", "socksio", "urllib3", "botocore", "http", "socket", "ssl"}
    | {"anyio", "asyncio", "contextlib", "emitter"}
)
"""The packages that handle what prevents a request from being sent."""


class Hop(NamedTuple):
    """A proxy on the way to a vendor.

    Attributes:
        address: Its scheme, host and port.
        target: The scheme and host of the vendor's address.
        has_passed: The proxy may have passed the request on.
        status: Its answer to CONNECT, or to the request.
        handshake: The variables of the SOCKS handshake that failed.
    """

    address: str
    target: tuple[str, str]
    has_passed: bool = True
    status: int | None = None
    handshake: Mapping[str, Any] | None = None


def find_hop(error: Exception, transfer: HttpTransfer) -> Hop | None:
    """Return the proxy through which a failed request was sent, or None if there was none."""
    hop = next((hop for cause in _iter_causes(error) if (hop := _read_traceback(cause, transfer)) is not None), None)
    if hop is None and transfer.proxy is not None:
        address, url = transfer.proxy
        hop = Hop(address, _split_target(url), status=transfer.status)
    return hop


def proxy_address(url: object) -> str | None:
    """Return the scheme, host and port of a proxy's URL, without its credentials, or None if it has none."""
    try:
        parts = urlsplit(text if "://" in (text := str(url)) else f"http://{text}")
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}:{port}" if host else None


def forwarding_proxy(transport: Any) -> str | None:
    """Return the address of the HTTP proxy to which an ``httpx2`` transport sends requests that are not encrypted."""
    url = getattr(getattr(transport, "_pool", None), "_proxy_url", None)
    if url is None or url.scheme.decode() not in _HTTP_SCHEMES:
        return None
    return _origin_address(url.origin)


def describe_way(hop: Hop) -> str:
    """Return the sentence about a proxy that is not known to have failed."""
    return f" The request went through the proxy {hop.address} {_find_setting(hop).words}."


def make_proxy_fault(hop: Hop, error: Exception) -> Fault:
    """Return the fault of a proxy that did not pass a request on.

    Its credentials and rules are the caller's to correct. Anything else is a failure of the connection.
    """
    setting = _find_setting(hop)
    kind, what, hint = _read_status(hop, setting) or _read_handshake(hop, setting) or _read_failure(hop, setting, error)
    message = f"The proxy {hop.address} {setting.words} {what}."
    return Fault(kind, message, hop.status, report=ProviderErrorDetails(hint=hint))


class _Setting(NamedTuple):
    """The setting that names a proxy, in words, and the cure if the proxy cannot be used."""

    words: str
    name: str
    hint: str


class _Problem(NamedTuple):
    kind: FaultKind
    what: str
    hint: str


def _find_setting(hop: Hop) -> _Setting:
    """Return the setting that names a proxy: a variable, or an argument of the client."""
    scheme, host = hop.target
    name = find_proxy_setting(scheme, lambda url: proxy_address(url) == hop.address)
    if name is None:
        return _Setting("of the HTTP client", "its proxy", "Correct the proxy that the HTTP client was created with.")
    rest = f"remove it, or add {host} to NO_PROXY." if host else "or remove it."
    return _Setting(f"of {name}", name, f"Correct {name}, {rest}")


def _read_status(hop: Hop, setting: _Setting) -> _Problem | None:
    status, host = hop.status, hop.target[1] or "the vendor"
    if status is None:
        return None
    if status == _CREDENTIALS_STATUS:
        hint = f"Write {setting.name} as {hop.address.replace('://', '://USER:PASSWORD@')}. {setting.hint}"
        return _Problem(FaultKind.CLIENT, f"answered {status}: it requires other credentials", hint)
    if status in _TRANSIENT_STATUSES or status >= _FIRST_SERVER_STATUS:
        hint = f"Try again later. If it stays so: {setting.hint}"
        return _Problem(FaultKind.CONNECTION, f"answered {status} and did not connect to {host}", hint)
    hint = f"Let the proxy allow {host}. {setting.hint}"
    return _Problem(FaultKind.CLIENT, f"answered {status} and does not connect to {host}", hint)


def _read_handshake(hop: Hop, setting: _Setting) -> _Problem | None:
    """Return what was wrong with a SOCKS proxy's answer, or None if none arrived."""
    if hop.handshake is None or not hop.handshake.get("incoming_bytes"):
        return None
    reply, host = hop.handshake.get("response"), hop.target[1] or "the vendor"
    if type(reply).__name__ == "SOCKS5Reply":
        name = reply.reply_code.name.lower().replace("_", " ")  # type: ignore[union-attr]
        is_final = reply.reply_code.value == _FORBIDDEN  # type: ignore[union-attr]
        kind = FaultKind.CLIENT if is_final else FaultKind.CONNECTION
        return _Problem(kind, f"could not connect to {host} ({name})", f"Let the proxy connect to it. {setting.hint}")
    if reply is not None:
        hint = f"Write {setting.name} as {hop.address.replace('://', '://USER:PASSWORD@')}. {setting.hint}"
        return _Problem(FaultKind.CLIENT, "requires other credentials", hint)
    hint = f"If it is an HTTP proxy, write http:// in {setting.name}. {setting.hint}"
    return _Problem(FaultKind.CLIENT, "does not answer like a SOCKS5 server", hint)


def _read_failure(hop: Hop, setting: _Setting, error: Exception) -> _Problem:
    causes = tuple(_iter_causes(error))
    if any("Timeout" in type(each).__name__ for each in causes):
        return _Problem(FaultKind.TIMEOUT, "did not answer in time", setting.hint)
    root = next((each for each in causes if isinstance(each, OSError) and (each.errno or each.strerror)), None)
    if type(root).__name__.startswith("SSL") and hop.address.startswith("https:"):
        hint = f"If it is reached without TLS, write http:// in {setting.name}. {setting.hint}"
        return _Problem(FaultKind.CONNECTION, "could not be reached with TLS", hint)
    if root is None or root.errno in (errno.ECONNRESET, errno.EPIPE):
        return _Problem(FaultKind.CONNECTION, "closed the connection, or its answer cannot be read", setting.hint)
    is_refused = root.errno == errno.ECONNREFUSED
    what = "refused the connection" if is_refused else f"could not be reached ({root.strerror})"
    return _Problem(FaultKind.CONNECTION, what, setting.hint)


def _iter_causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and those that caused it.

    The context of an exception may be one of the caller's, who handles it while the request is sent.
    """
    while error is not None:
        yield error
        context = error.__context__
        first = None if context is None or context.__traceback__ is None else context.__traceback__.tb_frame
        is_inner = first is not None and package_of(first) in _INNER_PACKAGES
        reason = next((each for each in error.args if isinstance(each, Exception)), None)  # of urllib3's exceptions
        error = error.__cause__ or (context if is_inner else reason)


def _read_traceback(error: BaseException, transfer: HttpTransfer) -> Hop | None:
    """Return the proxy that an exception of this transfer was raised at."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    for index, frame in enumerate(frames):
        hop = _read_httpcore(frame, frames[index + 1 :], transfer) or _read_botocore(frame, error, transfer)
        if hop is not None:
            return hop
    return None


def _read_httpcore(frame: FrameType, inner: list[FrameType], transfer: HttpTransfer) -> Hop | None:
    """Return the proxy of a frame of httpcore2 that sends a request through one."""
    names = frame.f_locals
    connection, request = names.get("self"), names.get("request")
    if type(connection).__name__ not in _CONNECTIONS | _ASYNC_CONNECTIONS:
        return None
    if getattr(getattr(request, "stream", None), "transfer", None) is not transfer:
        return None  # an exception that was handled when this request was sent
    target, answer = connection._remote_origin, names.get("connect_response")  # type: ignore[union-attr]  # noqa: SLF001
    has_tunnel = "ssl_context" in names or transfer.is_uploaded  # the variable is set after the handshake
    sockets = (each.f_locals for each in inner if each.f_code.co_name == "_init_socks5_connection")
    return Hop(
        _origin_address(connection._proxy_origin),  # type: ignore[union-attr]  # noqa: SLF001
        (target.scheme.decode(), target.host.decode()),
        has_passed=has_tunnel,
        status=None if has_tunnel or answer is None else answer.status,
        handshake=next(sockets, None),
    )


def _read_botocore(frame: FrameType, error: BaseException, transfer: HttpTransfer) -> Hop | None:
    """Return the proxy of a frame of botocore that sends a request through one."""
    names = frame.f_locals
    if getattr(names.get("self"), "transfer", None) is not transfer:
        return None
    address = proxy_address(url) if (url := names.get("proxy_url")) else None
    if address is None:
        return None
    inner = [each for cause in _iter_causes(error) for each, _ in traceback.walk_tb(cause.__traceback__)]
    waiting = [each for each in inner if each.f_code.co_name in _BEFORE_PASSING]
    codes = (each.f_locals.get("code") for each in waiting if each.f_code.co_name == "_tunnel")
    status = next((code for code in codes if isinstance(code, int)), None)
    return Hop(address, _split_target(names["request"].url), has_passed=not waiting, status=status)


def _origin_address(origin: Any) -> str:
    host = origin.host.decode()
    return f"{origin.scheme.decode()}://{f'[{host}]' if ':' in host else host}:{origin.port}"


def _split_target(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme or "https", parts.hostname or ""
