"""The application: a page for each link, and the answer that is sent from it.

Every refusal is a page that says what to do, and leaves the ledger as it was. Needs the extra ``web``.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Final, TypeAlias

from emitter.errors import (
    AlreadyResolved,
    BadResolution,
    BadToken,
    DecisionExpired,
    HatchClosed,
    MissingExtra,
    NoSuchOption,
    ResolutionError,
    StoreFailed,
    UnknownDecision,
    WrongDigest,
)
from emitter.ledger import Pending, Resolved
from emitter.render.html import QUESTION, Form, Html
from emitter.render.reply import CHOICE, DETAIL, asked_for

try:
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import HTMLResponse, RedirectResponse, Response
    from starlette.routing import Route
except ImportError as error:
    raise MissingExtra("The local page needs starlette.", hint="Run: pip install 'emitter[web]'") from error

from emitter.web.guard import Guard
from emitter.web.incoming import NotAForm, TooLarge, fields, own_origin
from emitter.web.links import TOKEN, Link, Links
from emitter.web.pages import answered_before, recorded, refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from emitter.ledger import DetailRequest, Ledger

CHANNEL: Final = "web"
"""What the ledger is told a resolution came by."""

_READER: Final = Html(Form(""))
"""Reads what a form sends, and no typed line."""


Detail: TypeAlias = "Callable[[str], object] | bool"
"""Whether detail can be asked for on the page; a function of the topic answers on the spot.

