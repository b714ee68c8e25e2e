"""What OpenTelemetry raises must not cost a decision that was paid for: it is logged, and the work goes on."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

_LOGGER = logging.getLogger("emitter.otel")


@contextmanager
def guarded(what: str) -> Generator[None]:
    """Log what a span processor or an exporter raises while ``what`` is told; its words are not repeated."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  processors are other people's code
        _LOGGER.warning("OpenTelemetry could not be told of %s: %s", what, type(error).__name__)
