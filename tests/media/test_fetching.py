"""A URL is fetched only on request, only over https, only from public addresses, only so much, and only for so long."""

from __future__ import annotations

import gzip
import threading
from itertools import repeat
from typing import TYPE_CHECKING, Any

import pytest

from emitter.errors import InputError
from emitter.media import Image, fetching
from emitter.media.fetching import fetch_url
from emitter.strict_http import Network
from tests.media.samples import write_png
from tests.raw_server import RawServer, raw_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

URL = "https://shop.example/receipt.png?sig=s3cret"
PUBLIC, PUBLIC_6 = "93.184.216.34", "2606:2800:220:1::1"
Script = "Callable[[], Iterable[bytes | float]]"


def answer(body: bytes = b"", status: str = "200 OK", **headers: str) -> bytes:
    """Return a whole answer."""
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def reach(server: RawServer, *addresses: str) -> Network:
    """Return a network on which every name has these addresses, and each address is the server."""
    return Network(fetching._is_public, lambda *_: list(addresses or (PUBLIC,)), server)


def slowly(data: bytes) -> Iterator[bytes | float]:
    """A byte at a time; all of it takes about twenty seconds."""
    for byte in data:
        yield bytes([byte])
        yield 20 / len(data)


def test_the_connection_goes_to_the_address_that_was_judged() -> None:
    """A name is resolved once; the server still sees its own name, in the head and in TLS."""
    lookups: list[str] = []

    def resolve(host: str, _: int) -> list[str]:
        lookups.append(host)
        return [PUBLIC] if len(lookups) == 1 else ["127.0.0.1"]

    with raw_server(lambda: [answer(write_png(), content_type="image/png")]) as server:
        fetched = fetch_url(URL, network=Network(fetching._is_public, resolve, server))

    assert fetched == (write_png(), "image/png")
    assert (server.connected, server.names, lookups) == ([(PUBLIC, 443)], ["shop.example"], ["shop.example"])
    [request] = server.requests
    assert request.startswith(b"GET /receipt.png?sig=s3cret HTTP/1.1\r\nHost: shop.example\r\n")
    assert b"authorization" not in request.lower()


def test_every_public_address_is_tried() -> None:
    """The next one, if the first refuses the connection."""

    class Refusing(RawServer):
        def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> Any:
            if host == PUBLIC:
                return super().connect_tcp(host, port, timeout, **options)
            self.connected.append((host, port))
            raise ConnectionRefusedError

    with raw_server(lambda: [answer(write_png())]) as server:
        refusing = Refusing(server.port)
        assert fetch_url(URL, network=reach(refusing, PUBLIC_6, PUBLIC)).data == write_png()
    assert [host for host, _ in refusing.connected] == [PUBLIC_6, PUBLIC]


PRIVATE_4 = (
    "127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.0.1", "169.254.169.254", "100.64.0.1",
    "100.127.255.255", "0.0.0.1", "192.0.0.1", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.19.255.255",
    "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "168.63.129.16",
)  # fmt: skip
PRIVATE_6 = (
    "::", "::1", "::127.0.0.1", "::8.8.8.8", "::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8", "64:ff9b:1::7f00:1",
    "64:ff9b:1::808:808", "64:ff9b:2::1", "100::1", "100:0:0:1::1", "5f00::1", "fe80::1", "fe80::1%eth0", "febf::1",
    "fec0::1", "feff::1", "fc00::1", "fd00:ec2::254", "ff02::1", "ff0e::1", "4000::1", "2001::1", "2001:2::1",
    "2001:10::1", "2001:20::1", "2001:1ff:ffff::1", "2001:db8::1", "2002:7f00:1::", "2002:808:808::1", "3fff::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:0:808:808::f7f7:f7f7",
)  # fmt: skip
CARRIERS = {
    "mapped": "::ffff:{}",
    "nat64": "64:ff9b::{}",
    "isatap": "2606:2800:220:1:0:5efe:{}",
    "isatap-global": "2606:2800:220:1:200:5efe:{}",
}
"""The forms in which an IPv6 address carries the IPv4 address that it leads to."""
BAD_ADDRESSES = [
    *PRIVATE_4, *PRIVATE_6, *(form.format(address) for form in CARRIERS.values() for address in PRIVATE_4),
    "shop.example", "", "0x7f.1", "2130706433",
]  # fmt: skip
GOOD_ADDRESSES = [
    PUBLIC, PUBLIC_6, "8.8.8.8", "1.1.1.1", "100.63.255.255", "100.128.0.0", "172.15.0.1", "172.32.0.1", "192.0.1.1",
    "198.17.0.1", "223.255.255.255", "2001:200::1", "2001:4860:4860::8888", "2620:fe::fe", "2a00:1450::1", "3ffe::1",
    *(form.format("8.8.8.8") for form in CARRIERS.values()),
]  # fmt: skip


