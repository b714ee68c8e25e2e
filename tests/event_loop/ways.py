"""Every async function of the library that uses a store or a file, as a function of a world to try it in."""

from __future__ import annotations

import asyncio
import copy
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx2
from pydantic import BaseModel

from emitter import AsyncEmitter, aemit, aemit_binding_moment, aemit_many, astream, astream_binding_moment
from emitter.authority import Authority, Effects, StopRequest
from emitter.authority.guard.briefing import abrief_with_model
from emitter.bulk import Batch, aemit_binding_moments
from emitter.client.background import Background
from emitter.decisions import resolution_to_json, select_option
from emitter.decisions.ledger import Ledger
from emitter.errors import ApprovalPending, CapabilityNotProvided, PromptTooLong
from emitter.host import Acceptor, HostConfig
from emitter.host.config import HostLimits
from emitter.integrations.approvals import amake_call, apropose
from emitter.mcp.asker import DecisionAsker
from emitter.telemetry import to_all, to_jsonl
from emitter.testing import Text
from emitter.testing.sample_moments import VALID_MOMENT
from emitter.web import aserve, inbox
from emitter.web.server import open_site
from tests.authority.execution.making import approved, asked, granted, work
from tests.event_loop.watching import WatchedStore
from tests.scenarios.answers import BOUND
from tests.web.inboxes import authenticate

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from emitter.testing import Behaviour, ReceivedRequest, Simulator
    from tests.event_loop.watching import Watch

QUICK = Batch(poll=0.01, max_poll=0.01)
MODEL = "openai/gpt-6-sol"


class Invoice(BaseModel):
    """What is asked for."""

    vendor: str


def answer(asked_for: ReceivedRequest) -> Behaviour:
    """Answer with a decision where one is asked for."""
    return Text(BOUND if "recommended_idx" in str(asked_for.body) else {"vendor": "Acme"})


@dataclass
class World:
    """A vendor, a folder, and a store that is watched."""

    vendor: Simulator
    folder: Path
    watch: Watch
    store: WatchedStore = field(init=False)
    client: Any = field(init=False)

    def __post_init__(self) -> None:
        self.store = WatchedStore(self.watch, self.folder)
        self.client = self.vendor.client(MODEL, asynchronous=True)

    async def try_out(self, way: Callable[[World], Awaitable[None]]) -> None:
        """Go a way, and close the client."""
        async with self.client:
            await way(self)

    def host(self, **changes: Any) -> Acceptor:
        """Return a host with the store, whose events and acceptances go to a file, too."""
        notify = to_jsonl(self.folder / "host.jsonl")
        return Acceptor(HostConfig(**changes), store=self.store, on_event=notify)

    def options(self, **changes: Any) -> dict[str, Any]:
        """Return the options of an emission."""
        sink = to_all(to_jsonl(self.folder / "events.jsonl"), self.no_thread)
        given = {"model": MODEL, "client": self.client, "host": self.host(), "on_event": sink, "run_id": "r"}
        return {**given, **changes}

    def no_thread(self, _: object) -> None:
        """Be a sink that belongs to the event loop, such as the ``put_nowait`` of a queue."""
        asyncio.get_running_loop()

    @property
    def authority(self) -> Authority:
        """An authority over the store."""
        return Authority(self.store, on_event=to_jsonl(self.folder / "authority.jsonl"))


async def _emit(world: World, **changes: Any) -> None:
    await aemit(Invoice, "From Acme.", **world.options(**changes))


async def _emit_again(world: World) -> None:
    options = world.options()
    for _ in range(2):
        await aemit(Invoice, "From Acme.", **options)


async def _conflict(world: World) -> None:
    """Answer the same question twice at the same time."""
    options = world.options()
    await asyncio.gather(*(aemit(Invoice, "From Acme.", **options) for _ in range(3)))


async def _full(world: World) -> None:
    with suppress(Exception):
        await _emit(world, host=world.host(limits=HostLimits(envelopes_per_turn=0)))


async def _incapable(world: World) -> None:
    with suppress(CapabilityNotProvided):
        await _emit(world, requires=["x-host-a-b"])


async def _too_long(world: World) -> None:
    with suppress(PromptTooLong):
        await aemit(Invoice, "From Acme.", **world.options(instructions="word " * 400_000))


