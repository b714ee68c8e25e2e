"""One test's cassette: what it is replayed from, or recorded into when the test has passed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2

from emitter.adapters.client import make
from emitter.cassette import Record, Replay, http_client, load, save
from emitter.errors import BadCassette
from emitter.profile import of_model
from emitter.profile.model import Sdk

if TYPE_CHECKING:
    import pytest

    from emitter.testing.pytest_plugin.plan import Plan

_NOWHERE = "https://vendor.invalid"
"""Nothing is sent there: it stands in for an address that only the caller's environment knows."""
_KEY = "no-key-is-needed-to-replay"


class _Live(httpx2.BaseTransport, httpx2.AsyncBaseTransport):
    """Really asks the vendor, through a proxy where the environment names one, and leaves nothing open."""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        with httpx2.Client() as client:
            return client.send(request)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        async with httpx2.AsyncClient() as client:
            return await client.send(request)


@dataclass(eq=False)
class Tape:
    """What the test's clients send through; ``failed`` tells that a subtest has failed."""

    plan: Plan
    transport: Record | Replay
    failed: bool = False
    _clients: list[Any] = field(default_factory=list[Any])

    def http(self) -> httpx2.Client:
        """Return a client that is closed with the test."""
        client = http_client(self.transport)
        assert isinstance(client, httpx2.Client)  # noqa: S101  the signature says no more
        self._clients.append(client)
        return client

    def ahttp(self) -> httpx2.AsyncClient:
        """Return an asynchronous client; it holds no connection, so it need not be closed."""
        client = http_client(self.transport, asynchronous=True)
        assert isinstance(client, httpx2.AsyncClient)  # noqa: S101  the signature says no more
        return client

    def client(self, model: str, *, asynchronous: bool, base_url: str | None) -> Any:
        """Return a client of the vendor's own SDK; raises ``UnknownModel``, ``MissingExtra`` or ``MissingKey``."""
        profile, _ = of_model(model)
        facts = profile.client
        replaying = isinstance(self.transport, Replay)
        if base_url is None and replaying and facts.base_url_required:
            plain = facts.sdk is not Sdk.OPENAI or facts.flavour.startswith("Azure")
            base_url = _NOWHERE if plain else f"{_NOWHERE}/v1"
        made: Any = make(
            profile,
            asynchronous=asynchronous,
            base_url=base_url,
            api_key=_KEY if replaying else None,
            http_client=self.ahttp() if asynchronous else self.http(),
        )
        self._clients.append(made)
        return getattr(made, "aio", made) if asynchronous and facts.sdk is Sdk.GOOGLE else made

    def close(self) -> None:
        """Close the clients that can be closed without a loop."""
        for client in self._clients:
            if isinstance(client, httpx2.Client):
                client.close()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take notice of subtests: the report of the test itself does not tell that one has failed."""
        self.failed = self.failed or report.failed

    def settle(self) -> str:
        """Write what was recorded; return what is wrong with what was replayed, if anything is."""
        if isinstance(self.transport, Record):
            save(self.transport.cassette(note=f"recorded by {self.plan.test}"), self.plan.path)
            self.plan.recorded[self.plan.path] = self.plan.test
            return ""
        unused = self.transport.unused()
        if not unused or self.plan.allow_unused:
            return ""
        whole = len(self.transport.cassette.interactions)
        named = "".join(f"\n  {each.request.method} {each.request.path}" for each in unused)
        return (
            f"{len(unused)} of {whole} interactions of {self.plan.path} were not asked for:{named}\n"
            f"Record it anew ({self.plan.command('all')}), or say emitter_cassette(allow_unused=True)."
        )


def tape(plan: Plan) -> Tape:
    """Return the tape that a plan asks for; raises ``BadCassette`` where there is nothing to replay."""
    if plan.recording:
        return Tape(plan, Record(inner=_Live(), async_inner=_Live()))
    if not plan.path.exists():
        raise BadCassette(
            f"There is no cassette {plan.path}.",
            hint=f"Record one, which really asks the vendor: {plan.command('once')}",
        )
    return Tape(plan, Replay(load(plan.path)))
