"""Run a guarded call: propose it, ask the principal, confirm the answer, execute the tool, write the receipt.

Every call has an id. Each stage is written to the store before the next begins, so any thread, process or retry that
makes the call with the same id continues where the last one ended.

Source: AAuth R3, section 10.2 (the enforced retry); delegation-invariants.
"""

from __future__ import annotations

import functools
import inspect
import json
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, ParamSpec, TypeVar, assert_never, cast

from emitter.arguments import check_text, is_async
from emitter.authority import execution, grants, rules
from emitter.authority.context import run_hooks_before
from emitter.authority.execution import Execution
from emitter.authority.guard.briefing import ApprovalRequest, add_call_findings, call_label, states_call
from emitter.authority.guard.call_arguments import KeptArguments, bind_arguments, restore_arguments
from emitter.authority.guard.call_ids import MAX_CALL_ID_LENGTH, CallIds, call_key
from emitter.authority.guard.inspection import ToolFunction, get_signature
from emitter.authority.proposals.access import find_mismatch
from emitter.authority.proposals.proposal import Display, propose
from emitter.authority.records import ActionRequest, BoundCall
from emitter.authority.rules import check_all_known, check_not_stopped
from emitter.decisions import Dialogue, FreeText, Reopen, Selected, Unresolved, UnresolvedReason
from emitter.decisions.canonical_json import CanonicalProfile, digest_of
from emitter.decisions.ledger_entries import (
    PendingDecision,
    ResolvedDecision,
    UnreadableAnswer,
    decision_reference,
    pending_of,
)
from emitter.errors import (
    AlreadyResolved,
    ApprovalPending,
    AuthorityError,
    DecisionExpired,
    InputError,
    NotApproved,
    OtherCall,
    StoreFailed,
    Tampered,
    UnknownDecision,
    WrongDigest,
)
from emitter.interpreter import BlockingStep, UserCodeStep, arun_steps, run_steps
from emitter.messages import as_mapping
from emitter.telemetry.sinks import generate_id
from emitter.visible_text import is_blank

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from emitter.authority.context import AuthorityContext
    from emitter.authority.guard.call_arguments import CallArguments
    from emitter.authority.guard.options import AskPrincipal, GuardConfig, PrincipalAnswer
    from emitter.authority.proposals.proposal import Proposal
    from emitter.authority.proposals.store import ProposalStore
    from emitter.authority.records import Confirm, ConfirmRequest, Revoke
    from emitter.authority.rules import WorkflowState
    from emitter.decisions.ledger import Ledger
    from emitter.decisions.ledger_entries import RecordedResolution
    from emitter.interpreter import Steps
    from emitter.messages import Json
    from emitter.models import BindingMoment

P = ParamSpec("P")
R = TypeVar("R")


