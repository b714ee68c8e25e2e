"""What the three seeds ask for, and what we add: the one place that docs/authority.md is made of."""

from __future__ import annotations

from typing import Final

from tests.authority.obligations.delegation import CONFIRM, HOOKS, RECEIPT, STOP
from tests.authority.obligations.envelope import ENVELOPE
from tests.authority.obligations.guard import GUARD
from tests.authority.obligations.proposal import PROPOSAL

PARTS: Final = {
    "CONFIRM (delegation invariants)": CONFIRM,
    "STOP / TAKEOVER (delegation invariants)": STOP,
    "RECEIPT (delegation invariants)": RECEIPT,
    "Hooks (delegation invariants)": HOOKS,
    "The authorization envelope (RFC-0010)": ENVELOPE,
    "Per-call proposals (AAuth R3)": PROPOSAL,
    "The whole way, and the stores (ours)": GUARD,
}
