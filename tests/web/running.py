"""A real server in a thread of its own, and a plain client that holds it to its word."""

from __future__ import annotations

import asyncio
import http.client
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

import pytest

from emitter.decisions.ledger import Ledger
from emitter.telemetry.sinks import generate_id
from emitter.testing.sample_moments import VALID_MOMENT
from emitter.web import LOOPBACK, open_site, server
from tests.render.html.reading import Node, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.decisions import Resolution
    from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision
    from emitter.events import RunEvent
    from emitter.models import BindingMoment
    from emitter.web import Address, DetailSetting, Site

FORM = "application/x-www-form-urlencoded"


@dataclass
class Running:
    """A site that runs, its ledger, and what the ledger reported."""

    site: Site
    ledger: Ledger
    reported: list[RunEvent]

    def asked(self, moment: BindingMoment = VALID_MOMENT, expires_in: float | None = None) -> Asked:
        """Open a decision of its own, and return it with its link: its options do what no other's do."""
        actions = [generate_id() for _ in moment.question.options]
        pending = self.ledger.open(moment, agent=generate_id(), actions=actions, expires_in=expires_in)
        link = self.site.link(pending.decision_id)
        return Asked(self, pending, self.site.url(link.path))


@contextmanager
def running(ledger: Ledger | None = None, at: Address = LOOPBACK, *, detail: DetailSetting = True) -> Iterator[Running]:
    """Run a site until the block ends."""
    reported: list[RunEvent] = []
    kept = Ledger(on_event=reported.append) if ledger is None else ledger
    started, stop = threading.Event(), threading.Event()
    site: list[Site] = []

    async def main() -> None:
        async with open_site(kept, at, detail=detail) as made:
            site.append(made)
            started.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=asyncio.run, args=(main(),))
    patch = pytest.MonkeyPatch()
    patch.setattr(server, "_LINGER_SECONDS", 0.0)  # no browser is there to send a form a second time
    thread.start()
    try:
        assert started.wait(10)
        yield Running(site[0], kept, reported)
    finally:
        stop.set()
        thread.join(10)
        patch.undo()


@dataclass
class Shown:
    """A response: its status, its headers, and its page."""

    status: int
    headers: list[tuple[str, str]]
    body: str

    @property
    def root(self) -> Node:
        """The page's root element."""
        return parsed(self.body)

    def header(self, name: str) -> str:
        """Return the one header of this name."""
        (found,) = [value for each, value in self.headers if each.lower() == name]
        return found


def request(url: str, method: str = "GET", body: bytes | None = None, **headers: str | None) -> Shown:
    """Send one request with exactly these headers (``_`` for ``-``, None for none of it), and return the response."""
    parts = urlsplit(url)
    given = {"host": parts.netloc, "connection": "close", **{k.replace("_", "-"): v for k, v in headers.items()}}
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=120)
    try:
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        for name, value in given.items():
            if value is not None:
                connection.putheader(name, value)
        if body is not None:
            connection.putheader("content-length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        return Shown(response.status, response.getheaders(), response.read().decode())
    finally:
        connection.close()


@dataclass
class Asked:
    """A decision that waits on its page, as a browser has it."""

    running: Running
    pending: PendingDecision
    url: str
    cookie: str = ""
    forms: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    @property
    def stands(self) -> PendingDecision | ResolvedDecision:
        """The decision as it stands."""
        return self.running.ledger.find(self.pending.decision_id)

    @property
    def answer(self) -> Resolution | object:
        """How it was resolved."""
        return getattr(self.stands, "resolution", None)

    @property
    def origin(self) -> str:
        """Where the page is."""
        return self.running.site.url("")

    def opened(self) -> Asked:
        """Open the page, and keep its cookie and its forms."""
        shown = request(self.url)
        assert shown.status == 200
        self.cookie = shown.header("set-cookie").partition(";")[0]
        self.forms = [each.fields for each in shown.root.all("form")]
        return self

    def send(self, fields: Mapping[str, str] | bytes, **headers: str | None) -> Shown:
        """Send a form as a browser does, save for the headers that are given."""
        body = fields if isinstance(fields, bytes) else urlencode(fields).encode()
        usual: dict[str, str | None] = {
            "origin": self.origin,
            "sec_fetch_site": "same-origin",
            "content_type": FORM,
            "cookie": self.cookie or None,
        }
        return request(self.url, "POST", body, **{**usual, **headers})

    def choose(self, index: int) -> Shown:
        """Choose an option on the page."""
        return self.send({**self.forms[0], "choice": f"option:{index}"})


def answer(url: str, form: int, **filled: str) -> int:
    """Answer on a page, as a browser does; return the status."""
    shown = request(url)
    fields = {**parsed(shown.body).all("form")[form].fields, **filled}
    body = "&".join(f"{name}={value}" for name, value in fields.items()).encode()
    headers = {"cookie": shown.header("set-cookie").partition(";")[0], "origin": url.partition("/decide")[0]}
    return request(url, "POST", body, content_type=FORM, **headers).status
