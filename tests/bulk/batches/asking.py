"""Tasks that a simulated vendor answers by their marks, and runs of them by batches, on a clock that never waits."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2
from tenacity import wait_none

from emitter.adapters.clients import create_client
from emitter.bulk.batches import Batch, get_batch_vendor
from emitter.bulk.batches.emissions import BatchEmissionRequest, BatchStatus, FinishedBatchEmission
from emitter.bulk.batches.journal import open_batch_journal
from emitter.bulk.batches.scheduler import BatchContext, BatchScheduler
from emitter.bulk.batches.vendor_api import BatchConnection
from emitter.client.request import prepare_emission
from emitter.client.settings import Settings
from emitter.clock import Clock
from emitter.deadline import Deadline
from emitter.forms.document import document_form
from emitter.policy import Policy
from emitter.profiles import find_profile
from emitter.testing import Cut, Failed, Malformed, Refused, Simulator, Text, Violating
from emitter.testing.handler import SimulatorHandler
from emitter.testing.responses import CallLog
from emitter.testing.simulation import ResponseSpeed
from tests.bulk.asking import Numbered, number_in

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator
    from pathlib import Path

    from emitter.bulk.batches.journal import BatchJournal
    from emitter.core.effects import EmissionOutcome
    from emitter.testing import Behaviour
    from emitter.testing import ReceivedRequest as Request

OPENAI, CHAT = "openai/gpt-6-sol", "openai/gpt-6-sol chat"
ANTHROPIC, GOOGLE = "anthropic/claude-sonnet-5-5", "google/gemini-3.8-flash"
MODELS = {"responses": OPENAI, "chat": CHAT, "anthropic": ANTHROPIC, "google": GOOGLE}


def answered(asked: Request) -> Behaviour:
    """Answer with the task's number, or as its mark says."""
    said = str(asked.body)
    right = Text({"n": number_in(asked.body)})
    corrected = "it was discarded" in said
    marks: dict[str, Behaviour] = {
        "refuse": Refused(),
        "hopeless": Malformed(),
        "cut": Cut(answer=right) if not asked.repeat_count and (asked.budget or 0) < _RAISED else right,
        "violate": right if corrected else Violating({"n": "one"}),
        "fail": right if asked.repeat_count else Failed(),
    }
    return next((marks[each] for each in marks if f" {each}" in said), right)


_BUDGET = 64
_RAISED = 2 * _BUDGET
POLICY = Policy(output_tokens=_BUDGET)


@contextmanager
def vendor(answers: Any = answered, polls: int = 2) -> Iterator[tuple[Simulator, SimulatorHandler]]:
    """Serve the answers; the desk holds the batches."""
    ledger = CallLog(None)
    desk = SimulatorHandler(answers, ledger, seed=0, check_schemas=True)
    desk.batches.polls = polls
    with Simulator(desk, ledger, ResponseSpeed(0.0, None), "127.0.0.1", 0) as running:
        yield running, desk


@dataclass
class Time:
    """A clock on which waiting takes no time."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list[float])

    def clock(self) -> Clock:
        """Return it as a driver wants it."""
        return Clock(monotonic=lambda: self.now, async_sleep=self._asleep, wait=wait_none())

    async def _asleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


@dataclass
class Came:
    """What a run came to."""

    items: dict[str, FinishedBatchEmission] = field(default_factory=dict[str, FinishedBatchEmission])
    reported: list[BatchStatus] = field(default_factory=list[BatchStatus])
    time: Time = field(default_factory=Time)

    def outcome(self, key: str) -> EmissionOutcome:
        """Return the outcome of an emission."""
        found = self.items[key].outcome
        assert not isinstance(found, Exception), found
        return found

    @property
    def notices(self) -> list[str]:
        """The sentences worth reading that were reported."""
        return [each.notice for each in self.reported if each.notice]


@dataclass(frozen=True)
class Setting:
    """How a run is made."""

    model: str = OPENAI
    how: Batch = field(default_factory=Batch)
    policy: Policy = POLICY
    journal: Path | None = None
    about: str = "tests"
    most: int | None = None
    """So many items are taken, and then the run is left."""
    more: dict[str, Any] = field(default_factory=dict[str, Any])
    transport: httpx2.AsyncBaseTransport | None = None
    doom: Callable[[BatchJournal], BatchJournal] | None = None
    """What the journal is written through, where it is to fail."""


def settings_of(setting: Setting, client: object, time: Time) -> Settings:
    """Return the settings of every emission."""
    model, _, chat = setting.model.partition(" ")
    wire = "openai-chat" if chat else None
    return Settings(
        model, client, (), setting.policy, wire=wire, clock=time.clock(), **{"on_event": None, **setting.more}
    )


def planned(settings: Settings, tasks: Iterable[str]) -> Iterator[BatchEmissionRequest]:
    """Return the emissions to be made, each known by its place."""
    asked = document_form(Numbered)
    for place, each in enumerate(tasks):
        yield BatchEmissionRequest(f"k{place}", prepare_emission(asked, each, settings), settings)


@asynccontextmanager
async def client_at(model: str, url: str, transport: httpx2.AsyncBaseTransport | None = None) -> AsyncIterator[Any]:
    """Yield an asynchronous client of the vendor's own SDK that asks there."""
    profile, _ = find_profile(model.partition(" ")[0])
    base = f"{url}/v1" if profile.name == "openai" else url
    async with httpx2.AsyncClient(transport=transport or httpx2.AsyncHTTPTransport(verify=False), timeout=120) as http:
        made: Any = create_client(profile, asynchronous=True, base_url=base, api_key="a-key", http_client=http)
        client = getattr(made, "aio", made)
        try:
            yield client
        finally:
            await (client.aclose if hasattr(client, "aclose") else client.close)()


async def arun(client: Any, tasks: Iterable[str], setting: Setting, came: Came) -> Came:
    """Make a run, and return what it came to."""
    settings = settings_of(setting, client, came.time)
    asked = list(planned(settings, tasks))
    profile, _ = find_profile(settings.model)
    wire = asked[0].plan.wire if asked else profile.default_wire
    channel = BatchConnection(
        client, profile, wire, settings.policy, Deadline(setting.how.timeout, settings.clock.monotonic)
    )
    with open_batch_journal(setting.journal, {"run": setting.about}) as journal:
        book = setting.doom(journal) if setting.doom else journal
        means = BatchContext(
            get_batch_vendor(profile), channel, book, setting.how, settings.clock, came.reported.append
        )
        async with aclosing(BatchScheduler(means).run(_stream(asked))) as running:
            async for each in running:
                came.items[each.key] = each
                if setting.most is not None and len(came.items) >= setting.most:
                    break
    return came


async def _stream(asked: Iterable[BatchEmissionRequest]) -> AsyncIterator[BatchEmissionRequest]:
    for each in asked:
        yield each


def ran(url: str, tasks: Iterable[str], setting: Setting | None = None, came: Came | None = None) -> Came:
    """Make a run, and return what it came to."""
    how, into = setting or Setting(), came or Came()

    async def whole() -> Came:
        async with client_at(how.model, url, how.transport) as client:
            return await arun(client, tasks, how, into)

    return asyncio.run(whole())
