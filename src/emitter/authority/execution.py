"""Execute a confirmed action once: write the intent, call the tool, write the receipt.

If a crash leaves an intent without a receipt, the action is listed as unfinished and never repeated automatically.
The returned value is stored beside the receipt if it can be written as JSON.

Source: delegation-invariants, "RECEIPT (audit record before commit)" and "Stable hook points".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from emitter.authority import configuration, rules
from emitter.authority.configuration import ActionOutcome
from emitter.authority.context import (
    CURRENT_ACTION,
    RunningAction,
    check_caller,
    report_callback_error,
    report_conflicting_receipt,
    run_hooks_after,
    run_hooks_before,
)
from emitter.authority.grants import find_workflow_id
from emitter.authority.journal import NewRecord
from emitter.authority.records import ActionRequest, Expire, Intent, Receipt, Result
from emitter.authority.rules import check_may_begin, has_expired
from emitter.decisions import ledger_arguments
from emitter.decisions.canonical_json import CanonicalProfile, digest_of
from emitter.errors import (
    AlreadyUsed,
    ConfirmExpired,
    InputError,
    NotCanonical,
    OtherCall,
    OutOfScope,
    PartiallyDone,
    Tampered,
    Unfinished,
)
from emitter.events import format_timestamp
from emitter.interpreter import BlockingStep, UserCodeStep
from emitter.messages import as_mapping
from emitter.problems import warn_of_problem
from emitter.telemetry.sinks import generate_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.authority.context import AuthorityContext
    from emitter.authority.rules import WorkflowState
    from emitter.interpreter import Steps
    from emitter.messages import Json

_RESULT_VALUES: Final = tuple(Result)
_NEVER_STARTED: Final = "It was broken off before it began"


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects of an action, for its receipt: ``side_effects`` is a JSON object, ``evidence_refs`` name evidence."""

    result: Result = Result.SUCCESS
    side_effects: Mapping[str, Json] | None = None
    evidence_refs: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Execution:
    """An action to execute: its request and the tool that performs it.

    ``describe`` maps the tool's return value to the effects on the receipt. ``retain`` stores the return value, to
    answer a repeated request.
    """

    request: ActionRequest
    tool: Callable[[], Any]
    describe: Callable[[Any], Effects] | None = None
    retain: bool = True


def execute_confirmed(
    context: AuthorityContext, confirm_id: str, execution: Execution, *, refresh: bool = True
) -> Steps[Any]:
    """Execute an action once under a confirm, or return the retained result if it was executed before.

    ``refresh=False`` is for a caller that has just read the chain.
    """
    request = _validate_request(execution)
    find = partial(find_receipt, context, confirm_id, request, refresh=refresh)
    receipt: Receipt | None = yield BlockingStep(find)
    if receipt is not None:
        return (yield BlockingStep(partial(load_retained_result, context, receipt)))
    yield from run_hooks_before(context, "before_execute", request, copied=True)
    # Stop, revocation and expiry are looked at where the intent is written; the caller, who may be gone, is asked here.
    yield from check_caller()
    # The intent is stored before the tool is called. A process that is killed in between leaves an unfinished action; a
    # process that is killed before it has done nothing.
    write = partial(write_intent, context, confirm_id, request, refresh=refresh)
    intent: Intent | Receipt = yield BlockingStep(write)
    if isinstance(intent, Receipt):
        return (yield BlockingStep(partial(load_retained_result, context, intent)))
    return (yield from _run_registered(context, RunningAction(intent, context.journal, context.clock_at), execution))


def _validate_request(execution: Execution) -> ActionRequest:
    """Return a copy of the request that the caller cannot change, or raise ``InputError``."""
    if not isinstance(execution, Execution):  # pyright: ignore[reportUnnecessaryIsInstance]  callers may not check types
        raise InputError("execute() needs an Execution.")
    configuration.check_callable("tool", execution.tool)
    ledger_arguments.check_callable("describe", execution.describe)
    return configuration.validate_record(ActionRequest, execution.request)


def _run_registered(context: AuthorityContext, action: RunningAction, execution: Execution) -> Steps[Any]:
    """Run the action, listed as running here until its receipt is written."""
    context.active_actions.add(action)
    try:
        return (yield from _run_and_receipt(context, action, execution))
    finally:
        context.active_actions.remove(action)


