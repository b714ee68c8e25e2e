"""Requests for more detail about open decisions, the agents' answers, and the store entries that they are saved in.

A request resolves nothing. Its topic is stored like the principal's words: see ``emitter.decisions.ledger_words``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.decisions import ledger_log
from emitter.decisions.ledger_words import MissingWordsReason, words_key
from emitter.errors import AlreadyResolved, BadResolution, StoreAltered, UnknownDecision
from emitter.events import Level
from emitter.stores import Entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emitter.decisions.ledger_entries import PendingDecision
    from emitter.decisions.ledger_log import LedgerLog
    from emitter.decisions.ledger_words import PrincipalWords
    from emitter.events import LogAppended
    from emitter.messages import Json

MAX_DETAIL_REQUESTS: Final = 20
"""Maximum number of requests for one decision."""
_REQUEST_TYPE: Final = "emitter.decision.detail_asked"
_ANSWER_TYPE: Final = "emitter.decision.detail_answered"


@dataclass(frozen=True, slots=True)
class DetailRequest:
    """A request for detail on a decision, such as "tell me more about ...". It resolves nothing.

    Attributes:
        decision_id: The decision, which is open.
        number: The number of the request within the decision, counted from 1.
        topic: What the principal wants to know more about; empty for all of it. A ``MissingWordsReason`` if this ledger
            cannot read it.
        asked_at: When it was made, in seconds since 1970.
        channel: The channel it came by.
        answer: The agent's answer, a string or JSON, or None.
        answered_at: When it was answered, in seconds since 1970.
    """

    decision_id: str
    number: int
    topic: str | MissingWordsReason
    asked_at: float
    channel: str = ""
    answer: Json = None
    answered_at: float | None = None

    @property
    def is_open(self) -> bool:
        """True while it has no answer."""
        return self.answered_at is None

    @property
    def readable_topic(self) -> str | None:
        """The topic, or None if this ledger cannot read it."""
        return None if isinstance(self.topic, MissingWordsReason) else self.topic

    @property
    def text(self) -> str:
        """The answer as text, or an empty string. JSON is indented."""
        return "" if self.answer is None else format_answer(self.answer)


def format_answer(answer: Json) -> str:
    """Return an answer as text. JSON is indented."""
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, indent=2)


class DetailRequests:
    """The detail requests of each decision, numbered from 1."""

    __slots__ = ("_log", "_words")

    def __init__(self, log: LedgerLog, words: PrincipalWords) -> None:
        self._log = log
        self._words = words

    def ask(self, pending: PendingDecision, topic: str, channel: str) -> DetailRequest:
        """Record a request, or return the open one about the same topic."""
        for number in range(1, MAX_DETAIL_REQUESTS + 1):
            name = words_key(pending.reference, number)

            def make(now: float, number: int = number, name: str = name) -> tuple[Entry, Iterable[LogAppended]]:
                words_until = self._words.write(name, topic, now)
                entry = Entry(_REQUEST_TYPE, {"askedAt": now, "channel": channel}, {})
                return entry, (ledger_log.make_detail_asked_event(pending, number, channel, words_until),)

            # The store decides between two processes that ask at the same time: the later one takes the next number.
            stored = self._log.record(_request_key(pending.reference, number), make, pending.reference)
            if stored.created:
                self._words.cache(name, topic, _read_time(stored.entry, _REQUEST_TYPE, "askedAt"))
            request = self._load(pending, number, stored.entry)
            if stored.created or (request.is_open and request.topic == topic):
                return request
        raise BadResolution("No more detail can be requested for this decision.", hint="Answer it, or object to it.")

    def answer(self, pending: PendingDecision, number: int, document: Json) -> DetailRequest:
        """Record the answer to a request."""
        request = self._log.find(_request_key(pending.reference, number)) if type(number) is int else None
        if request is None:
            raise UnknownDecision(
                "The decision has no detail request of this number.", hint="See Ledger.detail_requests()."
            )

        def make(now: float) -> tuple[Entry, Iterable[LogAppended]]:
            event = ledger_log.make_decision_event(
                Level.INFO, ledger_log.DETAIL_ANSWERED_MESSAGE, pending, number=number
            )
            return Entry(_ANSWER_TYPE, {"answeredAt": now}, {"answer": document}), (event,)

        stored = self._log.record(_answer_key(pending.reference, number), make, pending.reference)
        answered = self._load(pending, number, request)
        if stored.entry.envelope.get("answer") != document:
            raise AlreadyResolved("This detail request was already answered otherwise.")
        return answered

    def load(self, pending: PendingDecision) -> tuple[DetailRequest, ...]:
        """Return the requests of a decision, oldest first."""
        return tuple(self._load(pending, number, entry) for number, entry in self._entries(pending.reference))

    def words_names(self, decision: str) -> tuple[str, ...]:
        """Return the store keys of the requests' topics."""
        return tuple(words_key(decision, number) for number, _ in self._entries(decision))

    def _entries(self, decision: str) -> Iterator[tuple[int, Entry]]:
        for number in range(1, MAX_DETAIL_REQUESTS + 1):
            entry = self._log.find(_request_key(decision, number))
            if entry is None:
                return
            yield number, entry

    def _load(self, pending: PendingDecision, number: int, entry: Entry) -> DetailRequest:
        """Return a request with its answer, if there is one. Raises ``StoreAltered``."""
        topic = self._words.read(words_key(pending.reference, number))
        asked_at, channel = _read_time(entry, _REQUEST_TYPE, "askedAt"), str(entry.outcome.get("channel", ""))
        answer = self._log.find(_answer_key(pending.reference, number))
        if answer is None:
            return DetailRequest(pending.decision_id, number, topic, asked_at, channel)
        answered_at, document = _read_time(answer, _ANSWER_TYPE, "answeredAt"), answer.envelope.get("answer")
        return DetailRequest(pending.decision_id, number, topic, asked_at, channel, document, answered_at)


def _request_key(decision: str, number: int) -> str:
    return f"detail:{decision}:{number}"


def _answer_key(decision: str, number: int) -> str:
    return f"detailed:{decision}:{number}"


def _read_time(entry: Entry, entry_type: str, name: str) -> float:
    seconds: Json = entry.outcome.get(name)
    if entry.type != entry_type or isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise StoreAltered("The stored detail request is not what was written.")
    return float(seconds)
