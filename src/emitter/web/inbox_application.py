"""The inbox: one web application for the decisions of many agents and the people who answer them.

Everything that counts is in the store, so any number of processes can serve the same inbox. Open pages follow changes
by server-sent events: one task of each process polls the store for all of its readers. An event has the number of the
latest change and nothing else; the page then loads itself again. Needs the extra ``web``.

Sources: OWASP's Cross-Site Request Forgery Prevention Cheat Sheet (HMAC token pattern), and the HTML standard, section
9.2 (server-sent events).
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import secrets
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from inspect import isawaitable, iscoroutinefunction
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast
from urllib.parse import urlsplit

from emitter.answers import CallbackFailed, check_allowed, check_principal_type
from emitter.arguments import is_async
from emitter.authority import Authority
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision, decision_reference, pending_of
from emitter.errors import (
    BadToken,
    EmitterError,
    InputError,
    MissingExtra,
    StoreAltered,
    StoreFailed,
    UnknownDecision,
    UnsignedAnswer,
)
from emitter.models.envelope import MAX_ID_LENGTH
from emitter.outside_values import parse_int
from emitter.stores import Entry, NewEntry
from emitter.threads import run_blocking
from emitter.web.answering import CHANNEL, DecisionForms, DecisionPage, require_open
from emitter.web.inbox_pages import (
    ASSIGNEE_FIELD,
    INBOX_POLICY,
    Catalog,
    Frame,
    Record,
    assignment_form,
    list_page,
    reading_page,
    record_page,
    status_elements,
)
from emitter.web.links import TOKEN_FIELD
from emitter.web.pages import (
    ERROR_HANDLERS,
    PERHAPS_RECORDED,
    SECURITY_HEADERS,
    HostMiddleware,
    check_origin,
    read_form,
    refusal_page,
    show_refusal,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from emitter.decisions.principals import MayFunction, Principal
    from emitter.stores import Store
    from emitter.web.answering import DetailSetting

try:
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.exceptions import HTTPException
    from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
    from starlette.routing import Route
except ImportError as error:
    raise MissingExtra("The inbox needs starlette.", extra="web") from error
_HEARTBEAT_SECONDS: Final = 15.0
"""Seconds without news after which a comment is sent, so that proxies keep the connection."""
_STREAM_SECONDS: Final = 900.0
"""Seconds after which a stream ends. The browser connects again, and is authenticated again."""
_MAX_ID_LENGTH: Final = 64
"""The longest id of an event that a browser may send. The inbox writes shorter ones."""
Authenticate: TypeAlias = "Callable[[Request], Principal | Awaitable[Principal | None] | None]"
"""Returns who sent a request, or None. It may be async; a sync function runs in a thread."""


def inbox(  # noqa: PLR0913  most have a default
    source: Store | Ledger | Authority,
    *,
    authenticate: Authenticate,
    may: MayFunction | None = None,
    origin: str | None = None,
    detail: DetailSetting = True,
    poll_seconds: float = 1.0,
) -> ASGIApp:
    """Return an ASGI application that lists decisions, shows each one, and records the answers.

    Mount it into FastAPI or Starlette: ``app.mount("/inbox", inbox(store, authenticate=...))``.

    Args:
        source: The store of the agents. Pass a ``Ledger`` or an ``Authority`` to sign answers, to verify them, or to
            keep the principals' words otherwise than for a week.
        authenticate: Returns the ``Principal`` that sent a request, or None. Without a principal nothing is shown.
        may: Returns True if a principal may ``"see"`` or ``"answer"`` a decision. By default every principal may do
            both. A decision that they may not see does not exist for them.
        origin: The public origin, such as ``https://agents.example.com``. Requests under another host are rejected.
            Without it, an answer must come from the host that it is sent to.
        detail: How requests for detail are answered: see ``open_site``.
        poll_seconds: Seconds between two queries of the store for changes, while a page is open.

    Raises:
        InputError: An argument is invalid.
    """
    if not isinstance(source, Authority):
        ledger = source if isinstance(source, Ledger) else Ledger(source)
        source = Authority(ledger.store, ledger=ledger)
    if not callable(authenticate) or not (may is None or callable(may)):
        raise InputError("authenticate= and may= must be functions.")
    if is_async(may):
        raise InputError("may= must not be async, because it is not awaited.")
    handler = _Inbox(source, authenticate, may, origin=origin, detail=detail, poll_seconds=poll_seconds)
    routes = [
        Route("/", handler.show_open, methods=["GET"]),
        Route("/closed", handler.show_closed, methods=["GET"]),
        Route("/events", handler.follow_changes, methods=["GET"]),
        Route("/decisions/{reference}", handler.show_decision, methods=["GET"]),
        Route("/decisions/{reference}", handler.receive_answer, methods=["POST"]),
        Route("/decisions/{reference}/assignee", handler.receive_assignee, methods=["POST"]),
    ]
    app = Starlette(routes=routes, exception_handlers=_ERROR_HANDLERS)
    app.router.redirect_slashes = False
    return HostMiddleware(app, () if origin is None else (_host_of(origin),), INBOX_HEADERS)


def _host_of(origin: str) -> str:
    parts = urlsplit(origin)
    if parts.scheme not in {"http", "https"} or f"{parts.scheme}://{parts.netloc}" != origin or not parts.netloc:
        raise InputError(f"origin is {origin!r}.", hint="Pass a scheme and a host, such as https://agents.example.com.")
    return parts.netloc


class Unauthenticated(EmitterError):
    """Nobody is known to have sent the request."""


async def _on_callback_failed(request: Request, error: Exception) -> Response:
    _log.error("A request to the inbox failed.", exc_info=error)
    return await _SHOW_CALLBACK_FAILED(request, error)


_log = logging.getLogger("emitter.web")
_SHOW_CALLBACK_FAILED: Final = show_refusal(
    500,
    "Something broke",
    "The program could not check who you are and what you may do. Try again, or tell whoever runs it.",
)
INBOX_HEADERS: Final = {**SECURITY_HEADERS, "Content-Security-Policy": f"{INBOX_POLICY}; frame-ancestors 'none'"}
_ERROR_HANDLERS: Final = {
    **ERROR_HANDLERS,
    404: show_refusal(404, "Nothing here", "There is no such page, or you may not see it."),
    405: show_refusal(405, "Not like this", "Open the page in a browser, and answer on it."),
    UnknownDecision: show_refusal(404, "Nothing here", "There is no such decision, or you may not see it."),
    CallbackFailed: _on_callback_failed,
    Unauthenticated: show_refusal(403, "Sign in first", "This inbox does not know who you are."),
    UnsignedAnswer: show_refusal(
        409,
        "Not signed",
        "Only an answer that is signed by a known key counts here, and there is none.",
        note="If you just answered, nothing was recorded. If the store has an answer, it authorizes nothing.",
    ),
    StoreAltered: show_refusal(409, "Altered", "Another program changed this record in the store. Do not rely on it."),
    Exception: show_refusal(
        500, "Something broke", "This is a bug in the program. Open the page again.", note=PERHAPS_RECORDED
    ),
}


@dataclass(frozen=True, slots=True)
class _Visible:
    """A decision that a principal may see."""

    decision: PendingDecision | ResolvedDecision
    may_answer: bool

    @property
    def pending(self) -> PendingDecision:
        return pending_of(self.decision)


class Changes:
    """The changes of a ledger, for the readers of one process."""

    def __init__(self, ledger: Ledger, poll_seconds: float) -> None:
        self._ledger = ledger
        self._poll_seconds = poll_seconds
        self._readers = 0
        self._sequence = -1
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def follow(self, after: int) -> AsyncGenerator[int | None]:
        """Yield the number of the latest change whenever it is above ``after``, and None as a heartbeat."""
        with self._polling():
            while True:
                changed = self._changed
                if self._sequence > after:
                    after = self._sequence
                    yield after
                    continue
                with suppress(TimeoutError):
                    async with asyncio.timeout(_HEARTBEAT_SECONDS):
                        await changed.wait()
                        continue
                yield None

    async def refresh(self) -> None:
        """Read the number of the latest change, and wake the readers if it is new."""
        with suppress(StoreFailed):
            sequence = await run_blocking(self._ledger.last_sequence)
            if sequence != self._sequence:
                self._sequence = sequence
                self._changed.set()
                self._changed = asyncio.Event()

    @contextmanager
    def _polling(self) -> Generator[None]:
        """Poll the store as long as there are readers."""
        self._readers += 1
        if self._task is None:
            self._changed = asyncio.Event()
            self._task = asyncio.create_task(self._poll())
        try:
            yield
        finally:
            self._readers -= 1
            if not self._readers:
                self._task.cancel()
                self._task = None

    async def _poll(self) -> None:
        while True:
            await self.refresh()
            await asyncio.sleep(self._poll_seconds)


def event_stream(changes: Changes, after: int) -> StreamingResponse:
    """Return a stream with an event ``changed`` for each change after ``after``, which nginx does not buffer."""
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(_write_events(changes, after), media_type="text/event-stream", headers=headers)


async def _write_events(changes: Changes, after: int) -> AsyncGenerator[str]:
    yield ": connected\n\n"
    now = asyncio.get_running_loop().time
    end = now() + _STREAM_SECONDS
    async for sequence in changes.follow(after):
        yield ": nothing new\n\n" if sequence is None else f"id: {sequence}\nevent: changed\ndata: {sequence}\n\n"
        if now() > end:
            return


class _Inbox:
    """The endpoints. The store and the caller's functions are called in threads, because they may block."""

    def __init__(  # noqa: PLR0913  settings
        self,
        authority: Authority,
        authenticate: Authenticate,
        may: MayFunction | None,
        *,
        origin: str | None,
        detail: DetailSetting,
        poll_seconds: float,
    ) -> None:
        self._authority = authority
        self._ledger = authority.ledger
        self._authenticate = authenticate
        self._may = may
        self._origin = origin
        self._changes = Changes(self._ledger, poll_seconds)
        self._forms = DecisionForms(self._ledger, lambda _: None, detail)
        self._catalog = Catalog(authority)
        self._form_key: bytes | None = None

    async def show_open(self, request: Request) -> Response:
        frame = await self._frame(request)
        listing = await run_blocking(
            self._catalog.open_page, request.query_params, self._may_see(frame.principal), frame.principal
        )
        return HTMLResponse(list_page(frame, listing))

    async def show_closed(self, request: Request) -> Response:
        frame = await self._frame(request)
        listing = await run_blocking(self._catalog.closed_page, request.query_params, self._may_see(frame.principal))
        return HTMLResponse(list_page(frame, listing))

    async def follow_changes(self, request: Request) -> Response:
        """Stream the changes after the number that the browser or the page's URL gives."""
        await self._require_principal(request)
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        after = request.headers.get("last-event-id") or request.query_params.get("after", "")
        if len(after) > _MAX_ID_LENGTH:
            return Response("This is not the id of an event.", 400, media_type="text/plain")
        number = parse_int(after)
        return event_stream(self._changes, -1 if number is None else number)

    async def show_decision(self, request: Request) -> Response:
        frame, name = await self._frame(request), request.path_params["reference"]
        try:
            visible = await run_blocking(self._find, frame.principal, name)
        except UnknownDecision:
            # A service knows the id of the decision that it waits for, and links to the page by it.
            visible = await run_blocking(self._find, frame.principal, decision_reference(name))
            return RedirectResponse(frame.path_of(visible.pending), 303)
        decision = visible.decision
        if isinstance(decision, ResolvedDecision) or decision.expiry_recorded:
            return HTMLResponse(record_page(frame, await run_blocking(self._load_record, visible)))
        approvals = await run_blocking(self._ledger.first_approvals, decision.decision_id)
        stop = await run_blocking(self._authority.find_stop, decision)
        if not visible.may_answer:
            return HTMLResponse(reading_page(frame, decision, approvals, stop))
        page = await run_blocking(self._page_of, frame, decision)
        header = (*page.header, *status_elements(frame, decision, approvals, stop))
        return await self._forms.draw(replace(page, header=header), decision)

    async def receive_answer(self, request: Request) -> Response:
        """Record an answer, or show the answer that came first."""
        visible, page, fields = await self._read_form(request)
        if isinstance(visible.decision, ResolvedDecision):
            return self._forms.show_answered(page, visible.decision)
        response = await self._forms.receive(page, require_open(visible.decision), fields)
        await self._changes.refresh()
        return response

    async def receive_assignee(self, request: Request) -> Response:
        """Assign a decision, and show the list: the principal may not see the decision any more."""
        visible, page, fields = await self._read_form(request)
        if isinstance(visible.decision, ResolvedDecision):
            return self._forms.show_answered(page, visible.decision)
        pending, assignee = require_open(visible.decision), fields.get(ASSIGNEE_FIELD, "").strip()
        if len(assignee) > MAX_ID_LENGTH:
            return refusal_page(422, "Not assigned", f"A name has at most {MAX_ID_LENGTH} characters.", page.path)
        assert page.principal is not None  # noqa: S101  narrows the type
        named = {"principal": page.principal.id, "channel": CHANNEL}
        await run_blocking(self._ledger.assign, pending.decision_id, assignee, **named)
        await self._changes.refresh()
        return RedirectResponse(f"{request.scope.get('root_path', '').rstrip('/')}/", 303)

    async def _read_form(self, request: Request) -> tuple[_Visible, DecisionPage, Mapping[str, str]]:
        """Return the decision that a form is about, its page, and the fields, for a principal who may answer it."""
        frame = await self._frame(request)
        check_origin(request, *self._origins(request))
        fields = await read_form(request)
        visible = await run_blocking(self._find, frame.principal, request.path_params["reference"])
        if not visible.may_answer:
            raise BadToken("You may not answer this decision.", hint="Ask somebody who may.")
        page = await run_blocking(self._page_of, frame, visible.pending)
        # The token is bound to the principal and the decision: one person's form cannot be sent in another's name.
        if not hmac.compare_digest(fields.get(TOKEN_FIELD, "").encode(), page.hidden[TOKEN_FIELD].encode()):
            raise BadToken("The form does not come from your page of this decision.", hint="Open it again.")
        return visible, page, fields

    async def _frame(self, request: Request) -> Frame:
        principal = await self._require_principal(request)
        sequence = await run_blocking(self._ledger.last_sequence)
        return Frame(request.scope.get("root_path", "").rstrip("/"), principal, sequence)

    async def _require_principal(self, request: Request) -> Principal:
        try:
            if iscoroutinefunction(self._authenticate):
                found: object = await self._authenticate(request)
            else:
                found = await run_in_threadpool(cast("Callable[[Request], Any]", self._authenticate), request)
                found = await found if isawaitable(found) else found
        except HTTPException:  # a response of its own, such as a redirect to a page that signs people in
            raise
        except Exception as error:
            raise CallbackFailed("authenticate= raised an exception.") from error
        principal = check_principal_type(found)
        if principal is None:
            raise Unauthenticated("Nobody is known to have sent the request.")
        return principal

    def _origins(self, request: Request) -> tuple[str, ...]:
        host = request.headers.get("host", "")
        return (f"http://{host}", f"https://{host}") if self._origin is None else (self._origin,)

    def _may_see(self, principal: Principal) -> Callable[[PendingDecision], bool]:
        return lambda pending: check_allowed(self._may, principal, pending, "see")

    def _find(self, principal: Principal, reference: str) -> _Visible:
        """Return a decision that the principal may see, or raise ``UnknownDecision``."""
        decision = self._ledger.find_by_reference(reference)
        visible = _Visible(decision, may_answer=False)
        # The same error as for an unknown reference, so that nobody learns which decisions exist.
        if not check_allowed(self._may, principal, visible.pending, "see"):
            raise UnknownDecision("There is nothing here.")
        return replace(visible, may_answer=check_allowed(self._may, principal, visible.pending, "answer"))

    def _load_record(self, visible: _Visible) -> Record:
        decision_id = visible.pending.decision_id
        return Record(
            visible.decision,
            self._authority.find_state(visible.decision),
            self._authority.actions_of(decision_id),
            self._ledger.detail_requests(decision_id),
            self._ledger.assignments(decision_id),
        )

    def _page_of(self, frame: Frame, pending: PendingDecision) -> DecisionPage:
        token = _form_token(self._load_form_key(), frame.principal, pending)
        path, hidden = frame.path_of(pending), {TOKEN_FIELD: token}
        form = assignment_form(path, hidden)
        return DecisionPage(path, hidden, frame.navigation(), (form,), INBOX_POLICY, frame.principal)

    def _load_form_key(self) -> bytes:
        """Return the key of the form tokens, which all processes of the store share."""
        if self._form_key is None:
            stored = self._ledger.store.get_or_create(_INBOX_RUN, "form-key", _make_form_key)
            self._form_key = bytes.fromhex(str(stored.entry.outcome["key"]))
        return self._form_key


_INBOX_RUN: Final = "emitter.inbox"
_KEY_BYTES: Final = 32


def _make_form_key() -> NewEntry:
    return NewEntry(Entry("emitter.inbox.form_key", {"key": secrets.token_hex(_KEY_BYTES)}, {}))


def _form_token(key: bytes, principal: Principal, pending: PendingDecision) -> str:
    """Return the token that the forms of this principal's page of this decision carry."""
    return hmac.new(key, f"{pending.reference}:{principal.id}".encode(), hashlib.sha256).hexdigest()
