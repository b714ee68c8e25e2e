"""Compare a replayed run with the original, and report the first divergence of each chain of events.

A chain is every event of one node with one ``causationId``.

Source: ai-envelope.md, "Envelope-reliability events" (replay determinism); RFC 0027 §F (``divergencePoint``);
RFC 0041 §B (refusals).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, cast

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
    RunEvent,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from emitter.messages import Json

    Agreement: TypeAlias = "Callable[[LoggedEvent, LoggedEvent], bool]"

REPLAY_DIVERGED_AT_REFUSAL: Final = "replay_diverged_at_refusal"
"""The terminal code of a replay if either the run or the replay was refused, but not both."""
REDACTION_PREFIX: Final = "[REDACTED"
"""The start of a redaction in a string."""


@dataclass(frozen=True, slots=True)
class FieldRules:
    """The fields of one event type that are not simply compared as JSON.

    ``exact`` fields must have the same type too: 2 is not 2.0. ``redactable`` fields may be null on one side, or
    contain redactions, because a host may redact more or less than before. ``ignored`` fields are not compared.
    """

    exact: frozenset[str] = frozenset()
    redactable: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()


VOLATILE_FIELDS: Final = frozenset(
    {
        *("eventId", "runId", "sourceRunId", "parentRunId", "childRunId", "recordedEventIds"),
        *("envelopeId", "correlationId", "causationId", "interruptId"),
        *("timestamp", "ts", "durationMs", "elapsedMs", "delayMs"),
        *("traceId", "spanId", "traceparent", "engineVersion"),
    }
)
"""Ids, times and versions. They differ between any two runs and are never compared, at any depth."""
_COST_FIELDS = frozenset(
    {"totalTokens", "costEstimateUsd", "currency", "cacheHit", "cacheReadTokens", "cacheWriteTokens"}
)
_MESSAGE_FIELDS = frozenset({"message"})
FIELD_RULES: Final[Mapping[str, FieldRules]] = {
    RetryAttempted.type: FieldRules(redactable=frozenset({"previousError"})),
    RetryExhausted.type: FieldRules(exact=frozenset({"totalAttempts"}), redactable=frozenset({"finalError"})),
    EnvelopeRefusal.type: FieldRules(redactable=frozenset({"refusalText"})),
    EnvelopeTruncated.type: FieldRules(exact=frozenset({"outputTokenCount"})),
    RecoveryApplied.type: FieldRules(exact=frozenset({"path"})),
    ProviderUsage.type: FieldRules(exact=frozenset({"inputTokens", "outputTokens"}), ignored=_COST_FIELDS),
    ModelCapabilitySubstituted.type: FieldRules(redactable=frozenset({"fallbackProvider", "fallbackModel"})),
    # The code is the contract; the message is for people, and its words may change.
    NodeFailed.type: FieldRules(ignored=_MESSAGE_FIELDS),
    "run.failed": FieldRules(ignored=_MESSAGE_FIELDS),
    "node.retried": FieldRules(ignored=_MESSAGE_FIELDS),
    "node.suspend-failed": FieldRules(ignored=_MESSAGE_FIELDS),
}
_DEFAULT_RULES = FieldRules()
_IGNORED_TYPES = frozenset(
    {
        *(ReplayDiverged.type, ReplayDivergedAtRefusal.type),
        *("lease.acquired", "lease.renewed", "lease.lost", "lease.handed-off"),
        *("run.paused", "run.resumed", "run.resuming", "run.restored-from-snapshot"),
    }
)
"""Events about the execution of a run, and those that report divergences."""
_CALL_FIELDS = frozenset({"attempt", "fault"})


def is_compared(kind: str, payload: Mapping[str, Json]) -> bool:
    """Return whether a replay must repeat such an event.

    Only log lines whose message is a single word count, such as a kind or a code. Sentences are for people, and lines
    about a call (``attempt``, ``fault``) depend on the network.
    """
    if kind == LogAppended.type:
        message: Json = payload.get("message")
        is_word = isinstance(message, str) and message != "" and not any(map(str.isspace, message))
        return is_word and not _CALL_FIELDS.intersection(as_mapping(payload.get("fields")))
    if kind == NodeFailed.type and as_mapping(payload.get("error")).get("code") == REPLAY_DIVERGED_AT_REFUSAL:
        return False
    return kind not in _IGNORED_TYPES


def payloads_match(kind: str, original: Mapping[str, Json], replayed: Mapping[str, Json]) -> bool:
    """Return whether two payloads of one event type agree. Null is the same as absent."""
    fields = FIELD_RULES.get(kind, _DEFAULT_RULES)
    ignored = VOLATILE_FIELDS | fields.ignored
    for name in {*original, *replayed} - ignored:
        one, other = original.get(name), replayed.get(name)
        if json_equal(one, other, ignored):
            if name in fields.exact and type(one) is not type(other):
                return False
        elif name not in fields.redactable or not (_is_redacted(one) or _is_redacted(other)):
            return False
    return True


def as_mapping(value: Json) -> Mapping[str, Json]:
    """Return ``value`` if it is a mapping of any class, else an empty one."""
    return cast("Mapping[str, Json]", value) if isinstance(value, Mapping) else {}


def json_equal(one: Json, other: Json, ignored: frozenset[str] = frozenset()) -> bool:
    """Return whether two JSON values are equal apart from ``ignored`` members: 1 equals 1.0, but not true."""
    pairs = [(one, other)]
    while pairs:
        first, second = pairs.pop()
        if isinstance(first, Mapping):
            ones, others = as_mapping(first), as_mapping(second)
            names = ones.keys() - ignored
            if not isinstance(second, Mapping) or names != others.keys() - ignored:
                return False
            pairs.extend((ones[name], others[name]) for name in names)
        elif isinstance(first, list | tuple):
            if not isinstance(second, list | tuple) or len(_as_list(first)) != len(_as_list(second)):
                return False
            pairs.extend(zip(_as_list(first), _as_list(second), strict=True))
        elif not _scalars_equal(first, second):
            return False
    return True


def _is_redacted(value: Json) -> bool:
    return value is None or (isinstance(value, str) and REDACTION_PREFIX in value)


def _scalars_equal(first: Json, second: Json) -> bool:
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    # NaN is not equal to itself, but two NaNs are no difference.
    return bool(first == second or (first != first and second != second))  # noqa: PLR0124


def _as_list(value: Json) -> list[Json]:
    return cast("list[Json]", value)


ChainKey: TypeAlias = "str | None"
Group = TypeVar("Group")


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """One event of a log; ``sequence`` is its position there unless the document has a valid one."""

    sequence: int
    type: str
    document: Mapping[str, Json]

    @property
    def payload(self) -> Mapping[str, Json]:
        """The payload, or an empty one if it is not an object."""
        return as_mapping(self.document.get("payload"))

    def matches(self, other: LoggedEvent) -> bool:
        """Return whether ``other`` is a repetition of this event."""
        return (
            self.type == other.type
            and json_equal(_get_content_trust(self), _get_content_trust(other))
            and json_equal(_get_scalar_payload(self), _get_scalar_payload(other))
            and payloads_match(self.type, self.payload, other.payload)
        )


Chain: TypeAlias = "list[LoggedEvent]"
Nodes: TypeAlias = "dict[ChainKey, dict[ChainKey, Chain]]"
Runs: TypeAlias = "dict[ChainKey, Nodes]"


def group_events(log: Iterable[Mapping[str, Json]]) -> Runs:
    """Return the chains of a log by run, node and cause, each in the order of its sequence."""
    runs: Runs = {}
    for event in sorted(_iter_comparable(log), key=lambda event: event.sequence):
        run, node, cause = get_chain_key(event)
        runs.setdefault(run, {}).setdefault(node, {}).setdefault(cause, []).append(event)
    return runs


def get_chain_key(event: LoggedEvent) -> tuple[ChainKey, ChainKey, ChainKey]:
    """Return run, node and cause; the run's id is removed from the start of the cause."""
    run = get_non_empty_string(event.document.get("runId"))
    cause = get_non_empty_string(event.document.get("causationId"))
    if run is not None and cause is not None:
        cause = cause.removeprefix(f"{run}:")
    node = get_non_empty_string(event.document.get("nodeId")) or get_non_empty_string(event.payload.get("nodeId"))
    return run, node, cause


