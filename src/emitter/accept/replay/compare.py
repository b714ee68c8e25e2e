"""Where a replay goes another way than the run, and how: the first divergence of each chain.

What comes after the first is its consequence, and told once it is noise; so a chain tells one divergence, and
another chain, which no cause ties to it, tells its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeAlias

from emitter.accept.replay.chains import Told, keys, paired, runs, text
from emitter.accept.replay.fields import members
from emitter.events import EnvelopeRefusal, LogAppended, NodeFailed, ReplayDiverged, ReplayDivergedAtRefusal, RunEvent
from emitter.events import RetryExhausted as Exhausted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from emitter.accept.replay.chains import Key, Nodes
    from emitter.wire import Json

    Agreement: TypeAlias = Callable[[Told, Told], bool]

_REFUSED = "envelope_refusal"


class DivergenceKind(str, Enum):
    """In what a replay differs: an event says something else, is not there, is one more, or is another event."""

    OUTPUT = "output"
    MISSING = "missing"
    EXTRA = "extra"
    TYPE_MISMATCH = "type-mismatch"


class _Envelope(str, Enum):
    """What the model gave, where that can be told."""

    VALID = "valid"
    REFUSAL = "refusal"


@dataclass(frozen=True, slots=True)
class Divergence:
    """The event that tells of a divergence, and of which node and cause of the replay it is to be told."""

    event: ReplayDiverged | ReplayDivergedAtRefusal
    node_id: str | None = None
    causation_id: str | None = None


def diverged(
    original: Iterable[Mapping[str, Json] | RunEvent], replayed: Iterable[Mapping[str, Json] | RunEvent]
) -> tuple[ReplayDiverged | ReplayDivergedAtRefusal, ...]:
    """Return the events that tell where a replay left the run; see ``divergences``."""
    return tuple(each.event for each in divergences(original, replayed))


def divergences(
    original: Iterable[Mapping[str, Json] | RunEvent], replayed: Iterable[Mapping[str, Json] | RunEvent]
) -> tuple[Divergence, ...]:
    """Return the first divergence of every chain of events that two logs tell differently, in the original's order.

    Both are events, or RunEventDocs as ``Store.events`` returns them. What is compared is what was told: what an
    envelope held is no part of it, unless a handler tells it. A chain is all that was told of one node with one
    ``causationId``. Nodes are matched by id, chains by ``causationId`` without the run's id before it, and those
    whose ids were made up at random by their order. Nothing that a log may hold raises.

    ``at_sequence`` is the place in the original's log: of the event that was not told again, or where one more was
    told. A refusal on one side only is told as ``ReplayDivergedAtRefusal``, and the replay must then fail with
    ``REPLAY_DIVERGED_AT_REFUSAL``.
    """
    found: list[Divergence] = []
    for one, other in paired(runs(map(_document, original)), runs(map(_document, replayed))):
        found.extend(sorted(_of_run(one or {}, other or {}), key=lambda each: each.event.at_sequence))
    return tuple(found)


def _document(told: Mapping[str, Json] | RunEvent) -> Mapping[str, Json]:
    return told.to_json() if isinstance(told, RunEvent) else told


def _of_run(original: Nodes, replayed: Nodes) -> Iterator[Divergence]:
    source, end = _source(original) or _source(replayed) or "unknown", _end(original)
    for node in {**original, **replayed}:
        for one, other in paired(original.get(node, {}), replayed.get(node, {})):
            pair = _Pair(one or [], other or [], source, end)
            event = pair.event()
            if event is not None:
                yield Divergence(event, node, _cause(other or one or []))


@dataclass(frozen=True, slots=True)
class _Pair:
    """A chain and its replay; ``source`` is the original run, ``end`` the place behind all of its events."""

    original: Sequence[Told]
    replayed: Sequence[Told]
    source: str
    end: int

    def event(self) -> ReplayDiverged | ReplayDivergedAtRefusal | None:
        """Return what tells of the first divergence, if there is one."""
        at = _first(self.original, self.replayed)
        if at is None:
            return None
        was, now = _envelope(self.original), _envelope(self.replayed)
        if was is not None and now is not None and was is not now:
            place = _refusal(self.original, at)
            return ReplayDivergedAtRefusal(self.source, self.sequence(place), was.value, now.value, self.id(place))
        kind = _kind(self.original[at:], self.replayed[at:])
        if kind is DivergenceKind.EXTRA:
            return ReplayDiverged(self.source, self.sequence(at), kind.value, self.replayed[at].type)
        return ReplayDiverged(self.source, self.sequence(at), kind.value, self.original[at].type, self.id(at))

    def sequence(self, at: int) -> int:
        """Return where in the run's log the chain's event ``at`` stands, or one more would have stood."""
        if at < len(self.original):
            return self.original[at].sequence
        return self.original[-1].sequence + 1 if self.original else self.end

    def id(self, at: int) -> str | None:
        """Return the id of the chain's event ``at``, if there is one and it has one."""
        return text(self.original[at].doc.get("eventId")) if at < len(self.original) else None


def _first(original: Sequence[Told], replayed: Sequence[Told]) -> int | None:
    """Return the place of the first event that was not told again, or is one more."""
    for at, (one, other) in enumerate(zip_longest(original, replayed)):
        if one is None or other is None or not one.agrees(other):
            return at
    return None


def _kind(original: Sequence[Told], replayed: Sequence[Told]) -> DivergenceKind:
    """Say what happened where two chains part: the simplest that explains the rest."""
    if not original or _within(original, replayed[1:], Told.agrees):
        return DivergenceKind.EXTRA
    if not replayed or _within(replayed, original[1:], Told.agrees):
        return DivergenceKind.MISSING
    if original[0].type == replayed[0].type:
        return DivergenceKind.OUTPUT
    if _within(replayed, original[1:], _alike):
        return DivergenceKind.MISSING
    return DivergenceKind.EXTRA if _within(original, replayed[1:], _alike) else DivergenceKind.TYPE_MISMATCH


def _within(few: Sequence[Told], many: Sequence[Told], fits: Agreement) -> bool:
    """Tell whether all of ``few`` are among ``many``, in their order."""
    rest = iter(many)
    return all(any(fits(each, other) for other in rest) for each in few)


def _alike(one: Told, other: Told) -> bool:
    return one.type == other.type


def _envelope(chain: Sequence[Told]) -> _Envelope | None:
    """Return what the model gave; None where it failed in another way, or nothing but log lines was told."""
    if any(each.type == EnvelopeRefusal.type or _code(each) == _REFUSED for each in chain):
        return _Envelope.REFUSAL
    failed = any(each.type in (NodeFailed.type, Exhausted.type) for each in chain)
    return None if failed or all(each.type == LogAppended.type for each in chain) else _Envelope.VALID


def _code(told: Told) -> Json:
    return members(told.payload.get("error")).get("code") if told.type == NodeFailed.type else None


def _refusal(chain: Sequence[Told], otherwise: int) -> int:
    """Return the place of the refusal in the chain; where the replay alone was refused, where they part."""
    places = (at for at, each in enumerate(chain) if each.type == EnvelopeRefusal.type)
    return next(places, otherwise)


def _source(nodes: Nodes) -> Key:
    return next((keys(told)[0] for told in _all(nodes)), None)


def _end(nodes: Nodes) -> int:
    return max((told.sequence + 1 for told in _all(nodes)), default=0)


def _all(nodes: Nodes) -> Iterator[Told]:
    return (told for chains in nodes.values() for chain in chains.values() for told in chain)


def _cause(chain: Sequence[Told]) -> Key:
    return next((text(told.doc.get("causationId")) for told in chain), None)
