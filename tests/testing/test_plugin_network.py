"""The block of the network: what leaves this machine is refused in the tests that ask for it, and nowhere else."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from emitter.testing.plugin_support import NetworkBlocked, block_network

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE, THERE, NAMED = "127.0.0.1", "192.0.2.1", "vendor.invalid"
LOOKED_UP = ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr")
SENT = ("connect", "connect_ex", "sendto", "sendmsg")


@pytest.fixture
def tried() -> Iterator[list[str]]:
    """Yield what was tried in a block that is running."""
    found: list[str] = []
    with block_network("test_it", found):
        yield found


@pytest.fixture
def stream() -> Iterator[socket.socket]:
    """Yield a socket for a connection."""
    with socket.socket() as made:
        yield made


def lookup(name: str, host: Any) -> None:
    """Look a host up."""
    getattr(socket, name)(host, *([443] if name == "getaddrinfo" else []))


@pytest.mark.parametrize("name", LOOKED_UP)
@pytest.mark.parametrize("host", [NAMED, NAMED.encode(), "LOCALHOST.example.invalid"], ids=["text", "bytes", "like"])
def test_no_name_is_looked_up(tried: list[str], name: str, host: str | bytes) -> None:
    """No question goes to a name server, whatever function asks it."""
    with pytest.raises(
        NetworkBlocked, match=r"^test_it tried to reach .*invalid, but the network is blocked in this test"
    ):
        lookup(name, host)
    assert len(tried) == 1


@pytest.mark.parametrize("host", [None, "localhost", "LOCALHOST", HERE, THERE, "2001:db8::1", b"127.1.1.1"])
def test_what_needs_no_name_server_is_answered(tried: list[str], host: Any) -> None:
    """This machine's own names and plain numbers say nothing to anyone."""
    assert socket.getaddrinfo(host, 443)
    assert tried == []


def test_this_machines_own_name_may_be_asked_for(tried: list[str]) -> None:
    """A server that asks for its own name, as Python's own does, is not stopped."""
    with suppress(OSError):
        assert socket.gethostbyname(socket.gethostname())
    assert socket.getfqdn("")
    assert tried == []


def test_an_address_is_not_looked_up_backwards(tried: list[str]) -> None:
    """That is a question to a name server, too."""
    with pytest.raises(NetworkBlocked):
        socket.gethostbyaddr(THERE)
    assert tried == [THERE]


@pytest.mark.parametrize("method", ["connect", "connect_ex"])
@pytest.mark.parametrize("host", [THERE, NAMED, "127.0.0.1.example.invalid", "<broadcast>"])
def test_nothing_connects_elsewhere(tried: list[str], stream: socket.socket, method: str, host: str) -> None:
    """The error names host and port, and the socket is closed: nobody else would."""
    with pytest.raises(NetworkBlocked, match=f"tried to reach {host}:443"):
        getattr(stream, method)((host, 443))
    assert stream.fileno() == -1
    assert tried == [f"{host}:443"]


@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET6, "2001:db8::1"), (socket.AF_INET6, "::ffff:192.0.2.1")])
def test_nothing_connects_elsewhere_by_ipv6(tried: list[str], family: int, host: str) -> None:
    """Nor by an address of the other family, nor by one that hides in it."""
    with socket.socket(family) as made, pytest.raises(NetworkBlocked):
        made.connect((host, 443, 0, 0))
    assert len(tried) == 1


@pytest.mark.parametrize(
    "send",
    [
        lambda made, address: made.sendto(b"x", address),
        lambda made, address: made.sendto(b"x", 0, address),
        lambda made, address: made.sendmsg([b"x"], [], 0, address),
        lambda made, address: made.connect(address),
    ],
    ids=["sendto", "sendto-flags", "sendmsg", "connect"],
)
def test_no_datagram_leaves(tried: list[str], send: Callable[[socket.socket, Any], Any]) -> None:
    """Datagrams go to this machine and to no other."""
    with socket.socket(type=socket.SOCK_DGRAM) as there, socket.socket(type=socket.SOCK_DGRAM) as here:
        there.bind((HERE, 0))
        send(here, there.getsockname())
        assert tried == []
        with pytest.raises(NetworkBlocked):
            send(here, (THERE, 53))
    assert tried == [f"{THERE}:53"]


def test_this_machine_is_reached(tried: list[str]) -> None:
    """A connection on loopback, by number or by name, works, and so does a local pair."""
    with socket.create_server((HERE, 0)) as server:
        for host in (HERE, "localhost"):
            with socket.create_connection((host, server.getsockname()[1])) as client:
                client.sendall(b"x")
    with socket.socket(type=socket.SOCK_DGRAM) as there, socket.socket(type=socket.SOCK_DGRAM) as here:
        there.bind((HERE, 0))
        here.connect(there.getsockname())
        assert here.sendmsg((NAMED.encode(),)) == len(NAMED)
    one, other = socket.socketpair()
    with one, other:
        one.sendmsg([b"x"])
        assert other.recv(1) == b"x"
    assert tried == []


def test_a_thread_is_blocked_too(tried: list[str]) -> None:
    """The block is the whole process's, not the thread's."""
    met: list[str] = []

    def ask() -> None:
        try:
            socket.create_connection((NAMED, 443))
        except NetworkBlocked as error:
            met.append(str(error))

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()

    assert len(met) == len(tried) == 1


@pytest.mark.parametrize("host", [NAMED, THERE])
def test_asyncio_is_blocked_too(tried: list[str], host: str) -> None:
    """A loop's own connections, by name and by number, are refused, and leave no socket open."""

    async def ask() -> None:
        await asyncio.open_connection(host, 443)

    with pytest.raises(NetworkBlocked):
        asyncio.run(ask())
    assert len(tried) == 1


def test_everything_is_put_back() -> None:
    """After the block, and after one that ends in an error, the very same functions are there."""
    before = [vars(socket.socket).get(name) for name in SENT], [getattr(socket, name) for name in LOOKED_UP]
    during: list[object] = []

    def breaks() -> None:
        with block_network("outer", []), block_network("inner", []):
            during.append(socket.getaddrinfo)
            raise KeyError

    with pytest.raises(KeyError):
        breaks()

    assert during[0] is not before[1][0]
    assert before == ([vars(socket.socket).get(name) for name in SENT], [getattr(socket, name) for name in LOOKED_UP])
