"""Every function of the library, asked for the same, and a vendor that answers all of them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from emitter import (
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
from emitter.bulk import emit_binding_moments
from emitter.events import ModelCapabilitySubstituted
from emitter.testing import Simulator, Text, simulator
from tests.scenarios.answers import BOUND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.testing import Behaviour, ReceivedRequest

SCHEMA: dict[str, Any] = {
    "title": "Invoice",
    "type": "object",
    "properties": {"total": {"type": "integer"}},
    "required": ["total"],
    "additionalProperties": False,
}
DOCUMENT = {"total": 12}
SHORT, LONG = "openai/gpt-4o", "anthropic/claude-sonnet-5-5"
"""A model whose window is too short to be a long one, and one of another vendor whose is long."""
SUBSTITUTED = ModelCapabilitySubstituted("openai", "gpt-4o", "anthropic", "claude-sonnet-5-5", ("long-context",))
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY")
SITUATION = "The tests are green. Shall we publish?"


def types(events: Any) -> list[str]:
    """Return the types of events."""
    return [each.type for each in events]


def answered(asked: ReceivedRequest) -> Behaviour:
    """Answer with a decision where one is asked for, and with the document elsewhere."""
    return Text(BOUND) if "recommended_idx" in str(asked.body) else Text(DOCUMENT)


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Simulator]:
    """Run a vendor that the environment leads to, whichever one is meant."""
    with simulator(answers=answered) as running:
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        yield running


def _emit(**asked: Any) -> Any:
    return emit(SCHEMA, SITUATION, **asked)


def _aemit(**asked: Any) -> Any:
    return asyncio.run(aemit(SCHEMA, SITUATION, **asked))


def _stream(**asked: Any) -> Any:
    with stream(SCHEMA, SITUATION, **asked) as streaming:
        return streaming.result()


def _astream(**asked: Any) -> Any:
    async def read() -> Any:
        async with astream(SCHEMA, SITUATION, **asked) as streaming:
            return await streaming.result()

    return asyncio.run(read())


def _moment(**asked: Any) -> Any:
    return emit_binding_moment(SITUATION, **asked)


def _amoment(**asked: Any) -> Any:
    return asyncio.run(aemit_binding_moment(SITUATION, **asked))


def _moment_stream(**asked: Any) -> Any:
    with stream_binding_moment(SITUATION, **asked) as streaming:
        return streaming.result()


def _moment_astream(**asked: Any) -> Any:
    async def read() -> Any:
        async with astream_binding_moment(SITUATION, **asked) as streaming:
            return await streaming.result()

    return asyncio.run(read())


def _many(**asked: Any) -> Any:
    return emit_many(SCHEMA, [SITUATION], progress=False, **asked).results()[0].result


def _amany(**asked: Any) -> Any:
    async def read() -> Any:
        return (await aemit_many(SCHEMA, [SITUATION], progress=False, **asked).results())[0].result

    return asyncio.run(read())


def _moments(**asked: Any) -> Any:
    return emit_binding_moments([SITUATION], progress=False, **asked).results()[0].result


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "emit": _emit,
    "aemit": _aemit,
    "stream": _stream,
    "astream": _astream,
    "emit_binding_moment": _moment,
    "aemit_binding_moment": _amoment,
    "stream_binding_moment": _moment_stream,
    "astream_binding_moment": _moment_astream,
    "emit_many": _many,
    "aemit_many": _amany,
    "emit_binding_moments": _moments,
}
every_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
