"""A complete MCP server, over standard input and output or HTTP.

``emit_binding_moment`` asks a model for a decision, ``resolve_binding_moment`` takes the answer, and
``answer_detail`` answers questions of the principal. HTTP listens on loopback only and has no other
authentication: every process of this machine that can open a connection can call the tools.

Source: draft-morrison-binding-moment-envelope-00, sections 3, 6.3 and 7.
"""

from __future__ import annotations

import os
import sys
from contextlib import closing, redirect_stdout
from typing import TYPE_CHECKING, Annotated, Any, Final, Protocol, cast

import uvicorn
from pydantic import BaseModel, WithJsonSchema

from emitter.authority import Authority
from emitter.client.result import Withheld
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision
from emitter.decisions.resolution import RESOLUTION_SCHEMA
from emitter.errors import AlreadyResolved, EmitterError, UnknownDecision
from emitter.mcp import results, sdk
from emitter.mcp.asker import DecisionAsker, Surface, Suspended
from emitter.mcp.schemas import inline_references
from emitter.mcp.tools import WithMoment, tool
from emitter.models import Trust
from emitter.prompts import Material
from emitter.threads import run_blocking
from emitter.web.server import LOOPBACK, Address, listen

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from emitter.client.result import Decision
    from emitter.decisions import Continuation
    from emitter.messages import Json
    from emitter.models import BindingMoment

_INSTRUCTIONS = (
    "emit_binding_moment turns a situation into a decision for the person you act for, or says that it is too early. "
    "Show the person all of it: briefing, question, every option with its reasoning, and the two ways to refuse it. "
    "Then call resolve_binding_moment with the decision's id. If this client cannot ask the person, pass their answer "
    "on unchanged. Never answer for them. Any status other than resolved is not consent. If detail_requests are "
    "listed, the person wants to know more first: answer them with answer_detail."
)


class EmitFunction(Protocol):
    """Asks a model for a decision, like ``aemit_binding_moment`` with its other settings bound."""

    def __call__(
        self,
        situation: str,
        /,
        *,
        materials: Iterable[Material],
        decision_class: str | None,
        after: Iterable[Continuation],
    ) -> Awaitable[Decision]:
        """Return the decision, or the reason why it is withheld."""
        ...


class SourceText(BaseModel):
    """A text to consider, and its source."""

    text: str
    source: str = "client"


# The SDK builds the tools' schemas from these annotations at run time, and type checkers accept no computed types.
if TYPE_CHECKING:
    _EmitResult = sdk.Result
    _ResolveResult = sdk.Result
    _DetailResult = sdk.Result
    _ResolutionArgument = dict[str, Json] | None
    _CallContext = Any
else:
    _EmitResult = Annotated[sdk.Result, results.EMIT_OUTPUT]
    _ResolveResult = Annotated[sdk.Result, results.RESOLVE_OUTPUT]
    _DetailResult = Annotated[sdk.Result, results.DETAIL_OUTPUT]
    _ResolutionArgument = Annotated[dict[str, Any] | None, WithJsonSchema(inline_references(RESOLUTION_SCHEMA))]
    _CallContext = sdk.Context


def create_server(emit: EmitFunction, asker: DecisionAsker, **settings: Any) -> Any:
    """Return an MCP server with the three tools.

    Errors of this library become error results with a message and a stable code. Of other errors, only the type is
    reported.

    Args:
        emit: Asks a model for a decision.
        asker: Asks the principal.
        settings: The settings of the SDK's server.
    """
    server = sdk.Server("emitter", instructions=_INSTRUCTIONS, **settings)
    _add_emit_tool(server, emit, asker)
    add_resolve_tool(server, asker)
    add_detail_tool(server, asker)
    return server


def add_resolve_tool(server: Any, asker: DecisionAsker) -> None:
    """Add ``resolve_binding_moment`` to a server whose own tools ask for decisions."""

    async def resolve_binding_moment(
        decision_id: str, context: _CallContext, resolution: _ResolutionArgument = None
    ) -> _ResolveResult:
        return cast("_ResolveResult", await _run_to_result(_resolve(asker, context, decision_id, resolution)))

    server.tool(description=_RESOLVE_DESCRIPTION)(resolve_binding_moment)


def add_detail_tool(server: Any, asker: DecisionAsker) -> None:
    """Add ``answer_detail``, with which an agent answers the person's requests for detail."""

    async def record_answer(decision_id: str, number: int, answer: str) -> sdk.Result:
        answered = await run_blocking(asker.ledger.answer_detail, decision_id, number, answer)
        return results.detail_answered_result(answered)

    async def answer_detail(decision_id: str, number: int, answer: str) -> _DetailResult:
        return cast("_DetailResult", await _run_to_result(record_answer(decision_id, number, answer)))

    server.tool(description=_DETAIL_DESCRIPTION)(answer_detail)


_EMIT_DESCRIPTION = (
    "Ask for a decision on a situation. Returns status bound with the decision and its id, or status withheld with "
    "the reason. Materials are texts to consider; they are treated as untrusted. after lists resolved decisions that "
    "led here: what the person objected to is not asked again. Repeating a question that the person refused is an "
    "error, whether after lists it or not."
)
_RESOLVE_DESCRIPTION = (
    "Find out what the person decided, by the decision's id. Without a resolution, the person is asked if the client "
    "can do that. Otherwise pass their answer on, with the digest of the envelope. Act only on status resolved."
)
_DETAIL_DESCRIPTION = (
    "Answer a request for detail: the person wants to know more before they decide. resolve_binding_moment lists the "
    "requests of a pending decision in detail_requests, each with its number. This decides nothing."
)


