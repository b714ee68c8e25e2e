"""What goes wrong, as behaviours of the simulated vendor, and what each is truly called."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from benchmarks.runners.task import BROKEN, BUDGET, STUB, WHOLE
from emitter.testing import (
    Behaviour,
    Cut,
    Dropped,
    Empty,
    EndReason,
    Failed,
    Fenced,
    Filtered,
    InProse,
    Malformed,
    NotJson,
    Overloaded,
    PlannedResponse,
    ReceivedRequest,
    Refused,
    Text,
    Thinking,
    Violating,
)

if TYPE_CHECKING:
    from emitter.testing.plans import PlannedOutcome

_ANSWER = Text(WHOLE)
_ENOUGH = 2 * BUDGET


class Cause(Enum):
    """What is truly the matter, and the words that name it; one of them must stand in an error that tells the truth."""

    NOTHING = ()
    CUT = (
        "truncat",
        r"max_?(output_)?tokens",
        r"token ?limit",
        "length ?limit",
        "length ?finish",
        "incomplete",
        "cut at",
    )
    REFUSED = ("refus", "declin", "content ?filter", "safety", "blocked", "prohibited", r"\bfilter")
    VIOLATED = ("validation", "schema", "field required", "missing", "violat", "satisf")
    NO_DOCUMENT = (
        "json",
        "no document",
        "empty",
        "no (text|content|output|answer|tool)",
        "return text",
        "pars(e|ing)",
        "field required",
        "satisf",
    )
    UNAVAILABLE = (
        "429",
        "rate.?limit",
        "503",
        "529",
        "overload",
        "unavailable",
        "500",
        "internal ?server",
        "server ?error",
    )
    CONNECTION = ("connect", "peer closed", "protocol ?error", "reset", "read ?error", "body")
    UNREADABLE = ("json", "decod", "unreadable", "cannot be read", "html", "not valid", "expected value")


@dataclass(frozen=True, slots=True)
class Stub:
    """What was written when the budget ran out happens to be a whole document, in which half is missing."""

    def plan(self, asked: ReceivedRequest) -> PlannedOutcome:
        """Return the stub, or the whole where the budget is large enough."""
        if asked.budget is None or asked.budget >= _ENOUGH:
            return _ANSWER.plan(asked)
        return PlannedResponse(json.dumps(STUB), EndReason.TRUNCATED, output_tokens=asked.budget)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong: ``first`` the next requests get, ``then`` all that follow."""

    name: str
    cause: Cause
    then: Behaviour = _ANSWER
    first: tuple[Behaviour, ...] = ()


FAULTS = (
    Fault("clean", Cause.NOTHING),
    Fault("cut at the budget", Cause.CUT, Cut(complete_at_tokens=_ENOUGH, answer=_ANSWER)),
    Fault("cut, yet valid JSON", Cause.CUT, Stub()),
    Fault("thinking ate the budget", Cause.CUT, Thinking(BUDGET + 100, _ANSWER)),
    Fault("refusal", Cause.REFUSED, Refused()),
    Fault("content filter", Cause.REFUSED, Filtered()),
    Fault("violates once", Cause.VIOLATED, first=(Violating(BROKEN),)),
    Fault("violates always", Cause.VIOLATED, Violating(BROKEN)),
    Fault("fenced", Cause.NO_DOCUMENT, Fenced(_ANSWER)),
    Fault("trailing text", Cause.NO_DOCUMENT, Text(f"{json.dumps(WHOLE)}\n\nTell me if you need anything else.")),
    Fault("in prose", Cause.NO_DOCUMENT, InProse(_ANSWER)),
    Fault("no JSON once", Cause.NO_DOCUMENT, first=(Malformed(),)),
    Fault("empty once", Cause.NO_DOCUMENT, first=(Empty(),)),
    Fault("429 once", Cause.UNAVAILABLE, first=(Overloaded(429, retry_after=1),)),
    Fault("503 or 529 once", Cause.UNAVAILABLE, first=(Overloaded(503),)),
    Fault("500 once", Cause.UNAVAILABLE, first=(Failed(),)),
    Fault("dropped mid-answer once", Cause.CONNECTION, first=(Dropped(200, _ANSWER),)),
    Fault("200 without JSON once", Cause.UNREADABLE, first=(NotJson(),)),
)
"""The table; a fault that is not marked "once" lasts."""

OVERLOADED = {"anthropic": Overloaded(529)}
"""Too little capacity, in the vendor's own words where they differ."""


def script(fault: Fault, wire: str) -> tuple[Behaviour, ...]:
    """Return what the first requests get on a wire."""
    return tuple(OVERLOADED.get(wire, each) if each == Overloaded(503) else each for each in fault.first)
