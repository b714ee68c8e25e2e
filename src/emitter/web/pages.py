"""The parts of HTTP that all pages share: checks of requests, forms, refusals, and the security headers.

Every refused request gets a page that says what to do, and leaves the ledger unchanged.

Sources: the Fetch standard (``Origin``), Fetch Metadata Request Headers (``Sec-Fetch-Site``), the URL standard, section
5, and RFC 9110, section 15.5.20 (421).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias, assert_never
from urllib.parse import parse_qsl

from emitter.answers import ReplyKind
from emitter.decisions import MAX_ANSWER_LENGTH, Dialogue, FreeText, Selected
from emitter.decisions.ledger_entries import UnreadableAnswer
from emitter.decisions.resolution import ResolutionOutcome
from emitter.errors import (
    AlreadyResolved,
    BadResolution,
    BadToken,
    DecisionExpired,
    MissingExtra,
    ResolutionError,
    StoreFailed,
    UnknownDecision,
    WrongDigest,
)
from emitter.render.html_page import SAME_ORIGIN_POLICY, build_document, element, untrusted_element
from emitter.render.safe_text import to_single_line

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from emitter.decisions.ledger_entries import ResolvedDecision
    from emitter.decisions.ledger_words import KeepWords
    from emitter.render.html_page import Markup

try:
    from starlette.datastructures import Headers, MutableHeaders
    from starlette.requests import ClientDisconnect
    from starlette.responses import HTMLResponse
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


PERHAPS_RECORDED: Final = "If you sent an answer, the same answer counts once if you send it again."
_NOT_RECORDED: Final = "Nothing was recorded by this."
_ERROR_PAGES: Final[Mapping[type[ResolutionError], tuple[int, str]]] = {
    UnknownDecision: (404, "Nothing here"),
    BadToken: (403, "Not from this page"),
    AlreadyResolved: (409, "Already answered"),
    WrongDigest: (409, "Another decision"),
    DecisionExpired: (410, "Closed"),
    TooLarge: (413, "Too long"),
    NotAForm: (415, "Not a form of this page"),
}
REPLY_PAGES: Final[Mapping[ReplyKind, tuple[int, str]]] = {
    ReplyKind.ALREADY_APPROVED: (422, "Already approved"),
    ReplyKind.ANSWERED: (409, "Already answered"),
    ReplyKind.CLOSED: (410, "Closed"),
    ReplyKind.UNKNOWN: (404, "Nothing here"),
    ReplyKind.NOT_ALLOWED: (403, "Not allowed"),
    ReplyKind.OTHER_DECISION: (409, "Another decision"),
    ReplyKind.NOT_ACCEPTED: (422, "Not accepted"),
    ReplyKind.UNSIGNED: (409, "Not signed"),
    ReplyKind.UNAVAILABLE: (503, "Out of reach"),
    ReplyKind.FAILED: (500, "Something broke"),
}
"""The status and the title of the pages for answers that are not recorded."""
_FINAL_ERRORS: Final = (UnknownDecision, AlreadyResolved, DecisionExpired)


async def _on_rejected(request: Request, error: Exception) -> Response:
    status, title = next(
        (page for kind, page in _ERROR_PAGES.items() if isinstance(error, kind)), (422, "Not accepted")
    )
    return refusal_page(status, title, str(error), None if isinstance(error, _FINAL_ERRORS) else request.url.path)


def show_refusal(
    status: int, title: str, message: str, *, back: bool = False, note: str = _NOT_RECORDED
) -> ErrorHandler:
    """Return a handler that shows a page for a refused request."""

    async def handle(request: Request, _error: Exception) -> Response:
        return refusal_page(status, title, message, request.url.path if back else None, note=note)

    return handle


ERROR_HANDLERS: Final[Mapping[int | type[Exception], ErrorHandler]] = {
    404: show_refusal(
        404, "Nothing here", "Open the link exactly as you received it. It works until the decision is answered."
    ),
    405: show_refusal(405, "Not like this", "Open the link in a browser, and answer on the page."),
    ResolutionError: _on_rejected,
    StoreFailed: show_refusal(
        503, "Out of reach", "The store of the decisions is not available. Try again.", back=True
    ),
    Exception: show_refusal(
        500,
        "Something broke",
        "This is a bug in the program. Open the link again to see the decision's state.",
        note=PERHAPS_RECORDED,
    ),
}


def recorded_page(
    resolved: ResolvedDecision, keep_words: KeepWords | None, header: Sequence[Markup] = ()
) -> HTMLResponse:
    """Return the page that confirms an answer, and says how the principal's words are kept."""
    if isinstance(resolved.resolution, Selected):
        message = _CHOICE_RECORDED
    else:
        message = _WORDS_NOT_KEPT if keep_words is None else keep_words.summary
    return _outcome_page(resolved, "Recorded", f"{message} You can close this page.", header, is_yours=True)


_CHOICE_RECORDED = "Your choice is recorded for the agent to read."
_WORDS_NOT_KEPT = (
    "The kind of your answer is recorded. Your words are passed to the program that serves this page, and not kept."
)


