"""What the surface keeps to itself: links, cookies, addresses, and what every response says to the browser."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.decisions.ledger import Ledger
from emitter.errors import InputError, UnknownDecision
from emitter.web import Address, Links, open_site
from tests.web.running import Asked, Running, Shown, request, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.web import Link


@pytest.fixture(scope="module")
def site() -> Iterator[Running]:
    """Run one site for all tests of this module."""
    with running() as found:
        yield found


GUARDED: dict[str, Callable[[Asked], Shown]] = {
    "the page": lambda a: request(a.url),
    "an answer": lambda a: a.choose(0),
    "nothing": lambda a: request(f"{a.url}x"),
    "another method": lambda a: request(a.url, "DELETE"),
    "another name": lambda a: request(a.url, host="evil.example"),
    "a forged answer": lambda a: a.send({}),
}


@pytest.mark.parametrize("send", GUARDED.values(), ids=GUARDED.keys())
def test_every_response_is_guarded(site: Running, send: Callable[[Asked], Shown]) -> None:
    """Section 11.4: no frame, no script, no cache, no type but the one that is said, and no address to anybody else."""
    shown = send(site.asked().opened())
    policy = shown.header("content-security-policy")

    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "form-action 'self'" in policy
    assert "script-src" not in policy
    assert "unsafe" not in policy
    assert shown.header("cache-control") == "no-store"
    assert shown.header("x-content-type-options") == "nosniff"
    assert shown.header("x-frame-options") == "DENY"
    assert shown.header("referrer-policy") == "same-origin"
    assert shown.header("cross-origin-opener-policy") == "same-origin"
    assert shown.header("content-type") == "text/html; charset=utf-8"
    assert "server" not in dict(shown.headers)


def test_the_cookie_stays_where_it_is(site: Running) -> None:
    """It goes to this page alone, from this page alone, and no script reads it."""
    asked = site.asked()
    shown = request(asked.url)
    name, _, rest = shown.header("set-cookie").partition("=")
    path = urlsplit(asked.url).path

    assert sorted(rest.split("; ")[1:]) == ["HttpOnly", f"Path={path}", "SameSite=strict"]
    assert path.rpartition("/")[2] not in name


def test_no_link_is_written_down(caplog: pytest.LogCaptureFixture, site: Running) -> None:
    """A link is a secret: neither a log of the process nor a value's own form tells it."""
    caplog.set_level(logging.DEBUG)
    asked = site.asked().opened()
    asked.choose(0)
    asked.send({})
    link = site.site.link("id")
    token = urlsplit(asked.url).path.rpartition("/")[2]

    assert token not in caplog.text
    assert "/decide/" not in caplog.text
    assert not any(each in repr(link) for each in (link.token, link.cookie, link.form_token))


@pytest.mark.parametrize(
    "host",
    ["0.0.0.0", "::", "192.0.2.1", "example.org", "localhost", "", "127.0.0.1.evil", "::1%lo"],  # noqa: S104
)
def test_it_is_served_on_loopback_alone(host: str) -> None:
    """Section 11.4: an address that others reach is refused before anything listens."""
    with pytest.raises(InputError, match="loopback address"):
        Address(host)


def test_a_port_that_is_taken_is_said(site: Running) -> None:
    """So is one that there is not."""

    async def served() -> None:
        async with open_site(Ledger(), Address(port=int(site.site.authority.rpartition(":")[2]))):
            raise AssertionError

    with pytest.raises(InputError, match="cannot be served"):
        asyncio.run(served())
    for number in (65536, -1, "80", 1.5, None):
        with pytest.raises(InputError, match="0 to 65535"):
            Address(port=number)  # type: ignore[arg-type]


def test_it_is_served_at_ipv6_too() -> None:
    """The loopback address of IPv6 is this machine as well."""
    with running(at=Address("::1")) as site:
        asked = site.asked().opened()

        assert asked.url.startswith("http://[::1]:")
        assert asked.choose(0).status == 200


@pytest.mark.parametrize(
    ("host", "port", "said"),
    [
        ("127.0.0.1", 8000, "127.0.0.1:8000"),
        ("127.0.0.1", 80, "127.0.0.1"),
        ("::1", 80, "[::1]"),
        ("0:0:0:0:0:0:0:1", 8000, "[::1]:8000"),
    ],
)
def test_it_is_called_what_a_browser_calls_it(host: str, port: int, said: str) -> None:
    """Browsers leave port 80 out and shorten addresses, and no other name is answered to."""
    assert Address(host, port).authority(port) == said


TOKEN = st.text(max_size=60)


@given(TOKEN)
def test_a_guessed_token_leads_nowhere(guess: str) -> None:
    """Links are found by their whole token, tickets by theirs, and once."""
    links = Links()
    link = links.add("id")
    ticket = links.ticket(link).rpartition("/")[2]
    for find in (links.find, links.redeem):
        with pytest.raises(UnknownDecision):
            find(guess)

    assert links.find(link.token) is link
    assert links.redeem(ticket) is link
    with pytest.raises(UnknownDecision):
        links.redeem(ticket)
    with pytest.raises(UnknownDecision):
        links.find(ticket)


def test_links_are_of_one_server() -> None:
    """No two tokens, cookies or forms are alike, and each has 256 bits."""
    links: list[Link] = [made.add("id") for made in (Links(), Links()) for _ in range(50)]
    secrets: list[str] = [each for link in links for each in (link.token, link.cookie, link.form_token)]

    assert len(set(secrets)) == 300
    assert min(map(len, secrets)) >= 43
