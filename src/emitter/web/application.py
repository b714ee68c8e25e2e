"""The web application: one page for each link, and the answers that are sent from it.

Every rejected request gets a page that says what to do, and leaves the ledger unchanged. Needs the extra
``web``.

Sources: the Fetch standard (``Origin``), Fetch Metadata Request Headers (``Sec-Fetch-Site``), the URL standard,
section 5, and RFC 9110, section 15.5.20 (421).
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from inspect import isawaitable
from typing import TYPE_CHECKING, Final, TypeAlias, assert_never
from urllib.parse import parse_qsl

from emitter.decisions import MAX_ANSWER_LENGTH, Dialogue, FreeText, Selected
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision, UnreadableAnswer
from emitter.decisions.resolution import ResolutionOutcome
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
from emitter.render.html_page import (
    QUESTION_ID,
    SAME_ORIGIN_POLICY,
    Form,
    Html,
    build_document,
    element,
    untrusted_element,
)
from emitter.render.replies import CHOICE, DETAIL, parse_detail_request
from emitter.render.safe_text import to_single_line
from emitter.web.links import TOKEN_FIELD, Link, Links

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from emitter.decisions.ledger import Ledger
    from emitter.decisions.ledger_entries import DetailRequest
    from emitter.decisions.ledger_words import KeepWords
    from emitter.render.html_page import Markup

try:
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.datastructures import Headers, MutableHeaders
    from starlette.requests import ClientDisconnect
    from starlette.responses import HTMLResponse, RedirectResponse, Response
    from starlette.routing import Route
except ImportError as error:
    raise MissingExtra("The local page needs starlette.", extra="web") from error
MAX_BODY_BYTES: Final = 128 * 1024
"""Bytes of a form: enough for the longest answer with every character escaped."""
_MAX_FIELDS: Final = 8
_FORM_TYPE: Final = "application/x-www-form-urlencoded"


ErrorHandler: TypeAlias = "Callable[[Request, Exception], Awaitable[Response]]"


class TooLarge(BadResolution):
    """The form is longer than any answer can be."""


class NotAForm(BadResolution):
    """The request's body is not a form of the page."""


def check_origin(request: Request, origin: str) -> None:
    """Raise ``BadToken`` unless the browser says that the request comes from ``origin``."""
    sender, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if (sender, site) == (None, None) or sender not in {None, origin} or site not in {None, "same-origin"}:
        raise BadToken("The answer comes from another site.", hint="Answer on the page itself.")


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of the submitted form; raise ``TooLarge``, or ``NotAForm`` for another body."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM_TYPE:
        raise NotAForm("The request is not a form of this page.")
    body = await _read_body(request)
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=_MAX_FIELDS,
        )
    except ValueError:
        raise NotAForm("The form cannot be read.") from None
    fields = {name: value.replace("\r\n", "\n") for name, value in pairs}
    if len(fields) != len(pairs):
        raise NotAForm("The form holds a field twice.")
    return fields


async def _read_body(request: Request) -> bytes:
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > MAX_BODY_BYTES:
                raise TooLarge("The answer is too long.", hint=f"Write at most {MAX_ANSWER_LENGTH:,} characters.")
    except ClientDisconnect:
        raise NotAForm("The form was cut off.") from None
    return bytes(body)


CHANNEL: Final = "web"
"""The channel that the ledger records."""
_REPLY_READER: Final = Html(Form(""))
"""Reads submitted forms, and no typed lines."""
DetailSetting: TypeAlias = "Callable[[str], object] | bool"
"""True if the agent answers requests for detail with ``Ledger.answer_detail``, False if detail cannot be requested.

A function answers at once: it is called with the topic and returns text, JSON, or None for no answer yet. It may be
async.
"""


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
    handler = _RequestHandler(ledger, links, f"http://{authority}", on_resolved, detail)
    routes = [
        Route("/decide/{token}", handler.show_decision, methods=["GET"]),
        Route("/decide/{token}", handler.receive_answer, methods=["POST"]),
        Route("/open/{ticket}", handler.redeem_ticket, methods=["GET"]),
    ]
    app = Starlette(routes=routes, exception_handlers=_ERROR_HANDLERS)
    app.router.redirect_slashes = False
    return HostMiddleware(app, authority)


