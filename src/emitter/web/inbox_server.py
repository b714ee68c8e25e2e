"""Serve the inbox on loopback, for the one person who starts it.

A ticket signs a browser in, once. After each use a new one is announced, for another browser.
"""

from __future__ import annotations

import asyncio
import hmac
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from emitter.errors import MissingExtra
from emitter.web.inbox_application import INBOX_HEADERS, inbox
from emitter.web.links import Links
from emitter.web.pages import ERROR_HANDLERS, HostMiddleware
from emitter.web.server import LOOPBACK, create_uvicorn_server, listen, open_in_browser

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from emitter.authority import Authority
    from emitter.decisions.ledger import Ledger
    from emitter.decisions.principals import Principal
    from emitter.stores import Store
    from emitter.web.server import Address

try:
    from starlette.applications import Starlette
    from starlette.responses import RedirectResponse
    from starlette.routing import Mount, Route
except ImportError as error:
    raise MissingExtra("The inbox needs starlette.", extra="web") from error


def serve_inbox(
    source: Store | Ledger | Authority,
    principal: Principal,
    *,
    on_address: Callable[[str], object],
    address: Address = LOOPBACK,
    open_browser: bool = False,
) -> None:
    """Serve the inbox on loopback until Ctrl-C.

    Args:
        source: The store, ledger or authority of the agents.
        principal: The person who answers.
        on_address: Called with each address that signs a browser in, once. Show it to the person and nobody else.
        address: The address to listen on.
        open_browser: Also open the inbox in this machine's browser.

    Raises:
        InputError: The address is not available.
    """
    with closing(listen(address)) as listener:
        authority = address.authority(listener.getsockname()[1])
        session = _Session(principal, lambda path: on_address(f"http://{authority}{path}"))
        app = inbox(source, authenticate=session.authenticate, origin=f"http://{authority}")
        server = create_uvicorn_server(_with_sign_in(app, session, authority))
        session.announce_ticket()
        if open_browser:
            open_in_browser(f"http://{authority}{session.new_ticket()}")
        with suppress(KeyboardInterrupt):
            asyncio.run(server.serve(sockets=[listener]))


class _Session:
    """The session of the person: a cookie that is set only for a valid ticket."""

    def __init__(self, principal: Principal, announce: Callable[[str], object]) -> None:
        self._principal = principal
        self._announce = announce
        self._links = Links()
        self._link = self._links.add("")

    def new_ticket(self) -> str:
        """Return a path that signs a browser in, once."""
        return self._links.ticket(self._link)

    def announce_ticket(self) -> None:
        """Announce a path that signs a browser in, once."""
        self._announce(self.new_ticket())

    def authenticate(self, request: Request) -> Principal | None:
        """Return the person if the request has the session's cookie."""
        cookie = request.cookies.get(self._link.cookie_name, "")
        return self._principal if hmac.compare_digest(cookie.encode(), self._link.cookie.encode()) else None

    async def sign_in(self, request: Request) -> RedirectResponse:
        """Use a ticket up and set the cookie. A HEAD request does not use it up."""
        if request.method == "HEAD":
            self._links.peek(request.path_params["ticket"])
            return RedirectResponse("/", 303)
        link = self._links.redeem(request.path_params["ticket"])
        self.announce_ticket()
        response = RedirectResponse("/", 303)
        # Lax, not strict: a strict cookie would be missing when a link in a mail or a chat opens the inbox.
        response.set_cookie(link.cookie_name, link.cookie, httponly=True, samesite="lax")
        return response


def _with_sign_in(app: ASGIApp, session: _Session, authority: str) -> ASGIApp:
    routes = [Route("/open/{ticket}", session.sign_in, methods=["GET"]), Mount("/", app)]
    return HostMiddleware(Starlette(routes=routes, exception_handlers=ERROR_HANDLERS), (authority,), INBOX_HEADERS)
