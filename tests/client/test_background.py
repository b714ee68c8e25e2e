"""A long answer is written in the background, and a process that comes back waits for the same one."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx2
import openai
import pytest
from pydantic import BaseModel
from tenacity import wait_none

from emitter import Fallback, NotFound, Policy, aemit, emit, emit_binding_moment, emit_many, stream
from emitter.client.background import Background
from emitter.clock import Clock
from emitter.errors import InputError, StoreFailed
from emitter.messages import FaultKind
from emitter.stores import MemoryStore, SqliteStore
from emitter.testing import Cut, Overloaded, Text, UnknownStop, simulator
from emitter.testing import NotFound as Missing

if TYPE_CHECKING:
    from pathlib import Path

    from emitter.stores import Store
    from emitter.testing import Simulator

MODEL = "openai/gpt-6-sol"


class Report(BaseModel):
    """What is asked for."""

    title: str


class Waits:
    """A clock that does not wait, and counts how long it was asked to. After ``stop_after`` waits it interrupts."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.slept = list[float]()
        self.stop_after = stop_after
        self.clock = Clock(lambda: sum(self.slept), self.sleep, self.async_sleep, wait_none())

    def sleep(self, seconds: float) -> None:
        """Count a wait."""
        self.slept.append(seconds)
        if len(self.slept) == self.stop_after:
            raise KeyboardInterrupt

    async def async_sleep(self, seconds: float) -> None:
        """Count a wait."""
        self.sleep(seconds)


ANSWER, CUT_ANSWER = Text({"title": "Otters"}), Cut(answer=Text({"title": "Otters"}))


def ask(vendor: Simulator, background: Background | bool, waits: Waits | None = None, **options: Any) -> Any:
    """Ask for a report in the background."""
    return emit(
        Report,
        "Write about otters.",
        **{"model": MODEL, "client": vendor.client(MODEL), **options},
        background=background,
        clock=(waits or Waits()).clock,
    )


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_the_answer_is_looked_for_until_it_is_there(*, asynchronous: bool) -> None:
    """One request, which the vendor keeps, and a wait before each look."""
    waits = Waits()

    async def ask_async(vendor: Simulator) -> Any:
        async with vendor.client(MODEL, asynchronous=True) as client:
            return await aemit(
                Report, "Write about otters.", model=MODEL, client=client, background=True, clock=waits.clock
            )

    with simulator(answers=ANSWER) as vendor:
        emission = asyncio.run(ask_async(vendor)) if asynchronous else ask(vendor, background=True, waits=waits)

        assert emission.value == Report(title="Otters")
        assert waits.slept == [2.0, 2.0]
        [call] = vendor.calls
        assert (call.body["background"], call.body["store"]) == (True, True)
        assert emission.usage == vendor.billed


@pytest.mark.parametrize("waits", [1, 2], ids=["queued", "in progress"])
@pytest.mark.parametrize("make_store", [MemoryStore, lambda: None], ids=["store", "no store"])
def test_an_emission_that_was_stopped_is_taken_up(make_store: Any, waits: int) -> None:
    """With a store nothing is asked for twice, and without one everything is."""
    store = make_store()
    background = Background() if store is None else Background(store, "report-7", poll_seconds=30)
    with simulator(answers=ANSWER) as vendor:
        with pytest.raises(KeyboardInterrupt):
            ask(vendor, background, Waits(stop_after=waits))
        assert ask(vendor, background).value == Report(title="Otters")
        assert ask(vendor, background).value == Report(title="Otters")
        assert len(vendor.calls) == (3 if store is None else 1)


def test_every_attempt_has_an_answer_of_its_own() -> None:
    """A cut answer and a failed one are found again as they were, and lead to the same next request."""
    store = MemoryStore()
    with simulator(answers=ANSWER) as vendor:
        vendor.script(CUT_ANSWER, Text({"titles": "?"}))
        first = ask(vendor, Background(store, "report-7"))
        again = ask(vendor, Background(store, "report-7"))

        assert [each.verdict for each in first.attempts] == [each.verdict for each in again.attempts]
        assert len(first.attempts) == len(vendor.calls) == 3
        ask(vendor, Background(store, "report-8"))
        assert len(vendor.calls) == 4


def test_an_answer_that_failed_is_asked_for_once_more() -> None:
    """The same request again has an answer of its own; taken up again, both are found."""
    store = MemoryStore()
    with simulator(answers=ANSWER) as vendor:
        vendor.script(UnknownStop("failed"))
        emission = ask(vendor, Background(store, "report-7"))
        again = ask(vendor, Background(store, "report-7"))
        assert [each.verdict.value for each in emission.attempts] == ["faulted", "complete"]
        assert again.value == emission.value
        assert len(vendor.calls) == 2


