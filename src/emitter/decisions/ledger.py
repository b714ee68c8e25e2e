"""The ledger: open decisions, resolve each one once, and count how often vetoes are used.

A ledger works on any of the library's stores. All threads and processes that share the store see the same decisions,
and exactly one resolution counts.

The store has the whole envelope, the agent, the channel, the times, the digests of the actions, and the outcome of a
resolution with the index of its option. ``Ledger(words=...)`` sets how the words of a free text or an objection are
kept: as plain text for a week by default, encrypted, for another time, or not at all. A salted hash of the words is
kept so that the same answer is recognised when it comes again. A question that repeats a refused one word for word is
rejected; one that only resembles it causes a warning. Events have neither words nor the decision's id; they name the
decision by the hash ``PendingDecision.reference``.

Source: draft-morrison-binding-moment-envelope-00, sections 6 and 12.
"""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from emitter.decisions import ledger_arguments, ledger_entries, ledger_log
from emitter.decisions.canonical_json import digest
from emitter.decisions.decision_rates import DEFAULT_THRESHOLDS, DecisionRates, RateThresholds
from emitter.decisions.ledger_details import DetailRequests
from emitter.decisions.ledger_entries import (
    MAX_ASSIGNMENTS,
    Approval,
    Assignment,
    PendingDecision,
    RecordedResolution,
    ResolvedDecision,
    UnreadableAnswer,
    approval_key,
    assignment_key,
    decision_reference,
    make_approval_entry,
    make_assignment_entry,
    parse_approval,
    parse_assignment,
)
from emitter.decisions.ledger_log import LedgerLog, end_key
from emitter.decisions.ledger_waiting import Waiters, in_thread
from emitter.decisions.ledger_words import KeepWords, MissingWordsReason, PrincipalWords, words_key
from emitter.decisions.principals import is_same_principal
from emitter.decisions.refused_questions import DecisionQuestion, Refusals, RefusedQuestion
from emitter.decisions.resolution import (
    Hold,
    ResolutionOutcome,
    Selected,
    Unresolved,
    UnresolvedReason,
    check_two_keys,
    continue_after,
    known_keys,
    signing_key_id,
    verify_answer,
)
from emitter.errors import (
    AlreadyResolved,
    BadResolution,
    DecisionExpired,
    InputError,
    NewerRecord,
    StoreAltered,
    StoreFailed,
    UnknownDecision,
    UnsignedAnswer,
    WrongDigest,
)
from emitter.events import Level
from emitter.problems import warn_of_problem
from emitter.stores import MemoryStore
from emitter.telemetry.sinks import generate_id

__all__ = ["Approval", "Assignment", "KeepWords", "Ledger", "PendingDecision", "ResolvedDecision", "UnreadableAnswer"]

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence

    from emitter.decisions.ledger_details import DetailRequest
    from emitter.decisions.ledger_waiting import Outages
    from emitter.decisions.resolution import AnswerVerifier, Dialogue, FreeText, Resolution
    from emitter.events import LogAppended
    from emitter.models import BindingMoment
    from emitter.stores import Entry, Store
    from emitter.telemetry.sinks import Sink

Signer: TypeAlias = "Callable[[str], str]"
"""Returns the signature of a digest: see ``emitter.authority.signing.make_signer``."""
DEFAULT_WORDS: Final = KeepWords()
_OTHER_ID_HINT: Final = "Open the decision under another id."


