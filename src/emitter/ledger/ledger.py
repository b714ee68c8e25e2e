"""The ledger itself: decisions are opened, resolved once, and counted."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from emitter.decide import Hold, Selected, Unanswered, Unresolved, continue_after, digest
from emitter.errors import (
    AlreadyResolved,
    BadResolution,
    DecisionExpired,
    InputError,
    StoreAltered,
    StoreFailed,
    Tampered,
    UnknownDecision,
    UnsignedAnswer,
    WrongDigest,
)
from emitter.ledger import details, records, taking, telling
from emitter.ledger.log import Log, closing, deleted, noted
from emitter.ledger.rates import DEFAULT_THRESHOLDS
from emitter.ledger.values import Outcome, Pending, Resolved, Unspoken, reference, words_name
from emitter.ledger.vetoes import MOST_COMPARED, MOST_VETOES, Posed, Veto
from emitter.ledger.words import KeepWords, Unkept, words_in
from emitter.sinks import new_id
from emitter.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from emitter.decide import Dialogue, FreeText, Resolution
    from emitter.decide.digest import AnswerCheck
    from emitter.events import LogAppended
    from emitter.kinds import BindingMoment
    from emitter.ledger.details import DetailRequest
    from emitter.ledger.rates import Rates, Thresholds
    from emitter.ledger.values import Known
    from emitter.sinks import Sink
    from emitter.store import Entry, Store

_REMEMBERED: Final = 1024
"""How many words of a principal this process keeps in memory, the latest."""
DEFAULT_WORDS: Final = KeepWords()
_OTHERWISE: Final = "Open it under another id."


def check_answer(check: AnswerCheck, statement: str, signature: str | None) -> None:
    """Raise ``UnsignedAnswer`` where an answer has no signature that holds."""
    try:
        check(statement, signature)
    except Tampered as error:
        raise UnsignedAnswer(
            f"{error.args[0]} It authorizes nothing.",
            hint="Make a new call, and have it answered with `emitter resolve --sign KEY` or by a Ledger(sign=...).",
        ) from None


class Ledger:
    """Decisions by id, each of which is resolved at most once, in whichever thread or process.

    All is kept in ``store`` (in memory where None). ``clock`` returns seconds since 1970; processes that share a
    store should agree on it. ``sink`` is told each event of this process's doing, once it stands in the ledger's
    log; what it raises is a ``RuntimeWarning``, so that nobody loses by it what was recorded. ``thresholds`` say from
    which rates on a warning is told. ``words`` says how the principal's words are kept, so that an agent in another
    process can read them: as plain text for a week unless you pass another ``KeepWords``; with None they are kept in
    this process's memory only. ``sign`` signs each answer that is resolved here, for whoever gives it, and ``check``
    looks at the signature of each that is read: ``signer(key)`` and ``checker(*keys).answered_by`` of
    ``emitter.authority.signing``. Without ``check`` whoever can write into the store can forge an answer. Raises
    ``InputError`` for what is none of these.
    """

    __slots__ = ("_check", "_heard", "_log", "_sign", "_vetoes", "_words")

    def __init__(  # noqa: PLR0913  every one has a default
        self,
        store: Store | None = None,
        *,
        clock: Callable[[], float] = time.time,
        sink: Sink | None = None,
        thresholds: Thresholds = DEFAULT_THRESHOLDS,
        words: KeepWords | None = DEFAULT_WORDS,
        sign: Callable[[str], str] | None = None,
        check: AnswerCheck | None = None,
    ) -> None:
        if words is not None and not isinstance(words, KeepWords):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError("words is a KeepWords, or None to keep no words.")
        taking.parts(store, clock, sink, thresholds, deletes=words is not None)
        self._sign = taking.optional("sign=", sign)
        self._check = taking.optional("check=", check)
        self._log = Log(MemoryStore() if store is None else store, clock, sink, thresholds)
        self._words = words
        self._heard: OrderedDict[str, tuple[str, float | None]] = OrderedDict()
        self._vetoes: dict[str, Veto | None] = {}

    @property
    def words(self) -> KeepWords | None:
        """How the principal's words are kept; None where they are not."""
        return self._words

    def open(  # noqa: PLR0913  most have a default
        self,
        moment: BindingMoment,
        *,
        agent: str = "agent",
        decision_id: str | None = None,
        expires_in: float | None = None,
        actions: Sequence[str | None] = (),
        after: Iterable[str] = (),
    ) -> Pending:
        """Open a decision, and return it; opened before under the same id, it is returned as it was then.

        That is ``Pending`` too where it was resolved meanwhile: see ``find`` for how it stands. ``decision_id`` is one
        that nobody can guess where None. ``expires_in`` is in seconds, of at most a hundred years, None for ever.
        ``actions`` are the digests of what the options would do, one an option, each of them None for nothing.
        ``after`` are the ids of refused decisions whose objection this envelope takes up.

        Raises ``AlreadyResolved`` where the principal refused this question before, whichever agent asked it (section
        6.2 of the draft): stem and options are the same word for word, whatever their order, case and punctuation,
        and so are the actions. The latest 256 vetoes of the last 30 days are looked at, and without a limit those of
        this agent on this very envelope. A refused question may be asked again with its decision in ``after``, in an
        envelope that has changed and leaves the veto on the question open. A question that only resembles a refused
        one is opened, and a warning is told: see ``resembles``.

        Raises ``WrongDigest`` where the id is another envelope's, agent's, time's or other actions',
        ``UnknownDecision`` for an id in ``after`` that nobody opened, and ``InputError`` for what cannot be opened.
        """
        asked = taking.envelope(moment)
        named = taking.named("decision_id", new_id() if decision_id is None else decision_id)
        by, span = taking.named("agent", agent), taking.span(expires_in)
        told = taking.actions(actions, asked)
        wanted = Pending(named, digest(asked), asked, by, 0.0, None, told, signed=self._check is not None)
        taken_up = frozenset(self._opened(each).reference for each in taking.ids("after", after))
        if self._log.find(_opening(wanted.reference)) is None:
            self._refuse_again(wanted, taken_up)

        def make(at: float) -> tuple[Entry, Iterable[LogAppended]]:
            made = replace(wanted, opened_at=at, expires_at=None if span is None else at + span)
            return records.opened(made), telling.opened(made)

        kept = self._log.once(_opening(wanted.reference), make, wanted.reference)
        found = records.pending(kept.entry)
        _check_same(found, wanted, span)
        if kept.first:
            self._warn_of_likeness(found, taken_up)
            return found
        return _standing(found, self._end_of(found))

    def resembles(self, pending: Pending) -> tuple[Resolved, ...]:
        """Return the refused decisions whose question reads like this one's, the latest first.

        Likeness compares words, not meanings, and can be wrong: take it as a reason to look at the objection.
        """
        posed = Posed(pending)
        like = (each.pending for each in self._known_vetoes()[:MOST_COMPARED] if each.resembles(posed))
        found = (self.find(each.decision_id) for each in like if each != pending)
        return tuple(each for each in found if isinstance(each, Resolved))

    def find(self, decision_id: str) -> Pending | Resolved:
        """Return a decision as it stands; raises ``UnknownDecision``.

        One whose time is over is still ``Pending``, and ``ended``: that is recorded, and stays so. A free text
        or an objection has the principal's words, whichever process it was given to, as long as they are kept: see
        ``words``. ``Unspoken`` stands for words that this ledger cannot read. Raises ``StoreAltered`` for words that
        are not those of the resolution, and ``UnsignedAnswer`` where this ledger checks signatures and the answer has
        none that holds.
        """
        pending = self._opened(decision_id)
        entry = self._end_of(pending)
        if entry is None or records.is_expired(entry):
            return _standing(pending, entry)
        self._check_signed(entry, pending)
        return _resolved(pending, entry, self._known(pending, entry), repeated=True)

    def forget_words(self, decision_id: str) -> None:
        """Delete what the principal wrote about a decision, from the store and from this process, at once.

        Which of the three the answer was stays, and a hash by which the same answer is known again.
        """
        decision = self._opened(decision_id).reference
        for name in (words_name(decision), *(words_name(decision, each) for each in self._details(decision))):
            self._heard.pop(name, None)
            self._log.delete_words(name, decision)

    def pending(self) -> tuple[Pending, ...]:
        """Return the decisions that are open and whose time is not over, the oldest first.

        One that the store does not hold as it was opened is left out, and told of once.
        """
        found = (self._readable(each) for each in self._log.open())
        return tuple(each for each in found if each is not None)

    def vetoed(self, agent: str) -> frozenset[str]:
        """Return the digests of an agent's envelopes whose question was refused, in whichever process.

        It SHALL NOT put them again (section 6.2 of the draft): ``open`` refuses them.
        """
        return frozenset(self._log.vetoed(taking.looked_for("agent", agent)))

    def resolve(self, decision_id: str, resolution: Resolution, *, channel: str = "") -> Resolved:
        """Resolve a decision, once; the same resolution again changes nothing and is ``repeated``.

        ``channel`` says by which way the answer came. What was recorded is returned, whatever a sink raises. Raises
        ``UnknownDecision``, ``WrongDigest``, ``NoSuchOption``, ``HatchClosed``, ``BadResolution``,
        ``DecisionExpired``, ``UnsignedAnswer`` where this ledger checks signatures and it has none that holds, and
        ``AlreadyResolved`` where it was resolved otherwise before; then nothing has changed.
        """
        pending, via = self._opened(decision_id), taking.named("channel", channel, least=0)
        if isinstance(continue_after(resolution, pending.moment), Hold):
            raise BadResolution("That nobody decided resolves nothing.", hint="Tell it with unresolved().")

        def make(at: float) -> tuple[Entry, Iterable[LogAppended]]:
            if pending.is_over(at):
                return records.expired(at), (telling.expired(telling.about(pending)),)
            if pending.signed and self._sign is None:
                raise UnsignedAnswer(
                    "Only a signed answer counts for this decision, and this ledger signs none. Nothing was recorded.",
                    hint="Answer with `emitter resolve --sign KEY` (or `serve --sign KEY`), or a Ledger(sign=...).",
                )
            entry = records.resolved(resolution, at, via)
            entry = entry if self._sign is None else records.signed(entry, pending, self._sign)
            self._check_signed(entry, pending)  # before anything stands
            until = None if isinstance(resolution, Selected) else self._keep(decision, records.said(resolution), at)
            return entry, (telling.resolved(pending, Outcome.of(resolution), via, until),)

        decision = words_name(pending.reference)
        kept = self._log.keep(closing(pending.reference), make, pending.reference)
        records.check_closed(kept.entry, pending)
        is_over = records.is_expired(kept.entry)
        is_said = not is_over and (kept.first or records.tells_of(kept.entry, resolution))
        if is_said and not isinstance(resolution, Selected):
            self._hear(decision, records.said(resolution), kept.entry.outcome["resolvedAt"])
        self._log.tell(kept)
        if is_over:
            raise DecisionExpired("The time in which the decision could be resolved is over.", hint="Ask again.")
        if not is_said:
            raise AlreadyResolved("The decision was resolved otherwise before.", hint="See how with find().")
        self._check_signed(kept.entry, pending)
        return _resolved(pending, kept.entry, resolution, repeated=not kept.first)

    def ask_detail(self, decision_id: str, topic: str = "", *, channel: str = "") -> DetailRequest:
        """Ask the agent for detail, as the envelope offers; this resolves nothing, and the decision stays open.

        Args:
            decision_id: A decision that is open.
            topic: What the principal wants to know more about; empty for all of it. It is kept as their words are.
            channel: By which way the request came.

        Returns:
            The request. The same topic, asked again before it is answered, is the same request.

        Raises:
            UnknownDecision: No decision has this id.
            AlreadyResolved: The decision is resolved.
            DecisionExpired: The decision's time is over.
            BadResolution: The topic is too long, or 20 requests were made.
        """
        wanted, via = taking.topic(topic), taking.named("channel", channel, least=0)
        pending = self._waiting(decision_id)
        for number in range(1, details.MOST_REQUESTS + 1):
            name = words_name(pending.reference, number)

            def make(at: float, number: int = number, name: str = name) -> tuple[Entry, Iterable[LogAppended]]:
                until = self._keep(name, wanted, at)
                return details.requested(at, via), (telling.detail_asked(pending, number, via, until),)

            kept = self._log.once(details.asking(pending.reference, number), make, pending.reference)
            if kept.first:
                self._hear(name, wanted, details.requested_at(kept.entry))
            found = self._detail(pending, number, kept.entry)
            if kept.first or (found.is_open and found.topic == wanted):
                return found
        raise BadResolution("No more detail can be asked for on this decision.", hint="Answer it, or object to it.")

    def detail_requests(self, decision_id: str | None = None) -> tuple[DetailRequest, ...]:
        """Return the requests for detail on a decision, with their answers, in the order in which they were made.

        Without an id, return those of all open decisions that nobody has answered yet. Raises ``UnknownDecision``.
        """
        if decision_id is not None:
            return self._details_of(self._opened(decision_id))
        return tuple(each for pending in self.pending() for each in self._details_of(pending) if each.is_open)

    def answer_detail(self, decision_id: str, number: int, answer: object) -> DetailRequest:
        """Answer a request for detail; the decision stays open.

        Args:
            decision_id: A decision that is open.
            number: The request's number, counted from 1.
            answer: A text, or a value that pydantic can write as JSON. It is kept as the envelope is: not encrypted.

        Returns:
            The request, with its answer.

        Raises:
            UnknownDecision: No decision has this id, or no such request was made.
            AlreadyResolved: The decision is resolved, or the request was answered otherwise before.
            DecisionExpired: The decision's time is over.
            InputError: The answer cannot be written as JSON, or is too long.
        """
        given = taking.detail(answer)
        pending = self._waiting(decision_id)
        request = self._log.find(details.asking(pending.reference, number)) if type(number) is int else None
        if request is None:
            raise UnknownDecision("No detail of this number was asked for.", hint="See Ledger.detail_requests().")

        def make(at: float) -> tuple[Entry, Iterable[LogAppended]]:
            return details.answered(given, at), (telling.detail_answered(pending, number),)

        kept = self._log.once(details.answering(pending.reference, number), make, pending.reference)
        if details.answer_in(kept.entry) != given:
            raise AlreadyResolved("This request for detail was answered otherwise before.")
        return self._detail(pending, number, request)

    def unresolved(self, decision_id: str, reason: Unanswered, *, channel: str = "") -> Unresolved:
        """Record that nobody decided, for a reason and by a channel once; the decision stays open.

        A decision whose time is over timed out, whatever the reason. Raises ``UnknownDecision``, ``BadResolution``
        for what is no reason, and ``AlreadyResolved`` where somebody did decide.
        """
        pending, via = self._opened(decision_id), taking.named("channel", channel, least=0)
        why, decision = taking.reason(reason), pending.reference
        self._log.follow()
        end = self._end_of(pending)
        if end is not None:
            if records.is_expired(end):
                return Unresolved(pending.digest, Unanswered.TIMEOUT)
            raise AlreadyResolved("Somebody did decide.", hint="See how with find().")
        line = telling.unresolved(telling.about(pending), why, via)
        self._log.once(f"unresolved:{decision}:{why.value}:{via}", partial(noted, line), decision)
        return Unresolved(pending.digest, why)

    def rates(self, agent: str | None = None, decision_class: str | None = None) -> Rates:
        """Return how often vetoes, notes and closed hatches were met, of an agent and a class; None is for all.

        Decisions without a class are counted as those of the class ``""``.
        """
        for name, given in {"agent": agent, "decision_class": decision_class}.items():
            if given is not None:
                taking.looked_for(name, given)
        return self._log.rates(agent, decision_class)

    def _opened(self, decision_id: str) -> Pending:
        entry = self._log.find(_opening(reference(taking.looked_for("decision_id", decision_id))))
        if entry is None:
            raise UnknownDecision(
                "No decision was opened under this id.", hint="Open it with open(), in the same store."
            )
        return records.pending(entry)

    def _end_of(self, pending: Pending) -> Entry | None:
        entry = self._log.find(closing(pending.reference))
        if entry is None and pending.is_over(self._log.now()):
            self._log.follow()  # which records that the time is over
            entry = self._log.find(closing(pending.reference))
        return None if entry is None else records.check_closed(entry, pending)

    def _check_signed(self, entry: Entry, pending: Pending) -> None:
        """Raise ``UnsignedAnswer`` where signatures are checked, and none holds."""
        if self._check is not None:
            check_answer(self._check, records.statement_in(entry, pending), records.signature(entry))

    def _readable(self, decision: str) -> Pending | None:
        entry = self._log.find(_opening(decision))
        try:
            return None if entry is None else records.pending(entry)
        except StoreFailed:
            self._log.once(f"unreadable:{decision}", partial(noted, telling.unreadable(decision)), decision)
            return None

    def _waiting(self, decision_id: str) -> Pending:
        """Return a decision that is open; raises ``AlreadyResolved`` and ``DecisionExpired``."""
        pending = self._opened(decision_id)
        self._log.follow()
        end = self._end_of(pending)
        if end is not None and not records.is_expired(end):
            raise AlreadyResolved("The decision is resolved.", hint="See how with find().")
        if end is not None or pending.is_over(self._log.now()):
            raise DecisionExpired("The time in which the decision could be resolved is over.", hint="Ask again.")
        return pending

    def _refuse_again(self, wanted: Pending, taken_up: frozenset[str]) -> None:
        """Raise ``AlreadyResolved`` for a question that was refused, unless its objection is taken up."""
        refusal = self._log.vetoed(wanted.agent).get(wanted.digest)
        posed = Posed(wanted)
        repeated = [each.pending for each in self._known_vetoes() if each.repeats(posed)]
        if refusal is None and repeated:
            is_changed = all(each.digest != wanted.digest for each in repeated)
            is_taken_up = is_changed and repeated[0].reference in taken_up
            if not is_taken_up or not wanted.moment.question.hatches.dialogue:
                refusal = repeated[0].reference
        if refusal is None:
            return
        line = telling.reasked(wanted, refusal)
        self._log.once(f"reasked:{wanted.reference}", partial(noted, line), wanted.reference)
        known = self._readable(refusal)
        decision_id = "" if known is None else known.decision_id
        raise AlreadyResolved(
            f"The principal refused this very question, in the decision {decision_id!r}.",
            decision_id=decision_id,
            hint="Read their objection with find() and ask another question. To ask the same one again, change the "
            "envelope so that it takes the objection up, leave both hatches open, and name the decision in after=.",
        )

    def _warn_of_likeness(self, opened: Pending, taken_up: frozenset[str]) -> None:
        posed = Posed(opened)
        for each in self._known_vetoes()[:MOST_COMPARED]:
            refusal = each.pending.reference
            if refusal not in taken_up and each.resembles(posed):
                line = telling.resembles(opened, refusal)
                self._log.once(f"resembles:{opened.reference}", partial(noted, line), opened.reference)
                return

    def _known_vetoes(self) -> list[Veto]:
        """Return the vetoes that stand, of whichever agent, the latest first."""
        latest = self._log.refusals()[:MOST_VETOES]
        if not latest:
            return []
        now = self._log.now()
        known = {each: self._vetoes[each] if each in self._vetoes else self._veto(each) for each in latest}
        self._vetoes = known
        return [each for each in known.values() if each is not None and each.stands(now)]

    def _veto(self, decision: str) -> Veto | None:
        """Return a veto; None where the store does not hold it as it was written, which is told of elsewhere."""
        pending = self._readable(decision)
        try:
            end = None if pending is None else self._end_of(pending)
        except StoreFailed:
            return None
        return None if pending is None or end is None else Veto(Posed(pending), end.outcome.get("resolvedAt", 0.0))

    def _details(self, decision: str) -> Iterator[int]:
        """Yield the numbers of the requests for detail that were made."""
        for number in range(1, details.MOST_REQUESTS + 1):
            if self._log.find(details.asking(decision, number)) is None:
                return
            yield number

    def _details_of(self, pending: Pending) -> tuple[DetailRequest, ...]:
        found = (
            (each, self._log.find(details.asking(pending.reference, each))) for each in self._details(pending.reference)
        )
        return tuple(self._detail(pending, number, entry) for number, entry in found if entry is not None)

    def _detail(self, pending: Pending, number: int, entry: Entry) -> DetailRequest:
        topic = self._read(words_name(pending.reference, number))
        answer = self._log.find(details.answering(pending.reference, number))
        return details.request(pending.decision_id, number, topic, entry, answer)

    def _keep(self, name: str, words: str, at: float) -> float | None:
        """Keep words under a name, and return until when; None for ever, or where they are not kept."""
        if self._words is None:
            return None
        self._log.write_words(name, self._words.entry(name, words, at))
        return self._words.until(at)

    def _read(self, name: str) -> str | Unkept:
        """Return the words under a name, or why they cannot be read."""
        now = self._log.now()
        words, until = self._heard.get(name, (None, None))
        if words is not None and (until is None or now < until):
            return words
        self._heard.pop(name, None)
        entry = self._log.find(name)
        if entry is None:
            return Unkept.NOT_KEPT if self._log.find(deleted(name)) is None else Unkept.DELETED
        return words_in(entry, name, None if self._words is None else self._words.key, now)

    def _known(self, pending: Pending, entry: Entry) -> Known:
        """Return a resolution with the principal's words, where this ledger can read them."""
        known = records.known(entry)
        if not isinstance(known, Unspoken):
            return known
        words = self._read(words_name(pending.reference))
        if isinstance(words, Unkept):
            return replace(known, why=words)
        found: FreeText | Dialogue = records.spoken(known, words)
        if not records.tells_of(entry, found):
            raise StoreAltered("What the store keeps of a principal's words is not what they wrote.")
        return found

    def _hear(self, name: str, words: str, at: float) -> None:
        self._heard[name] = words, None if self._words is None else self._words.until(at)
        while len(self._heard) > _REMEMBERED:
            self._heard.popitem(last=False)


def _opening(decision: str) -> str:
    return f"opened:{decision}"


def _resolved(pending: Pending, entry: Entry, known: Known, *, repeated: bool) -> Resolved:
    at, channel = entry.outcome["resolvedAt"], str(entry.outcome["channel"])
    return Resolved(pending, known, at, channel, repeated=repeated, signature=records.signature(entry))


def _standing(pending: Pending, end: Entry | None) -> Pending:
    """Return a decision with whether its time stands recorded as over."""
    return replace(pending, ended=True) if end is not None and records.is_expired(end) else pending


def _check_same(found: Pending, wanted: Pending, span: float | None) -> None:
    if (found.digest, found.agent, found.actions) != (wanted.digest, wanted.agent, wanted.actions):
        raise WrongDigest("The id is another envelope's, another agent's, or goes with other actions.", hint=_OTHERWISE)
    if found.expires_at != (None if span is None else found.opened_at + span):
        raise WrongDigest("The id was opened with another expires_in.", hint=_OTHERWISE)