@pytest.mark.parametrize("address", BAD_ADDRESSES)
def test_an_address_that_is_not_public_is_not_reached(address: str) -> None:
    """Neither alone nor among public ones."""
    server = RawServer(1)
    for addresses in ((address,), (PUBLIC, address)):
        with pytest.raises(InputError, match=r"the host shop\.example has no public address"):
            fetch_url(URL, network=reach(server, *addresses))
    assert not server.connected


@pytest.mark.parametrize("address", GOOD_ADDRESSES)
def test_a_public_address_is_reached(address: str) -> None:
    """With whatever it carries."""
    with raw_server(lambda: [answer(write_png())]) as server:
        assert fetch_url(URL, network=reach(server, address)).data == write_png()
    assert server.connected == [(address, 443)]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://shop.example/a.png", "Only https: URLs are fetched"),
        ("https://user:pass@shop.example/a.png", "A URL with a user name"),
        ("https:///a.png", "Only https: URLs are fetched"),
        ("https://[::1/a.png", "The URL cannot be read"),
        ("https://shop.example:x/a.png", "The URL cannot be read"),
        ("https://\N{SNOWMAN}.example/a.png", "The URL cannot be read"),
    ],
)
def test_only_plain_https_is_fetched(url: str, said: str) -> None:
    """Anything else is for the caller to fetch."""
    server = RawServer(1)
    with pytest.raises(InputError, match=said):
        fetch_url(url, network=reach(server))
    assert not server.connected


@pytest.mark.parametrize(
    "host",
    ["a..b", ".", "..", "a" * 64, f"{'a' * 70}.com", ".".join(["a" * 63] * 8), "-", "a_b", "%00", "a%2eb", "127.1",
     "0x7f000001", "2130706433", "localhost", "localhost.", "[::1]", "[::ffff:127.0.0.1]", "nothing.invalid"],
)  # fmt: skip
def test_a_host_that_is_none_is_an_input_error(host: str) -> None:
    """Whatever the system's own resolver makes of it."""
    with pytest.raises(InputError, match=r"cannot be (fetched|read)"):
        Image(f"https://{host}/x.png", fetch=True)


_BOMB = gzip.compress(bytes(5_000_000))
FAULTS: dict[str, tuple[bytes, str]] = {
    "redirect": (answer(status="302 Found", location="https://other.example/"), r"a redirect \(302\), which is not"),
    "redirect to loopback": (answer(status="307 Temporary Redirect", location="https://127.0.0.1/"), "a redirect"),
    "redirect without a place": (answer(status="302 Found"), "a redirect"),
    "missing": (answer(status="404 Not Found"), "status 404"),
    "no content": (answer(status="204 No Content"), "status 204"),
    "large": (answer(b"x" * 100_001), "more than 100,000 bytes"),
    "a bomb": (answer(_BOMB, content_encoding="gzip"), "more than 100,000 bytes"),
    "a bomb in a bomb": (answer(gzip.compress(_BOMB), content_encoding="gzip, gzip"), "unknown encoding"),
    "nothing, in many bytes": (
        answer(b"\0\0\0\xff\xff" * 30_000, content_encoding="deflate"),
        "more than 100,000 bytes",
    ),
    "not gzip": (answer(b"x" * 50, content_encoding="gzip"), "DecodingError"),
    "cut": (answer(b"x" * 50)[:-1], "RemoteProtocolError"),
    "no HTTP": (b"hello\r\n\r\n", "RemoteProtocolError"),
    "two lengths": (answer(b"x", content_length="2"), "RemoteProtocolError"),
    "an endless head": (b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 100_000, "RemoteProtocolError"),
    "nothing": (b"", "RemoteProtocolError"),
}


