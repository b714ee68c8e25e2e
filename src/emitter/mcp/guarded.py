"""``@guarded``: a tool that runs only the call that its principal approved, to the letter, once, and with a receipt.

Source: AAuth R3 (draft-hardt-aauth-r3-02), sections 5.4 and 10; draft-morrison-binding-moment-envelope-00, sections 6.3
and 7. The way of a call is ``Authority.guard``'s; here is how it is asked for, and answered, over the protocol.
"""

from __future__ import annotations

import functools
import inspect
import re
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, assert_never, get_args, get_origin

from pydantic import Field, PydanticUserError, TypeAdapter

from emitter.authority import Guarding
from emitter.authority.proposal import AccessMode, access_annotations
from emitter.decide import Unanswered, Unresolved
from emitter.errors import AlreadyResolved, ApprovalPending, DecisionExpired, EmitterError, InputError, NotApproved
from emitter.ledger import Pending, Resolved
from emitter.mcp import elicit, not_run, sdk
from emitter.mcp.advert import advert
from emitter.mcp.asking import Asking, Surface
from emitter.mcp.elicit import Suspended
from emitter.mcp.inlining import published
from emitter.sinks import new_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.authority import Authority, Guarded
    from emitter.wire import Json

_CALL_ID: Final = "call_id"
_CONTEXT: Final = "emitter_context"
_ID: Final = re.compile(r"[0-9a-f]{32}")
_DESCRIBED: Final = (
    "Pass it back to go on with a call that waited for approval, all other arguments unchanged; leave it out for a new "
    "call."
)
_PASSED_BACK: Final = Annotated[str | None, Field(description=_DESCRIBED)]
_ASKS: Final = ("ask", "channel")
"""Settings of ``Authority.guard`` that ``Asking`` stands for."""


def guarded(
    server: Any, authority: Authority, asking: Asking | None = None, **settings: Any
) -> Callable[[Callable[..., Any]], Guarded[..., Any]]:
    """Return a decorator that registers a tool of the SDK's ``server``, each call of which has to be approved.

    ``asking`` puts the decisions of ``authority.ledger`` to the principal, by the client where None. ``settings`` are
    those of ``Authority.guard``, but for ``ask`` and ``channel``, and those of the server's own ``tool``. The tool
    takes one argument more: ``call_id``, by which a call that waited is gone on with. The SDK's context is no content
    of a call. A function that is not async runs in a thread; a function asks its user nothing by itself.

    What the tool returns is told as it always was. A call that is not made is an error result, whose structured
    content has ``status``, ``code``, ``message``, ``call_id``, and the ``decision_id`` and the envelope where it waits;
    the published output schema has room for it. What the decorator returns is guarded just so, called in this process.

    Raises ``InputError`` for what cannot be guarded, and for an ``asking`` of another ledger.
    """
    puts = Asking(authority.ledger) if asking is None else asking
    if puts.ledger is not authority.ledger:
        raise InputError("The decisions would be asked from another ledger.", hint="Give Asking(authority.ledger).")
    refused = [name for name in _ASKS if name in settings]
    if refused:
        raise InputError(f"A guarded tool of a server takes no {refused[0]}=.", hint="asking= says how it is asked.")
    how: dict[str, Any] = {name: settings.pop(name) for name in Guarding.__optional_keys__ if name in settings}
    structured_output: bool | None = settings.pop("structured_output", None)
    settings["meta"] = advert({**(settings.get("meta") or {}), **access_annotations(AccessMode.PER_CALL)})

    def decorator(function: Callable[..., Any]) -> Guarded[..., Any]:
        name = how.get("name") or str(getattr(function, "__name__", ""))
        own, returned = sdk.context_parameter(function), sdk.signature(function).return_annotation
        exclude = (*how.get("exclude", ()), *(() if own is None else (own,)))
        settled: dict[str, Any] = {**how, "name": name, "exclude": exclude}
        tool: Guarded[..., Any] = authority.guard(_marking(function), **settled)
        made = sdk.conventional(name, returned, structured_output)
        guard = _Guard(tool, puts, made, _reader(returned))
        returns = _returns(returned, made, stays=structured_output is None)
        server.tool(name=name, **settings)(_registered(guard, function, own, returns))
        return tool

    return decorator


@dataclass(slots=True)
class _Run:
    """Whether the tool itself was called, here and now."""

    began: bool = False


_run: ContextVar[_Run | None] = ContextVar("emitter.mcp.guarded", default=None)


@dataclass(frozen=True, slots=True)
class _Call:
    """A call as it came: by which way its principal can be asked, its id, and its arguments."""

    context: Any
    call_id: str
    arguments: Mapping[str, Any]
    run: _Run


