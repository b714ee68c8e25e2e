"""What the examples of approvals share: two guarded tools, what an agent wants, and how a person answers."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emitter.authority import Authority
from emitter.decisions import Resolution, answer_in_words, open_dialogue, select_option
from emitter.stores import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.models import BindingMoment

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
authority = Authority(SqliteStore(FOLDER / "agent.db"), actor="office")


@authority.guard(target=lambda call: call["to"])
def send_email(to: str, subject: str) -> str:
    """Send an e-mail."""
    with (FOLDER / "outbox").open("a") as outbox:
        outbox.write(f"to {to}: {subject}\n")
    return f"sent to {to}"


@authority.guard(target=lambda call: call["table"])
def drop_table(table: str) -> str:
    """Drop a table with everything in it."""
    with (FOLDER / "outbox").open("a") as outbox:
        outbox.write(f"dropped {table}\n")
    return f"dropped {table}"


CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("call_1", "send_email", {"to": "ada", "subject": "Minutes"}),
    ("call_2", "send_email", {"to": "bob", "subject": "Minutes"}),
    ("call_3", "send_email", {"to": "cyd", "subject": "Minutes"}),
    ("call_4", "drop_table", {"table": "customers"}),
]


def next_calls(results: Mapping[str, str]) -> list[tuple[str, str, dict[str, Any]]]:
    """Stand in for a model: return the tool calls it makes next, by the results that it has read."""
    calls = [call for call in CALLS if call[0] not in results]
    if "Lunch at one?" in results.get("call_2", "") and "call_5" not in results:
        calls.append(("call_5", "send_email", {"to": "bob", "subject": "Lunch at one?"}))
    return calls


def somebody_answers() -> bool:
    """Stand in for a person: resolve what waits, on whichever surface. Nobody is there with ``--away``."""
    pending = authority.ledger.pending() if "--away" not in sys.argv else ()
    for decision in pending:
        authority.ledger.resolve(decision.decision_id, answer(decision.moment))
    return bool(pending)


def answer(moment: BindingMoment) -> Resolution:
    """Approve the mail to Ada, change the one to Bob, and refuse the others."""
    call = " ".join(moment.findings)
    if "ada" in call or "Lunch" in call:
        return select_option(moment, 0)
    if "bob" in call:
        return answer_in_words(moment, "Ask him instead: Lunch at one?")
    return open_dialogue(moment, "Never drop a table.") if "customers" in call else select_option(moment, 1)