def _add_emit_tool(server: Any, emit: EmitFunction, asker: DecisionAsker) -> None:
    @tool(server, description=_EMIT_DESCRIPTION)
    async def emit_binding_moment(
        situation: str,
        materials: list[str | SourceText] | None = None,
        decision_class: str | None = None,
        after: list[str] | None = None,
    ) -> _EmitResult | WithMoment[_EmitResult]:
        texts = [_to_material(material) for material in materials or ()]
        call = _emit_and_open(emit, asker, situation, texts, decision_class, after or ())
        return cast("_EmitResult | WithMoment[_EmitResult]", await _run_to_result(call))


async def _emit_and_open(  # noqa: PLR0913, PLR0917  the tool's parameters
    emit: EmitFunction,
    asker: DecisionAsker,
    situation: str,
    materials: Sequence[Material],
    decision_class: str | None,
    after: Sequence[str],
) -> Any:
    continuations = [await _find_continuation(asker, decision_id) for decision_id in after]
    decision = await emit(situation, materials=materials, decision_class=decision_class, after=continuations)
    if isinstance(decision, Withheld):
        return results.withheld_result(decision)
    pending = await _open(asker, decision.value, after)
    similar = await run_blocking(asker.ledger.find_similar_refusals, pending)
    resembles: list[Json] = [
        refusal.pending.decision_id for refusal in similar if refusal.pending.decision_id not in after
    ]
    members = {**results.bound_members(pending), **({"resembles": resembles} if resembles else {})}
    return WithMoment(results.json_result(members), decision)


async def _open(asker: DecisionAsker, moment: BindingMoment, after: Sequence[str]) -> PendingDecision:
    """Open a decision. If the person refused its question before, tell the agent how to continue."""
    try:
        return await asker.open(moment, after=after)
    except AlreadyResolved as error:
        raise AlreadyResolved(
            f"The person refused this question before, in the decision {error.decision_id}. Read their objection with "
            "resolve_binding_moment and this decision_id. Then deliberate, and call emit_binding_moment with the id in "
            "after, so that the next decision addresses the objection.",
            decision_id=error.decision_id,
        ) from error


async def _find_continuation(asker: DecisionAsker, decision_id: str) -> Continuation:
    decision = await asker.find(decision_id)
    if not isinstance(decision, ResolvedDecision):
        raise UnknownDecision("after names a decision that is not resolved yet.")
    return decision.continuation


async def _resolve(asker: DecisionAsker, context: Any, decision_id: str, resolution: Json) -> Any:
    outcome = await asker.resolve(context, decision_id, resolution)
    match outcome:
        case Suspended(result=result):
            return result
        case PendingDecision():
            requests = await run_blocking(asker.ledger.detail_requests, decision_id)
            details = [request for request in requests if request.is_open]
            return results.pending_decision_result(outcome, on_own_page=asker.surface is Surface.OWN, details=details)
        case ResolvedDecision() if outcome.action is not None:
            authority = Authority(asker.ledger.store, ledger=asker.ledger)
            return results.outcome_result(outcome, decision_id, await run_blocking(authority.find_state, outcome))
        case _:
            return results.outcome_result(outcome, decision_id)


async def _run_to_result(call: Awaitable[Any]) -> Any:
    try:
        return await call
    except EmitterError as error:
        return results.exception_result(error)
    except Exception as error:  # noqa: BLE001  its message may hold a secret or the model's text
        return results.error_result(
            f"The server failed with {type(error).__name__}. This is a bug in the server.", "internal_error"
        )


def _to_material(material: str | SourceText) -> Material:
    """Return a material as untrusted: the agent may pass on anything that it has read."""
    text = SourceText(text=material) if isinstance(material, str) else material
    return Material(text.text, text.source, Trust.UNTRUSTED)


_HTTP_PATH: Final = "/mcp"
_GRACE_SECONDS: Final = 1
"""Seconds for which open streams may finish when the server stops."""


async def serve_stdio(server: Any) -> None:
    """Serve one client over standard input and output until it closes them."""
    if sdk.IS_V2:
        await server.run_stdio_async()
        return
    # The 1.30 line closes the stream that it writes to, so it gets a copy of standard output.
    with redirect_stdout(os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")):
        await server.run_stdio_async()


async def serve_http(server: Any, port: int, on_listening: Callable[[str], object]) -> None:
    """Serve clients on this machine until interrupted.

    Args:
        server: The SDK's server.
        port: The port, or 0 for any free one.
        on_listening: Called with the server's address.

    Raises:
        InputError: The port is invalid or not available.
    """
    with closing(listen(Address(port=port))) as listener:
        config = uvicorn.Config(
            sdk.http_app(server), log_level="error", access_log=False, timeout_graceful_shutdown=_GRACE_SECONDS
        )
        on_listening(f"http://{LOOPBACK.host}:{listener.getsockname()[1]}{_HTTP_PATH}")
        await uvicorn.Server(config).serve(sockets=[listener])
