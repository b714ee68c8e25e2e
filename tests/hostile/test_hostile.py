"""Whatever a vendor answers, a caller gets the right answer or a typed error, with what was spent."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import httpx2
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emitter import Emission, EmissionError, LimitReached, Policy, Prices, aemit, astream, emit, stream
from emitter.adapters.clients import create_client
from emitter.profiles import find_profile
from emitter.testing.scenarios import SCENARIO_MODELS
from tests.hostile import batches, trickles
from tests.hostile.control import control
from tests.hostile.control import granted as granted_seconds
from tests.hostile.courses import LIVE, MODES, Run
from tests.hostile.modes import Vendors, count_timed, perform, perform_timed
from tests.hostile.report import FULL as LARGE
from tests.hostile.report import SMALL, all_shapes, grid, sample, timed_grid
from tests.hostile.shapes import answered
from tests.hostile.vendor import Script, http
from tests.hostile.wires import FORM, WIRES, events, unary, written
from tests.work import FULL, covering, examples

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from tests.hostile.control import Control

pytest.importorskip("openai")
pytest.importorskip("anthropic")
pytest.importorskip("google.genai")

ROOT = Path(__file__).parents[2]
_EACH = 5
"""Of the shapes, every fifth is asked for where not everything is wanted."""


def test_no_shape_is_a_wrong_answer_or_a_raw_exception() -> None:
    """Of the whole grid, or a sample of it: nothing untyped, untrue, unpaid or large, and nothing sent elsewhere."""
    size = LARGE if FULL else SMALL
    runs = grid(size)
    figures = perform(runs if FULL else sample(runs)[::_EACH], size)

    assert figures.amiss == {}
    assert figures.successes > figures.runs.total() // 10
    assert figures.errors.total() > figures.runs.total() // 3


def test_what_never_ends_is_a_typed_error() -> None:
    """Each part of a response that comes in drops or without end leaves a typed error; the report measures when."""
    figures = perform_timed(sample(timed_grid(SMALL)), SMALL, measured=FULL)

    assert figures.amiss == {}


def test_there_are_enough_shapes() -> None:
    """The tables are not emptied by mistake, every shape has a name, and every wire, mode and step has shapes."""
    runs = [*grid(SMALL), *timed_grid(SMALL)]

    assert len(all_shapes(SMALL)) > 1800
    assert len(trickles.shapes()) > 40
    assert len(batches.row_shapes()) + len(batches.step_shapes()) > 400
    assert len({str(run) for run in runs}) == len(runs)
    assert {(run.wire, run.mode) for run in runs} >= {(wire, mode) for wire in WIRES for mode in LIVE}
    assert {run.mode for run in runs} == set(MODES)
    steps = {(wire, step) for wire in batches.BATCH_WIRES for step in (*batches.STEPS[wire], "rows")}
    assert {(run.wire, run.step) for run in runs if run.mode == "batch"} == steps


_GOOD = replace(next(each for each in all_shapes(SMALL) if each.name == "frame:length"), name="made")
_MADE = {
    "wrong success": replace(_GOOD, expected="error"),
    "wrong error": replace(_GOOD, script=lambda _: Script([http(status="500 X")])),
    "lost usage": replace(_GOOD, script=lambda ask: Script([http(_without_usage(ask.wire))])),
}


def _without_usage(wire: str) -> bytes:
    return json.dumps({key: value for key, value in unary(wire).items() if key not in _USAGE}).encode()


@pytest.mark.parametrize("fault", _MADE)
def test_a_fault_is_seen(fault: str) -> None:
    """A shape that says something else of itself than what comes of it is counted under its name."""
    runs = [Run(_MADE[fault], wire, mode) for wire in WIRES for mode in ("sync", "async")]
    found = perform(runs, SMALL).amiss

    assert fault in found
    assert len(found[fault]) == len(runs)


_STUCK = """
import threading
from tests.hostile.progress import Progress
progress = Progress(0.1)
with progress.watched():
    with progress.under_way("a run"):
        {inside}
    {behind}
