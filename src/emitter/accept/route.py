"""Route: what a host does with each kind, and what it tells of it.

Source: ai-envelope.md, "Universal kinds" and "Run event log integration". A kind that has no handler of the
host's own is told as ``node.completed``, with the kind alone: the ``causationId`` leads to the envelope.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, cast, get_args

from emitter.accept.case import Routed
from emitter.accept.outcome import Code, Invalid
from emitter.errors import InputError
from emitter.events import ClarificationRequested, Event, InterruptRequested, Level, LogAppended, NodeCompleted
from emitter.kinds.universal import CLARIFICATION_REQUEST, ERROR, SCHEMA_REQUEST, SCHEMA_RESPONSE
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.accept.case import Case

EVENTS = get_args(Event)
_MACHINE_READABLE = re.compile(r"[a-z][a-z0-9_.-]{0,127}", re.ASCII)


def route(case: Case) -> Routed | Invalid:
    """Return the case with what its handler tells."""
    own = case.rules.handlers.get(case.envelope.type)
    if own is not None:
        return Routed(case, _events_of(case.envelope.type, own(case.envelope, case.context)))
    return _ROUTES.get(case.envelope.type, _complete)(case)


def _events_of(kind: str, returned: object) -> tuple[Event, ...]:
    told = tuple(cast("Iterable[object]", returned)) if isinstance(returned, Iterable) else (None,)
    if not all(isinstance(each, EVENTS) for each in told):
        wrong = f"The handler of {kind} returned what is no events."
        raise InputError(wrong, hint="Return a list of records of emitter.events, or an empty one.")
    return cast("tuple[Event, ...]", told)


def _complete(case: Case) -> Routed:
    return Routed(case, (NodeCompleted({"envelopeType": case.envelope.type}),))


def _clarify(case: Case) -> Routed | Invalid:
    if not case.rules.clarifications:
        return Invalid(Code.NOT_APPLICABLE, Code.NOT_APPLICABLE.value)
    interrupt, questions = case.received.world.mint(), tuple(sequence(case.envelope.payload["questions"]))
    asked = {name: each for name, each in mapping(case.envelope.payload).items() if name != "reasoning"}
    lifted = InterruptRequested(interrupt, "clarification", case.envelope.correlation_id, asked)
    return Routed(case, (ClarificationRequested(interrupt, questions), lifted))


def _answer_with_schema(case: Case) -> Routed:
    """Note the kind whose schema the model reads in its next turn; the name of an unknown one is not repeated."""
    wanted: str = case.envelope.payload["envelopeType"]
    known = wanted in case.rules.catalogue
    told = LogAppended(Level.DEBUG, SCHEMA_REQUEST, {"envelopeType": wanted} if known else {})
    return Routed(case, (told,), requested=wanted)


def _acknowledge(case: Case) -> Routed:
    return Routed(case, (LogAppended(Level.DEBUG, SCHEMA_RESPONSE),))


def _report(case: Case) -> Routed:
    """Log the model's own failure: it is a success of the turn, and the node does not fail for it."""
    code: str = case.envelope.payload["code"]
    told = {"code": code} if _MACHINE_READABLE.fullmatch(code) else {}
    return Routed(case, (LogAppended(Level.ERROR, ERROR, told),))


_ROUTES: dict[str, Callable[[Case], Routed | Invalid]] = {
    CLARIFICATION_REQUEST: _clarify,
    SCHEMA_REQUEST: _answer_with_schema,
    SCHEMA_RESPONSE: _acknowledge,
    ERROR: _report,
}
