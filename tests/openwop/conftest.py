"""The host, asked both ways."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest

from tests.openwop.asking import Seam, direct, over_http
from tests.openwop.host import Host
from tests.openwop.serving import Served, served

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="package")
def serving() -> Iterator[tuple[Served, httpx2.Client]]:
    """Serve a host over HTTP; give it and a client."""
    with served() as running, httpx2.Client(timeout=120) as client:
        yield running, client


@pytest.fixture(params=["direct", "http"])
def seam(request: pytest.FixtureRequest) -> Seam:
    """Give a host that nobody asked before: directly, and over HTTP."""
    if request.param == "direct":
        return direct(Host())
    running, client = request.getfixturevalue("serving")
    running.host.reset()
    return over_http(running.url, running.host, client)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ask models that are OpenWOP's own, which no table knows, without a warning."""
    ours = Path(__file__).parent
    for each in items:
        if ours in each.path.parents:
            each.add_marker(pytest.mark.filterwarnings("ignore::emitter.errors.UnknownModelWarning"))