class _RequestHandler:
    """Handles requests. The ledger is called in threads, because its store may block."""

    def __init__(
        self,
        ledger: Ledger,
        links: Links,
        origin: str,
        on_resolved: Callable[[ResolvedDecision], None],
        detail: DetailSetting,
    ) -> None:
        self._detail = detail
        self._ledger = ledger
        self._links = links
        self._origin = origin
        self._on_resolved = on_resolved

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
        return await self._render_page(link, decision)

    async def receive_answer(self, request: Request) -> Response:
        """Record an answer, or show the answer that came first."""
        link = self._links.find(request.path_params["token"])
        check_origin(request, self._origin)
        fields = await read_form(request)
        link.check(request.cookies.get(link.cookie_name, ""), fields)
        decision = await self._find_decision(link)
        if isinstance(decision, ResolvedDecision):
            return already_answered_page(decision)
        return await (self._request_detail if fields.get(CHOICE) == DETAIL else self._resolve)(link, decision, fields)

    async def _request_detail(self, link: Link, pending: PendingDecision, fields: Mapping[str, str]) -> Response:
        """Record a request for detail, and answer it if a function can."""
        if self._detail is False:
            raise BadResolution("Detail cannot be requested here.", hint="Answer, or object to the question.")
        try:
            topic = parse_detail_request(pending.moment, fields) or ""
            request = await run_in_threadpool(self._ledger.ask_detail, link.decision_id, topic, channel=CHANNEL)
        except BadResolution as error:
            return await self._render_page(link, pending, _FormProblem(422, str(error), fields))
        except StoreFailed:
            return await self._render_page(
                link, pending, _FormProblem(503, "The request could not be saved. Send it again.", fields)
            )
        if callable(self._detail) and request.is_open:
            answer: object = await run_in_threadpool(self._detail, topic)
            answer = await answer if isawaitable(answer) else answer
            if answer is not None:
                await run_in_threadpool(self._ledger.answer_detail, link.decision_id, request.number, answer)
        return RedirectResponse(link.path, 303)

    async def _render_page(self, link: Link, pending: PendingDecision, problem: _FormProblem | None = None) -> Response:
        requests: Sequence[DetailRequest] | None = None
        if self._detail is not False:
            with suppress(StoreFailed):  # the decision itself can still be shown
                requests = await run_in_threadpool(self._ledger.detail_requests, link.decision_id)
        return _page_response(link, pending, requests, problem)

    async def _resolve(self, link: Link, pending: PendingDecision, fields: Mapping[str, str]) -> Response:
        try:
            answer = _REPLY_READER.read(pending.moment, fields)
            resolved = await run_in_threadpool(self._ledger.resolve, link.decision_id, answer, channel=CHANNEL)
        except (BadResolution, NoSuchOption, HatchClosed) as error:
            return await self._render_page(link, pending, _FormProblem(422, str(error), fields))
        except StoreFailed:
            return await self._render_page(
                link, pending, _FormProblem(503, "The answer could not be saved. Send it again.", fields)
            )
        self._on_resolved(resolved)
        return recorded_page(resolved, self._ledger.words)

    async def _find_decision(self, link: Link) -> PendingDecision | ResolvedDecision:
        decision = await run_in_threadpool(self._ledger.find, link.decision_id)
        if isinstance(decision, PendingDecision) and decision.is_expired(time.time()):
            if decision.withdrawn:
                raise DecisionExpired("The agent withdrew this decision.", hint="Nothing is left to answer.")
            raise DecisionExpired("This decision has expired.", hint="Ask the agent to put it to you again.")
        return decision


@dataclass(frozen=True, slots=True)
class _FormProblem:
    """The reason why submitted fields were rejected. The decision is still open."""

    status: int
    message: str
    fields: Mapping[str, str]


def _page_response(
    link: Link, pending: PendingDecision, requests: Sequence[DetailRequest] | None, problem: _FormProblem | None
) -> Response:
    form = Form(f"{link.path}#{QUESTION_ID}", {TOKEN_FIELD: link.form_token}, _closing_time(pending), requests)
    if problem is not None:
        form = replace(form, problem=problem.message, field_values=problem.fields)
    response = HTMLResponse(Html(form).draw(pending.moment), 200 if problem is None else problem.status)
    response.set_cookie(link.cookie_name, link.cookie, path=link.path, httponly=True, samesite="strict")
    return response


def _closing_time(pending: PendingDecision) -> datetime | None:
    """Return the decision's expiry in this machine's time zone, which is the principal's."""
    if pending.expires_at is None:
        return None
    with suppress(ValueError, OverflowError, OSError):  # beyond the calendar: shown without a deadline
        return datetime.fromtimestamp(pending.expires_at, UTC).astimezone()
    return None


_ERROR_PAGES: Final[Mapping[type[ResolutionError], tuple[int, str]]] = {
    UnknownDecision: (404, "Nothing here"),
    BadToken: (403, "Not from this page"),
    AlreadyResolved: (409, "Already answered"),
    WrongDigest: (409, "Another decision"),
    DecisionExpired: (410, "Closed"),
    TooLarge: (413, "Too long"),
    NotAForm: (415, "Not a form of this page"),
}
_FINAL_ERRORS: Final = (UnknownDecision, AlreadyResolved, DecisionExpired)