async def _cancelled(world: World) -> None:
    task = asyncio.create_task(_emit(world))
    await asyncio.sleep(0.05)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def _stream(world: World) -> None:
    async with astream(Invoice, "From Acme.", **world.options()) as events:
        async for _ in events:
            pass
        await events.result()


async def _left_stream(world: World) -> None:
    async with astream(Invoice, "From Acme.", **world.options()) as events:
        await anext(aiter(events))


async def _stream_decision(world: World) -> None:
    async with astream_binding_moment("Go?", **world.options()) as events:
        await events.result()


async def _client(world: World) -> None:
    options = world.options()
    async with AsyncEmitter(options.pop("model"), **options) as emitter:
        await emitter.emit(Invoice, "From Acme.")
        await emitter.emit_binding_moment("Go?")
        async with emitter.stream(Invoice, "From Beta.") as events:
            await events.result()
        await emitter.emit_many(Invoice, ["a"], progress=False).results()


async def _background(world: World) -> None:
    await _emit(world, background=Background(world.store, "report", poll_seconds=0.1))


async def _many(world: World, **changes: Any) -> None:
    for _ in range(2):
        run = aemit_many(Invoice, ["a", "b", "c"], progress=False, **world.options(**changes))
        assert all([result.error is None async for result in run])


async def _many_with_journal(world: World, **changes: Any) -> None:
    await _many(world, journal=world.folder / "run.jsonl", **changes)


async def _many_with_store(world: World, **changes: Any) -> None:
    await _many(world, store=world.store, **changes)


async def _many_moments(world: World) -> None:
    options = world.options(journal=world.folder / "run.jsonl")
    await aemit_binding_moments(["a", "b"], progress=False, **options).results()


def _in_thread(function: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    """Return a function that prepares something, which is not what is tried."""
    return partial(asyncio.to_thread, function)


async def _confirm(world: World) -> None:
    authority, request = world.authority, asked()
    decision = await _in_thread(approved)(authority, request)
    await authority.aconfirm(decision, request)


async def _execute(world: World) -> None:
    authority = world.authority
    confirm = await _in_thread(granted)(authority)

    async def tool() -> str:
        await asyncio.sleep(0)
        return "sent"

    await authority.aexecute(confirm.confirm_id, work(tool=tool))
    await authority.aexecute(confirm.confirm_id, work(tool=tool))


async def _stop(world: World) -> None:
    authority = world.authority
    await _in_thread(granted)(authority)
    await authority.astop(StopRequest("w"))


async def _settle(world: World) -> None:
    authority = world.authority
    confirm = await _in_thread(granted)(authority)

    async def tool() -> None:
        raise asyncio.CancelledError

    with suppress(asyncio.CancelledError):
        await authority.aexecute(confirm.confirm_id, work(tool=tool))
    await authority.aresolve_unfinished("w", "i", Effects())


async def _send(to: str) -> str:
    """Send an e-mail."""
    await asyncio.sleep(0)
    return f"sent to {to}"


async def _guard(world: World) -> None:
    authority = world.authority

    async def ask(pending: Any) -> Any:
        await asyncio.sleep(0)
        return select_option(pending.moment, 0)

    tool = authority.guard(_send, ask=ask)
    assert await tool("mom") == "sent to mom"
    assert await tool.call("c1", "mom") == "sent to mom"
    assert await tool.call("c1", "mom") == "sent to mom"


async def _propose(world: World) -> None:
    tool = world.authority.guard(_send)
    with suppress(ApprovalPending):
        await tool.call("c1", "mom")
    await tool.propose("c1", "mom")
    await tool.revoke("c1", "mom")


async def _brief(world: World) -> None:
    tool = world.authority.guard(_send, brief=abrief_with_model("Mail.", **world.options()))
    bound = copy.deepcopy(BOUND)
    bound["turn"]["question"]["options"][0]["label"] = tool.label
    world.vendor.script(Text(bound))
    await tool.propose("c1", "mom")


async def _ledger(world: World) -> None:
    ledger = Ledger(world.store, on_event=to_jsonl(world.folder / "ledger.jsonl"))
    pending = await ledger.aopen(VALID_MOMENT)
    await ledger.afind(pending.decision_id)
    await ledger.apending()
    await ledger.aresolve(pending.decision_id, select_option(pending.moment, 0))
    await ledger.wait(pending.decision_id, poll=0.01)
    other = await ledger.aopen(VALID_MOMENT, decision_id="other")
    await ledger.awithdraw(other.decision_id)


async def _wait(world: World) -> None:
    ledger = Ledger(world.store)
    pending = await ledger.aopen(VALID_MOMENT)
    waiting = asyncio.create_task(ledger.wait(pending.decision_id, poll=0.01))
    await asyncio.sleep(0.05)
    await ledger.awithdraw(pending.decision_id)
    await waiting


async def _serve(world: World) -> None:
    ledger = Ledger(world.store)
    pending = await ledger.aopen(VALID_MOMENT, expires_in=0.2)
    await aserve(pending, ledger, on_address=lambda _: None)


async def _serve_cancelled(world: World) -> None:
    ledger = Ledger(world.store)
    pending = await ledger.aopen(VALID_MOMENT)
    started = asyncio.Event()
    task = asyncio.create_task(aserve(pending, ledger, on_address=lambda _: started.set()))
    await started.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def _page(world: World) -> None:
    ledger = Ledger(world.store)
    pending = await ledger.aopen(VALID_MOMENT)
    async with open_site(ledger) as site, httpx2.AsyncClient(verify=False) as browser:
        link = site.link(pending.decision_id)
        assert (await browser.get(site.url(link.path))).status_code == 200


async def _inbox(world: World) -> None:
    authority = world.authority
    pending = await authority.ledger.aopen(VALID_MOMENT)
    transport = httpx2.ASGITransport(inbox(authority, authenticate=authenticate))
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://127.0.0.1", headers={"x-user": "alice"}
    ) as browser:
        for path in ("/", "/closed", f"/decisions/{pending.reference}"):
            assert (await browser.get(path)).status_code == 200


