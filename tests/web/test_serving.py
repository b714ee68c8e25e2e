"""Serving one decision until it is answered, or is not."""

from __future__ import annotations

import asyncio
import queue
import socket
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from emitter.decisions import Dialogue, Selected, Unresolved, UnresolvedReason, digest
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import ResolvedDecision
from emitter.testing.sample_moments import VALID_MOMENT
from emitter.web import aserve, open_site, serve
from tests.web.running import FORM, answer, request

if TYPE_CHECKING:
    from emitter.events import RunEvent


def messages(reported: list[RunEvent]) -> list[str]:
    """Return what a ledger reported."""
    return [getattr(each.event, "message", "") for each in reported]


def test_it_waits_for_the_answer() -> None:
    """The call returns what was answered, and who was told of the address is who could."""
    ledger = Ledger()
    pending = ledger.open(VALID_MOMENT)
    reported: queue.Queue[str] = queue.Queue()
    found: list[ResolvedDecision | Unresolved] = []
    thread = threading.Thread(target=lambda: found.append(serve(pending, ledger, on_address=reported.put)))
    thread.start()
    url = reported.get(timeout=600)

    assert answer(url, 2, choice="dialogue", objection="Why?") == 200
    thread.join(10)
    (done,) = found
    assert isinstance(done, ResolvedDecision)
    assert (done.resolution, done.channel) == (Dialogue(digest(VALID_MOMENT), "Why?"), "web")
    with pytest.raises(ConnectionError):
        request(url)


def test_nobody_answers_in_time() -> None:
    """A decision whose time is over is unresolved: no option, no veto, no consent."""
    reported: list[RunEvent] = []
    ledger = Ledger(on_event=reported.append)
    pending = ledger.open(VALID_MOMENT, expires_in=0.05)
    done = serve(pending, ledger, on_address=str)

    assert done == Unresolved(digest(VALID_MOMENT), UnresolvedReason.TIMEOUT)
    assert messages(reported) == ["decision.opened", "decision.unresolved"]


def test_a_task_that_is_cancelled_leaves_it_open() -> None:
    """Whoever waited no longer does: that is recorded, and nothing is decided."""
    reported: list[RunEvent] = []
    ledger = Ledger(on_event=reported.append)
    pending = ledger.open(VALID_MOMENT)

    async def cancelled() -> None:
        serving = asyncio.create_task(aserve(pending, ledger, on_address=lambda _: serving.cancel()))
        with pytest.raises(asyncio.CancelledError):
            await serving

    asyncio.run(cancelled())
    assert ledger.find(pending.decision_id) == pending
    assert messages(reported) == ["decision.opened", "decision.unresolved"]


def test_any_number_of_tasks_may_wait() -> None:
    """One that gives up takes nothing from the others."""
    ledger = Ledger()
    pending = ledger.open(VALID_MOMENT)

    async def waited() -> ResolvedDecision:
        async with open_site(ledger) as site:
            link = site.link(pending.decision_id)
            one, other = (asyncio.create_task(site.wait_for_answer(pending.decision_id)) for _ in range(2))
            await asyncio.wait([one], timeout=0)
            one.cancel()
            await asyncio.to_thread(answer, site.url(link.path), 0, choice="option:1")
            return await other

    assert asyncio.run(waited()).resolution == Selected(digest(VALID_MOMENT), 1)


def test_an_answer_on_another_surface_stands() -> None:
    """It is found at the end, be the page's time over: two surfaces may show one decision."""
    ledger = Ledger(clock=lambda: time.time() - 60)
    pending = ledger.open(VALID_MOMENT, expires_in=60.05)
    chosen = Selected(digest(VALID_MOMENT), 1)
    done = serve(pending, ledger, on_address=lambda _: ledger.resolve(pending.decision_id, chosen, channel="terminal"))

    assert isinstance(done, ResolvedDecision)
    assert (done.resolution, done.channel) == (chosen, "terminal")


def test_nobody_holds_the_server_up(caplog: pytest.LogCaptureFixture) -> None:
    """Connections that say nothing, or half of a request, do not keep the answer from whoever waits for it."""
    ledger = Ledger()
    pending = ledger.open(VALID_MOMENT, expires_in=0.2)
    held: list[socket.socket] = []

    def hold(url: str) -> None:
        where = urlsplit(url)
        head = f"POST {where.path} HTTP/1.1\r\nHost: {where.netloc}\r\nOrigin: http://{where.netloc}\r\n"
        for begun in ("", f"{head}Content-Type: {FORM}\r\nContent-Length: 9\r\n\r\nchoice"):
            held.append(socket.create_connection((str(where.hostname), int(where.port or 0))))
            held[-1].sendall(begun.encode())

    done = serve(pending, ledger, on_address=hold)
    for each in held:
        each.close()

    assert done == Unresolved(digest(VALID_MOMENT), UnresolvedReason.TIMEOUT)
    assert caplog.text == ""


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_without_the_extra_it_says_what_to_install(missing: str) -> None:
    """And not that some module is missing."""
    code = f"import sys; sys.modules['{missing}'] = None\nimport emitter.web"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert f"emitter.errors.MissingExtra: The local page needs {missing}." in ended.stderr
    assert "pip install 'llm-emitter[web]'" in ended.stderr
