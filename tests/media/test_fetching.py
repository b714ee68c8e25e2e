"""A URL is fetched only on request, only over https, only from public addresses, and only so much."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.errors import InputError
from emitter.media import Image, fetching
from emitter.media.fetching import fetch_url
from tests.media.samples import write_png

httpx2 = pytest.importorskip("httpx2")
URL = "https://shop.example/receipt.png?sig=s3cret"
PUBLIC = "93.184.216.34"


class Server:
    """Answers each request alike, and keeps what came."""

    def __init__(self, status: int = 200, content: bytes = b"", **headers: str) -> None:
        self.seen: list[Any] = []
        self.status, self.content, self.headers = status, content, headers

    def __call__(self, request: Any) -> Any:
        """Answer a request."""
        self.seen.append(request)
        return httpx2.Response(self.status, content=self.content, headers=self.headers)


def fetch(server: Server, url: str = URL, addresses: tuple[str, ...] = (PUBLIC,), **more: Any) -> Any:
    """Fetch from the server, whatever the name resolves to."""
    return fetch_url(url, resolve=lambda *_: list(addresses), transport=httpx2.MockTransport(server), **more)


def test_the_connection_goes_to_the_address_that_was_checked() -> None:
    """A name that resolves differently a moment later reaches nothing else; the server still sees its own name."""
    server = Server(content=write_png(), **{"content-type": "image/png"})

    assert fetch(server) == (write_png(), "image/png")
    [sent] = server.seen
    assert (sent.url.host, sent.headers["host"]) == (PUBLIC, "shop.example")
    assert sent.extensions["sni_hostname"] == "shop.example"
    assert "authorization" not in sent.headers


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.1", "224.0.0.1"),
        *("::1", "fe80::1%eth0", "fd00::1", "::ffff:127.0.0.1", "2002:7f00:1::", "64:ff9b::7f00:1"),
    ],
)
def test_an_address_that_is_not_public_is_not_reached(address: str) -> None:
    """Neither alone nor among public ones."""
    server = Server(content=write_png())
    for addresses in ((address,), (PUBLIC, address)):
        with pytest.raises(InputError, match=r"shop\.example has no public address, so it is not fetched"):
            fetch(server, addresses=addresses)
    assert not server.seen


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://shop.example/a.png", "Only https: URLs are fetched"),
        ("https://user:pass@shop.example/a.png", "A URL with a user name"),
        ("https:///a.png", "Only https: URLs are fetched"),
    ],
)
def test_only_plain_https_is_fetched(url: str, said: str) -> None:
    """Anything else is for the caller to fetch."""
    server = Server()
    with pytest.raises(InputError, match=said):
        fetch(server, url)
    assert not server.seen


@pytest.mark.parametrize(
    ("server", "said"),
    [
        pytest.param(
            Server(302, location="https://other.example/"), r"a redirect \(302\), which is not followed", id="redirect"
        ),
        pytest.param(Server(404), "status 404", id="missing"),
        pytest.param(Server(content=b"x" * 101), "more than 100 bytes", id="large"),
    ],
)
def test_a_server_that_does_not_deliver(server: Server, said: str) -> None:
    """One request is made, and the error says why nothing came; it does not hold the URL's signature."""
    with pytest.raises(InputError, match=said) as raised:
        fetch(server, max_bytes=100)
    assert len(server.seen) == 1
    assert "s3cret" not in str(raised.value)


def test_a_connection_that_fails() -> None:
    """The network's failure is an input error that names the file."""

    def fail(request: Any) -> Any:
        raise httpx2.ConnectError("secret detail", request=request)

    with pytest.raises(InputError, match=r"receipt\.png cannot be fetched \(ConnectError\)\. Fetch it yourself"):
        fetch_url(URL, resolve=lambda *_: [PUBLIC], transport=httpx2.MockTransport(fail))


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
