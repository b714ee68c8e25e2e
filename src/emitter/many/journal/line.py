"""One line of a journal: an emission that is over."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.judge import Verdict
from emitter.lines import line_of
from emitter.many.journal.trace import of_attempts, of_events, to_attempts, to_events
from emitter.steps import Failure, Outcome
from emitter.wire import mapping

if TYPE_CHECKING:
    from emitter.events import RunEvent
    from emitter.wire import Json

_FAILURE = ("verdict", "code", "message")


@dataclass(frozen=True, slots=True)
class Record:
    """What an emission came to, under its ``key``.

    ``outcome`` has no value, for that is read from its document again. ``stamps`` are the envelope without its
    payload, where there is one. ``asked`` is a digest of the job.
    """

    key: str
    outcome: Outcome
    events: tuple[RunEvent, ...]
    stamps: Json = None
    asked: str | None = None

    @property
    def settled(self) -> bool:
        """Whether it may not be asked for again: it was answered, or refused."""
        failure = self.outcome.failure
        return failure is None or failure.verdict is Verdict.REFUSED


def write(record: Record) -> bytes:
    """Return the line, with its end."""
    outcome = record.outcome
    members: dict[str, Json] = {"key": record.key, "asked": record.asked, "attempts": of_attempts(outcome.attempts)}
    if outcome.failure is None:
        members |= {"document": outcome.document, "envelope": record.stamps}
    else:
        members["failure"] = {each: getattr(outcome.failure, each) for each in _FAILURE}
    members["events"] = of_events(record.events)
    return line_of(members)


def read(line: bytes) -> Record:
    """Return the record of a line; raises ``ValueError`` for one that holds none."""
    members = mapping(json.loads(line))
    key, attempts = members.get("key"), to_attempts(members.get("attempts"))
    if not isinstance(key, str):
        raise ValueError("it has no key")  # noqa: TRY004  the line is wrong, not the call
    asked = members.get("asked")
    if asked is not None and not isinstance(asked, str):
        raise ValueError("its digest of the job is no text")
    events = to_events(members.get("events"))
    if "failure" in members:
        failed = mapping(members["failure"])
        failure = Failure(Verdict(failed.get("verdict")), str(failed.get("code")), str(failed.get("message")))
        return Record(key, Outcome(attempts, failure=failure), events, asked=asked)
    if "document" not in members or not isinstance(members.get("envelope"), dict):
        raise ValueError("it has neither a document nor a failure")
    return Record(key, Outcome(attempts, document=members["document"]), events, members["envelope"], asked)