def _run_and_receipt(context: AuthorityContext, action: RunningAction, execution: Execution) -> Steps[Any]:
    value = yield from _call_tool(context, action, execution)
    result = value if execution.retain else NOT_RETAINED
    effects, describe_error = _describe_effects(execution, value)
    receipt: Receipt = yield BlockingStep(
        partial(write_receipt, context, action.intent, effects, result), must_finish=True
    )
    if receipt.result != effects.result:
        report_conflicting_receipt(context, receipt)
    if describe_error is not None:
        report_callback_error(context, "describe", describe_error)
    yield from _run_receipt_hooks(context, ActionOutcome(execution.request, receipt, value))
    return value


def resolve_unfinished(context: AuthorityContext, workflow_id: str, intent_id: str, effects: Effects) -> Steps[Receipt]:
    """Write the receipt of an unfinished action whose outcome somebody found out."""
    check_effects(effects)
    configuration.validate_name("workflow_id", workflow_id)
    configuration.validate_name("intent_id", intent_id)
    intent: Intent = yield BlockingStep(partial(find_unfinished_intent, context, workflow_id, intent_id))
    if context.active_actions.is_running(intent):
        raise Unfinished("The action still runs here and will write its receipt.", intent_id=intent_id)
    receipt: Receipt = yield BlockingStep(partial(write_receipt, context, intent, effects, NOT_RETAINED))
    yield from run_hooks_after(context, "emit_receipt", receipt)
    return receipt


def _call_tool(context: AuthorityContext, action: RunningAction, execution: Execution) -> Steps[Any]:
    """Call the tool. An exception is written to the receipt; an interruption leaves the action unfinished."""
    step = UserCodeStep(execution.tool)
    token = CURRENT_ACTION.set(action)
    try:
        yield BlockingStep(action.check)  # a stop before the action was registered did not notify it
        return (yield step)
    except GeneratorExit:
        raise
    except BaseException as error:
        effects = _effects_of_error(step, error)
        if effects is not None:
            finish = partial(write_receipt, context, action.intent, effects, NOT_RETAINED)
            receipt: Receipt = yield BlockingStep(finish, must_finish=True)
            yield from _run_receipt_hooks(context, ActionOutcome(execution.request, receipt))
        raise
    finally:
        with suppress(ValueError):  # a generator that is garbage collected is closed in another context
            CURRENT_ACTION.reset(token)


def _effects_of_error(step: UserCodeStep, error: BaseException) -> Effects | None:
    """Return the effects for the receipt, or None if the call was interrupted and its effects are unknown."""
    name = type(error).__name__
    if not step.started:
        return Effects(Result.FAILURE, error=f"{_NEVER_STARTED}: {name}.")
    partial_error = _find_partially_done(error)
    if partial_error is not None:
        return _partial_effects(partial_error)
    return Effects(Result.FAILURE, error=name) if isinstance(error, Exception) else None


def _find_partially_done(error: BaseException) -> PartiallyDone | None:
    """Return the ``PartiallyDone`` that a tool raised, alone or in an exception group."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return next(filter(None, map(_find_partially_done, group.exceptions)), None)
    return error if isinstance(error, PartiallyDone) else None


def _partial_effects(error: PartiallyDone) -> Effects:
    """Return the effects that a tool reported, without those that do not fit a receipt."""
    name = type(error if error.__cause__ is None else error.__cause__).__name__
    refs = error.evidence_refs
    try:
        evidence = () if isinstance(refs, str) else tuple(refs)
        effects = Effects(Result.PARTIAL, error.side_effects, evidence, error=name)
        if isinstance(refs, str):
            raise InputError("evidence_refs must be a list of strings.")  # noqa: TRY301  handled below
        check_effects(effects)
    except Exception:  # noqa: BLE001  user values may raise anything
        message = "PartiallyDone has invalid effects, which are ignored: pass a JSON object and a list of strings."
        warn_of_problem(message)
        return Effects(Result.PARTIAL, error=name)
    return effects


def _describe_effects(execution: Execution, value: object) -> tuple[Effects, Exception | None]:
    """Return the described effects and any exception; a failing ``describe`` does not prevent the receipt."""
    if execution.describe is None:
        return Effects(), None
    effects = Effects()
    try:
        effects = execution.describe(value)
        check_effects(effects)
    except Exception as error:  # noqa: BLE001  the action happened anyway
        return _valid_result(effects), error
    return effects, None


def _valid_result(effects: object) -> Effects:
    """Return effects with only the result, for a receipt that the other effects do not fit."""
    result = effects.result if isinstance(effects, Effects) else Result.SUCCESS
    return Effects(result if result in _RESULT_VALUES else Result.SUCCESS)


def _run_receipt_hooks(context: AuthorityContext, result: ActionOutcome) -> Steps[None]:
    yield from run_hooks_after(context, "after_execute", result)
    yield from run_hooks_after(context, "emit_receipt", result.receipt)


NOT_RETAINED: Final = object()
"""Marks a result that is not stored; None is a valid result."""


def find_receipt(
    context: AuthorityContext, confirm_id: str, request: ActionRequest, *, refresh: bool = True
) -> Receipt | None:
    """Return an action's receipt, None for a new one; raise ``Unfinished`` or ``OtherCall`` otherwise."""

    def read(state: WorkflowState) -> Receipt | None:
        intent = state.intents.get(request.intent_id)
        if intent is None:
            return None
        receipt = state.receipts.get(request.intent_id)
        _check_same_action(intent, confirm_id, request)
        if receipt is None:
            raise _unfinished_error(intent)
        return receipt

    return context.journal.read(request.workflow_id, read, refresh=refresh)


