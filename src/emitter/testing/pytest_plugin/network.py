"""Blocking the network for a test: whatever leaves this machine is an error that names the test and the host."""

from __future__ import annotations

import ipaddress
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import pytest

from emitter.errors import EmitterError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

_ADDRESS_AT = {"connect": 0, "connect_ex": 0, "sendto": -1, "sendmsg": 3}
"""The methods of a socket that reach another machine, and which argument says which."""
_INTERNET = (socket.AF_INET, socket.AF_INET6)
_OF_NUMBERS_TOO = ("gethostbyaddr",)
_LOOKING_UP = ("getaddrinfo", "gethostbyname", "gethostbyname_ex", *_OF_NUMBERS_TOO)


class NetworkBlocked(EmitterError):
    """A test tried to reach another machine."""

    hint = (
        "Lead it to the emitter_vendor fixture, or send through a cassette (emitter_client, emitter_http); "
        "--emitter-record=once records one. The ini option emitter_block_network says which tests are blocked."
    )


@contextmanager
def blocked(test: str, tried: list[str]) -> Generator[None]:
    """Let nothing in this process reach another machine, by address or by name, until the block ends.

    Each try is added to ``tried`` and raises ``NetworkBlocked``: code that swallows it can still be found out.
    """

    def refuse(host: object, port: object = None) -> None:
        named = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
        tried.append(named if port is None else f"{named}:{port}")
        raise NetworkBlocked(f"{test} tried to reach {tried[-1]}, and the network is blocked in it.")

    with pytest.MonkeyPatch.context() as patch:
        for name, at in _ADDRESS_AT.items():
            true = getattr(socket.socket, name, None)
            if true is not None:
                patch.setattr(socket.socket, name, _reaching(true, at, refuse), raising=False)
        for name in _LOOKING_UP:
            true = getattr(socket, name)
            patch.setattr(socket, name, _looking_up(true, refuse, numbers=name in _OF_NUMBERS_TOO))
        yield


def _reaching(true: Callable[..., Any], at: int, refuse: Callable[..., None]) -> Callable[..., Any]:
    def guarded(self: socket.socket, *arguments: Any) -> Any:
        address = cast("Sequence[object]", arguments[at]) if len(arguments) > at else None
        if self.family in _INTERNET and isinstance(address, tuple) and not _stays(address[0]):
            if at == 0:
                # Callers close it on an OSError only, which this is not: an SDK would try again.
                self.close()
            refuse(*address[:2])
        return true(self, *arguments)

    return guarded


def _looking_up(true: Callable[..., Any], refuse: Callable[..., None], *, numbers: bool) -> Callable[..., Any]:
    def guarded(*arguments: Any, **named: Any) -> Any:
        host = arguments[0] if arguments else named.get("host")
        if not _stays(host) and (numbers or _address(host) is None):
            refuse(host)
        return true(*arguments, **named)

    return guarded


def _stays(host: object) -> bool:
    """Tell whether a host is this machine."""
    name = _name(host)
    if name in ("", "localhost", socket.gethostname().lower()) or name.endswith(".localhost"):
        return True
    address = _address(host)
    return address is not None and (address.is_loopback or address.is_unspecified)


def _name(host: object) -> str:
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    return text.rstrip(".").lower() if isinstance(text, str) else ""


def _address(host: object) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(_name(host))
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