def pair_groups(
    originals: Mapping[ChainKey, Group], replays: Mapping[ChainKey, Group]
) -> Iterator[tuple[Group | None, Group | None]]:
    """Yield pairs of the same name, then the others in their order; None if there is no counterpart."""
    others = deque(group for name, group in replays.items() if name not in originals)
    for name, group in originals.items():
        yield group, replays[name] if name in replays else (others.popleft() if others else None)
    for group in others:
        yield None, group


def get_non_empty_string(value: Json) -> ChainKey:
    """Return ``value`` if it is a string with content."""
    return value if isinstance(value, str) and value else None


def _iter_comparable(log: Iterable[Mapping[str, Json]]) -> Iterator[LoggedEvent]:
    for position, entry in enumerate(log):
        document = as_mapping(entry)
        kind = get_non_empty_string(document.get("type")) or ""
        if is_compared(kind, as_mapping(document.get("payload"))):
            sequence: Json = document.get("sequence")
            is_valid = isinstance(sequence, int) and not isinstance(sequence, bool) and sequence >= 0
            yield LoggedEvent(sequence if is_valid else position, kind, document)


def _get_content_trust(event: LoggedEvent) -> Json:
    """Return the trust of the event; the default is trusted, as in an envelope."""
    return event.document.get("contentTrust") or "trusted"


