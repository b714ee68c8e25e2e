"""A small thing to ask for, and answers to it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from emitter.core.effects import EmissionRequest
from emitter.core.verdicts import DocumentContract
from emitter.messages import (
    Fault,
    FaultKind,
    Message,
    ModelRequest,
    ModelResponse,
    OutputFormat,
    OutputMode,
    Role,
    StopReason,
    Usage,
)
from emitter.schema import compile_schema

if TYPE_CHECKING:
    from emitter.profiles.tables import RequestParameter

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


def request(**changes: Any) -> ModelRequest:
    """Return a request for the small document."""
    given: dict[str, Any] = {
        "model": "m-1",
        "system": "Say how many.",
        "messages": (Message(Role.USER, "How many?"),),
        "output": OutputFormat("answer", COMPILED.schema, OutputMode.JSON_SCHEMA),
        "max_output_tokens": FIRST,
    }
    return ModelRequest(**{**given, **changes})


class Writer:
    """Writes a correction that shows its violations, and asks in two calls."""

    def __init__(self) -> None:
        self.counted: list[ModelRequest] = []

    def count_tokens(self, request: ModelRequest) -> int:
        """Return what every request is expected to put in."""
        self.counted.append(request)
        return INPUT

    def expect_input(self, request: ModelRequest, tokens: int) -> Usage:  # noqa: ARG002  no prompt is cached here
        """Return the usage of the input."""
        return Usage(input=tokens)

    def instruct(self, request: ModelRequest, template: str, **values: str) -> ModelRequest:  # noqa: ARG002  one fragment is like another
        """Show the values."""
        return replace(request, correction=" ".join(values.values()))

    def supported_settings(self, request: ModelRequest) -> dict[str, RequestParameter]:  # noqa: ARG002  every model is alike
        """Take no settings."""
        return {}

    def lower_effort(self, request: ModelRequest) -> ModelRequest | None:
        """Know no other effort."""

    def adapt(self, request: ModelRequest, fault: FaultKind) -> None:
        """Know no other form."""

    def describe(self, request: ModelRequest) -> ModelRequest:
        """Ask in plain words."""
        return replace(request, output=replace(request.output, mode=OutputMode.TEXT), correction=None)

    def convert(self, request: ModelRequest, words: str) -> ModelRequest:
        """Put words into the form."""
        return replace(request, messages=(Message(Role.USER, words),), correction=None)


def ask(**changes: Any) -> EmissionRequest:
    """Return what is asked, with a writer of its own."""
    asked = EmissionRequest(
        provider="vendor",
        request=request(),
        contract=DocumentContract(COMPILED),
        writer=Writer(),
        max_budget=CEILING,
        kind="vendor.test.answer",
    )
    return replace(asked, **changes)


def reply(stop: StopReason, text: str = "", raw: str = "") -> ModelResponse:
    """Return a reply that cost ``SPENT``."""
    return ModelResponse(stop, raw or stop.value, text=text, usage=SPENT)


def said(document: Any) -> ModelResponse:
    """Return a clean answer."""
    return reply(StopReason.COMPLETE, json.dumps(document))


WHOLE = said({"kind": "answer", "count": 2})
CUT = reply(StopReason.TRUNCATED, '{"kind": "answer", "cou')
CUT_BUT_VALID = reply(StopReason.TRUNCATED, '{"kind": "answer", "count": 2}')
OVERFLOWED = reply(StopReason.OVERFLOWED, '{"kind": "answer"')
REFUSED = reply(StopReason.REFUSED, "I will not say how many.")
REFUSED_BUT_VALID = reply(StopReason.REFUSED, '{"kind": "answer", "count": 2}')
WRONG_TYPE = said({"kind": "answer", "count": "SECRETWORD"})
WRONG_KIND = said({"kind": "SECRETWORD", "count": 2})
EXTRA = said({"kind": "answer", "count": 2, "SECRETWORD": 1})
PROSE = reply(StopReason.COMPLETE, "SECRETWORD, I think there are two.")
EMPTY = reply(StopReason.COMPLETE)
TAKEN_BACK = reply(StopReason.COMPLETE, '{"kind": "answer", "count": 2}\nI cannot help with that.')
DOUBTFUL = reply(StopReason.COMPLETE, 'Sorry for the delay!\n{"kind": "answer", "count": 2}')
EXAMPLE = reply(StopReason.COMPLETE, 'SECRETWORD, such as {"kind": "answer", "count": 2}')
EXAMPLE_OF_WRONG_TYPE = reply(StopReason.COMPLETE, 'SECRETWORD, such as {"kind": "answer", "count": "SECRETWORD"}')
DRAFT = reply(StopReason.COMPLETE, '<think>{"kind": "answer", "count": 9}</think>\nI cannot help with that.')
FENCED = reply(StopReason.COMPLETE, '```json\n{"kind": "answer", "count": 2}\n```')
TWICE = reply(StopReason.COMPLETE, '{"kind": "answer", "count": 2}\n{"kind": "answer", "count": 2}')
SEVERAL = reply(StopReason.COMPLETE, '{"kind": "answer", "count": 2}\n{"kind": "answer", "count": 3}')
PAUSED = reply(StopReason.PAUSED, '{"kind": "answer", "count": 2}')
UNKNOWN = reply(StopReason.UNKNOWN, '{"kind": "answer", "count": 2}', raw="brand_new_reason")
OVERLOADED = Fault(FaultKind.OVERLOADED, "The vendor answered 529.", 529, retry_after=2.0)
UNAUTHORISED = Fault(FaultKind.AUTHENTICATION, "The vendor answered 401.", 401)
PATIENT = Fault(FaultKind.RATE_LIMIT, "The vendor answered 429.", 429, retry_after=3600.0)
