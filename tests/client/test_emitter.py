"""``Emitter`` and ``AsyncEmitter`` keep one SDK client open; the functions share clients in the same way."""

from __future__ import annotations

import asyncio
import inspect
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import openai
import pytest
from pydantic import BaseModel

from emitter import AsyncEmitter, BindingMoment, Emitter, InputError, Policy, aemit, emit
from emitter.client.pool import ClientPool
from emitter.errors import MissingKey
from emitter.profiles import load_profile
from emitter.testing import simulator
from tests.client.proxy import CountingProxy, counting_proxy
from tests.work import examples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.testing import Simulator

MODELS = {
    "openai": ("openai/gpt-6-sol", "/v1"),
    "anthropic": ("anthropic/claude-opus-5", ""),
    "google": ("google/gemini-3.8-flash", ""),
}


class Answer(BaseModel):
    """What is asked for."""

    number: int


@pytest.fixture(scope="module")
def vendor() -> Iterator[Simulator]:
    """Run a simulated vendor."""
    with simulator() as made:
        yield made


@pytest.fixture
def proxy(vendor: Simulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[CountingProxy]:
    """Count the connections to the vendor, to which the environment points."""
    with counting_proxy(vendor.url) as made:
        for name, value in vendor.environment().items():
            monkeypatch.setenv(name, value.replace(vendor.url, made.url))
        yield made


@pytest.mark.parametrize("provider", MODELS)
def test_many_emissions_over_one_emitter_open_one_connection(provider: str, proxy: CountingProxy) -> None:
    """One after the other they need one; 10,000 in the full run."""
    with Emitter(MODELS[provider][0]) as emitter:
        for _ in range(examples(10_000) // 100):
            assert isinstance(emitter.emit(Answer, "How many?").value, Answer)
    assert proxy.connections == 1


@pytest.mark.parametrize("provider", MODELS)
def test_the_functions_share_a_client(provider: str, proxy: CountingProxy) -> None:
    """No client is created and closed for each call."""
    for _ in range(20):
        emit(Answer, "How many?", model=MODELS[provider][0])
    assert proxy.connections == 1


@pytest.mark.parametrize("provider", MODELS)
def test_event_loops_do_not_share_connections(provider: str, proxy: CountingProxy) -> None:
    """Each loop has its own, and closes it when it ends, for the functions and for an emitter."""

    async def ask(emitter: AsyncEmitter) -> None:
        for _ in range(3):
            await aemit(Answer, "How many?", model=MODELS[provider][0])
            await emitter.emit(Answer, "How many?")

    emitter = AsyncEmitter(MODELS[provider][0])
    for loops in (1, 2, 3):
        asyncio.run(ask(emitter))
        assert proxy.connections == 2 * loops
        assert not [clients for clients in emitter._pool._async.values() if clients]


def test_threads_share_one_emitter(proxy: CountingProxy) -> None:
    """No more connections are opened than calls are made at once."""
    with Emitter(MODELS["openai"][0]) as emitter, ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: emitter.emit(Answer, "How many?").value, range(40)))
    assert len(found) == 40
    assert 1 <= proxy.connections <= 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
def test_a_forked_child_has_connections_of_its_own(proxy: CountingProxy) -> None:
    """Neither process disturbs what the other has open."""
    script = """
import os, sys
from emitter import Emitter, emit
model = "openai/gpt-6-sol"
form = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
emitter = Emitter(model)
def ask():
    emitter.emit(form, "How many?"); emit(form, "How many?", model=model)
ask()
if os.fork() == 0:
    ask(); emitter.close(); os._exit(0)
assert os.wait()[1] == 0
ask(); emitter.close()
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=600)
    assert proxy.connections == 4  # two clients in each process


@pytest.mark.usefixtures("proxy")
def test_a_closed_emitter_refuses_and_closes_only_its_own(vendor: Simulator) -> None:
    """A client of the caller's stays open."""
    emitter = Emitter(MODELS["openai"][0])
    emitter.emit(Answer, "How many?")
    emitter.close()
    emitter.close()
    with pytest.raises(InputError, match="This Emitter is closed"):
        emitter.emit(Answer, "How many?")

    own = openai.OpenAI(api_key="k", base_url=f"{vendor.url}/v1")
    with Emitter(MODELS["openai"][0], client=own) as emitter:
        emitter.emit(Answer, "How many?")
    assert not own.is_closed()
    own.close()


