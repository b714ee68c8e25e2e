"""Register MCP tools that run only the exact call their principal approved, once, and with a receipt.

A call that was not run returns an error result with its reason, and with the decision if it waits for approval.
The published output schema accepts these errors, because some clients validate errors too.

Source: AAuth R3 (draft-hardt-aauth-r3-02), sections 5.4 and 10; draft-morrison-binding-moment-envelope-00,
sections 6.3 and 7; MCP, "Structured Content" and "Error Handling"; issues 1943 and 2748 of
modelcontextprotocol/typescript-sdk.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
import re
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, assert_never, get_args, get_origin

import jsonschema_rs
from pydantic import Field, PydanticUserError, TypeAdapter

from emitter.authority import GuardOptions
from emitter.authority.proposals import AccessMode, access_annotations
from emitter.decisions import Unresolved, UnresolvedReason
from emitter.decisions.envelope_parsing import MOMENT_FIELD
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision, UnreadableAnswer
from emitter.decisions.resolution import ResolutionOutcome
from emitter.errors import (
    AlreadyResolved,
    ApprovalPending,
    AuthorityError,
    DecisionExpired,
    EmitterError,
    InputError,
    NotApproved,
    OtherCall,
    StoreFailed,
)
from emitter.mcp import asker, results, sdk
from emitter.mcp.asker import DecisionAsker, Surface, Suspended
from emitter.mcp.schemas import ENVELOPE_SCHEMA, inline_references, make_schema_type
from emitter.mcp.tools import add_advertisement, moment_texts
from emitter.telemetry.sinks import generate_id
from emitter.threads import run_blocking

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.authority import Authority, GuardedTool
    from emitter.messages import Json
    from emitter.models import BindingMoment

_CALL_ID_PARAMETER: Final = "call_id"
_CALL_ID_PATTERN: Final = re.compile(r"[0-9a-f]{32}")
"""The form of the ids that this module generates, so no call has an id of another form."""
_CALL_ID_DESCRIPTION: Final = (
    "Pass it to continue a call that waited for approval, with all other arguments unchanged or with resume_call. "
    "Leave it out for a new call."
)
_RESUME_PARAMETER: Final = "resume_call"
_RESUME_DESCRIPTION: Final = (
    "True runs the call of call_id with exactly the arguments that were proposed, and ignores all other arguments. Use "
    "it if you cannot write them again word for word."
)
_RESUME_ANNOTATION: Final = Annotated[bool, Field(description=_RESUME_DESCRIPTION)]
_CALL_ID_ANNOTATION: Final = Annotated[str | None, Field(description=_CALL_ID_DESCRIPTION)]
_RESERVED_SETTINGS: Final = ("ask", "channel")
"""Settings of ``Authority.guard`` that ``asker`` replaces."""


def guarded_tool(
    server: Any, authority: Authority, asker: DecisionAsker | None = None, **settings: Any
) -> Callable[[Callable[..., Any]], GuardedTool[..., Any]]:
    """Register a tool each call of which must be approved by the principal.

    Every call runs at most once, exactly as approved, and gets a receipt. The tool has one parameter more, ``call_id``,
    with which a call that waited for approval is continued. A call that is not made returns an error result; its
    structured content has ``status``, ``code``, ``message`` and ``call_id``, and ``decision_id`` and the envelope if it
    waits. The published output schema allows these errors. The decorator returns the guarded tool, for calls in this
    process.

    Args:
        server: The SDK's server.
        authority: Approves the calls and keeps the receipts.
        asker: Asks the principal. Defaults to the client's form. Must use ``authority.ledger``.
        settings: The settings of ``Authority.guard`` except ``ask`` and ``channel``, and those of the server's own
            ``tool``.

    Raises:
        InputError: The function cannot be guarded, or ``asker`` uses another ledger.
    """
    decision_asker = DecisionAsker(authority.ledger) if asker is None else asker
    if decision_asker.ledger is not authority.ledger:
        raise InputError("asker uses another ledger than authority.", hint="Pass DecisionAsker(authority.ledger).")
    reserved = [name for name in _RESERVED_SETTINGS if name in settings]
    if reserved:
        raise InputError(f"guarded_tool takes no {reserved[0]}=.", hint="Use asker= to say how decisions are asked.")
    options: dict[str, Any] = {name: settings.pop(name) for name in GuardOptions.__optional_keys__ if name in settings}
    structured_output: bool | None = settings.pop("structured_output", None)
    settings["meta"] = add_advertisement({**(settings.get("meta") or {}), **access_annotations(AccessMode.PER_CALL)})

    def decorator(function: Callable[..., Any]) -> GuardedTool[..., Any]:
        name = options.get("name") or str(getattr(function, "__name__", ""))
        own, annotation = sdk.context_parameter(function), sdk.tool_signature(function).return_annotation
        exclude = (*options.get("exclude", ()), *(() if own is None else (own,)))
        guard_options: dict[str, Any] = {**options, "name": name, "exclude": exclude}
        tool: GuardedTool[..., Any] = authority.guard(_track_start(function), **guard_options)
        output = sdk.default_output(name, annotation, structured_output)
        guard = _ToolGuard(tool, decision_asker, output, _result_reader(annotation), own)
        returns = _return_annotation(annotation, output, stays=structured_output is None)
        server.tool(name=name, **settings)(_registered_function(guard, function, own, returns))
        return tool

    return decorator


@dataclass(slots=True)
class _RunState:
    """Records whether the tool's function was called."""

    has_started: bool = False


