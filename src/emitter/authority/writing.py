"""INTENT and RECEIPT, as they are written: each at a moment at which the chain allows it.

Source: delegation-invariants, "RECEIPT (audit record before commit)".
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.authority.granting import workflow_of
from emitter.authority.journal import Draft
from emitter.authority.records import Expire, Intent, Receipt, Result
from emitter.authority.records.form import written
from emitter.authority.results import check_kept, is_writable, retainable
from emitter.authority.rules import limits
from emitter.authority.rules.allow import check, is_over
from emitter.decide.canonical import Profile
from emitter.decide.digest import digest_of
from emitter.errors import (
    AlreadyUsed,
    ConfirmExpired,
    InputError,
    OtherCall,
    OutOfScope,
    Unfinished,
)
from emitter.sinks import new_id
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.authority.parts import Parts
    from emitter.authority.records import ActionRequest
    from emitter.authority.rules.state import State
    from emitter.wire import Json


NOTHING: Final = object()
"""Stands for a result that is not to be kept, or that nobody saw; a tool may well return None."""


@dataclass(frozen=True, slots=True)
class Effects:
    """What an act did, as its receipt tells it: ``side_effects`` is a JSON object, ``evidence_refs`` name proofs."""

    result: Result = Result.SUCCESS
    side_effects: Mapping[str, Json] | None = None
    evidence_refs: tuple[str, ...] = ()
    error: str | None = None


def done_before(parts: Parts, confirm_id: str, request: ActionRequest) -> Receipt | None:
    """Return the receipt of an act that ended; raises ``Unfinished`` where one began, ``OtherCall`` for another one."""

    def see(state: State) -> Receipt | None:
        known = state.intents.get(request.intent_id)
        if known is None:
            return None
        receipt = state.receipts.get(request.intent_id)
        _check_same(known, confirm_id, request)
        if receipt is None:
            raise _unknown_end(known)
        return receipt

    return parts.journal.look(request.workflow_id, see)


def begin(parts: Parts, confirm_id: str, request: ActionRequest) -> Intent | Receipt | None:
    """Write the intent, at a moment at which nothing forbids the act; where it ended meanwhile, return its receipt."""
    if workflow_of(parts, confirm_id) != request.workflow_id:
        raise OutOfScope("The authority is of another workflow.")

    def make(state: State, at: float) -> Draft[Intent | Expire]:
        if request.intent_id in state.intents:
            raise _Stands
        now, held = parts.now(at), state.confirms.get(confirm_id)
        if held is not None and held.end is None and is_over(held.confirm, now):
            return Draft(Expire(timestamp=written(at), workflow_id=request.workflow_id, confirm_id=confirm_id))
        check(state, confirm_id, request, now)
        return Draft(_intent(parts, confirm_id, request, at))

    try:
        made = parts.journal.add(request.workflow_id, make)
    except _Stands:
        return done_before(parts, confirm_id, request)
    if isinstance(made, Expire):
        raise ConfirmExpired("The time of the authority is over.", hint="Ask the principal again.")
    return made


def finish(parts: Parts, intent: Intent, effects: Effects, value: object) -> Receipt:
    """Write the receipt of an act, and keep ``value`` unless it is ``NOTHING``; where there is one, return that."""
    kept = retainable(value) if effects.result == Result.SUCCESS and value is not NOTHING else None
    hashed = None if kept is None else digest_of(kept, Profile.WIRE)

    def make(state: State, at: float) -> Draft[Receipt]:
        if intent.intent_id in state.receipts:
            raise _Stands
        return Draft(_receipt(intent, effects, at, hashed), kept)

    with suppress(_Stands):
        return parts.journal.add(intent.workflow_id, make)
    return parts.journal.look(intent.workflow_id, lambda state: state.receipts[intent.intent_id])


def unfinished(parts: Parts, workflow_id: str, intent_id: str) -> Intent:
    """Return an intent that has no receipt; raises ``AlreadyUsed`` where it has one, ``InputError`` for no intent."""

    def see(state: State) -> Intent:
        known = state.intents.get(intent_id)
        if known is None:
            raise InputError("No act of this workflow has this id.", hint="Authority.unfinished() lists them.")
        if intent_id in state.receipts:
            raise AlreadyUsed("The act has its receipt.", receipt_id=state.receipts[intent_id].receipt_id)
        return known

    return parts.journal.look(workflow_id, see)


def retained(parts: Parts, receipt: Receipt) -> Json:
    """Return the result that was kept of an act; raises ``AlreadyUsed`` where it failed, or none was kept."""
    if receipt.result is not Result.SUCCESS:
        told = "The act was done, and did not succeed: see its receipt."
        raise AlreadyUsed(told, receipt_id=receipt.receipt_id, hint="Ask for another act.")
    if receipt.retained is None:
        told = "The act was done, and what it returned was not kept: see its receipt."
        raise AlreadyUsed(told, receipt_id=receipt.receipt_id)
    number = parts.journal.look(receipt.workflow_id, lambda state: state.places[receipt.receipt_id])
    kept = parts.journal.beside(receipt.workflow_id, number)
    check_kept(kept, receipt.retained, receipt.receipt_id)
    return mapping(kept)["value"]


def check_effects(effects: object) -> None:
    """Raise ``InputError`` for what no receipt can tell."""
    if not isinstance(effects, Effects):
        raise InputError("What an act did is told as Effects.")
    if not _fits(effects):
        raise InputError(
            "These effects fit no receipt: side_effects is a JSON object, evidence_refs are texts, and an error goes "
            "with a failure."
        )


_SAME: Final = ("step_id", "action", "target", "capability", "risk_level", "call")


class _Stands(Exception):
    """Somebody else wrote it meanwhile."""


def _intent(parts: Parts, confirm_id: str, request: ActionRequest, at: float) -> Intent:
    deed = request.model_dump(include={"workflow_id", "step_id", "action", "target", "intent_id", "capability"})
    return Intent.of(
        **deed,
        actor=parts.actor,
        authorization_ref=confirm_id,
        timestamp=written(at),
        spends=limits.taken(request.spends, is_pure=request.is_pure),
        risk_level=request.risk_level,
        call=request.call,
    )


def _receipt(intent: Intent, effects: Effects, at: float, hashed: str | None) -> Receipt:
    deed = intent.model_dump(include={"workflow_id", "step_id", "action", "target", "actor", "authorization_ref"})
    return Receipt.of(
        **deed,
        receipt_id=f"receipt_{new_id()}",
        intent_ref=intent.intent_id,
        timestamp=written(at),
        result=effects.result,
        side_effects=None if effects.side_effects is None else dict(effects.side_effects),
        evidence_refs=effects.evidence_refs or None,
        error=effects.error,
        retained=hashed,
    )


def _fits(effects: Effects) -> bool:
    deed = {"workflow_id": "w", "action": "a", "target": "t", "actor": "a", "risk_level": "low"}
    sample = Intent.of(**deed, intent_id="i", authorization_ref="c", timestamp=written(0), spends={})
    try:
        told = None if effects.side_effects is None else dict(effects.side_effects)
        if not is_writable(told):
            return False
        line: Json = {"record": {"side_effects": told}}  # as it is, and as deep as it stands in a line
        digest_of(line, Profile.WIRE)
        _receipt(sample, effects, 0.0, None)
    except Exception:  # noqa: BLE001  a mapping may be anybody's code
        return False
    return True


def _check_same(known: Intent, confirm_id: str, request: ActionRequest) -> None:
    takes = limits.taken(request.spends, is_pure=request.is_pure)
    asked = {name: getattr(request, name) for name in _SAME}
    is_same = asked == {name: getattr(known, name) for name in _SAME}
    if not is_same or (confirm_id, takes) != (known.authorization_ref, known.spends):
        raise OtherCall("Another act was begun under this id.", hint="Give every act an intent_id of its own.")


def _unknown_end(known: Intent) -> Unfinished:
    return Unfinished(
        "The act was begun before: it still runs, or nobody knows how it ended. It is not repeated.",
        intent_id=known.intent_id,
        hint="See what became of it, and tell that with Authority.settle().",
    )
