"""How runs are performed: one after the other, or many at once against a deadline."""

from __future__ import annotations

import asyncio
import gc
import random
import resource
import ssl
import struct
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import httpx2

from emitter import Policy, aemit, aemit_many, astream, emit, stream
from emitter.adapters.clients import create_client
from emitter.bulk.batches import Batch
from emitter.client.background import Background
from emitter.clock import Clock
from emitter.media import Image
from emitter.profiles import find_profile
from emitter.streaming import FieldComplete, Restart
from emitter.testing.scenarios import SCENARIO_MODELS
from tests.hostile.control import control
from tests.hostile.courses import ASYNC, BACKGROUND, Addresses, Course, alone, number_in
from tests.hostile.figures import Figures, Outcome, count
from tests.hostile.progress import Progress
from tests.hostile.shapes import Shape, framed
from tests.hostile.trickles import DEADLINE, LATE
from tests.hostile.vendor import Script, hostile
from tests.hostile.vendor import http as response
from tests.hostile.wires import FORM

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence

    from tests.hostile.control import Control
    from tests.hostile.courses import Run
    from tests.hostile.vendor import HostileVendor, Received

    Now = Callable[[], tuple[float, float]]
    Report = Callable[[int, int], None]
    """Takes how many runs there are, and how many have ended."""

_TIMEOUT = 60.0
_NO_REUSE = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
"""A connection is for one request: what one shape leaves behind must not meet the next."""
TOOL_MODELS = {
    "openai-responses": "openai/gpt-4o-2024-05-13",
    "openai-chat": "openai/gpt-4o-2024-05-13",
    "anthropic": "anthropic/claude-sonnet-4-20250514",
    "bedrock-converse": "bedrock/us.anthropic.claude-opus-4-20250514-v1:0",
}
"""Models that are asked by a tool."""


@dataclass
class VirtualTime:
    """A clock on which waiting takes no time."""

    now: float = 0.0

    def clock(self) -> Clock:
        """Return it as an emission takes it."""
        return Clock(lambda: self.now, self._sleep, self._async_sleep)

    def _sleep(self, seconds: float) -> None:
        self.now += seconds

    async def _async_sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


@dataclass
class Vendors:
    """The servers of a part of the grid, the clients through which they are asked, and what is under way."""

    size: int
    timed: bool = False
    control: Control | None = None
    """What ends late by it as well is a fault. Without one, this process may have been busy."""
    again: list[Run] | None = None
    """Takes what ended late, or before it came to its shape, and is to be tried alone."""
    courses: dict[int, Course] = field(default_factory=dict[int, Course])
    clients: dict[Any, Any] = field(default_factory=dict[Any, Any])
    figures: Figures = field(default_factory=Figures)
    lock: threading.Lock = field(default_factory=threading.Lock)
    progress: Progress = field(default_factory=Progress)
    vendor: HostileVendor = field(init=False)
    slow: HostileVendor = field(init=False)
    stranger: HostileVendor = field(init=False)
    http: httpx2.Client = field(init=False)

    def open(self, stack: ExitStack) -> Vendors:
        """Start the servers. All that follows until they are closed has to go on."""
        stack.enter_context(self.progress.watched())
        stack.enter_context(_certificates_loaded_once())
        self.stranger = stack.enter_context(hostile(None))
        self.vendor = stack.enter_context(hostile(self._answer))
        self.slow = stack.enter_context(hostile(self._answer, pause=0.1))
        self.http = stack.enter_context(http_client(httpx2.Client))
        return self

    def now(self) -> tuple[float, float]:
        """Return the time by the clock, and by the control if there is one."""
        now = time.monotonic()
        return now, now if self.control is None else self.control.seconds()

    def _answer(self, received: Received) -> Script:
        """Answer a request of any run; the latest one has the requests without a mark."""
        number = number_in(received)
        course = self.courses.get(number if number is not None else max(self.courses))
        if course is None:
            return Script([])
        if received.host not in (self.vendor.authority, self.slow.authority):
            course.strange.append(received.host)
        return course.answer(received)

    def course(self, run: Run) -> Course:
        """Begin a run."""
        with self.lock:
            number = len(self.courses) + 1
            here = Addresses(self.vendor.url, self.stranger.url, self.vendor.alias)
            course = self.courses[number] = Course(run, number, here)
        return course

    def count(self, course: Course, outcomes: Sequence[Outcome]) -> None:
        """Count what came of a run."""
        with self.lock:
            course.strange += [repr(each[:300]) for each in self.stranger.came]
            self.stranger.came.clear()
            count(self.figures, course, outcomes)

    def settings(self, course: Course, http: Any) -> dict[str, Any]:
        """Return the settings of a run."""
        run = course.run
        shape = run.shape if isinstance(run.shape, Shape) else None
        model = TOOL_MODELS[run.wire] if shape and shape.tool else SCENARIO_MODELS[run.wire]
        made: dict[str, Any] = {"model": model, "wire": run.wire, "policy": self._policy((shape and shape.size) or 0)}
        if run.is_upload:
            made["materials"] = [Image(large_image(), media_type="image/png")] * 3
        if run.mode in (*BACKGROUND, "batch") and not self.timed:
            made["clock"] = VirtualTime().clock()
        if run.mode in BACKGROUND:
            made["background"] = Background(poll_seconds=0.1)
        if run.mode == "batch":
            made["batch"] = Batch(poll=0.1, timeout=DEADLINE if self.timed else 600.0)
        return {**made, "client": self._client(course, model, http)}

    def _policy(self, size: int) -> Policy:
        times = {"timeout": DEADLINE, "deadline": DEADLINE} if self.timed else {"timeout": _TIMEOUT}
        return Policy(max_attempts=1, max_faults=0, max_response_bytes=size or self.size, **times)

    def _client(self, course: Course, model: str, http: Any) -> Any:
        """Return a client of a wire. If batches are at work at the same time, each has its own, known by its key."""
        run = course.run
        asynchronous = run.mode in ASYNC
        slow = run.is_upload
        own = course.mark if self.timed and run.mode == "batch" else ""
        key = (run.wire, asynchronous, slow, own, http)
        if key not in self.clients:
            profile, _ = find_profile(model)
            base = (self.slow if slow else self.vendor).url
            self.clients[key] = create_client(
                profile,
                asynchronous=asynchronous,
                base_url=f"{base}/v1" if profile.name == "openai" else base,
                api_key=f"sk-hostile-{own}",
                http_client=None if profile.name == "bedrock" else http,
            )
        return self.clients[key]


