"""A small thing to ask for, and answers to it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from emitter.judge import Contract
from emitter.schema import compile_schema
from emitter.steps import Ask
from emitter.wire import Fault, FaultKind, Message, OutputFormat, OutputMode, Reply, Request, Role, Stop, Usage

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": ["answer"]},
        "count": {"type": "integer", "minimum": 0},
        "note": {"type": "string"},
    },
    "required": ["kind", "count"],
    "additionalProperties": False,
}
COMPILED = compile_schema(SCHEMA, "openai")
FIRST, CEILING = 100, 350

INPUT = 12
"""What a request is expected to put in."""

SPENT = Usage(input=10, output=3)


def request(**changes: Any) -> Request:
    """Return a request for the small document."""
    given: dict[str, Any] = {
        "model": "m-1",
        "system": "Say how many.",
        "messages": (Message(Role.USER, "How many?"),),
        "output": OutputFormat("answer", COMPILED.schema, OutputMode.JSON_SCHEMA),
        "budget": FIRST,
    }
    return Request(**{**given, **changes})


def ask(**changes: Any) -> Ask:
    """Return what is asked, with a correction that shows which violations it was given."""
    asked = Ask(
        provider="vendor",
        request=request(),
        contract=Contract(COMPILED),
        write=lambda violations: "; ".join(f"{each.pointer} {each.rule}" for each in violations) or "no document",
        ceiling=CEILING,
        kind="vendor.test.answer",
        count=lambda _: INPUT,
    )
    return replace(asked, **changes)


def reply(stop: Stop, text: str = "", raw: str = "") -> Reply:
    """Return a reply that cost ``SPENT``."""
    return Reply(stop, raw or stop.value, text=text, usage=SPENT)


def said(document: Any) -> Reply:
    """Return a clean answer."""
    return reply(Stop.COMPLETE, json.dumps(document))


WHOLE = said({"kind": "answer", "count": 2})
CUT = reply(Stop.TRUNCATED, '{"kind": "answer", "cou')
CUT_BUT_VALID = reply(Stop.TRUNCATED, '{"kind": "answer", "count": 2}')
OVERFLOWED = reply(Stop.OVERFLOWED, '{"kind": "answer"')
REFUSED = reply(Stop.REFUSED, "I will not say how many.")
REFUSED_BUT_VALID = reply(Stop.REFUSED, '{"kind": "answer", "count": 2}')
WRONG_TYPE = said({"kind": "answer", "count": "SECRETWORD"})
WRONG_KIND = said({"kind": "SECRETWORD", "count": 2})
EXTRA = said({"kind": "answer", "count": 2, "SECRETWORD": 1})
PROSE = reply(Stop.COMPLETE, "SECRETWORD, I think there are two.")
EMPTY = reply(Stop.COMPLETE)
TAKEN_BACK = reply(Stop.COMPLETE, '{"kind": "answer", "count": 2}\nI cannot help with that.')
DOUBTFUL = reply(Stop.COMPLETE, 'Sorry for the delay!\n{"kind": "answer", "count": 2}')
DRAFT = reply(Stop.COMPLETE, '<think>{"kind": "answer", "count": 9}</think>\nI cannot help with that.')
FENCED = reply(Stop.COMPLETE, '```json\n{"kind": "answer", "count": 2}\n```')
TWICE = reply(Stop.COMPLETE, '{"kind": "answer", "count": 2}\n{"kind": "answer", "count": 2}')
SEVERAL = reply(Stop.COMPLETE, '{"kind": "answer", "count": 2}\n{"kind": "answer", "count": 3}')
PAUSED = reply(Stop.PAUSED, '{"kind": "answer", "count": 2}')
UNKNOWN = reply(Stop.UNKNOWN, '{"kind": "answer", "count": 2}', raw="brand_new_reason")
OVERLOADED = Fault(FaultKind.OVERLOADED, "The vendor answered 529.", 529, retry_after=2.0)
UNAUTHORISED = Fault(FaultKind.AUTHENTICATION, "The vendor answered 401.", 401)
PATIENT = Fault(FaultKind.RATE_LIMIT, "The vendor answered 429.", 429, retry_after=3600.0)
