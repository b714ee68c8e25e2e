"""The line that is logged at the end of each emission."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from emitter import EmissionError, Policy, Prices, aemit, astream, emit, emit_binding_moment, emit_many, stream
from emitter.clock import Clock
from emitter.testing import Cut, Refused, Text, simulator

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

MODEL = "openai/gpt-6-sol"
SCHEMA = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
SECRET = "quxillious"
"""Must not be logged."""
PRICED = Policy(prices=Prices(input=1_000_000, output=1_000_000), max_attempts=2)


def run(way: str, answers: list[Any]) -> None:
    """Emit once in one of the ways; an error that ends the emission is expected."""
    with simulator() as vendor:
        vendor.script(*answers)
        ticks = count(step=2)
        options: dict[str, Any] = {"model": MODEL, "policy": PRICED, "clock": Clock(monotonic=lambda: next(ticks))}
        options["client"] = vendor.client(MODEL, asynchronous=way in {"aemit", "astream", "emit_many"})
        with suppress(EmissionError):
            _emit(way, options)


def _emit(way: str, options: dict[str, Any]) -> None:
    match way:
        case "emit":
            emit(SCHEMA, SECRET, **options)
        case "aemit":
            asyncio.run(_closing(options["client"], lambda: aemit(SCHEMA, SECRET, **options)))
        case "stream":
            with stream(SCHEMA, SECRET, **options) as running:
                running.result()
        case "astream":
            asyncio.run(_closing(options["client"], lambda: astream(SCHEMA, SECRET, **options).result()))
        case "emit_many":
            with emit_many(SCHEMA, [SECRET], **options) as results:
                list(results)
        case _:
            emit_binding_moment(SECRET, **options)


async def _closing(client: Any, call: Callable[[], Awaitable[object]]) -> None:
    async with client:
        await call()


@pytest.mark.parametrize("way", ["emit", "aemit", "stream", "astream", "emit_many"])
def test_an_emission_logs_one_line(way: str, caplog: pytest.LogCaptureFixture) -> None:
    """Model, verdict, attempts, tokens, cost and seconds, and no content."""
    with caplog.at_level(logging.INFO, "emitter"):
        run(way, [Cut(at_tokens=2), Text({"count": 7})])

    (record,) = caplog.records
    assert (record.name, record.levelname) == ("emitter", "INFO")
    words = record.getMessage().split(", ")
    assert words[0].startswith("openai/gpt-6-sol: complete after 2 attempts")
    tokens = [int(number) for number in words[1].split() if number.isdecimal()]
    assert words[1].endswith("output tokens")
    assert words[2] == f"${sum(tokens):.6f}"
    assert words[3].endswith(" s")
    assert SECRET not in record.getMessage()


def test_a_failed_emission_logs_its_verdict_and_code(caplog: pytest.LogCaptureFixture) -> None:
    """The line of a refusal names it."""
    with caplog.at_level(logging.INFO, "emitter"):
        run("decision", [Refused(SECRET)])

    (record,) = caplog.records
    assert record.getMessage().startswith("openai/gpt-6-sol: refused (envelope_refusal) after 1 attempt, ")
    assert SECRET not in record.getMessage()


def test_nothing_is_logged_unless_the_level_is_info(caplog: pytest.LogCaptureFixture) -> None:
    """At Python's default level there is no line, and its prices are not computed."""
    with caplog.at_level(logging.WARNING, "emitter"):
        run("emit", [Text({"count": 7})])

    assert not caplog.records