class Ledger:
    """Open decisions by id, and resolve each of them once, across all threads and processes.

    Args:
        store: Where decisions are kept. Defaults to memory.
        clock: Returns seconds since 1970. Processes that share a store should agree on the time.
        on_event: Receives each event that this process adds, once it is stored. Its exceptions become a
            ``RuntimeWarning``, since the record stands.
        thresholds: The rates from which a warning is recorded.
        words: How the principal's words are kept, so that another process can read them: as plain text for a week by
            default. With None they stay in this process's memory.
        sign: Signs each answer that is resolved here: ``make_signer(key)`` of ``emitter.authority.signing``.
        check: Verifies the signature of each answer that is read: ``make_verifier(*keys).verify_answer``
            of ``emitter.authority.signing``. Without it, whoever can write to the store can forge an answer.

    Raises:
        InputError: An argument is invalid.
    """

    __slots__ = ("_check", "_details", "_log", "_parsed", "_refusals", "_sign", "_waiters", "_words")

    def __init__(  # noqa: PLR0913  every one has a default
        self,
        store: Store | None = None,
        *,
        clock: Callable[[], float] = time.time,
        on_event: Sink | None = None,
        thresholds: RateThresholds = DEFAULT_THRESHOLDS,
        words: KeepWords | None = DEFAULT_WORDS,
        sign: Callable[[str], str] | None = None,
        check: AnswerVerifier | None = None,
    ) -> None:
        if words is not None and not isinstance(words, KeepWords):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(
                f"words is of type {type(words).__name__}; it must be a KeepWords, or None to keep no words."
            )
        if not isinstance(thresholds, RateThresholds):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"thresholds is of type {type(thresholds).__name__}; it must be a RateThresholds.")
        ledger_arguments.check_collaborators(store, clock, on_event, must_delete=words is not None)
        self._sign = ledger_arguments.check_callable("sign=", sign)
        self._check = ledger_arguments.check_callable("check=", check)
        self._log = LedgerLog(MemoryStore() if store is None else store, clock, on_event, thresholds)
        self._words = PrincipalWords(self._log, words)
        self._details = DetailRequests(self._log, self._words)
        self._refusals = Refusals(self._log, self._load_refusal, self._load_if_readable)
        self._waiters = Waiters(self.open_references)
        self._parsed: dict[str, tuple[Entry, PendingDecision]] = {}

    @property
    def store(self) -> Store:
        """The store in which decisions are kept."""
        return self._log.store

    @property
    def verifies_answers(self) -> bool:
        """True if an answer counts only with a valid signature: see ``check``."""
        return self._check is not None

    @property
    def words(self) -> KeepWords | None:
        """The settings for keeping the principal's words, or None."""
        return self._words.keep

    def open(  # noqa: PLR0913  most have a default
        self,
        moment: BindingMoment,
        *,
        agent: str = "agent",
        decision_id: str | None = None,
        expires_in: float | None = None,
        actions: Sequence[str | None] = (),
        after: Iterable[str] = (),
        four_eyes: bool = False,
        subject: str = "",
    ) -> PendingDecision:
        """Open a decision and return it.

        If it was opened before under the same id, the first one is returned, also if it was resolved meanwhile: see
        ``find``.

        A question that the principal has refused is rejected, whichever agent asks it (section 6.2 of the draft). It is
        the same question if its stem, options and actions are the same word for word, in any order and whatever the
        case and punctuation. The latest 256 vetoes of the last 30 days count; vetoes of this agent on this very
        envelope count without a limit. To ask a refused question again, pass its decision in ``after``, with an
        envelope that has changed and leaves the dialogue hatch open. A question that only resembles a refused one
        causes a warning: see ``find_similar_refusals``.

        Args:
            moment: The envelope.
            agent: The agent that asks.
            decision_id: The id of the decision. By default an id that cannot be guessed.
            expires_in: For how many seconds the decision is open, up to a hundred years. ``None`` is without limit.
            actions: For each option, the digest of what it does, or None.
            after: Ids of refused decisions whose objection this envelope takes up.
            four_eyes: Two principals must approve an option that does something: see ``approve``.
            subject: A digest of what the question is about. Once a question about it is refused, every other one counts
                as the same question, whatever its words, actions and agent, without a limit.

        Raises:
            AlreadyResolved: The principal refused this question before.
            WrongDigest: The id belongs to another envelope, agent, duration or other actions.
            UnknownDecision: An id in ``after`` was never opened.
            InputError: An argument is invalid.
        """
        envelope = ledger_arguments.require_wellformed_moment(moment)
        decision_id = ledger_arguments.check_short_text(
            "decision_id", generate_id() if decision_id is None else decision_id
        )
        agent, duration = ledger_arguments.check_short_text("agent", agent), ledger_arguments.check_seconds(expires_in)
        actions = ledger_arguments.check_actions(actions, envelope)
        requested = PendingDecision(
            decision_id,
            digest(envelope),
            envelope,
            agent,
            0.0,
            actions=actions,
            signed=self._check is not None,
            keys=known_keys(self._check),
            four_eyes=bool(four_eyes),
            subject=ledger_arguments.check_short_text("subject", subject, min_length=0),
        )
        revisited = frozenset(
            self._load_pending(refusal_id).reference for refusal_id in ledger_arguments.check_ids("after", after)
        )
        made: list[PendingDecision] = []

        def make(now: float) -> tuple[Entry, Iterable[LogAppended]]:
            self._refusals.reject_repetition(requested, revisited)
            expires_at = None if duration is None else now + duration
            made.append(replace(requested, opened_at=now, expires_at=expires_at, created=True))
            return ledger_entries.make_opened_entry(made[-1]), ledger_log.make_opened_events(made[-1])

        stored = self._log.record(_opened_key(requested.reference), make, requested.reference)
        if stored.created:
            self._refusals.warn_of_similarity(made[-1], revisited)
            return made[-1]
        pending = ledger_entries.parse_pending(stored.entry)
        _check_same_decision(pending, requested, duration)
        return _with_expiry(pending, self._load_end(pending))

    def find_similar_refusals(self, pending: PendingDecision) -> tuple[ResolvedDecision, ...]:
        """Return refused decisions whose question resembles this one, latest first.

        The comparison is by words, not by meaning, and can be wrong. Use it as a reason to read the objection.
        """
        decisions = (self.find(each.decision_id) for each in self._refusals.similar_to(pending))
        return tuple(other for other in decisions if isinstance(other, ResolvedDecision))

    def find_refusals(self, subject: str) -> tuple[ResolvedDecision, ...]:
        """Return the decisions about a subject whose question was refused, latest first: see ``open(subject=...)``."""
        decisions = map(self.find_by_reference, self._refusals.about(subject))
        return tuple(each for each in decisions if isinstance(each, ResolvedDecision))

    def find(self, decision_id: str) -> PendingDecision | ResolvedDecision:
        """Return the current state of a decision.

        A decision that expired or was withdrawn is still a ``PendingDecision``, with ``expiry_recorded``. A free text
        or an objection has the principal's words, from whichever process, as long as they are kept.
        ``UnreadableAnswer`` stands for words that this ledger cannot read.

        Raises:
            UnknownDecision: No decision has this id.
            StoreAltered: The stored words do not belong to the resolution.
            UnsignedAnswer: This ledger verifies signatures, and the answer has no valid one.
        """
        return self._find(self._load_pending(decision_id))

    def find_by_reference(self, reference: str) -> PendingDecision | ResolvedDecision:
        """Return a decision as ``find`` does, by the hash of its id: see ``PendingDecision.reference``."""
        return self._find(self._load_referenced(ledger_arguments.check_text("reference", reference)))

    async def wait(self, decision_id: str, *, poll: float = 0.5) -> PendingDecision | ResolvedDecision:
        """Wait until a decision is closed, by any process, and return it as ``find`` does.

        All waits of an event loop share one query of the store, which runs in a thread. To give up after some time, use
        ``asyncio.timeout``; the decision stays open. A store that cannot be used for a time, such as a database that
        restarts, ends no wait: it is queried at growing intervals, up to 30 seconds, and a ``RuntimeWarning`` is issued
        once.

        Args:
            decision_id: A decision that was opened.
            poll: Seconds between two queries of the store.

        Returns:
            The resolved decision; or a ``PendingDecision`` with ``expiry_recorded``, if it expired or was withdrawn.

        Raises:
            UnknownDecision: No decision has this id.
            StoreAltered: The decision was changed in the store.
        """
        seconds = ledger_arguments.check_seconds(poll, "poll")
        if seconds is None:
            raise InputError("poll must be a number of seconds.")
        find = partial(self.find, decision_id)
        decision = await self.outages.outlast(find, seconds)
        while isinstance(decision, PendingDecision) and not decision.expiry_recorded:
            await self._waiters.wait(decision.reference, seconds)
            decision = await self.outages.outlast(find, seconds)
        return decision

    @property
    def outages(self) -> Outages:
        """The outages of the store, for those who wait for something in it."""
        return self._waiters.outages

    def delete_words(self, decision_id: str) -> int:
        """Delete the principal's words about a decision from the store and from this process.

        The kind of answer stays, and a hash that recognises the same answer.

        Returns:
            The number of texts that were deleted.
        """
        decision = self._load_pending(decision_id).reference
        names = words_key(decision), *self._details.words_names(decision)
        return sum(self._words.delete(name, decision) for name in names)

    def delete_old_words(self, seconds: float) -> int:
        """Delete what principals wrote more than ``seconds`` ago about any decision, as ``delete_words`` does.

        Words are deleted by themselves after the time that ``KeepWords`` sets. Use this to keep to a shorter one.

        Returns:
            The number of texts that were deleted.
        """
        if not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError("seconds must be a number that is not below 0.")
        return sum(self._words.delete(*written) for written in self._log.find_words(self._log.now() - seconds))

    def pending(self) -> tuple[PendingDecision, ...]:
        """Return the decisions that are open, oldest first.

        A decision that was altered in the store is left out and reported once. One that a newer release opened is left
        out, with a ``RuntimeWarning``.
        """
        parsed: dict[str, tuple[Entry, PendingDecision]] = {}
        decisions: list[PendingDecision] = []
        assigned = self.assignment_counts()
        for decision in self.open_references():
            entry, known = self._find_opened(decision), self._parsed.get(decision)
            pending = known[1] if known and known[0] == entry else self._parse_if_readable(decision, entry)
            if entry is not None and pending is not None:
                parsed[decision] = entry, pending
                with self._reporting_unreadable(decision):
                    decisions.append(self._with_assignee(pending, assigned.get(decision, 0)))
        self._parsed = parsed
        return tuple(decisions)

    def _find_opened(self, decision: str) -> Entry | None:
        """Return the entry of a decision, or None for one that this release cannot read."""
        try:
            return self._log.find(_opened_key(decision))
        except NewerRecord as error:
            warn_of_problem(f"An open decision is not listed: {error.args[0]}")
            return None

    def open_references(self) -> tuple[str, ...]:
        """Return the references of the decisions that are open, oldest first. Only the log is read."""
        return self._log.read(lambda index: tuple(index.open_decisions))

    def closed_references(self) -> tuple[str, ...]:
        """Return the references of the decisions that are resolved, expired or withdrawn, latest first."""
        return self._log.read(lambda index: tuple(reversed(index.closed_decisions)))

    def assignment_counts(self) -> Mapping[str, int]:
        """Return how often decisions were assigned, by their references. Only the log is read."""
        return self._log.read(lambda index: dict(index.assignment_counts))

    def last_sequence(self) -> int:
        """Return the number of the latest event in the ledger's log. It grows with every change, in any process."""
        return self._log.read(lambda index: index.last_sequence)

    def refused_digests(self, agent: str) -> frozenset[str]:
        """Return the digests of an agent's envelopes whose question was refused, in any process.

        The agent must not ask these again (section 6.2 of the draft), and ``open`` rejects them.
        """
        ledger_arguments.check_text("agent", agent)
        return frozenset(self._log.read(lambda index: index.refused_digests(agent), refresh=False))

    def resolve(
        self,
        decision_id: str,
        resolution: Resolution,
        *,
        channel: str = "",
        principal: str = "",
        sign: Callable[[str], str] | None = None,
    ) -> ResolvedDecision:
        """Resolve a decision, once. Resolving it again in the same way changes nothing.

        Args:
            decision_id: The decision.
            resolution: The principal's answer.
            channel: The channel that the answer came by.
            principal: Who answered. The signature covers it.
            sign: Signs this answer, instead of the ledger's ``sign``.

        Returns:
            The decision. ``already_resolved`` is True if the same resolution was recorded before.

        Raises:
            UnknownDecision: No decision has this id.
            WrongDigest: The answer belongs to another envelope.
            NoSuchOption: The envelope has no such option.
            HatchClosed: The envelope does not allow that answer.
            BadResolution: It is not a resolution, or two principals must approve it.
            InputError: ``principal`` is not printable, or has invisible characters.
            DecisionExpired: The decision has expired, or was withdrawn.
            UnsignedAnswer: Only a signed answer counts, and this one has no valid signature.
            AlreadyResolved: It was resolved otherwise before.
        """
        return self.resolve_pending(
            self._load_pending(decision_id), resolution, channel=channel, principal=principal, sign=sign
        )

    def resolve_pending(
        self,
        pending: PendingDecision,
        resolution: Resolution,
        *,
        channel: str = "",
        principal: str = "",
        sign: Callable[[str], str] | None = None,
    ) -> ResolvedDecision:
        """Resolve a decision that this ledger has just opened or read, as ``resolve`` does, without reading it again.

        The decision must come from this ledger: what it says is taken as what is stored.
        """
        answer = self._check_answer(pending, resolution, channel, principal, sign)
        if pending.needs_two(resolution):
            raise BadResolution(
                "Two principals must approve this option.",
                hint="Answer in the inbox (`emitter inbox`), with `emitter resolve --principal NAME`, or with "
                "Ledger.approve().",
            )
        return self._record_end(pending, answer)

    def approve(
        self,
        decision_id: str,
        selected: Selected,
        *,
        principal: str,
        channel: str = "",
        sign: Callable[[str], str] | None = None,
    ) -> PendingDecision | ResolvedDecision:
        """Approve an option that two principals must approve: see ``open(four_eyes=True)``.

        The approval of a second principal resolves the decision. Until then any principal may refuse by ``resolve``:
        with an option that has no action, in their own words, or with an objection. The ledger compares the names of
        the principals, whatever their case, outer spaces and compatible characters (NFKC); it relies on its caller to
        know who they are.

        Args:
            decision_id: The decision.
            selected: The option.
            principal: Who approves. The signature covers it.
            channel: The channel that the approval came by.
            sign: Signs this approval, instead of the ledger's ``sign``.

        Returns:
            The decision, which is still open after the first approval, and after the same principal's second one.

        Raises:
            BadResolution: One principal can choose this option: use ``resolve``.
            ResolutionError: As for ``resolve``.
        """
        pending = self._load_pending(decision_id)
        ledger_arguments.check_principal("principal", principal)
        answer = self._check_answer(pending, selected, channel, principal, sign)
        if not pending.needs_two(selected):
            raise BadResolution("This answer needs one principal only.", hint="Use resolve().")
        if self._load_end(pending) is not None:
            return self._record_end(pending, answer)  # the same answer again, or an answer that is too late
        make = partial(self._make_first_approval, pending, answer)
        stored = self._log.record(approval_key(pending.reference, selected.index), make, pending.reference)
        first = self._verified_approval(parse_approval(stored.entry, pending, selected.index), pending)
        if is_same_principal(first.principal, principal):
            return pending
        return self._record_end(pending, replace(answer, first=first))

    def first_approvals(self, decision_id: str) -> tuple[Approval, ...]:
        """Return the first approvals of a decision that needs four eyes: at most one for each option."""
        pending = self._load_pending(decision_id)
        options = range(len(pending.moment.question.options)) if pending.four_eyes else ()
        approvals = (self._load_approval(pending, index) for index in options)
        return tuple(approval for approval in approvals if approval is not None)

    def _check_answer(
        self, pending: PendingDecision, resolution: Resolution, channel: str, principal: str, sign: Signer | None
    ) -> _Answer:
        """Return a valid answer, with its channel and its principal."""
        ledger_arguments.check_short_text("channel", channel, min_length=0)
        ledger_arguments.check_principal("principal", principal, min_length=0)
        if isinstance(continue_after(resolution, pending.moment), Hold):
            raise BadResolution(
                "An Unresolved does not resolve a decision.", hint="Record it with record_unresolved()."
            )
        return _Answer(resolution, channel, principal, ledger_arguments.check_callable("sign=", sign) or self._sign)

    def _record_end(self, pending: PendingDecision, answer: _Answer) -> ResolvedDecision:
        """Store an answer, or find the answer that came first."""
        resolution = answer.resolution
        make = partial(self._make_end, pending, answer)
        stored = self._log.record_silently(end_key(pending.reference), make, pending.reference)
        ledger_entries.check_end_entry(stored.entry, pending)
        is_expired = ledger_entries.is_expired_entry(stored.entry)
        is_same = not is_expired and (stored.created or ledger_entries.is_entry_of(stored.entry, resolution))
        if is_same and not isinstance(resolution, Selected):
            words = ledger_entries.resolution_words(resolution)
            self._words.cache(words_key(pending.reference), words, stored.entry.outcome["resolvedAt"])
        # After the cache: a sink that reads the decision in its callback finds the words.
        self._log.publish(stored)
        if is_expired:
            raise _expired_error(stored.entry)
        if not is_same:
            raise AlreadyResolved(
                "The decision was already resolved otherwise.", hint="Read its resolution with find()."
            )
        return self._build_resolved(pending, stored.entry, resolution, repeated=not stored.created)

    def assign(self, decision_id: str, assignee: str, *, principal: str, channel: str = "") -> PendingDecision:
        """Assign an open decision to the principal who should answer it.

        It is no permission: others may still answer, unless a surface's policy looks at ``PendingDecision.assignee``.

        Args:
            decision_id: A decision that is open.
            assignee: Who should answer. Empty if anybody should.
            principal: Who assigns it.
            channel: The channel that the assignment came by.

        Raises:
            UnknownDecision: No decision has this id.
            AlreadyResolved: The decision is resolved.
            DecisionExpired: The decision has expired, or was withdrawn.
            BadResolution: It was assigned 100 times.
        """
        assignee = ledger_arguments.check_principal("assignee", assignee, min_length=0)
        principal = ledger_arguments.check_principal("principal", principal)
        channel = ledger_arguments.check_short_text("channel", channel, min_length=0)
        pending = self._require_open(decision_id)
        for number in range(len(self._load_assignments(pending.reference)), MAX_ASSIGNMENTS):
            pending = self._with_assignee(pending, number)
            if pending.assignee == assignee:
                return pending

            event = ledger_log.make_decision_event(
                Level.INFO, ledger_log.ASSIGNED_MESSAGE, pending, number=number + 1, channel=channel
            )

            def make(now: float, event: LogAppended = event) -> tuple[Entry, Iterable[LogAppended]]:
                return make_assignment_entry(Assignment(assignee, principal, now, channel)), (event,)

            if self._log.record(assignment_key(pending.reference, number + 1), make, pending.reference).created:
                return replace(pending, assignee=assignee)
        raise BadResolution("This decision cannot be assigned any more.", hint="Answer it, or object to it.")

    def assignments(self, decision_id: str) -> tuple[Assignment, ...]:
        """Return who assigned a decision to whom, oldest first."""
        return self._load_assignments(self._load_pending(decision_id).reference)

    def ask_detail(self, decision_id: str, topic: str = "", *, channel: str = "") -> DetailRequest:
        """Request more detail from the agent, as the envelope offers. The decision stays open.

        Args:
            decision_id: A decision that is open.
            topic: What the principal wants to know more about; empty for all of it. It is kept like their words.
            channel: The channel that the request came by.

        Returns:
            The request. Asking for the same topic again before it is answered returns the same request.

        Raises:
            UnknownDecision: No decision has this id.
            AlreadyResolved: The decision is resolved.
            DecisionExpired: The decision has expired.
            BadResolution: The topic is too long, or 20 requests were made.
        """
        topic = ledger_arguments.check_topic(topic)
        channel = ledger_arguments.check_short_text("channel", channel, min_length=0)
        return self._details.ask(self._require_open(decision_id), topic, channel)

    def detail_requests(self, decision_id: str | None = None) -> tuple[DetailRequest, ...]:
        """Return the detail requests of a decision with their answers, oldest first.

        Without an id, return the unanswered requests of all open decisions.

        Raises:
            UnknownDecision: No decision has this id.
        """
        if decision_id is not None:
            return self._details.load(self._load_pending(decision_id))
        return tuple(
            request for pending in self.pending() for request in self._details.load(pending) if request.is_open
        )

    def answer_detail(self, decision_id: str, number: int, answer: object) -> DetailRequest:
        """Answer a detail request. The decision stays open.

        Args:
            decision_id: A decision that is open.
            number: The number of the request, counted from 1.
            answer: A string, or a value that pydantic can write as JSON. It is stored unencrypted, like the envelope.

        Returns:
            The request, with its answer.

        Raises:
            UnknownDecision: No decision has this id, or it has no such request.
            AlreadyResolved: The decision is resolved, or the request was answered otherwise before.
            DecisionExpired: The decision has expired.
            InputError: The answer cannot be written as JSON, or is too long.
        """
        document = ledger_arguments.check_detail_answer(answer)
        return self._details.answer(self._require_open(decision_id), number, document)

    def record_unresolved(self, decision_id: str, reason: UnresolvedReason, *, channel: str = "") -> Unresolved:
        """Record that nobody decided. The decision stays open.

        The same reason and channel are recorded once.

        Returns:
            The reason that counts: ``timeout`` for a decision that has expired.

        Raises:
            UnknownDecision: No decision has this id.
            BadResolution: ``reason`` is not an ``UnresolvedReason``.
            AlreadyResolved: The decision is resolved.
        """
        pending = self._load_pending(decision_id)
        channel = ledger_arguments.check_short_text("channel", channel, min_length=0)
        checked, decision = ledger_arguments.check_reason(reason), pending.reference
        self._log.refresh()
        end = self._load_end(pending)
        if end is not None:
            if ledger_entries.is_expired_entry(end):
                return Unresolved(pending.digest, UnresolvedReason.TIMEOUT)
            raise AlreadyResolved("The decision is resolved.", hint="Read its resolution with find().")
        event = ledger_log.make_unresolved_event(ledger_log.decision_fields(pending), checked, channel)
        self._log.record_event(f"unresolved:{decision}:{checked.value}:{channel}", event, decision)
        return Unresolved(pending.digest, checked)

    def withdraw(
        self, decision_id: str, reason: UnresolvedReason = UnresolvedReason.CANCELLED, *, channel: str = ""
    ) -> Unresolved:
        """Close a decision because its answer would have no effect any more. Withdrawing it again changes nothing.

        Returns:
            The reason that counts: ``timeout`` for a decision that has expired.

        Raises:
            UnknownDecision: No decision has this id.
            BadResolution: ``reason`` is not an ``UnresolvedReason``.
            AlreadyResolved: The decision is resolved.
        """
        pending = self._load_pending(decision_id)
        channel = ledger_arguments.check_short_text("channel", channel, min_length=0)
        checked = ledger_arguments.check_reason(reason)

        def make(now: float) -> tuple[Entry, Iterable[LogAppended]]:
            decision = ledger_log.decision_fields(pending)
            if pending.is_expired(now):
                return ledger_entries.make_expired_entry(now), (ledger_log.make_expired_event(decision),)
            event = ledger_log.make_withdrawn_event(decision, checked, channel)
            return ledger_entries.make_expired_entry(now, withdrawn=True), (event,)

        end = ledger_entries.check_end_entry(
            self._log.record(end_key(pending.reference), make, pending.reference).entry, pending
        )
        if not ledger_entries.is_expired_entry(end):
            raise AlreadyResolved("The decision is resolved.", hint="Read its resolution with find().")
        is_withdrawn = ledger_entries.is_withdrawn_entry(end)
        return Unresolved(pending.digest, checked if is_withdrawn else UnresolvedReason.TIMEOUT)

    def rates(self, agent: str | None = None, decision_class: str | None = None) -> DecisionRates:
        """Return how often vetoes, notes and closed hatches occur, for an agent and a class, or for all.

        Decisions without a class have the class ``""``.
        """
        for name, value in {"agent": agent, "decision_class": decision_class}.items():
            if value is not None:
                ledger_arguments.check_text(name, value)
        return self._log.read(lambda index: index.rates(agent, decision_class))

    aopen = in_thread(open)  # noqa: A003  the method
    """Async version of ``open``."""
    afind = in_thread(find)
    """Async version of ``find``."""
    apending = in_thread(pending)
    """Async version of ``pending``."""
    aresolve = in_thread(resolve)
    """Async version of ``resolve``."""
    awithdraw = in_thread(withdraw)
    """Async version of ``withdraw``."""

    def _make_end(self, pending: PendingDecision, answer: _Answer, now: float) -> tuple[Entry, Iterable[LogAppended]]:
        """Return the entry and the event of a resolution, or of the expiry that precedes it."""
        if pending.is_expired(now):
            event = ledger_log.make_expired_event(ledger_log.decision_fields(pending))
            return ledger_entries.make_expired_entry(now), (event,)
        resolution, channel, sign = answer.resolution, answer.channel, _require_signer(pending, answer)
        first = None if answer.first is None else answer.first.statement(pending)
        entry = ledger_entries.make_resolved_entry(resolution, now, channel, answer.principal, first)
        entry = entry if sign is None else ledger_entries.sign_entry(entry, pending, sign)
        # Before anything is stored: a refused signature leaves the decision open for another answer.
        self._check_key(pending, ledger_entries.read_signature(entry))
        self._verify_signature(entry, pending)
        if answer.first is not None:
            keys = known_keys(self._check) or pending.keys
            check_two_keys(keys, answer.first.signature, ledger_entries.read_signature(entry))
        words_until = None
        if not isinstance(resolution, Selected):
            words = ledger_entries.resolution_words(resolution)
            words_until = self._words.write(words_key(pending.reference), words, now)
        outcome = ResolutionOutcome.of_resolution(resolution)
        return entry, (ledger_log.make_resolved_event(pending, outcome, channel, words_until),)

    def _make_first_approval(
        self, pending: PendingDecision, answer: _Answer, now: float
    ) -> tuple[Entry, Iterable[LogAppended]]:
        """Return the entry and the event of the first of two approvals."""
        if pending.is_expired(now):
            raise _expired_error(None)
        assert isinstance(answer.resolution, Selected)  # noqa: S101  narrows the type
        approval = Approval(answer.principal, answer.resolution.index, now, answer.channel)
        sign = _require_signer(pending, answer)
        if sign is not None:
            approval = replace(approval, signature=sign(approval.statement(pending)))
        self._check_key(pending, approval.signature)
        self._verified_approval(approval, pending)
        event = ledger_log.make_decision_event(Level.INFO, ledger_log.APPROVED_MESSAGE, pending, channel=answer.channel)
        return make_approval_entry(approval, pending), (event,)

    def _load_approval(self, pending: PendingDecision, index: int) -> Approval | None:
        entry = self._log.find(approval_key(pending.reference, index))
        return None if entry is None else self._verified_approval(parse_approval(entry, pending, index), pending)

    def _verified_approval(self, approval: Approval, pending: PendingDecision) -> Approval:
        if self._check is not None:
            verify_answer(self._check, approval.statement(pending), approval.signature)
        return approval

    def _check_key(self, pending: PendingDecision, signature: str | None) -> None:
        """Raise ``UnsignedAnswer`` for an answer by a key that the opening ledger does not know."""
        if self._check is None and pending.keys and signing_key_id(signature) not in pending.keys:
            raise UnsignedAnswer(
                "This key's signature does not count for this decision: the agent does not know the key.",
                hint="The decision is still open. Sign with a key whose public part the agent has in principals=.",
            )

    def _load_assignments(self, decision: str) -> tuple[Assignment, ...]:
        """Return the assignments of a decision, oldest first. The log is not read, since it may be long."""
        assignments: list[Assignment] = []
        while entry := self._log.find(assignment_key(decision, len(assignments) + 1)):
            assignments.append(parse_assignment(entry))
        return tuple(assignments)

    def _with_assignee(self, pending: PendingDecision, number: int) -> PendingDecision:
        """Return a decision with the assignee of its assignment ``number``; 0 is none."""
        if not number:
            return pending
        assignment = parse_assignment(self._log.find(assignment_key(pending.reference, number)))
        return replace(pending, assignee=assignment.assignee)

    def _find(self, pending: PendingDecision) -> PendingDecision | ResolvedDecision:
        assignments = self._load_assignments(pending.reference)
        if assignments:
            pending = replace(pending, assignee=assignments[-1].assignee)
        entry = self._load_end(pending)
        if entry is None or ledger_entries.is_expired_entry(entry):
            return _with_expiry(pending, entry)
        return self._build_resolved(pending, entry, self._load_resolution(pending, entry), repeated=True)

    def _build_resolved(
        self, pending: PendingDecision, entry: Entry, resolution: RecordedResolution, *, repeated: bool
    ) -> ResolvedDecision:
        """Return a resolved decision, once its signatures and its first approval are verified."""
        self._verify_signature(entry, pending)
        principal, first = ledger_entries.read_principal(entry), None
        if isinstance(resolution, Selected) and pending.needs_two(resolution):
            first = self._load_approval(pending, resolution.index)
            if (
                first is None
                or not principal
                or is_same_principal(first.principal, principal)
                or first.statement(pending) != entry.outcome.get("firstApproval")
            ):
                raise StoreAltered("Two principals had to approve the answer, and the store does not show both.")
            check_two_keys(known_keys(self._check), first.signature, ledger_entries.read_signature(entry))
        return ResolvedDecision(
            pending,
            resolution,
            entry.outcome["resolvedAt"],
            str(entry.outcome["channel"]),
            already_resolved=repeated,
            signature=ledger_entries.read_signature(entry),
            principal=principal,
            first_approval=first,
        )

    def _load_pending(self, decision_id: str) -> PendingDecision:
        return self._load_referenced(decision_reference(ledger_arguments.check_text("decision_id", decision_id)))

    def _load_referenced(self, reference: str) -> PendingDecision:
        entry = self._log.find(_opened_key(reference))
        if entry is None:
            raise UnknownDecision(
                "No decision has this id in this store.", hint="List the open decisions with `emitter decisions STORE`."
            )
        return ledger_entries.parse_pending(entry)

    def _load_end(self, pending: PendingDecision) -> Entry | None:
        entry = self._log.find(end_key(pending.reference))
        if entry is None and pending.is_expired(self._log.now()):
            self._log.refresh()  # records the expiry
            entry = self._log.find(end_key(pending.reference))
        return None if entry is None else ledger_entries.check_end_entry(entry, pending)

    def _verify_signature(self, entry: Entry, pending: PendingDecision) -> None:
        if self._check is not None:
            verify_answer(
                self._check, ledger_entries.entry_signing_digest(entry, pending), ledger_entries.read_signature(entry)
            )

    def _load_if_readable(self, decision: str) -> PendingDecision | None:
        return self._parse_if_readable(decision, self._log.find(_opened_key(decision)))

    def _parse_if_readable(self, decision: str, entry: Entry | None) -> PendingDecision | None:
        with self._reporting_unreadable(decision):
            return None if entry is None else ledger_entries.parse_pending(entry)
        return None

    @contextmanager
    def _reporting_unreadable(self, decision: str) -> Generator[None]:
        """Record that a decision was altered in the store, instead of raising the error."""
        try:
            yield
        except StoreAltered:
            self._log.record_event(f"unreadable:{decision}", ledger_log.make_unreadable_event(decision), decision)

    def _require_open(self, decision_id: str) -> PendingDecision:
        """Return an open decision. Raises ``AlreadyResolved`` or ``DecisionExpired``."""
        pending = self._load_pending(decision_id)
        self._log.refresh()
        end = self._load_end(pending)
        if end is not None and not ledger_entries.is_expired_entry(end):
            raise AlreadyResolved("The decision is resolved.", hint="Read its resolution with find().")
        if end is not None or pending.is_expired(self._log.now()):
            raise _expired_error(end)
        return pending

    def _load_refusal(self, decision: str) -> RefusedQuestion | None:
        """Return a veto, or None if the store entry was altered, which is reported elsewhere."""
        pending = self._load_if_readable(decision)
        try:
            end = None if pending is None else self._load_end(pending)
        except StoreFailed:
            return None
        if pending is None or end is None:
            return None
        return RefusedQuestion(DecisionQuestion(pending), end.outcome.get("resolvedAt", 0.0))

    def _load_resolution(self, pending: PendingDecision, entry: Entry) -> RecordedResolution:
        """Return a resolution, with the principal's words if this ledger can read them."""
        recorded = ledger_entries.parse_resolution(entry)
        if not isinstance(recorded, UnreadableAnswer):
            return recorded
        words = self._words.read(words_key(pending.reference))
        if isinstance(words, MissingWordsReason):
            return replace(recorded, reason=words)
        resolution: FreeText | Dialogue = ledger_entries.resolution_from_words(recorded, words)
        if not ledger_entries.is_entry_of(entry, resolution):
            raise StoreAltered("The stored words of a principal are not what they wrote.")
        return resolution