def write_intent(
    context: AuthorityContext, confirm_id: str, request: ActionRequest, *, refresh: bool = True
) -> Intent | Receipt | None:
    """Write the intent if the action is allowed, or return the receipt if it ended meanwhile."""
    if refresh and find_workflow_id(context, confirm_id) != request.workflow_id:
        raise OutOfScope("The confirm is for another workflow.")

    def make(state: WorkflowState, at: float) -> NewRecord[Intent | Expire] | None:
        if request.intent_id in state.intents:
            return None
        now, grant = context.clock_at(at), state.confirms.get(confirm_id)
        if grant is not None and grant.end is None and has_expired(grant.confirm, now):
            return NewRecord(Expire.at(at, request.workflow_id, confirm_id))
        check_may_begin(state, confirm_id, request, now)
        return NewRecord(_make_intent(context, confirm_id, request, at))

    record = context.journal.append(request.workflow_id, make)
    if isinstance(record, Expire):
        raise ConfirmExpired("The confirm has expired.", hint="Ask the principal again.")
    return record or find_receipt(context, confirm_id, request)


def write_receipt(context: AuthorityContext, intent: Intent, effects: Effects, value: object) -> Receipt:
    """Write an action's receipt, storing ``value`` unless it is ``NOT_RETAINED``; return an existing one."""
    is_retained = effects.result == Result.SUCCESS and value is not NOT_RETAINED
    retained, digest = to_retained_json(value) if is_retained else (None, None)

    def make(state: WorkflowState, at: float) -> NewRecord[Receipt] | None:
        if intent.intent_id in state.receipts:
            return None
        return NewRecord(_make_receipt(intent, effects, at, digest), retained)

    receipt = context.journal.append(intent.workflow_id, make)
    return receipt or context.journal.read(intent.workflow_id, lambda state: state.receipts[intent.intent_id])


def find_unfinished_intent(context: AuthorityContext, workflow_id: str, intent_id: str) -> Intent:
    """Return an intent without a receipt, or raise ``AlreadyUsed`` or ``InputError``."""

    def read(state: WorkflowState) -> Intent:
        intent = state.intents.get(intent_id)
        if intent is None:
            raise InputError("This workflow has no action with this id.", hint="See Authority.unfinished_actions().")
        if intent_id in state.receipts:
            raise AlreadyUsed("The action already has a receipt.", receipt_id=state.receipts[intent_id].receipt_id)
        return intent

    return context.journal.read(workflow_id, read)


def load_retained_result(context: AuthorityContext, receipt: Receipt) -> Json:
    """Return the stored result of an action, or raise ``AlreadyUsed`` if it has none."""
    if receipt.result is not Result.SUCCESS:
        message = "The action was executed and did not succeed: see its receipt."
        raise AlreadyUsed(message, receipt_id=receipt.receipt_id, hint="Request another action.")
    if receipt.retained is None:
        message = "The action was executed and its result was not retained: see its receipt."
        raise AlreadyUsed(message, receipt_id=receipt.receipt_id, is_done=True)
    number = context.journal.read(receipt.workflow_id, lambda state: state.receipt_line_numbers[receipt.receipt_id])
    retained = context.journal.attachment(receipt.workflow_id, number)
    check_retained(retained, receipt.retained, receipt.receipt_id)
    return as_mapping(retained)["value"]


def check_effects(effects: object) -> None:
    """Raise ``InputError`` for effects that no receipt can contain."""
    if not isinstance(effects, Effects):
        raise InputError("The effects of an action must be an Effects object.")
    if not _fits_receipt(effects):
        raise InputError(
            "Invalid effects: side_effects must be a JSON object, evidence_refs strings, and error only go "
            "with a failure."
        )


_IDENTITY_FIELDS: Final = ("step_id", "action", "target", "capability", "risk_level", "call")


