"""An answer as JSON, and back."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from emitter.wire import Fault, FaultKind, Reply, Report, Stop, Usage, mapping, sequence

if TYPE_CHECKING:
    from emitter.wire import Answer, Json

_REPLY, _FAULT = "reply", "fault"


def of_answer(answer: Answer) -> Json:
    """Return an answer as JSON."""
    members = _members(answer)
    if answer.usage is not None:
        members["usage"] = _members(answer.usage)
    if answer.report is not None:
        members["report"] = {**_members(answer.report), "cause": None}
    if isinstance(answer, Reply):
        return {_REPLY: {**members, "stop": answer.stop.value, "arguments": list(answer.arguments)}}
    return {_FAULT: {**members, "kind": answer.kind.value}}


def _members(value: Any) -> dict[str, Json]:
    return {each.name: getattr(value, each.name) for each in fields(value)}


def to_answer(given: Json) -> Answer:
    """Return the answer that ``of_answer`` wrote; raises ``ValueError`` for anything else."""
    try:
        return _reply(mapping(given)[_REPLY]) if _REPLY in mapping(given) else _fault(mapping(given)[_FAULT])
    except (KeyError, TypeError) as error:
        raise ValueError("it holds no answer") from error


def _reply(given: Json) -> Reply:
    members: dict[str, Any] = {**given, "stop": Stop(given["stop"]), "usage": _usage(given["usage"])}
    members |= {"arguments": tuple(sequence(given["arguments"])), "report": _report(given.get("report"))}
    return Reply(**members)


def _fault(given: Json) -> Fault:
    members: dict[str, Any] = {**given, "kind": FaultKind(given["kind"]), "usage": _usage(given["usage"])}
    members["report"] = _report(given.get("report"))
    return Fault(**members)


def _report(given: Json) -> Report | None:
    return None if given is None else Report(**given)


def _usage(given: Json) -> Usage | None:
    return None if given is None else Usage(**given)