def _opened_key(decision: str) -> str:
    return f"opened:{decision}"


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer with its channel, its principal, its signer and the approval that came before it."""

    resolution: Resolution
    channel: str
    principal: str
    sign: Signer | None
    first: Approval | None = None


def _require_signer(pending: PendingDecision, answer: _Answer) -> Signer | None:
    """Return the signer of an answer, or None. Raises ``UnsignedAnswer`` if a signature is required and missing."""
    if pending.signed and answer.sign is None:
        raise UnsignedAnswer(
            "Only a signed answer counts for this decision, and this ledger does not sign.",
            hint="Answer with `emitter resolve --sign KEY` (or `serve --sign KEY`), or a Ledger(sign=...).",
        )
    return answer.sign


def _with_expiry(pending: PendingDecision, end: Entry | None) -> PendingDecision:
    """Return a decision, with its recorded expiry or withdrawal if there is one."""
    if end is None or not ledger_entries.is_expired_entry(end):
        return pending
    return replace(pending, expiry_recorded=True, withdrawn=ledger_entries.is_withdrawn_entry(end))


def _expired_error(end: Entry | None) -> DecisionExpired:
    if end is not None and ledger_entries.is_withdrawn_entry(end):
        return DecisionExpired("The agent withdrew the decision.", hint="No answer to it has an effect any more.")
    return DecisionExpired("The decision has expired.", hint="Ask again.")


def _check_same_decision(opened: PendingDecision, requested: PendingDecision, expires_in: float | None) -> None:
    is_same = opened.digest == requested.digest and opened.agent == requested.agent
    if not is_same or opened.actions != requested.actions or opened.four_eyes != requested.four_eyes:
        raise WrongDigest("The id belongs to another envelope or agent, or to other actions.", hint=_OTHER_ID_HINT)
    if opened.expires_at != (None if expires_in is None else opened.opened_at + expires_in):
        raise WrongDigest("The id was opened with another expires_in.", hint=_OTHER_ID_HINT)
