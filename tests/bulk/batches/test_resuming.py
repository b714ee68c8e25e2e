"""A run that is killed anywhere goes on where it was, and nothing is paid for twice."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from emitter.attempts import Verdict
from emitter.bulk.batches import Batch
from emitter.bulk.batches.journal import BatchJournal
from tests.bulk.asking import asked_of, task
from tests.bulk.batches.asking import MODELS, OPENAI, Came, Setting, ran, vendor
from tests.work import FULL, covering

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from emitter.messages import Json
    from emitter.testing.handler import SimulatorHandler

every_wire = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
TASKS = [task(0), task(1, "cut"), task(2, "violate")]
PAID = {0: 1, 1: 2, 2: 2}
VERDICTS = [
    [Verdict.COMPLETE],
    [Verdict.TRUNCATED, Verdict.COMPLETE],
    [Verdict.VIOLATED, Verdict.COMPLETE],
]


class KilledError(BaseException):
    """Stands for the end of the process: nothing catches it."""


class Wire(httpx2.AsyncHTTPTransport):
    """A way to the vendor on which the process ends: before or after its ``last`` request reached the vendor."""

    def __init__(self, last: int | None = None, *, after: bool = False) -> None:
        super().__init__(verify=False)
        self.last, self.after, self.sent = last, after, 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request, if the process is still there."""
        self.sent += 1
        if self.sent == self.last and not self.after:
            raise KilledError
        response = await super().handle_async_request(request)
        if self.sent == self.last:
            await response.aread()
            await response.aclose()
            raise KilledError
        return response


