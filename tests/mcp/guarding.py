"""What the tests of guarded tools have in common: a call that waits, its approval, and the call made again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.decisions import select_option
from tests.mcp.mailing import MOM, SEND
from tests.mcp.talking import called

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.messages import Json
    from tests.mcp.mailing import Mailing

MAIL = ("mom@example.org", "Dinner on Sunday?")
SENT: dict[str, Json] = {"number": 1, "to": MAIL[0]}


def waiting(mailing: Mailing) -> dict[str, Json]:
    """Return what a call is told that waits."""
    found: dict[str, Json] = called(mailing.server(), "legacy", SEND, MOM)["structuredContent"]
    return found


def approve(mailing: Mailing, reported: Mapping[str, Json]) -> None:
    """Have the call approved by its principal, wherever they are."""
    ledger, decision_id = mailing.authority.ledger, str(reported["decision_id"])
    ledger.resolve(decision_id, select_option(ledger.find(decision_id).moment, 0))  # type: ignore[union-attr]  it is open


def again(mailing: Mailing, reported: Mapping[str, Json], **changed: Json) -> dict[str, Json]:
    """Return what comes of the call made again."""
    given = {**MOM, "call_id": reported["call_id"], **changed}
    return called(mailing.server(), "2026-07-28", SEND, given)
