"""An inbox that runs, the people who use it, and a plain client that holds it to its word."""

from __future__ import annotations

import asyncio
import threading
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.routing import Mount

from emitter.decisions.ledger import Ledger
from emitter.stores import MemoryStore
from emitter.telemetry.sinks import generate_id
from emitter.testing.sample_moments import VALID_MOMENT
from emitter.web import LOOPBACK, Principal, inbox
from emitter.web.server import create_uvicorn_server, listen
from tests.render.html.reading import parsed
from tests.web.running import FORM, Shown, request

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from emitter.authority import Authority
    from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision
    from emitter.models import BindingMoment

PREFIX = "/team/inbox"
PEOPLE = {name: Principal(name, name.title()) for name in ("alice", "bob", "carol", "mallory")}


def authenticate(request: Request) -> Principal | None:
    """Believe a header, as a service behind a proxy does."""
    return PEOPLE.get(request.headers.get("x-user", ""))


def may(principal: Principal, pending: PendingDecision, action: str) -> bool:
    """Let carol read only, and mallory see nothing but what his own agent asks."""
    if principal.id == "mallory":
        return pending.agent == "mallory's"
    return principal.id != "carol" or action == "see"


@contextmanager
def serving(app: ASGIApp) -> Iterator[str]:
    """Serve an application until the block ends, and yield its origin."""
    started, stop = threading.Event(), threading.Event()
    with closing(listen(LOOPBACK)) as listener:

        async def main() -> None:
            server = create_uvicorn_server(app)
            task = asyncio.create_task(server.serve(sockets=[listener]))
            started.set()
            await asyncio.to_thread(stop.wait)
            server.should_exit = True
            await task

        thread = threading.Thread(target=asyncio.run, args=(main(),))
        thread.start()
        try:
            assert started.wait(10)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            stop.set()
            thread.join(10)


@dataclass
class Inbox:
    """An inbox that runs under a prefix, and its ledger."""

    origin: str
    ledger: Ledger

    @property
    def url(self) -> str:
        """Where the list is."""
        return f"{self.origin}{PREFIX}/"

    def asked(self, moment: BindingMoment = VALID_MOMENT, **more: Any) -> Question:
        """Open a decision of its own, whose first option does something, and return it."""
        actions = [generate_id(), *([None] * (len(moment.question.options) - 1))]
        pending = self.ledger.open(moment, **{"agent": "agent", "actions": actions, **more})
        return Question(self, pending)


@contextmanager
def running(source: Ledger | Authority | None = None, **settings: Any) -> Iterator[Inbox]:
    """Run an inbox until the block ends."""
    kept = Ledger(MemoryStore()) if source is None else source
    app = inbox(kept, **{"authenticate": authenticate, "may": may, "poll_seconds": 0.05, **settings})
    with serving(Starlette(routes=[Mount(PREFIX, app)])) as origin:
        yield Inbox(origin, kept if isinstance(kept, Ledger) else kept.ledger)


@dataclass
class Question:
    """A decision that waits in the inbox, and its forms as somebody's browser has them."""

    inbox: Inbox
    pending: PendingDecision
    user: str = "alice"
    forms: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    @property
    def url(self) -> str:
        """Where its page is."""
        return f"{self.inbox.url}decisions/{self.pending.reference}"

    @property
    def stands(self) -> PendingDecision | ResolvedDecision:
        """The decision as it stands."""
        return self.inbox.ledger.find(self.pending.decision_id)

    def shown(self, user: str | None = "alice") -> Shown:
        """Return the page as somebody sees it."""
        return request(self.url, x_user=user)

    def opened(self, user: str = "alice") -> Question:
        """Return the question with its forms, as somebody opens its page."""
        shown = self.shown(user)
        assert shown.status == 200
        return Question(self.inbox, self.pending, user, [each.fields for each in parsed(shown.body).all("form")])

    def send(self, fields: Mapping[str, str] | bytes, **headers: str | None) -> Shown:
        """Send a form as a browser does, save for the headers that are given."""
        body = fields if isinstance(fields, bytes) else urlencode(fields).encode()
        usual: dict[str, str | None] = {
            "origin": self.inbox.origin,
            "sec_fetch_site": "same-origin",
            "content_type": FORM,
            "x_user": self.user,
        }
        url = headers.pop("url", None) or self.url
        return request(url, str(headers.pop("method", "POST")), body, **{**usual, **headers})

    def choose(self, index: int, **headers: str | None) -> Shown:
        """Choose an option on the page."""
        return self.send({**self.forms[0], "choice": f"option:{index}"}, **headers)
