"""Show open decisions as pages with forms, and record what the forms send.

The pages of links and of the inbox share this. A ``DecisionPage`` describes the page that a decision is shown on.
"""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Final, TypeAlias

from emitter.answers import AnswerRecorder, ReplyKind
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision
from emitter.decisions.principals import is_same_principal
from emitter.errors import BadResolution, DecisionExpired, MissingExtra, StoreFailed
from emitter.outside_values import date_from_timestamp
from emitter.render.html_page import QUESTION_ID, SAME_ORIGIN_POLICY, Form, Html, build_html_page
from emitter.render.layout import build_layout
from emitter.render.replies import CHOICE, DETAIL, parse_detail_request
from emitter.threads import run_blocking
from emitter.web.pages import REPLY_PAGES, already_answered_page, recorded_page, refusal_page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from starlette.responses import Response

    from emitter.decisions.ledger import Ledger
    from emitter.decisions.ledger_details import DetailRequest
    from emitter.decisions.principals import Principal
    from emitter.render.html_page import Markup

try:
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import HTMLResponse, RedirectResponse
except ImportError as error:
    raise MissingExtra("The local page needs starlette.", extra="web") from error
_log = logging.getLogger("emitter.web")
CHANNEL: Final = "web"
"""The channel that the ledger records."""
_REPLY_READER: Final = Html(Form(""))
"""Reads submitted forms, and no typed lines."""
DetailSetting: TypeAlias = "Callable[[str], object] | bool"
"""True if the agent answers requests for detail with ``Ledger.answer_detail``, False if detail cannot be requested.

A function answers at once: it is called with the topic and returns text, JSON, or None for no answer yet. It may be
async.
"""


@dataclass(frozen=True, slots=True)
class DecisionPage:
    """The page that a decision is shown and answered on.

    Attributes:
        path: The path of the page.
        hidden: Fields that its forms send.
        header: Elements above the decision.
        footer: Elements below it.
        security: The page's Content-Security-Policy.
        principal: Who answers, if the page knows.
    """

    path: str
    hidden: Mapping[str, str]
    header: tuple[Markup, ...] = ()
    footer: tuple[Markup, ...] = ()
    security: str = SAME_ORIGIN_POLICY
    principal: Principal | None = None


class DecisionForms:
    """Draws the forms of decisions and records answers. The ledger is called in threads: its store may block."""

    def __init__(
        self, ledger: Ledger, on_resolved: Callable[[ResolvedDecision], object], detail: DetailSetting
    ) -> None:
        self._ledger = ledger
        self._on_resolved = on_resolved
        self._detail = detail
        self._answers = AnswerRecorder(ledger, CHANNEL)
        self._answered = set[str]()
        """The paths of secret links whose answer was recorded here."""

    async def draw(self, page: DecisionPage, pending: PendingDecision, problem: FormProblem | None = None) -> Response:
        """Return a page with forms, and with the reason why what was sent before was rejected."""
        requests: Sequence[DetailRequest] | None = None
        if self._detail is not False:
            with suppress(StoreFailed):  # the decision itself can still be shown
                requests = await run_blocking(self._ledger.detail_requests, pending.decision_id)
        form = Form(f"{page.path}#{QUESTION_ID}", page.hidden, closing_time(pending), requests)
        if problem is not None:
            form = replace(form, problem=problem.message, field_values=problem.fields)
        parts = {"header": page.header, "footer": page.footer}
        html = build_html_page(build_layout(pending.moment), form, **parts, security=page.security)
        return HTMLResponse(html, 200 if problem is None else problem.status)

    async def receive(self, page: DecisionPage, pending: PendingDecision, fields: Mapping[str, str]) -> Response:
        """Record what a form sends: an answer, or a request for detail."""
        return await (self._request_detail if fields.get(CHOICE) == DETAIL else self._resolve)(page, pending, fields)

    async def _request_detail(
        self, page: DecisionPage, pending: PendingDecision, fields: Mapping[str, str]
    ) -> Response:
        """Record a request for detail, and answer it if a function can."""
        if self._detail is False:
            raise BadResolution("Detail cannot be requested here.", hint="Answer, or object to the question.")
        try:
            topic = parse_detail_request(pending.moment, fields) or ""
            request = await run_blocking(self._ledger.ask_detail, pending.decision_id, topic, channel=CHANNEL)
        except BadResolution as error:
            return await self.draw(page, pending, FormProblem(422, str(error), fields))
        except StoreFailed:
            return await self.draw(
                page, pending, FormProblem(503, "The request could not be saved. Send it again.", fields)
            )
        if callable(self._detail) and request.is_open:
            try:
                answer: object = await run_in_threadpool(self._detail, topic)
                answer = await answer if isawaitable(answer) else answer
                if answer is not None:
                    await run_blocking(self._ledger.answer_detail, pending.decision_id, request.number, answer)
            except Exception as error:  # noqa: BLE001  the request is recorded, and the page shows that it is open
                _log.warning("A request for detail was not answered.", exc_info=error)
        return RedirectResponse(page.path, 303)

    def show_answered(self, page: DecisionPage, resolved: ResolvedDecision) -> Response:
        """Return the page for an answer that comes after another one. It says whose answer counts."""
        if page.principal is None:
            is_yours = page.path in self._answered
        else:
            is_yours = is_same_principal(page.principal.id, resolved.principal)
        return already_answered_page(resolved, page.header, is_yours=is_yours)

    async def _resolve(self, page: DecisionPage, pending: PendingDecision, fields: Mapping[str, str]) -> Response:
        read = partial(_REPLY_READER.read, pending.moment, fields)
        reply = await run_blocking(self._answers.record, pending, page.principal, read)
        if isinstance(reply.decision, ResolvedDecision):
            if reply.kind is not ReplyKind.RECORDED:
                return self.show_answered(page, reply.decision)
            if page.principal is None:
                self._answered.add(page.path)
            self._on_resolved(reply.decision)
            return recorded_page(reply.decision, self._ledger.words, page.header)
        if reply.kind is ReplyKind.FIRST_APPROVAL:
            return RedirectResponse(page.path, 303)
        status, title = REPLY_PAGES[reply.kind]
        if reply.kind in _REPEATABLE:
            return await self.draw(page, pending, FormProblem(status, reply.text, fields))
        return refusal_page(status, title, reply.text, page.path, note="")


_REPEATABLE: Final = {
    ReplyKind.ALREADY_APPROVED,
    ReplyKind.NOT_ACCEPTED,
    ReplyKind.UNAVAILABLE,
    ReplyKind.FAILED,
}
"""After these, the form is shown again with what was written."""


@dataclass(frozen=True, slots=True)
class FormProblem:
    """The reason why submitted fields were rejected. The decision is still open."""

    status: int
    message: str
    fields: Mapping[str, str]


def require_open(decision: PendingDecision) -> PendingDecision:
    """Return a decision that can be answered. Raises ``DecisionExpired`` for any other."""
    if decision.is_expired(time.time()):
        if decision.withdrawn:
            raise DecisionExpired("The agent withdrew this decision.", hint="Nothing is left to answer.")
        raise DecisionExpired("This decision has expired.", hint="Ask the agent to put it to you again.")
    return decision


def closing_time(pending: PendingDecision) -> datetime | None:
    """Return the decision's expiry in this machine's time zone."""
    return None if pending.expires_at is None else local_time(pending.expires_at)


def local_time(seconds: float) -> datetime | None:
    """Return a time in this machine's time zone, or None if it is beyond the calendar."""
    time_in_utc = date_from_timestamp(seconds)
    return None if time_in_utc is None else time_in_utc.astimezone()