The function returns a text or JSON, or None for no answer yet, or an awaitable of either. Where there is none, the
agent answers with ``Ledger.answer_detail``, from whichever process.
"""


def app(
    ledger: Ledger, links: Links, authority: str, told: Callable[[Resolved], None], *, detail: Detail = True
) -> ASGIApp:
    """Return an application that shows the decisions of ``links`` and takes their answers into ``ledger``.

    ``authority`` is the host and port it is reached at, such as ``127.0.0.1:8000``; requests that name another are
    refused. ``told`` is called, within the event loop, with each resolution that was taken down. ``detail`` says how
    requests for detail are answered.
    """
    desk = _Desk(ledger, links, f"http://{authority}", told, detail)
    routes = [
        Route("/decide/{token}", desk.show, methods=["GET"]),
        Route("/decide/{token}", desk.take, methods=["POST"]),
        Route("/open/{ticket}", desk.open, methods=["GET"]),
    ]
    handlers = {404: _nothing, 405: _not_so, ResolutionError: _not_taken, StoreFailed: _not_kept, Exception: _failed}
    made = Starlette(routes=routes, exception_handlers=handlers)
    made.router.redirect_slashes = False
    return Guard(made, authority)


class _Desk:
    """What is done with a request; ledgers may wait for a store, so they are asked in a thread."""

    def __init__(
        self, ledger: Ledger, links: Links, origin: str, told: Callable[[Resolved], None], detail: Detail
    ) -> None:
        self._detail = detail
        self._ledger = ledger
        self._links = links
        self._origin = origin
        self._told = told

    async def open(self, request: Request) -> Response:
        """Lead a ticket to its decision, once; looking at its headers alone does not spend it."""
        if request.method == "HEAD":
            return RedirectResponse(self._links.peek(request.path_params["ticket"]).path, 303)
        return RedirectResponse(self._links.redeem(request.path_params["ticket"]).path, 303)

    async def show(self, request: Request) -> Response:
        """Show a decision."""
        link = self._links.find(request.path_params["token"])
        found = await self._found(link)
        if isinstance(found, Resolved):
            raise AlreadyResolved("This decision was answered before.", hint="The first answer stands.")
        return await self._page(link, found)

    async def take(self, request: Request) -> Response:
        """Take an answer down; who has the page is told of an answer that was there before."""
        link = self._links.find(request.path_params["token"])
        own_origin(request, self._origin)
        sent = await fields(request)
        link.check(request.cookies.get(link.cookie_name, ""), sent)
        found = await self._found(link)
        if isinstance(found, Resolved):
            return answered_before(found)
        return await (self._asked if sent.get(CHOICE) == DETAIL else self._resolved)(link, found, sent)

    async def _asked(self, link: Link, pending: Pending, sent: Mapping[str, str]) -> Response:
        """Take down a request for detail, and have it answered where that can be done here."""
        if self._detail is False:
            raise BadResolution("Nobody can be asked for detail here.", hint="Answer, or object to the question.")
        try:
            topic = asked_for(pending.moment, sent) or ""
            asked = partial(self._ledger.ask_detail, link.decision_id, topic, channel=CHANNEL)
            request = await run_in_threadpool(asked)
        except BadResolution as error:
            return await self._page(link, pending, _Problem(422, str(error), sent))
        except StoreFailed:
            return await self._page(link, pending, _Problem(503, "The request could not be kept. Send it again.", sent))
        if callable(self._detail) and request.is_open:
            answer: object = await run_in_threadpool(self._detail, topic)
            answer = await answer if isawaitable(answer) else answer
            if answer is not None:
                await run_in_threadpool(self._ledger.answer_detail, link.decision_id, request.number, answer)
        return RedirectResponse(link.path, 303)

    async def _page(self, link: Link, pending: Pending, problem: _Problem | None = None) -> Response:
        requests: Sequence[DetailRequest] | None = None
        if self._detail is not False:
            with suppress(StoreFailed):  # the decision is shown all the same
                requests = await run_in_threadpool(self._ledger.detail_requests, link.decision_id)
        return _page(link, pending, requests, problem)

    async def _resolved(self, link: Link, pending: Pending, sent: Mapping[str, str]) -> Response:
        try:
            answer = _READER.read(pending.moment, sent)
            done = await run_in_threadpool(self._ledger.resolve, link.decision_id, answer, channel=CHANNEL)
        except (BadResolution, NoSuchOption, HatchClosed) as error:
            return await self._page(link, pending, _Problem(422, str(error), sent))
        except StoreFailed:
            return await self._page(link, pending, _Problem(503, "The answer could not be kept. Send it again.", sent))
        self._told(done)
        return recorded(done, self._ledger.words)

    async def _found(self, link: Link) -> Pending | Resolved:
        found = await run_in_threadpool(self._ledger.find, link.decision_id)
        if isinstance(found, Pending) and found.is_over(time.time()):
            raise DecisionExpired("The time to answer this decision is over.", hint="Ask for it to be put again.")
        return found


@dataclass(frozen=True, slots=True)
class _Problem:
    """Why what was ``sent`` was not taken, though the decision still stands."""

    status: int
    words: str
    sent: Mapping[str, str]


def _page(link: Link, pending: Pending, requests: Sequence[DetailRequest] | None, problem: _Problem | None) -> Response:
    form = Form(f"{link.path}#{QUESTION}", {TOKEN: link.form}, _closes(pending), requests)
    if problem is not None:
        form = replace(form, problem=problem.words, written=problem.sent)
    response = HTMLResponse(Html(form).draw(pending.moment), 200 if problem is None else problem.status)
    response.set_cookie(link.cookie_name, link.cookie, path=link.path, httponly=True, samesite="strict")
    return response


def _closes(pending: Pending) -> datetime | None:
    """Return when the decision's time is over, in the time of this machine, which is the principal's."""
    if pending.expires_at is None:
        return None
    with suppress(ValueError, OverflowError, OSError):  # beyond what a calendar has, it is open for ever
        return datetime.fromtimestamp(pending.expires_at, UTC).astimezone()
    return None


_STATUS: Final[Mapping[type[ResolutionError], tuple[int, str]]] = {
    UnknownDecision: (404, "Nothing here"),
    BadToken: (403, "Not from this page"),
    AlreadyResolved: (409, "Already answered"),
    WrongDigest: (409, "Another decision"),
    DecisionExpired: (410, "Closed"),
    TooLarge: (413, "Too long"),
    NotAForm: (415, "Not a form of this page"),
}
_OVER: Final = (UnknownDecision, AlreadyResolved, DecisionExpired)


async def _not_taken(request: Request, error: Exception) -> Response:
    status, title = next((told for kind, told in _STATUS.items() if isinstance(error, kind)), (422, "Not taken"))
    return refused(status, title, str(error), None if isinstance(error, _OVER) else request.url.path)


async def _not_kept(request: Request, _error: Exception) -> Response:
    return refused(503, "Out of reach", "What keeps the decisions could not be reached. Try again.", request.url.path)


async def _nothing(_request: Request, _error: Exception) -> Response:
    return refused(404, "Nothing here", "Open the link as it was told; it works until it is answered.")


async def _not_so(_request: Request, _error: Exception) -> Response:
    return refused(405, "Not like this", "Open the link in a browser, and answer on the page.")


async def _failed(_request: Request, _error: Exception) -> Response:
    return refused(500, "Something broke", "It is a mistake of this program's. Open the link again to see what stands.")
