"""The ledger itself: decisions are opened, resolved once, and counted."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from emitter.decide import Hold, Unanswered, Unresolved, continue_after, digest
from emitter.errors import (
    AlreadyResolved,
    BadResolution,
    DecisionExpired,
    StoreFailed,
    UnknownDecision,
    WrongDigest,
)
from emitter.ledger import records, taking, telling
from emitter.ledger.log import Log, closing, noted
from emitter.ledger.rates import DEFAULT_THRESHOLDS
from emitter.ledger.values import Outcome, Pending, Resolved, reference
from emitter.sinks import new_id
from emitter.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from emitter.decide import Resolution
    from emitter.events import LogAppended
    from emitter.kinds import BindingMoment
    from emitter.ledger.rates import Rates, Thresholds
    from emitter.sinks import Sink
    from emitter.store import Entry, Store

_REMEMBERED: Final = 1024
"""Resolutions whose words this process still has for ``find``, the latest."""
_OTHERWISE: Final = "Open it under another id."


class Ledger:
    """Decisions by id, each of which is resolved at most once, in whichever thread or process.

    All is kept in ``store`` (in memory where None). ``clock`` returns seconds since 1970; processes that share a
    store should agree on it. ``sink`` is told each event of this process's doing, once it stands in the ledger's
    log; what it raises is a ``RuntimeWarning``, so that nobody loses by it what was recorded. ``thresholds`` say from
    which rates on a warning is told. Raises ``InputError`` for what is none of these.
    """

    __slots__ = ("_heard", "_log")

    def __init__(
        self,
        store: Store | None = None,
        *,
        clock: Callable[[], float] = time.time,
        sink: Sink | None = None,
        thresholds: Thresholds = DEFAULT_THRESHOLDS,
    ) -> None:
        taking.parts(store, clock, sink, thresholds)
        self._log = Log(MemoryStore() if store is None else store, clock, sink, thresholds)
        self._heard: OrderedDict[str, Resolution] = OrderedDict()

    def open(
        self,
        moment: BindingMoment,
        *,
        agent: str = "agent",
        decision_id: str | None = None,
        expires_in: float | None = None,
        actions: Sequence[str | None] = (),
    ) -> Pending:
        """Open a decision, and return it; opened before under the same id, it is returned as it was then.

        That is ``Pending`` too where it was resolved meanwhile: see ``find`` for how it stands. ``decision_id`` is one
        that nobody can guess where None. ``expires_in`` is in seconds, of at most a hundred years, None for ever.
        ``actions`` are the digests of what the options would do, one an option, each of them None for nothing.
        Raises ``WrongDigest`` where the id is another envelope's, agent's, time's or other actions',
        ``AlreadyResolved`` where this agent had the very question refused, under another id (section 6.2 of the
        draft), and ``InputError`` for what cannot be opened.
        """
        asked = taking.envelope(moment)
        named = taking.named("decision_id", new_id() if decision_id is None else decision_id)
        by, span = taking.named("agent", agent), taking.span(expires_in)
        wanted = Pending(named, digest(asked), asked, by, 0.0, None, taking.actions(actions, asked))
        if self._log.find(_opening(wanted.reference)) is None:
            self._refuse_again(wanted)

        def make(at: float) -> tuple[Entry, Iterable[LogAppended]]:
            made = replace(wanted, opened_at=at, expires_at=None if span is None else at + span)
            return records.opened(made), telling.opened(made)

        kept = self._log.once(_opening(wanted.reference), make, wanted.reference)
        found = records.pending(kept.entry)
        _check_same(found, wanted, span)
        return found if kept.first else _standing(found, self._end_of(found))

    def find(self, decision_id: str) -> Pending | Resolved:
        """Return a decision as it stands; raises ``UnknownDecision``.

        One whose time is over is still ``Pending``: see ``Pending.is_over``, which says so from then on. Of a free
        text or an objection the words are there in the process that resolved it, for its latest 1,024; elsewhere
        ``Unspoken`` stands for them.
        """
        pending = self._opened(decision_id)
        entry = self._end_of(pending)
        if entry is None or records.is_expired(entry):
            return _standing(pending, entry)
        return _resolved(pending, entry, self._heard.get(pending.reference), repeated=True)

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
        ``DecisionExpired``, and ``AlreadyResolved`` where it was resolved otherwise before; then nothing has changed.
        """
        pending, via = self._opened(decision_id), taking.named("channel", channel, least=0)
        if isinstance(continue_after(resolution, pending.moment), Hold):
            raise BadResolution("That nobody decided resolves nothing.", hint="Tell it with unresolved().")

        def make(at: float) -> tuple[Entry, Iterable[LogAppended]]:
            if pending.is_over(at):
                return records.expired(at), (telling.expired(telling.about(pending)),)
            return records.resolved(resolution, at, via), (telling.resolved(pending, Outcome.of(resolution), via),)

        kept = self._log.keep(closing(pending.reference), make, pending.reference)
        records.check_closed(kept.entry, pending)
        is_over = records.is_expired(kept.entry)
        is_said = not is_over and (kept.first or records.tells_of(kept.entry, resolution))
        if is_said:
            self._hear(pending.reference, resolution)
        self._log.tell(kept)
        if is_over:
            raise DecisionExpired("The time in which the decision could be resolved is over.", hint="Ask again.")
        if not is_said:
            raise AlreadyResolved("The decision was resolved otherwise before.", hint="See how with find().")
        return _resolved(pending, kept.entry, resolution, repeated=not kept.first)

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
        return None if entry is None else records.check_closed(entry, pending)

    def _readable(self, decision: str) -> Pending | None:
        entry = self._log.find(_opening(decision))
        try:
            return None if entry is None else records.pending(entry)
        except StoreFailed:
            self._log.once(f"unreadable:{decision}", partial(noted, telling.unreadable(decision)), decision)
            return None

    def _refuse_again(self, wanted: Pending) -> None:
        refusal = self._log.vetoed(wanted.agent).get(wanted.digest)
        if refusal is None:
            return
        line = telling.reasked(wanted, refusal)
        self._log.once(f"reasked:{wanted.reference}", partial(noted, line), wanted.reference)
        raise AlreadyResolved(
            "The principal refused this very question.",
            hint="Deliberate, and ask another: continue_after(...) and after= of emit_binding_moment.",
        )

    def _hear(self, decision: str, resolution: Resolution) -> None:
        self._heard[decision] = resolution
        while len(self._heard) > _REMEMBERED:
            self._heard.popitem(last=False)


def _opening(decision: str) -> str:
    return f"opened:{decision}"


def _resolved(pending: Pending, entry: Entry, heard: Resolution | None, *, repeated: bool) -> Resolved:
    at, channel = entry.outcome["resolvedAt"], str(entry.outcome["channel"])
    return Resolved(pending, heard or records.known(entry), at, channel, repeated=repeated)


def _standing(pending: Pending, end: Entry | None) -> Pending:
    """Return a decision with whether its time stands recorded as over."""
    return replace(pending, ended=True) if end is not None and records.is_expired(end) else pending


def _check_same(found: Pending, wanted: Pending, span: float | None) -> None:
    if (found.digest, found.agent, found.actions) != (wanted.digest, wanted.agent, wanted.actions):
        raise WrongDigest("The id is another envelope's, another agent's, or goes with other actions.", hint=_OTHERWISE)
    if found.expires_at != (None if span is None else found.opened_at + span):
        raise WrongDigest("The id was opened with another expires_in.", hint=_OTHERWISE)
