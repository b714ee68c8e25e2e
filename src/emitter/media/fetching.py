"""Fetch the URL of a medium: ``https`` only, public addresses only, no redirects, a time limit and a size limit."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any, Final, NamedTuple

from emitter.errors import InputError, MissingExtra
from emitter.media.parts import url_name
from emitter.strict_http import ExchangeFailed, Network, exchange

MAX_FETCHED_BYTES = 32 * 1024 * 1024
"""The largest body that is fetched."""
_TIMEOUT = 30.0
_OK = 200
_ACCEPTED = "image/*, application/pdf, audio/*"
_HINT = "Fetch it yourself and pass its bytes."
_MAX_LABEL_LENGTH = 80


class FetchedFile(NamedTuple):
    """The body of a response and its declared media type."""

    data: bytes
    media_type: str


def fetch_url(url: str, *, network: Network | None = None, max_bytes: int = MAX_FETCHED_BYTES) -> FetchedFile:
    """Fetch ``url``.

    Args:
        url: An ``https`` URL.
        network: How the host is reached, for tests. Defaults to the public internet.
        max_bytes: The largest body.

    Raises:
        InputError: The URL is not allowed, or the server does not deliver the file.
    """
    request = _build_request(url)
    try:
        answer = exchange(
            request, seconds=_TIMEOUT, max_bytes=max_bytes, network=network or Network(is_allowed=_is_public)
        )
    except ExchangeFailed as error:
        raise InputError(f"{_label(url)} cannot be fetched: {error}.", hint=_HINT) from error
    if answer.status != _OK:
        raise InputError(f"{_label(url)} cannot be fetched: status {answer.status}.", hint=_HINT)
    return FetchedFile(answer.body, answer.content_type)


def _build_request(url: str) -> Any:
    httpx2 = _import_httpx2()
    try:
        target = httpx2.URL(url)
        request = httpx2.Request("GET", target, headers={"accept": _ACCEPTED, "accept-encoding": "identity"})
    except (httpx2.InvalidURL, ValueError) as error:
        raise InputError("The URL cannot be read.", hint=_HINT) from error
    if target.scheme != "https" or not target.host:
        raise InputError("Only https: URLs are fetched.", hint=_HINT)
    if target.userinfo:
        raise InputError("A URL with a user name is not fetched.", hint=_HINT)
    return request


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
    name = url_name(url)
    return name if name.isprintable() and 0 < len(name) <= _MAX_LABEL_LENGTH else "The URL"


_GLOBAL_UNICAST: Final = ip_network("2000::/3")
_NAT64: Final = ip_network("64:ff9b::/96")
_ISATAP: Final = (0x0000_5EFE, 0x0200_5EFE)
_NOT_PUBLIC: Final = tuple(
    map(
        ip_network,
        [
            *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
            *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24"),
            *("203.0.113.0/24", "224.0.0.0/3", "168.63.129.16/32"),
            *("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
        ],
    )
)
"""The addresses within IPv4 and 2000::/3 that are not globally routable unicast.

Source: IANA's registries of special-purpose addresses (RFC 6890). The tunnels 6to4 (2002::/16, and its relays
192.88.99.0/24) and Teredo (in 2001::/23) end at an IPv4 host of somebody's choice. 168.63.129.16 is the host of every
virtual machine in Azure.
"""


def _is_public(address: str) -> bool:
    """Return whether an address is globally routable unicast. An IPv4 address inside of it has to be so, too."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if any(parsed in block for block in _NOT_PUBLIC):
        return False
    if isinstance(parsed, IPv4Address):
        return True
    embedded = _embedded_address(parsed)
    if embedded is not None:
        return _is_public(str(embedded))
    return parsed in _GLOBAL_UNICAST


def _embedded_address(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that a packet to this address reaches: mapped (RFC 4291), NAT64 (RFC 6052), ISATAP."""
    last = IPv4Address(int(address) & 0xFFFF_FFFF)
    if address.ipv4_mapped is not None or address in _NAT64:
        return last
    return last if address in _GLOBAL_UNICAST and (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP else None
