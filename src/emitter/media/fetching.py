"""Fetch the URL of a medium: ``https`` only, public addresses only, no redirects, and a size limit.

The host name is resolved once, and the connection goes to the address that was checked. Otherwise a server could give
a public address to the check and a private one to the connection (DNS rebinding).
"""

from __future__ import annotations

import ipaddress
import socket
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from emitter.errors import InputError, MissingExtra
from emitter.media.parts import url_name

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_FETCHED_BYTES = 32 * 1024 * 1024
"""The largest body that is fetched."""
_TIMEOUT = 30.0
_HTTPS_PORT = 443
_OK = 200
_HINT = "Fetch it yourself and pass its bytes."


class FetchedFile(NamedTuple):
    """The body of a response and its declared media type."""

    data: bytes
    media_type: str


def fetch_url(
    url: str,
    *,
    resolve: Callable[[str, int], list[str]] | None = None,
    transport: Any = None,
    max_bytes: int = MAX_FETCHED_BYTES,
) -> FetchedFile:
    """Fetch ``url``.

    Args:
        url: An ``https`` URL.
        resolve: Returns the addresses of a host and port. Defaults to the system's resolver.
        transport: The ``httpx2`` transport, for tests.
        max_bytes: The largest body.

    Raises:
        InputError: The URL is not allowed, or the server does not deliver the file.
    """
    httpx2 = _import_httpx2()
    try:
        target = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError) as error:
        raise InputError("The URL cannot be read.", hint=_HINT) from error
    if target.scheme != "https" or not target.host:
        raise InputError("Only https: URLs are fetched.", hint=_HINT)
    if target.userinfo:
        raise InputError("A URL with a user name is not fetched.", hint=_HINT)
    address = _public_address(target.host, target.port or _HTTPS_PORT, resolve or _resolve)
    request = {
        "headers": {"host": target.netloc.decode("ascii"), "accept": "image/*, application/pdf, audio/*"},
        "extensions": {"sni_hostname": target.raw_host.decode("ascii")},
    }
    # A proxy would resolve the name again, and anything in the environment could send the request elsewhere.
    client = httpx2.Client(transport=transport, trust_env=False, follow_redirects=False, timeout=_TIMEOUT)
    try:
        with client, client.stream("GET", target.copy_with(host=address), **request) as response:
            return _read_response(response, max_bytes)
    except (httpx2.HTTPError, OSError) as error:
        raise InputError(f"{_label(url)} cannot be fetched ({type(error).__name__}).", hint=_HINT) from error


def _import_httpx2() -> Any:
    try:
        import httpx2  # noqa: PLC0415  only a caller who fetches needs it
    except ImportError as missing:
        raise MissingExtra(
            "fetch=True needs httpx2, which comes with every vendor's SDK.",
            extra="openai",
        ) from missing
    return httpx2


def _label(url: str) -> str:
    return url_name(url) or "The URL"


def _resolve(host: str, port: int) -> list[str]:
    return [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def _public_address(host: str, port: int, resolve: Callable[[str, int], list[str]]) -> str:
    """Return an address of the host; raise ``InputError`` if any of its addresses is not public."""
    try:
        addresses = resolve(host, port)
    except OSError as error:
        raise InputError(f"The host {host} cannot be resolved.", hint=_HINT) from error
    if not addresses or not all(map(_is_public, addresses)):
        raise InputError(f"The host {host} has no public address, so it is not fetched.", hint=_HINT)
    return addresses[0]


def _is_public(address: str) -> bool:
    """Return whether an address is on the public internet."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        # A transition address may lead to a private IPv4 address inside it.
        inner = parsed.ipv4_mapped or parsed.sixtofour or (parsed.teredo[1] if parsed.teredo else None)
        is_nat64 = parsed in ipaddress.ip_network("64:ff9b::/96")
        if inner is not None or is_nat64:
            return False
    return parsed.is_global and not parsed.is_multicast


def _read_response(response: Any, max_bytes: int) -> FetchedFile:
    if response.is_redirect or response.has_redirect_location:
        raise InputError(f"The server answered with a redirect ({response.status_code}), which is not followed.")
    if response.status_code != _OK:
        raise InputError(f"The server answered with status {response.status_code}.", hint=_HINT)
    deadline, received, pieces = time.monotonic() + _TIMEOUT, 0, list[bytes]()
    for piece in response.iter_bytes():
        received += len(piece)
        if received > max_bytes:
            raise InputError(f"The file has more than {max_bytes:,} bytes.", hint=_HINT)
        if time.monotonic() > deadline:
            raise InputError(f"The file did not arrive within {_TIMEOUT:g} seconds.", hint=_HINT)
        pieces.append(piece)
    return FetchedFile(b"".join(pieces), response.headers.get("content-type", ""))