@pytest.mark.parametrize(("data", "said"), FAULTS.values(), ids=FAULTS)
def test_a_server_that_does_not_deliver(data: bytes, said: str) -> None:
    """One request is made, and the error says why nothing came; it does not hold the URL's signature."""
    with raw_server(lambda: [data]) as server, pytest.raises(InputError, match=said) as raised:
        fetch_url(URL, network=reach(server), max_bytes=100_000)
    assert len(server.requests) == 1
    assert str(raised.value).startswith("receipt.png cannot be fetched: ")
    assert "s3cret" not in str(raised.value)


def test_a_body_is_not_read_beyond_its_limit() -> None:
    """A server may send without an end."""
    endless = [b"HTTP/1.1 200 OK\r\n\r\n", *repeat(bytes(65536), 1000)]
    with raw_server(lambda: endless) as server, pytest.raises(InputError, match="more than 100,000 bytes"):
        fetch_url(URL, network=reach(server), max_bytes=100_000)
    assert server.written < 20_000_000


_CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
TRICKLES: dict[str, Callable[[], Iterable[bytes | float]]] = {
    "head": lambda: slowly(answer(write_png())),
    "body": lambda: [answer(write_png())[:-100], *slowly(answer(write_png())[-100:])],
    "informational heads": lambda: [*[b"HTTP/1.1 103 Early Hints\r\n\r\n", 0.2] * 100, answer(write_png())],
    "chunk extensions": lambda: [_CHUNKED, *slowly(b"1;" + b"x" * 1000 + b"\r\nx\r\n0\r\n\r\n")],
    "trailers": lambda: [_CHUNKED, b"1\r\nx\r\n0\r\n", *slowly(b"x: " + b"y" * 1000 + b"\r\n\r\n")],
    "error": lambda: slowly(answer(b"x", "500 Internal Server Error")),
    "silence": lambda: [20.0, answer(write_png())],
}  # fmt: skip


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fetch for half a second at most. Each server would take twenty, and then deliver."""
    monkeypatch.setattr(fetching, "_TIMEOUT", 0.5)


@pytest.mark.parametrize("script", TRICKLES.values(), ids=TRICKLES)
@pytest.mark.usefixtures("hurry")
def test_the_time_limit_covers_the_whole_answer(script: Callable[[], Iterable[bytes | float]]) -> None:
    """A byte now and then does not extend it."""
    with raw_server(script) as server, pytest.raises(InputError, match=r"no complete answer within 0\.5 seconds"):
        fetch_url(URL, network=reach(server))


@pytest.mark.usefixtures("hurry")
def test_the_time_limit_covers_the_name_and_tls() -> None:
    """A resolver that does not answer, and a server that does not shake hands."""
    ended = threading.Event()

    def resolve(*_: object) -> list[str]:
        ended.wait(20)
        return [PUBLIC]

    class WithTls(RawServer):
        def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> Any:
            return super().connect_tcp(host, port, timeout, **options).stream

    with raw_server(lambda: [20.0]) as server:
        tls = WithTls(server.port)
        for network in (Network(fetching._is_public, resolve, server), reach(tls)):
            with pytest.raises(InputError, match=r"no complete answer within 0\.5 seconds"):
                fetch_url(URL, network=network)
    ended.set()


def test_a_connection_that_fails() -> None:
    """The network's failure is an input error that names the file."""
    with pytest.raises(InputError, match=r"receipt\.png cannot be fetched: ConnectError\. Fetch it yourself"):
        fetch_url(URL, network=reach(RawServer(1)))


def test_a_url_is_not_fetched_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    """By default the vendor reads it."""
    fetched: list[str] = []

    def note(url: str) -> fetching.FetchedFile:
        fetched.append(url)
        return fetching.FetchedFile(write_png(), "application/octet-stream")

    monkeypatch.setattr(fetching, "fetch_url", note)

    assert Image(URL).part.data is None
    assert fetched == []
    assert Image(URL, fetch=True).part.data == write_png()
    assert fetched == [URL]