def _make_intent(context: AuthorityContext, confirm_id: str, request: ActionRequest, at: float) -> Intent:
    members = request.model_dump(include={"workflow_id", "step_id", "action", "target", "intent_id", "capability"})
    return Intent.from_members(
        **members,
        actor=context.actor,
        authorization_ref=confirm_id,
        timestamp=format_timestamp(at),
        spends=rules.compute_spending(request.spends, is_pure=request.is_pure),
        risk_level=request.risk_level,
        call=request.call,
    )


def _make_receipt(intent: Intent, effects: Effects, at: float, retained_digest: str | None) -> Receipt:
    members = intent.model_dump(include={"workflow_id", "step_id", "action", "target", "actor", "authorization_ref"})
    return Receipt.from_members(
        **members,
        receipt_id=f"receipt_{generate_id()}",
        intent_ref=intent.intent_id,
        timestamp=format_timestamp(at),
        result=effects.result,
        side_effects=None if effects.side_effects is None else dict(effects.side_effects),
        evidence_refs=effects.evidence_refs or None,
        error=effects.error,
        retained=retained_digest,
    )


def _fits_receipt(effects: Effects) -> bool:
    members = {"workflow_id": "w", "action": "a", "target": "t", "actor": "a", "risk_level": "low"}
    sample = Intent.from_members(
        **members, intent_id="i", authorization_ref="c", timestamp=format_timestamp(0), spends={}
    )
    try:
        side_effects = None if effects.side_effects is None else dict(effects.side_effects)
        if not is_finite_json(side_effects):
            return False
        line: Json = {"record": {"side_effects": side_effects}}  # nested as deep as in a line
        digest_of(line, CanonicalProfile.WIRE)
        _make_receipt(sample, effects, 0.0, None)
    except Exception:  # noqa: BLE001  a user mapping may raise anything
        return False
    return True


def _check_same_action(intent: Intent, confirm_id: str, request: ActionRequest) -> None:
    spending = rules.compute_spending(request.spends, is_pure=request.is_pure)
    requested = {name: getattr(request, name) for name in _IDENTITY_FIELDS}
    is_same = requested == {name: getattr(intent, name) for name in _IDENTITY_FIELDS}
    if not is_same or (confirm_id, spending) != (intent.authorization_ref, intent.spends):
        raise OtherCall("Another action began under this id.", hint="Give every action its own intent_id.")


def _unfinished_error(intent: Intent) -> Unfinished:
    return Unfinished(
        f"The action {intent.intent_id!r} of the workflow {intent.workflow_id!r} began before and either still runs or "
        "has an unknown outcome. It is not repeated.",
        intent_id=intent.intent_id,
        hint="An operator finds out what it did, and settles it with `emitter settle` or "
        "Authority.resolve_unfinished().",
    )


_MAX_VALUES: Final = 1_000_000
"""Limit on values within a value; shared values count each time, as they do in JSON."""


def to_retained_json(value: object) -> tuple[Json, str | None]:
    """Return a tool's result as a JSON object with its digest, or None twice if it cannot be JSON."""
    try:
        if not is_finite_json(value):
            return None, None
        document = {"value": to_jsonable_python(value)}
        return document, digest_of(document, CanonicalProfile.WIRE)
    except Exception:  # noqa: BLE001  the action happened, and user values may raise anything
        return None, None


def is_finite_json(value: object) -> bool:
    """Return True if converting a value to JSON would terminate and consume no iterator."""
    remaining, pending = _MAX_VALUES, [value]
    while pending and remaining:
        remaining -= 1
        item = pending.pop()
        if isinstance(item, Iterator):
            return False
        pending.extend(_child_values(item))
    return not pending


def check_retained(retained: Json, digest: Json, place: str) -> None:
    """Raise ``Tampered`` if the retained result does not match its receipt's digest."""
    try:
        actual = None if retained is None else digest_of(retained, CanonicalProfile.WIRE)
    except NotCanonical:
        actual = ""
    if actual != digest:
        raise Tampered(f"{place}: the retained result does not match the receipt.", place=place)


def _child_values(value: object) -> Iterable[object]:
    match value:
        case Mapping():
            return cast("Mapping[object, object]", value).values()
        case list() | tuple() | AbstractSet() | deque():
            return cast("Iterable[object]", value)
        case BaseModel():
            return (*value.__dict__.values(), *(value.__pydantic_extra__ or {}).values())
        case _ if is_dataclass(value) and not isinstance(value, type):
            return [getattr(value, member.name) for member in fields(value)]
        case _:
            return ()
