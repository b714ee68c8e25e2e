"""The inbox as it is served: its list, and the record of a decision that two people approved."""

from __future__ import annotations

from contextlib import suppress

from examples.gallery.decision import MOMENT
from starlette.testclient import TestClient

from emitter.authority import Authority
from emitter.decisions import select_option
from emitter.decisions.ledger import Ledger
from emitter.errors import ApprovalPending
from emitter.stores import MemoryStore
from emitter.web import Principal, inbox

START = 1_799_993_400.0
"""A morning in January 2027."""


def _authority() -> Authority:
    store = MemoryStore()
    return Authority(store, actor="mail-agent", ledger=Ledger(store, clock=lambda: START), clock=lambda: START)


def _page(authority: Authority, path: str) -> str:
    """Return a page as Ada sees it."""
    app = inbox(authority, authenticate=lambda _: Principal("ada@example.com", "Ada"))
    return TestClient(app).get(path).text


def _ask(authority: Authority, account: str, dollars: int, approvers: tuple[str, ...] = ()) -> str:
    """Ask for a payment, let people approve it, and return the decision's reference."""

    @authority.guard(workflow_id="payments", four_eyes=True, target=lambda call: call["account"])
    def pay(account: str, dollars: int) -> str:
        """Pay an invoice."""
        return f"paid {dollars} to {account}"

    with suppress(ApprovalPending):
        pay.call(account, account, dollars)
    pending = authority.ledger.pending()[-1]
    for principal in approvers:
        authority.ledger.approve(
            pending.decision_id, select_option(pending.moment, 0), principal=principal, channel="web"
        )
    if approvers:
        pay.call(account, account, dollars)
    return pending.reference


def list_of_decisions() -> str:
    """Return the list."""
    authority = _authority()
    authority.ledger.open(MOMENT, agent="migrator", expires_in=3600)
    for account, dollars in {"globex": 1250, "initech": 80}.items():
        _ask(authority, account, dollars)
    return _page(authority, "/")


def record() -> str:
    """Return the record of a payment."""
    authority = _authority()
    reference = _ask(authority, "acme", 742, ("grace@example.com", "ada@example.com"))
    return _page(authority, f"/decisions/{reference}")