@contextmanager
def _certificates_loaded_once() -> Iterator[None]:
    """Share TLS contexts. Google's SDK makes two for each client, which takes longer than a run and serves nothing."""
    create = ssl.create_default_context
    ssl.create_default_context = cache(create)
    try:
        yield
    finally:
        ssl.create_default_context = create


def http_client(kind: Any) -> Any:
    """Return an HTTP client that would follow redirects, as the vendors' own do."""
    return kind(timeout=_TIMEOUT, limits=_NO_REUSE, follow_redirects=True, verify=False)


@cache
def large_image() -> bytes:
    """Return a third of what is more than the system keeps for a server that reads slowly."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pixels = random.Random(1).randbytes(3 << 20)  # noqa: S311  a picture of nothing
    head = struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


# --- one run ---


def ask(course: Course, settings: dict[str, Any]) -> list[Outcome]:
    """Perform a blocking run."""
    prompt = course.prompt(0)
    if course.run.mode != "stream":
        return [Outcome(_caught(partial(emit, FORM, prompt, **settings)))]
    reported: dict[str, Any] = {}

    def read() -> Any:
        with stream(FORM, prompt, **settings) as running:
            for event in running:
                _report(reported, event)
            return running.result()

    return [Outcome(_caught(read), reported)]


def _caught(performed: Callable[[], Any]) -> Any:
    try:
        return performed()
    except Exception as error:  # noqa: BLE001  which ones come is what is asked
        return error


async def aask(course: Course, settings: dict[str, Any], now: Now = lambda: (0.0, 0.0)) -> list[Outcome]:
    """Perform an asynchronous run. ``now`` returns the times by which it is measured."""
    reported: dict[str, Any] | None = {} if course.run.mode == "astream" else None
    try:
        if course.run.mode == "batch":
            return [outcome async for outcome in _batched(course, settings, now)]
        if course.run.mode != "astream":
            return [Outcome(await aemit(FORM, course.prompt(0), **settings))]
        async with astream(FORM, course.prompt(0), **settings) as running:
            async for event in running:
                _report(cast("dict[str, Any]", reported), event)
            return [Outcome(await running.result(), reported)]
    except Exception as error:  # noqa: BLE001  which ones come is what is asked
        return [Outcome(error, reported)]


async def _batched(course: Course, settings: dict[str, Any], now: Now) -> AsyncIterator[Outcome]:
    prompts = [course.prompt(job) for job in range(course.run.jobs)]
    if course.run.step == "cancel":
        settings["batch"] = replace(settings["batch"], cancel=True, timeout=None)
        course.batches.store.polls = 1 << 30
    async with aemit_many(FORM, prompts, **settings) as run:
        if course.run.step == "cancel":
            await _leave(course, run)
            course.began = now()  # what is measured is the cancellation
            return
        async for each in run:
            yield Outcome(each.outcome)


async def _leave(course: Course, run: Any) -> None:
    """Leave a run while its batch is at the vendor, which then is cancelled."""
    polled, loop = asyncio.Event(), asyncio.get_running_loop()
    course.on_status = partial(loop.call_soon_threadsafe, polled.set)
    tasks = [asyncio.ensure_future(polled.wait()), asyncio.ensure_future(anext(run))]
    await asyncio.wait(tasks, timeout=_TIMEOUT, return_when=asyncio.FIRST_COMPLETED)
    for each in tasks:
        each.cancel()
    await asyncio.wait(tasks)


def _report(reported: dict[str, Any], event: Any) -> None:
    """Keep what a stream reports of the document."""
    match event:
        case Restart():
            reported.clear()
        case FieldComplete():
            reported[event.pointer] = event.value


# --- one after the other ---


def perform(runs: Iterable[Run], size: int) -> Figures:
    """Perform the runs one after the other, and return what came of them."""
    asked = with_first(runs)
    with ExitStack() as stack:
        vendors = Vendors(size).open(stack)
        for run in asked:
            if run.mode not in ASYNC:
                course = vendors.course(run)
                settings = vendors.settings(course, vendors.http)
                with vendors.progress.under_way(run), _measured(vendors.figures, run):
                    outcomes = ask(course, settings)
                vendors.count(course, outcomes)
        asyncio.run(_perform_async([run for run in asked if run.mode in ASYNC], vendors))
    vendors.figures.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return vendors.figures


def with_first(runs: Iterable[Run]) -> list[Run]:
    """Return runs, with a good one before the first large one of each kind: what it loads is not the shape's doing."""
    made: dict[tuple[str, str, str], Run] = {}
    asked: list[Run] = []
    for run in runs:
        kind = (run.wire, run.mode, run.step)
        if isinstance(run.shape, Shape) and run.shape.size and kind not in made:
            made[kind] = replace(run, shape=_GOOD)
            asked.append(made[kind])
        asked.append(run)
    return asked


