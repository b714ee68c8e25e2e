"""From decision to act with a plain function: what was approved is what happens, once, and there is a receipt.

Run it as it stands: ``python examples/guarded_function.py``. It needs no key, no network and no terminal: two functions
stand in for the person. It pays, refuses a call that was swapped, stops, and settles what a crash left open.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from emitter.authority import Authority, Effects, Result
from emitter.decisions import Resolution, answer_in_words, select_option
from emitter.errors import ApprovalPending, NotApproved, OtherCall, Unfinished, WorkflowStopped
from emitter.stores import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.authority import GuardedTool
    from emitter.decisions.ledger_entries import PendingDecision

BOOKS: list[tuple[str, int]] = []
"""What was paid, to whom, in cents."""


class PowerCut(BaseException):
    """The machine goes off."""


def approves(decision: PendingDecision) -> Resolution:
    """Read what would be done, to the letter, and choose it."""
    for finding in decision.moment.findings:
        print(f"    {finding}")
    return select_option(decision.moment, 0)


def objects(decision: PendingDecision) -> Resolution:
    """Answer in words of one's own."""
    return answer_in_words(decision.moment, "Pay half of it now.")


def pay(to: str, cents: int) -> dict[str, int]:
    """Pay somebody."""
    BOOKS.append((to, cents))
    if to == "the landlord":
        raise PowerCut  # after the money is gone, and before anybody knew
    return {"payment": len(BOOKS)}


def opened(store: Path) -> Authority:
    """Return the authority of whoever shares the store: after a restart, the same one."""
    return Authority(SqliteStore(store), actor="bookkeeper", limits=["budget_cents"])


def guarded(
    authority: Authority, ask: Callable[[PendingDecision], Resolution] | None
) -> GuardedTool[..., dict[str, int]]:
    """Return ``pay`` so that each payment has to be approved: to whom, and how much at most."""
    return authority.guard(
        pay,
        ask=ask,
        target=lambda call: call["to"],
        spends=lambda call: {"budget_cents": call["cents"]},
        workflow_id="october",
    )


def approved(authority: Authority) -> None:
    """Pay what the person chose to pay."""
    print("1. Approved, and done:")
    print("   did:", guarded(authority, approves)("the plumber", 8400))
    (receipt,) = authority.receipts()
    print(f"   receipt: {receipt.action} -> {receipt.target}: {receipt.result.value}")


def refused(authority: Authority) -> None:
    """Pay nothing where the person wants something else."""
    print("2. Not approved, and not done:")
    try:
        guarded(authority, objects)("the plumber", 99900)
    except NotApproved as error:
        print("   refused:", error)


def swapped(authority: Authority) -> None:
    """Propose a payment, have it approved later, and try to make another one of it."""
    print("3. Approved later, and swapped afterwards:")
    later = guarded(authority, None)
    try:
        later.call("invoice-7", "the baker", 1200)
    except ApprovalPending as waiting:
        authority.ledger.resolve(waiting.decision_id, approves(authority.ledger.find(waiting.decision_id)))
    try:
        later.call("invoice-7", "the baker", 120000)
    except OtherCall as error:
        print(f"   refused: it is not the approved call, by {error.pointer}")
    print("   did:", later.call("invoice-7", "the baker", 1200))
    print("   asked for again, it is not done again:", later.call("invoice-7", "the baker", 1200))


def crashed(authority: Authority, store: Path) -> None:
    """Go off in the middle of a payment, and find out after the restart what became of it."""
    print("4. A crash in the middle of the act:")
    try:
        guarded(authority, approves).call("rent", "the landlord", 70000)
    except PowerCut:
        print("   the power is gone")
    authority = opened(store)
    (intent,) = authority.unfinished_actions()
    print(f"   unfinished: {intent.action} -> {intent.target}")
    try:
        guarded(authority, approves).call("rent", "the landlord", 70000)
    except Unfinished as error:
        print("   refused:", error)
    seen = Effects(Result.SUCCESS, evidence_refs=("the bank's statement",))
    print("   settled:", authority.resolve_unfinished("october", intent.intent_id, seen).result.value)


def stopped(authority: Authority) -> None:
    """Stop the workflow: what was approved before it dies with it."""
    print("5. Stopped:")
    later = guarded(authority, None)
    try:
        later.call("invoice-8", "the plumber", 100)
    except ApprovalPending as waiting:
        authority.ledger.resolve(waiting.decision_id, approves(authority.ledger.find(waiting.decision_id)))
    authority.stop("october")
    try:
        later.call("invoice-8", "the plumber", 100)
    except WorkflowStopped as error:
        print("   refused:", error)


def main(store: Path) -> None:
    """Tell the story."""
    authority = opened(store)
    approved(authority)
    refused(authority)
    swapped(authority)
    crashed(authority, store)
    stopped(authority)
    print("Paid:", "; ".join(f"{cents} cents to {to}" for to, cents in BOOKS))
    print("Receipts:", len(authority.receipts()), "and unfinished:", len(authority.unfinished_actions()))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(Path(folder) / "authority.db")
