"""Tasks that a simulated vendor answers by their marks, and runs of them by batches, on a clock that never waits."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2
from tenacity import wait_none

from emitter.adapters.client import make
from emitter.batch import Asked, Batch, Channel, Ended, Means, Standing, opened, run, vendor_of
from emitter.clock import Clock
from emitter.document.wanted import wanted
from emitter.door.plan import plan
from emitter.door.settings import Settings
from emitter.policy import Policy
from emitter.profile import of_model
from emitter.testing import Cut, Failed, Malformed, Refused, Simulator, Text, Violating
from emitter.testing.batches.desk import BatchDesk
from emitter.testing.ledger import Ledger
from emitter.testing.serving import Pace
from tests.many.asking import Numbered, number_in

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator
    from pathlib import Path

    from emitter.batch import Journal
    from emitter.steps import Outcome
    from emitter.testing import Asked as Request
    from emitter.testing import Behaviour

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
        "cut": Cut(of=right) if not asked.before and (asked.budget or 0) < _RAISED else right,
        "violate": right if corrected else Violating({"n": "one"}),
        "fail": right if asked.before else Failed(),
    }
    return next((marks[each] for each in marks if f" {each}" in said), right)


_BUDGET = 64
_RAISED = 2 * _BUDGET
POLICY = Policy(output_tokens=_BUDGET)


@contextmanager
def vendor(answers: Any = answered, polls: int = 2) -> Iterator[tuple[Simulator, BatchDesk]]:
    """Serve the answers; the desk holds the batches."""
    ledger = Ledger(None)
    desk = BatchDesk(answers, ledger, seed=0, check_schemas=True)
    desk.batches.polls = polls
    with Simulator(desk, ledger, Pace(0.0, None), "127.0.0.1", 0) as running:
        yield running, desk


@dataclass
class Time:
    """A clock on which waiting takes no time."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list[float])

    def clock(self) -> Clock:
        """Return it as a driver wants it."""
        return Clock(monotonic=lambda: self.now, asleep=self._asleep, wait=wait_none())

    async def _asleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


@dataclass
class Came:
    """What a run came to."""

    items: dict[str, Ended] = field(default_factory=dict[str, Ended])
    told: list[Standing] = field(default_factory=list[Standing])
    time: Time = field(default_factory=Time)

    def outcome(self, key: str) -> Outcome:
        """Return the outcome of an emission."""
        found = self.items[key].outcome
        assert not isinstance(found, Exception), found
        return found

    @property
    def notices(self) -> list[str]:
        """The sentences worth reading that were told."""
        return [each.notice for each in self.told if each.notice]


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
    doom: Callable[[Journal], Journal] | None = None
    """What the journal is written through, where it is to fail."""


def settings_of(setting: Setting, client: object, time: Time) -> Settings:
    """Return the settings of every emission."""
    model, _, chat = setting.model.partition(" ")
    wire = "openai-chat" if chat else None
    return Settings(model, client, (), setting.policy, wire=wire, clock=time.clock(), **{"sink": None, **setting.more})


def planned(settings: Settings, tasks: Iterable[str]) -> Iterator[Asked]:
    """Return the emissions to be made, each known by its place."""
    asked = wanted(Numbered, (), ())
    for place, each in enumerate(tasks):
        yield Asked(f"k{place}", plan(asked, each, settings), settings)


@asynccontextmanager
async def client_at(model: str, url: str, transport: httpx2.AsyncBaseTransport | None = None) -> AsyncIterator[Any]:
    """Yield an asynchronous client of the vendor's own SDK that asks there."""
    profile, _ = of_model(model.partition(" ")[0])
    base = f"{url}/v1" if profile.name == "openai" else url
    async with httpx2.AsyncClient(transport=transport or httpx2.AsyncHTTPTransport(verify=False), timeout=30) as http:
        made: Any = make(profile, asynchronous=True, base_url=base, api_key="a-key", http_client=http)
        client = getattr(made, "aio", made)
        try:
            yield client
        finally:
            await (client.aclose if hasattr(client, "aclose") else client.close)()


async def arun(client: Any, tasks: Iterable[str], setting: Setting, came: Came) -> Came:
    """Make a run, and return what it came to."""
    settings = settings_of(setting, client, came.time)
    asked = list(planned(settings, tasks))
    profile, _ = of_model(settings.model)
    wire = asked[0].plan.wire if asked else profile.default_wire
    channel = Channel(client, profile, wire, settings.policy.timeout)
    with opened(setting.journal, {"run": setting.about}) as journal:
        book = setting.doom(journal) if setting.doom else journal
        means = Means(vendor_of(profile), channel, book, setting.how, settings.clock, came.told.append)
        async with aclosing(run(means, _stream(asked))) as running:
            async for each in running:
                came.items[each.key] = each
                if setting.most is not None and len(came.items) >= setting.most:
                    break
    return came


async def _stream(asked: Iterable[Asked]) -> AsyncIterator[Asked]:
    for each in asked:
        yield each


def ran(url: str, tasks: Iterable[str], setting: Setting | None = None, came: Came | None = None) -> Came:
    """Make a run, and return what it came to."""
    how, into = setting or Setting(), came or Came()

    async def whole() -> Came:
        async with client_at(how.model, url, how.transport) as client:
            return await arun(client, tasks, how, into)

    return asyncio.run(whole())
