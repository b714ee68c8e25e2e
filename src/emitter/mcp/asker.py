"""Ask the principal for a decision, through the MCP client or on a page of their own.

The ledger holds each open decision, so it is resolved once, whichever way the answer comes. Through 2025-11-25
the server sends ``elicitation/create`` while the tool waits. From 2026-07-28 on, the tool returns the request
as its result (``Suspended.result``) and the client calls the tool again with the answer.

Source: draft-morrison-binding-moment-envelope-00, sections 6.3 and 11.4; MCP 2025-11-25 and 2026-07-28,
"Elicitation".
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from emitter.answers import AnswerRecorder, CallbackFailed, ReplyKind
from emitter.decisions import Unresolved, UnresolvedReason, ledger_arguments
from emitter.decisions.envelope_parsing import MOMENT_FIELD
from emitter.decisions.ledger_entries import ResolvedDecision
from emitter.decisions.resolution import resolution_from_json
from emitter.errors import AlreadyResolved, BadResolution, InputError, StoreFailed
from emitter.mcp import sdk
from emitter.mcp.tools import get_moment
from emitter.messages import as_mapping
from emitter.render import elicitation
from emitter.threads import run_blocking

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from emitter.client.result import Withheld
    from emitter.decisions import Resolution
    from emitter.decisions.ledger import Ledger
    from emitter.decisions.ledger_entries import PendingDecision
    from emitter.mcp.tools import ToolDecision
    from emitter.messages import Json
    from emitter.models import BindingMoment

FORM_CHANNEL: Final = "mcp-elicitation"
TOOL_CHANNEL: Final = "mcp-tool"
URL_CHANNEL: Final = "mcp-url"
"""The channels that the ledger records. An answer from the principal's own page has that page's channel."""


class Surface(str, Enum):
    """The place where the principal answers."""

    CLIENT = "client"
    """The client's form, if it has one, or else the next call of a tool. Such an answer names no principal, so two
    principals who must approve a decision answer elsewhere."""
    OWN = "own"
    """Only a page of their own, so that a session with their credentials cannot answer for them."""


AskOutcome: TypeAlias = "ResolvedDecision | Unresolved | PendingDecision | Suspended"
"""A decision that is answered, unresolved, still open, or passed to the client."""
PoseOutcome: TypeAlias = "AskOutcome | Withheld | None"
"""An ``AskOutcome``, or no decision at all."""


@dataclass(frozen=True, slots=True)
class _AskCall:
    """The call that asks for a decision. The protocol returns ``state`` with the answer."""

    context: Any
    state: str | None = None

    async def ask(self, pending: PendingDecision, params: Callable[[], Mapping[str, Json]]) -> ElicitReply:
        return await elicit(self.context, _request_key(pending.decision_id), params, state=self.state)

    def has_reply(self, decision_id: str) -> bool:
        return _request_key(decision_id) in (getattr(self.context, "input_responses", None) or {})


def _request_key(decision_id: str) -> str:
    return f"{MOMENT_FIELD}:{decision_id}"


@dataclass(frozen=True, slots=True)
class DecisionAsker:
    """Asks the principal for the decisions of a ledger.

    Attributes:
        ledger: The ledger that holds the decisions.
        surface: The place where the principal answers.
        url_for: Returns the address of a decision's page, for clients that can open it. Required by ``Surface.OWN``.
        notify: Notifies the principal of a decision if their client cannot. Required by ``Surface.OWN``. It must tell
            the address to the principal only, which is why no result contains it.
        agent: The agent's name in the ledger.
        expires_in: Seconds for which a decision can be answered.

    Raises:
        InputError: A setting is invalid.
    """

    ledger: Ledger
    surface: Surface = Surface.CLIENT
    url_for: Callable[[PendingDecision], str] | None = None
    notify: Callable[[PendingDecision], object] | None = None
    agent: str = "mcp"
    expires_in: float | None = None
    _asked: dict[str, bool] = field(default_factory=dict[str, bool], init=False, repr=False, compare=False)
    """The decisions whose page a call opens, until its first reply, with the ``already_resolved`` of that reply."""

    def __post_init__(self) -> None:
        ledger_arguments.check_short_text("agent", self.agent)
        ledger_arguments.check_seconds(self.expires_in)
        if self.surface is Surface.OWN and (self.url_for is None or self.notify is None):
            raise InputError("Surface.OWN needs url_for and notify.", hint="Pass both, or use Surface.CLIENT.")

    async def ask(self, context: Any, make: Callable[[], ToolDecision | Awaitable[ToolDecision]]) -> PoseOutcome:
        """Ask for a decision inside a tool, and return the outcome.

        If the outcome is ``Suspended``, return its ``result`` from the tool; the client calls the tool again with the
        answer, and ``make`` is not called a second time. The decision's id travels as the call's state, which the SDK
        seals for ten minutes and this process, unless the server's ``RequestStateSecurity`` says otherwise. If the
        outcome is ``PendingDecision``, the client cannot ask its user, or the principal answers elsewhere: return the
        envelope, and act when a later call finds the decision resolved. If the client gives the call up meanwhile, the
        decision is withdrawn.

        Args:
            context: The call's context.
            make: Returns the decision. May be async.
        """
        state = get_call_state(context)
        if state is not None:
            return await self.pose(context, state, state=state)
        decision: ToolDecision = await sdk.call_tool(make)
        moment = get_moment(decision)
        if moment is None:
            return cast("Withheld | None", decision)
        pending = await self.open(moment)
        try:
            return await self._pose(_AskCall(context, pending.decision_id), pending)
        except asyncio.CancelledError:  # the client has given up, and does not know the decision
            with suppress(AlreadyResolved, StoreFailed):
                await self.ledger.awithdraw(pending.decision_id)
            raise

    async def open(self, moment: BindingMoment, *, after: Iterable[str] = ()) -> PendingDecision:
        """Open a decision in the ledger, without asking anyone.

        Args:
            moment: The envelope.
            after: The ids of refused decisions whose objections it addresses. See ``Ledger.open``.
        """
        return await run_blocking(
            self.ledger.open, moment, agent=self.agent, expires_in=self.expires_in, after=tuple(after)
        )

    async def find(self, decision_id: str) -> PendingDecision | ResolvedDecision:
        """Return a decision of the ledger, without asking anyone.

        Raises:
            UnknownDecision: The ledger has no such decision.
        """
        return await run_blocking(self.ledger.find, decision_id)

    async def resolve(self, context: Any, decision_id: str, answer: Json = None) -> AskOutcome:
        """Record an answer, or ask for one, and return the outcome.

        Args:
            context: The call's context.
            decision_id: The decision in the ledger.
            answer: The principal's resolution as JSON, which the caller passes on. Rejected with ``Surface.OWN``.

        Raises:
            ResolutionError: The answer is invalid, or the ledger rejects it.
        """
        if answer is None:
            return await self.pose(context, decision_id)
        if self.surface is Surface.OWN:
            raise BadResolution("The principal answers on their own page, and nobody can answer for them.")
        return await self._record(decision_id, resolution_from_json(answer), TOOL_CHANNEL)

    async def pose(self, context: Any, decision_id: str, *, state: str | None = None) -> AskOutcome:
        """Ask the principal for a decision of the ledger if it is open, and return the outcome.

        Args:
            context: The call's context.
            decision_id: The decision in the ledger.
            state: Comes back with the answer in stateless revisions. See ``ask``.

        Raises:
            ResolutionError: The ledger rejects the answer.
        """
        call = _AskCall(context, state)
        decision = await self.find(decision_id)
        if isinstance(decision, ResolvedDecision):
            return self._mark_first(decision) if call.has_reply(decision_id) else decision
        return await self._pose(call, decision)

    async def _pose(self, call: _AskCall, pending: PendingDecision) -> AskOutcome:
        if pending.is_expired(time.time()):
            return await self._record(
                pending.decision_id, Unresolved(pending.digest, UnresolvedReason.TIMEOUT), TOOL_CHANNEL
            )
        modes = get_modes(call.context)
        if self.surface is Surface.OWN and self.url_for is not None and self.notify is not None:
            if modes.url:
                return await self._open_page(call, pending, self.url_for)
            _call_own(self.notify, "notify", pending)
            return pending
        if pending.four_eyes or not modes.form:
            return pending  # the client's user has no name, so they cannot be told from another approver
        form = elicitation.Elicitation(sdk.client_revision(call.context))
        reply = await call.ask(pending, lambda: form.draw(pending.moment))
        if isinstance(reply, Suspended):
            return reply
        return await self._record(pending.decision_id, _parse_reply(pending, reply), FORM_CHANNEL)

    async def _open_page(
        self, call: _AskCall, pending: PendingDecision, url_for: Callable[[PendingDecision], str]
    ) -> AskOutcome:
        """Ask the principal to open their page. Their consent to open it is not an answer."""

        def page() -> dict[str, Json]:
            params = {"mode": "url", "message": _OPEN_PAGE_TEXT, "url": str(_call_own(url_for, "url_for", pending))}
            # 2026-07-28 has no elicitationId; earlier revisions require it.
            return params if is_stateless(call.context) else {**params, "elicitationId": pending.decision_id}

        self._asked[pending.decision_id] = False
        reply = await call.ask(pending, page)
        if isinstance(reply, Suspended):
            return reply
        if not isinstance(reply, ElicitationDropped) and reply.get("action") == "accept":
            return self._mark_first(await self.find(pending.decision_id))
        return await self._record(pending.decision_id, _parse_reply(pending, reply), URL_CHANNEL)

    def _mark_first(self, decision: PendingDecision | ResolvedDecision) -> PendingDecision | ResolvedDecision:
        """Mark an answer that came while a call asked as new, in the first reply of that call only."""
        repeated = self._asked.pop(decision.decision_id, True)
        return replace(decision, already_resolved=repeated) if isinstance(decision, ResolvedDecision) else decision

    async def _record(
        self, decision_id: str, answer: Resolution | Unresolved, channel: str
    ) -> ResolvedDecision | Unresolved:
        answers, find = AnswerRecorder(self.ledger, channel), partial(self.ledger.find, decision_id)
        reply = await run_blocking(answers.receive, find, None, lambda: answer)
        if isinstance(answer, Unresolved):
            if reply.kind is ReplyKind.CLOSED:
                return Unresolved(answer.digest, UnresolvedReason.TIMEOUT)
            reply.require_accepted()
            return answer
        return cast("ResolvedDecision", reply.require_accepted().decision)


def _call_own(function: Callable[[PendingDecision], object], name: str, pending: PendingDecision) -> object:
    """Call a function of the program. Raises ``CallbackFailed``, so that the agent knows that nobody may be asked."""
    try:
        return function(pending)
    except Exception as error:
        raise CallbackFailed(
            f"{name}= raised an exception, so the person may not know of this decision. It is still open."
        ) from error


_OPEN_PAGE_TEXT = "A decision is waiting for you. Open its page to read and answer it."
"""Reveals nothing about the decision, because the client may not be the principal's."""


