"""Something that is over when it is told, as a span: a value, so that what makes one needs no extra."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.events import RunEvent
    from emitter.otel.attributes import Value


@dataclass(frozen=True, slots=True)
class Past:
    """A span to be: its name, what it says, and the events on it.

    ``traceparent`` names its parent (W3C trace context); ``error`` is the code of what made it fail.
    """

    name: str
    attributes: Mapping[str, Value]
    events: tuple[RunEvent, ...] = ()
    traceparent: str | None = None
    error: str | None = None
