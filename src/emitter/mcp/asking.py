"""How a server's decisions are put to the principal, and how the answers come back: by the client, or by a page.

The ledger holds what was asked, so that one decision is resolved once, whichever way the answer takes; it is told the
channel, since a client may answer a form without any person. ``decline`` and ``cancel`` are the protocol's: they leave
the decision unresolved, and are neither an option nor a veto.

Source: draft-morrison-binding-moment-envelope-00, sections 6.3 and 11.4; MCP, "Elicitation".
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from anyio.to_thread import run_sync

from emitter.decide import Unanswered, Unresolved
from emitter.decide.resolution import of_json
from emitter.decide.wellformed import FIELD
from emitter.errors import BadResolution, InputError
from emitter.ledger import Resolved, taking
from emitter.mcp import elicit, sdk
from emitter.mcp.attach import moment_of
from emitter.mcp.elicit import Dropped, Suspended
from emitter.render import elicitation
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from emitter.decide import Resolution
    from emitter.kinds import BindingMoment
    from emitter.ledger import Ledger, Pending
    from emitter.mcp.attach import Decided
    from emitter.moment import Withheld
    from emitter.wire import Json

BY_FORM: Final = "mcp-elicitation"
BY_TOOL: Final = "mcp-tool"
BY_URL: Final = "mcp-url"
"""The channels, as the ledger is told them; what is answered on the principal's own page has that page's."""


class Surface(str, Enum):
    """Where the principal answers."""

    CLIENT = "client"
    """In the client's form, where it has one; else by the next call of a tool."""
    OWN = "own"
    """On a page of their own, and nowhere else: a session with their credentials cannot answer for them."""


Answered: TypeAlias = "Resolved | Unresolved | Pending | Suspended"
"""What became of a decision: answered, not answered, still open, or put to the client."""

Asked: TypeAlias = "Answered | Withheld | None"
"""The same, or that it was never posed."""


@dataclass(frozen=True, slots=True)
class _Call:
    """The call in which a decision is put; ``state`` comes back with the answer, where no argument names it."""

    context: Any
    state: str | None = None

    async def ask(self, pending: Pending, params: Callable[[], Mapping[str, Json]]) -> elicit.Reply:
        return await elicit.ask(self.context, f"{FIELD}:{pending.decision_id}", params, state=self.state)


