"""Attempts and events as JSON, and back: the only place that knows both forms."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, get_args

from pydantic import TypeAdapter

from emitter.events import Event, Level, Reason, RunEvent
from emitter.judge import Verdict
from emitter.kinds import Trust
from emitter.schema import Violation
from emitter.steps import Attempt
from emitter.wire import Fault, Report, Usage, mapping, sequence

if TYPE_CHECKING:
    from emitter.wire import Json

_NAMES: dict[str, Any] = {
    "Fault": Fault,
    "Json": Any,
    "Level": Level,
    "Mapping": Mapping,
    "Reason": Reason,
    "Report": Report,
    "Usage": Usage,
    "Verdict": Verdict,
    "Violation": Violation,
}
"""What the annotations of the records name; their modules import some of it for type checkers alone."""

_COMMON = ("run_id", "node_id", "causation_id")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    adapter.rebuild(_types_namespace=_NAMES)
    return adapter


def of_attempts(attempts: tuple[Attempt, ...]) -> Json:
    """Return the attempts as JSON."""
    return [_adapter(Attempt).dump_python(each, mode="json", exclude_defaults=True) for each in attempts]


def to_attempts(given: Json) -> tuple[Attempt, ...]:
    """Return the attempts that ``of_attempts`` wrote; raises ``ValueError`` for anything else."""
    return tuple(_adapter(Attempt).validate_python(each) for each in sequence(given))


def of_events(events: tuple[RunEvent, ...]) -> Json:
    """Return the events as JSON; what they have in common stands once."""
    common = {each: getattr(events[0], each) for each in _COMMON} if events else {}
    return {**common, "told": [_of_event(each) for each in events]}


def to_events(given: Json) -> tuple[RunEvent, ...]:
    """Return the events that ``of_events`` wrote; raises ``ValueError`` for anything else."""
    members = dict(mapping(given))
    told = sequence(members.pop("told", None))
    if told and set(members) != set(_COMMON):
        raise ValueError("the events have no run")
    return tuple(_to_event(each, members, at) for at, each in enumerate(told))


@cache
def _kinds() -> dict[str, Any]:
    return {each.type: each for each in get_args(Event)}


def _of_event(told: RunEvent) -> Json:
    payload = _adapter(_kinds()[told.type]).dump_python(told.event, mode="json")
    trust = [] if told.content_trust is None else [told.content_trust.value]
    return [told.event_id, told.timestamp, told.type, payload, *trust]


def _to_event(given: Json, common: dict[str, Json], sequence: int) -> RunEvent:
    event_id, timestamp, kind, payload, *trust = given
    if kind not in _kinds():
        raise ValueError("an event is of no kind that is known")
    event = _adapter(_kinds()[kind]).validate_python(payload)
    trusted = Trust(trust[0]) if trust else None
    told = {"event_id": event_id, "timestamp": timestamp, "content_trust": trusted}
    return RunEvent(event=event, sequence=sequence, **told, **common)
