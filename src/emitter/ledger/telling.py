"""What the ledger tells: lines of ``log.appended`` by constant messages, with no word of an envelope or an answer.

``decision_class`` alone is the agent's word: what cannot be seen is taken out of it, and it is cut.
Source: draft-morrison-binding-moment-envelope-00, sections 5.9, 11 and 12.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from emitter.decide import Unanswered
from emitter.events import Level, LogAppended, RunEvent
from emitter.sinks import new_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.kinds import BindingMoment
    from emitter.ledger.values import Outcome, Pending
    from emitter.wire import Json

RUN: Final = "emitter.ledger"
"""The run whose log the ledger's is, in whichever store."""
OPENED: Final = "decision.opened"
SUPPRESSED: Final = "decision.hatch_suppressed"
RESOLVED: Final = "decision.resolved"
UNRESOLVED: Final = "decision.unresolved"
EXCEEDED: Final = "decision.rate_exceeded"
REASKED: Final = "decision.reasked"
RESEMBLES: Final = "decision.resembles_refused"
DETAIL_ASKED: Final = "decision.detail_asked"
DETAIL_ANSWERED: Final = "decision.detail_answered"
WORDS_DELETED: Final = "decision.words_deleted"
UNREADABLE: Final = "decision.unreadable"
_NODE: Final = "ledger"
_LONGEST_CLASS: Final = 64


def label(decision_class: str | None) -> str:
    """Return a decision class as it is counted and told: empty for none, printable and of at most 64 characters."""
    return "".join(filter(str.isprintable, decision_class or ""))[:_LONGEST_CLASS]


def class_of(moment: BindingMoment) -> str:
    """Return the decision class of an envelope, as it is counted."""
    return label(None if moment.meta is None else moment.meta.decision_class)


def about(pending: Pending) -> dict[str, Json]:
    """Return what each line says of the decision that it tells of."""
    return {"digest": pending.digest, "agent": pending.agent, "decisionClass": class_of(pending.moment)}


def opened(pending: Pending) -> tuple[LogAppended, ...]:
    """Return what is told of a decision that was opened; a hatch that it closes is always told on a line of its own."""
    moment, hatches = pending.moment, pending.moment.question.hatches
    offered = {"free_text": hatches.free_text, "dialogue": hatches.dialogue}
    told = {**about(pending), "suppressedHatches": [name for name, is_open in offered.items() if not is_open]}
    noted = moment.meta is not None and moment.meta.calibration_note is not None
    line = LogAppended(Level.INFO, OPENED, {**told, "calibrationNote": noted, "expiresAt": pending.expires_at})
    return (line,) if all(offered.values()) else (line, LogAppended(Level.WARN, SUPPRESSED, told))


def resolved(pending: Pending, outcome: Outcome, channel: str, until: float | None = None) -> LogAppended:
    """Return what is told of a decision that was resolved; ``until`` is when the answer's words are deleted."""
    told = {**about(pending), "outcome": outcome.value, "channel": channel}
    return LogAppended(Level.INFO, RESOLVED, {**told, **_until(until)})


def detail_asked(pending: Pending, number: int, channel: str, until: float | None) -> LogAppended:
    """Return the line for a request for detail; ``until`` is when its topic is deleted."""
    told = {**about(pending), "number": number, "channel": channel}
    return LogAppended(Level.INFO, DETAIL_ASKED, {**told, **_until(until)})


def detail_answered(pending: Pending, number: int) -> LogAppended:
    """Return the line for the answer to a request for detail."""
    return LogAppended(Level.INFO, DETAIL_ANSWERED, {**about(pending), "number": number})


def words_deleted(name: str) -> LogAppended:
    """Return the line that says that the words under a name were deleted from the store."""
    return LogAppended(Level.INFO, WORDS_DELETED, {"entry": name})


def _until(until: float | None) -> dict[str, Json]:
    return {} if until is None else {"wordsUntil": until}


def unresolved(decision: Mapping[str, Json], reason: Unanswered, channel: str = "") -> LogAppended:
    """Return what is told where nobody decided, although somebody was asked."""
    return LogAppended(Level.INFO, UNRESOLVED, {**decision, "reason": reason.value, "channel": channel})


def expired(decision: Mapping[str, Json]) -> LogAppended:
    """Return what is told where a decision's own time has run out."""
    return LogAppended(Level.INFO, UNRESOLVED, {**decision, "reason": Unanswered.TIMEOUT.value, "expired": True})


def reasked(pending: Pending, refusal: str) -> LogAppended:
    """Return what is told where an agent puts a question again; ``refusal`` is the decision that refused it."""
    return LogAppended(Level.WARN, REASKED, {**about(pending), "reference": refusal})


def resembles(pending: Pending, refusal: str) -> LogAppended:
    """Return the warning for a question that reads like one that was refused; ``refusal`` is that decision."""
    return LogAppended(Level.WARN, RESEMBLES, {**about(pending), "reference": refusal})


def unreadable(decision: str, line: int | None = None) -> LogAppended:
    """Return what is told of a decision whose entry in the store, or ``line`` of the log, is not what was written."""
    return LogAppended(Level.WARN, UNREADABLE, {"reference": decision, **({} if line is None else {"line": line})})


def stamped(told: LogAppended, at: float, cause: str) -> RunEvent:
    """Return a line as it is recorded, at a time in seconds since 1970, before a store numbers it."""
    stamp = datetime.fromtimestamp(at, UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")
    return RunEvent(told, new_id(), RUN, _NODE, f"{stamp}Z", 0, cause)