def already_answered_page(resolved: ResolvedDecision, header: Sequence[Markup] = (), *, is_yours: bool) -> HTMLResponse:
    """Return the page for a second answer, which is not recorded. It says whose answer counts."""
    message = "The first answer counts; nothing more was recorded."
    return _outcome_page(resolved, "Already answered", message, header, is_yours=is_yours, status=409)


def _outcome_page(  # noqa: PLR0913  the parts of the page
    resolved: ResolvedDecision,
    title: str,
    message: str,
    header: Sequence[Markup],
    *,
    is_yours: bool,
    status: int = 200,
) -> HTMLResponse:
    reference = element("p", "This answers the decision with the digest ", element("code", resolved.pending.digest))
    body = (
        *header,
        element("p", "A decision of yours" if is_yours else "A decision", class_="eyebrow"),
        element("h1", title),
        *answer_elements(resolved, is_yours=is_yours),
        element("p", message, class_="how"),
        element("footer", reference),
    )
    return HTMLResponse(build_document(title, *body, security=SAME_ORIGIN_POLICY), status)


def answer_elements(resolved: ResolvedDecision, *, is_yours: bool) -> Iterator[Markup]:
    """Yield whose answer it is, and the answer, with the principal's words if they can be read."""
    name, labels = to_single_line(resolved.principal), _YOUR_ANSWERS
    if not is_yours:
        labels = _NAMED_ANSWERS if name else _ANSWERS
    who = (untrusted_element("span", name), " ") if name and not is_yours else ()
    match resolved.resolution:
        case Selected(index=index):
            yield element("p", *who, f"{labels[ResolutionOutcome.SELECTED]}:")
            yield untrusted_element("blockquote", to_single_line(resolved.pending.moment.question.options[index].label))
        case FreeText(answer=words) | Dialogue(objection=words):
            label = labels[ResolutionOutcome.of_resolution(resolved.resolution)]
            yield element("p", *who, f"{label}{':' if words else '.'}")
            if words:
                yield untrusted_element("blockquote", words)
        case UnreadableAnswer(outcome=outcome):
            yield element("p", *who, f"{labels[outcome]}.")
        case _ as never:
            assert_never(never)


_YOUR_ANSWERS: Final = {
    ResolutionOutcome.SELECTED: "You chose",
    ResolutionOutcome.FREE_TEXT: "You answered in your own words",
    ResolutionOutcome.DIALOGUE: "You sent the question back, to talk first",
}
_NAMED_ANSWERS: Final = {
    ResolutionOutcome.SELECTED: "answered",
    ResolutionOutcome.FREE_TEXT: "answered in other words than the options",
    ResolutionOutcome.DIALOGUE: "sent the question back, to talk first",
}
_ANSWERS: Final = {
    ResolutionOutcome.SELECTED: "The choice",
    ResolutionOutcome.FREE_TEXT: "An answer in other words than the options",
    ResolutionOutcome.DIALOGUE: "The question was sent back, to talk first",
}


def refusal_page(
    status: int, title: str, message: str, back: str | None = None, *, note: str = _NOT_RECORDED
) -> HTMLResponse:
    """Return the page for a rejected request. ``back`` is the path of a decision that is still open."""
    body = [element("h1", title), element("p", message), *((element("p", note, class_="how"),) if note else ())]
    if back is not None:
        body.append(element("p", element("a", "Back to the decision", href=back)))
    return HTMLResponse(build_document(title, *body, security=SAME_ORIGIN_POLICY), status)


SECURITY_HEADERS: Final = {
    "Content-Security-Policy": f"{SAME_ORIGIN_POLICY}; frame-ancestors 'none'",
    # For browsers without frame-ancestors: in a frame, another site could make people click on an option unseen.
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    # With no-referrer, browsers send forms with "Origin: null", which could not be checked.
    "Referrer-Policy": "same-origin",
    # A page that opened this one gets no handle to its window.
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # The pages contain form tokens and the principal's words.
    "Cache-Control": "no-store",
}


_MISDIRECTED: Final = "Open the address exactly as you received it, with its number and port."


@dataclass(frozen=True, slots=True)
class HostMiddleware:
    """Refuses requests to other hosts than ``authorities``, unless it is empty, and adds ``headers`` to responses."""

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
            # A site that rebinds its own name to this address sends its own name (DNS rebinding).
            if len(hosts) != 1 or (self.authorities and hosts[0] not in self.authorities):
                app = refusal_page(421, "Not under this name", _MISDIRECTED)
        await app(scope, receive, send_with_headers)


def check_origin(request: Request, *origins: str) -> None:
    """Raise ``BadToken`` unless the browser says that the request comes from one of ``origins``."""
    # Browsers set both headers themselves, and a page cannot change them. A client that sends neither is refused too: a
    # form of this page always has one of them.
    sender, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if (sender, site) == (None, None) or sender not in {None, *origins} or site not in {None, "same-origin"}:
        raise BadToken("The answer comes from another site.", hint="Answer on the page itself.")


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of the submitted form. Raises ``TooLarge``, or ``NotAForm`` for another body."""
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
