"""Requests for more detail about open decisions, and the agents' answers, in a ledger's store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.decisions import ledger_entries, ledger_log
from emitter.decisions.ledger_entries import words_key
from emitter.errors import AlreadyResolved, BadResolution, UnknownDecision
from emitter.events import Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emitter.decisions.ledger_entries import DetailRequest, PendingDecision
    from emitter.decisions.ledger_log import LedgerLog
    from emitter.decisions.principal_words import PrincipalWords
    from emitter.events import LogAppended
    from emitter.messages import Json
    from emitter.stores import Entry


class DetailRequests:
    """The detail requests of each decision, numbered from 1."""

    __slots__ = ("_log", "_words")

    def __init__(self, log: LedgerLog, words: PrincipalWords) -> None:
        self._log = log
        self._words = words

    def ask(self, pending: PendingDecision, topic: str, channel: str) -> DetailRequest:
        """Record a request, or return the open one about the same topic."""
        for number in range(1, ledger_entries.MAX_DETAIL_REQUESTS + 1):
            name = words_key(pending.reference, number)

            def make(now: float, number: int = number, name: str = name) -> tuple[Entry, Iterable[LogAppended]]:
                words_until = self._words.write(name, topic, now)
                return ledger_entries.make_detail_request_entry(now, channel), (
                    ledger_log.make_detail_asked_event(pending, number, channel, words_until),
                )

            key = ledger_entries.detail_request_key(pending.reference, number)
            stored = self._log.record(key, make, pending.reference)
            if stored.created:
                self._words.cache(name, topic, ledger_entries.read_asked_at(stored.entry))
            request = self._load(pending, number, stored.entry)
            if stored.created or (request.is_open and request.topic == topic):
                return request
        raise BadResolution("No more detail can be requested for this decision.", hint="Answer it, or object to it.")

    def answer(self, pending: PendingDecision, number: int, document: Json) -> DetailRequest:
        """Record the answer to a request."""
        request = self._find(pending.reference, number) if type(number) is int else None
        if request is None:
            raise UnknownDecision(
                "The decision has no detail request of this number.", hint="See Ledger.detail_requests()."
            )

        def make(now: float) -> tuple[Entry, Iterable[LogAppended]]:
            return ledger_entries.make_detail_answer_entry(document, now), (
                ledger_log.make_decision_event(Level.INFO, ledger_log.DETAIL_ANSWERED_MESSAGE, pending, number=number),
            )

        stored = self._log.record(ledger_entries.detail_answer_key(pending.reference, number), make, pending.reference)
        if ledger_entries.read_detail_answer(stored.entry) != document:
            raise AlreadyResolved("This detail request was already answered otherwise.")
        return self._load(pending, number, request)

    def load(self, pending: PendingDecision) -> tuple[DetailRequest, ...]:
        """Return the requests of a decision, oldest first."""
        return tuple(self._load(pending, number, entry) for number, entry in self._entries(pending.reference))

    def words_names(self, decision: str) -> tuple[str, ...]:
        """Return the store keys of the requests' topics."""
        return tuple(words_key(decision, number) for number, _ in self._entries(decision))

    def _entries(self, decision: str) -> Iterator[tuple[int, Entry]]:
        for number in range(1, ledger_entries.MAX_DETAIL_REQUESTS + 1):
            entry = self._find(decision, number)
            if entry is None:
                return
            yield number, entry

    def _find(self, decision: str, number: int) -> Entry | None:
        return self._log.find(ledger_entries.detail_request_key(decision, number))

    def _load(self, pending: PendingDecision, number: int, entry: Entry) -> DetailRequest:
        topic = self._words.read(words_key(pending.reference, number))
        answer = self._log.find(ledger_entries.detail_answer_key(pending.reference, number))
        return ledger_entries.build_detail_request(pending.decision_id, number, topic, entry, answer)