def test_a_changed_key_or_address_is_another_client(proxy: CountingProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment is read for every call, as it was when each call created a client."""
    emit(Answer, "How many?", model=MODELS["openai"][0])
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another-key-for-this-test")
    emit(Answer, "How many?", model=MODELS["openai"][0])
    assert proxy.connections == 2
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(MissingKey):
        emit(Answer, "How many?", model=MODELS["openai"][0])


def test_idle_clients_are_closed_when_they_are_many(vendor: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    """The least recently used goes first; one in use never goes."""
    for name, value in vendor.environment().items():
        monkeypatch.setenv(name, value)
    pool, profile = ClientPool(), load_profile("openai")
    with pool.borrow(profile, "http://in-use") as used:
        made: list[Any] = []
        for number in range(20):
            with pool.borrow(profile, f"http://host-{number}") as client:
                made.append(client)
        assert not used.is_closed()  # type: ignore[attr-defined]
        assert [each.is_closed() for each in made] == [True] * 4 + [False] * 16
    pool.close()
    assert all(each.is_closed() for each in made)


def test_everything_can_be_asked_through_both(proxy: CountingProxy) -> None:
    """Objects, decisions, their streams, and many of each."""
    assert proxy.connections == 0

    def ask_blocking() -> list[type]:
        with Emitter(MODELS["openai"][0], policy=Policy(max_attempts=8)) as emitter:
            with emitter.stream(Answer, "How many?") as streamed:
                parts = list(streamed)
            with emitter.stream_binding_moment("Shall we?") as moments:
                assert list(moments)
            assert parts
            values = [emitter.emit(Answer, "How many?").value, streamed.result().value]
            values += [emitter.emit_binding_moment("Shall we?"), moments.result()]
            values += [each.result for each in emitter.emit_many(Answer, ["1?", "2?"], progress=False)]
            return [type(each) for each in values]

    async def ask_async() -> list[type]:
        async with AsyncEmitter(MODELS["openai"][0], policy=Policy(max_attempts=8)) as emitter:
            async with emitter.stream(Answer, "How many?") as streamed:
                parts = [each async for each in streamed]
            async with emitter.stream_binding_moment("Shall we?") as moments:
                assert [each async for each in moments]
            assert parts
            values = [(await emitter.emit(Answer, "How many?")).value, (await streamed.result()).value]
            values += [await emitter.emit_binding_moment("Shall we?"), await moments.result()]
            values += [each.result async for each in emitter.emit_many(Answer, ["1?", "2?"], progress=False)]
            return [type(each) for each in values]

    assert ask_blocking() == asyncio.run(ask_async())


def test_an_error_in_an_argument_is_raised_at_once() -> None:
    """The first emission is too late."""
    with pytest.raises(InputError, match="policy"):
        Emitter(MODELS["openai"][0], policy={"max_attempts": 2})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="requires"):
        Emitter(MODELS["openai"][0], requires="structured-output")


@pytest.mark.parametrize("method", ["emit", "stream", "emit_binding_moment", "stream_binding_moment", "emit_many"])
def test_both_clients_take_the_same_arguments(method: str) -> None:
    """Only what they return differs."""
    one, other = (list(inspect.signature(getattr(kind, method)).parameters) for kind in (Emitter, AsyncEmitter))
    assert one == other


def test_a_decision_is_a_binding_moment(proxy: CountingProxy) -> None:
    """Or is withheld."""
    with Emitter(MODELS["anthropic"][0]) as emitter:
        decision = emitter.emit_binding_moment("Shall we?")
    assert isinstance(getattr(decision, "value", None), BindingMoment | None)
    assert proxy.connections == 1
