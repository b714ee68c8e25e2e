"""A ready MCP server: ``emit_binding_moment`` asks a model for a decision, ``resolve_binding_moment`` takes the answer.

Source: draft-morrison-binding-moment-envelope-00, sections 3 and 7; the resolution is the argument to the agent's next
tool invocation (section 6.3), or comes through the client's elicitation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Protocol

from pydantic import BaseModel, WithJsonSchema

from emitter.decide.resolution import RESOLUTION_SCHEMA
from emitter.errors import EmitterError, UnknownDecision
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
    from collections.abc import Awaitable, Iterable

    from emitter.decide import Continuation
    from emitter.moment.result import Decision
    from emitter.wire import Json

_INSTRUCTIONS = (
    "emit_binding_moment turns a situation into a decision for the person you act for, or says that it is too early. "
    "Show the person all of it: briefing, question, every option with its reasoning, and the two ways to refuse it. "
    "Then call resolve_binding_moment with the decision's id; where the person cannot be asked by this client, pass "
    "their answer on as it is. Never answer for them. A status other than resolved is no consent."
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
    _Answer = dict[str, Json] | None
    _Context = Any
else:
    _Emitted = Annotated[sdk.Result, answers.EMITTED]
    _Became = Annotated[sdk.Result, answers.RESOLVED]
    _Answer = Annotated[dict[str, Any] | None, WithJsonSchema(inlined(RESOLUTION_SCHEMA))]
    _Context = sdk.Context


def server(emit: Emit, asking: Asking, **settings: Any) -> Any:
    """Return the SDK's server with the two tools; ``settings`` are its own.

    Errors of this library come back as error results with a sentence and a stable code; of any other, that there was
    one is all that is told.
    """
    made = sdk.Server("emitter", instructions=_INSTRUCTIONS, **settings)
    tool(made, description=_EMIT)(_Emitter(emit, asking).emit_binding_moment)
    add_resolve_tool(made, asking)
    return made


def add_resolve_tool(to: Any, asking: Asking) -> None:
    """Register ``resolve_binding_moment`` with a server whose own tools pose decisions."""
    to.tool(description=_RESOLVE)(_Resolver(asking).resolve_binding_moment)


_EMIT = (
    "Ask for a decision on a situation. Returns status bound with the decision and its id, or status withheld with "
    "what is missing. Materials are texts that bear on it; they are taken as untrusted. after names decisions that "
    "were resolved before and led here: what the person objected to is not asked again."
)
_RESOLVE = (
    "Find out what the person decided, by the decision's id. Without a resolution the person is asked, where the "
    "client can do that; otherwise pass their answer on, with the digest of the envelope. Act only on status resolved."
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
        self, situation: str, materials: Iterable[str | Passage], decision_class: str | None, after: Iterable[str]
    ) -> Any:
        given = [_material(each) for each in materials]
        before = [await self._continuation(each) for each in after]
        decision = await self._emit(situation, materials=given, decision_class=decision_class, after=before)
        if isinstance(decision, Withheld):
            return answers.withheld(decision)
        pending = await self._asking.open(decision.value)
        return WithMoment(answers.answer(answers.bound(pending)), decision)

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

    async def _became(self, context: Any, decision_id: str, resolution: Json) -> Any:
        found = await self._asking.resolve(context, decision_id, resolution)
        match found:
            case Suspended(result=result):
                return result
            case Pending():
                return answers.waiting(found, own=self._asking.surface is Surface.OWN)
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
