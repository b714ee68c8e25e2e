"""The pages of secret links: one page for each link, and the answers that are sent from it. Needs the extra ``web``.

An answer must carry the cookie and the form token of its link.

Source: OWASP's Cross-Site Request Forgery Prevention Cheat Sheet (signed double-submit cookie).
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision
from emitter.errors import AlreadyResolved, BadToken, MissingExtra, UnknownDecision
from emitter.threads import run_blocking
from emitter.web.answering import DecisionForms, DecisionPage, require_open
from emitter.web.pages import ERROR_HANDLERS, HostMiddleware, check_origin, read_form

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp

    from emitter.decisions.ledger import Ledger
    from emitter.web.answering import DetailSetting

try:
    from starlette.applications import Starlette
    from starlette.responses import RedirectResponse
    from starlette.routing import Route
except ImportError as error:
    raise MissingExtra("The local page needs starlette.", extra="web") from error
TOKEN_FIELD: Final = "token"  # noqa: S105  the name of a field
"""The form field that holds the form's token."""
_TOKEN_BYTES: Final = 32


@dataclass(frozen=True, slots=True, repr=False)
class Link:
    """The secret link to one decision, with the values that its page's cookie and forms carry."""

    decision_id: str
    token: str
    cookie: str
    form_token: str

    @property
    def path(self) -> str:
        """The path of the page."""
        return f"/decide/{self.token}"

    @property
    def cookie_name(self) -> str:
        """The cookie's name. Each link has its own, because all ports of a host share their cookies."""
        return f"emitter-{hashlib.sha256(self.token.encode()).hexdigest()[:16]}"

    def check(self, cookie: str, fields: Mapping[str, str]) -> None:
        """Raise ``BadToken`` if an answer does not come from the page."""
        # Both are always compared, so that the time of a refusal does not show which one was wrong.
        checks = (
            _constant_time_equal(cookie, self.cookie),
            _constant_time_equal(fields.get(TOKEN_FIELD, ""), self.form_token),
        )
        if not all(checks):
            raise BadToken("The answer does not come from this decision's page.", hint="Open the link again.")


@dataclass(slots=True, repr=False)
class Links:
    """The links of one server."""

    _key: bytes = field(default_factory=lambda: secrets.token_bytes(_TOKEN_BYTES), init=False)
    _links: dict[bytes, Link] = field(default_factory=dict[bytes, Link], init=False)
    _tickets: dict[bytes, Link] = field(default_factory=dict[bytes, Link], init=False)

    def add(self, decision_id: str) -> Link:
        """Return a new link to a decision."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        link = Link(decision_id, token, self._derive("cookie", token), self._derive("form", token))
        self._links[_hash_token(token)] = link
        return link

    def find(self, token: str) -> Link:
        """Return the link with this token, or raise ``UnknownDecision``."""
        return _require_link(self._links.get(_hash_token(token)))

    def ticket(self, link: Link) -> str:
        """Return a path that redirects to a link once. It is for a browser's command line, which others can read."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._tickets[_hash_token(token)] = link
        return f"/open/{token}"

    def peek(self, ticket: str) -> Link:
        """Return a ticket's link without using the ticket up, or raise ``UnknownDecision``."""
        return _require_link(self._tickets.get(_hash_token(ticket)))

    def redeem(self, ticket: str) -> Link:
        """Return a ticket's link, and use the ticket up, or raise ``UnknownDecision``."""
        return _require_link(self._tickets.pop(_hash_token(ticket), None))

    def _derive(self, purpose: str, token: str) -> str:
        return hmac.new(self._key, f"{purpose}:{token}".encode(), hashlib.sha256).hexdigest()


_LINK_HINT: Final = "Open the link exactly as you received it. It works until the decision is answered."


def _require_link(link: Link | None) -> Link:
    if link is None:
        raise UnknownDecision("There is nothing here.", hint=_LINK_HINT)
    return link


def _hash_token(token: str) -> bytes:
    """Return the key for looking a token up, so that the lookup's timing reveals nothing about it."""
    return hashlib.sha256(token.encode()).digest()


def _constant_time_equal(actual: str, expected: str) -> bool:
    return hmac.compare_digest(actual.encode(), expected.encode())


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
    """The endpoints of the application."""

    def __init__(self, ledger: Ledger, links: Links, origin: str, forms: DecisionForms) -> None:
        self._ledger = ledger
        self._links = links
        self._origin = origin
        self._forms = forms

    async def redeem_ticket(self, request: Request) -> Response:
        """Redirect a ticket to its decision, once."""
        # Link previews and virus scanners send HEAD first, which must not use the ticket up.
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
            return self._forms.show_answered(_page_of(link), decision)
        return _with_cookie(await self._forms.receive(_page_of(link), decision, fields), link)

    async def _find_decision(self, link: Link) -> PendingDecision | ResolvedDecision:
        decision = await run_blocking(self._ledger.find, link.decision_id)
        return decision if isinstance(decision, ResolvedDecision) else require_open(decision)


def _page_of(link: Link) -> DecisionPage:
    return DecisionPage(link.path, {TOKEN_FIELD: link.form_token})


def _with_cookie(response: Response, link: Link) -> Response:
    # Not secure=True: the page is served over plain HTTP on loopback.
    response.set_cookie(link.cookie_name, link.cookie, path=link.path, httponly=True, samesite="strict")
    return response
