"""What a replay must tell again, by event type: the one table of it.

What the table does not name must be the same, in every event, those of types that nobody here knows included:
a field that a later release adds is compared from the day it is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from emitter.events import (
    EnvelopeRefusal,
    EnvelopeTruncated,
    LogAppended,
    ModelCapabilitySubstituted,
    NodeFailed,
    ProviderUsage,
    RecoveryApplied,
    ReplayDiverged,
    ReplayDivergedAtRefusal,
    RetryAttempted,
    RetryExhausted,
)

if TYPE_CHECKING:
    from emitter.wire import Json

REPLAY_DIVERGED_AT_REFUSAL: Final = "replay_diverged_at_refusal"
"""The code with which a replay fails that was refused where the run was not, or the other way round."""

REDACTED: Final = "[REDACTED"
"""How a text begins to say that something was struck out of it."""


@dataclass(frozen=True, slots=True)
class Fields:
    """How the fields of one event type are compared; what stands in none of the three must be the same JSON value.

    ``exact`` must be spelled alike, to the byte: 2 is not 2.0. ``fading`` may be null on one side, or differ by
    what was struck out, since a host may redact more or less than it did. ``free`` are not compared, at any depth.
    """

    exact: frozenset[str] = frozenset()
    fading: frozenset[str] = frozenset()
    free: frozenset[str] = frozenset()


BY_NATURE: Final = frozenset(
    {
        *("eventId", "runId", "sourceRunId", "parentRunId", "childRunId", "recordedEventIds"),
        *("envelopeId", "correlationId", "causationId", "interruptId"),
        *("timestamp", "ts", "durationMs", "elapsedMs", "delayMs"),
        *("traceId", "spanId", "traceparent", "engineVersion"),
    }
)
"""Ids, times and versions: they differ between any two runs, and are compared in no event, at any depth."""

_COST = frozenset({"totalTokens", "costEstimateUsd", "currency", "cacheHit", "cacheReadTokens", "cacheWriteTokens"})
_WORDS = frozenset({"message"})

TABLE: Final[Mapping[str, Fields]] = {
    RetryAttempted.type: Fields(fading=frozenset({"previousError"})),
    RetryExhausted.type: Fields(exact=frozenset({"totalAttempts"}), fading=frozenset({"finalError"})),
    EnvelopeRefusal.type: Fields(fading=frozenset({"refusalText"})),
    EnvelopeTruncated.type: Fields(exact=frozenset({"outputTokenCount"})),
    RecoveryApplied.type: Fields(exact=frozenset({"path"})),
    ProviderUsage.type: Fields(exact=frozenset({"inputTokens", "outputTokens"}), free=_COST),
    ModelCapabilitySubstituted.type: Fields(fading=frozenset({"fallbackProvider", "fallbackModel"})),
    # the code is the contract; the sentence is for people, and may be worded anew
    NodeFailed.type: Fields(free=_WORDS),
    "run.failed": Fields(free=_WORDS),
    "node.retried": Fields(free=_WORDS),
    "node.suspend-failed": Fields(free=_WORDS),
}

_PLAIN = Fields()

_NOT_OF_THE_RUN = frozenset(
    {
        *(ReplayDiverged.type, ReplayDivergedAtRefusal.type),
        *("lease.acquired", "lease.renewed", "lease.lost", "lease.handed-off"),
        *("run.paused", "run.resumed", "run.resuming", "run.restored-from-snapshot"),
    }
)
"""What tells how the run was carried out, or what a replay found: no replay tells it again."""

_OF_A_CALL = frozenset({"attempt", "fault"})


def compared(kind: str, payload: Mapping[str, Json]) -> bool:
    """Tell whether a replay must tell such an event again.

    Of log lines those count whose message is one word, as the kinds' and the codes' are: a sentence is for people,
    and a line about a call (``attempt``, ``fault``) depends on how the network was that day.
    """
    if kind == LogAppended.type:
        return not _OF_A_CALL.intersection(members(payload.get("fields"))) and _is_word(payload.get("message"))
    own = kind == NodeFailed.type and members(payload.get("error")).get("code") == REPLAY_DIVERGED_AT_REFUSAL
    return not own and kind not in _NOT_OF_THE_RUN


def agree(kind: str, original: Mapping[str, Json], replayed: Mapping[str, Json]) -> bool:
    """Tell whether two payloads of one event type say the same, as far as it must be the same. Null is absent."""
    fields = TABLE.get(kind, _PLAIN)
    free = BY_NATURE | fields.free
    for name in {*original, *replayed} - free:
        one, other = original.get(name), replayed.get(name)
        if same(one, other, free):
            if name in fields.exact and type(one) is not type(other):
                return False
        elif name not in fields.fading or not (_faded(one) or _faded(other)):
            return False
    return True


def members(value: Json) -> Mapping[str, Json]:
    """Return ``value`` where it is an object of whatever class, else an empty one."""
    return cast("Mapping[str, Json]", value) if isinstance(value, Mapping) else {}


def same(one: Json, other: Json, free: frozenset[str] = frozenset()) -> bool:
    """Tell whether two JSON values are the same, but for the members ``free``: 1 is 1.0, and true is not 1."""
    todo = [(one, other)]
    while todo:
        first, second = todo.pop()
        if isinstance(first, Mapping):
            ones, others = members(first), members(second)
            names = ones.keys() - free
            if not isinstance(second, Mapping) or names != others.keys() - free:
                return False
            todo.extend((ones[name], others[name]) for name in names)
        elif isinstance(first, list | tuple):
            if not isinstance(second, list | tuple) or len(_items(first)) != len(_items(second)):
                return False
            todo.extend(zip(_items(first), _items(second), strict=True))
        elif not _same_scalar(first, second):
            return False
    return True


def _faded(value: Json) -> bool:
    return value is None or (isinstance(value, str) and REDACTED in value)


def _same_scalar(one: Json, other: Json) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    # what is no number to itself (NaN) is no JSON, but two of them are no difference either
    return bool(one == other or (one != one and other != other))  # noqa: PLR0124


def _items(value: Json) -> list[Json]:
    return cast("list[Json]", value)


def _is_word(message: Json) -> bool:
    return isinstance(message, str) and message != "" and not any(each.isspace() for each in message)