@dataclass(frozen=True, slots=True)
class _Guard:
    """A tool, guarded; how its decisions are put; what the SDK makes of its payload; how a retained one is read."""

    tool: Guarded[..., Any]
    asking: Asking
    made: sdk.Conventional
    read: Callable[[Json], Any]

    async def call(self, context: Any, call_id: str | None, arguments: Mapping[str, Any]) -> Any:
        """Return the call's result, which may also be one of the protocol's own."""
        known = elicit.state_of(context) or (new_id() if call_id is None else call_id)
        if not _ID.fullmatch(known):
            return not_run.refused("", InputError("No call has this call_id: leave it out for a new call."))
        call = _Call(context, known, arguments, _Run())
        mark = _run.set(call.run)
        try:
            return await self._answered(call)
        except NotApproved as error:
            return await self._not_approved(call, error)
        except EmitterError as error:
            return (not_run.failed if call.run.began else not_run.refused)(known, error)
        finally:
            _run.reset(mark)

    async def _answered(self, call: _Call) -> Any:
        try:
            return await self._made(call)
        except ApprovalPending as waiting:
            if call.run.began:
                raise  # it is that of another call, which the tool made
            decision_id = waiting.decision_id
        try:
            found = await self.asking.put(call.context, decision_id, state=call.call_id)
        except (AlreadyResolved, DecisionExpired):
            return await self._made(call)  # it was answered elsewhere meanwhile, or is over: what counts is what stands
        match found:
            case Suspended(result=result):
                return result
            case Resolved():
                return await self._made(call)
            case Pending():
                return not_run.pending(call.call_id, found, own=self.asking.surface is Surface.OWN)
            case Unresolved():
                return await self._undecided(call, decision_id, found)
            case _:
                assert_never(found)

    async def _made(self, call: _Call) -> Any:
        value = await self.tool.call(call.call_id, **call.arguments)
        return self.made.convert(value if call.run.began else self.read(value))

    async def _undecided(self, call: _Call, decision_id: str, unresolved: Unresolved) -> sdk.Result:
        """Say that nobody decided; where nobody was shown the decision either, it is handed over."""
        found = await self.asking.find(decision_id)
        if unresolved.reason is Unanswered.DROPPED and isinstance(found, Pending):
            return not_run.pending(call.call_id, found, own=self.asking.surface is Surface.OWN)
        return not_run.undecided(call.call_id, decision_id, unresolved)

    async def _not_approved(self, call: _Call, error: NotApproved) -> sdk.Result:
        """Say so, and what the principal decided instead."""
        if call.run.began:
            return not_run.failed(call.call_id, error)
        found = await self.asking.find(error.decision_id) if error.decision_id else None
        return not_run.refused(call.call_id, error, found)


def _marking(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a tool's function as an async one, which notes that it was called."""

    @functools.wraps(function)
    async def marking(*given: Any, **arguments: Any) -> Any:
        run = _run.get()
        if run is not None:
            run.began = True
        return await sdk.threaded(function, *given, **arguments)

    return marking


def _reader(returned: Any) -> Callable[[Json], Any]:
    """Return what reads a retained result back into the tool's own type, where that is one that can be read."""
    if returned is inspect.Signature.empty:
        return _as_it_is
    is_result = get_origin(returned) is Annotated and get_args(returned)[0] is sdk.Result
    try:
        return TypeAdapter(sdk.Result if is_result else returned).validate_python
    except PydanticUserError:
        return _as_it_is


def _as_it_is(value: Json) -> Json:
    return value


def _returns(returned: Any, made: sdk.Conventional, *, stays: bool) -> Any:
    """Return the annotation by which the tool's schema is published, and an error's own form let pass.

    2.x does not look at errors, so that a schema with room for them can stay the SDK's own.
    """
    if made.schema is None:
        return sdk.Result
    schema = not_run.admitting(made.schema)
    if sdk.MODERN and stays and schema == made.schema:
        return returned
    return Annotated[sdk.Result, published(schema)]


def _registered(guard: _Guard, function: Callable[..., Any], own: str | None, returns: Any) -> Callable[..., Any]:
    """Return the function to register: the tool's own parameters, ``call_id``, and the call's context."""
    signature = sdk.signature(function)
    if _CALL_ID in signature.parameters:
        raise InputError("The tool has a parameter call_id, which is the guard's.", hint="Give it another name.")

    @functools.wraps(function)
    async def registered(**arguments: Any) -> Any:
        call_id = arguments.pop(_CALL_ID, None)
        context = arguments.pop(_CONTEXT) if own is None else arguments[own]
        return await guard.call(context, call_id, arguments)

    keyword = inspect.Parameter.KEYWORD_ONLY
    added = [inspect.Parameter(_CALL_ID, keyword, default=None, annotation=_PASSED_BACK)]
    if own is None:
        added.append(inspect.Parameter(_CONTEXT, keyword, annotation=sdk.Context))
    parameters = sorted([*signature.parameters.values(), *added], key=lambda each: each.kind)
    registered.__signature__ = signature.replace(parameters=parameters, return_annotation=returns)  # type: ignore[attr-defined]
    registered.__annotations__ = {"return": returns, **{each.name: each.annotation for each in parameters}}
    return registered
