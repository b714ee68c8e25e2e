"""A simulated vendor for one test."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from emitter.testing.pytest_plugin.identity import seed
from emitter.testing.pytest_plugin.plan import vendor_options
from emitter.testing.simulation import Simulator, simulator

if TYPE_CHECKING:
    from collections.abc import Generator

    import pytest


@contextmanager
def running(item: pytest.Item, patch: pytest.MonkeyPatch) -> Generator[tuple[Simulator, int]]:
    """Run the vendor that a test's mark asks for, and lead the vendors' variables to it; yield it and its seed.

    One is started for each test: that takes less than a millisecond, and nothing can be left over from another.
    """
    options = vendor_options(item, simulator)
    luck = options.setdefault("seed", seed(item))
    with simulator(**options) as vendor:
        for name, value in vendor.environment().items():
            patch.setenv(name, value)
        for name in ("NO_PROXY", "no_proxy"):
            # Else an SDK's own client asks the proxy for an address on this machine.
            patch.setenv(name, ",".join(filter(None, (os.environ.get(name), "127.0.0.1", "localhost"))))
        yield vendor, luck
