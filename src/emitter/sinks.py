"""Where events go: a sink is any function of one event, such as the ``append`` of a list.

It is called as each event happens, in the emission's own thread or loop: a slow sink is the user's queue, and
what a sink raises ends the emission.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from emitter.errors import EmitterError, InputError
from emitter.events import Level, LogAppended, RunEvent
from emitter.files import private_opener
from emitter.redact import NO_SECRETS
from emitter.redact.event import struck

if TYPE_CHECKING:
    from emitter.events import Event
    from emitter.kinds.envelope import Trust
    from emitter.redact import Secrets
    from emitter.store.log import Store

Sink: TypeAlias = Callable[[RunEvent], object]
"""Called with every event as it happens; what it returns is not looked at."""

_LEVELS = {
    Level.DEBUG: logging.DEBUG,
    Level.INFO: logging.INFO,
    Level.WARN: logging.WARNING,
    Level.ERROR: logging.ERROR,
}
_WARNINGS = frozenset(
    {
        "cap.breached",
        "envelope.refusal",
        "envelope.truncated",
        "model.capability.substituted",
        "replay.diverged",
        "replay.divergedAtRefusal",
    }
)
_ERRORS = frozenset({"envelope.retry.exhausted", "model.capability.insufficient", "node.failed"})


def now() -> str:
    """Return the time as ISO 8601 in UTC."""
    seconds, milliseconds = divmod(time.time_ns() // 1_000_000, 1000)
    return f"{_second(seconds)}.{milliseconds:03}Z"


@lru_cache(maxsize=4)
def _second(since_1970: int) -> str:
    """Return a second without its zone; the events of an emission mostly share it."""
    return datetime.fromtimestamp(since_1970, UTC).replace(tzinfo=None).isoformat()


def new_id() -> str:
    """Return a fresh opaque id."""
    return os.urandom(16).hex()


@dataclass(slots=True)
class Recorder:
    """Stamps each event, strikes ``secrets`` out of it, keeps it, and hands it to the sink.

    With a ``store`` the event stands in the run's log before it is told, and has its number there. ``trust`` is what
    its events are marked with, None for no mark.
    ``stamp`` and ``mint`` give the time and the event ids; tests hand in their own.
    """

    run_id: str
    node_id: str
    correlation_id: str
    sink: Sink | None = None
    secrets: Secrets = NO_SECRETS
    store: Store | None = None
    stamp: Callable[[], str] = now
    mint: Callable[[], str] = new_id
    trust: Trust | None = None
    told: list[RunEvent] = field(default_factory=list[RunEvent])

    def __call__(self, event: Event | RunEvent) -> None:
        """Tell ``event``."""
        told = self._recorded(event) if isinstance(event, RunEvent) else self._recorded_now(event)
        self.told.append(told)
        if self.sink is not None:
            self.sink(told)

    def _recorded(self, event: RunEvent) -> RunEvent:
        """Return what a host recorded, with its place here where no log numbers it."""
        return replace(event, sequence=len(self.told)) if self.store is None else event

    def _recorded_now(self, event: Event) -> RunEvent:
        stamped = RunEvent(
            event=struck(event, self.secrets),
            event_id=self.mint(),
            run_id=self.run_id,
            node_id=self.node_id,
            timestamp=self.stamp(),
            sequence=len(self.told),
            causation_id=self.correlation_id,
            content_trust=self.trust,
        )
        return stamped if self.store is None else self.store.append(self.run_id, (stamped,))[0]


def to_jsonl(path: str | Path) -> Sink:
    """Return a sink that appends one RunEventDoc a line; each line is in the file before the next step.

    A file that is created is readable by its owner alone. Lines of several threads and processes never mix.
    Raises ``InputError`` at once where the file cannot be opened, and the sink raises ``EmitterError`` where a
    line could not be written whole.
    """
    place = Path(path)
    try:
        open(place, "ab", opener=private_opener).close()
    except OSError as error:
        raise InputError(
            f"{place} cannot take events: {error.strerror}.", hint="Name a file that can be written."
        ) from error

    def sink(event: RunEvent) -> None:
        _append(place, json.dumps(event.to_json()).encode() + b"\n")

    return sink


def _append(place: Path, line: bytes) -> None:
    """Append ``line`` in one write of the system, which is what keeps lines apart."""
    try:
        with open(place, "ab", buffering=0, opener=private_opener) as file:
            whole = file.write(line) == len(line)
    except OSError as error:
        raise EmitterError(f"An event could not be written to {place}: {error.strerror}.") from error
    if not whole:
        raise EmitterError(f"An event could not be written whole to {place}.", hint="Make room for it.")


def to_logging(logger: logging.Logger | None = None) -> Sink:
    """Return a sink to the standard library's logging (logger ``emitter`` where None)."""
    target = logger or logging.getLogger("emitter")

    def sink(event: RunEvent) -> None:
        document = event.to_json()
        target.log(_level(event), "%s %s", event.type, document["payload"], extra={"openwop": document})

    return sink


def to_all(*sinks: Sink) -> Sink:
    """Return a sink that hands each event to all of ``sinks`` in turn."""

    def sink(event: RunEvent) -> None:
        for each in sinks:
            each(event)

    return sink


def _level(event: RunEvent) -> int:
    if isinstance(event.event, LogAppended):
        return _LEVELS[event.event.level]
    if event.type in _ERRORS:
        return logging.ERROR
    return logging.WARNING if event.type in _WARNINGS else logging.INFO