_GOOD = framed("frame:first", lambda ask: response(ask.good, kind=ask.kind), "answer")


async def _perform_async(runs: Sequence[Run], vendors: Vendors) -> None:
    async with http_client(httpx2.AsyncClient) as http:
        for run in runs:
            await _perform_one(run, vendors, http)


async def _perform_one(run: Run, vendors: Vendors, http: Any) -> None:
    course = vendors.course(run)
    settings = vendors.settings(course, http)
    with vendors.progress.under_way(run), _measured(vendors.figures, run):
        outcomes = await aask(course, settings)
    if len(outcomes) != run.jobs and len(run.rows) > 1:  # one of them took the others along
        for each in alone(run):
            await _perform_one(each, vendors, http)
        return
    vendors.count(course, outcomes)


_ROOM = 64 << 20
_COPIES = 5
"""How much memory a response may take: a few times of what it may have, and what the process takes by itself."""


@contextmanager
def _measured(figures: Figures, run: Run) -> Iterator[None]:
    """Measure the memory that a run takes at most, where the system tells, and its shape is a large one."""
    size = run.shape.size if isinstance(run.shape, Shape) else None
    if size is None:
        yield
        return
    before = _resident("VmRSS:", reset=True)
    yield
    took, may = _resident("VmHWM:") - before, _ROOM + _COPIES * size
    if took > may:
        figures.note("memory", f"{run}: {took >> 20} MiB, and may take {may >> 20} MiB")