class GuardedTool(Generic[P, R]):
    """A tool that asks for approval before each call. An async tool stays async.

    ``call`` makes a call under your own id. Repeating the id refers to the same call, which runs once; afterwards its
    retained result is returned, as JSON.
    """

    def __init__(
        self, tool: Callable[P, R], config: GuardConfig, context: AuthorityContext, proposals: ProposalStore
    ) -> None:
        functools.update_wrapper(self, tool)
        for name in ("call", "call_ids", "call_off", "continues", "propose", "resume", "revoke"):
            self.__dict__.pop(name, None)  # update_wrapper copies the tool's attributes, which must not hide ours
        self._function = ToolFunction.from_tool(tool)
        self._config = config
        self._context = context
        self._proposals = proposals
        self._signature = get_signature(tool)
        self._run_steps: Callable[[Steps[Any]], Any] = arun_steps if is_async(tool) else run_steps

    @property
    def name(self) -> str:
        """The tool's name."""
        return self._config.name

    @property
    def label(self) -> str:
        """The label of the option that makes a call, for tests that write decisions: see ``ApprovalRequest.label``."""
        return call_label(self._config.name)

    @property
    def asks(self) -> bool:
        """True if a call asks its principal itself, by ``ask``."""
        return self._config.ask is not None

    @property
    def ledger(self) -> Ledger:
        """The ledger in which its calls are decided."""
        return self._context.ledger

    @property
    def workflow_id(self) -> str:
        """The workflow of its calls. Stop it to prevent them all.

        Without ``workflow_id=`` it is this object's own, but a call that another process began stays in that process's
        workflow.
        """
        return self._config.workflow_id

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Ask for approval of this call, and make it.

        Raises:
            NotApproved: The principal did not approve it, or nobody answered ``ask``. The question is then withdrawn.
            ApprovalPending: There is no ``ask``. Resolve the decision, and repeat the call with ``call_id``.
            AuthorityError: The call is not authorized.
        """
        return cast("R", self._run_steps(run_guarded_call(self._bind(None, args, kwargs))))

    def __get__(self, instance: object, owner: type | None = None) -> GuardedTool[..., R]:
        """Bind the tool as a method."""
        bind = getattr(self._function.tool, "__get__", None)
        if instance is None or bind is None:
            return self
        bound = bind(instance, owner)
        config = self._config.for_instance(instance) if inspect.ismethod(bound) else self._config
        return GuardedTool(bound, config, self._context, self._proposals)

    def call(self, call_id: str, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Make this call under an id, or continue it from wherever it was left.

        Raises:
            NotApproved: The principal did not approve it.
            ApprovalPending: Nobody has answered yet. The question stays open; repeat the call.
            OtherCall: Another call was proposed under the id.
            Unfinished: The call began before and its outcome is unknown.
        """
        return cast("R", self._run_steps(run_guarded_call(self._bind(_checked_id(call_id), args, kwargs))))

    def resume(self, call_id: str, /, **excluded: Any) -> R:
        """Continue a call with the arguments that were stored when it was proposed, in any process.

        Use it if the arguments cannot be passed again as they were, for example because a model wrote them.

        Args:
            call_id: The id of the call.
            **excluded: Arguments that ``exclude`` names, which are not stored. The others have their defaults.

        Raises:
            UnknownDecision: No call was proposed under the id.
            InputError: An argument is not stored: ``digested`` or ``exclude`` names it, or it has a megabyte of bytes.
                Or a class of an argument is not known in this process. Repeat the call with its arguments instead.
            NotApproved: The principal did not approve it.
            ApprovalPending: Nobody has answered yet.
            OtherCall: Another tool proposed the call, or with other options.
            Unfinished: The call began before and its outcome is unknown.
        """
        return cast("R", self._run_steps(resume_guarded_call(partial(self._restore, excluded), _checked_id(call_id))))

    def propose(self, call_id: str, /, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Open the decision about a call under an id, without making the call. ``ask`` is not called.

        Returns:
            The current decision, a ``PendingDecision`` or a ``ResolvedDecision``. Await it if the tool is async.

        Raises:
            NotApproved: The principal refused this question before.
            OtherCall: Another call was proposed under the id.
        """
        return self._run_steps(propose_guarded_call(self._bind(_checked_id(call_id), args, kwargs)))

    @property
    def call_ids(self) -> CallIds:
        """The calls that the ids of the store stand for."""
        return CallIds(self._context.journal)

    def continues(self, call_id: str, /, *args: P.args, **kwargs: P.kwargs) -> bool:
        """Return True if this very call was proposed under an id and has no receipt yet."""
        if not self.call_ids.exists(call_id):
            return False
        call = self._bind(call_id, args, kwargs)
        try:
            workflow_id = propose_call(call).request.scope.workflow_id
        except OtherCall:
            return False
        return call.context.journal.read(workflow_id, lambda state: call_id not in state.receipts)

    def revoke(self, call_id: str, /, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Take back a call that was proposed under an id and has not begun, so that it never runs under this id.

        An open question is withdrawn. An approval is recorded with its revocation, and a repeated call then raises
        ``ConfirmRevoked``.

        Returns:
            The ``Revoke`` record, or None if the question had no answer. Await it if the tool is async.

        Raises:
            UnknownDecision: Nobody was asked about a call with this id.
            AlreadyUsed: The call was made.
            Unfinished: The call has begun.
            NotApproved: The principal did not approve it.
            NotRevocable: It was guarded with ``revocable=False``.
            ConfirmRevoked: It was revoked before.
            WorkflowStopped: The approval cannot be recorded while its workflow is stopped.
            OtherCall: Another call was proposed under the id.
        """
        return self._run_steps(revoke_guarded_call(self._bind(_checked_id(call_id), args, kwargs)))

    def call_off(self, call_id: str, /, *args: P.args, **kwargs: P.kwargs) -> None:
        """Close a call that nobody will repeat: withdraw its question, or revoke its approval, unless it has begun.

        The person then reads that their answer has no effect. This blocks, also if the tool is async.

        Raises:
            StoreFailed: The store cannot be used, so the question may still be open.
        """
        with suppress(AuthorityError, InputError):  # nobody was asked, it cannot run any more, or it has begun
            run_steps(revoke_guarded_call(self._bind(_checked_id(call_id), args, kwargs)))

    def _bind(self, own_id: str | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> GuardedCall:
        config = self._config
        arguments = bind_arguments(self._signature, (args, kwargs), frozenset(config.exclude), config.parameters)
        parts = (arguments, self._function, self._config, self._context, self._proposals)
        return GuardedCall(own_id or generate_id(), *parts, has_own_id=own_id is not None)

    def _restore(self, excluded: Mapping[str, Any], call_id: str) -> GuardedCall:
        if unknown := sorted(excluded.keys() - set(self._config.exclude)):
            raise InputError(f"resume() takes no argument {unknown[0]}.", hint="Pass only what exclude= names.")
        entry = as_mapping(self._context.journal.get_value(call_key(call_id)))
        if not entry:
            raise UnknownDecision("No call was proposed under this id.", hint="Pass the id of .call().")
        if "arguments" not in entry:
            raise InputError(
                "An earlier release proposed the call, and stored no arguments.",
                hint="Repeat the call with its arguments, by .call(call_id, ...).",
            )
        proposal = self._proposals.get(str(entry.get("r3_s256")))
        if proposal is None:
            raise _tampered_entry(call_id)
        config, kept = self._config, _read_kept(call_id, entry)
        given = {name: excluded.get(name, inspect.Parameter.empty) for name in config.exclude}
        spread = config.parameters is not None
        arguments = restore_arguments(self._signature, proposal, kept, given, spread=spread)
        parts = (arguments, self._function, config, self._context, self._proposals)
        return GuardedCall(call_id, *parts, has_own_id=True)


def _checked_id(call_id: str) -> str:
    if not isinstance(call_id, str) or not 0 < len(call_id) <= MAX_CALL_ID_LENGTH:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"call_id must be a string of 1 to {MAX_CALL_ID_LENGTH} characters.")
    check_text("call_id", call_id)
    return call_id


_OTHER_OPTION_HINT: Final = (
    "They chose another option: see Ledger.find(decision_id).continuation.option. Do not propose the call again unless "
    "something has changed."
)
_WORDS_HINT: Final = "Do what they wrote instead: see Ledger.find(decision_id).continuation.answer."
_UNREADABLE_HINT: Final = (
    "This ledger cannot read the words of their answer: see Ledger(words=...), or ask them. Do not propose the call "
    "again before you know them. A call that they objected to stays refused under any id: change its arguments, or "
    "guard it with another operation=, which makes it another call."
)
_OBJECTED_HINT: Final = (
    "Ledger.find(decision_id).continuation has their objection. Change the arguments, or call again under a new id, "
    "with a brief that addresses it: brief_with_model() does, and a brief of your own by read_objections()."
)
_RETRY_HINT: Final = "Resolve the decision, and repeat the call with this exception's call_id, by .call(call_id, ...)."
_LATE_HINT: Final = "Make a new call. expires_in= sets for how many seconds its question stays open."
_ID_HINT: Final = "Make a new call. To keep its question open, make it with an id of your own, by .call(call_id, ...)."


def run_guarded_call(call: GuardedCall) -> Steps[Any]:
    """Make a call once it is approved, or return the retained result of an earlier one with its id."""
    proposed: ProposedCall = yield BlockingStep(partial(propose_call, call))
    resolved = yield from _resolve_decision(call, proposed)
    _check_approved(proposed, resolved)
    confirm: Confirm = yield from grants.grant_consent(call.context, resolved, proposed.request)
    bound: inspect.BoundArguments = yield BlockingStep(partial(call.arguments.decode, proposed.proposal.parameters))
    action = Execution(
        _action_request(call, proposed),
        partial(call.function.tool, *bound.args, **bound.kwargs),
        call.config.describe,
        call.config.retain,
    )
    # The chain was read, or written to, for the confirm.
    return (yield from execution.execute_confirmed(call.context, confirm.confirm_id, action, refresh=False))


def resume_guarded_call(restore: Callable[[str], GuardedCall], call_id: str) -> Steps[Any]:
    """Make a call with its stored arguments."""
    call: GuardedCall = yield BlockingStep(partial(restore, call_id))
    return (yield from run_guarded_call(call))


def propose_guarded_call(call: GuardedCall) -> Steps[PendingDecision | ResolvedDecision]:
    """Return the current decision about a call, and open one if there is none."""
    proposed: ProposedCall = yield BlockingStep(partial(propose_call, call))
    decision = yield from _find_or_open(call, proposed)
    _check_states_call(call, proposed, decision)
    return decision


def revoke_guarded_call(call: GuardedCall) -> Steps[Revoke | None]:
    """Withdraw the question about a call, or revoke its approval."""
    revoked: Revoke | None = yield BlockingStep(partial(_revoke_call, call))
    return revoked


def _revoke_call(call: GuardedCall) -> Revoke | None:
    if not CallIds(call.context.journal).exists(call.call_id):
        raise UnknownDecision("Nobody was asked about a call with this id.", hint="Pass the id of .call().")
    proposed, ledger = propose_call(call), call.context.ledger
    decision = ledger.find(proposed.decision_id)
    if not isinstance(decision, ResolvedDecision):
        try:
            ledger.withdraw(decision.decision_id, channel=call.config.channel)
        except AlreadyResolved:  # just now
            decision = ledger.find(proposed.decision_id)
    if not isinstance(decision, ResolvedDecision):
        return None
    _check_states_call(call, proposed, decision)
    _check_approved(proposed, decision)
    return grants.revoke_approval(call.context, decision, proposed.request)


def _find_or_open(call: GuardedCall, proposed_call: ProposedCall) -> Steps[PendingDecision | ResolvedDecision]:
    decision: PendingDecision | ResolvedDecision | None = yield BlockingStep(
        partial(_find_decision, call, proposed_call)
    )
    if not isinstance(decision, ResolvedDecision):
        yield BlockingStep(partial(_check_not_stopped, call, proposed_call))
    if decision is None:
        decision = yield from _open_decision(call, proposed_call)
    return decision


def _resolve_decision(call: GuardedCall, proposed_call: ProposedCall) -> Steps[ResolvedDecision]:
    """Return the resolved decision, or raise ``ApprovalPending``.

    Whoever can write to the store could have opened another decision under this id, so the envelope that was answered
    must state this call.
    """
    decision = yield from _find_or_open(call, proposed_call)
    if isinstance(decision, ResolvedDecision) or not decision.created:
        _check_states_call(call, proposed_call, decision)
    if isinstance(decision, ResolvedDecision):
        return decision
    if decision.expiry_recorded:
        raise _unanswered(call, decision)
    if call.config.ask is None:
        raise _approval_pending(call, decision)
    resolved = yield from _ask_principal(call, call.config.ask, decision)
    if resolved.pending is not decision:
        _check_states_call(call, proposed_call, resolved)
    return resolved


def _ask_principal(call: GuardedCall, ask: AskPrincipal, decision: PendingDecision) -> Steps[ResolvedDecision]:
    """Return the principal's answer. If there is none, withdraw the question of a call that cannot be repeated."""
    try:
        answer = yield UserCodeStep(partial(_ask_in_time(ask, call.config.ask_timeout), decision))
        resolved: ResolvedDecision = yield BlockingStep(partial(_record_answer, call, decision, answer))
    except GeneratorExit:
        raise
    except BaseException:
        if not call.has_own_id:
            with suppress(AlreadyResolved, StoreFailed):  # the first exception matters more
                yield BlockingStep(partial(call.context.ledger.withdraw, decision.decision_id), must_finish=True)
        raise
    return resolved


def _ask_in_time(ask: AskPrincipal, seconds: float | None) -> AskPrincipal:
    """Return a function that asks for at most so many seconds. What comes after the answer is not interrupted."""
    if seconds is None:
        return ask

    async def ask_in_time(pending: PendingDecision) -> PrincipalAnswer:
        import asyncio  # noqa: PLC0415  light commands load this module without it

        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return await cast("Awaitable[PrincipalAnswer]", ask(pending))
        except TimeoutError:
            if not limit.expired():
                raise  # by ask= itself
            return Unresolved(pending.digest, UnresolvedReason.TIMEOUT)

    return ask_in_time


def _check_not_stopped(call: GuardedCall, proposed_call: ProposedCall) -> None:
    """Raise ``WorkflowStopped`` before anyone is asked about a call that may not begin."""

    def check(state: WorkflowState) -> None:
        check_not_stopped(state, call.config.step_id, call.context.actor)
        check_all_known(state)

    call.context.journal.read(proposed_call.request.scope.workflow_id, check)


def _check_states_call(
    call: GuardedCall, proposed_call: ProposedCall, decision: PendingDecision | ResolvedDecision
) -> None:
    """Raise ``Tampered`` if the decision under this call's id is about something else."""
    pending = pending_of(decision)
    is_weaker = not pending.four_eyes and call.config.needs_four_eyes(call.parameters)
    request = ApprovalRequest(call.config.name, proposed_call.proposal, proposed_call.request)
    if is_weaker or not states_call(request, pending.moment, pending.actions):
        raise Tampered(
            "The decision stored under this call's id is not about this call, or four_eyes= was turned on meanwhile.",
            place=pending.decision_id,
            hint="Make a new call. If four_eyes= is as it was, find out who changed the store.",
        )


def _find_decision(call: GuardedCall, proposed_call: ProposedCall) -> PendingDecision | ResolvedDecision | None:
    if proposed_call.is_new:
        return None
    try:
        return call.context.ledger.find(proposed_call.decision_id)
    except UnknownDecision:
        return None


def _open_decision(call: GuardedCall, proposed_call: ProposedCall) -> Steps[PendingDecision | ResolvedDecision]:
    """Write the envelope and open the decision, or return the decision that another process opened meanwhile.

    ``before_confirm`` hooks run first, so that nobody is asked about a call they would reject.
    """
    yield from run_hooks_before(call.context, "before_confirm", proposed_call.request, copied=True)
    subject = _call_subject(call, proposed_call)
    refusals: tuple[ResolvedDecision, ...] = yield BlockingStep(partial(_find_refusals, call, subject))
    continuations = [each.continuation for each in reversed(refusals)]
    objections = tuple(each for each in continuations if isinstance(each, Reopen))
    name, proposal, requested = call.config.name, proposed_call.proposal, proposed_call.request
    request = ApprovalRequest(name, proposal, requested.model_copy(deep=True)).with_objections(objections)
    briefed: BindingMoment = yield UserCodeStep(partial(call.config.brief, request))
    # A brief may change the request it receives, so the call is stated from another one.
    moment, call_index = add_call_findings(ApprovalRequest(name, proposal, requested), briefed)
    count = len(moment.question.options)
    actions = tuple(requested.digest if index == call_index else None for index in range(count))
    after = tuple(each.decision_id for each in refusals) if request.has_read_objections else ()
    opened: PendingDecision | ResolvedDecision = yield BlockingStep(
        partial(_open_in_ledger, call, proposed_call, _Question(moment, actions, after, subject))
    )
    return opened


def _find_refusals(call: GuardedCall, subject: str) -> tuple[ResolvedDecision, ...]:
    """Return the refused decisions about the same call. Raises ``NotApproved`` if an objection is unreadable."""
    refusals = call.context.ledger.find_refusals(subject)
    for refused in refusals:
        if isinstance(refused.resolution, UnreadableAnswer):
            raise _already_refused(refused.decision_id, _UNREADABLE_HINT)
    return refusals


def _call_subject(call: GuardedCall, proposed_call: ProposedCall) -> str:
    """Return a digest of what a call does, which is the same under any id and in any workflow."""
    proposal, request = proposed_call.proposal, proposed_call.request
    content = {name: member for name, member in proposal.content.items() if name != "display"}
    members: Json = {
        "content": content,
        "targets": list(request.scope.targets or ()),
        "function": call.function.name,
        "classes": call.arguments.encoded.class_digest,
    }
    return digest_of(members, CanonicalProfile.WIRE)


@dataclass(frozen=True, slots=True)
class _Question:
    """A question about a call: its envelope, the digests of its options, the refusals it takes up, and its subject."""

    moment: BindingMoment
    actions: tuple[str | None, ...]
    after: tuple[str, ...]
    subject: str


def _open_in_ledger(
    call: GuardedCall, proposed_call: ProposedCall, question: _Question
) -> PendingDecision | ResolvedDecision:
    ledger, decision_id = call.context.ledger, proposed_call.decision_id
    reference = decision_reference(decision_id)
    grants.record_request(call.context, reference, proposed_call.request, call.config.step_id)
    try:
        opened = ledger.open(
            question.moment,
            agent=call.context.actor,
            decision_id=decision_id,
            expires_in=call.config.expires_in,
            actions=question.actions,
            after=question.after,
            four_eyes=call.config.needs_four_eyes(call.parameters),
            subject=question.subject,
        )
        if opened.created:
            return opened
    except WrongDigest:
        pass  # another process opened it, with an envelope of its own
    except AlreadyResolved as error:
        raise _already_refused(error.decision_id, _OBJECTED_HINT) from None
    return ledger.find(decision_id)


def _already_refused(decision_id: str, hint: str) -> NotApproved:
    return NotApproved("The principal objected to this call before.", decision_id=decision_id, hint=hint)


def _record_answer(call: GuardedCall, pending: PendingDecision, answer: object) -> ResolvedDecision:
    """Record the principal's answer, or raise ``NotApproved`` if there is none."""
    ledger, decision_id = call.context.ledger, pending.decision_id
    try:
        if isinstance(answer, Unresolved):
            record = ledger.record_unresolved if call.has_own_id else ledger.withdraw
            record(decision_id, answer.reason, channel=call.config.channel)
        elif not isinstance(answer, ResolvedDecision):
            return ledger.resolve_pending(pending, answer, channel=call.config.channel)  # type: ignore[arg-type]  # it validates the answer
    except AlreadyResolved:
        pass  # another surface was faster; its answer counts
    except DecisionExpired:
        raise NotApproved(
            "The answer came too late: the question was no longer open.", decision_id=decision_id, hint=_LATE_HINT
        ) from None
    decision = ledger.find(decision_id)
    if not isinstance(decision, ResolvedDecision):
        if isinstance(answer, Unresolved):
            raise _unanswered(call, decision)
        raise InputError("ask= resolved another decision.", hint="Resolve the decision it receives.")
    return decision


def _check_approved(proposed_call: ProposedCall, resolved: ResolvedDecision) -> None:
    if not isinstance(resolved.resolution, Selected) or resolved.action != proposed_call.request.digest:
        raise NotApproved(
            "The principal did not approve the call.",
            decision_id=proposed_call.decision_id,
            hint=_refusal_hint(resolved.resolution),
        )


def _refusal_hint(resolution: RecordedResolution) -> str:
    match resolution:
        case Selected():
            return _OTHER_OPTION_HINT
        case FreeText():
            return _WORDS_HINT
        case Dialogue():
            return _OBJECTED_HINT
        case UnreadableAnswer():
            return _UNREADABLE_HINT
        case _:
            assert_never(resolution)


def _action_request(call: GuardedCall, proposed_call: ProposedCall) -> ActionRequest:
    config, request = call.config, proposed_call.request
    return ActionRequest.from_members(
        intent_id=call.call_id,
        workflow_id=request.scope.workflow_id,
        step_id=config.step_id,
        action=config.name,
        target=(request.scope.targets or (config.name,))[0],
        capability=config.capability or config.name,
        spends=dict(request.limits),
        risk_level=request.risk_level,
        call=request.call,
    )


def _unanswered(call: GuardedCall, decision: PendingDecision) -> NotApproved:
    """Return the error of a call whose question has no answer, whether it is still open or not."""
    if not decision.expiry_recorded:
        return _approval_pending(call, decision)
    if not decision.withdrawn:
        message, hint = "The question expired without an answer.", _LATE_HINT
    else:
        message = "Nobody answered, and the question was withdrawn."
        hint = "Make a new call, under another id." if call.has_own_id else _ID_HINT
    return NotApproved(message, decision_id=decision.decision_id, hint=hint)


def _approval_pending(call: GuardedCall, decision: PendingDecision) -> ApprovalPending:
    return ApprovalPending(
        f"The call waits for approval of decision {decision.decision_id}.",
        decision_id=decision.decision_id,
        call_id=call.call_id,
        hint=_RETRY_HINT,
    )


_STORED_FIELDS: Final = ("r3_s256", "request", "action", "workflow_id", "decision_id")


@dataclass(frozen=True, slots=True)
class GuardedCall:
    """One call of a guarded tool: its id, arguments and configuration, and the authority's parts.

    ``has_own_id`` is False if the library made the id up, so that the caller does not know it.
    """

    call_id: str
    arguments: CallArguments
    function: ToolFunction
    config: GuardConfig
    context: AuthorityContext
    proposals: ProposalStore
    has_own_id: bool

    @property
    def parameters(self) -> dict[str, Json]:
        """A copy of the parameters for user callbacks, which may modify it."""
        return deepcopy(self.arguments.parameters)


@dataclass(frozen=True, slots=True)
class ProposedCall:
    """The proposal, requested authority and decision id stored under a call's id."""

    proposal: Proposal
    request: ConfirmRequest
    decision_id: str
    is_new: bool = False


def propose_call(call: GuardedCall) -> ProposedCall:
    """Return what is proposed under the call's id, or raise ``OtherCall`` if that is a different call."""
    # The library's own ids are new.
    entry: Mapping[str, Json] = (
        as_mapping(call.context.journal.get_value(call_key(call.call_id))) if call.has_own_id else {}
    )
    if not entry:
        entry, proposed = _propose_new(call)
        if proposed is not None:
            return proposed
    if not all(isinstance(entry.get(member), str) for member in _STORED_FIELDS):
        raise _tampered_entry(call.call_id)
    if call.config.has_explicit_workflow and call.config.workflow_id != entry["workflow_id"]:
        raise _changed_term("workflow_id")
    proposal = _load_proposal(call, entry)
    request = _confirm_request(call, proposal, entry["workflow_id"])
    if (request.digest, call.config.name) != (entry["request"], entry["action"]):
        if (proposer := entry.get("function", call.function.name)) != call.function.name:
            raise _other_call("/function", hint=_OTHER_FUNCTION_HINT.format(proposer, call.function.name))
        raise _changed_call(call, entry, request)
    _check_first_caller(call)
    return ProposedCall(proposal, request, entry["decision_id"])


def _find_other_class(call: GuardedCall, entry: Mapping[str, Json]) -> str:
    """Return the JSON pointer of an argument that has another class than the proposed one, or an empty string."""
    proposed, presented = _read_kept(call.call_id, entry).classes, call.arguments.encoded.classes
    if "arguments" not in entry:
        return ""
    places = sorted(at for at in {*proposed, *presented} if proposed.get(at) != presented.get(at))
    return f"/parameters{places[0].rstrip('~')}" if places else ""


_TERMS: Final[Mapping[str, tuple[str, ...]]] = {
    "target": ("scope", "targets"),
    "capability": ("scope", "capabilities"),
    "step_id": ("scope", "step_ids"),
    "spends": ("limits",),
    "ttl_seconds": ("ttl_seconds",),
    "revocable": ("revocable",),
    "risk_level": ("risk_level",),
}
"""The options of a guard that are terms of an approval, and where they are in the request."""


def _changed_call(call: GuardedCall, entry: Mapping[str, Json], request: ConfirmRequest) -> OtherCall:
    """Return the error that names what differs from the proposed call: the class of an argument, or an option."""
    if call.config.name != entry["action"]:
        return _changed_term("name")
    if pointer := _find_other_class(call, entry):
        return _other_call(pointer)
    recorded = grants.read_recorded_request(call.context, decision_reference(entry["decision_id"]))
    proposed: Mapping[str, Json] = {} if recorded is None else recorded.terms
    presented = request.to_json()
    changed = (name for name, path in _TERMS.items() if _get_member(proposed, path) != _get_member(presented, path))
    return _changed_term(next(changed, "")) if proposed else _other_call("")


def _get_member(document: Json, path: tuple[str, ...]) -> Json:
    for name in path:
        document = as_mapping(document).get(name)
    return document


def _changed_term(name: str) -> OtherCall:
    if not name:
        return _other_call("")
    return OtherCall(
        f"The option {name}= of the guard has changed since this call was proposed.",
        pointer=f"/{name}",
        hint=f"Guard the tool with {name}= as it was, or make a new call under another id.",
    )


def _read_kept(call_id: str, entry: Mapping[str, Json]) -> KeptArguments:
    """Return what is stored with a call. Earlier releases stored nothing."""
    try:
        return KeptArguments.from_text(entry.get("arguments", "{}"))
    except (ValueError, TypeError, LookupError):
        raise _tampered_entry(call_id) from None


def _tampered_entry(call_id: str) -> Tampered:
    return Tampered("The entry stored under the call's id was changed.", place=call_id)


def _propose_new(call: GuardedCall) -> tuple[Mapping[str, Json], ProposedCall | None]:
    """Store the entry of a new call, and return it with the call; of concurrent entries the first, without a call."""
    proposal = _write_proposal(call)
    request = _confirm_request(call, proposal, call.config.workflow_id)
    rules.check_enforceable_limits(request.limits, call.context.limit_names)
    entry = _new_call_entry(call, proposal, request)
    stored, is_new = call.context.journal.put_new(call_key(call.call_id), entry)
    if not is_new:
        return as_mapping(stored), None
    _check_first_caller(call)
    return entry, ProposedCall(proposal, request, entry["decision_id"], is_new=True)


def _new_call_entry(call: GuardedCall, proposal: Proposal, request: ConfirmRequest) -> dict[str, Json]:
    return {
        "r3_s256": proposal.s256,
        "request": request.digest,
        "action": call.config.name,
        "workflow_id": request.scope.workflow_id,
        "decision_id": generate_id(),
        "function": call.function.name,
        "arguments": call.arguments.keep(proposal).to_text(),
    }


def _check_first_caller(call: GuardedCall) -> None:
    """Raise ``OtherCall`` if another live tool in this process made a call under this id.

    Two tools may share a name and hold different objects, such as methods of unnamed objects.
    """
    first = call.context.active_actions.first_caller(call.call_id, call.function)
    if not first.is_same(call.function, ignore_owner=call.config.account is not None):
        raise _other_call("")


def _confirm_request(call: GuardedCall, proposal: Proposal, workflow_id: str) -> ConfirmRequest:
    config, arguments = call.config, call.arguments
    bound = BoundCall.from_members(
        r3_s256=proposal.s256, call_id=call.call_id, function=call.function.name, classes=arguments.encoded.class_digest
    )
    return config.make_confirm_request(
        bound, config.spending_of(call.parameters), workflow_id, target=config.target_of(call.parameters)
    )


def _write_proposal(call: GuardedCall) -> Proposal:
    config, parameters = call.config, call.arguments.parameters
    display: object = (
        _display_from_docstring(call.function.tool) if config.display is None else config.display(call.parameters)
    )
    if not isinstance(display, Display | None):  # pyright: ignore[reportUnnecessaryIsInstance]  user code may return anything
        raise InputError("display= must return a Display or None.")
    proposal = propose(
        config.operation,
        parameters,
        vocabulary=config.vocabulary,
        account=config.account,
        display=display,
        digested=config.digested,
        shown=call.arguments.encoded.shown,
    )
    _check_readable(proposal)
    return call.proposals.put(proposal)


_MAX_READABLE: Final = 1_000_000
"""Characters of an argument as JSON that a question shows."""


def _check_readable(proposal: Proposal) -> None:
    """Raise ``InputError`` if an argument is so long that nobody could read it, and no surface could show it."""
    if len(proposal.document) <= _MAX_READABLE:
        return
    for name, value in proposal.parameters.items():
        if len(json.dumps(value, ensure_ascii=False)) > _MAX_READABLE:
            raise InputError(
                f"The argument {name} has more than {_MAX_READABLE:,} characters, which nobody could read.",
                hint="Name it in digested=, or pass a reference to it, such as a path and a hash.",
            )


def _display_from_docstring(tool: Callable[..., Any]) -> Display | None:
    """Return a display with the first line of the tool's docstring as its summary."""
    function: Any = tool
    while isinstance(function, partial):
        function = function.func
    if not inspect.isroutine(function):
        function = type(function).__call__
    first_line = (inspect.getdoc(function) or "").strip().partition("\n")[0]
    return Display(first_line) if not is_blank(first_line) else None


def check_call_unchanged(call: GuardedCall, proposal: Proposal) -> None:
    """Raise ``OtherCall`` if the tool's arguments differ from the proposed ones."""
    mismatch = find_mismatch(proposal, call.config.operation, call.arguments.parameters, account=call.config.account)
    if mismatch is not None:
        raise _other_call(mismatch.pointer)


def _load_proposal(call: GuardedCall, entry: Mapping[str, Json]) -> Proposal:
    """Return the stored proposal, after checking that it is for this call."""
    proposal = call.proposals.get(entry["r3_s256"])
    if proposal is None:
        raise Tampered("The proposal of this call is missing from the store.", place=call.call_id)
    if proposal.vocabulary != call.config.vocabulary:
        raise _changed_term("vocabulary")
    check_call_unchanged(call, proposal)
    return proposal


_OTHER_CALL_HINT: Final = (
    "Ids count for all tools of a store. Repeat the proposed call exactly, run it with its stored arguments by "
    ".resume(call_id), or give this one an id of its own, such as f'{job}:refund'."
)
_OTHER_FUNCTION_HINT: Final = (
    "The function {} proposed it, and this is {}. Give this call an id of its own. If they are one function of a "
    "script that another process imports, run the script with `python -m`."
)


def _other_call(pointer: str, *, hint: str = _OTHER_CALL_HINT) -> OtherCall:
    return OtherCall("A different call was proposed under this id.", pointer=pointer, hint=hint)