def test_a_failed_look_asks_for_nothing_anew() -> None:
    """An error while the answer is written costs a look, and no second answer."""
    looks = iter([httpx2.ConnectError("gone")])

    def fail_once(request: httpx2.Request) -> None:
        error = next(looks, None) if request.method == "GET" else None
        if error is not None:
            raise error

    with simulator(answers=ANSWER) as vendor:
        client = vendor.client(MODEL, event_hooks={"request": [fail_once]})
        emission = ask(vendor, Background(MemoryStore(), "report-7"), client=client)
        assert [each.verdict.value for each in emission.attempts] == ["faulted", "complete"]
        assert len(vendor.calls) == 1


PENDING = {"status": "queued", "output": []}
FOREIGN_POLLS: dict[str, dict[str, Any]] = {
    "finished": {"id": "resp_other", "status": "completed"},
    "pending": {"id": "resp_other", "status": "in_progress"},
    "failed": {"id": "resp_other", "status": "failed", "error": {"code": "invalid_prompt", "message": "no"}},
    "cut": {"id": "resp_other", "status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
    "without an id": {"status": "completed"},
    "of another type": {"id": 7, "status": "completed"},
}


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("poll", FOREIGN_POLLS.values(), ids=FOREIGN_POLLS)
@pytest.mark.parametrize("make_store", [MemoryStore, lambda: None], ids=["store", "no store"])
def test_another_response_than_the_one_that_was_polled_is_no_answer(
    poll: dict[str, Any], make_store: Any, *, asynchronous: bool
) -> None:
    """It is a fault, and with a store the next call polls the right one, which is paid for."""
    store, waits = make_store(), Waits()
    background = Background() if store is None else Background(store, "report-7")
    polls = iter([{**PENDING, "id": "resp_mine"}, {**_response("Theirs"), **poll}])
    posted = list[str]()

    def respond(request: httpx2.Request) -> httpx2.Response:
        if request.method == "POST":
            posted.append(request.url.path)
            return httpx2.Response(200, json={**PENDING, "id": "resp_mine"})
        assert request.url.path.endswith("/resp_mine")
        return httpx2.Response(200, json=next(polls, {**_response("Mine"), "id": "resp_mine"}))

    options: Any = {"model": MODEL, "background": background, "clock": waits.clock}
    transport = httpx2.MockTransport(respond)
    if asynchronous:
        client = openai.AsyncOpenAI(api_key="k", http_client=httpx2.AsyncClient(transport=transport))
        emission = asyncio.run(aemit(Report, "?", client=client, **options))
    else:
        sync_client = openai.OpenAI(api_key="k", http_client=httpx2.Client(transport=transport))
        emission = emit(Report, "?", client=sync_client, **options)

    assert emission.value == Report(title="Mine")
    first, _ = emission.attempts
    assert first.fault is not None
    assert first.fault.kind is FaultKind.PROTOCOL
    assert len(posted) == (2 if store is None else 1)


def _response(title: str) -> dict[str, Any]:
    text = json.dumps({"title": title})
    item = {"type": "message", "status": "completed", "content": [{"type": "output_text", "text": text}]}
    return {"status": "completed", "output": [item], "usage": {"input_tokens": 7, "output_tokens": 5}}


def test_an_answer_that_takes_too_long_is_waited_for_again() -> None:
    """The time limit of a call ends a wait, and the next call waits for the same answer."""
    with simulator(answers=ANSWER) as vendor:
        background = Background(MemoryStore(), "report-7", poll_seconds=40)
        emission = ask(vendor, background, policy=Policy(timeout=60))
        assert emission.value == Report(title="Otters")
        assert [each.verdict.value for each in emission.attempts] == ["faulted", "complete"]
        assert len(vendor.calls) == 1


def test_the_time_of_the_requests_counts() -> None:
    """Requests of 25 s each leave time for two of them in a timeout of a minute."""
    waits, seconds = Waits(), [0.0]

    def take_long(_: httpx2.Request) -> None:
        seconds[0] += 25

    clock = replace(waits.clock, monotonic=lambda: seconds[0])
    with simulator(answers=ANSWER) as vendor:
        client = vendor.client(MODEL, event_hooks={"request": [take_long]})
        emission = emit(
            Report,
            "Write about otters.",
            model=MODEL,
            client=client,
            background=Background(poll_seconds=10, store=MemoryStore(), key="report-7"),
            clock=clock,
            policy=Policy(timeout=60),
        )

        assert [each.verdict.value for each in emission.attempts] == ["faulted", "complete"]
        assert len(vendor.calls) == 1


class Full(MemoryStore):
    """A store that keeps nothing more."""

    __slots__ = ()

    def get_or_create(self, *_: Any) -> Any:
        """Fail."""
        raise StoreFailed("The disk is full.")


def test_an_answer_whose_id_cannot_be_stored_is_waited_for() -> None:
    """It is paid for, so it is not lost; a warning names its id."""
    with simulator(answers=ANSWER) as vendor:
        with pytest.warns(RuntimeWarning, match=r"The id resp_\w+ could not be stored.*The disk is full"):
            emission = ask(vendor, Background(Full(), "report-7"))

        assert emission.value == Report(title="Otters")
        assert len(vendor.calls) == 1


def test_an_answer_that_the_vendor_has_forgotten_is_asked_for_by_the_next_call() -> None:
    """The first says that it is gone; nobody pays twice in silence."""
    background = Background(MemoryStore(), "report-7")
    with simulator(answers=ANSWER) as vendor:
        with pytest.raises(KeyboardInterrupt):
            ask(vendor, background, Waits(stop_after=1))
        vendor.reset()
        with pytest.raises(NotFound):
            ask(vendor, background)
        assert ask(vendor, background).value == Report(title="Otters")


CHILD = """
import sys
from emitter import emit
from emitter.client.background import Background
from emitter.stores import SqliteStore
from emitter.testing import simulator
from tests.client.test_background import Report
import openai

class Killed(SqliteStore):
    def get_or_create(self, *arguments):
        super().get_or_create(*arguments)
        print("kept", flush=True)
        sys.stdin.read()

client = openai.OpenAI(base_url=sys.argv[1], api_key="k")
emit(Report, "Write about otters.", model="openai/gpt-6-sol", client=client,
     background=Background(Killed(sys.argv[2]), "report-7"))
"""


def test_a_killed_process_loses_no_answer(tmp_path: Path) -> None:
    """What one process asked for, the next one gets, from the file."""
    with simulator(answers=ANSWER) as vendor:
        arguments = [sys.executable, "-c", CHILD, vendor.base_url(MODEL), str(tmp_path / "jobs.db")]
        with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"kept\n"
            child.send_signal(signal.SIGKILL)
        store: Store = SqliteStore(tmp_path / "jobs.db")
        assert ask(vendor, Background(store, "report-7")).value == Report(title="Otters")
        assert len(vendor.calls) == 1


def test_a_fallback_of_another_vendor_is_asked_in_the_ordinary_way() -> None:
    """Only OpenAI has the mode."""
    other = "anthropic/claude-sonnet-5-5"
    with simulator(answers=ANSWER) as vendor:
        vendor.script(Missing())
        with pytest.raises(NotFound):
            ask(vendor, background=True)
        vendor.script(Overloaded())
        fallback = Fallback(other, client=vendor.client(other))
        emission = ask(vendor, background=True, fallback=[fallback])
        assert emission.attempts[-1].model == other
        assert "background" not in vendor.calls[-1].body


def refused(**options: Any) -> str:
    """Return the error of an emission that is not sent."""
    with simulator() as vendor, pytest.raises(InputError) as raised:
        ask(vendor, True, **{"client": vendor.client(options.get("model", MODEL)), **options})
    assert not vendor.calls
    return str(raised.value)


def test_what_has_no_background_says_so() -> None:
    """Another wire, another vendor, a stream, many jobs, and arguments that mean nothing."""
    assert "no background mode over openai-chat" in refused(wire="openai-chat")
    assert "no background mode over anthropic" in refused(model="anthropic/claude-sonnet-5-5")
    with simulator() as vendor:
        client = vendor.client(MODEL)
        with pytest.raises(InputError, match="stream does not support background"):
            stream(Report, "?", model=MODEL, client=client, background=True)
        with pytest.raises(InputError, match="A bulk run does not support background"):
            emit_many(Report, ["?"], model=MODEL, client=client, background=True)
        with pytest.raises(InputError, match="background"):
            emit_binding_moment("?", model=MODEL, client=client, background="yes")  # type: ignore[arg-type]
        with pytest.raises(InputError, match="Use background=True"):
            emit(Report, "?", model=MODEL, client=client, extra_body={"background": True})


@pytest.mark.parametrize(
    "arguments",
    [
        {"store": MemoryStore()},
        {"key": "k"},
        {"store": MemoryStore(), "key": ""},
        {"poll_seconds": 0},
        {"poll_seconds": "2"},
    ],
    ids=["store alone", "key alone", "empty key", "no pause", "a text for a pause"],
)
def test_bad_arguments_are_rejected(arguments: dict[str, Any]) -> None:
    """Before anything is sent."""
    with pytest.raises(InputError):
        Background(**arguments)