async def _mcp(world: World) -> None:
    asker = DecisionAsker(Ledger(world.store))
    pending = await asker.open(VALID_MOMENT)
    await asker.find(pending.decision_id)
    await asker.resolve(None, pending.decision_id, resolution_to_json(select_option(pending.moment, 0)))


async def _agent(world: World) -> None:
    tool = world.authority.guard(_send)
    await apropose(tool, "c1", {"to": "mom"})
    await amake_call(tool, "c1", {"to": "mom"})


WAYS: dict[str, Callable[[World], Awaitable[None]]] = {
    "aemit": _emit,
    "aemit, recalled": _emit_again,
    "aemit, at the same time": _conflict,
    "aemit, no capacity": _full,
    "aemit, no capable model": _incapable,
    "aemit, prompt too long": _too_long,
    "aemit, cancelled": _cancelled,
    "aemit, in the background": _background,
    "aemit_binding_moment": lambda world: aemit_binding_moment("Go?", **world.options()),
    "astream": _stream,
    "astream, left": _left_stream,
    "astream_binding_moment": _stream_decision,
    "AsyncEmitter": _client,
    "aemit_many": _many,
    "aemit_many, no capable model": lambda world: _raises(_many(world, requires=["x-host-a-b"])),
    "aemit_many, journal": _many_with_journal,
    "aemit_many, journal of batches": lambda world: _many_with_journal(world, batch=QUICK),
    "aemit_many, store": _many_with_store,
    "aemit_many, store of batches": lambda world: _many_with_store(world, batch=QUICK),
    "aemit_binding_moments": _many_moments,
    "Authority.aconfirm": _confirm,
    "Authority.aexecute": _execute,
    "Authority.astop": _stop,
    "Authority.aresolve_unfinished": _settle,
    "Authority.guard": _guard,
    "Authority.guard, proposed": _propose,
    "abrief_with_model": _brief,
    "Ledger.aopen, afind, apending, aresolve, awithdraw, wait": _ledger,
    "Ledger.wait": _wait,
    "aserve": _serve,
    "aserve, cancelled": _serve_cancelled,
    "open_site": _page,
    "inbox": _inbox,
    "DecisionAsker": _mcp,
    "amake_call, apropose": _agent,
}


async def _raises(call: Awaitable[None]) -> None:
    with suppress(CapabilityNotProvided):
        await call