def _get_scalar_payload(event: LoggedEvent) -> Json:
    """Return the payload if it is not an object, which the document allows."""
    payload: Json = event.document.get("payload")
    return None if isinstance(payload, Mapping) else payload


_REFUSAL_CODE = "envelope_refusal"


class DivergenceKind(str, Enum):
    """The kind of a difference."""

    OUTPUT = "output"
    MISSING = "missing"
    EXTRA = "extra"
    TYPE_MISMATCH = "type-mismatch"


class _AnswerKind(str, Enum):
    """The kind of the model's answer."""

    VALID = "valid"
    REFUSAL = "refusal"


@dataclass(frozen=True, slots=True)
class Divergence:
    """A divergence as an event, with the node and cause of the replay to record it under."""

    event: ReplayDiverged | ReplayDivergedAtRefusal
    node_id: str | None = None
    causation_id: str | None = None


def find_divergence_events(
    original: Iterable[Mapping[str, Json] | RunEvent], replayed: Iterable[Mapping[str, Json] | RunEvent]
) -> tuple[ReplayDiverged | ReplayDivergedAtRefusal, ...]:
    """Return the events that report where a replay diverged; see ``find_divergences``."""
    return tuple(divergence.event for divergence in find_divergences(original, replayed))


def find_divergences(
    original: Iterable[Mapping[str, Json] | RunEvent], replayed: Iterable[Mapping[str, Json] | RunEvent]
) -> tuple[Divergence, ...]:
    """Return the first divergence of each chain of events, in the order of the original log.

    Only events are compared. The content of an envelope counts if a handler adds it to an event. Nodes are matched by
    id, and chains by ``causationId`` without the run's id; chains with random ids are matched by their order. No
    content of a log raises.

    ``at_sequence`` is the position in the original log of the event that was not repeated, or where an extra one was
    recorded. If only one side was refused, the event is ``ReplayDivergedAtRefusal``, and the replay must fail with
    ``REPLAY_DIVERGED_AT_REFUSAL``.

    Args:
        original: The log of the run: events, or RunEventDocs as ``Store.events`` returns them.
        replayed: The log of the replay.
    """
    divergences: list[Divergence] = []
    for one, other in pair_groups(group_events(map(_to_document, original)), group_events(map(_to_document, replayed))):
        divergences.extend(sorted(_compare_runs(one or {}, other or {}), key=lambda found: found.event.at_sequence))
    return tuple(divergences)


def _to_document(event: Mapping[str, Json] | RunEvent) -> Mapping[str, Json]:
    return event.to_json() if isinstance(event, RunEvent) else event


def _compare_runs(original: Nodes, replayed: Nodes) -> Iterator[Divergence]:
    source, end = _get_source_run(original) or _get_source_run(replayed) or "unknown", _get_end_sequence(original)
    for node in {**original, **replayed}:
        for one, other in pair_groups(original.get(node, {}), replayed.get(node, {})):
            event = _ChainPair(one or [], other or [], source, end).find_divergence()
            if event is not None:
                yield Divergence(event, node, _get_causation_id(other or one or []))


