"""Whatever a vendor answers, a caller gets the right answer or a typed error, with what was spent."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emitter import Emission, EmissionError, Policy, aemit, astream, emit, stream
from emitter.adapters.client import make
from emitter.profile import of_model
from emitter.scenarios import MODELS
from tests.hostile.report import FORM, FULL, MODES, SMALL, grid, perform, sample
from tests.hostile.shapes import WIRES, events, shapes, unary
from tests.hostile.shapes import stream as written

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

pytest.importorskip("openai")
pytest.importorskip("anthropic")
pytest.importorskip("google.genai")

EVERYTHING = os.environ.get("EMITTER_TESTS") == "full"
_EACH = 3
"""Of the shapes, every third is asked for where not everything is wanted."""


def test_no_shape_is_a_wrong_answer_or_a_raw_exception() -> None:
    """Of the whole grid, or a sample of it: nothing untyped, untrue, unending or unpaid, and nothing sent elsewhere."""
    size = FULL if EVERYTHING else SMALL
    made = shapes(size)
    figures = perform(grid(made) if EVERYTHING else sample(made)[::_EACH], size)

    assert figures.amiss == {}
    assert figures.elsewhere == 0
    assert figures.successes > figures.runs // 10
    assert sum(figures.errors.values()) > figures.runs // 2


def test_there_are_enough_shapes() -> None:
    """The tables are not emptied by mistake, and no two shapes have one name."""
    assert len({each.name for each in shapes(SMALL)}) > 900


class Pieces(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A body that comes in pieces."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        yield from self._pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for each in self._pieces:
            yield each


_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
_NAMES = st.text(max_size=8) | st.sampled_from(
    [
        "error",
        "errors",
        "type",
        "code",
        "message",
        "usage",
        "choices",
        "delta",
        "content",
        "finish_reason",
        "status",
        "response",
        "output",
        "candidates",
        "parts",
        "finishReason",
        "usageMetadata",
        "stop_reason",
        "event",
        "data",
    ]
)
JSON = st.recursive(_SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4))
_GOOD = [json.dumps(unary(wire)).encode() for wire in WIRES] + [written(events(wire), wire) for wire in WIRES]


@st.composite
def broken(draw: st.DrawFn) -> bytes:
    """Return a good body of some wire, of which a part is replaced by anything."""
    good = draw(st.sampled_from(_GOOD))
    begin = draw(st.integers(0, len(good)))
    end = draw(st.integers(begin, min(len(good), begin + 40)))
    return good[:begin] + draw(st.binary(max_size=20) | JSON.map(json.dumps).map(str.encode)) + good[end:]


def _line(value: Any) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


BODIES = (
    st.binary(max_size=200)
    | JSON.map(json.dumps).map(str.encode)
    | st.lists(JSON.map(_line), max_size=4).map(b"".join)
    | broken()
)
STATUSES = st.just(200) | st.integers(200, 999)
HEADERS = st.dictionaries(
    st.sampled_from(["content-type", "content-encoding", "retry-after", "date", "location", "x-request-id"]),
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30)
    | st.sampled_from(["gzip", "application/json", "text/event-stream", "Fri, 31 Dec 9999 23:59:59 GMT", "1e400"]),
    max_size=3,
)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("wire", WIRES)
@settings(max_examples=400 if EVERYTHING else 12)
@given(answer=st.tuples(BODIES, STATUSES, HEADERS, st.integers(1, 99)))
@example(answer=(b"1", 200, {}, 1))
@example(answer=(b'{"error":' * 9000, 500, {}, 99))
def test_anything_is_an_answer_or_a_typed_error(
    wire: str, mode: str, answer: tuple[bytes, int, dict[str, str], int]
) -> None:
    """Any bytes, in any pieces, under any status and headers, leave a trace and nothing else."""
    body, status, headers, size = answer

    def vendor(_: httpx2.Request) -> httpx2.Response:
        pieces = [body[at : at + size] for at in range(0, len(body), size)]
        return httpx2.Response(status, headers=headers, stream=Pieces(pieces))

    asynchronous = mode in ("async", "astream")
    kind: Any = httpx2.AsyncClient if asynchronous else httpx2.Client
    http = kind(transport=httpx2.MockTransport(vendor))
    profile, _ = of_model(MODELS[wire])
    client = make(profile, asynchronous=asynchronous, base_url="http://vendor.test", api_key="k", http_client=http)
    policy = Policy(max_attempts=1, max_faults=0, max_response_bytes=1 << 14)
    given_settings = {"model": MODELS[wire], "wire": wire, "client": client, "policy": policy}
    try:
        outcome: Any = asyncio.run(_asked(mode, given_settings)) if asynchronous else _ask(mode, given_settings)
    except EmissionError as error:
        outcome = error
    assert isinstance(outcome, Emission | EmissionError)
    assert len(outcome.trace.attempts) == 1
    assert outcome.trace.usage.input >= (1 if isinstance(outcome, Emission) else 0)


def _ask(mode: str, given_settings: dict[str, Any]) -> Any:
    if mode == "sync":
        return emit(FORM, "Now?", **given_settings)
    with stream(FORM, "Now?", **given_settings) as running:
        return running.result()


async def _asked(mode: str, given_settings: dict[str, Any]) -> Any:
    if mode == "async":
        return await aemit(FORM, "Now?", **given_settings)
    async with astream(FORM, "Now?", **given_settings) as running:
        return await running.result()