@dataclass(frozen=True, slots=True)
class Asking:
    """Puts the decisions of a ledger to their principal.

    ``url_for`` returns the address of a decision's page, which a client opens that can; ``tell`` brings the page to
    the principal of one that cannot. ``Surface.OWN`` needs both; what they say is the principal's alone, and stands in
    no result. ``agent`` is who asks, and ``expires_in`` how many seconds an answer is waited for. Raises ``InputError``
    for what no decision could be opened with.
    """

    ledger: Ledger
    surface: Surface = Surface.CLIENT
    url_for: Callable[[Pending], str] | None = None
    tell: Callable[[Pending], object] | None = None
    agent: str = "mcp"
    expires_in: float | None = None

    def __post_init__(self) -> None:
        taking.named("agent", self.agent)
        taking.span(self.expires_in)
        if self.surface is Surface.OWN and (self.url_for is None or self.tell is None):
            raise InputError("A page of the principal's own was asked for.", hint="Give url_for and tell.")

    async def ask(self, context: Any, make: Callable[[], Decided | Awaitable[Decided]]) -> Asked:
        """Pose a decision in the middle of a tool, and return what became of it.

        ``make`` returns the envelope, and is called once: where the protocol has the tool called again for the
        answer, the ledger has the envelope still. Its id comes back as the call's state, which the SDK seals: for ten
        minutes and this process, unless the server's ``RequestStateSecurity`` says otherwise. A tool returns
        ``Suspended.result`` as it is. ``Pending`` says that the client cannot ask its user, or that they are to answer
        elsewhere: hand the envelope over, and act when a later call finds it resolved.
        """
        state = elicit.state_of(context)
        if state is not None:
            found = await self.find(state)
            return found if isinstance(found, Resolved) else await self._put(_Call(context, state), found)
        decided: Decided = await sdk.call(make)
        moment = moment_of(decided)
        if moment is None:
            return cast("Withheld | None", decided)
        pending = await self.open(moment)
        return await self._put(_Call(context, pending.decision_id), pending)

    async def open(self, moment: BindingMoment, *, after: Iterable[str] = ()) -> Pending:
        """Take a decision into the ledger, without asking anybody.

        ``after`` are the ids of refused decisions whose objection it takes up: see ``Ledger.open``.
        """
        opening = partial(self.ledger.open, moment, agent=self.agent, expires_in=self.expires_in, after=tuple(after))
        return await run_sync(opening)

    async def find(self, decision_id: str) -> Pending | Resolved:
        """Return a decision of the ledger as it stands, without asking anybody; raises ``UnknownDecision``."""
        return await run_sync(self.ledger.find, decision_id)

    async def resolve(self, context: Any, decision_id: str, answer: Json = None) -> Answered:
        """Return what became of a decision of the ledger, asking for it where it is open.

        ``answer`` is a resolution in its wire form, which the caller brings from the principal; it is refused where
        they answer on a surface of their own. Raises what the ledger raises.
        """
        if answer is not None:
            return await self._take(decision_id, answer)
        return await self.put(context, decision_id)

    async def put(self, context: Any, decision_id: str, *, state: str | None = None) -> Answered:
        """Put a decision of the ledger to the principal where it is open, and return what became of it.

        ``state`` comes back with the answer where the protocol has the tool called again for it: see ``ask``. Raises
        what the ledger raises.
        """
        found = await self.find(decision_id)
        return found if isinstance(found, Resolved) else await self._put(_Call(context, state), found)

    async def _take(self, decision_id: str, answer: Json) -> Resolved | Unresolved:
        if self.surface is Surface.OWN:
            raise BadResolution("The principal answers this decision on a page of their own, and nobody can for them.")
        return await self._recorded(decision_id, of_json(answer), BY_TOOL)

    async def _put(self, call: _Call, pending: Pending) -> Answered:
        if pending.is_over(time.time()):
            return await self._recorded(pending.decision_id, Unresolved(pending.digest, Unanswered.TIMEOUT), BY_TOOL)
        can = elicit.modes(call.context)
        if self.surface is Surface.OWN and self.url_for is not None and self.tell is not None:
            if can.url:
                return await self._open_page(call, pending, self.url_for)
            self.tell(pending)
            return pending
        if not can.form:
            return pending
        form = elicitation.Elicitation(sdk.revision(call.context))
        reply = await call.ask(pending, lambda: form.draw(pending.moment))
        if isinstance(reply, Suspended):
            return reply
        return await self._recorded(pending.decision_id, _read(pending, reply), BY_FORM)

    async def _open_page(self, call: _Call, pending: Pending, url_for: Callable[[Pending], str]) -> Answered:
        """Send the principal to their page; that they agree to open it says nothing of what they decide there."""

        def page() -> dict[str, Json]:
            told = {"mode": "url", "message": _OPEN, "url": url_for(pending)}
            return told if elicit.stateless(call.context) else {**told, "elicitationId": pending.decision_id}

        reply = await call.ask(pending, page)
        if isinstance(reply, Suspended):
            return reply
        if not isinstance(reply, Dropped) and reply.get("action") == "accept":
            found = await self.find(pending.decision_id)
            # It was answered while this call asked for it, not before.
            return replace(found, repeated=False) if isinstance(found, Resolved) else found
        return await self._recorded(pending.decision_id, _read(pending, reply), BY_URL)

    async def _recorded(self, decision_id: str, answer: Resolution | Unresolved, channel: str) -> Resolved | Unresolved:
        if isinstance(answer, Unresolved):
            return await run_sync(partial(self.ledger.unresolved, decision_id, answer.reason, channel=channel))
        return await run_sync(partial(self.ledger.resolve, decision_id, answer, channel=channel))


_OPEN = "A decision is waiting for you. Open its page to read and answer it."
"""Tells nothing of the decision: the client may not be the principal's."""


def _read(pending: Pending, reply: Mapping[str, Json] | Dropped) -> Resolution | Unresolved:
    if isinstance(reply, Dropped):
        return Unresolved(pending.digest, Unanswered.DROPPED)
    return elicitation.read(pending.moment, mapping(reply))