@dataclass(frozen=True, slots=True)
class _ChainPair:
    """A chain and its replay; ``source`` is the original run, ``end`` the position after its last event."""

    original: Sequence[LoggedEvent]
    replayed: Sequence[LoggedEvent]
    source: str
    end: int

    def find_divergence(self) -> ReplayDiverged | ReplayDivergedAtRefusal | None:
        """Return the first divergence as an event, if there is one."""
        at = _find_first_difference(self.original, self.replayed)
        if at is None:
            return None
        was, now = _get_answer_kind(self.original), _get_answer_kind(self.replayed)
        if was is not None and now is not None and was is not now:
            at = _find_refusal(self.original, at)
            sequence, event_id = self.get_sequence(at), self.get_event_id(at)
            return ReplayDivergedAtRefusal(self.source, sequence, was.value, now.value, event_id)
        kind, sequence = _classify_divergence(self.original[at:], self.replayed[at:]), self.get_sequence(at)
        if kind is DivergenceKind.EXTRA:
            return ReplayDiverged(self.source, sequence, kind.value, self.replayed[at].type)
        return ReplayDiverged(self.source, sequence, kind.value, self.original[at].type, self.get_event_id(at))

    def get_sequence(self, at: int) -> int:
        """Return the position of event ``at`` in the run's log, or where it would have been."""
        if at < len(self.original):
            return self.original[at].sequence
        return self.original[-1].sequence + 1 if self.original else self.end

    def get_event_id(self, at: int) -> str | None:
        """Return the id of event ``at``, if it has one."""
        return get_non_empty_string(self.original[at].document.get("eventId")) if at < len(self.original) else None


def _find_first_difference(original: Sequence[LoggedEvent], replayed: Sequence[LoggedEvent]) -> int | None:
    """Return the index of the first event that was not repeated, or is extra."""
    for at, (one, other) in enumerate(zip_longest(original, replayed)):
        if one is None or other is None or not one.matches(other):
            return at
    return None


def _classify_divergence(original: Sequence[LoggedEvent], replayed: Sequence[LoggedEvent]) -> DivergenceKind:
    """Return the simplest kind that explains the rest of two chains."""
    if not original or _is_subsequence(original, replayed[1:], LoggedEvent.matches):
        return DivergenceKind.EXTRA
    if not replayed or _is_subsequence(replayed, original[1:], LoggedEvent.matches):
        return DivergenceKind.MISSING
    if original[0].type == replayed[0].type:
        return DivergenceKind.OUTPUT
    if _is_subsequence(replayed, original[1:], _same_type):
        return DivergenceKind.MISSING
    return DivergenceKind.EXTRA if _is_subsequence(original, replayed[1:], _same_type) else DivergenceKind.TYPE_MISMATCH


def _is_subsequence(subsequence: Sequence[LoggedEvent], sequence: Sequence[LoggedEvent], matches: Agreement) -> bool:
    """Return whether all of ``subsequence`` are in ``sequence``, in their order."""
    rest = iter(sequence)
    return all(any(matches(event, other) for other in rest) for event in subsequence)


def _same_type(first: LoggedEvent, second: LoggedEvent) -> bool:
    return first.type == second.type


def _get_answer_kind(chain: Sequence[LoggedEvent]) -> _AnswerKind | None:
    """Return the kind of the answer; None after another failure, or if there are only log lines."""
    if any(event.type == EnvelopeRefusal.type or _get_error_code(event) == _REFUSAL_CODE for event in chain):
        return _AnswerKind.REFUSAL
    failed = any(event.type in (NodeFailed.type, RetryExhausted.type) for event in chain)
    return None if failed or all(event.type == LogAppended.type for event in chain) else _AnswerKind.VALID


def _get_error_code(event: LoggedEvent) -> Json:
    return as_mapping(event.payload.get("error")).get("code") if event.type == NodeFailed.type else None


def _find_refusal(chain: Sequence[LoggedEvent], default: int) -> int:
    """Return the index of the refusal in the chain, or ``default`` if only the replay was refused."""
    return next((at for at, event in enumerate(chain) if event.type == EnvelopeRefusal.type), default)


def _get_source_run(nodes: Nodes) -> ChainKey:
    return next((get_chain_key(event)[0] for event in _iter_events(nodes)), None)


def _get_end_sequence(nodes: Nodes) -> int:
    return max((event.sequence + 1 for event in _iter_events(nodes)), default=0)


def _iter_events(nodes: Nodes) -> Iterator[LoggedEvent]:
    return (event for chains in nodes.values() for chain in chains.values() for event in chain)


def _get_causation_id(chain: Sequence[LoggedEvent]) -> ChainKey:
    return next((get_non_empty_string(event.document.get("causationId")) for event in chain), None)