class Pen(BatchJournal):
    """Writes a journal until the process ends: before, within or after its ``last`` line."""

    def __init__(self, journal: BatchJournal, last: int | None, how: str) -> None:
        for name, value in vars(journal).items():
            setattr(self, name, value)
        self.last, self.how, self.lines = last, how, 0

    async def _write(self, members: Mapping[str, Json]) -> None:
        self.lines += 1
        if self.lines == self.last and self.how == "before":
            raise KilledError
        kept = self._file
        assert kept is not None
        at = kept.end_offset
        await super()._write(members)
        if self.lines == self.last:
            if self.how == "within":
                os.truncate(kept.path, (at + kept.end_offset) // 2)
            raise KilledError


def whole(url: str, setting: Setting) -> tuple[int, int]:
    """Make a whole run; return how many requests it sends, and how many lines it writes."""
    wire, pens = Wire(), list[Pen]()

    def doom(journal: BatchJournal) -> BatchJournal:
        pens.append(Pen(journal, None, ""))
        return pens[0]

    ran(url, TASKS, Setting(model=setting.model, journal=setting.journal, transport=wire, doom=doom))
    return wire.sent, pens[0].lines


def resumed(desk: SimulatorHandler, running: Any, setting: Setting) -> None:
    """Make the run again, and see that all is there and nothing was paid for twice."""
    came = ran(running.url, TASKS, setting)

    assert [[each.verdict for each in came.outcome(f"k{n}").attempts] for n in range(3)] == VERDICTS
    assert [came.outcome(f"k{n}").value.n for n in range(3)] == [0, 1, 2]
    assert asked_of(running) == PAID
    assert desk.batches.submitted == 5


@pytest.mark.parametrize(("wire", "how"), covering(MODELS, ("unsent", "unheard"), strength=1))
def test_killed_at_any_request(wire: str, how: str, tmp_path: Path) -> None:
    """Before the request reached the vendor, and after it did but its answer was never heard."""
    model, after = MODELS[wire], how == "unheard"
    with vendor() as (running, _):
        requests, _ = whole(running.url, Setting(model=model, journal=tmp_path / "whole"))
    for last in range(1, requests + 1):
        setting = Setting(model=model, journal=tmp_path / str(last))
        with vendor() as (running, desk):
            doomed = Setting(model=model, journal=setting.journal, transport=Wire(last, after=after))
            with pytest.raises(KilledError):
                ran(running.url, TASKS, doomed)
            resumed(desk, running, setting)


@pytest.mark.parametrize(("wire", "how"), covering(MODELS, ("before", "within", "after"), strength=1))
def test_killed_at_any_line_of_the_journal(wire: str, how: str, tmp_path: Path) -> None:
    """Before a line is written, in the middle of it, and before anything is done after it."""
    model = MODELS[wire]
    with vendor() as (running, _):
        _, lines = whole(running.url, Setting(model=model, journal=tmp_path / "whole"))
    assert lines > 8
    for last in range(1, lines + 1):
        setting = Setting(model=model, journal=tmp_path / str(last))
        with vendor() as (running, desk):

            def doom(journal: BatchJournal, last: int = last) -> BatchJournal:
                return Pen(journal, last, how)

            with pytest.raises(KilledError):
                ran(running.url, TASKS, Setting(model=model, journal=setting.journal, doom=doom))
            resumed(desk, running, setting)


@every_wire
def test_a_run_that_is_over_asks_for_nothing(model: str, tmp_path: Path) -> None:
    """All its answers stand in the journal, and come to the same; a refusal is not sent again either."""
    setting = Setting(model=model, journal=tmp_path / "journal")
    with vendor() as (running, desk):
        ran(running.url, [*TASKS, task(3, "refuse")], setting)
        before = len(desk.batches.requests)
        came = ran(running.url, [*TASKS, task(3, "refuse")], setting)
        assert len(desk.batches.requests) == before

    assert [each.calls for each in came.items.values()] == [0, 0, 0, 0]
    assert [each.verdict for each in came.outcome("k3").attempts] == [Verdict.REFUSED]


def test_what_failed_for_good_is_asked_for_anew_by_another_run(tmp_path: Path) -> None:
    """From the beginning, as the other form does it."""
    setting = Setting(journal=tmp_path / "journal")
    with vendor() as (running, _):
        ran(running.url, [task(0, "hopeless")], setting)
        again = ran(running.url, [task(0, "hopeless")], setting)
        assert asked_of(running) == {0: 6}

    assert again.items["k0"].calls == 3


@every_wire
def test_a_run_that_is_left_goes_on_later(model: str, tmp_path: Path) -> None:
    """What was not handed out yet is collected by the next run; the notice says that batches go on."""
    setting = Setting(model=model, journal=tmp_path / "journal")
    with vendor() as (running, desk):
        left = ran(running.url, TASKS, Setting(model=model, journal=setting.journal, most=1))
        assert len(left.items) == 1
        resumed(desk, running, setting)


@every_wire
def test_cancelling_what_is_left(model: str, tmp_path: Path) -> None:
    """What the vendor did before is collected by the next run, and what it did not is asked for again."""
    tasks = [task(n) for n in range(6)]
    journal = tmp_path / "journal"
    with vendor(polls=3) as (running, desk):
        how = Batch(max_requests=3, cancel=True)
        first = Came()
        with pytest.raises(asyncio.CancelledError):
            ran(running.url, tasks, Setting(model=model, journal=journal, how=how, transport=_Leaving()), first)
        assert first.items == {}
        assert first.notices
        assert "cancelled" in first.notices[-1]
        assert all(each.cancelled for each in desk.batches.stored.values())

        came = ran(running.url, tasks, Setting(model=model, journal=journal))

        assert [came.outcome(f"k{n}").value.n for n in range(6)] == list(range(6))
        assert asked_of(running) == dict.fromkeys(range(6), 1)


class _Leaving(httpx2.AsyncHTTPTransport):
    """A way to the vendor on which the run is cancelled when a batch is looked at."""

    def __init__(self) -> None:
        super().__init__(verify=False)
        self.left = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; the first look is interrupted."""
        if request.method == "GET" and not self.left:
            self.left = True
            raise asyncio.CancelledError
        return await super().handle_async_request(request)


_CHILD = """
    import sys
    from pathlib import Path
    from tests.bulk.batches.asking import Setting, ran
    from tests.bulk.batches.test_resuming import TASKS
    url, journal, model = sys.argv[1:]
    came = ran(url, TASKS, Setting(model=model, journal=Path(journal)))
    print(sorted(each.outcome.value.n for each in came.items.values()))
"""


def test_a_process_that_is_killed_again_and_again(tmp_path: Path) -> None:
    """By SIGKILL, each time some requests later; the last one comes to its end."""
    with vendor(polls=1) as (running, desk):
        handle = desk.handle
        child: subprocess.Popen[str] | None = None
        left = 0

        def killing(request: Any) -> Any:
            nonlocal left
            left -= 1
            handled = handle(request)
            if left == 0 and child is not None:
                os.kill(child.pid, signal.SIGKILL)
            return handled

        desk.handle = killing  # type: ignore[method-assign]
        for most in range(2, 30, 3 if FULL else 6):
            left = most
            command = [sys.executable, "-c", textwrap.dedent(_CHILD), running.url, str(tmp_path / "journal"), OPENAI]
            child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            said, _ = child.communicate(timeout=600)
            if child.returncode == 0:
                break
            assert child.returncode == -signal.SIGKILL

        assert said.strip() == "[0, 1, 2]"
        assert asked_of(running) == PAID
        assert desk.batches.submitted == 5
