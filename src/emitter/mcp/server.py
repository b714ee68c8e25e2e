"""A ready MCP server: ``emit_binding_moment`` asks a model for a decision, ``resolve_binding_moment`` takes the answer.

``answer_detail`` answers what the principal wants to know before they decide.

Source: draft-morrison-binding-moment-envelope-00, sections 3 and 7; the resolution is the argument to the agent's next
tool invocation (section 6.3), or comes through the client's elicitation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Protocol

from anyio.to_thread import run_sync
from pydantic import BaseModel, WithJsonSchema

from emitter.decide.resolution import RESOLUTION_SCHEMA
from emitter.errors import AlreadyResolved, EmitterError, UnknownDecision
from emitter.kinds import Trust
from emitter.ledger import Pending, Resolved
from emitter.mcp import answers, sdk
from emitter.mcp.asking import Asking, Surface
from emitter.mcp.elicit import Suspended
from emitter.mcp.inlining import inlined
from emitter.mcp.tool import WithMoment, tool
from emitter.moment import Withheld
from emitter.prompt import Material

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Sequence

    from emitter.decide import Continuation
    from emitter.kinds import BindingMoment
    from emitter.moment.result import Decision
    from emitter.wire import Json

_INSTRUCTIONS = (
    "emit_binding_moment turns a situation into a decision for the person you act for, or says that it is too early. "
    "Show the person all of it: briefing, question, every option with its reasoning, and the two ways to refuse it. "
    "Then call resolve_binding_moment with the decision's id; where the person cannot be asked by this client, pass "
    "their answer on as it is. Never answer for them. A status other than resolved is no consent. Where "
    "detail_requests are listed, the person wants to know more first: answer them with answer_detail."
)


class Emit(Protocol):
    """Asks a model for a decision: ``aemit_binding_moment`` with all but these settled."""

    def __call__(
        self,
        situation: str,
        /,
        *,
        materials: Iterable[Material],
        decision_class: str | None,
        after: Iterable[Continuation],
    ) -> Awaitable[Decision]:
        """Return the decision, or that it is withheld."""
        ...


class Passage(BaseModel):
    """A text that bears on the decision, and where it is from."""

    text: str
    source: str = "client"


if TYPE_CHECKING:
    _Emitted = sdk.Result
    _Became = sdk.Result
    _Detailed = sdk.Result
    _Answer = dict[str, Json] | None
    _Context = Any
else:
    _Emitted = Annotated[sdk.Result, answers.EMITTED]
    _Became = Annotated[sdk.Result, answers.RESOLVED]
    _Detailed = Annotated[sdk.Result, answers.DETAILED]
    _Answer = Annotated[dict[str, Any] | None, WithJsonSchema(inlined(RESOLUTION_SCHEMA))]
    _Context = sdk.Context


def server(emit: Emit, asking: Asking, **settings: Any) -> Any:
    """Return the SDK's server with the three tools; ``settings`` are its own.

    Errors of this library come back as error results with a sentence and a stable code; of any other, that there was
    one is all that is told.
    """
    made = sdk.Server("emitter", instructions=_INSTRUCTIONS, **settings)
    tool(made, description=_EMIT)(_Emitter(emit, asking).emit_binding_moment)
    add_resolve_tool(made, asking)
    add_detail_tool(made, asking)
    return made


def add_resolve_tool(to: Any, asking: Asking) -> None:
    """Register ``resolve_binding_moment`` with a server whose own tools pose decisions."""
    to.tool(description=_RESOLVE)(_Resolver(asking).resolve_binding_moment)


def add_detail_tool(to: Any, asking: Asking) -> None:
    """Register ``answer_detail``, by which an agent answers what the person wants to know before they decide."""
    to.tool(description=_DETAIL)(_Resolver(asking).answer_detail)


_EMIT = (
    "Ask for a decision on a situation. Returns status bound with the decision and its id, or status withheld with "
    "what is missing. Materials are texts that bear on it; they are taken as untrusted. after names decisions that "
    "were resolved before and led here: what the person objected to is not asked again. A question that the person "
    "refused is an error, whether after names it or not."
)
_RESOLVE = (
    "Find out what the person decided, by the decision's id. Without a resolution the person is asked, where the "
    "client can do that; otherwise pass their answer on, with the digest of the envelope. Act only on status resolved."
)


_DETAIL = (
    "Answer a request for detail: the person wants to know more before they decide. resolve_binding_moment lists the "
    "requests of a pending decision in detail_requests, each with its number. This decides nothing."
)


class _Emitter:
    def __init__(self, emit: Emit, asking: Asking) -> None:
        self._emit = emit
        self._asking = asking

    async def emit_binding_moment(
        self,
        situation: str,
        materials: list[str | Passage] | None = None,
        decision_class: str | None = None,
        after: list[str] | None = None,
    ) -> _Emitted | WithMoment[_Emitted]:
        told: _Emitted | WithMoment[_Emitted] = await _told(
            self._decided(situation, materials or (), decision_class, after or ())
        )
        return told

    async def _decided(
        self, situation: str, materials: Iterable[str | Passage], decision_class: str | None, after: Sequence[str]
    ) -> Any:
        given = [_material(each) for each in materials]
        before = [await self._continuation(each) for each in after]
        decision = await self._emit(situation, materials=given, decision_class=decision_class, after=before)
        if isinstance(decision, Withheld):
            return answers.withheld(decision)
        pending = await self._opened(decision.value, after)
        like = await run_sync(self._asking.ledger.resembles, pending)
        resembles: list[Json] = [each.pending.decision_id for each in like if each.pending.decision_id not in after]
        told = {**answers.bound(pending), **({"resembles": resembles} if resembles else {})}
        return WithMoment(answers.answer(told), decision)

    async def _opened(self, moment: BindingMoment, after: Sequence[str]) -> Pending:
        """Open a decision; say to an agent how to go on where the person refused its question before."""
        try:
            return await self._asking.open(moment, after=after)
        except AlreadyResolved as error:
            raise AlreadyResolved(
                f"The person refused this very question before, in the decision {error.decision_id}. Read their "
                "objection with resolve_binding_moment and this decision_id. Then deliberate, and call "
                "emit_binding_moment with the id in after, so that the next decision takes the objection up.",
                decision_id=error.decision_id,
            ) from error

    async def _continuation(self, decision_id: str) -> Continuation:
        found = await self._asking.find(decision_id)
        if not isinstance(found, Resolved):
            raise UnknownDecision("after names a decision that is not resolved yet.")
        return found.continuation


class _Resolver:
    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    async def resolve_binding_moment(self, decision_id: str, context: _Context, resolution: _Answer = None) -> _Became:
        told: _Became = await _told(self._became(context, decision_id, resolution))
        return told

    async def answer_detail(self, decision_id: str, number: int, answer: str) -> _Detailed:
        told: _Detailed = await _told(self._detailed(decision_id, number, answer))
        return told

    async def _detailed(self, decision_id: str, number: int, answer: str) -> sdk.Result:
        return answers.detailed(await run_sync(self._asking.ledger.answer_detail, decision_id, number, answer))

    async def _became(self, context: Any, decision_id: str, resolution: Json) -> Any:
        found = await self._asking.resolve(context, decision_id, resolution)
        match found:
            case Suspended(result=result):
                return result
            case Pending():
                requests = await run_sync(self._asking.ledger.detail_requests, decision_id)
                details = [each for each in requests if each.is_open]
                return answers.waiting(found, own=self._asking.surface is Surface.OWN, details=details)
            case _:
                return answers.became(found, decision_id)


async def _told(work: Awaitable[Any]) -> Any:
    try:
        return await work
    except EmitterError as error:
        return answers.failure(error)
    except Exception as error:  # noqa: BLE001  its words may hold a secret, or the model's text
        return answers.failed(
            f"The server broke on this, with {type(error).__name__}; it is a bug there.", "internal_error"
        )


def _material(given: str | Passage) -> Material:
    passage = Passage(text=given) if isinstance(given, str) else given
    return Material(passage.text, passage.source, Trust.UNTRUSTED)
