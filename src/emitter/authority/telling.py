"""What is told of authority: lines of ``log.appended`` by constant messages, with ids and hashes, and no content.

Neither a reason, a target, an argument nor a result is in them: those stand in the chain, for whom it is meant.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from emitter.events import Level, LogAppended, RunEvent
from emitter.sinks import new_id
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.authority.records import Line
    from emitter.wire import Json

_NODE: Final = "authority"
_MESSAGES: Final = {
    "CONFIRM": (Level.INFO, "authority.confirmed"),
    "REVOKE": (Level.WARN, "authority.revoked"),
    "EXPIRE": (Level.WARN, "authority.expired"),
    "STOP": (Level.WARN, "authority.stopped"),
    "RESUME": (Level.WARN, "authority.resumed"),
    "INTENT": (Level.INFO, "authority.intended"),
    "RECEIPT": (Level.INFO, "authority.receipted"),
}
_IDS: Final = ("confirm_id", "request_id", "intent_id", "receipt_id", "intent_ref", "authorization_ref", "result")
_OPENED: Final = "authority.workflow_opened"
_SETTLED: Final = "authority.settled_otherwise"
_HOOK: Final = "authority.hook_failed"


def line(added: Line) -> LogAppended:
    """Return what is told of a line that was added to a chain."""
    level, message = _MESSAGES[added.record.type]
    record = added.record.to_json()
    ids: dict[str, Json] = {name: record[name] for name in _IDS if name in record}
    return LogAppended(level, message, {"sequence": added.seq, "hash": added.hash, **ids})


def opened() -> LogAppended:
    """Return what is told where a workflow has its first record."""
    return LogAppended(Level.INFO, _OPENED, {})


def is_opened(document: Mapping[str, Json]) -> bool:
    """Tell whether an event of a log tells of a workflow's first record."""
    return mapping(document.get("payload")).get("message") == _OPENED


def hook_failed(name: str, error: Exception) -> LogAppended:
    """Return what is told of a hook that raised after an act; its own words may be anybody's, and are left out."""
    return LogAppended(Level.WARN, _HOOK, {"hook": name, "error": type(error).__name__})


def settled_otherwise(receipt_id: str) -> LogAppended:
    """Return what is told of an act that ended otherwise than it was settled as, while it still ran elsewhere."""
    return LogAppended(Level.WARN, _SETTLED, {"receipt_id": receipt_id})


def stamped(told: LogAppended, run: str, at: float, cause: str) -> RunEvent:
    """Return a line as it is recorded, at a time in seconds since 1970, before a store numbers it."""
    stamp = datetime.fromtimestamp(at, UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")
    return RunEvent(told, new_id(), run, _NODE, f"{stamp}Z", 0, cause)