_current_run: ContextVar[_RunState | None] = ContextVar("emitter.mcp.guarded", default=None)
"""The run of the call in progress. The guard calls the tool's function itself, so nothing else leads from it there."""


@dataclass(frozen=True, slots=True)
class _GuardedCall:
    """A call with its context, id and arguments. One that is resumed has only those that are not stored."""

    context: Any
    call_id: str
    arguments: Mapping[str, Any]
    is_resumed: bool
    run: _RunState


@dataclass(frozen=True, slots=True)
class _ToolGuard:
    """A guarded tool, and everything needed to ask about its calls and to convert its results."""

    tool: GuardedTool[..., Any]
    asker: DecisionAsker
    default_output: sdk.DefaultOutput
    restore: Callable[[Json], Any]
    own_context: str | None

    async def call(
        self, context: Any, call_id: str | None, arguments: Mapping[str, Any], *, is_resumed: bool = False
    ) -> Any:
        """Return the result of a call."""
        if is_resumed:
            arguments = {name: value for name, value in arguments.items() if name == self.own_context}
        known_id = asker.get_call_state(context) or call_id
        call_id = generate_id() if known_id is None else known_id
        if not _CALL_ID_PATTERN.fullmatch(call_id):
            return refused_result("", InputError("No call has this call_id. Leave it out for a new call."))
        call = _GuardedCall(context, call_id, arguments, is_resumed, _RunState())
        token = _current_run.set(call.run)
        try:
            return await self._run_or_ask(call)
        except asyncio.CancelledError:
            # The client has given up. It can repeat the call only if it knows its id.
            if known_id is None and not is_resumed:
                with suppress(StoreFailed):
                    await run_blocking(self.tool.call_off, call_id, **arguments)
            raise
        except EmitterError as error:
            return await self._report_error(call, error)
        finally:
            _current_run.reset(token)

    async def _run_or_ask(self, call: _GuardedCall) -> Any:
        try:
            return await self._run_tool(call)
        except ApprovalPending as error:
            if call.run.has_started:
                raise  # the tool itself made another guarded call
            decision_id = error.decision_id
        try:
            outcome = await self.asker.pose(call.context, decision_id, state=call.call_id)
        except (AlreadyResolved, DecisionExpired):  # meanwhile, on another surface
            return await self._run_tool(call)
        match outcome:
            case Suspended(result=result):
                return result
            case ResolvedDecision():
                return await self._run_tool(call)
            case PendingDecision():
                return self._report_pending(call, outcome)
            case Unresolved():
                return await self._report_undecided(call, decision_id, outcome)
            case _:
                assert_never(outcome)

    async def _run_tool(self, call: _GuardedCall) -> Any:
        make = self.tool.resume if call.is_resumed else self.tool.call
        value = await make(call.call_id, **call.arguments)
        return self.default_output.convert(value if call.run.has_started else self.restore(value))

    async def _report_undecided(self, call: _GuardedCall, decision_id: str, unresolved: Unresolved) -> sdk.Result:
        """Report that nobody decided. A decision that nobody saw is returned as pending."""
        decision = await self.asker.find(decision_id)
        if unresolved.reason is UnresolvedReason.DROPPED and isinstance(decision, PendingDecision):
            return self._report_pending(call, decision)
        return undecided_result(call.call_id, decision_id, unresolved)

    def _report_pending(self, call: _GuardedCall, decision: PendingDecision) -> sdk.Result:
        if decision.four_eyes:
            message = _TWO_APPROVE
        else:
            message = _APPROVE_ELSEWHERE if self.asker.surface is Surface.OWN else _APPROVE_HERE
        return pending_call_result(call.call_id, decision, message)

    async def _report_error(self, call: _GuardedCall, error: EmitterError) -> sdk.Result:
        """Report why a call was not made, with the principal's other decision, or that it failed."""
        if call.run.has_started:
            return failed_result(call.call_id, error)
        if isinstance(error, OtherCall) and error.pointer.startswith("/parameters"):
            error = OtherCall(_OTHER_ARGUMENTS, pointer=error.pointer)
        decision_id = error.decision_id if isinstance(error, NotApproved) else ""
        return refused_result(call.call_id, error, await self.asker.find(decision_id) if decision_id else None)