def _resident(name: str, *, reset: bool = False) -> int:
    """Return the bytes of memory of this process, now or at most since the last reset; 0 where nobody tells."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith(name)), 0)


# --- many at once, against a deadline ---

_AT_ONCE = 20
_HEAVY = ("flood:", "trickle:slow-reader")
_HEAVY_AT_ONCE = 2
"""A flood and a large request keep a processor busy, which those that wait must not notice."""
_TRIES = (4, 1, 1)
"""How many runs are tried again at once, each time, until they reach the server and end in time."""


def perform_timed(runs: Iterable[Run], size: int, *, measured: bool, report: Report | None = None) -> Figures:
    """Perform runs that do not end by themselves, many at once, and measure when they end.

    What ends late, or before its request reaches the server, is tried again with a few others and then alone, since
    others may have kept this process busy. It then is late if it is so by the clock and by a control, which the machine
    delays as well. A call that does not end at its deadline is late each time.
    """
    asked = list(runs)
    heavy = [run for run in asked if str(run).startswith(_HEAVY)]
    if measured:
        _load(asked, size)
    with ExitStack() as stack:
        progress = Progress(report=report and partial(report, len(asked)))
        vendors = Vendors(size, timed=True, again=[] if measured else None, progress=progress).open(stack)
        _at_once([run for run in asked if not str(run).startswith(_HEAVY)], vendors, _AT_ONCE)
        _at_once(heavy, vendors, _HEAVY_AT_ONCE)
        if vendors.again:
            _try_again(vendors.again, vendors, stack)
    vendors.figures.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if not measured:
        vendors.figures.amiss.pop("not met", None)
    return vendors.figures


def _load(runs: Sequence[Run], size: int) -> None:
    """Answer a run of each kind well, so that no measured one has to load the code of its wire."""
    kinds = {(run.wire, run.mode, run.step): run for run in runs}
    perform([replace(run, shape=_GOOD) for run in kinds.values()], size)


def _try_again(runs: Sequence[Run], vendors: Vendors, stack: ExitStack) -> None:
    """Try runs a few times, at last each of them alone."""
    figures = vendors.figures
    last = Vendors(vendors.size, timed=True, figures=figures, progress=vendors.progress).open(stack)
    last.control = stack.enter_context(control())
    figures.again += len(runs)
    for left, most in zip(reversed(range(len(_TRIES))), _TRIES, strict=True):
        last.again = [] if left else None
        heavy = [[run] for run in runs if str(run).startswith(_HEAVY)]
        light = [run for run in runs if not str(run).startswith(_HEAVY)]
        for group in (*heavy, *(light[at : at + most] for at in range(0, len(light), most))):
            _at_once(group, last, most)
        runs = last.again or []


def _at_once(runs: Sequence[Run], vendors: Vendors, most: int) -> None:
    """Perform runs, at most so many at once."""
    blocking, others = ([run for run in runs if (run.mode in ASYNC) is kind] for kind in (False, True))
    with ThreadPoolExecutor(most) as pool:
        futures = [pool.submit(_timed, run, vendors) for run in blocking]
        asyncio.run(_all_timed(others, vendors, most))
        for each in futures:
            each.result()


def _timed(run: Run, vendors: Vendors) -> None:
    course = vendors.course(run)
    settings = vendors.settings(course, vendors.http)
    course.began = vendors.now()
    with vendors.progress.under_way(run):
        outcomes = ask(course, settings)
    count_timed(vendors, course, outcomes)


async def _all_timed(runs: Sequence[Run], vendors: Vendors, most: int) -> None:
    gate = asyncio.Semaphore(most)
    async with http_client(httpx2.AsyncClient) as http:

        async def one(run: Run) -> None:
            async with gate:
                course = vendors.course(run)
                settings = vendors.settings(course, http)
                course.began = vendors.now()
                with vendors.progress.under_way(run):
                    outcomes = await aask(course, settings, vendors.now)
                count_timed(vendors, course, outcomes)

        await asyncio.gather(*map(one, runs))


def count_timed(vendors: Vendors, course: Course, outcomes: Sequence[Outcome]) -> None:
    """Count what came of a run, unless it is to be tried again."""
    seconds, granted = (now - began for now, began in zip(vendors.now(), course.began, strict=True))
    is_late, is_met = min(seconds, granted) > DEADLINE + LATE, course.met or course.run.is_upload
    if vendors.again is not None and (is_late or not is_met):
        vendors.again.append(course.run)
        return
    figures = vendors.figures
    if is_late and vendors.control is not None:
        figures.note("hang", f"{course.run}: {seconds:.1f} s")
    elif seconds > DEADLINE + LATE:
        figures.excused += 1
    figures.longest = max(figures.longest, seconds)
    vendors.count(course, outcomes)
    if course.run.is_upload:
        gc.collect()  # an exception's frames keep its large request
