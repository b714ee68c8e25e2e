"""The types of the public names, as a user's code sees them. Checked by mypy and pyright, never run."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, TypedDict, assert_type

from pydantic import BaseModel

from emitter import (
    BindingMoment,
    Emission,
    EmissionError,
    Material,
    Policy,
    Trust,
    Usage,
    Withheld,
    aemit,
    aemit_binding_moment,
    astream,
    astream_binding_moment,
    emit,
    emit_binding_moment,
    emit_many,
    stream,
    stream_binding_moment,
)
from emitter.bulk import Job, JobResult, emit_binding_moments
from emitter.events import NodeFailed, ProviderUsage, RunEvent
from emitter.host import Acceptance, Accepted, Acceptor, Breached, EnvelopeContext, Gated, HostConfig, InvalidEnvelope
from emitter.messages import ModelResponse
from emitter.models import AIEnvelope, ClarificationRequest, Deliberation, ErrorReport
from emitter.redaction import Secrets
from emitter.schema import Violation
from emitter.stores import MemoryStore, SqliteStore, SqlStore, Store
from emitter.streaming import FieldComplete, Restart, TextDelta
from emitter.telemetry import on

if TYPE_CHECKING:
    from collections.abc import Iterator


def sync() -> None:
    """See the types of the blocking call."""
    decision = emit_binding_moment(
        "?", model="openai/m", materials=["a", Material("b", "c", Trust.UNTRUSTED)], policy=Policy(max_attempts=2)
    )
    assert_type(decision, Emission[BindingMoment] | Withheld)
    assert_type(decision.envelope, AIEnvelope)
    assert_type(decision.usage, Usage)
    assert_type(decision.cost, Decimal | None)
    assert_type(decision.messages, list[dict[str, Any]])
    assert_type(decision.response, ModelResponse | None)
    assert_type(decision.events, tuple[RunEvent, ...])
    match decision:
        case Emission(value=moment):
            assert_type(moment, BindingMoment)
            assert_type(moment.question.recommended_idx, int)
            assert_type(decision.actions, tuple[str | None, ...])
        case Withheld(reason=reason):
            assert_type(reason, Deliberation | ClarificationRequest | ErrorReport)


def acting(digests: dict[str, str | None]) -> None:
    """See the digests beside a decision."""
    decision = emit_binding_moment("?", model="openai/m", actions={"Send": "sha256:0", "Keep": None})
    assert_type(decision.actions, tuple[str | None, ...])
    assert_type(stream_binding_moment("?", model="openai/m", actions=digests).result().actions, tuple[str | None, ...])
    for each in emit_binding_moments([Job("?", actions=digests)], model="openai/m"):
        assert_type(each.result.actions, tuple[str | None, ...])


async def asynchronous(seen: list[RunEvent]) -> None:
    """See the types of the awaited call."""
    messages = [{"role": "user", "content": "?"}]
    decision = await aemit_binding_moment(messages, model="google/m", on_event=seen.append, run_id="r", wire="google")
    assert_type(decision, Emission[BindingMoment] | Withheld)


class Invoice(BaseModel):
    """A model of the caller's."""

    total: int


@dataclass
class Point:
    """A dataclass of the caller's."""

    x: int


class Table(TypedDict):
    """A typed dict of the caller's."""

    a: int


def cheap(invoice: Invoice) -> list[str]:
    """Find what is too dear, in words."""
    return [] if invoice.total < 5 else ["Too dear."]


def even(invoice: Invoice) -> Iterator[Violation]:
    """Find what is odd, at its place."""
    if invoice.total % 2:
        yield Violation("/total", "even", "an even number")


