"""One simulator for a module's tests, empty before each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from emitter.testing import Simulator, Text, simulator
from tests.testing.asking import DOCUMENT, http

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session", autouse=True)
def _closed() -> Iterator[None]:
    """Close the client of all tests after the last of them."""
    yield
    http().close()


@pytest.fixture(scope="module")
def running() -> Iterator[Simulator]:
    """Yield a vendor that answers every question with the same document."""
    with simulator(seed=7, answers=Text(DOCUMENT)) as vendor:
        yield vendor


@pytest.fixture
def vendor(running: Simulator) -> Simulator:
    """Return the same vendor, with nothing in its books."""
    running.reset()
    return running
