"""CONFIRM and REVOKE: from what a principal chose to an authority that is bounded, and that can be taken back.

Source: delegation-invariants, "CONFIRM (execution authority)".
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from emitter.authority import taking
from emitter.authority.journal import Draft
from emitter.authority.parts import before
from emitter.authority.records import Confirm, ConfirmRequest, Expire, Granted, Revoke
from emitter.authority.records.form import moment, written
from emitter.authority.rules import limits, places
from emitter.authority.rules.allow import held, is_over
from emitter.authority.rules.state import Spent
from emitter.authority.steps import Ours
from emitter.decide import Selected
from emitter.errors import (
    ConfirmExpired,
    InputError,
    NotConsent,
    UnknownConfirm,
    UnknownDecision,
    WorkflowStopped,
)
from emitter.ledger import Resolved
from emitter.ledger.ledger import check_answer
from emitter.sinks import new_id

if TYPE_CHECKING:
    from emitter.authority.parts import Parts
    from emitter.authority.rules.state import Held, State
    from emitter.authority.steps import Steps

_AGAIN: Final = "Ask the principal again, by a new call; ttl_seconds= says how long an approval lasts."
_ASK: Final = "Open a decision one of whose options has the request's digest for its action, and have it resolved."


def confirm(parts: Parts, decision: Resolved | str, request: ConfirmRequest) -> Steps[Confirm]:
    """Grant what the principal chose; the same choice again is the same confirm."""
    request = taking.record(ConfirmRequest, request)
    limits.check_known(request.limits, parts.limits)
    consent: Resolved = yield Ours(partial(_consent, parts, decision, request))
    known: Confirm | None = yield Ours(partial(_known, parts, consent, request))
    if known is not None:
        yield from _taken_note(parts, known)
        return known
    yield from before(parts, "before_confirm", request.model_copy(deep=True))  # who looks at it changes nothing of it
    granted: Confirm = yield Ours(partial(_grant, parts, consent, request))
    yield from before(parts, "after_confirm", granted)  # no act has begun, so what it raises still stops the act
    return granted


def _taken_note(parts: Parts, known: Confirm) -> Steps[None]:
    """Call ``after_confirm`` again for a confirm that was not used yet: one that raised there still stops the act."""
    found: Held = yield Ours(partial(standing, parts, known.confirm_id))
    if not found.uses:
        yield from before(parts, "after_confirm", known)


def revoke(parts: Parts, confirm_id: str, reason: str | None) -> Revoke:
    """Take a confirm back; raises ``UnknownConfirm``, ``NotRevocable``, ``ConfirmRevoked`` where it was before."""
    workflow_id = workflow_of(parts, confirm_id)

    def make(state: State, at: float) -> Draft[Revoke]:
        found = held(state, confirm_id)
        places.check_revocable(found)
        return Draft(_revoked(found.confirm, at, reason))

    return parts.journal.add(workflow_id, make)


def _revoked(confirm: Confirm, at: float, reason: str | None) -> Revoke:
    named = {"confirm_id": confirm.confirm_id, "workflow_id": confirm.scope.workflow_id}
    try:
        return Revoke.of(**named, revoke_id=new_id(), timestamp=written(at), reason=reason)
    except ValidationError as error:
        raise InputError(f"That is no reason: {error.errors()[0]['msg']}.") from None


def workflow_of(parts: Parts, confirm_id: str) -> str:
    """Return the workflow of a confirm; raises ``UnknownConfirm``."""
    found = parts.journal.known(_indexed(confirm_id))
    if found is None:
        raise UnknownConfirm("Nobody confirmed this.", hint="Confirm a resolution first, in the same store.")
    return str(found)


def standing(parts: Parts, confirm_id: str) -> Held:
    """Return a confirm as it stands, with what was spent of it."""

    def see(state: State) -> Held:
        found = held(state, confirm_id)
        return replace(found, confirm=found.confirm.model_copy(deep=True), spent=Spent(found.spent))

    return parts.journal.look(workflow_of(parts, confirm_id), see)


def _consent(parts: Parts, decision: Resolved | str, request: ConfirmRequest) -> Resolved:
    """Return the choice as the ledger has it: what a caller hands over proves nothing."""
    try:
        found = parts.ledger.find(decision.pending.decision_id if isinstance(decision, Resolved) else decision)
    except UnknownDecision:
        raise NotConsent("Nobody was asked this, in this ledger.", hint=_ASK) from None
    if not isinstance(found, Resolved):
        raise NotConsent("Nobody has decided yet, which is no consent.", hint=_ASK)
    if not isinstance(found.resolution, Selected) or found.action is None:
        raise NotConsent("The principal chose no option that does something.", hint=_ASK)
    if found.action != request.digest:
        raise NotConsent("The principal chose an option that grants something else.", hint=_ASK)
    _granted(parts, found, request)  # so that hooks are called for nothing that is not signed
    return found


def _known(parts: Parts, consent: Resolved, request: ConfirmRequest) -> Confirm | None:
    def see(state: State) -> Confirm | None:
        if _id_of(consent.pending.reference) in state.expired:
            raise _too_old()
        confirm_id = state.granted.get(consent.pending.reference)
        return None if confirm_id is None else state.confirms[confirm_id].confirm.model_copy(deep=True)

    return parts.journal.look(request.scope.workflow_id, see)


def _grant(parts: Parts, consent: Resolved, request: ConfirmRequest) -> Confirm:
    granted = _granted(parts, consent, request.model_copy(deep=True))
    parts.journal.once(_indexed(granted.confirm_id), request.scope.workflow_id)

    def make(state: State, at: float) -> Draft[Confirm | Expire]:
        if granted.confirm_id in state.confirms:
            raise _Stands
        if granted.confirm_id in state.expired:
            raise _too_old()
        _check_grantable(parts, state, granted, at)
        if is_over(granted, parts.now(at)):  # recorded, so that it stays so for a clock that is set back
            workflow_id = request.scope.workflow_id
            return Draft(Expire(timestamp=written(at), workflow_id=workflow_id, confirm_id=granted.confirm_id))
        return Draft(granted)

    with suppress(_Stands):
        if isinstance(parts.journal.add(request.scope.workflow_id, make), Expire):
            raise _too_old()
    return granted


class _Stands(Exception):
    """Somebody else confirmed the same choice meanwhile: the record is the same to the letter."""


def _granted(parts: Parts, consent: Resolved, request: ConfirmRequest) -> Confirm:
    """Return the confirm that a choice grants; raises ``UnsignedAnswer`` where signatures are checked."""
    resolution = consent.resolution
    if not isinstance(resolution, Selected) or consent.action != request.digest:  # a hook was called meanwhile
        raise NotConsent("The principal chose no option that grants this.", hint=_ASK)
    by = Granted.of(
        decision=consent.pending.reference,
        envelope=resolution.digest,
        option=resolution.index,
        request=request.digest,
        channel=consent.channel,
        signature=consent.signature,
    )
    terms = {name: getattr(request, name) for name in type(request).model_fields}
    ids = {"confirm_id": _id_of(by.decision), "timestamp": written(consent.resolved_at)}
    made = Confirm.of(**ids, **terms, granted_by=by)
    if parts.answers is not None:
        check_answer(parts.answers, made.statement, by.signature)
    return made


def _check_grantable(parts: Parts, state: State, granted: Confirm, at: float) -> None:
    now = parts.now(at)
    places.check_approved(state, granted, now)
    if state.stopped_at is not None and moment(granted.timestamp) <= moment(state.stopped_at) + now.skew:
        raise WorkflowStopped(
            "The workflow may have been stopped after this was approved.", hint="Ask the principal again."
        )


def _too_old() -> ConfirmExpired:
    return ConfirmExpired("The approval is too old: its time is over.", hint=_AGAIN)


def _id_of(decision: str) -> str:
    """Return the id of the confirm that a decision grants, by what events call the decision."""
    return f"confirm_{hashlib.sha256(f'emitter.confirm:{decision}'.encode()).hexdigest()[:32]}"


def _indexed(confirm_id: str) -> str:
    return f"confirm:{confirm_id}"