def _parse_reply(pending: PendingDecision, reply: Mapping[str, Json] | ElicitationDropped) -> Resolution | Unresolved:
    if isinstance(reply, ElicitationDropped):
        return Unresolved(pending.digest, UnresolvedReason.DROPPED)
    return elicitation.parse_elicit_result(pending.moment, as_mapping(reply))


FIRST_STATELESS_REVISION: Final = "2026-07-28"
"""The first protocol revision in which a request to the client is the result of a call.

Revisions are dates, so their texts can be compared.
"""


@dataclass(frozen=True, slots=True)
class ElicitationModes:
    """The modes in which the client can ask its user: a form, or a page at a URL."""

    form: bool
    url: bool


@dataclass(frozen=True, slots=True)
class Suspended:
    """The client was asked and will call the tool again. Return ``result`` from the tool."""

    result: Any


@dataclass(frozen=True, slots=True)
class ElicitationDropped:
    """The client declared that it can ask its user, but did not."""


ElicitReply: TypeAlias = "Mapping[str, Json] | Suspended | ElicitationDropped"


def get_modes(context: Any) -> ElicitationModes:
    """Return the modes in which a call's client can ask its user.

    Both are False if no request can reach the client, as over stateful HTTP without sessions.
    """
    capabilities = sdk.client_capabilities(context)
    elicitation = None if capabilities is None else capabilities.elicitation
    if elicitation is None or not (is_stateless(context) or sdk.can_send_requests(context)):
        return ElicitationModes(form=False, url=False)
    form, url = elicitation.form is not None, elicitation.url is not None
    # Clients of 2025-06-18 declare an empty capability, which means forms.
    return ElicitationModes(form=form or not url, url=url)