async def _on_rejected(request: Request, error: Exception) -> Response:
    status, title = next((page for kind, page in _ERROR_PAGES.items() if isinstance(error, kind)), (422, "Not taken"))
    return refusal_page(status, title, str(error), None if isinstance(error, _FINAL_ERRORS) else request.url.path)


def _show_refusal(status: int, title: str, message: str, *, back: bool = False) -> ErrorHandler:
    async def handle(request: Request, _error: Exception) -> Response:
        return refusal_page(status, title, message, request.url.path if back else None)

    return handle


_ERROR_HANDLERS: Final[Mapping[int | type[Exception], ErrorHandler]] = {
    404: _show_refusal(
        404, "Nothing here", "Open the link exactly as you received it. It works until the decision is answered."
    ),
    405: _show_refusal(405, "Not like this", "Open the link in a browser, and answer on the page."),
    ResolutionError: _on_rejected,
    StoreFailed: _show_refusal(
        503, "Out of reach", "The store of the decisions is not available. Try again.", back=True
    ),
    Exception: _show_refusal(
        500, "Something broke", "This is a bug in the program. Open the link again to see the decision's state."
    ),
}


def recorded_page(resolved: ResolvedDecision, keep_words: KeepWords | None) -> HTMLResponse:
    """Return the page that confirms an answer, and says how the principal's words are kept."""
    if isinstance(resolved.resolution, Selected):
        message = _CHOICE_RECORDED
    else:
        message = _WORDS_NOT_KEPT if keep_words is None else keep_words.summary
    return _outcome_page(resolved, "Recorded", f"{message} You can close this page.", 200)


_CHOICE_RECORDED = "Your choice is recorded for the agent to read."
_WORDS_NOT_KEPT = (
    "The kind of your answer is recorded. Your words are passed to the program that serves this page, and not kept."
)


def already_answered_page(resolved: ResolvedDecision) -> HTMLResponse:
    """Return the page for a second answer, which is not recorded."""
    return _outcome_page(resolved, "Already answered", "The first answer counts; nothing more was recorded.", 409)


def _outcome_page(resolved: ResolvedDecision, title: str, message: str, status: int) -> HTMLResponse:
    reference = element("p", "This answers the decision with the digest ", element("code", resolved.pending.digest))
    body = (
        element("p", "A decision of yours", class_="eyebrow"),
        element("h1", title),
        *_answer_elements(resolved),
        element("p", message, class_="how"),
        element("footer", reference),
    )
    return HTMLResponse(build_document(title, *body, security=SAME_ORIGIN_POLICY), status)


def _answer_elements(resolved: ResolvedDecision) -> Iterator[Markup]:
    match resolved.resolution:
        case Selected(index=index):
            yield element("p", "You chose:")
            yield untrusted_element("blockquote", to_single_line(resolved.pending.moment.question.options[index].label))
        case FreeText(answer=answer):
            yield element("p", "You answered in your own words:")
            yield untrusted_element("blockquote", answer)
        case Dialogue(objection=objection):
            yield element("p", "You sent the question back, to talk first", ":" if objection else ".")
            if objection:
                yield untrusted_element("blockquote", objection)
        case UnreadableAnswer(outcome=outcome):
            yield element("p", _WORDLESS_ANSWERS[outcome])
        case _ as never:
            assert_never(never)


_WORDLESS_ANSWERS = {
    ResolutionOutcome.SELECTED: "You chose an option.",
    ResolutionOutcome.FREE_TEXT: "You answered in your own words.",
    ResolutionOutcome.DIALOGUE: "You sent the question back, to talk first.",
}


def refusal_page(status: int, title: str, message: str, back: str | None = None) -> HTMLResponse:
    """Return the page for a rejected request. ``back`` is the path of a decision that is still open."""
    body = [element("h1", title), element("p", message), element("p", "Nothing was recorded by this.", class_="how")]
    if back is not None:
        body.append(element("p", element("a", "Back to the decision", href=back)))
    return HTMLResponse(build_document(title, *body, security=SAME_ORIGIN_POLICY), status)


_MISDIRECTED: Final = "Open the address exactly as you received it, with its number and port."
SECURITY_HEADERS: Final = {
    "Content-Security-Policy": f"{SAME_ORIGIN_POLICY}; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    # With no-referrer, browsers send forms with "Origin: null", which could not be checked.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True)
class HostMiddleware:
    """Answers requests to ``authority`` only, and adds ``SECURITY_HEADERS`` to every response."""

    app: ASGIApp
    authority: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(SECURITY_HEADERS)
            await send(message)

        hosts = Headers(scope=scope).getlist("host") if scope["type"] == "http" else [self.authority]
        app = self.app if hosts == [self.authority] else refusal_page(421, "Not under this name", _MISDIRECTED)
        await app(scope, receive, send_with_headers)
