"""Decisions of a guarded call in each state that they can come to, for tests of what surfaces say about them."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from emitter.authority import ApprovalState, Authority, StopRequest
from emitter.decisions import answer_in_words, open_dialogue, select_option
from emitter.decisions.ledger_entries import pending_of
from emitter.errors import ApprovalPending, PartiallyDone
from emitter.testing.sample_moments import ORDINARY_MOMENTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.authority import GuardedTool
    from emitter.stores import Store

SHORT, LONG, AGO = 900, 1_000_000, 5_000.0
"""Everything happens ``AGO`` seconds ago: an approval of ``SHORT`` seconds has lapsed, one of ``LONG`` has not."""


@dataclass
class Call:
    """A call of a guarded tool in a store, some time ago."""

    store: Store
    outcome: BaseException | None = None
    authority: Authority = field(init=False)

    def __post_init__(self) -> None:
        self.authority = Authority(self.store, clock=lambda: time.time() - AGO)

    def tool(self, **options: Any) -> GuardedTool[..., Any]:
        """Return the tool."""

        def pay(to: str) -> str:
            """Pay somebody."""
            if self.outcome is not None:
                raise self.outcome
            return to

        return self.authority.guard(pay, **{"workflow_id": "payments", "ttl_seconds": LONG, **options})

    def ask(self, **options: Any) -> str:
        """Ask, and return the id of the decision."""
        return str(self.tool(**options).propose("job", "ada").decision_id)

    def answer(self, how: Any = None, **options: Any) -> str:
        """Ask, and have it answered: approved, if nothing else is said."""
        decision_id = self.ask(**options)
        moment = pending_of(self.authority.ledger.find(decision_id)).moment
        answer = select_option(moment, 0) if how is None else how(moment)
        self.authority.ledger.resolve(decision_id, answer, principal="ada")
        return decision_id

    def run(self, outcome: BaseException | None = None, **options: Any) -> str:
        """Ask, have it approved, and make the call."""
        decision_id, self.outcome = self.answer(**options), outcome
        with suppress(BaseException):
            self.tool(**options).call("job", "ada")
        return decision_id


def _expired(call: Call) -> str:
    return call.ask(expires_in=60)


def _withdrawn(call: Call) -> str:
    call.authority.ledger.withdraw(decision_id := call.ask())
    return decision_id


def _chosen(call: Call) -> str:
    ledger, moment = call.authority.ledger, next(iter(ORDINARY_MOMENTS.values()))
    return ledger.resolve(ledger.open(moment).decision_id, select_option(moment, 1)).decision_id


def _revoked(call: Call) -> str:
    decision_id = call.answer()
    call.tool().revoke("job", "ada")
    return decision_id


def _revoked_grant(call: Call) -> str:
    """A hook fails after the CONFIRM, which is then revoked."""

    class Hook:
        def after_confirm(self, confirm: Any) -> None:
            call.authority.revoke(confirm.confirm_id)
            raise ApprovalPending("later", decision_id="", call_id="")

    call.authority = Authority(call.store, clock=lambda: time.time() - AGO, hooks=[Hook()])
    return call.run()


def _stopped(call: Call) -> str:
    decision_id = call.answer()
    call.authority.stop("payments")
    return decision_id


def _paused(call: Call) -> str:
    decision_id = call.ask()
    call.authority.stop(StopRequest("payments", takeover_mode="pause"))
    pending = pending_of(call.authority.ledger.find(decision_id))
    call.authority.ledger.resolve(decision_id, select_option(pending.moment, 0))
    return decision_id


def _resumed(call: Call) -> str:
    decision_id = call.answer()
    stopped = call.authority.stop(StopRequest("payments", takeover_mode="pause"))
    call.authority.resume("payments", stopped.stop.request_id)
    return decision_id


def _lapsed_at_the_call(call: Call) -> str:
    decision_id = call.answer(ttl_seconds=SHORT)
    call.authority = Authority(call.store)
    with suppress(BaseException):
        call.tool(ttl_seconds=SHORT).call("job", "ada")
    return decision_id


STATES: dict[str, tuple[ApprovalState, Callable[[Call], str]]] = {
    "open": (ApprovalState.OPEN, Call.ask),
    "expired": (ApprovalState.EXPIRED, _expired),
    "withdrawn": (ApprovalState.WITHDRAWN, _withdrawn),
    "a question without acts": (ApprovalState.CHOSEN, _chosen),
    "answered in words": (ApprovalState.ANSWERED, lambda call: call.answer(lambda m: answer_in_words(m, "Later."))),
    "another option": (ApprovalState.REFUSED, lambda call: call.answer(lambda m: select_option(m, 1))),
    "an objection": (ApprovalState.OBJECTED, lambda call: call.answer(lambda m: open_dialogue(m, "Why?"))),
    "approved": (ApprovalState.WAITING, Call.answer),
    "begun": (ApprovalState.RUNNING, lambda call: call.run(KeyboardInterrupt())),
    "done": (ApprovalState.DONE, Call.run),
    "done, and its workflow stopped later": (ApprovalState.DONE, lambda call: (call.run(), _stop(call))[0]),
    "partly done": (ApprovalState.PARTIAL, lambda call: call.run(PartiallyDone("Half.", side_effects={"rows": 3}))),
    "failed": (ApprovalState.FAILED, lambda call: call.run(ValueError())),
    "begun long ago": (ApprovalState.UNFINISHED, lambda call: call.run(KeyboardInterrupt(), ttl_seconds=SHORT)),
    "lapsed": (ApprovalState.LAPSED, lambda call: call.answer(ttl_seconds=SHORT)),
    "lapsed, and then called": (ApprovalState.LAPSED, _lapsed_at_the_call),
    "revoked": (ApprovalState.REVOKED, _revoked),
    "its grant revoked": (ApprovalState.REVOKED, _revoked_grant),
    "stopped": (ApprovalState.STOPPED, _stopped),
    "approved during a pause": (ApprovalState.STOPPED, _paused),
    "approved before a pause that was lifted": (ApprovalState.STOPPED, _resumed),
}
"""Each state, and how a call comes to it."""


def _stop(call: Call) -> None:
    call.authority.stop("payments")
