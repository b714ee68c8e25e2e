"""The web application of links: one page for each link, and the answers that are sent from it.

Every rejected request gets a page that says what to do, and leaves the ledger unchanged. Needs the extra
``web``.

Source: RFC 9110, section 15.5.20 (421).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision
from emitter.errors import AlreadyResolved, MissingExtra
from emitter.web.answering import DecisionForms, DecisionPage, require_open
from emitter.web.links import TOKEN_FIELD
from emitter.web.pages import ERROR_HANDLERS, SECURITY_HEADERS, already_answered_page, refusal_page
from emitter.web.requests import check_origin, read_form

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from emitter.decisions.ledger import Ledger
    from emitter.web.answering import DetailSetting
    from emitter.web.links import Link, Links

try:
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.datastructures import Headers, MutableHeaders
    from starlette.responses import RedirectResponse
    from starlette.routing import Route
except ImportError as error:
    raise MissingExtra("The local page needs starlette.", extra="web") from error


def create_app(
    ledger: Ledger,
    links: Links,
    authority: str,
    on_resolved: Callable[[ResolvedDecision], None],
    *,
    detail: DetailSetting = True,
) -> ASGIApp:
    """Return an ASGI application that shows the decisions of ``links`` and records their answers.

    Args:
        ledger: The ledger of the decisions.
        links: The links that it serves.
        authority: Its host and port, such as ``127.0.0.1:8000``. Requests to any other are rejected.
        on_resolved: Called in the event loop with each recorded answer.
        detail: How requests for detail are answered.
    """
    handler = _RequestHandler(ledger, links, f"http://{authority}", DecisionForms(ledger, on_resolved, detail))
    routes = [
        Route("/decide/{token}", handler.show_decision, methods=["GET"]),
        Route("/decide/{token}", handler.receive_answer, methods=["POST"]),
        Route("/open/{ticket}", handler.redeem_ticket, methods=["GET"]),
    ]
    app = Starlette(routes=routes, exception_handlers=ERROR_HANDLERS)
    app.router.redirect_slashes = False
    return HostMiddleware(app, (authority,))


class _RequestHandler:
    """Handles requests."""

    def __init__(self, ledger: Ledger, links: Links, origin: str, forms: DecisionForms) -> None:
        self._ledger = ledger
        self._links = links
        self._origin = origin
        self._forms = forms

    async def redeem_ticket(self, request: Request) -> Response:
        """Redirect a ticket to its decision, once. A HEAD request does not use it up."""
        if request.method == "HEAD":
            return RedirectResponse(self._links.peek(request.path_params["ticket"]).path, 303)
        return RedirectResponse(self._links.redeem(request.path_params["ticket"]).path, 303)

    async def show_decision(self, request: Request) -> Response:
        link = self._links.find(request.path_params["token"])
        decision = await self._find_decision(link)
        if isinstance(decision, ResolvedDecision):
            raise AlreadyResolved("This decision was answered before.", hint="The first answer counts.")
        return _with_cookie(await self._forms.draw(_page_of(link), decision), link)

    async def receive_answer(self, request: Request) -> Response:
        """Record an answer, or show the answer that came first."""
        link = self._links.find(request.path_params["token"])
        check_origin(request, self._origin)
        fields = await read_form(request)
        link.check(request.cookies.get(link.cookie_name, ""), fields)
        decision = await self._find_decision(link)
        if isinstance(decision, ResolvedDecision):
            return already_answered_page(decision)
        return _with_cookie(await self._forms.receive(_page_of(link), decision, fields), link)

    async def _find_decision(self, link: Link) -> PendingDecision | ResolvedDecision:
        decision = await run_in_threadpool(self._ledger.find, link.decision_id)
        return decision if isinstance(decision, ResolvedDecision) else require_open(decision)


def _page_of(link: Link) -> DecisionPage:
    return DecisionPage(link.path, {TOKEN_FIELD: link.form_token})


def _with_cookie(response: Response, link: Link) -> Response:
    response.set_cookie(link.cookie_name, link.cookie, path=link.path, httponly=True, samesite="strict")
    return response


_MISDIRECTED: Final = "Open the address exactly as you received it, with its number and port."


@dataclass(frozen=True, slots=True)
class HostMiddleware:
    """Answers requests to one of ``authorities`` only, any if it is empty, and adds ``headers`` to every response."""

    app: ASGIApp
    authorities: Collection[str] = ()
    headers: Mapping[str, str] = field(default_factory=lambda: SECURITY_HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        app = self.app
        if scope["type"] == "http":
            hosts = Headers(scope=scope).getlist("host")
            if len(hosts) != 1 or (self.authorities and hosts[0] not in self.authorities):
                app = refusal_page(421, "Not under this name", _MISDIRECTED)
        await app(scope, receive, send_with_headers)
