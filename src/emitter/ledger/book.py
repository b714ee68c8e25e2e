"""The ledger's log, added up: which decisions are open, the rates by agent and class, and which are due to be told.

It is a fold over the log, one line after the other, so that each process that reads the log comes to the same.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from heapq import heappop, heappush
from types import NoneType
from typing import TYPE_CHECKING, TypeAlias

from emitter.events import Level, LogAppended
from emitter.ledger.rates import Measure, Rates, Thresholds
from emitter.ledger.records import fits
from emitter.ledger.telling import (
    DETAIL_ASKED,
    EXCEEDED,
    OPENED,
    RESOLVED,
    UNREADABLE,
    UNRESOLVED,
    WORDS_DELETED,
    label,
    unreadable,
)
from emitter.ledger.values import Outcome, words_name
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emitter.wire import Json

Scope: TypeAlias = tuple[str, str | None]
"""An agent and a class of decisions, or None for all of its classes together."""

_ABOUT = {"digest": (str,), "agent": (str,), "decisionClass": (str,)}
_TYPES: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    OPENED: {
        **_ABOUT,
        "expiresAt": (int, float, NoneType),
        "calibrationNote": (bool,),
        "suppressedHatches": (list,),
    },
    RESOLVED: {**_ABOUT, "outcome": (str,)},
    UNRESOLVED: _ABOUT,
    DETAIL_ASKED: {"number": (int,)},
    WORDS_DELETED: {"entry": (str,)},
    EXCEEDED: {"line": (int,), "measure": (str,)},
    UNREADABLE: {"reference": (str,)},
}
_COUNTED = {Outcome.FREE_TEXT.value: "free_texts", Outcome.DIALOGUE.value: "question_vetoes"}


@dataclass(slots=True)
class Open:
    """A decision that is open: what lines say of it, and whether somebody was asked who did not decide."""

    about: Mapping[str, Json]
    unanswered: bool = False


@dataclass(frozen=True, slots=True)
class Due:
    """A warning that is to be told once: ``name`` is the same to every process, ``decision`` made it due."""

    name: str
    decision: str
    told: LogAppended


@dataclass(slots=True)
class Book:
    """What the log comes to, up to the line numbered ``last``."""

    thresholds: Thresholds
    last: int = -1
    open: dict[str, Open] = field(default_factory=dict[str, Open])
    due: dict[str, Due] = field(default_factory=dict[str, Due])
    _counts: dict[Scope, Counter[str]] = field(default_factory=dict[Scope, "Counter[str]"])
    _vetoed: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    _exceeded: set[tuple[Scope, Measure]] = field(default_factory=set[tuple[Scope, Measure]])
    _ends: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    _refusals: dict[str, None] = field(default_factory=dict[str, None])
    _words: dict[str, tuple[float, str]] = field(default_factory=dict[str, tuple[float, str]])

    def add(self, documents: Iterable[Mapping[str, Json]]) -> None:
        """Add the lines that follow on ``last``; one that is not the ledger's own changes nothing.

        Neither does one whose members are not what the ledger writes; that it is there is to be told once.
        """
        readers = {OPENED: self._open, RESOLVED: self._resolve, UNRESOLVED: self._leave, EXCEEDED: self._told}
        readers |= {UNREADABLE: self._skipped, DETAIL_ASKED: self._detail, WORDS_DELETED: self._words_deleted}
        for document in documents:
            self.last = int(document["sequence"])
            payload = mapping(document["payload"])
            message, told = str(payload.get("message")), mapping(payload.get("fields"))
            if message in readers:
                reader = readers[message] if fits(told, _TYPES[message]) else self._skip
                reader(str(document["causationId"]), told)

    def overdue(self, at: float) -> str | None:
        """Return an open decision whose time is over, if there is one."""
        while self._ends and self._ends[0][0] <= at:
            decision = self._ends[0][1]
            if decision in self.open:
                return decision
            heappop(self._ends)
        return None

    def words_due(self, at: float) -> tuple[tuple[str, str], ...]:
        """Return the names of the words whose time is over, each with its decision."""
        return tuple((name, decision) for name, (until, decision) in self._words.items() if until <= at)

    def words_gone(self, name: str) -> None:
        """Note that the words under a name were deleted."""
        self._words.pop(name, None)

    def refusals(self) -> tuple[str, ...]:
        """Return the decisions whose question was refused, whoever asked it, the latest first."""
        return tuple(reversed(self._refusals))

    def vetoed(self, agent: str) -> Mapping[str, str]:
        """Return the envelopes of an agent whose question was refused, by digest, and by which decision each was."""
        return dict(self._vetoed.get(agent, {}))

    def rates(self, agent: str | None, decision_class: str | None) -> Rates:
        """Return the rates of an agent and a class; None is for all of them."""
        wanted = None if decision_class is None else label(decision_class)
        found: Counter[str] = Counter()
        for (who, kind), counts in self._counts.items():
            if kind is not None and agent in (None, who) and wanted in (None, kind):
                found += counts
        return Rates(**found)

    def _open(self, decision: str, told: Mapping[str, Json]) -> None:
        about = {name: told[name] for name in ("digest", "agent", "decisionClass")}
        self.open[decision] = Open(about)
        if told["expiresAt"] is not None:
            heappush(self._ends, (told["expiresAt"], decision))
        noted, closed = bool(told["calibrationNote"]), bool(told["suppressedHatches"])
        self._count(decision, told, {"opened": 1, "calibration_notes": noted, "suppressed_hatches": closed})

    def _resolve(self, decision: str, told: Mapping[str, Json]) -> None:
        known, name = self.open.pop(decision, None), _COUNTED.get(told["outcome"])
        if told["outcome"] == Outcome.DIALOGUE.value:
            self._vetoed.setdefault(told["agent"], {}).setdefault(told["digest"], decision)
            self._refusals[decision] = None
        self._keep(words_name(decision), decision, told)
        is_settled = known is not None and known.unanswered
        self._count(decision, told, {"resolved": 1, "settled": not is_settled, **({name: 1} if name else {})})

    def _detail(self, decision: str, told: Mapping[str, Json]) -> None:
        self._keep(words_name(decision, told["number"]), decision, told)

    def _keep(self, name: str, decision: str, told: Mapping[str, Json]) -> None:
        until: object = told.get("wordsUntil")
        if isinstance(until, int | float):
            self._words[name] = (until, decision)

    def _words_deleted(self, _: str, told: Mapping[str, Json]) -> None:
        self.words_gone(told["entry"])

    def _leave(self, decision: str, told: Mapping[str, Json]) -> None:
        known = self.open.get(decision)
        if known is not None and not known.unanswered:
            known.unanswered = True
            self._count(decision, told, {"unanswered": 1, "settled": 1})
        if told.get("expired"):
            self.open.pop(decision, None)

    def _skip(self, decision: str, _: Mapping[str, Json]) -> None:
        told = unreadable(decision, self.last)
        self.due[_unread(told.fields)] = Due(_unread(told.fields), decision, told)

    def _skipped(self, _: str, told: Mapping[str, Json]) -> None:
        self.due.pop(_unread(told), None)

    def _told(self, _: str, told: Mapping[str, Json]) -> None:
        self.due.pop(_name(told), None)

    def _count(self, decision: str, told: Mapping[str, Json], more: Mapping[str, int]) -> None:
        agent = str(told["agent"])
        scopes: tuple[Scope, Scope] = (agent, str(told["decisionClass"])), (agent, None)
        for scope in scopes:
            self._counts.setdefault(scope, Counter()).update(more)
        for scope in scopes:
            self._weigh(decision, scope, Rates(**self._counts[scope]))

    def _weigh(self, decision: str, scope: Scope, rates: Rates) -> None:
        """See which rates have come to their thresholds, and which are below them again.

        All classes of an agent together are told of only where none of them alone has been: so that nobody is below
        every threshold by giving each decision a class of its own.
        """
        for measure in Measure:
            key = (scope, measure)
            if not self.thresholds.is_exceeded(rates, measure):
                self._exceeded.discard(key)
            elif key not in self._exceeded:
                told = _warning(scope, measure, rates, self.thresholds, self.last)
                if scope[1] is not None or not self._is_told(scope[0], measure):
                    self.due[_name(told.fields)] = Due(_name(told.fields), decision, told)
                self._exceeded.add(key)

    def _is_told(self, agent: str, measure: Measure) -> bool:
        return any(each == measure and who == agent for (who, _), each in self._exceeded)


def _warning(scope: Scope, measure: Measure, rates: Rates, thresholds: Thresholds, line: int) -> LogAppended:
    agent, decision_class = scope
    known: dict[str, Json] = {} if decision_class is None else {"decisionClass": decision_class}
    told: dict[str, Json] = {
        "agent": agent,
        **known,
        "measure": measure.value,
        "rate": rates.rate(measure),
        "count": rates.count(measure),
        "of": rates.of(measure),
        "threshold": thresholds.threshold(measure),
        "line": line,
    }
    return LogAppended(Level.WARN, EXCEEDED, told)


def _unread(told: Mapping[str, Json]) -> str:
    return f"{told.get('line')}:unreadable"


def _name(told: Mapping[str, Json]) -> str:
    """Return what names a warning: the line of the log that made it due, the measure, and whether it is of a class."""
    return f"{told['line']}:{told['measure']}:{'class' if 'decisionClass' in told else 'agent'}"