def documents(schema: dict[str, Any]) -> None:
    """See the type of a value: the type's own, or anything for a schema."""
    assert_type(emit(Invoice, "?", model="openai/m"), Emission[Invoice])
    assert_type(emit(Point, "?", model="openai/m").value, Point)
    assert_type(emit(Table, "?", model="openai/m").value, Table)
    assert_type(emit(list[int], "?", model="openai/m").value, list[int])
    assert_type(emit(schema, "?", model="openai/m"), Emission[Any])
    assert_type(emit(True, "?", model="openai/m"), Emission[Any])
    assert_type(emit(int | str, "?", model="openai/m"), Emission[Any])
    assert_type(emit(Literal["a"], "?", model="openai/m"), Emission[Any])
    reported = emit(
        Invoice,
        [{"role": "user", "content": "?"}],
        model="openai/m",
        materials=[Material("a")],
        checks=[cheap, even],
        examples=[Invoice(total=1), {"total": 2}],
        instructions="Be brief.",
    )
    assert_type(reported, Emission[Invoice])
    assert_type(reported.envelope, AIEnvelope)


async def awaited(schema: dict[str, Any]) -> None:
    """See the same of the awaited call."""
    assert_type(await aemit(Invoice, "?", model="google/m", checks=[cheap]), Emission[Invoice])
    assert_type(await aemit(schema, "?", model="google/m", wire="google"), Emission[Any])


def streamed(schema: dict[str, Any]) -> None:
    """See the types of what is reported, and of the result."""
    with stream(Invoice, "?", model="openai/m", into=["/lines"], follow=["/note"]) as running:
        for reported in running:
            assert_type(reported, FieldComplete | TextDelta | Restart)
        assert_type(running.result(), Emission[Invoice])
    for partial in stream(Invoice, "?", model="openai/m").partials(trailing_strings=True):
        assert_type(partial, Invoice | Restart)
    stream_binding_moment("?", model="openai/m").partials()  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]
    assert_type(stream(schema, "?", model="openai/m").result(), Emission[Any])
    assert_type(stream_binding_moment("?", model="openai/m").result(), Emission[BindingMoment] | Withheld)


async def astreamed() -> None:
    """See the same of the async ones."""
    async with astream(Invoice, "?", model="openai/m") as running:
        async for reported in running:
            assert_type(reported, FieldComplete | TextDelta | Restart)
        assert_type(await running.result(), Emission[Invoice])
    async for partial in astream(Invoice, "?", model="openai/m").partials():
        assert_type(partial, Invoice | Restart)
    async with astream_binding_moment("?", model="openai/m", follow=["/synopsis"]) as deciding:
        assert_type(await deciding.result(), Emission[BindingMoment] | Withheld)


def many(schema: dict[str, Any]) -> None:
    """See the types of items, of their values and of all results."""
    for item in emit_many(Invoice, ["?", Job("!", key="2")], model="openai/m", journal="run.jsonl"):
        assert_type(item, JobResult[Emission[Invoice]])
        assert_type(item.result, Emission[Invoice])
    for anything in emit_many(schema, ["?"], model="openai/m"):
        assert_type(anything.result, Emission[Any])
    for decided in emit_binding_moments(["?"], model="openai/m"):
        assert_type(decided.result, Emission[BindingMoment] | Withheld)


def handling(codes: list[str]) -> None:
    """See the types of handlers: each knows its event."""
    emit(Invoice, "?", model="openai/m", context={"vendors": ["Acme"]}, on_event=on(NodeFailed, print))
    on(NodeFailed, lambda failed: assert_type(failed, NodeFailed))
    on(ProviderUsage, lambda usage: codes.append(usage.model))
    on(ProviderUsage, lambda usage: codes.append(usage.code))  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue,reportUnknownMemberType]


def failing() -> None:
    """See what an error carries."""
    try:
        sync()
    except EmissionError as error:
        assert_type(error.code, str)
        assert_type(error.trace.usage.input, int)
        assert_type(error.trace.attempts[-1].model, str)
        assert_type(error.trace.events[-1].timestamp, str)


def hosting(path: str) -> None:
    """See that each store is one, and what a host is given and gives."""
    stores: list[Store] = [MemoryStore(), SqliteStore(path), SqlStore("postgresql://host/db")]
    host = Acceptor(HostConfig(secrets=Secrets.of({"key": "value"})), store=stores[0])
    found = host.accept({}, EnvelopeContext("run", "node"))
    assert_type(found, Acceptance)
    assert_type(found.outcome, Accepted | Gated | InvalidEnvelope | Breached)
    assert_type(emit(Invoice, "?", model="openai/m", host=host, turn=1, requires=["reasoning"]), Emission[Invoice])