"""
_WAIT = "threading.Event().wait()"


@pytest.mark.parametrize(
    ("inside", "behind", "name"),
    [(_WAIT, "pass", "a run"), ("pass", _WAIT, "what follows the last run")],
    ids=["in a run", "behind the last run"],
)
def test_what_never_ends_is_named(inside: str, behind: str, name: str) -> None:
    """The report does not wait for ever, and says for what it waited."""
    program = [sys.executable, "-c", _STUCK.format(inside=inside, behind=behind)]
    ended = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)

    assert ended.returncode == 1
    assert f"{name} has not ended" in ended.stderr


class Granted:
    """A control that the machine granted so many seconds."""

    def __init__(self, granted: float) -> None:
        self._granted = granted

    def seconds(self) -> float:
        """Return them."""
        return self._granted


@pytest.mark.parametrize(
    ("seconds", "granted", "hangs", "excused"),
    [(1.9, 1.9, 0, 0), (6.0, 6.0, 1, 0), (6.0, 1.9, 0, 1), (1.9, 6.0, 0, 0)],
    ids=["in time", "late", "on a busy machine", "a control that is ahead"],
)
def test_a_run_is_late_by_the_clock_and_the_control(seconds: float, granted: float, hangs: int, excused: int) -> None:
    """A busy machine delays the control as it delays the run, and what only the control excuses is counted."""
    run = Run(trickles.shapes()[0], "anthropic", "batch", "cancel")
    with ExitStack() as stack:
        vendors = Vendors(SMALL, timed=True).open(stack)
        course = vendors.course(run)
        course.met, course.began = 1, (time.monotonic() - seconds, 0.0)
        vendors.control = cast("Control", Granted(granted))
        count_timed(vendors, course, [])

    assert len(vendors.figures.amiss.get("hang", [])) == hangs
    assert vendors.figures.excused == excused


def test_a_control_counts_what_the_machine_grants() -> None:
    """A turn that takes much longer than the shortest one was kept waiting."""
    assert granted_seconds(0.01, 0.01) == 0.01
    assert granted_seconds(0.015, 0.01) == 0.015
    assert granted_seconds(5.0, 0.01) == 0.02
    with control() as running:
        while running.seconds() == 0:
            time.sleep(0)


def test_a_decoy_is_seen() -> None:
    """What would be taken from a wrong place is not the right value."""
    shape = replace(_GOOD, script=lambda ask: Script([http(replace(ask, decoy=True).good, kind=ask.kind)]))
    found = perform([Run(shape, wire, mode) for wire in WIRES for mode in LIVE], SMALL).amiss

    assert len(found["wrong success"]) == len(WIRES) * len(LIVE)


_USAGE = ("usage", "usageMetadata")
_UNPAID = {
    "none": lambda body: {name: value for name, value in body.items() if name not in _USAGE},
    "null": lambda body: {name: None if name in _USAGE else value for name, value in body.items()},
    "zero": lambda body: {name: _zeros(value) if name in _USAGE else value for name, value in body.items()},
    "words": lambda body: {name: "much" if name in _USAGE else value for name, value in body.items()},
}
"""Good bodies whose vendor does not say, or not truly, what the call cost."""
_LIMITS = {
    "tokens": Policy(max_attempts=16, max_total_tokens=2000),
    "cost": Policy(max_attempts=16, max_cost=2.0, prices=Prices(input=1000, output=1000)),
}


def _zeros(usage: Any) -> Any:
    return {name: _zeros(value) for name, value in usage.items()} if isinstance(usage, dict) else 0


@pytest.mark.parametrize(("wire", "mode", "said", "limit"), covering(WIRES, LIVE, _UNPAID, _LIMITS))
def test_limits_hold_where_the_vendor_does_not_say_the_cost(wire: str, mode: str, said: str, limit: str) -> None:
    """A whole answer without usage is estimated, as a broken one is, so that the limits of all calls end the loop."""
    bad = json.loads(
        json.dumps(unary(wire)).replace("the right value", " ".join(["wrong"] * 60)).replace(": 7", ": []")
    )
    body = json.dumps(_UNPAID[said](bad)).encode()
    settings = {**_settings(wire, mode, lambda _: httpx2.Response(200, content=body)), "policy": _LIMITS[limit]}
    with pytest.raises(LimitReached) as caught:
        _outcome(mode, settings)
    trace: Any = caught.value.trace

    assert 1 <= len(trace.attempts) < 16
    assert trace.usage.estimated
    assert all(each.usage.input > 0 and each.usage.output > 60 for each in trace.attempts)
    assert trace.usage.total <= 2000 + trace.attempts[-1].usage.output


@pytest.mark.parametrize("said", _UNPAID)
def test_results_of_batches_without_usage_are_estimated(said: str) -> None:
    """A result that does not say its cost counts as the answer of a call does."""
    shape = answered("made", lambda wire: _UNPAID[said](unary(wire)), "answer")
    figures = perform([Run(None, wire, "batch", "rows", (shape, shape)) for wire in batches.BATCH_WIRES], SMALL)

    assert figures.amiss == {}
    assert figures.successes == 2 * len(batches.BATCH_WIRES)


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
_GOOD_BODIES = [json.dumps(unary(wire)).encode() for wire in WIRES] + [written(events(wire), wire) for wire in WIRES]


@st.composite
def broken(draw: st.DrawFn) -> bytes:
    """Return a good body of some wire, of which a part is replaced by anything."""
    good = draw(st.sampled_from(_GOOD_BODIES))
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


@pytest.mark.parametrize("mode", LIVE)
@pytest.mark.parametrize("wire", WIRES)
@settings(max_examples=examples(400) if FULL else 12)
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

    settings = {**_settings(wire, mode, vendor), "policy": _ONCE}
    try:
        outcome = _outcome(mode, settings)
    except EmissionError as error:
        outcome = error
    assert isinstance(outcome, Emission | EmissionError)
    trace: Any = outcome.trace
    assert len(trace.attempts) == 1
    assert trace.usage.input >= (1 if isinstance(outcome, Emission) else 0)


_ONCE = Policy(max_attempts=1, max_faults=0, max_response_bytes=1 << 14)


def _settings(wire: str, mode: str, vendor: Callable[[httpx2.Request], httpx2.Response]) -> dict[str, Any]:
    asynchronous = mode in ("async", "astream")
    # boto3 blocks in both worlds.
    kind: Any = httpx2.AsyncClient if asynchronous and wire != "bedrock-converse" else httpx2.Client
    http_client = kind(transport=httpx2.MockTransport(vendor))
    profile, _ = find_profile(SCENARIO_MODELS[wire])
    client = create_client(
        profile, asynchronous=asynchronous, base_url="http://vendor.test", api_key="k", http_client=http_client
    )
    return {"model": SCENARIO_MODELS[wire], "wire": wire, "client": client}


def _outcome(mode: str, settings: dict[str, Any]) -> Any:
    match mode:
        case "sync":
            return emit(FORM, "Now?", **settings)
        case "stream":
            with stream(FORM, "Now?", **settings) as running:
                return running.result()
        case _:
            return asyncio.run(_asked(mode, settings))


async def _asked(mode: str, settings: dict[str, Any]) -> Any:
    if mode == "async":
        return await aemit(FORM, "Now?", **settings)
    async with astream(FORM, "Now?", **settings) as running:
        return await running.result()
