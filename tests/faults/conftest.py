"""One simulator for a module's cells, with the clients and the loop that ask it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from emitter.testing import simulator
from tests.faults.asking import Asking

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.register_assert_rewrite("tests.faults.checking", "tests.faults.reading")


@pytest.fixture(scope="module")
def asking() -> Iterator[Asking]:
    """Yield what asks a simulated vendor; both are closed with the module."""
    with asyncio.Runner() as runner:
        vendor = simulator(seed=11)
        runner.run(vendor.__aenter__())
        try:
            yield Asking(vendor, runner)
        finally:
            runner.run(vendor.__aexit__(None, None, None))