def _track_start(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a tool's function, so that its start is recorded."""

    @functools.wraps(function)
    async def wrapper(*args: Any, **arguments: Any) -> Any:
        run = _current_run.get()
        if run is not None:
            run.has_started = True
        return await sdk.call_in_thread(function, *args, **arguments)

    return wrapper


def _result_reader(annotation: Any) -> Callable[[Json], Any]:
    """Return a function that reads a kept result back into the tool's return type, if possible."""
    if annotation is inspect.Signature.empty:
        return _unchanged
    is_result = get_origin(annotation) is Annotated and get_args(annotation)[0] is sdk.Result
    try:
        return TypeAdapter(sdk.Result if is_result else annotation).validate_python
    except PydanticUserError:
        return _unchanged


def _unchanged(value: Json) -> Json:
    return value


def _return_annotation(annotation: Any, default_output: sdk.DefaultOutput, *, stays: bool) -> Any:
    """Return the annotation that publishes the tool's schema and allows errors.

    2.x does not validate errors, so a schema that allows them already stays the SDK's own.
    """
    if default_output.schema is None:
        return sdk.Result
    schema = admit_errors(default_output.schema)
    if sdk.IS_V2 and stays and schema == default_output.schema:
        return annotation
    return Annotated[sdk.Result, make_schema_type(schema)]


def _registered_function(
    guard: _ToolGuard, function: Callable[..., Any], context_name: str | None, returns: Any
) -> Callable[..., Any]:
    """Return the function to register, with the tool's parameters, ``call_id`` and the context."""
    signature = sdk.tool_signature(function)
    for name in (_CALL_ID_PARAMETER, _RESUME_PARAMETER):
        if name in signature.parameters:
            raise InputError(f"The tool has a parameter {name}, which guarded_tool adds itself.", hint="Rename it.")

    @functools.wraps(function)
    async def registered(**arguments: Any) -> Any:
        call_id, is_resumed = arguments.pop(_CALL_ID_PARAMETER, None), arguments.pop(_RESUME_PARAMETER, False)
        context = arguments.pop(sdk.CONTEXT_PARAMETER) if context_name is None else arguments[context_name]
        return await guard.call(context, call_id, arguments, is_resumed=is_resumed)

    own = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, default, annotation in (
            (_CALL_ID_PARAMETER, None, _CALL_ID_ANNOTATION),
            (_RESUME_PARAMETER, False, _RESUME_ANNOTATION),
        )
    ]
    added = [*own, *([sdk.added_context_parameter()] if context_name is None else [])]
    return sdk.set_signature(registered, signature, added, returns)


PENDING_CODE: Final = "approval_pending"
"""The code of a call that waits for approval."""
_APPROVE_HERE: Final = (
    "The person has not approved this call yet, and nothing was done. Show them the whole decision, and pass their "
    "answer on with resolve_binding_moment and its decision_id. Then repeat this exact call with this call_id."
)
_APPROVE_ELSEWHERE: Final = (
    "The person has not approved this call yet, and nothing was done. They answer on their own page: repeat this "
    "exact call later, with this call_id."
)
_OTHER_ARGUMENTS: Final = (
    "A different call was proposed under this call_id, and nothing was done. To run that one exactly as it was "
    "proposed, pass its call_id with resume_call true. To make this call, leave call_id out."
)
_TWO_APPROVE: Final = (
    "Two people must approve this call, each under their own name, and nothing was done. They answer where the server "
    "takes their answers, such as its inbox, and not through this client: repeat this exact call later, with this "
    "call_id."
)
_STILL_UNDECIDED: Final = (
    "The person was asked and has not decided. Nothing was done, and the decision is still open: repeat this exact "
    "call with this call_id to ask them again."
)
_TEXT_SCHEMA: Final[Mapping[str, Json]] = {"type": "string"}
_NOT_RUN_SCHEMA: Final[Mapping[str, Json]] = {
    "type": "object",
    "title": "NotRun",
    "description": "The error of a call that did not run, or did not finish.",
    "properties": {
        "status": {"type": "string", "enum": [PENDING_CODE, "undecided", "refused", "failed", "error"]},
        "code": {**_TEXT_SCHEMA, "description": "The stable code of the error."},
        "message": _TEXT_SCHEMA,
        "call_id": {**_TEXT_SCHEMA, "description": "The id with which to repeat this exact call."},
        "decision_id": {**_TEXT_SCHEMA, "description": "The id by which the decision is resolved."},
        "digest": {**_TEXT_SCHEMA, "description": "The envelope's digest, which a resolution names."},
        "reason": {**_TEXT_SCHEMA, "description": "Why nobody decided."},
        "decision": {"type": "object", "description": "The person's other decision."},
        MOMENT_FIELD: dict(ENVELOPE_SCHEMA),
    },
    "required": ["status", "code", "message"],
}


