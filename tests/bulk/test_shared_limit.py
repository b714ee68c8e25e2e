"""A rate limit that processes share through a store."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from emitter import RateLimit
from emitter.bulk import emit_many
from emitter.client.shared_limits import SharedLimiter
from emitter.errors import StoreFailed
from emitter.messages import Fault, FaultKind
from emitter.stores.jobs import SlotRequest, Slots
from tests.bulk.asking import MODEL, Numbered, task
from tests.stores.conftest import home, postgres  # noqa: F401  fixtures

if TYPE_CHECKING:
    from emitter.testing import Simulator
    from tests.stores.conftest import Home

LIMIT = RateLimit(requests_per_minute=600)


class Server:
    """Keeps what it is asked for, and gives slots at once, or raises."""

    def __init__(self, error: Exception | None = None) -> None:
        self.requests: list[SlotRequest] = []
        self.error = error

    def __call__(self, _: str, request: SlotRequest) -> Slots:
        """Lease slots."""
        self.requests.append(request)
        if self.error is not None:
            raise self.error
        return Slots(0.0, 0.0)


def started(limiter: SharedLimiter, **sizes: int) -> Any:
    """Reserve a call, and wait until it may start."""
    ticket = limiter.reserve(sizes.get("prompt", 10), sizes.get("budget", 100))
    while limiter.delay(ticket) > 0:
        time.sleep(0.001)
    return ticket


def test_a_429_and_real_usage_go_along_with_the_next_lease() -> None:
    """They cost no request of their own."""
    server = Server()
    limiter = SharedLimiter(RateLimit(600, 10_000), server, "name")
    ticket = started(limiter)
    limiter.observe(ticket, Fault(FaultKind.RATE_LIMIT, "slow", retry_after=0.01), {})
    assert limiter.delay(ticket) > 0
    started(limiter)
    assert [(each.calls, each.pause) for each in server.requests] == [(1, 0.0), (1, 0.01)]


def test_a_server_that_fails_fails_the_call() -> None:
    """The error is raised where the call waits, and the next call asks again."""
    server = Server(StoreFailed("gone"))
    limiter = SharedLimiter(LIMIT, server, "name")
    with pytest.raises(StoreFailed, match="gone"):
        started(limiter)
    server.error = None
    started(limiter)


def test_calls_that_wait_are_leased_in_blocks() -> None:
    """At most those of a second."""
    server = Server()
    limiter = SharedLimiter(LIMIT, server, "name")
    with limiter._lock:
        pass
    tickets = [limiter.reserve(1, 1) for _ in range(25)]
    while any(limiter.delay(each) > 0 for each in tickets):
        time.sleep(0.001)
    assert sum(each.calls for each in server.requests) == 25
    assert max(each.calls for each in server.requests) <= 10


def test_a_run_over_a_store_shares_its_limit(home: Home, vendor: Simulator) -> None:  # noqa: F811
    """A second process finds the slots taken."""
    run = emit_many(Numbered, map(task, range(3)), model=MODEL, store=home.again(), rate_limit=LIMIT)
    assert [each.value.n for each in run] == [0, 1, 2]
    assert len(vendor.calls) == 3
    with home.again().jobs._database.transaction() as transaction:
        ((name, next_request),) = transaction.execute("SELECT name, next_request FROM emitter_limits", {})
    assert name.startswith(MODEL)
    assert next_request > time.time() - 60
