"""A server on loopback for as long as a block runs: it hands out links, and waits for what is answered on them."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from emitter.errors import InputError
from emitter.web.application import app
from emitter.web.links import Links
from emitter.web.server import server

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from emitter.ledger import Ledger, Resolved
    from emitter.web.application import Detail
    from emitter.web.links import Link

_LAST_PORT: Final = 65535
_UNSAID_PORT: Final = 80
"""The port that a browser leaves out of an address, and so out of ``Host`` and ``Origin``."""
_LINGER: Final = 0.3
"""Seconds that a server outlives its block, so that a form that is sent twice meets a page and not a closed port."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen; port 0 is any free one. Raises ``InputError`` for what is not this machine alone.

    ``host`` is kept in the one form that browsers write it in.
    """

    host: str = "127.0.0.1"
    port: int = 0

    def __post_init__(self) -> None:
        if type(self.port) is not int or not 0 <= self.port <= _LAST_PORT:
            raise InputError(f"There is no port {self.port}.", hint=f"A port is a number from 0 to {_LAST_PORT}.")
        with suppress(ValueError):
            known = ip_address(self.host)
            if known.is_loopback and "%" not in known.compressed:
                object.__setattr__(self, "host", known.compressed)
                return
        raise InputError(f"A decision is not served at {self.host!r}.", hint="Loopback is 127.0.0.1 or ::1.")

    def authority(self, port: int) -> str:
        """Return host and ``port`` as browsers write them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if port == _UNSAID_PORT else f"{host}:{port}"


LOOPBACK: Final = Address()
"""A free port of 127.0.0.1."""


@dataclass(frozen=True, slots=True)
class Site:
    """The pages of one server's decisions, at ``authority``: its host and port."""

    authority: str
    links: Links = field(default_factory=Links)
    _answers: dict[str, asyncio.Future[Resolved]] = field(
        default_factory=dict[str, "asyncio.Future[Resolved]"], init=False
    )

    def link(self, decision_id: str) -> Link:
        """Return a new link to a decision of the ledger; ``url(link.path)`` is what to tell the principal."""
        return self.links.add(decision_id)

    def url(self, path: str) -> str:
        """Return the address of a path of this server."""
        return f"http://{self.authority}{path}"

    def ticket(self, link: Link) -> str:
        """Return an address that leads to the link once: for a browser's command line, which others can read."""
        return self.url(self.links.ticket(link))

    async def answered(self, decision_id: str) -> Resolved:
        """Wait until a decision is answered on its page, and return how; any number of tasks may wait."""
        return await asyncio.shield(self._answer(decision_id))

    def told(self, done: Resolved) -> None:
        """Take note of an answer; whoever waits for it is woken."""
        waiting = self._answer(done.pending.decision_id)
        if not waiting.done():
            waiting.set_result(done)

    def _answer(self, decision_id: str) -> asyncio.Future[Resolved]:
        return self._answers.setdefault(decision_id, asyncio.get_running_loop().create_future())


@asynccontextmanager
async def hosted(ledger: Ledger, at: Address = LOOPBACK, *, detail: Detail = True) -> AsyncGenerator[Site]:
    """Serve the decisions of a ledger until the block ends; raises ``InputError`` where the address is taken.

    ``detail`` says how requests for detail are answered: by a function of the topic on the spot, or, where True, by
    whoever calls ``ledger.answer_detail``. False does not offer it.
    """
    with closing(_bound(at)) as listening:
        site = Site(at.authority(listening.getsockname()[1]))
        serving = server(app(ledger, site.links, site.authority, site.told, detail=detail))
        running = asyncio.create_task(serving.serve(sockets=[listening]))
        try:
            yield site
            await asyncio.sleep(_LINGER)
        finally:
            serving.should_exit = True
            await running


def _bound(at: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in at.host else socket.AF_INET
    try:
        return socket.create_server((at.host, at.port), family=family)
    except OSError as error:
        raise InputError(f"The page cannot be served at {at.host}, port {at.port}: {error.strerror}.") from error
