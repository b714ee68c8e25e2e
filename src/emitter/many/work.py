"""One emission of a run, from the situation to the item: asked of the vendor, or read from the journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic

from emitter.door.plan import plan
from emitter.door.result import done
from emitter.errors import InputError, JournalFailed
from emitter.kinds import AIEnvelope
from emitter.many.item import Item, R
from emitter.many.job import Job, job
from emitter.many.journal import Record, about, digest
from emitter.many.limit import Turn
from emitter.many.sending import Ended, Sent
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.conversation import Situation
    from emitter.door.form import Wanted
    from emitter.door.plan import Plan
    from emitter.door.result import Done
    from emitter.door.settings import Settings
    from emitter.events import RunEvent
    from emitter.many.journal import About, Journal
    from emitter.many.limit import Gate
    from emitter.many.tally import Tally
    from emitter.steps import Outcome

_UNSTAMPED = frozenset({"type", "payload"})


@dataclass(frozen=True, slots=True)
class Asking(Generic[R]):
    """What is asked, and how the result is made."""

    wanted: Wanted
    finish: Callable[[Done], R]


@dataclass(frozen=True, slots=True)
class Work(Generic[R]):
    """What is asked every time, with which settings, and how the result is made.

    ``probe`` is the plan of a situation that stands for any: what is wrong with the settings is wrong with it.
    ``deciding`` returns what is asked by a job with a past or actions of its own, where there can be some.
    """

    wanted: Wanted
    settings: Settings
    finish: Callable[[Done], R]
    probe: Plan
    deciding: Callable[[Job], Asking[R]] | None = None

    @property
    def about(self) -> About:
        """What all answers of the run have in common."""
        return about(self.wanted, self.settings, self.probe)

    def asked(self, given: Job) -> Asking[R]:
        """Return what is asked of one job."""
        if not given.after and not given.actions:
            return Asking(self.wanted, self.finish)
        if self.deciding is None:
            raise InputError("after and actions of a Job are for decisions.", hint="Use emit_binding_moments.")
        return self.deciding(given)


def work(
    wanted: Wanted,
    settings: Settings,
    finish: Callable[[Done], R],
    deciding: Callable[[Job], Asking[R]] | None = None,
) -> Work[R]:
    """Return the work of a run; raises ``InputError`` or ``Uncompilable`` for what could never be asked."""
    kept = replace(settings, materials=tuple(settings.shown()))
    return Work(wanted, kept, finish, plan(wanted, "…", kept), deciding)


@dataclass(frozen=True, slots=True)
class Begun(Generic[R]):
    """A situation that was taken up: its plan, or why it has none, and how its result is made.

    ``asked`` is the digest of what is asked of it, where there is a journal to write it to.
    """

    index: int
    key: str | None
    situation: Situation | Job
    settings: Settings
    plan: Plan | Exception
    finish: Callable[[Done], R]
    asked: str | None = None


@dataclass(slots=True)
class Desk(Generic[R]):
    """Where the emissions of one run are made, one after the other or at once."""

    work: Work[R]
    gate: Gate
    client: object
    tally: Tally
    journal: Journal | None
    unwritten: JournalFailed | None = None
    """Why the journal could not be written, once it could not."""
    _before: Counter[str] = field(default_factory=Counter[str])

    def begin(self, index: int, situation: Situation | Job) -> Begun[R]:
        """Plan an emission; a situation that cannot be asked about is an item of its own."""
        settings = self.work.settings
        try:
            given = job(situation)
            if isinstance(given.situation, Iterator):
                given = replace(given, situation=list(given.situation))
            asked = None if self.journal is None else digest(given)
            node = f"{self.work.probe.node_id}.{index}"
            settings = replace(settings, materials=(*settings.materials, *given.materials), node_id=node)
            asking = self.work.asked(given)
            planned = plan(asking.wanted, given.situation, settings)
            key = self._key(given, asked)
        except Exception as error:  # noqa: BLE001  the caller's objects may raise anything when they are read
            key = situation.key if isinstance(situation, Job) else None
            return Begun(index, key, situation, settings, error, self.work.finish)
        return Begun(index, key, situation, settings, planned, asking.finish, asked)

    async def item(self, begun: Begun[R]) -> Item[R]:
        """Return what an emission comes to. What the vendor was paid for is in the journal before."""
        known = self.known(begun)
        if known is not None:
            return known
        try:
            outcome = await self._asked(begun)
        except Exception as error:  # noqa: BLE001  one failure never loses the others
            outcome = error
        return Item(begun.index, begun.key, begun.situation, outcome)

    def _key(self, given: Job, asked: str | None) -> str | None:
        """Return what the journal knows a job by: the caller's key, or its digest and how often it came before."""
        if asked is None:
            return given.key
        key = given.key or asked
        if self.work.settings.host.rules.secrets.json(key).value != key:
            raise InputError(
                "A job's key holds a registered secret, and keys are written to the journal.",
                hint="Give the job a key without it.",
            )
        before = self._before[key]
        self._before[key] += 1
        if given.key is None:
            return f"{key}#{before}"
        if before:
            raise InputError(f"The key {key!r} was given before.", hint="Give each job a key of its own.")
        return key

    def known(self, begun: Begun[R]) -> Item[R] | None:
        """Return the item that the journal holds, if today's schema and checks still take its answer."""
        planned = begun.plan
        record = None
        if self.journal is not None and begun.key is not None and not isinstance(planned, Exception):
            record = self.journal.find(begun.key)
        if record is None or isinstance(planned, Exception):
            return None
        outcome = record.outcome
        if outcome.failure is None:
            outcome = replace(outcome, document=begun.settings.host.rules.secrets.json(outcome.document).value)
            reading = planned.ask.contract.accept(outcome.document)
            if reading.violations or reading.raised is not None:
                return None
            kind, payload = planned.enclosing.enclose(reading.value, outcome.document)
            envelope = AIEnvelope.model_validate({**mapping(record.stamps), "type": kind, "payload": payload})
            outcome = replace(outcome, value=reading.value, envelope=envelope)
        result = _finished(begun, Ended(outcome, record.events))
        stale = record.asked is not None and record.asked != begun.asked
        if stale:
            self.tally.stale_keys.append(str(begun.key))
        return Item(begun.index, begun.key, begun.situation, result, replayed=True, stale=stale)

    def concluded(self, begun: Begun[R], came: Outcome | Exception, events: tuple[RunEvent, ...]) -> Item[R]:
        """Return the item of an emission that was asked for by a batch, and keep it."""
        outcome: R | Exception
        if isinstance(came, Exception) or isinstance(begun.plan, Exception):
            outcome = came if isinstance(came, Exception) else RuntimeError("There was nothing to ask for.")
        else:
            self.tally.spent(came)
            over = Ended(came, events)
            outcome = _finished(begun, over)
            self._keep(begun, over, outcome)
        return Item(begun.index, begun.key, begun.situation, outcome)

    async def _asked(self, begun: Begun[R]) -> R | Exception:
        planned = begun.plan
        if isinstance(planned, Exception):
            return planned
        sent = Sent(planned, begun.settings, Turn(self.gate), self.tally)
        try:
            over = await sent.run(self.client)
        except BaseException:
            if sent.ended is not None:
                self._keep(begun, sent.ended, None)
            raise
        result = _finished(begun, over)
        self._keep(begun, over, result)
        return result

    def _keep(self, begun: Begun[R], over: Ended, result: Any) -> None:
        if self.journal is None or begun.key is None:
            return
        stamps = None
        if over.outcome.failure is None and not isinstance(result, Exception):
            stamps = {name: each for name, each in result.envelope.to_json().items() if name not in _UNSTAMPED}
        try:
            self.journal.add(Record(begun.key, over.outcome, over.events, stamps, begun.asked))
        except JournalFailed as error:  # what was paid for is handed out all the same
            self.unwritten = error


def _finished(begun: Begun[R], over: Ended) -> R | Exception:
    try:
        return begun.finish(done(over.outcome, over.events))
    except Exception as error:  # noqa: BLE001  it is the item's
        return error