def is_stateless(context: Any) -> bool:
    """Check whether a request can reach the client only as the call's own result."""
    return sdk.protocol_version(context) >= FIRST_STATELESS_REVISION


async def elicit(
    context: Any, key: str, params: Callable[[], Mapping[str, Json]], *, state: str | None = None
) -> ElicitReply:
    """Ask the client's user, and return the ``ElicitResult`` as JSON.

    Args:
        context: The call's context.
        key: Names the request, so that its answer cannot be confused with another.
        params: Returns the parameters of ``elicitation/create``. Called only if they are needed.
        state: Comes back with the answer in stateless revisions, sealed by the SDK. See ``get_call_state``.

    Raises:
        BadResolution: The answer is not an ``ElicitResult``.
    """
    if not is_stateless(context):
        answer = await sdk.send_elicitation(context, params())
        return ElicitationDropped() if answer is None else _elicit_result_json(answer)
    answers: Mapping[str, Any] = context.input_responses or {}
    answer = answers.get(key)
    return Suspended(sdk.input_required(key, params(), state)) if answer is None else _elicit_result_json(answer)


def get_call_state(context: Any) -> str | None:
    """Return the state that came back with an answer, or None at the first call."""
    return cast("str | None", getattr(context, "request_state", None))


def _elicit_result_json(answer: Any) -> Mapping[str, Json]:
    result = as_mapping(answer.model_dump(mode="json", by_alias=True, exclude_none=True))
    if "action" not in result:
        raise BadResolution("The client's answer is not an ElicitResult: it has no action.")
    return result