def admit_errors(schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return a tool's output schema that also allows the errors of calls that did not run."""
    own = dict(schema)
    if all(jsonschema_rs.is_valid(own, sample) for sample in _ERROR_SAMPLES):
        return own
    own = inline_references(schema)
    title = {"title": own["title"]} if "title" in own else {}
    return {**title, "type": "object", "anyOf": [own, dict(_NOT_RUN_SCHEMA)]}


_MINIMAL_SAMPLE: Final[Mapping[str, Json]] = {"status": "error", "code": "", "message": ""}
_ID_MEMBERS: Final[Mapping[str, Json]] = {"call_id": "", "decision_id": "", "digest": ""}
_FULL_SAMPLE_MEMBERS: Final[Mapping[str, Json]] = {
    **_ID_MEMBERS,
    "reason": "",
    "decision": {"index": 0},
    MOMENT_FIELD: {"question": {}},
}
# A schema is widened only if it rejects one of these, so that a permissive one is published unchanged.
_ERROR_SAMPLES: Final = (_MINIMAL_SAMPLE, {**_MINIMAL_SAMPLE, **_FULL_SAMPLE_MEMBERS})


def pending_call_result(call_id: str, decision: PendingDecision, message: str) -> sdk.Result:
    """Return the result of a call that waits for approval, with its decision."""
    members = _error_members(PENDING_CODE, PENDING_CODE, message, call_id)
    return _build_error({**members, "decision_id": decision.decision_id, "digest": decision.digest}, decision.moment)


def undecided_result(call_id: str, decision_id: str, unresolved: Unresolved) -> sdk.Result:
    """Return the result of a call whose principal was asked but did not decide."""
    members = _error_members("undecided", PENDING_CODE, _STILL_UNDECIDED, call_id)
    return _build_error({**members, "decision_id": decision_id, "reason": unresolved.reason.value})


def refused_result(
    call_id: str, error: EmitterError, decision: PendingDecision | ResolvedDecision | None = None
) -> sdk.Result:
    """Return the result of a refused call, with the principal's other decision. An invalid ``call_id`` is empty."""
    status = "refused" if isinstance(error, AuthorityError) else "error"
    members = _error_members(status, results.error_code(error), Exception.__str__(error), call_id)
    if isinstance(error, NotApproved) and error.decision_id:
        members["decision_id"] = error.decision_id
    if isinstance(decision, ResolvedDecision) and not _is_unreadable(decision):
        members["decision"] = results.outcome_members(decision, decision.pending.decision_id)
    return _build_error(members)


def _is_unreadable(resolved: ResolvedDecision) -> bool:
    """Check whether the principal answered in words that the ledger cannot read."""
    return (
        isinstance(resolved.resolution, UnreadableAnswer) and resolved.resolution.outcome is ResolutionOutcome.FREE_TEXT
    )


def failed_result(call_id: str, error: EmitterError) -> sdk.Result:
    """Return the result of a call that started and failed."""
    return _build_error(_error_members("failed", results.error_code(error), Exception.__str__(error), call_id))


def _error_members(status: str, code: str, message: str, call_id: str) -> dict[str, Json]:
    members: dict[str, Json] = {"status": status, "code": code, "message": message}
    return {**members, "call_id": call_id} if call_id else members


def _build_error(fields: Mapping[str, Json], moment: BindingMoment | None = None) -> sdk.Result:
    """Return an error result. The envelope, if any, is in its structured content and its text."""
    texts = [json.dumps(fields, ensure_ascii=False, indent=2)]
    members: dict[str, Any] = dict(fields)
    if moment is not None:
        texts += moment_texts(moment)
        members[MOMENT_FIELD] = moment.to_json()
    return sdk.tool_result([sdk.text_block(text) for text in texts], members, is_error=True)
