"""Every function, with a host of its own, and a vendor that echoes what it should not know."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from emitter import (
    AsyncEmitter,
    Emitter,
    Policy,
    aemit,
    aemit_binding_moment,
    aemit_many,
    astream,
    astream_binding_moment,
    emit,
    emit_binding_moment,
    emit_many,
    stream,
    stream_binding_moment,
)
from emitter.bulk import Batch
from emitter.errors import EmissionError
from emitter.host import Acceptor, HostConfig
from emitter.models import BindingMoment, Option, Question
from emitter.stores import MemoryStore
from emitter.testing import Text, write_decision
from tests.host.leaking import KEY, SECRETS

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.events import RunEvent
    from emitter.host.outcomes import EnvelopeOutcome
    from emitter.stores import Entry
    from emitter.testing import Behaviour, ReceivedRequest

MODELS = ("openai/gpt-6-sol", "anthropic/claude-sonnet-5-5", "google/gemini-3.8-flash")
MODEL = MODELS[0]
RULES = HostConfig(secrets=SECRETS)
AT_ONCE = Batch(poll=0.02, max_poll=0.02)
POLICY = Policy(max_attempts=2, max_faults=0)
FORM: dict[str, Any] = {
    "title": "Note",
    "type": "object",
    "properties": {"text": {"type": "string"}, "parts": {"type": "array", "items": {"type": "string"}}},
    "required": ["text", "parts"],
    "additionalProperties": False,
}
MAP: dict[str, Any] = {"title": "Map", "type": "object", "additionalProperties": {"type": "string"}}


def note(said: str) -> dict[str, Any]:
    """Return a document of the form that says something."""
    return {"text": f"It is {said}.", "parts": [said, f"and {said}"]}


def moment(said: str) -> BindingMoment:
    """Return a decision that says something in each of its parts."""
    options = [
        Option(label=f"Ship {said} now", reasoning=f"Green: {said}."),
        Option(label=f"Ship {said} on Monday", reasoning="It is late."),
    ]
    return BindingMoment(
        synopsis=f"Ship {said}.",
        findings=(f"The {said} pass.",),
        recommendations=(f"Publish {said}.",),
        offer=f"Ask for {said}.",
        question=Question.ask(f"When should {said} go out?", options, 0),
    )


def saying(said: str) -> Callable[[ReceivedRequest], Behaviour]:
    """Return what answers with a decision where one is asked for, and with a document elsewhere."""

    def answered(asked: ReceivedRequest) -> Behaviour:
        if "recommended_idx" in str(asked.body):
            return write_decision(moment(said), f"Because of {said}.")
        return Text(note(said), chunk_size=3)

    return answered


def _stream(**asked: Any) -> list[Any]:
    with stream(FORM, "?", follow=["/text"], into=["/parts"], **asked) as running:
        reported = list(running)
        return [running.result(), reported, running.trace]


def _astream(**asked: Any) -> list[Any]:
    async def read() -> list[Any]:
        async with astream(FORM, "?", follow=["/text"], **asked) as running:
            reported = [each async for each in running]
            return [await running.result(), reported]

    return asyncio.run(read())


def _moment_stream(**asked: Any) -> list[Any]:
    with stream_binding_moment("?", follow=["/reasoning", "/synopsis", "/question/stem"], **asked) as running:
        reported = list(running)
        return [running.result(), reported]


def _moment_astream(**asked: Any) -> list[Any]:
    async def read() -> list[Any]:
        async with astream_binding_moment("?", **asked) as running:
            reported = [each async for each in running]
            return [await running.result(), reported]

    return asyncio.run(read())


def _many(**asked: Any) -> list[Any]:
    items = list(emit_many(FORM, ["?"], progress=False, **asked))
    return [items[0].result, items]


def _amany(**asked: Any) -> list[Any]:
    async def read() -> list[Any]:
        items = [each async for each in aemit_many(FORM, ["?"], progress=False, **asked)]
        return [items[0].result, items]

    return asyncio.run(read())


def _emitter(**asked: Any) -> list[Any]:
    with Emitter(**asked) as emitter:
        return [emitter.emit(FORM, "?")]


def _async_emitter(**asked: Any) -> list[Any]:
    async def read() -> list[Any]:
        async with AsyncEmitter(**asked) as emitter:
            return [await emitter.emit(FORM, "?")]

    return asyncio.run(read())


FUNCTIONS: dict[str, Callable[..., list[Any]]] = {
    "emit": lambda **asked: [emit(FORM, "?", **asked)],
    "aemit": lambda **asked: [asyncio.run(aemit(FORM, "?", **asked))],
    "stream": _stream,
    "astream": _astream,
    "emit_binding_moment": lambda **asked: [emit_binding_moment("?", **asked)],
    "aemit_binding_moment": lambda **asked: [asyncio.run(aemit_binding_moment("?", **asked))],
    "stream_binding_moment": _moment_stream,
    "astream_binding_moment": _moment_astream,
    "emit_many": _many,
    "aemit_many": _amany,
    "batch": lambda **asked: _many(**asked, batch=AT_ONCE),
    "Emitter.emit": _emitter,
    "AsyncEmitter.emit": _async_emitter,
}
"""Each function, and all that comes out of it, the result first."""


@dataclass
class Emitted:
    """What a function returned, and what it reported and kept meanwhile."""

    came: list[Any]
    error: EmissionError | None
    reported: list[RunEvent]
    store: MemoryStore

    @property
    def all(self) -> list[Any]:
        """Everything that anybody can look at."""
        kept = [getattr(self.store, name) for name in ("_entries", "_logs")]
        traced = [self.error, self.error.trace] if self.error is not None else []
        return [self.came, self.reported, [each.to_json() for each in self.reported], kept, *traced]


@dataclass
class Emitting:
    """A run that is told to a list, with a host that knows the secrets."""

    store: MemoryStore = field(default_factory=MemoryStore)
    reported: list[RunEvent] = field(default_factory=list)

    def through(self, function: Callable[..., list[Any]], **more: Any) -> Emitted:
        """Call a function."""
        host = Acceptor(RULES, store=self.store)
        asked = {
            "model": MODEL,
            "policy": POLICY,
            "run_id": "run-1",
            "on_event": self.reported.append,
            "host": host,
            **more,
        }
        try:
            came, error = function(**asked), None
        except EmissionError as raised:
            came, error = [], raised
        return Emitted(came, error, self.reported, self.store)


class Meeting(MemoryStore):
    """A store that two callers find empty before either goes on: the race that is otherwise rare."""

    __slots__ = ("_barrier", "_met")

    def __init__(self) -> None:
        super().__init__()
        self._barrier, self._met = threading.Barrier(2), set[int]()

    def find(self, run_id: str, correlation_id: str) -> Entry | None:
        """Return what is remembered; the first time, once both have looked."""
        found = super().find(run_id, correlation_id)
        if threading.get_ident() not in self._met:
            self._met.add(threading.get_ident())
            self._barrier.wait(20)
        return found


def marked(outcome: EnvelopeOutcome | Any) -> bool:
    """Tell whether something shows that a secret was struck out of it."""
    return "[REDACTED:stripe]" in repr(outcome) and KEY not in repr(outcome)
